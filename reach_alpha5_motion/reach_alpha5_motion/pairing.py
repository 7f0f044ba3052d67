"""Which bodies are kept apart, and how far."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from reach_alpha5_motion.bodies import ArmBodies, Body
from reach_alpha5_motion.obstacles import Mesh, Obstacle, ObstacleError, Plane, Scene, Shape
from reach_alpha5_motion.shapes import coal_shape


@dataclass(frozen=True, slots=True)
class Pair:
    """Two bodies, by their index, that are kept apart; the first one is carried further out."""

    first: int
    second: int
    within_arm: bool
    """Both are parts of the arm."""


def placed(arm: ArmBodies, scene: Scene, meshes: Mapping[str, bytes]) -> tuple[Body, ...]:
    """Return the obstacles of a scene as bodies, in the same order.

    Args:
        arm: the bodies of the description.
        scene: the obstacles.
        meshes: the content of each of `scene.mesh_files`.

    Raises:
        ObstacleError: one does not fit to the description, or its mesh is missing or broken; one
            problem a line.
    """
    problems: list[str] = []
    bodies = []
    shapes: dict[Shape, Any] = {}
    """Of the collision library: obstacles that are alike share one."""
    names = {*arm.all_links, *(obstacle.name for obstacle in scene.obstacles)}
    for obstacle in scene.obstacles:
        try:
            _check_names(arm, obstacle, names)
            joint, placement = _place(arm, obstacle)
            if obstacle.shape not in shapes:
                shapes[obstacle.shape] = _shape(obstacle.shape, meshes)
            bodies.append(Body(obstacle.name, joint, placement, shapes[obstacle.shape]))
        except ObstacleError as error:
            problems.append(f"{obstacle.name}: {error}")
    if problems:
        raise ObstacleError("\n".join(problems))
    return tuple(bodies)


def pairs(arm: ArmBodies, obstacles: Sequence[Body], scene: Scene) -> Iterator[Pair]:
    """Yield the pairs that can come nearer to each other and may not.

    Indices count the bodies of the arm, then the obstacles.
    """
    bodies = [*arm.bodies, *obstacles]
    allowed = {(obstacle.name, other) for obstacle in scene.obstacles for other in obstacle.allow}
    reach = [float(arm.supports[body.joint].sum()) for body in bodies]
    for one, other in itertools.combinations(range(len(bodies)), 2):
        names = bodies[one].name, bodies[other].name
        if (
            bodies[one].joint == bodies[other].joint
            or names in allowed
            or names[::-1] in allowed
            or arm.may_touch(*names)
        ):
            continue
        first, second = (one, other) if reach[one] >= reach[other] else (other, one)
        yield Pair(first, second, arm.is_own(bodies[first]) and arm.is_own(bodies[second]))


def _check_names(arm: ArmBodies, obstacle: Obstacle, names: set[str]) -> None:
    if obstacle.name in arm.all_links:
        raise ObstacleError("a link of the robot description has this name; choose another")
    unknown = [name for name in obstacle.allow if name not in names]
    if unknown:
        raise ObstacleError(
            f"allow names {', '.join(unknown)}, which is neither a link nor an obstacle; "
            f"there are: {', '.join(sorted(names))}"
        )


def _place(arm: ArmBodies, obstacle: Obstacle) -> tuple[int, Any]:
    """Return the joint that carries an obstacle, and its place in the frame of the joint."""
    place = arm.link(obstacle.frame)
    if place is None:
        raise ObstacleError(
            f"frame is {obstacle.frame!r}; it must be one of these links: {', '.join(arm.links)}"
        )
    joint, frame = place
    if isinstance(obstacle.shape, Plane) and joint != 0:
        raise ObstacleError(f"a plane cannot be fixed to {obstacle.frame}, which moves")
    pose = pin.SE3(pin.rpy.rpyToMatrix(*obstacle.orientation), np.array(obstacle.position))
    return joint, frame * pose


def _shape(shape: Shape, meshes: Mapping[str, bytes]) -> Any:
    if not isinstance(shape, Mesh):
        return coal_shape(shape)
    if shape.file not in meshes:
        raise ObstacleError(f"mesh.file {shape.file} was not found; correct the name")
    return coal_shape(shape, meshes[shape.file])
