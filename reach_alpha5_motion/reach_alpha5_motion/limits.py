"""How fast each joint may go at most, from how far it is from its limits (rule 15).

Towards a limit the rate is at most gain x distance, nothing at the margin and beyond; away from it
only the joint's own speed limits it, also from outside.

Vectors this small are plain tuples here: numpy would spend the tick on calls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from reach_alpha5_motion.model import C, ElbowSingularity, JointLimits

ELBOW_MARGIN = 0.05
"""rad: how far before the straight arm a jog stops. It costs 0.1 mm of reach."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class RateBounds:
    """Lowest (<= 0) and highest (>= 0) rate of some joints [rad/s, m/s], in the same order."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]

    def share(self, rates: Sequence[float], least: float = 0.0) -> float:
        """Return the largest share in [0, 1] of `rates` that is inside.

        A bound below `least` counts as that.
        """
        share = 1.0
        for rate, low, high in zip(rates, self.lower, self.upper, strict=True):
            room = max(high if rate > 0.0 else -low, least)
            if abs(rate) > room:
                share = min(share, room / abs(rate))
        return share

    def holds_back(self, rates: Sequence[float]) -> tuple[bool, ...]:
        """Tell for each joint whether its rate is outside by more than rounding."""
        return tuple(
            not low - _ROUNDING <= rate <= high + _ROUNDING
            for rate, low, high in zip(rates, self.lower, self.upper, strict=True)
        )

    def clip(self, rates: Sequence[float]) -> list[float]:
        """Return the rates, each cut to its bounds."""
        return [
            min(max(rate, low), high)
            for rate, low, high in zip(rates, self.lower, self.upper, strict=True)
        ]

    def first(self, count: int) -> RateBounds:
        """Return the bounds of the first `count` joints."""
        return RateBounds(self.lower[:count], self.upper[:count])


def position_bounds(
    positions: Sequence[float], limits: JointLimits, margins: Sequence[float], gain: float
) -> RateBounds:
    """Return the bounds for joint positions, a margin before each limit, and a gain [1/s].

    A joint whose position is not finite may not move at all.
    """
    lower, upper = [], []
    for position, margin, low, high, fastest in zip(
        positions,
        margins,
        limits.lower.tolist(),
        limits.upper.tolist(),
        limits.velocity.tolist(),
        strict=True,
    ):
        speed = max(0.0, fastest) if math.isfinite(position) else 0.0
        # max(0.0, NaN) is 0.0 in this order of arguments: what is no number does not move.
        lower.append(-min(speed, gain * max(0.0, position - low - margin)))
        upper.append(min(speed, gain * max(0.0, high - margin - position)))
    return RateBounds(tuple(lower), tuple(upper))


def with_elbow(
    bounds: RateBounds, elbow: float, side: int, singularity: ElbowSingularity, gain: float
) -> RateBounds:
    """Tighten axis_c towards a straight arm; `side` (-1, +1) is where the elbow counts as being.

    A jog cannot pass there: the tip would have to stop, and the other side is another branch.
    """
    room = gain * max(side * (elbow - singularity.angle) - ELBOW_MARGIN, 0.0)
    lower, upper = list(bounds.lower), list(bounds.upper)
    if side < 0:
        upper[C] = min(upper[C], room)
    else:
        lower[C] = max(lower[C], -room)
    return RateBounds(tuple(lower), tuple(upper))
