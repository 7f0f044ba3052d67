"""Installs the motion library as an ament package."""

from setuptools import setup

NAME = "reach_alpha5_motion"

setup(
    name=NAME,
    version="0.1.0",
    packages=[NAME],
    package_data={NAME: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    install_requires=["setuptools", "numpy", "daqp", "pyyaml"],
    zip_safe=False,
    maintainer="reach_alpha5 maintainers",
    maintainer_email="maintainers@reach-alpha5.invalid",
    description="How a Reach Alpha 5 moves through space.",
    license="Apache-2.0",
    extras_require={"test": ["pytest", "hypothesis"]},
)
