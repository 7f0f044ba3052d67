"""How fast each joint may go at most, from how far it is from its limits (rule 15).

Towards a limit the rate is at most gain x distance, and at most what a steady deceleration brings
to rest within the distance; nothing at the margin and beyond. Away from it only the joint's own
speed limits it, also from outside.

Vectors this small are plain tuples here: numpy would spend the tick on calls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from reach_alpha5_motion.model import C, ElbowSingularity, JointLimits

ELBOW_MARGIN = 0.05
"""rad: how far before the straight arm a jog stops. It costs 0.1 mm of reach."""

_ROUNDING = 1e-9


class RateBounds(NamedTuple):
    """Lowest (<= 0) and highest (>= 0) rate of some joints [rad/s, m/s], in the same order."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]

    def share(self, rates: Sequence[float], least: float = 0.0) -> float:
        """Return the largest share in [0, 1] of `rates` that is inside.

        A bound below `least` counts as that.
        """
        share = 1.0
        for rate, low, high in zip(rates, self.lower, self.upper, strict=True):
            if not low <= rate <= high:
                room = max(high if rate > 0.0 else -low, least)
                share = min(share, room / abs(rate))
        return share

    def holds_back(self, rates: Sequence[float]) -> tuple[bool, ...]:
        """Tell for each joint whether its rate is outside by more than rounding."""
        return tuple(
            [
                not low - _ROUNDING <= rate <= high + _ROUNDING
                for rate, low, high in zip(rates, self.lower, self.upper, strict=True)
            ]
        )

    def slower(self, most: Sequence[float]) -> RateBounds:
        """Return the bounds with no rate above `most` either way."""
        lower = [max(low, -rate) for low, rate in zip(self.lower, most, strict=True)]
        upper = [min(high, rate) for high, rate in zip(self.upper, most, strict=True)]
        return RateBounds(tuple(lower), tuple(upper))

    def clip(self, rates: Sequence[float]) -> list[float]:
        """Return the rates, each cut to its bounds."""
        return [
            min(max(rate, low), high)
            for rate, low, high in zip(rates, self.lower, self.upper, strict=True)
        ]

    def lone_shares(self, rates: Sequence[float]) -> list[float]:
        """Return for the last joints, one a rate, the share in [0, 1] of it that is inside."""
        last = len(rates)
        return [
            1.0 if low <= rate <= high else (high if rate > 0.0 else -low) / abs(rate)
            for rate, low, high in zip(rates, self.lower[-last:], self.upper[-last:], strict=True)
        ]


class Room(NamedTuple):
    """Where one joint may be, and how it stops before the end of that."""

    low: float
    """First place where it stands still [rad, m]."""
    high: float
    """Last one."""
    speed: float
    """Its speed limit [rad/s, m/s]."""
    gain: float
    """Rate per distance left [1/s]."""
    deceleration: float
    """That it may count with [rad/s^2, m/s^2]."""
    braking: float
    """Distance left from which on it slows down [rad, m]."""

    def towards(self, way: float) -> float:
        """Return the highest rate towards a limit that is `way` ahead; zero at it and beyond."""
        if way >= self.braking:
            return self.speed
        if way > 0.0:
            return min(self.gain * way, math.sqrt(2.0 * self.deceleration * way), self.speed)
        return 0.0


def rooms(
    limits: JointLimits, margins: Sequence[float], gain: float, braking: Sequence[float]
) -> tuple[Room, ...]:
    """Return the room of each joint.

    Args:
        limits: of the joints.
        margins: how far before its limits each joint stops.
        gain: rate per distance left [1/s].
        braking: deceleration with which each joint may count [rad/s^2, m/s^2].
    """
    # What is no number is not above zero: it does not move.
    speeds = [fastest if fastest > 0.0 else 0.0 for fastest in limits.velocity.tolist()]
    return tuple(
        Room(
            low + margin,
            high - margin,
            speed,
            gain,
            deceleration,
            max(speed / gain, speed * speed / (2.0 * deceleration)),
        )
        for low, high, margin, speed, deceleration in zip(
            limits.lower.tolist(), limits.upper.tolist(), margins, speeds, braking, strict=True
        )
    )


def position_bounds(positions: Sequence[float], rooms: Sequence[Room]) -> RateBounds:
    """Return the bounds of all joints from where they are.

    One whose position is not finite may not move at all.
    """
    lower: list[float] = []
    upper: list[float] = []
    for position, room in zip(positions, rooms, strict=True):
        known = math.isfinite(position)
        lower.append(-room.towards(position - room.low) if known else 0.0)
        upper.append(room.towards(room.high - position) if known else 0.0)
    return RateBounds(tuple(lower), tuple(upper))


def with_elbow(
    bounds: RateBounds, elbow: float, side: int, singularity: ElbowSingularity, gain: float
) -> RateBounds:
    """Tighten axis_c towards a straight arm; `side` (-1, +1) is where the elbow counts as being.

    A jog cannot pass there: the tip would have to stop, and the other side is another branch.
    """
    room = gain * max(side * (elbow - singularity.angle) - ELBOW_MARGIN, 0.0)
    if room >= (bounds.upper[C] if side < 0 else -bounds.lower[C]):
        return bounds
    lower, upper = list(bounds.lower), list(bounds.upper)
    if side < 0:
        upper[C] = room
    else:
        lower[C] = -room
    return RateBounds(tuple(lower), tuple(upper))
