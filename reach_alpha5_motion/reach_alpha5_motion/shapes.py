"""From the shape of an obstacle to that of the collision library."""

from __future__ import annotations

import hashlib
from typing import Any

import coal
import numpy as np

from reach_alpha5_motion.mesh import Hull, mesh_hull
from reach_alpha5_motion.obstacles import Box, Cylinder, Mesh, Plane, Shape, Sphere

MOST_HULLS = 64
"""That are kept. Ours: 2 MB, and twice as many as a driver has obstacles."""

_hulls: dict[tuple[bytes, float], Hull] = {}
"""Those that were asked for last, in that order, by what the mesh file holds and the scale: a
scene is built anew with each change, and to make a hull takes up to a second."""


def coal_shape(shape: Shape, mesh: bytes = b"") -> Any:
    """Return the coal shape of a shape; `mesh` is the content of its file, if it has one.

    Raises:
        ObstacleError: the content is no mesh that can be used.
    """
    match shape:
        case Box(size=size):
            return coal.Box(*size)
        case Cylinder(radius=radius, length=length):
            return coal.Cylinder(radius, length)
        case Sphere(radius=radius):
            return coal.Sphere(radius)
        case Plane():
            return coal.Halfspace(np.array((0.0, 0.0, 1.0)), 0.0)
        case Mesh(scale=scale):
            return _convex(mesh, scale)


def _convex(mesh: bytes, scale: float) -> Any:
    corners, triangles = _hull(mesh, scale)
    points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for corner in corners:
        points.append(corner)
    for triangle in triangles.tolist():
        faces.append(coal.Triangle(*triangle))
    return coal.Convex(points, faces)


def _hull(mesh: bytes, scale: float) -> Hull:
    key = hashlib.sha256(mesh).digest(), scale
    hull = _hulls.pop(key, None) or mesh_hull(mesh, scale)
    _hulls[key] = hull
    if len(_hulls) > MOST_HULLS:
        del _hulls[next(iter(_hulls))]
    return hull
