"""The commands that move the arm, as plain values, and the one check of what may be asked.

These are the messages `GripperCtrl` and `DriverCommand` without ROS: pure cores take and give
them, `reach_alpha5_common.messages` translates. A default-constructed value is a stop.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from reach_alpha5_common.refusal import Problem


class ArmInput(enum.IntEnum):
    """Which payload of a command is read. The numbers are those of the drone's protocol."""

    NONE = 0
    CARTESIAN = 2
    CYLINDRICAL = 3
    KNOWN_POSE = 5


class Pose(enum.IntEnum):
    """A pose that the drone's configuration names."""

    UNSPECIFIED = 0
    STOWED = 1
    DEPLOYED = 2
    NAMED = 3


class StopLevel(enum.IntEnum):
    """How far a stop goes; the larger, the more restrictive."""

    NONE = 0
    SETTLE_THEN_CUT = 1
    CUT = 2

    @classmethod
    def of(cls, value: int) -> StopLevel:
        """Read a level off the wire: a value that nobody defined is the most restrictive one."""
        return cls(value) if value in cls._value2member_map_ else cls.CUT


class CommandKind(enum.IntEnum):
    """What a driver command is; the default is a stop."""

    STOP = 0
    INPUT = 1
    JOINT = 2
    RESET = 3
    TWIST = 4

    @classmethod
    def of(cls, value: int) -> CommandKind:
        """Read a kind off the wire: a value that nobody defined is a stop."""
        return cls(value) if value in cls._value2member_map_ else cls.STOP


def first_out_of_range(numbers: Iterable[tuple[str, float, float, float]]) -> Problem | None:
    """Return what is wrong with the first of some numbers that is not finite or not in its range.

    Args:
        numbers: of each its name, its value, and the least and the greatest that it may be.
    """
    for name, value, low, high in numbers:
        if not math.isfinite(value):
            return Problem("not_finite", f"{name} is {value}; send a finite number")
        if not low <= value <= high:
            return Problem(
                "out_of_range", f"{name} is {value:g}; send a number in [{low:g}, {high:g}]"
            )
    return None


MAX_LIFETIME = 2.0**31 - 1.0
"""s: what a duration on the wire can hold."""

MAX_NAME = 128
"""Characters of a name that a command has: it is repeated as long as the command stands."""


def _too_long(what: str, name: str) -> Problem:
    return Problem(
        "name_too_long", f"{what} has {len(name)} characters; a name has {MAX_NAME} at most"
    )


@dataclass(frozen=True, slots=True)
class GripperVelocities:
    """Normalised velocities of jaws (plus opens) and wrist (plus as axis_b), each in [-1, 1]."""

    grip: float = 0.0
    rotate: float = 0.0


@dataclass(frozen=True, slots=True)
class Cartesian:
    """Normalised tip velocity in `base_link_frd`: forward, right, down, each in [-1, 1]."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


@dataclass(frozen=True, slots=True)
class Cylindrical:
    """Normalised tip velocity about the arm's base axis: outward, down, clockwise from above."""

    radial: float = 0.0
    vertical: float = 0.0
    azimuth: float = 0.0


@dataclass(frozen=True, slots=True)
class KnownPose:
    """A named pose and the fraction [0, 1] of the configured speed along the path to it."""

    pose: int = Pose.UNSPECIFIED
    velocity: float = 0.0
    name: str = ""
    """Which further pose of the configuration: with NAMED, else empty."""
    while_holding: bool = False
    """Go to STOWED although the jaws hold something."""

    def problem(self) -> Problem | None:
        """Say why it names no pose, or None; whether a NAMED one exists the driver knows."""
        if len(self.name) > MAX_NAME:
            return _too_long("known_pose.name", self.name)
        if self.pose not in _POSES:
            return Problem(
                "unknown_pose",
                f"known_pose.pose {self.pose} is not a pose; use "
                + ", ".join(f"{pose.value} ({pose.name})" for pose in _POSES),
            )
        if (self.pose == Pose.NAMED) != bool(self.name):
            return Problem(
                "unknown_pose",
                "known_pose.name goes with pose 3 (NAMED), and with no other",
            )
        return None


_POSES = (Pose.STOWED, Pose.DEPLOYED, Pose.NAMED)


