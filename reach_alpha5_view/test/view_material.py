"""A scene with an arm in it, and what the topics may say of that."""

from __future__ import annotations

import functools
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
from ament_index_python.packages import get_package_share_directory

from reach_alpha5_motion.model import ArmModel
from reach_alpha5_view.scene.scene import Layer, Scene
from reach_alpha5_view.scene.shapes import Shape
from reach_alpha5_view.scene.states import ArbiterStatus, ArmStatus, JointStatus, Telemetry

NOW = 100.0

DEPLOYED = (np.pi, 1.57, 1.57, 0.0, 0.005)
"""A posture: chain order [rad, m]."""

JOINTS = tuple(f"axis_{letter}" for letter in "edcba")

ARM = ArmStatus(
    state="ENABLED",
    connected=True,
    powered=True,
    active=True,
    joints=tuple(JointStatus(name) for name in JOINTS),
)
ARBITER = ArbiterStatus(owner="teleop", activity="JOGGING")


@functools.cache
def urdf(prefix: str = "", mount: str = "0.18 0 -0.12", turn: str = "0 0 0") -> str:
    """Return the expanded description."""
    beside = Path(__file__).resolve().parents[2] / "reach_alpha5_description"
    folder = beside if beside.is_dir() else _installed()
    command = ["xacro", str(folder / "urdf" / "drone.urdf.xacro"), f"prefix:={prefix}"]
    command += [f"mount_xyz:={mount}", f"mount_rpy:={turn}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _installed() -> Path:
    return Path(get_package_share_directory("reach_alpha5_description"))


def model(prefix: str = "") -> ArmModel:
    return ArmModel.from_urdf(urdf(prefix), prefix)


def telemetry(positions=DEPLOYED, **changes) -> Telemetry:
    """Return where the arm is at a posture."""
    tip = tuple(model().tip(positions).tolist())
    return replace(Telemetry(positions=tuple(positions), tip=tip), **changes)


def alive(scene: Scene, now: float = NOW) -> Scene:
    """Let everybody say at `now` that all is well."""
    scene.update_arm(ARM, now)
    scene.update_telemetry(telemetry(), now)
    scene.update_arbiter(ARBITER, now)
    return scene


def whole(now: float = NOW, config=None) -> Scene:
    """Return a scene with a description, in which all is well."""
    scene = Scene(config)
    scene.set_description(urdf())
    return alive(scene, now)


def of(scene: Scene, namespace: str, now: float = NOW) -> list[Shape]:
    """Return the shapes of one namespace."""
    return [shape for shape in scene.shapes(now, tuple(Layer)) if shape.namespace == namespace]


def words(scene: Scene, now: float = NOW) -> str:
    """Return the overlay."""
    (shape,) = of(scene, "status", now)
    return shape.text
