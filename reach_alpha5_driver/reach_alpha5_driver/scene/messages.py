"""Obstacles as messages. What only a message can get wrong is judged here, the rest by the scene.

A message turns by a quaternion, a value by roll, pitch and yaw. Both ways give the same rotation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pinocchio as pin
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, Quaternion
from std_msgs.msg import Header

from reach_alpha5_motion.model import Vector
from reach_alpha5_motion.obstacles import (
    Box,
    Cylinder,
    Mesh,
    Obstacle,
    ObstacleError,
    Plane,
    Scene,
    Shape,
    Sphere,
)
from reach_alpha5_msgs import msg

UNIT = 1e-3
"""How far from 1 the length of a quaternion may be. Ours: four digits after the point do."""

_SHAPES: Mapping[int, tuple[tuple[str, ...], Callable[[Sequence[float], str], Shape]]] = {
    msg.Obstacle.BOX: (("x", "y", "z"), lambda d, _: Box((d[0], d[1], d[2]))),
    msg.Obstacle.SPHERE: (("radius",), lambda d, _: Sphere(d[0])),
    msg.Obstacle.CYLINDER: (("length", "radius"), lambda d, _: Cylinder(d[1], d[0])),
    msg.Obstacle.MESH: (("metres in a unit of the file",), lambda d, file: Mesh(file, d[0])),
    msg.Obstacle.PLANE: ((), lambda _, __: Plane()),
}
"""Of each type: what its dimensions are, and the shape of dimensions and a mesh file."""


def obstacles(messages: Iterable[msg.Obstacle]) -> tuple[Obstacle, ...]:
    """Return the values of messages.

    Raises:
        ObstacleError: a message contradicts itself, or its rotation is none; every problem of all
            is told, one a line.
    """
    values = []
    problems: list[str] = []
    for number, message in enumerate(messages):
        try:
            values.append(obstacle(message))
        except ObstacleError as error:
            problems += [f"obstacles[{number}] {line}" for line in str(error).splitlines()]
    if problems:
        raise ObstacleError("\n".join(problems))
    return tuple(values)


def obstacle(message: msg.Obstacle) -> Obstacle:
    """Return the value of a message.

    Raises:
        ObstacleError: it contradicts itself, or its rotation is none; one problem a line.
    """
    dimensions = list(message.dimensions)
    names, shape = _SHAPES.get(message.type, ((), None))
    problems = []
    if shape is None:
        known = ", ".join(str(number) for number in _SHAPES)
        problems.append(f"type is {message.type}; it must be one of {known}")
    elif len(dimensions) != len(names):
        problems.append(
            f"dimensions has {len(dimensions)} numbers; this type has {len(names)}"
            + (f": {', '.join(names)}" if names else "")
        )
    if message.mesh_file and message.type != msg.Obstacle.MESH:
        problems.append("mesh_file is set, but the type is not MESH")
    q = message.pose.orientation
    size = math.hypot(q.x, q.y, q.z, q.w)
    if not abs(size - 1.0) <= UNIT:
        problems.append(
            f"pose.orientation has the length {size:g}; it must be 1: w = 1 alone does not turn"
        )
    if problems or shape is None:
        raise ObstacleError("\n".join(f"{message.name}: {problem}" for problem in problems))
    p = message.pose.position
    return Obstacle(
        message.name,
        message.frame_id,
        shape(dimensions, message.mesh_file),
        (p.x, p.y, p.z),
        _rpy(q),
        tuple(message.allow),
    )


def obstacle_message(value: Obstacle) -> msg.Obstacle:
    """Return the message of an obstacle."""
    kind, dimensions, mesh_file = _sizes(value.shape)
    x, y, z = map(float, value.position)
    return msg.Obstacle(
        name=value.name,
        frame_id=value.frame,
        pose=Pose(position=Point(x=x, y=y, z=z), orientation=_quaternion(value.orientation)),
        type=kind,
        dimensions=[float(size) for size in dimensions],
        mesh_file=mesh_file,
        allow=list(value.allow),
    )


def obstacles_message(scene: Scene, revision: int, saved: bool, stamp: Time) -> msg.Obstacles:
    """Return the message of a scene that stands since `stamp`."""
    return msg.Obstacles(
        header=Header(stamp=stamp),
        revision=revision,
        saved=saved,
        obstacles=[obstacle_message(value) for value in scene.obstacles],
    )


def _sizes(shape: Shape) -> tuple[int, Sequence[float], str]:
    """Return type, dimensions and mesh file of a shape."""
    match shape:
        case Box(size=size):
            return msg.Obstacle.BOX, size, ""
        case Sphere(radius=radius):
            return msg.Obstacle.SPHERE, (radius,), ""
        case Cylinder(radius=radius, length=length):
            return msg.Obstacle.CYLINDER, (length, radius), ""
        case Mesh(file=file, scale=scale):
            return msg.Obstacle.MESH, (scale,), file
        case Plane():
            return msg.Obstacle.PLANE, (), ""


def _rpy(quaternion: Quaternion) -> Vector:
    """Return roll, pitch and yaw [rad] of a quaternion that is nearly of unit length."""
    rotation = pin.Quaternion(quaternion.w, quaternion.x, quaternion.y, quaternion.z).normalized()
    roll, pitch, yaw = pin.rpy.matrixToRpy(rotation.matrix()).tolist()
    return roll, pitch, yaw


def _quaternion(rpy: Vector) -> Quaternion:
    """Return the quaternion of roll, pitch and yaw [rad]."""
    x, y, z, w = pin.Quaternion(pin.rpy.rpyToMatrix(*np.array(rpy, float))).coeffs().tolist()
    return Quaternion(x=x, y=y, z=z, w=w)
