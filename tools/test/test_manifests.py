import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import manifests

MANIFEST = """<package format="3">
  <name>arm</name><version>0.1.0</version><description>An arm.</description>
  <maintainer email="maintainers@reach-alpha5.invalid">maintainers</maintainer>
  <license>Apache-2.0</license>
  <depend>python3-numpy</depend><test_depend>python3-pytest</test_depend>
  <export><build_type>ament_python</build_type></export>
</package>"""
FILES = {
    "arm/package.xml": MANIFEST,
    "arm/setup.py": "from setuptools import setup\n"
    "setup(version='0.1.0', license='Apache-2.0', extras_require={'test': ['pytest']})\n",
    "arm/setup.cfg": "",
    "arm/resource/arm": "",
    "arm/arm/py.typed": "",
    "arm/arm/core.py": "import math\nimport numpy as np\nfrom arm import other\n",
    "arm/extra/policy/__init__.py": "",
    "arm/extra/policy/table.py": "import numpy\n",
    "arm/test/rig.py": "",
    "arm/test/test_core.py": "import pytest\nimport rig\nimport numpy\nimport policy\n",
}


def problems(root: Path, **changes: str) -> list[str]:
    """Return the problems of the example with some files written anew."""
    for name, text in (FILES | changes).items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return manifests.problems(root)


def test_a_package_in_order_has_no_problems(tmp_path: Path) -> None:
    assert problems(tmp_path) == []


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("arm/arm/core.py", "import serial\n", "imports serial: declare python3-serial"),
        ("arm/arm/core.py", "from std_msgs.msg import String\n", "declare std_msgs"),
        ("arm/arm/core.py", "import pytest\n", "declare python3-pytest"),
        ("arm/arm/core.py", "import (\n", "does not parse"),
        ("arm/extra/policy/table.py", "import serial\n", "declare python3-serial"),
        ("arm/test/test_core.py", "import hypothesis\n", "declare python3-hypothesis"),
        ("arm/package.xml", MANIFEST.replace('"3"', '"2"'), "not of format 3"),
        ("arm/package.xml", MANIFEST.replace("Apache-2.0", "MIT"), "license is not Apache-2.0"),
        ("arm/package.xml", MANIFEST.replace("0.1.0", "0.2.0"), "setup.py has version 0.1.0"),
        ("arm/package.xml", MANIFEST.replace("_python", "_what"), "unknown build type"),
        ("arm/package.xml", MANIFEST.replace("<name>", "<nam>"), "does not parse"),
        ("arm/setup.py", "setup(version='0.1.0')\n", "colcon test runs nothing"),
        (
            "other/package.xml",
            MANIFEST.replace(">arm<", ">other<").replace("0.1.0", "0.3.0"),
            "versions differ",
        ),
    ],
)
def test_a_problem_is_named(tmp_path: Path, file: str, text: str, said: str) -> None:
    assert any(said in problem for problem in problems(tmp_path, **{file: text}))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    problems(tmp_path)
    (tmp_path / "arm" / "arm" / "py.typed").unlink()
    assert manifests.problems(tmp_path) == ["arm: ament_python, but there is no arm/py.typed"]
