"""What the drone's configuration says of motion: speeds, the speed curve, margins and poses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass


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
    pose_tolerance: float = 0.005
    """rad: a pose is reached when each joint is this near."""

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

    def _problems(self) -> Iterator[str]:
        for name, largest, unit in (
            ("linear_speed", 1.0, "m/s"),
            ("azimuth_speed", math.tau, "rad/s"),
            ("wrist_speed", math.tau, "rad/s"),
            ("jaw_speed", 0.1, "m/s"),
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
