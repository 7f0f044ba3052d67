"""From the bytes of an STL file to the convex hull of its vertices.

A mesh comes while the arm may move. The threads of a process share one interpreter, so nothing
here calls a library for longer than a few milliseconds at a time: a text is read line by line, and
what is large is kept in arrays, which are freed at once.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from reach_alpha5_motion.model import FloatArray
from reach_alpha5_motion.obstacles import LARGEST, ObstacleError

Triangles = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int64]
Hull = tuple[FloatArray, Triangles]
"""Corners, shape (n, 3), and triangles as indices of them, shape (m, 3)."""

MOST_CORNERS = 500
"""Of a convex hull. Ours: more of them cost time at each control tick, and say nothing new."""

_HEADER = 80
_COUNT = struct.Struct("<I")
_FACET = np.dtype([("numbers", "<f4", (4, 3)), ("attribute", "<u2")])
"""Of a binary file: the normal and three vertices."""

_LONGEST_LINE = 1000
"""Bytes in a line of an ASCII file. Ours."""

_LINES = 200
"""Of an ASCII file, read at a time. Ours: fewer lists than make the garbage collector look at all
there are."""

_FLAT = 1e-6
"""Of the size of a body: what is nearer to a plane of its hull counts as lying in it."""

_THIN = 1e-9
"""m: the same for bodies that are smaller than a millimetre."""


def mesh_hull(data: bytes, scale: float) -> Hull:
    """Return the convex hull of an STL file [m].

    Args:
        data: content of the file.
        scale: metres in a unit of it.

    Raises:
        ObstacleError: it is no STL file, has no volume, more than `MOST_CORNERS`, or is not within
            `LARGEST` of its origin.
    """
    vertices = stl_vertices(data)
    farthest = float(np.abs(vertices).max())
    if farthest > LARGEST / scale:
        raise ObstacleError(
            f"the mesh has a vertex at {farthest * scale:g} m; each must be within {LARGEST:g} of "
            "zero: is the scale that of the file? It is 0.001 for a file in mm"
        )
    return convex_hull(vertices * scale)


def stl_vertices(data: bytes) -> FloatArray:
    """Return the vertices of a binary or an ASCII STL file, in its own unit, shape (n, 3).

    Raises:
        ObstacleError: the bytes are no STL file.
    """
    if len(data) >= _HEADER + _COUNT.size:
        (count,) = _COUNT.unpack_from(data, _HEADER)
        if len(data) == _HEADER + _COUNT.size + count * _FACET.itemsize:
            facets = np.frombuffer(data, _FACET, count, _HEADER + _COUNT.size)
            return _checked(facets["numbers"][:, 1:].reshape(-1, 3).astype(np.float64))
    if not data[:_LONGEST_LINE].lstrip().startswith(b"solid"):
        raise ObstacleError("the file is neither a binary nor an ASCII STL file, or is cut short")
    lines = _lines(data)
    parts = []
    while some := list(itertools.islice(lines, _LINES)):
        parts.append(_vertices(some))
    return _checked(np.concatenate(parts))


def _lines(data: bytes) -> Iterator[bytes]:
    """Yield one line after the other: to split the whole at once takes tens of milliseconds."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        if end - start > _LONGEST_LINE:
            raise ObstacleError(
                f"the ASCII STL file has a line of more than {_LONGEST_LINE} characters"
            )
        yield data[start:end]
        start = end + 1


def _vertices(lines: list[bytes]) -> FloatArray:
    """Return the vertices in some lines of an ASCII file, shape (n, 3)."""
    words = [line.split() for line in lines]
    try:
        rows = [[float(v) for v in row[1:]] for row in words if row[:1] == [b"vertex"]]
        return np.array(rows, dtype=np.float64).reshape(len(rows), 3)
    except ValueError as error:
        raise ObstacleError(f"the ASCII STL file has a vertex that is no point: {error}") from None


