"""What a pilot without any sense may ask, and where the arm may stand when he does."""

from __future__ import annotations

import math

import numpy as np
from motion_world import World

from reach_alpha5_common.command import (
    STILL,
    ArmInput,
    Cartesian,
    Cylindrical,
    GripperCommand,
    GripperVelocities,
    KnownPose,
    MotionCommand,
    Pose,
    TwistCommand,
)
from reach_alpha5_motion.model import ArmModel, JointLimits
from reach_alpha5_motion.speed import MotionConfig

CONFIG = MotionConfig(further_poses=(("rest", (2.0, 2.0, 0.5)), ("aside", (5.5, 1.0, 1.2))))
FRAMES = ("base_link_frd", "base_link", "arm_base", "tool", "link_d")
FOLDED, STRAIGHT = 0.0, 2.7622973
ON_AXIS = (2.5, 1.9629011328157093)
"""axis_d, axis_c with the tip on the base axis."""


def random_posture(rng: np.random.Generator, arm: ArmModel) -> np.ndarray:
    """Anywhere inside, on a limit, beyond one, or where the arm is singular."""
    low, high = arm.limits.lower, arm.limits.upper
    q = low + (high - low) * rng.random(5)
    match rng.integers(7):
        case 1:
            ends = rng.random(5)
            q = np.where(ends < 0.3, low, np.where(ends > 0.7, high, q))
        case 2:
            joint = rng.integers(5)
            beyond = 0.1 * rng.random() * (0.01 if joint == 4 else 1.0)
            q[joint] = low[joint] - beyond if rng.random() < 0.5 else high[joint] + beyond
        case 3:
            q[2] = STRAIGHT + rng.uniform(-0.06, 0.06)
        case 4:
            q[1:3] = ON_AXIS[0], ON_AXIS[1] + rng.uniform(-0.02, 0.02)
        case 5:
            q[2] = FOLDED + rng.uniform(0.0, 0.05)
    return np.asarray(q)


def random_limits(rng: np.random.Generator, arm: ArmModel) -> JointLimits | None:
    """What the arm reports: nothing, or narrower or unknown limits."""
    if rng.random() < 0.5:
        return None
    span = arm.limits.upper - arm.limits.lower
    unknown = rng.random((3, 5)) < 0.5
    lower = np.where(unknown[0], math.nan, arm.limits.lower + 0.1 * span * rng.random(5))
    upper = np.where(unknown[1], math.nan, arm.limits.upper - 0.1 * span * rng.random(5))
    slower = np.where(unknown[2], math.nan, arm.limits.velocity * rng.uniform(0.3, 1.0, 5))
    return JointLimits(lower, upper, slower)


def random_axes(rng: np.random.Generator) -> np.ndarray:
    values = rng.uniform(-1.0, 1.0, 3)
    values = np.where(rng.random(3) < 0.3, np.sign(values), values)
    return values * (rng.random(3) < 0.6)


def towards(rng: np.random.Generator, world: World, q: np.ndarray) -> np.ndarray | None:
    """The way from the tip to one of the things around, in `base_link_frd`; None: no thing."""
    things = [each for each in world.scene.obstacles if each.frame == "arm_base"]
    if not things:
        return None
    thing, arm = things[int(rng.integers(len(things)))], world.arm
    return np.asarray(arm.base_position + arm.base_rotation @ thing.position - arm.tip(q))


def random_command(rng: np.random.Generator, ahead: np.ndarray | None = None) -> MotionCommand:
    """Anything that may be asked; `ahead`: where a thing is, from the tip, to make for it."""
    kind = rng.choice(
        ["cartesian", "cylindrical", "pose", "twist", "still"], p=[0.3, 0.3, 0.15, 0.15, 0.1]
    )
    if kind == "still":
        return STILL
    axes = random_axes(rng)
    if kind == "twist":
        return _twist(rng, axes)
    common = {
        "gripper_velocities": GripperVelocities(
            *(rng.uniform(-1.0, 1.0, 2) * rng.integers(0, 2, 2)).tolist()
        ),
        "speed_modifier": float(rng.uniform(-1.0, 1.0)),
    }
    if kind == "pose":
        pose = int(rng.integers(1, 4))
        name = str(rng.choice([name for name, _ in CONFIG.further_poses]))
        asked = KnownPose(pose, float(rng.random()), name if pose == Pose.NAMED else "")
        return GripperCommand(arm_input=ArmInput.KNOWN_POSE, known_pose=asked, **common)
    if kind == "cylindrical":
        return GripperCommand(
            arm_input=ArmInput.CYLINDRICAL, cylindrical=Cylindrical(*axes.tolist()), **common
        )
    if ahead is not None and rng.random() < 0.5:
        axes = ahead / np.abs(ahead).max()
    return GripperCommand(
        arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(*axes.tolist()), **common
    )


def _twist(rng: np.random.Generator, axes: np.ndarray) -> TwistCommand:
    roll = (0.0, 0.0, float(rng.uniform(-0.8, 0.8))) if rng.random() < 0.5 else (0.0,) * 3
    frame = "tool" if any(roll) else str(rng.choice(FRAMES))
    return TwistCommand(
        frame,
        tuple((axes * CONFIG.linear_speed).tolist()),
        roll,
        grip=float(rng.choice([0.0, 0.0, 1.0, -0.5])),
        maximum_acceleration=float(rng.choice([0.0, 0.1])),
    )


def inputs() -> list[GripperCommand]:
    """Every axis of every input, both ways, and every pose: what a blocked pilot can try."""
    ways = [
        GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(*(sign * axis).tolist()))
        for axis in np.eye(3)
        for sign in (1.0, -1.0)
    ]
    ways += [
        GripperCommand(
            arm_input=ArmInput.CYLINDRICAL, cylindrical=Cylindrical(*(sign * axis).tolist())
        )
        for axis in np.eye(3)
        for sign in (1.0, -1.0)
    ]
    ways += [
        GripperCommand(gripper_velocities=GripperVelocities(*both))
        for both in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
    ]
    return ways + [to_pose(name) for name in CONFIG.poses]


def to_pose(name: str, velocity: float = 1.0, speed: float = 0.0) -> GripperCommand:
    """The command for a pose of `CONFIG`."""
    pose = {"stowed": Pose.STOWED, "deployed": Pose.DEPLOYED}.get(name, Pose.NAMED)
    asked = KnownPose(pose, velocity, name if pose is Pose.NAMED else "")
    return GripperCommand(arm_input=ArmInput.KNOWN_POSE, known_pose=asked, speed_modifier=speed)
