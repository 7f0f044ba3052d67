import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import repair_wheels

EXPORT = """set_target_properties(a PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
"/opt/python/cp{tag}-cp{tag}/include/python3.{minor};/opt/python/cp{tag}-cp{tag}/lib/python3.{minor}\
/site-packages/numpy/_core/include;/usr/lib64/libtinyxml2.so")
"""
REGISTER = """ament_register_extension(
  "rosidl_generate_idl_interfaces"
  "rosidl_{name}"
  "rosidl_{name}_generate_interfaces.cmake")
"""


@pytest.mark.parametrize("minor", [10, 11, 12, 13])
def test_paths_of_the_container_become_those_of_this_machine(tmp_path: Path, minor: int) -> None:
    site = tmp_path / "lib" / f"python3.{minor}" / "site-packages"
    (site / "numpy" / "_core" / "include").mkdir(parents=True)
    file = tmp_path / "share" / "a" / "cmake" / "aExport.cmake"
    file.parent.mkdir(parents=True)
    file.write_text(EXPORT.format(tag=f"3{minor}", minor=minor))

    assert repair_wheels.repair(tmp_path, site, "/usr/include/python") == 1
    text = file.read_text()
    assert "/opt/python" not in text
    assert f'"/usr/include/python;{site}/numpy/_core/include;tinyxml2"' in text
    assert repair_wheels.repair(tmp_path, site, "/usr/include/python") == 0


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("generator_cpp", False),
        ("typesupport_cpp", False),
        ("typesupport_fastrtps_cpp", False),
        ("typesupport_introspection_cpp", False),
        ("generator_c", True),
        ("generator_py", True),
        ("typesupport_c", True),
        ("typesupport_fastrtps_c", True),
        ("typesupport_introspection_c", True),
    ],
)
def test_generators_of_cpp_are_left_out_and_no_others(
    tmp_path: Path, name: str, kept: bool
) -> None:
    file = tmp_path / "share" / "extras.cmake"
    file.parent.mkdir()
    file.write_text(REGISTER.format(name=name))
    repair_wheels.repair(tmp_path, tmp_path, "")
    assert ("ament_register_extension" in file.read_text()) == kept
