from setuptools import find_packages, setup

NAME = "reach_alpha5_arbiter"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/config", ["config/arbiter.yaml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="reach_alpha5 maintainers",
    maintainer_email="maintainers@reach-alpha5.invalid",
    description="Decides who may move a Reach Alpha 5 manipulator, and whether.",
    license="Apache-2.0",
    extras_require={"test": ["pytest", "hypothesis"]},
    entry_points={
        "console_scripts": [
            f"arbiter_node = {NAME}.node:main",
            f"alpha5-estop = {NAME}.estop_client.cli:main",
            f"alpha5-heartbeat = {NAME}.heartbeat.cli:main",
            f"alpha5-replay = {NAME}.replay.cli:main",
        ]
    },
)
