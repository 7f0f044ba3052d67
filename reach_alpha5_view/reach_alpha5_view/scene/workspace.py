"""What the tip can reach within the limits of the description, computed once.

axis_e turns a plane about its own axis, and in that plane axis_d turns all that comes after it
about the shoulder. So the tip's distance r from the shoulder is a matter of axis_c alone, and with
the angle a of the tip there at the lower limit of axis_d the tip reaches, for each axis_c, the arc

    shoulder + r (cos, sin)(a + t),    t between 0 and the way of axis_d

which is exact but for the sampling. The section is what all arcs cover.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from reach_alpha5_motion.model import ArmModel, C, D, E, FloatArray
from reach_alpha5_view.scene.geometry import moved
from reach_alpha5_view.scene.shapes import Point

ELBOWS = 181
"""Places of axis_c that are looked at."""
DIRECTIONS = 72
"""In which the section is looked at, from the shoulder."""
SLICES = 18
"""Of the envelope, about the base axis."""
COARSER = 3
"""Of the directions, each so many-th has a corner of the envelope: it is sent again and again."""
SECTIONS = 3
"""Parts of the turn of the base, at whose ends the section is drawn as lines."""

Edge = tuple[tuple[float, float], ...]
"""Points of the plane: distance from the base axis, with its sign, and height along it [m]."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Of one arm, in `base_link_frd` [m]."""

    lines: tuple[Point, ...]
    """Edges of the section at some turns of the base: two ends for each line."""
    triangles: tuple[Point, ...]
    """The outer edge, turned about the base axis: three corners for each triangle."""


def workspace(model: ArmModel) -> Workspace:
    """Return what the tip of an arm can reach; nothing in its way is thought of."""
    outer, inner = section_edges(model)
    lower, upper = float(model.limits.lower[E]), float(model.limits.upper[E])
    turn = min(upper - lower, 2.0 * math.pi)
    planes = [_plane(model, lower + turn * i / SLICES) for i in range(SLICES + 1)]
    lines = [
        end
        for plane in planes[:: SLICES // SECTIONS]
        for edge in (outer, inner)
        for end in _ends([_placed(plane, at) for at in edge])
    ]
    rims = [[_placed(plane, at) for at in outer[::COARSER]] for plane in planes]
    return Workspace(tuple(lines), tuple(_skin(rims)))


def section_edges(model: ArmModel) -> tuple[Edge, Edge]:
    """Return the outer and the inner edge of the section, each from one end to the other."""
    shoulder, radii, angles, way = _arcs(model)
    first = float(min(angles.min(), (angles + way).min()))
    last = float(max(angles.max(), (angles + way).max()))
    span = min(last - first, 2.0 * math.pi)
    low, high = np.minimum(0.0, way), np.maximum(0.0, way)
    edges: list[list[tuple[float, float]]] = [[], []]
    for i in range(DIRECTIONS + 1):
        direction = first + span * i / DIRECTIONS
        # The same direction is met again one turn further.
        turns = direction - angles
        met = np.zeros(len(angles), dtype=bool)
        for whole in (-1.0, 0.0, 1.0):
            along = turns + whole * 2.0 * math.pi
            met |= (along >= low - 1e-9) & (along <= high + 1e-9)
        if not met.any():
            continue
        towards = math.cos(direction), math.sin(direction)
        for edge, radius in zip(edges, (radii[met].max(), radii[met].min()), strict=True):
            edge.append((shoulder[0] + radius * towards[0], shoulder[1] + radius * towards[1]))
    return tuple(edges[0]), tuple(edges[1])


def _arcs(model: ArmModel) -> tuple[tuple[float, float], FloatArray, FloatArray, float]:
    """Return shoulder, radii and first angles by axis_c, and the signed way of axis_d [rad]."""
    lower, upper = model.limits.lower, model.limits.upper
    extent = float(upper[D] - lower[D])
    middle = (lower + upper) / 2.0

    def at(shoulder: float, elbow: float) -> FloatArray:
        q = middle.copy()
        q[D], q[C] = shoulder, elbow
        return _in_plane(model, q)

    # The centre of the circle through three places that differ by axis_d alone.
    elbow = float(middle[C])
    a, b, c = (at(float(lower[D]) + share * extent, elbow) for share in (0.0, 0.3, 0.6))
    sides = 2.0 * np.array((b - a, c - a))
    squares = np.array((b @ b - a @ a, c @ c - a @ a))
    centre = np.linalg.solve(sides, squares)
    spokes = np.array(
        [at(float(lower[D]), float(e)) - centre for e in np.linspace(lower[C], upper[C], ELBOWS)]
    )
    before, after = a - centre, b - centre
    sense = math.copysign(1.0, before[0] * after[1] - before[1] * after[0])
    if 0.3 * extent > math.pi:  # more than half a turn between both: the other way round
        sense = -sense
    angles = np.unwrap(np.arctan2(spokes[:, 1], spokes[:, 0]))
    return (float(centre[0]), float(centre[1])), np.hypot(*spokes.T), angles, sense * extent


def _in_plane(model: ArmModel, q: FloatArray) -> FloatArray:
    """Return signed distance from the base axis and height along it at `q` (5,), shape (2,)."""
    posture = model.posture(q)
    return np.array((posture.reach, float(np.dot(posture.up, posture.tip))))


@dataclass(frozen=True, slots=True)
class _Plane:
    origin: Point
    """On the base axis, at the height 0 of `_in_plane`."""
    front: Point
    up: Point


def _plane(model: ArmModel, base: float) -> _Plane:
    q = (model.limits.lower + model.limits.upper) / 2.0
    q[E] = base
    posture = model.posture(q)
    height = float(np.dot(posture.up, posture.tip))
    on_axis = moved(posture.tip, posture.front, -posture.reach)
    return _Plane(moved(on_axis, posture.up, -height), posture.front, posture.up)


def _placed(plane: _Plane, at: tuple[float, float]) -> Point:
    return moved(moved(plane.origin, plane.front, at[0]), plane.up, at[1])


def _ends(edge: list[Point]) -> Iterator[Point]:
    for before, after in itertools.pairwise(edge):
        yield before
        yield after


def _skin(rims: list[list[Point]]) -> Iterator[Point]:
    """Yield the triangles between each edge and the next."""
    for this, other in itertools.pairwise(rims):
        for i in range(len(this) - 1):
            yield from (this[i], this[i + 1], other[i])
            yield from (this[i + 1], other[i + 1], other[i])
