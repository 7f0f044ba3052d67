"""Install the package and the record profile."""

from glob import glob

from setuptools import find_packages, setup

NAME = "reach_alpha5_bags"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["py.typed", "report/*.html", "report/*.css", "report/*.js"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/config", sorted(glob("config/*.yaml"))),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="reach_alpha5 maintainers",
    maintainer_email="maintainers@reach-alpha5.invalid",
    description="Dives of a Reach Alpha 5 manipulator as bags: recorded, read, played, reported.",
    license="Apache-2.0",
    extras_require={"test": ["pytest", "hypothesis"]},
    entry_points={
        "console_scripts": [
            f"alpha5-play = {NAME}.player.cli:main",
            f"alpha5-record = {NAME}.recorder.cli:main",
            f"alpha5-report = {NAME}.report.cli:main",
        ]
    },
)
