"""Install the package and the pad profiles."""

from glob import glob

from setuptools import setup

NAME = "reach_alpha5_teleop"

setup(
    name=NAME,
    version="0.1.0",
    packages=[NAME, f"{NAME}.calibrator", f"{NAME}.verbs"],
    package_data={NAME: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/config", ["config/teleop.yaml"]),
        (f"share/{NAME}/profiles", sorted(glob("profiles/*"))),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="reach_alpha5 maintainers",
    maintainer_email="maintainers@reach-alpha5.invalid",
    description="A gamepad as a source of commands for a Reach Alpha 5 manipulator.",
    license="Apache-2.0",
    extras_require={"test": ["pytest", "hypothesis"]},
    entry_points={
        "console_scripts": [
            f"teleop_node = {NAME}.node:main",
            f"verbs_node = {NAME}.verbs.node:main",
            f"alpha5-pad = {NAME}.calibrator.cli:main",
        ]
    },
)
