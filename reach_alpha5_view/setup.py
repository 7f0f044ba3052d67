"""Install the package and its parameter file."""

from glob import glob

from setuptools import find_packages, setup

NAME = "reach_alpha5_view"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/config", sorted(glob("config/*.yaml"))),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="reach_alpha5 maintainers",
    maintainer_email="maintainers@reach-alpha5.invalid",
    description="What a Reach Alpha 5 manipulator does, as shapes in rviz and in a browser.",
    license="Apache-2.0",
    extras_require={"test": ["pytest", "hypothesis"]},
    entry_points={
        "console_scripts": [
            f"marker_node = {NAME}.marker_node:main",
            f"alpha5-view = {NAME}.browser.cli:main",
        ]
    },
)
