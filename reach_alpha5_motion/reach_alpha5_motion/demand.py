"""What a command asks, read into speeds in SI units: what is shaped, and then resolved."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from reach_alpha5_common.command import ArmInput, GripperCommand, GripperVelocities, Pose
from reach_alpha5_common.refusal import Problem
from reach_alpha5_motion.model import A, B, Vector
from reach_alpha5_motion.speed import POSE_NAMES, STOWED, MotionConfig


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


@dataclass(frozen=True, slots=True)
class ArmPart:
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
class TwistDemand:
    """A velocity of the tool in SI units (D8, S2). Default-constructed: a stop."""

    frame: str = ""
    """Link of the description in whose axes both vectors are; it may move with the arm."""
    linear: Vector = (0.0, 0.0, 0.0)
    """Of the tip [m/s]."""
    angular: Vector = (0.0, 0.0, 0.0)
    """Of the tool [rad/s]: about its roll axis alone, which turns the wrist. What is across that
    axis four joints cannot do beside a motion of the tip: it is refused."""
    maximum_acceleration: float = 0.0
    """m/s^2 while the tip's speed changes; 0: that of the configuration. A stop does not wait."""


@dataclass(frozen=True, slots=True)
class PoseDemand:
    """The way to a pose by its name, for poses that `GripperCommand` has no number for."""

    name: str
    velocity: float
    """Share in [0, 1] of the configured speed."""
    speed_modifier: float = 0.0
    gripper_velocities: GripperVelocities = field(default=GripperVelocities())


Command = GripperCommand | TwistDemand | PoseDemand


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
    refused: Problem | None = None


def read(
    command: Command, config: MotionConfig, speed: Sequence[float], holding: bool = False
) -> Demand:
    """Return what the command asks. One that is not in order asks nothing and says why.

    Args:
        command: what somebody wants.
        config: speeds and poses.
        speed: limits in force of the five joints [rad/s, m/s]: those of wrist and jaws are what
            full input means where they are below the configured ones.
        holding: the jaws hold something, and nobody has said to stow it all the same: the pose
            stowed is refused (S3); jaws and wrist stay free.
    """
    if isinstance(command, TwistDemand):
        return _read_twist(command, config)
    if isinstance(command, PoseDemand):
        problem = _pose_problem(command, config)
    else:
        problem = command.problem()
    if problem is not None:
        return Demand(refused=problem)
    part = _arm_part(command, config)
    if part is not None and part.name == STOWED and part.kind is Kind.POSE and holding:
        part = None
        problem = Problem(
            "holding",
            "the jaws hold something: let go of it before stowing, or say that it shall be stowed",
        )
    return Demand(
        None if part is None or part.is_zero else part,
        command.gripper_velocities.rotate * min(config.wrist_speed, speed[B]),
        command.gripper_velocities.grip * min(config.jaw_speed, speed[A]),
        refused=problem,
    )


def _arm_part(command: GripperCommand | PoseDemand, config: MotionConfig) -> ArmPart | None:
    fraction = config.speed_fraction(command.speed_modifier)
    if isinstance(command, PoseDemand):
        return ArmPart(Kind.POSE, (command.velocity * fraction,), command.name)
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
        return ArmPart(Kind.POSE, (pose.velocity * fraction,), POSE_NAMES[Pose(pose.pose)])
    return None


def _pose_problem(command: PoseDemand, config: MotionConfig) -> Problem | None:
    """Say what is wrong with the way to a named pose, or None."""
    if command.name not in config.poses:
        return Problem(
            "unknown_pose",
            f"there is no pose {command.name!r}; the poses are {', '.join(config.poses)}",
        )
    gripper = command.gripper_velocities
    numbers = (
        ("velocity", command.velocity, 0.0, 1.0),
        ("speed_modifier", command.speed_modifier, -1.0, 1.0),
        ("grip_velocity", gripper.grip, -1.0, 1.0),
        ("rotate_velocity", gripper.rotate, -1.0, 1.0),
    )
    return _first_out_of_range(iter(numbers))


def _read_twist(command: TwistDemand, config: MotionConfig) -> Demand:
    problem = _first_out_of_range(_twist_numbers(command, config))
    if problem is not None:
        return Demand(refused=problem)
    part = ArmPart(Kind.TWIST, command.linear, command.frame)
    return Demand(
        None if part.is_zero else part,
        acceleration=command.maximum_acceleration or math.inf,
    )


def _twist_numbers(
    command: TwistDemand, config: MotionConfig
) -> Iterator[tuple[str, float, float, float]]:
    for axis, linear in zip("xyz", command.linear, strict=True):
        yield f"linear.{axis}", linear, -config.linear_speed, config.linear_speed
    for axis, angular in zip("xyz", command.angular, strict=True):
        yield f"angular.{axis}", angular, -config.wrist_speed, config.wrist_speed
    yield "maximum_acceleration", command.maximum_acceleration, 0.0, math.inf


def _first_out_of_range(numbers: Iterator[tuple[str, float, float, float]]) -> Problem | None:
    for name, value, low, high in numbers:
        if not math.isfinite(value):
            return Problem("not_finite", f"{name} is {value}; send a finite number")
        if not low <= value <= high:
            return Problem(
                "out_of_range", f"{name} is {value:g}; send a number in [{low:g}, {high:g}]"
            )
    return None
