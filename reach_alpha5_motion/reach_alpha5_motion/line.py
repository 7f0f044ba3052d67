"""Keeping to a straight line: a small tilt that brings the tip back to the line it was started on.

A jog that takes its direction from where the arm is goes straight as far as it knows where the arm
is. What prediction leaves of error (a delay that is not quite the configured one, joints that obey
not quite) adds up along the way, and only what is measured can tell of it.

So a jog remembers the line through the tip where its direction began. From the deviation across
it, less line_slack, the motion is tilted back by deviation / line_distance, at most by line_tilt:
at rest there is no correction at all, and it never exceeds that share of the speed that was asked.
That is not driving an axis which was not asked: it takes back motion along it that was measured,
and no more.

The line is forgotten when the direction changes, when the motion ends or is held back by anything,
and when the tip is far off (`FAR`): nothing is ever drawn back to where it was once.
"""

from __future__ import annotations

import math

from reach_alpha5_motion.model import Vector

FAR = 0.004
"""m: a tip so far off its line was moved by something else; a new line begins."""

SAMPLES = 10
"""Ticks over which the place of the line is averaged: one measurement has noise."""

_SAME = 1e-6
"""Directions whose unit vectors differ by no more are the same: rounding."""


class Line:
    """The line of one jog, in any cartesian coordinates [m]."""

    def __init__(self, distance: float, slack: float, tilt: float) -> None:
        """Take `line_distance` [m], `line_slack` [m] and `line_tilt`."""
        self._distance = distance
        self._slack = slack
        self._tilt = tilt
        self._direction: Vector | None = None
        self._place: Vector = (0.0, 0.0, 0.0)
        self._samples = 0

    def forget(self) -> None:
        """Begin anew with the next motion."""
        self._direction = None

    def tilt(self, velocity: Vector, tip: Vector) -> Vector | None:
        """Return the velocity across the line [m/s] for a tip that shall move with `velocity`.

        None: none is needed, or not yet.
        """
        speed = math.hypot(*velocity)
        if speed == 0.0:
            self.forget()
            return None
        along = (velocity[0] / speed, velocity[1] / speed, velocity[2] / speed)
        if self._direction is None or math.dist(along, self._direction) > _SAME:
            self._direction, self._place, self._samples = along, tip, 1
            return None
        offset = _across(tip, self._place, along)
        if self._samples < SAMPLES:
            self._samples += 1
            self._place = _moved(self._place, offset, 1.0 / self._samples)
            return None
        size = math.hypot(*offset)
        if size > FAR:
            self.forget()
            return None
        if size <= self._slack:
            return None
        tilt = min((size - self._slack) / self._distance, self._tilt)
        return _moved((0.0, 0.0, 0.0), offset, -speed * tilt / size)


def _across(point: Vector, origin: Vector, along: Vector) -> Vector:
    """Return the part of point - origin that is across a unit vector."""
    x, y, z = (a - b for a, b in zip(point, origin, strict=True))
    done = x * along[0] + y * along[1] + z * along[2]
    return x - done * along[0], y - done * along[1], z - done * along[2]


def _moved(point: Vector, way: Vector, share: float) -> Vector:
    return (
        point[0] + share * way[0],
        point[1] + share * way[1],
        point[2] + share * way[2],
    )