def convex_hull(points: FloatArray) -> Hull:
    """Return the convex hull of points [m], shape (n, 3).

    One point after the other is added: the triangles that see it are replaced by those from it to
    their rim. Triangles turn counterclockwise as seen from outside.

    Each point outside is kept with one triangle that sees it. When that is replaced, one of the
    new ones sees the point, or none does: along the rim a new plane is a sum, with weights above
    zero, of the two old ones that met there. A point on the line of an edge is outside of neither
    of its triangles, so that no new triangle is without an area.

    Raises:
        ObstacleError: the points have no volume, or the hull has more than `MOST_CORNERS`.
    """
    slack = max(_FLAT * float(np.ptp(points, axis=0).max(initial=0.0)), _THIN)
    faces = _tetrahedron(points, slack)
    normals, heights = _planes(points, faces)
    outside = np.zeros(len(points), dtype=bool)

    def beyond(candidates: Indices, normals: FloatArray, heights: FloatArray) -> list[Indices]:
        """Return for each plane which candidates are outside, and farthest of it; note them."""
        above = points[candidates] @ normals.T - heights
        nearest = above.argmax(axis=1)
        outside[candidates] = above.max(axis=1) > slack
        return [candidates[outside[candidates] & (nearest == i)] for i in range(len(normals))]

    seeing = beyond(np.arange(len(points)), normals, heights)
    for i in map(int, _farthest_first(points)):
        if not outside[i]:
            continue
        seen = normals @ points[i] - heights > slack
        if not seen.any():  # outside by no more than rounding
            continue
        edges = {edge for face in faces[seen].tolist() for edge in _edges(face)}
        rim = [(a, b, i) for a, b in sorted(edges) if (b, a) not in edges]
        new = np.array(rim, dtype=np.int64)
        candidates = np.concatenate([seeing[j] for j in np.flatnonzero(seen)])
        planes = _planes(points, new)
        seeing = [those for those, gone in zip(seeing, seen, strict=True) if not gone]
        seeing += beyond(candidates, *planes)
        faces = np.concatenate((faces[~seen], new))
        normals = np.concatenate((normals[~seen], planes[0]))
        heights = np.concatenate((heights[~seen], planes[1]))
        if len(faces) > 2 * MOST_CORNERS - 4:  # of a closed surface of triangles
            raise ObstacleError(
                f"the convex hull of the mesh has more than {MOST_CORNERS} corners; simplify it"
            )
    used, renumbered = np.unique(faces, return_inverse=True)
    return points[used], renumbered.reshape(-1, 3)


def _planes(points: FloatArray, faces: Triangles) -> tuple[FloatArray, FloatArray]:
    """Return the unit normals n, shape (m, 3), of triangles, and n · p on each, shape (m,)."""
    corners = points[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals, np.einsum("ij,ij->i", normals, corners[:, 0])


def _checked(vertices: FloatArray) -> FloatArray:
    if not len(vertices) or not np.isfinite(vertices).all():
        raise ObstacleError("the STL file has no vertices, or one that is not finite")
    return vertices


def _edges(face: list[int]) -> list[tuple[int, int]]:
    return [(face[0], face[1]), (face[1], face[2]), (face[2], face[0])]


def _farthest_first(points: FloatArray) -> Indices:
    """Return the order that makes most points lie inside before their turn comes."""
    distances = np.linalg.norm(points - points.mean(axis=0), axis=1)
    return np.argsort(-distances, kind="stable")


def _tetrahedron(points: FloatArray, slack: float) -> Triangles:
    """Return the faces of a tetrahedron of four of the points, as large as is easily found."""
    first = int(np.argmin(points[:, 0]))
    offsets = points - points[first]
    second = int(np.argmax(np.linalg.norm(offsets, axis=1)))
    along = offsets[second] / max(float(np.linalg.norm(offsets[second])), np.finfo(float).tiny)
    across = offsets - np.outer(offsets @ along, along)
    third = int(np.argmax(np.linalg.norm(across, axis=1)))
    normal = np.cross(along, across[third])
    heights = offsets @ (normal / max(float(np.linalg.norm(normal)), np.finfo(float).tiny))
    fourth = int(np.argmax(np.abs(heights)))
    if abs(heights[fourth]) <= slack:
        raise ObstacleError("the vertices of the mesh lie in one plane; it must have a volume")
    corners = (first, second, third, fourth)
    faces = []
    for face in itertools.combinations(corners, 3):
        a, b, c = face
        (rest,) = set(corners) - set(face)
        inward = np.cross(points[b] - points[a], points[c] - points[a]) @ (
            points[rest] - points[a]
        )
        faces.append((a, c, b) if inward > 0.0 else face)
    return np.array(faces, dtype=np.int64)