@dataclass(frozen=True, slots=True)
class GripperCommand:
    """One command of one source: `GripperCtrl` without its header.

    `arm_input` is kept as it came so that an undefined case can be refused by name.
    """

    gripper_velocities: GripperVelocities = field(default=GripperVelocities())
    arm_input: int = ArmInput.NONE
    cartesian: Cartesian = field(default=Cartesian())
    cylindrical: Cylindrical = field(default=Cylindrical())
    known_pose: KnownPose = field(default=KnownPose())
    speed_modifier: float = 0.0
    lifetime: float = 0.0
    """Seconds after which the command ends by itself; 0 = stands until the next one."""

    PAYLOADS: ClassVar[dict[int, str]] = {
        ArmInput.CARTESIAN: "cartesian",
        ArmInput.CYLINDRICAL: "cylindrical",
        ArmInput.KNOWN_POSE: "known_pose",
    }

    @property
    def moves_arm(self) -> bool:
        """Whether the selected arm input asks the arm to move."""
        name = self.PAYLOADS.get(self.arm_input)
        if name is None:
            return False
        payload = getattr(self, name)
        if isinstance(payload, KnownPose):
            return payload.velocity != 0.0
        return any(getattr(payload, axis) != 0.0 for axis in payload.__slots__)

    @property
    def moves_gripper(self) -> bool:
        """Whether the jaws or the wrist are asked to move."""
        return self.gripper_velocities != GripperVelocities()

    @property
    def is_neutral(self) -> bool:
        """Whether it asks for no motion at all."""
        return not (self.moves_arm or self.moves_gripper)

    def without_arm(self) -> GripperCommand:
        """Return what it asks of jaws and wrist alone."""
        return GripperCommand(self.gripper_velocities)

    def problem(self) -> Problem | None:
        """Say why the command must be refused, or None when it is in order.

        Rule 10: a number that is not finite, one outside its range, a second input beside the
        selected one, a case or a pose that is not defined. Nothing is clamped.
        """
        problem = first_out_of_range(self._numbers())
        if problem is not None:
            return problem
        if self.arm_input not in ArmInput._value2member_map_:
            return Problem(
                "unknown_arm_input",
                f"arm_input {self.arm_input} is not defined; use "
                + ", ".join(f"{case.value} ({case.name})" for case in ArmInput),
            )
        for case, name in self.PAYLOADS.items():
            payload = getattr(self, name)
            if case != self.arm_input and payload != type(payload)():
                return Problem(
                    "two_inputs",
                    f"{name} is set but arm_input selects {ArmInput(self.arm_input).name}; "
                    "leave payloads that are not selected at zero",
                )
        if self.arm_input == ArmInput.KNOWN_POSE:
            return self.known_pose.problem()
        return None

    def _numbers(self) -> Iterator[tuple[str, float, float, float]]:
        yield "gripper_velocities.grip_velocity", self.gripper_velocities.grip, -1.0, 1.0
        yield "gripper_velocities.rotate_velocity", self.gripper_velocities.rotate, -1.0, 1.0
        yield "cartesian.x", self.cartesian.x, -1.0, 1.0
        yield "cartesian.y", self.cartesian.y, -1.0, 1.0
        yield "cartesian.z", self.cartesian.z, -1.0, 1.0
        yield "cylindrical.radial", self.cylindrical.radial, -1.0, 1.0
        yield "cylindrical.vertical", self.cylindrical.vertical, -1.0, 1.0
        yield "cylindrical.azimuth", self.cylindrical.azimuth, -1.0, 1.0
        yield "known_pose.velocity", self.known_pose.velocity, 0.0, 1.0
        yield "speed_modifier", self.speed_modifier, -1.0, 1.0
        yield "lifetime", self.lifetime, 0.0, MAX_LIFETIME


