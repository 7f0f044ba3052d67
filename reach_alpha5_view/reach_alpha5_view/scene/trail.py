"""Where the tip went: bounded in time and in points."""

from __future__ import annotations

import math
from collections import deque

from reach_alpha5_view.scene.geometry import finite
from reach_alpha5_view.scene.shapes import Point

GAP = 1.0
"""s: what was not heard for so long is not joined by a line. Ours."""

JUMP = 0.1
"""m: nor is what is farther apart, as after a restart or a jump in a bag. Ours: the tip moves at
0.1 m/s, and is heard many times a second."""


class Trail:
    """The last places of the tip."""

    def __init__(self, duration: float, points: int, spacing: float) -> None:
        """Begin with none.

        Args:
            duration: s after which a place is forgotten.
            points: places that are kept at most.
            spacing: m to the last place, from which on one is kept.
        """
        self._duration = duration
        self._spacing = spacing
        self._places: deque[tuple[float, Point, bool]] = deque(maxlen=points)
        """When, where, and whether the tip came from the place before."""
        self._heard = -math.inf
        self._last: Point | None = None

    def add(self, tip: Point, now: float) -> None:
        """Take in where the tip [m] is at `now`; a place that is not known ends a line."""
        if not finite(tip):
            self._last = None
            return
        joined = (
            self._last is not None
            and 0.0 <= now - self._heard <= GAP
            and math.dist(self._last, tip) <= JUMP
        )
        self._heard, self._last = now, tip
        if joined and self._places and math.dist(self._places[-1][1], tip) < self._spacing:
            return
        self._places.append((now, tip, joined))

    def lines(self, now: float) -> tuple[Point, ...]:
        """Return two ends for each line of the trail, oldest first, and forget what is old."""
        while self._places and now - self._places[0][0] > self._duration:
            self._places.popleft()
        ends: list[Point] = []
        before: Point | None = None
        for _, place, joined in self._places:
            if before is not None and joined:
                ends += (before, place)
            before = place
        return tuple(ends)
