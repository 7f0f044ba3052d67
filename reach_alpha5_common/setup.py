from setuptools import setup

NAME = "reach_alpha5_common"

setup(
    name=NAME,
    version="0.1.0",
    packages=[NAME],
    package_data={NAME: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=False,
    maintainer="reach_alpha5 maintainers",
    maintainer_email="maintainers@reach-alpha5.invalid",
    description="Command values, refusals, parameter tables and node life of reach_alpha5.",
    license="Apache-2.0",
)
