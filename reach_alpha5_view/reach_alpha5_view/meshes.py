"""The mesh files of obstacles, as far as they are on this machine.

What is drawn is what the driver keeps clear of: the convex hull of a file's vertices.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from reach_alpha5_motion.mesh import mesh_hull
from reach_alpha5_motion.obstacles import Mesh, ObstacleError
from reach_alpha5_view.scene.geometry import point
from reach_alpha5_view.scene.states import Hull, Obstacle

LARGEST = 4_000_000
"""Bytes of one file: a driver takes no more of all together."""


class HullStore:
    """Hulls of those obstacles that are meshes. A file is read when an obstacle names it first."""

    def __init__(self, folder: str) -> None:
        """Begin with none.

        Args:
            folder: where files that are named by a relative path are; empty: nowhere.
        """
        self._folder = Path(folder).expanduser() if folder else None
        self._hulls: dict[tuple[str, float], Hull] = {}

    def read(self, obstacles: Iterable[Obstacle]) -> tuple[dict[str, Hull], tuple[str, ...]]:
        """Return the hulls by names of obstacles, and why those that are missing are.

        What no obstacle names any more is forgotten, and read anew when one names it again.
        """
        hulls: dict[tuple[str, float], Hull] = {}
        named: dict[str, Hull] = {}
        problems = []
        for obstacle in obstacles:
            body = obstacle.body
            if not isinstance(body, Mesh):
                continue
            key = body.file, body.scale
            try:
                hull = hulls.get(key) or self._hulls.get(key) or self._hull(body)
            except (OSError, ValueError) as error:
                problems.append(f"{obstacle.name}: {error}")
                continue
            hulls[key] = named[obstacle.name] = hull
        self._hulls = hulls
        return named, tuple(problems)

    def _hull(self, mesh: Mesh) -> Hull:
        path = Path(os.path.expanduser(mesh.file))  # which leaves the ~ of nobody as it is
        if not path.is_absolute():
            if self._folder is None:
                raise ObstacleError(f"{mesh.file}: set `mesh_folder` to where it is")
            path = self._folder / path
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            raise ObstacleError(f"{path}: no file of at most {LARGEST} bytes")
        corners, triangles = mesh_hull(path.read_bytes(), mesh.scale)
        return tuple(
            (point(corners[a]), point(corners[b]), point(corners[c]))
            for a, b, c in triangles.tolist()
        )
