"""What a command asks, read into speeds in SI units: what is shaped, and then resolved."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reach_alpha5_common.command import (
    ArmInput,
    GripperCommand,
    KnownPose,
    Pose,
    TwistCommand,
    first_out_of_range,
)
from reach_alpha5_common.refusal import Problem
from reach_alpha5_motion.model import A, B
from reach_alpha5_motion.set_point import SetPoint
from reach_alpha5_motion.speed import POSE_NAMES, STOWED, MotionConfig

TipCommand = GripperCommand | TwistCommand
"""What asks for speeds: of the tip, wrist and jaws. What asks for places is a `SetPoint`."""

_ROUNDING = 1e-9
"""Share of a speed that components of it can come to more than it, by rounding."""


class Kind(enum.Enum):
    """In what coordinates the speeds of an `ArmPart` are."""

    CARTESIAN = "cartesian"
    """Forward, right, down of `base_link_frd` [m/s]."""
    CYLINDRICAL = "cylindrical"
    """Outward from the base axis, down along it [m/s], clockwise about it [rad/s]."""
    TWIST = "twist"
    """Along x, y, z of a frame of the description [m/s]."""
    POSE = "pose"
    """Share in [0, 1] of the joints' speed limits, on the way to a pose."""


class ArmPart(NamedTuple):
    """What one input asks of the joints that carry the tip."""

    kind: Kind
    speeds: tuple[float, ...]
    name: str = ""
    """Of the frame (TWIST) or of the pose (POSE)."""

    @property
    def key(self) -> tuple[Kind, str]:
        """What the speeds are speeds of."""
        return self.kind, self.name

    @property
    def is_zero(self) -> bool:
        """Whether it asks for no motion."""
        return not any(self.speeds)

    def scaled(self, scales: tuple[float, ...]) -> ArmPart:
        """Return it with each speed times its scale."""
        speeds = tuple(map(float.__mul__, self.speeds, scales))
        return ArmPart(self.kind, speeds, self.name)


@dataclass(frozen=True, slots=True)
class Demand:
    """What a command asks; default-constructed: nothing."""

    arm: ArmPart | None = None
    wrist: float = 0.0
    """rad/s of axis_b."""
    jaws: float = 0.0
    """m/s of axis_a."""
    acceleration: float = math.inf
    """Highest of the tip, if the command says so [m/s^2]."""
    joints: SetPoint | None = None
    """What joints shall follow; then nothing else is asked."""
    refused: Problem | None = None


def read(
    command: TipCommand, config: MotionConfig, speed: Sequence[float], holding: bool = False
) -> Demand:
    """Return what the command asks. One that is not in order asks nothing and says why.

    Args:
        command: what somebody wants.
        config: speeds and poses.
        speed: limits in force of the five joints [rad/s, m/s]: those of wrist and jaws are what
            full input means where they are below the configured ones.
        holding: the jaws hold something: the pose stowed is refused (S3) unless the command says
            that it is meant; jaws and wrist stay free.
    """
    problem = command.problem() or _unknown_pose(command, config)
    if problem is not None:
        return Demand(refused=problem)
    if isinstance(command, TwistCommand):
        return _read_twist(command, config, speed)
    part = _arm_part(command, config)
    stows = part is not None and part.kind is Kind.POSE and part.name == STOWED
    if stows and holding and not command.known_pose.while_holding:
        part = None
        problem = Problem(
            "holding",
            "the jaws hold something: let go of it before stowing, or set while_holding",
        )
    return Demand(
        None if part is None or part.is_zero else part,
        command.gripper_velocities.rotate * min(config.wrist_speed, speed[B]),
        command.gripper_velocities.grip * min(config.jaw_speed, speed[A]),
        refused=problem,
    )


def pose_name(pose: KnownPose) -> str:
    """Return the name of the configured pose that a command means."""
    return pose.name or POSE_NAMES[Pose(pose.pose)]


def _arm_part(command: GripperCommand, config: MotionConfig) -> ArmPart | None:
    fraction = config.speed_fraction(command.speed_modifier)
    linear = config.linear_speed * fraction
    if command.arm_input == ArmInput.CARTESIAN:
        asked = command.cartesian
        return ArmPart(Kind.CARTESIAN, (asked.x * linear, asked.y * linear, asked.z * linear))
    if command.arm_input == ArmInput.CYLINDRICAL:
        about = command.cylindrical
        turn = about.azimuth * config.azimuth_speed * fraction
        return ArmPart(Kind.CYLINDRICAL, (about.radial * linear, about.vertical * linear, turn))
    if command.arm_input == ArmInput.KNOWN_POSE:
        pose = command.known_pose
        return ArmPart(Kind.POSE, (pose.velocity * fraction,), pose_name(pose))
    return None


def _unknown_pose(command: TipCommand, config: MotionConfig) -> Problem | None:
    """Say that the configuration has no pose of the commanded name, or None."""
    if isinstance(command, TwistCommand) or command.known_pose.name in ("", *config.poses):
        return None
    return Problem(
        "unknown_pose",
        f"there is no pose {command.known_pose.name!r}; the poses are {', '.join(config.poses)}",
    )


def _read_twist(command: TwistCommand, config: MotionConfig, speed: Sequence[float]) -> Demand:
    problem = first_out_of_range(_twist_speeds(command, config))
    if problem is not None:
        return Demand(refused=problem)
    part = ArmPart(Kind.TWIST, command.linear, command.frame)
    return Demand(
        None if part.is_zero else part,
        jaws=command.grip * min(config.jaw_speed, speed[A]),
        acceleration=command.maximum_acceleration or math.inf,
    )


def _twist_speeds(
    command: TwistCommand, config: MotionConfig
) -> Iterator[tuple[str, float, float, float]]:
    for axis, linear in zip("xyz", command.linear, strict=True):
        yield f"linear.{axis}", linear, -config.linear_speed, config.linear_speed
    # All of it is about the roll axis, or it is refused: its size is the rate of the wrist.
    fastest = config.wrist_speed * (1.0 + _ROUNDING)
    yield "the size of angular", math.hypot(*command.angular), 0.0, fastest
