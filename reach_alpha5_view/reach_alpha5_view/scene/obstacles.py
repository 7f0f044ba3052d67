"""Configured obstacles as shapes, each with its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reach_alpha5_motion.obstacles import Box, Cylinder, Mesh, Sphere
from reach_alpha5_view.scene.config import LIFETIMES, SceneConfig
from reach_alpha5_view.scene.geometry import moved, rotated
from reach_alpha5_view.scene.palette import ORANGE, SAND, WHITE, faded
from reach_alpha5_view.scene.shapes import Kind, Point, Shape
from reach_alpha5_view.scene.states import Hull, Obstacle
from reach_alpha5_view.scene.words import plain

OBSTACLES = "obstacles"
NAMES = "obstacle names"

_THIN = 0.002
"""m: thickness of the square that stands for a plane."""


def obstacle_shapes(
    obstacles: Sequence[Obstacle], hulls: Mapping[str, Hull], config: SceneConfig
) -> Iterator[Shape]:
    """Yield each obstacle and its name; `hulls` are those of meshes, by obstacle names.

    A mesh whose file is not on this machine has a name alone, which says so: nothing is drawn in
    its place that it does not look like.
    """
    lifetime = LIFETIMES * config.standing_period
    for number, obstacle in enumerate(obstacles):
        body = _body(obstacle, number, hulls.get(obstacle.name), config, lifetime)
        if body is not None:
            yield body
        yield Shape(
            NAMES,
            number,
            obstacle.frame,
            Kind.TEXT,
            obstacle.position,
            size=(0.0, 0.0, config.text_height),
            colour=WHITE if body is not None else ORANGE,
            text="\n".join(_label(obstacle, body is not None)),
            lifetime=lifetime,
        )


def obstacle_body(
    obstacle: Obstacle, hull: Hull | None, config: SceneConfig
) -> tuple[Kind, Point, Point, tuple[Point, ...]] | None:
    """Return kind, position in its frame, size and points of a body; None: it is not known."""
    match obstacle.body:
        case Box(size=size):
            return Kind.BOX, obstacle.position, size, ()
        case Sphere(radius=radius):
            return Kind.SPHERE, obstacle.position, (2 * radius, 2 * radius, 2 * radius), ()
        case Cylinder(radius=radius, length=length):
            return Kind.CYLINDER, obstacle.position, (2 * radius, 2 * radius, length), ()
        case Mesh():
            if hull is None:
                return None
            corners = tuple(corner for triangle in hull for corner in triangle)
            return Kind.TRIANGLES, obstacle.position, (1.0, 1.0, 1.0), corners
        case _:  # a plane: solid below z = 0
            down = rotated(obstacle.orientation, (0.0, 0.0, -1.0))
            middle = moved(obstacle.position, down, _THIN / 2.0)
            return Kind.BOX, middle, (config.plane_size, config.plane_size, _THIN), ()


def _body(
    obstacle: Obstacle, number: int, hull: Hull | None, config: SceneConfig, lifetime: float
) -> Shape | None:
    body = obstacle_body(obstacle, hull, config)
    if body is None:
        return None
    kind, position, size, points = body
    return Shape(
        OBSTACLES,
        number,
        obstacle.frame,
        kind,
        position,
        obstacle.orientation,
        size,
        faded(SAND, 0.45),
        points,
        lifetime=lifetime,
    )


def _label(obstacle: Obstacle, drawn: bool) -> Iterator[str]:
    yield plain(obstacle.name)
    if obstacle.allow:
        yield plain(f"may touch {', '.join(obstacle.allow)}")
    if not drawn and isinstance(obstacle.body, Mesh):
        yield plain(f"not drawn: {obstacle.body.file} cannot be read on this machine")
