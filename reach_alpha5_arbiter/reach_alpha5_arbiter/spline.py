"""A path through the points of a trajectory: where the joints are, and how fast, at any time.

Between two points a joint goes as what both of them say allows: positions alone, in a straight
line; velocities too, along the cubic, and accelerations too, along the quintic that meets all of
it at both ends. With u = (t - t0) / h in [0, 1) over a segment of h seconds, d = p1 - p0, and
velocities V = v h and accelerations A = a h^2 per segment:

    cubic    p0 + V0 u + (3d - 2V0 - V1) u^2 + (V0 + V1 - 2d) u^3
    quintic  p0 + V0 u + A0/2 u^2 + (10d - 6V0 - 4V1 - 3/2 A0 + 1/2 A1) u^3
                + (-15d + 8V0 + 7V1 + 3/2 A0 - A1) u^4 + (6d - 3V0 - 3V1 - 1/2 A0 + 1/2 A1) u^5

Each point begins a segment at u = 0, so that it is met exactly.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

from reach_alpha5_arbiter.trajectory import Point

Motion = tuple[tuple[float, ...], tuple[float, ...]]
"""Positions and velocities, one per joint."""

NEARLY = 1e-6
"""Share by which the speed may be exceeded rather than held for no time that can be told."""

NO_WAY = 1e-9
"""rad, m: a way of which rounding is a part that counts is none."""

_at = attrgetter("at")


@dataclass(frozen=True, slots=True)
class Path:
    """A path in joint space over [0, duration]; after that it rests at its end."""

    points: tuple[Point, ...]
    """One at least, the first at 0 s, times rising, the last at rest."""
    offsets: tuple[float, ...] = ()
    """How far each joint starts from the first point; empty = it starts there."""
    blend: float = 0.0
    """s over which that fades, without a jump of the velocity at its ends; not above the
    duration."""

    @property
    def duration(self) -> float:
        """When the last point is due [s]."""
        return self.points[-1].at

    def motion(self, at: float) -> Motion:
        """Return where the joints are `at` [s] after the start, and how fast they go.

        At a point between two segments the velocity is that with which the joint leaves it.
        """
        points = self.points
        if at >= self.duration:
            end = points[-1].positions
            return end, (0.0,) * len(end)
        at = max(at, 0.0)
        after = bisect_right(points, at, key=_at)
        motion = _between(points[after - 1], points[after], at)
        return self._from_start(motion, at) if self.offsets and at < self.blend else motion

    def _from_start(self, motion: Motion, at: float) -> Motion:
        """Add what is left of the offsets: 1 - 3u^2 + 2u^3 of them at u = at / blend."""
        u = at / self.blend
        positions, velocities = motion
        return (
            _sum(positions, self.offsets, 1.0 + u * u * (2.0 * u - 3.0)),
            _sum(velocities, self.offsets, 6.0 * u * (u - 1.0) / self.blend),
        )


def _sum(values: Iterable[float], offsets: Iterable[float], share: float) -> tuple[float, ...]:
    return tuple(value + share * offset for value, offset in zip(values, offsets, strict=True))


def _between(before: Point, after: Point, at: float) -> Motion:
    h = after.at - before.at
    u = (at - before.at) / h
    if before.accelerations and after.accelerations:
        return _quintic(before, after, h, u)
    if before.velocities and after.velocities:
        return _cubic(before, after, h, u)
    positions, velocities = [], []
    for start, end in zip(before.positions, after.positions, strict=True):
        d = end - start
        positions.append(start + d * u)
        velocities.append(d / h)
    return tuple(positions), tuple(velocities)


def _cubic(before: Point, after: Point, h: float, u: float) -> Motion:
    positions, velocities = [], []
    for p0, p1, v0, v1 in zip(
        before.positions, after.positions, before.velocities, after.velocities, strict=True
    ):
        d, V0, V1 = p1 - p0, v0 * h, v1 * h
        c2 = 3.0 * d - 2.0 * V0 - V1
        c3 = V0 + V1 - 2.0 * d
        positions.append(p0 + u * (V0 + u * (c2 + u * c3)))
        velocities.append((V0 + u * (2.0 * c2 + u * 3.0 * c3)) / h)
    return tuple(positions), tuple(velocities)


def _quintic(before: Point, after: Point, h: float, u: float) -> Motion:
    positions, velocities = [], []
    for p0, p1, v0, v1, a0, a1 in zip(
        before.positions,
        after.positions,
        before.velocities,
        after.velocities,
        before.accelerations,
        after.accelerations,
        strict=True,
    ):
        d, V0, V1, A0, A1 = p1 - p0, v0 * h, v1 * h, a0 * h * h, a1 * h * h
        c2 = 0.5 * A0
        c3 = 10.0 * d - 6.0 * V0 - 4.0 * V1 - 1.5 * A0 + 0.5 * A1
        c4 = -15.0 * d + 8.0 * V0 + 7.0 * V1 + 1.5 * A0 - A1
        c5 = 6.0 * d - 3.0 * V0 - 3.0 * V1 - 0.5 * A0 + 0.5 * A1
        positions.append(p0 + u * (V0 + u * (c2 + u * (c3 + u * (c4 + u * c5)))))
        rate = V0 + u * (2.0 * c2 + u * (3.0 * c3 + u * (4.0 * c4 + u * 5.0 * c5)))
        velocities.append(rate / h)
    return tuple(positions), tuple(velocities)


def trapezoid(start: float, end: float, speed: float, acceleration: float) -> Path:
    """Return the path of one joint from rest at `start` to rest at `end`.

    It speeds up evenly, goes at `speed`, and slows down evenly; where there is no room for that,
    it does not reach the speed. The cubic through two points of a parabola is that parabola, so
    that the points of change are all that is needed.
    """
    way = abs(end - start)
    if way < NO_WAY:
        return Path((Point(0.0, (end,), (0.0,)),))
    sign = 1.0 if end > start else -1.0
    if way * acceleration <= speed * speed * (1.0 + NEARLY):
        ramp = (way / acceleration) ** 0.5
        half = Point(ramp, ((start + end) / 2.0,), (sign * acceleration * ramp,))
        middle, duration = [half], 2.0 * ramp
    else:
        ramp = speed / acceleration
        cruise = way / speed - ramp
        ramp_way = sign * speed * ramp / 2.0
        middle = [
            Point(ramp, (start + ramp_way,), (sign * speed,)),
            Point(ramp + cruise, (end - ramp_way,), (sign * speed,)),
        ]
        duration = 2.0 * ramp + cruise
    rest = (0.0,)
    return Path((Point(0.0, (start,), rest), *middle, Point(duration, (end,), rest)))
