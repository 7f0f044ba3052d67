"""What the tests of collision share: the description's texts, scenes, and a naive jog."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import daqp
import numpy as np
import xacro
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from reach_alpha5_motion.bodies import ArmBodies
from reach_alpha5_motion.keep_out import ApproachLimit
from reach_alpha5_motion.obstacles import (
    Box,
    Cylinder,
    Obstacle,
    Plane,
    Scene,
    Sphere,
    floor,
    payload,
)

LOW = np.zeros(5)
HIGH = np.array([6.3, 3.5, 3.5, 6.2, 0.015])
SPEED = np.array([0.52, 0.52, 0.52, 0.87, 0.003])
TICK = 0.01
GAIN = 4.0

MOUNTS = ("0 0 0", "3.141592653589793 0 0", "0.4 -0.7 1.9")

# In the arm's base, so that they are as near to the arm on every mount.
HULL = Obstacle("hull", "arm_base", Box((0.5, 0.3, 0.1)), (-0.23, 0.0, -0.07), allow=("link_e",))
BUOY = Obstacle("buoy", "arm_base", Sphere(0.06), (0.27, 0.1, 0.12))
WALL = Obstacle("wall", "arm_base", Plane(), (0.33, 0.0, 0.0), (0.0, -np.pi / 2.0, 0.0))
TETHER = Obstacle("tether", "base_link", Cylinder(0.02, 1.0), (-0.1, 0.1, 0.3), (0.2, 0.0, 0.0))
CAN = payload("can", Cylinder(0.02, 0.08))
SLAB = payload("slab", Box((0.12, 0.12, 0.03)), (0.0, 0.0, 0.02))
SCENE = Scene((HULL, TETHER, BUOY, floor(-0.18, "arm_base"), CAN))
FLAT = Scene((HULL, WALL, floor(-0.13, "arm_base"), SLAB))


def description_folder() -> Path:
    """The installed description, else its source beside this package."""
    try:
        return Path(get_package_share_directory("reach_alpha5_description"))
    except PackageNotFoundError:
        return Path(__file__).resolve().parents[2] / "reach_alpha5_description"


@cache
def texts(mount: str = "0 0 0", prefix: str = "") -> tuple[str, str]:
    """URDF and SRDF of the drone with one arm."""
    folder, arguments = description_folder(), {"mount_rpy": mount, "prefix": prefix}
    urdf = xacro.process_file(str(folder / "urdf" / "drone.urdf.xacro"), mappings=arguments)
    srdf = xacro.process_file(
        str(folder / "srdf" / "drone.srdf.xacro"), mappings={"prefix": prefix}
    )
    return str(urdf.toxml()), str(srdf.toxml())


@cache
def bodies(mount: str = "0 0 0", prefix: str = "") -> ArmBodies:
    return ArmBodies(*texts(mount, prefix), prefix)


def postures(count: int, seed: int) -> np.ndarray:
    return LOW + (HIGH - LOW) * np.random.default_rng(seed).random((count, 5))


def rows_of(limits: tuple[ApproachLimit, ...]) -> np.ndarray:
    return np.array([limit.row for limit in limits]).reshape(-1, 5)


def nearest_rates(wanted: np.ndarray, q: np.ndarray, rows, rates) -> np.ndarray | None:
    """The joint rates nearest to the wanted ones that keep every limit; None: there are none."""
    high = np.minimum(SPEED, GAIN * np.maximum(HIGH - q, 0.0)) / SPEED
    low = -np.minimum(SPEED, GAIN * np.maximum(q - LOW, 0.0)) / SPEED
    rows = np.reshape(rows, (-1, 5)) * SPEED
    size = np.maximum(np.linalg.norm(rows, axis=1), 1e-9)
    rates = np.reshape(rates, -1)
    solution, _, flag, _ = daqp.solve(
        np.eye(5),
        -np.clip(wanted / SPEED, low, high),
        rows / size[:, None],
        np.concatenate((high, rates / size)),
        np.concatenate((low, np.full(len(rates), -1e30))),
        primal_tol=1e-9,
    )
    return solution * SPEED if flag == 1 else None
