"""What the drone's configuration says of motion: speeds, the speed curve, margins and poses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from reach_alpha5_common.command import Pose

STOWED = "stowed"
DEPLOYED = "deployed"

POSE_NAMES = {Pose.STOWED: STOWED, Pose.DEPLOYED: DEPLOYED}
"""Names of the poses that a command can number."""


class MotionConfigError(ValueError):
    """A configuration that the arm cannot be moved with; one problem a line."""


@dataclass(frozen=True, slots=True)
class MotionConfig:
    """Configuration of the resolver. Every default is ours: the drone's configuration decides.

    Raises:
        MotionConfigError: a number is out of its range.
    """

    linear_speed: float = 0.10
    """m/s of the tip at full input, each cartesian axis, radial and vertical. At 30 deg/s a joint
    moves a tip 0.3 m away at 0.15 m/s, so that this keeps most of the workspace unsaturated."""
    azimuth_speed: float = 0.5
    """rad/s of the base at full input; just inside the 30 deg/s of axis_e."""
    wrist_speed: float = 0.87
    """rad/s of axis_b at full input; the description's limit still holds."""
    jaw_speed: float = 0.003
    """m/s of axis_a at full input; the description's limit still holds."""
    joint_speed: float = math.radians(30.0)
    """rad/s: highest of axis_e, axis_d and axis_c, whatever asks; the description's limits and
    those of the arm still hold."""
    joint_acceleration: float = 4.0
    """rad/s^2: highest of axis_e, axis_d and axis_c. The description has none: with this a joint
    at 30 deg/s is still after 0.13 s and 2 deg."""
    wrist_acceleration: float = 6.5
    """rad/s^2: highest of axis_b. The description has none."""
    jaw_acceleration: float = 0.03
    """m/s^2: highest of axis_a. The description has none."""
    ramp_time: float = 0.18
    """s from a change of input until all of it has come through; a stop takes no longer."""
    jerk_share: float = 0.25
    """Share of ramp_time in which the acceleration builds up, and again in which it ends: jerk is
    at most speed / (ramp_time^2 x jerk_share x (1 - jerk_share))."""
    latency: float = 0.012
    """s from computing rates until the joints turn with them, and from the measurement until it
    is told of, together: how far ahead of what is measured the arm is thought to be."""
    line_distance: float = 0.03
    """m of travel over which the tip comes back to its line from a deviation."""
    line_slack: float = 0.00025
    """m: a deviation up to this is left alone: it is within the noise of the measurement, and the
    joints would only tremble after it."""
    line_tilt: float = 0.05
    """Most that coming back to the line may tilt the motion: speed across it per speed along."""
    slow_fraction: float = 0.25
    """Share of the maximum speeds at speed_modifier -1."""
    default_fraction: float = 0.5
    """Share of the maximum speeds at speed_modifier 0."""
    maximum_fraction: float = 1.0
    """Share of the maximum speeds at speed_modifier +1."""
    brake_gain: float = 4.0
    """1/s: a joint may go towards a limit or a goal at this times the distance left. With a delay
    t from measurement to motion it does not overshoot while gain x t < 1/e: 4 allows 90 ms."""
    angle_margin: float = 0.01
    """rad: how far before a limit the rotary joints stop."""
    jaw_margin: float = 0.0001
    """m: how far before a limit the jaws stop."""
    stowed: tuple[float, float, float] = (0.1, 1.57, 0.08)
    """axis_e, axis_d, axis_c of the stowed pose [rad]."""
    deployed: tuple[float, float, float] = (math.pi, 1.57, 1.57)
    """axis_e, axis_d, axis_c of the deployed pose [rad]."""
    lift: tuple[float, float] = (2.4, 2.1)
    """axis_d, axis_c in which the base swings [rad]: upright, all joints within 0.1 m of the
    base axis and the tip at 95 % of its greatest height; 0.66 rad from full stretch and more than
    1 rad from every limit, so that jogging away from it goes at full speed in all directions."""
    leg_tolerance: float = 0.12
    """rad: this near to its end a leg of a known pose begins to blend into the next, and this much
    the base may still turn without a lift."""
    pose_tolerance: float = 0.002
    """rad: a pose is reached when each joint is this near: 0.7 mm at the tip."""
    further_poses: tuple[tuple[str, tuple[float, float, float]], ...] = ()
    """More poses: name, and axis_e, axis_d, axis_c [rad]."""

    def __post_init__(self) -> None:
        """Check every number."""
        problems = list(self._problems())
        if problems:
            raise MotionConfigError("\n".join(problems))

    def speed_fraction(self, speed_modifier: float) -> float:
        """Return the share of the maximum speeds for a modifier in [-1, 1] (B6).

        Straight from slow (-1) to default (0), and from default to maximum (+1).
        """
        end = self.maximum_fraction if speed_modifier > 0.0 else self.slow_fraction
        share = abs(speed_modifier)
        return (1.0 - share) * self.default_fraction + share * end

    @property
    def poses(self) -> dict[str, tuple[float, float, float]]:
        """All known poses by name: axis_e, axis_d, axis_c [rad]."""
        return {STOWED: self.stowed, DEPLOYED: self.deployed, **dict(self.further_poses)}

    @property
    def accelerations(self) -> tuple[float, float, float, float, float]:
        """Highest acceleration of each joint, chain order [rad/s^2; m/s^2 for the jaws]."""
        return (*(self.joint_acceleration,) * 3, self.wrist_acceleration, self.jaw_acceleration)

    @property
    def braking(self) -> tuple[float, float, float, float, float]:
        """Deceleration towards position limits, chain order [rad/s^2; m/s^2 for the jaws].

        Half of what there is: measurements have noise, and other joints brake too.
        """
        e, d, c, b, a = self.accelerations
        return e / 2.0, d / 2.0, c / 2.0, b / 2.0, a / 2.0

    @property
    def margins(self) -> tuple[float, float, float, float, float]:
        """How far before its limits each joint stops, chain order [rad; m for the jaws]."""
        return (*(self.angle_margin,) * 4, self.jaw_margin)

    def _problems(self) -> Iterator[str]:
        for name, largest, unit in (
            ("linear_speed", 1.0, "m/s"),
            ("azimuth_speed", math.tau, "rad/s"),
            ("wrist_speed", math.tau, "rad/s"),
            ("jaw_speed", 0.1, "m/s"),
            ("joint_speed", math.tau, "rad/s"),
            ("joint_acceleration", 100.0, "rad/s^2"),
            ("wrist_acceleration", 100.0, "rad/s^2"),
            ("jaw_acceleration", 10.0, "m/s^2"),
            ("ramp_time", 1.0, "s"),
            ("jerk_share", 0.5, ""),
            ("latency", 0.1, "s"),
            ("line_distance", 1.0, "m"),
            ("line_slack", 0.01, "m"),
            ("line_tilt", 0.2, ""),
            ("slow_fraction", 1.0, ""),
            ("default_fraction", 1.0, ""),
            ("maximum_fraction", 1.0, ""),
            ("brake_gain", 10.0, "1/s"),
            ("angle_margin", 0.5, "rad"),
            ("jaw_margin", 0.005, "m"),
            ("leg_tolerance", 0.5, "rad"),
            ("pose_tolerance", 0.1, "rad"),
        ):
            value = getattr(self, name)
            if not 0.0 < value <= largest:
                yield f"{name} is {value:g}; it must be above 0 and at most {largest:g} {unit}"
        if not self.slow_fraction <= self.default_fraction <= self.maximum_fraction:
            yield (
                "slow_fraction, default_fraction and maximum_fraction are "
                f"{self.slow_fraction:g}, {self.default_fraction:g}, {self.maximum_fraction:g}; "
                "they must not fall"
            )
        if not self.pose_tolerance < self.leg_tolerance / 4.0:
            yield (
                f"pose_tolerance is {self.pose_tolerance:g}; it must be below a quarter of "
                f"leg_tolerance ({self.leg_tolerance:g})"
            )
        for name, count in (("stowed", 3), ("deployed", 3), ("lift", 2)):
            angles = getattr(self, name)
            if len(angles) != count or not all(math.isfinite(angle) for angle in angles):
                yield f"{name} is {angles}; it must be {count} finite joint angles"
        names = [STOWED, DEPLOYED]
        for name, angles in self.further_poses:
            if not name or name in names:
                yield f"a further pose is named {name!r}; give each pose a name of its own"
            names.append(name)
            if len(angles) != 3 or not all(math.isfinite(angle) for angle in angles):
                yield f"pose {name} is {angles}; it must be 3 finite joint angles"
