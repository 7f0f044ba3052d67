"""From the shape of an obstacle to that of the collision library."""

from __future__ import annotations

from typing import Any

import coal
import numpy as np

from reach_alpha5_motion.mesh import convex_hull, stl_vertices
from reach_alpha5_motion.obstacles import Box, Cylinder, Mesh, Plane, Shape, Sphere


def coal_shape(shape: Shape, mesh: bytes = b"") -> Any:
    """Return the coal shape of a shape; `mesh` is the content of its file, if it has one.

    Raises:
        ObstacleError: the content is no STL file, or has no volume.
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
    corners, triangles = convex_hull(stl_vertices(mesh) * scale)
    points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for corner in corners:
        points.append(corner)
    for triangle in triangles.tolist():
        faces.append(coal.Triangle(*triangle))
    return coal.Convex(points, faces)
