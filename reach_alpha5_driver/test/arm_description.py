"""The description of a drone with an arm, as the launch file gives it to the driver."""

from __future__ import annotations

import functools
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from xacro import process_file

PREFIX = "left_"


@functools.cache
def description() -> dict[str, str]:
    """Return the parameters that describe the drone and its arm."""
    try:
        folder = Path(get_package_share_directory("reach_alpha5_description"))
    except PackageNotFoundError:
        folder = Path(__file__).resolve().parents[2] / "reach_alpha5_description"

    def expanded(file: str) -> str:
        return str(process_file(str(folder / file), mappings={"prefix": PREFIX}).toxml())

    return {
        "robot_description": expanded("urdf/drone.urdf.xacro"),
        "robot_description_semantic": expanded("srdf/drone.srdf.xacro"),
        "prefix": PREFIX,
    }
