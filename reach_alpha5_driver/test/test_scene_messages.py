"""Obstacles as messages and back."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from geometry_msgs.msg import Point, Pose, Quaternion
from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message

from reach_alpha5_driver.scene.messages import obstacle, obstacle_message, obstacles
from reach_alpha5_motion.obstacles import (
    Box,
    Cylinder,
    Mesh,
    Obstacle,
    ObstacleError,
    Plane,
    Sphere,
)
from reach_alpha5_msgs import msg

length = st.floats(1e-4, 10.0)
angle = st.one_of(
    st.floats(-7.0, 7.0),
    st.sampled_from([math.pi / 2.0, -math.pi / 2.0, math.pi]),
    st.floats(-1e-7, 1e-7).map(lambda small: math.pi / 2.0 + small),
)
names = st.from_regex(r"[A-Za-z0-9_.-]{1,12}", fullmatch=True)
shapes = st.one_of(
    st.builds(Box, st.tuples(length, length, length)),
    st.builds(Cylinder, length, length),
    st.builds(Sphere, length),
    st.builds(Mesh, st.from_regex(r"[a-zé /.]{1,12}", fullmatch=True), length),
    st.builds(Plane),
)
values = st.builds(
    Obstacle,
    names,
    names,
    shapes,
    st.tuples(*[st.floats(-10.0, 10.0)] * 3),
    st.tuples(angle, angle, angle),
    st.lists(names, max_size=3).map(tuple),
)


def rotation(rpy):
    return pin.rpy.rpyToMatrix(*rpy)


def over_the_wire(message):
    return deserialize_message(serialize_message(message), msg.Obstacle)


@settings(max_examples=300, deadline=None)
@given(values)
def test_C9_an_obstacle_is_the_same_after_the_wire(value):
    back = obstacle(over_the_wire(obstacle_message(value)))
    assert (back.name, back.frame, back.shape) == (value.name, value.frame, value.shape)
    assert (back.position, back.allow) == (value.position, value.allow)
    assert rotation(back.orientation) == pytest.approx(rotation(value.orientation), abs=1e-14)


@settings(max_examples=300, deadline=None)
@given(st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: np.linalg.norm(q) > 1e-3))
def test_a_quaternion_and_its_value_are_the_same_rotation(components):
    x, y, z, w = (np.array(components) / np.linalg.norm(components)).tolist()
    message = ball(pose=Pose(orientation=Quaternion(x=x, y=y, z=z, w=w)))
    expected = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    assert rotation(obstacle(message).orientation) == pytest.approx(np.array(expected), abs=1e-14)


def ball(**fields):
    return msg.Obstacle(
        **{"name": "ball", "frame_id": "base_link", "type": msg.Obstacle.SPHERE,
           "dimensions": [0.1], **fields}
    )  # fmt: skip


def turned(x=0.0, y=0.0, z=0.0, w=0.0):
    return Pose(orientation=Quaternion(x=x, y=y, z=z, w=w))


def test_dimensions_are_in_the_order_of_shape_msgs():
    assert obstacle(ball(type=msg.Obstacle.CYLINDER, dimensions=[0.5, 0.02])).shape == Cylinder(
        radius=0.02, length=0.5
    )
    assert obstacle(ball(type=msg.Obstacle.BOX, dimensions=[1.0, 2.0, 3.0])).shape == Box(
        (1.0, 2.0, 3.0)
    )


def test_a_quaternion_that_is_nearly_of_unit_length_is_taken_as_one():
    q = [0.5, 0.5, 0.5, 0.5005]
    near = obstacle(ball(pose=turned(*q))).orientation
    exact = obstacle(ball(pose=turned(*(np.array(q) / np.linalg.norm(q)).tolist()))).orientation
    assert near == pytest.approx(exact, abs=1e-14)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (ball(type=0), "ball: type is 0"),
        (ball(type=9), "ball: type is 9"),
        (ball(dimensions=[]), "dimensions has 0 numbers; this type has 1: radius"),
        (ball(type=msg.Obstacle.CYLINDER), "has 1 numbers; this type has 2: length, radius"),
        (ball(type=msg.Obstacle.BOX, dimensions=[1.0] * 4), "has 4 numbers; this type has 3"),
        (ball(type=msg.Obstacle.PLANE), "has 1 numbers; this type has 0$"),
        (ball(mesh_file="rack.stl"), "mesh_file is set, but the type is not MESH"),
        (ball(pose=turned()), "orientation has the length 0;"),
        (ball(pose=turned(w=0.9)), "orientation has the length 0.9;"),
        (ball(pose=turned(z=0.05, w=1.0)), "orientation has the length 1.00125;"),
        (ball(pose=turned(w=math.nan)), "orientation has the length nan;"),
        (ball(pose=turned(w=math.inf)), "orientation has the length inf;"),
        (ball(pose=turned(x=1e200)), "orientation has the length 1e\\+200;"),
        (ball(pose=turned(x=1e308, w=1.7e308)), "orientation has the length inf;"),
    ],
)
def test_rule_10_a_message_that_contradicts_itself_is_refused(message, reason):
    with pytest.raises(ObstacleError, match=reason):
        obstacle(message)


def test_every_problem_of_every_message_is_told():
    good, bad = ball(), ball(name="bad", type=msg.Obstacle.PLANE, pose=turned())
    with pytest.raises(ObstacleError) as caught:
        obstacles([good, bad, ball(name="", dimensions=[])])
    lines = str(caught.value).splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "obstacles[1] bad", "obstacles[1] bad", "obstacles[2] ",
    ]  # fmt: skip


def test_a_default_message_is_no_obstacle():
    with pytest.raises(ObstacleError):
        obstacle(msg.Obstacle(pose=Pose(position=Point())))
