"""Where the tip went, and how far.

The path is kept as points no nearer to each other than its resolution. When they become too many,
the resolution is doubled and the path thinned anew: so no excursion beyond the resolution is lost,
however long the bag is.
"""

from __future__ import annotations

import math
from typing import Any

from reach_alpha5_bags.report.joints import LONGEST_STEP
from reach_alpha5_bags.report.series import rounded

Point = tuple[float, float, float, float]
"""Time [s] and x, y, z in `base_link_frd` [m]."""

BUDGET = 6000
"""Points, at most."""

FIRST_RESOLUTION = 0.001
"""[m]. Also what counts as a step of the tip: below it positions are noise."""


FARTHEST = 1000.0
"""[m] from the drone. What is farther is no place of a tip, and nothing that can be drawn."""


class Tip:
    """The path of the tip, from `gripper_tel`."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget = budget
        self.points: list[Point | None] = []
        """None = the way between its neighbours is not known."""
        self.resolution = FIRST_RESOLUTION
        """[m]"""
        self.travelled = 0.0
        """Way [m], in steps of FIRST_RESOLUTION at least."""
        self.lowest: list[float] = [math.inf] * 3
        self.highest: list[float] = [-math.inf] * 3
        """Of x, y, z [m]: exact."""
        self.heard = 0
        self._anchor: Point | None = None
        self._last = -math.inf

    def hear(self, at: float, telemetry: Any) -> None:
        """Take in a `GripperTel`."""
        self.heard += 1
        end = telemetry.gripper.end_position
        point = (at, float(end.x), float(end.y), float(end.z))
        known = math.isfinite(at) and all(abs(value) < FARTHEST for value in point[1:])
        if not known or abs(at - self._last) > LONGEST_STEP:
            self._break()
        if not known:
            return
        self._last = at
        for axis, value in enumerate(point[1:]):
            self.lowest[axis] = min(self.lowest[axis], value)
            self.highest[axis] = max(self.highest[axis], value)
        if self._anchor is None:
            self._anchor = point
        elif (step := math.dist(point[1:], self._anchor[1:])) >= FIRST_RESOLUTION:
            self.travelled += step
            self._anchor = point
        before = self.points[-1] if self.points else None
        if before is None or math.dist(point[1:], before[1:]) >= self.resolution:
            self.points.append(point)
            while len(self.points) > self._budget:
                self._thin()

    def _break(self) -> None:
        self._anchor = None
        if self.points and self.points[-1] is not None:
            self.points.append(None)

    def _thin(self) -> None:
        """Double the resolution and keep what is farther apart than that, and the breaks.

        Where breaks alone are too many, every other one is closed.
        """
        self.resolution *= 2.0
        kept: list[Point | None] = []
        for number, point in enumerate(self.points):
            before = kept[-1] if kept else None
            if point is None:
                if before is not None and (self.resolution < 10.0 or number % 2):
                    kept.append(None)
            elif before is None or math.dist(point[1:], before[1:]) >= self.resolution:
                kept.append(point)
        self.points = kept

    def data(self) -> list[list[float | None] | None]:
        """Return the points for the page."""
        return [
            None if point is None else [rounded(point[0], 9), *(rounded(v, 4) for v in point[1:])]
            for point in self.points
        ]