STILL = GripperCommand()
"""The neutral command."""

Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class TwistCommand:
    """A velocity of the tool in SI units (D8, S2): `TwistCtrl`. Default-constructed: a stop."""

    frame: str = ""
    """Link of the description in whose axes both vectors are; it may move with the arm."""
    linear: Vector = (0.0, 0.0, 0.0)
    """Of the tip [m/s]."""
    angular: Vector = (0.0, 0.0, 0.0)
    """Of the tool [rad/s]: about its roll axis alone, which turns the wrist. What is across that
    axis four joints cannot do beside a motion of the tip: it is refused."""
    grip: float = 0.0
    """Normalised velocity of the jaws, plus opens, in [-1, 1]."""
    maximum_acceleration: float = 0.0
    """m/s^2 while the tip's speed grows; 0: that of the configuration. What slows down, turns
    round or stops does not wait."""
    lifetime: float = 0.0
    """Seconds after which the command ends by itself: required of a source, as a runaway guard."""

    @property
    def moves_arm(self) -> bool:
        """Whether it asks the tool to move."""
        return any(self.linear) or any(self.angular)

    @property
    def is_neutral(self) -> bool:
        """Whether it asks for no motion at all."""
        return not (self.moves_arm or self.grip)

    def without_arm(self) -> TwistCommand:
        """Return what it asks of the jaws alone."""
        return TwistCommand(grip=self.grip)

    def problem(self) -> Problem | None:
        """Say why the command must be refused, or None when it is in order in itself.

        What speeds and frames there are the driver knows; how long it may last, the arbiter.
        """
        if len(self.frame) > MAX_NAME:
            return _too_long("frame_id", self.frame)
        return first_out_of_range(self._numbers())

    def _numbers(self) -> Iterator[tuple[str, float, float, float]]:
        for vector in ("linear", "angular"):
            for axis, value in zip("xyz", getattr(self, vector), strict=True):
                yield f"{vector}.{axis}", value, -math.inf, math.inf
        yield "grip_velocity", self.grip, -1.0, 1.0
        yield "maximum_acceleration", self.maximum_acceleration, 0.0, math.inf
        yield "lifetime", self.lifetime, 0.0, MAX_LIFETIME


MAX_JOINTS = 16
"""Joints that one set-point can name."""


@dataclass(frozen=True, slots=True)
class JointCommand:
    """A set-point for named joints: `JointCtrl`, `JointSetpoint`. Default-constructed: a stop.

    Joints that are not named hold still.
    """

    joint_names: tuple[str, ...] = ()
    """As in the robot description."""
    positions: tuple[float, ...] = ()
    """Where they shall be when the set-point arrives [rad; the jaws in m]."""
    velocities: tuple[float, ...] = ()
    """How fast they shall go from there [rad/s, m/s]; 0 = they rest there."""
    lifetime: float = 0.0
    """Seconds after which the set-point ends by itself: required of a source."""

    @property
    def moves_arm(self) -> bool:
        """Whether it names a joint."""
        return bool(self.joint_names)

    @property
    def is_neutral(self) -> bool:
        """Whether it asks for no motion at all."""
        return not self.joint_names

    def without_arm(self) -> JointCommand:
        """Return what it asks beside the joints: nothing."""
        return JointCommand()

    def problem(self) -> Problem | None:
        """Say why the set-point must be refused, or None when it is in order in itself.

        Which joints there are and how far and fast they go the driver knows.
        """
        names = self.joint_names
        if not len(names) == len(self.positions) == len(self.velocities):
            return Problem(
                "bad_sizes",
                f"{len(names)} joint_names, {len(self.positions)} positions and "
                f"{len(self.velocities)} velocities; send one of each per joint",
            )
        if len(names) > MAX_JOINTS:
            return Problem(
                "too_many_joints", f"{len(names)} joints; a set-point has {MAX_JOINTS} at most"
            )
        for name in names:
            if len(name) > MAX_NAME:
                return _too_long("a joint", name)
        if len(set(names)) != len(names):
            return Problem("joint_named_twice", f"joint_names {', '.join(names)} repeats one")
        return first_out_of_range(self._numbers())

    def _numbers(self) -> Iterator[tuple[str, float, float, float]]:
        for name, position, velocity in zip(
            self.joint_names, self.positions, self.velocities, strict=True
        ):
            yield f"position of {name}", position, -math.inf, math.inf
            yield f"velocity of {name}", velocity, -math.inf, math.inf
        yield "lifetime", self.lifetime, 0.0, MAX_LIFETIME


MotionCommand = GripperCommand | TwistCommand | JointCommand
"""What a source can ask. The newest counts, whichever it is."""


@dataclass(frozen=True, slots=True)
class DriverCommand:
    """One message on the only way to the driver: `DriverCommand` without its header."""

    kind: CommandKind = CommandKind.STOP
    sequence: int = 0
    stop_level: StopLevel = StopLevel.NONE
    estop_epoch: int = 0
    input: GripperCommand = STILL
    twist: TwistCommand = field(default=TwistCommand())
    joint: JointCommand = field(default=JointCommand())
    lifetime: float = 0.0
    """Seconds that an INPUT, TWIST or JOINT stands; must be above zero for them. Of a STOP: how
    long the arm may take to come to rest smoothly; 0: it is stopped at once."""

    @property
    def motion(self) -> MotionCommand:
        """What an INPUT, TWIST or JOINT asks."""
        if self.kind is CommandKind.TWIST:
            return self.twist
        return self.joint if self.kind is CommandKind.JOINT else self.input
