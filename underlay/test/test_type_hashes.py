"""The types here, or those of the installed ROS 2 in their place, hash as the released ones do."""

import json
import os
import shutil
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_share_directory
from rosidl_adapter import convert_to_idl
from rosidl_generator_type_description import generate_type_hash

HERE = Path(__file__).parent
RELEASED = json.loads((HERE / "type_hashes.json").read_text())
PACKAGES = ("control_msgs", "tf2_msgs")
DEPENDENCIES = (
    "action_msgs",
    "builtin_interfaces",
    "geometry_msgs",
    "sensor_msgs",
    "service_msgs",
    "std_msgs",
    "trajectory_msgs",
    "unique_identifier_msgs",
)
"""Packages whose types those of the underlay are made of."""


def hashes_in(folder: Path) -> dict[str, str]:
    """Return the hash of each type that is described below `folder`, by type name."""
    found = {}
    for file in folder.rglob("*.json"):
        for entry in json.loads(file.read_text()).get("type_hashes", []):
            found[entry["type_name"]] = entry["hash_string"]
    return found


@pytest.fixture(scope="module")
def installed() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        found |= hashes_in(Path(get_package_share_directory(package)))
    return found


def allowed(name: str) -> set[str]:
    """Return the hashes that a release has: only Jazzy's own package may have Jazzy's."""
    hashes = {RELEASED["kilted"][name]}
    if os.environ.get("ROS_DISTRO") == "jazzy" and name in RELEASED["jazzy_differs"]:
        hashes.add(RELEASED["jazzy_differs"][name])
    return hashes


@pytest.mark.parametrize("name", sorted(RELEASED["kilted"]))
def test_the_type_hashes_as_released(name: str, installed: dict[str, str]) -> None:
    assert installed.get(name) in allowed(name)


def test_each_type_of_the_underlay_is_compared() -> None:
    defined = {
        f"{file.parent.parent.name}/{file.parent.name}/{file.stem}"
        for pattern in ("*/msg/*.msg", "*/action/*.action")
        for file in HERE.parent.glob(pattern)
    }
    # Part of FollowJointTrajectory, whose hash covers it.
    assert defined - set(RELEASED["kilted"]) == {"control_msgs/msg/JointComponentTolerance"}


def described(package: Path, output: Path) -> dict[str, str]:
    """Return the hashes that the generator of type descriptions gives the sources of a package."""
    interfaces = [file for kind in ("msg", "action") for file in package.rglob(f"*.{kind}")]
    idl = output / "idl"
    for file in interfaces:
        convert_to_idl(package, package.name, file.relative_to(package), idl)
    arguments = output / "arguments.json"
    arguments.write_text(
        json.dumps(
            {
                "package_name": package.name,
                "output_dir": str(output / "described"),
                "idl_tuples": [
                    f"{idl}:{file.relative_to(idl)}" for file in sorted(idl.rglob("*.idl"))
                ],
                "include_paths": [f"{n}:{get_package_share_directory(n)}" for n in DEPENDENCIES],
            }
        )
    )
    generate_type_hash(str(arguments))
    return hashes_in(output / "described")


@pytest.mark.parametrize(
    ("file", "before", "after", "name"),
    [
        ("tf2_msgs/msg/TFMessage.msg", " transforms", " frames", "tf2_msgs/msg/TFMessage"),
        (
            "control_msgs/msg/JointTolerance.msg",
            "float64 velocity",
            "float32 velocity",
            "control_msgs/action/FollowJointTrajectory",
        ),
        (
            "control_msgs/action/FollowJointTrajectory.action",
            "\nint32 multi_dof_index",
            "",
            "control_msgs/action/FollowJointTrajectory_Feedback",
        ),
    ],
)
def test_the_sources_hash_as_released_and_a_changed_field_does_not(
    file: str, before: str, after: str, name: str, tmp_path: Path
) -> None:
    package = file.partition("/")[0]
    copy = tmp_path / "source" / package
    shutil.copytree(HERE.parent / package, copy)
    assert described(copy, tmp_path / "as_released")[name] == RELEASED["kilted"][name]

    changed = tmp_path / "source" / file
    text = changed.read_text()
    assert before in text
    changed.write_text(text.replace(before, after))
    assert described(copy, tmp_path / "changed")[name] != RELEASED["kilted"][name]
