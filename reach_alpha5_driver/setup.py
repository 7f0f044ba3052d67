"""Package of the serial arm: protocol, link, simulated arm, driver node."""

from setuptools import find_packages, setup

NAME = "reach_alpha5_driver"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(include=[NAME, NAME + ".*"]),
    package_data={NAME: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/" + NAME]),
        ("share/" + NAME, ["package.xml"]),
        ("share/" + NAME + "/config", ["config/driver.yaml"]),
    ],
    install_requires=["setuptools", "numpy", "pyserial"],
    python_requires=">=3.10",
    zip_safe=False,
    author="reach_alpha5 maintainers",
    author_email="maintainers@reach-alpha5.invalid",
    maintainer="reach_alpha5 maintainers",
    maintainer_email="maintainers@reach-alpha5.invalid",
    description="Driver, wire protocol and simulated arm for the Reach Alpha 5.",
    license="Apache-2.0",
    extras_require={"test": ["pytest", "hypothesis"]},
    entry_points={
        "console_scripts": [
            "alpha5-sim = reach_alpha5_driver.sim.cli:main",
            "alpha5-wire = reach_alpha5_driver.cli.wire:main",
            "driver_node = reach_alpha5_driver.node:main",
        ],
    },
)
