"""Where else two bodies will touch, when they are about to touch in one place.

A flat body before a wall is nearest with one corner, and the bound on that corner says nothing of
the next one: pressed against the wall, the body could rock from corner to corner and gain a little
each time. So a body that is as near as it may get is tilted a little, four ways, about its
nearest point, and what is nearest then is bounded as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import coal
import numpy as np
import pinocchio as pin

from reach_alpha5_motion.model import FloatArray

TILT = 0.02
"""rad: more than bodies turn against each other in a tick at the joints' full speed."""

_DIFFERENT = 1e-4
"""m: nearest points on the body that are not this far apart are one place."""

Nearest = tuple[float, FloatArray, FloatArray]
"""Distance [m], normal from the first body to the second, nearest point of the first [m]."""


class Footprint:
    """Two bodies and their further nearest points."""

    def __init__(self, first: Any, second: Any, tolerance: float) -> None:
        """Take two coal shapes, and the tolerance of their distance [m]."""
        self._distance = coal.ComputeDistance(first, second)
        self._result = coal.DistanceResult()
        self._request = coal.DistanceRequest()
        self._request.gjk_tolerance = tolerance

    def others(self, first: Any, second: Any, nearest: Nearest) -> Iterator[Nearest]:
        """Yield up to four more places that are about as near, besides the nearest one.

        Args:
            first: where the first body is, a pinocchio SE3 in the world.
            second: where the second one is.
            nearest: of these two bodies at these places.
        """
        _, normal, pivot = nearest
        here = coal.Transform3s(first.rotation, first.translation)
        there = coal.Transform3s(second.rotation, second.translation)
        known = [pivot.tolist()]
        for axis in _across(normal):
            turn = pin.exp3(axis)
            shift = pivot - turn.dot(pivot)
            self._result.clear()
            tilted = coal.Transform3s(turn, shift) * here
            self._distance(tilted, there, self._request, self._result)
            point = (self._result.getNearestPoint1() - shift).dot(turn)  # on the body as it is
            place = point.tolist()
            if all(math.dist(place, other) > _DIFFERENT for other in known):
                known.append(place)
                away = self._result.normal
                yield float(away.dot(self._result.getNearestPoint2() - point)), away, point


def _across(normal: FloatArray) -> Iterator[FloatArray]:
    """Yield four small turns [rad] about axes across a normal, a quarter turn apart."""
    x, y, z = normal.tolist()
    if abs(x) < 0.6:
        size = math.hypot(y, z)
        one = np.array((0.0, z / size, -y / size))
        other = np.array((size, -x * y / size, -x * z / size))
    else:
        size = math.hypot(x, y)
        one = np.array((y / size, -x / size, 0.0))
        other = np.array((-x * z / size, -y * z / size, size))
    one, other = TILT * one, TILT * other
    yield from (one, other, -one, -other)
