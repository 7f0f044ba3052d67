"""What must not be touched, as the motion sees it: bounds on how fast it may be come nearer to.

A keep-out knows geometry; whoever moves the arm knows only these bounds. One bound says that the
distance of one pair of bodies may shrink by at most a rate: what grows it is never bounded, so
there is always a way back out, and joints that do not change the distance are free.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class ApproachLimit(NamedTuple):
    """How fast one pair of bodies may come nearer to each other."""

    row: tuple[float, float, float, float, float]
    """- d(distance) / d(axis_e, axis_d, axis_c, axis_b, axis_a) [m/rad; m/m for the jaws]: row ·
    q̇ is the rate of approach, above zero towards each other."""
    rate: float
    """Highest row · q̇ [m/s], never below zero; zero at the inner distance and nearer."""
    distance: float
    """Between the two surfaces [m], below zero when they overlap."""
    pair: str
    """The two bodies, as in telemetry: `axis_b hull`."""

    def nearing(self, rates: Sequence[float]) -> float:
        """Return how fast the pair comes nearer at joint rates, five [m/s]."""
        e, d, c, b, a = self.row
        return e * rates[0] + d * rates[1] + c * rates[2] + b * rates[3] + a * rates[4]


class KeepOut(Protocol):
    """Tells how near the arm is to what it must not touch."""

    def constraints(self, q: Sequence[float]) -> Sequence[ApproachLimit]:
        """Return the bounds that count at the joint positions `q`, chain order, five, finite.

        Pairs that are far enough apart are left out; empty: nothing is near.
        """
