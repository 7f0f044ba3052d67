"""From messages to values, from shapes to markers, and from mesh files to hulls."""

from __future__ import annotations

import math
import os
import struct

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, Quaternion
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Header
from visualization_msgs.msg import Marker

from reach_alpha5_motion.obstacles import Box, Cylinder, Mesh, Plane, Sphere
from reach_alpha5_msgs import msg
from reach_alpha5_view import translate
from reach_alpha5_view.markers import MOST_LOCKED, TYPES, delete_all, deletion, marker
from reach_alpha5_view.meshes import LARGEST, HullStore
from reach_alpha5_view.scene.shapes import Kind, Shape
from reach_alpha5_view.scene.states import Obstacle


def shape(**fields) -> Shape:
    return Shape(**{"namespace": "n", "number": 3, "frame": "link_b", "kind": Kind.BOX} | fields)


# Markers.


def test_a_marker_has_all_of_its_shape():
    drawn = shape(
        kind=Kind.TEXT,
        position=(1.0, 2.0, 3.0),
        orientation=(0.0, 0.6, 0.0, 0.8),
        size=(0.1, 0.2, 0.3),
        colour=(0.1, 0.2, 0.3, 0.4),
        points=((4.0, 5.0, 6.0),),
        text="words",
        lifetime=1.25,
    )
    m = deserialize_message(serialize_message(marker(drawn)), Marker)
    assert (m.ns, m.id, m.header.frame_id, m.text) == ("n", 3, "link_b", "words")
    assert (m.type, m.action) == (Marker.TEXT_VIEW_FACING, Marker.ADD)
    assert m.pose.position == Point(x=1.0, y=2.0, z=3.0)
    assert m.pose.orientation == Quaternion(x=0.0, y=0.6, z=0.0, w=0.8)
    assert (m.scale.x, m.scale.y, m.scale.z) == (0.1, 0.2, 0.3)
    assert (m.color.r, m.color.g, m.color.b, m.color.a) == pytest.approx((0.1, 0.2, 0.3, 0.4))
    assert list(m.points) == [Point(x=4.0, y=5.0, z=6.0)]
    assert (m.lifetime.sec, m.lifetime.nanosec) == (1, 250_000_000)


def test_every_kind_of_shape_is_a_type_of_marker():
    assert TYPES.keys() == set(Kind)
    assert len(set(TYPES.values())) == len(Kind)


def test_a_mesh_is_named_by_its_resource():
    m = marker(shape(kind=Kind.MESH, mesh_file="package://hull/hull.stl"))
    assert (m.type, m.mesh_resource) == (Marker.MESH_RESOURCE, "package://hull/hull.stl")


def test_a_marker_takes_the_newest_transform_and_goes_with_its_frame_unless_it_is_large():
    small = marker(shape())
    assert small.header.stamp == Time()
    assert small.frame_locked
    assert not marker(shape(points=((0.0, 0.0, 0.0),) * (MOST_LOCKED + 1))).frame_locked


def test_deletions_name_one_or_all():
    one, (everything,) = deletion(("n", 3)), delete_all().markers
    assert (one.action, one.ns, one.id) == (Marker.DELETE, "n", 3)
    assert (everything.action, everything.ns) == (Marker.DELETEALL, "")


# Messages.


def obstacle(**fields) -> msg.Obstacle:
    given = {"name": "o", "frame_id": "base_link", "type": 1, "dimensions": [1.0, 2.0, 3.0]}
    return msg.Obstacle(**given | fields)


@pytest.mark.parametrize(
    "fields, body",
    [
        ({}, Box((1.0, 2.0, 3.0))),
        ({"type": 2, "dimensions": [0.5]}, Sphere(0.5)),
        ({"type": 3, "dimensions": [2.0, 0.1]}, Cylinder(radius=0.1, length=2.0)),
        ({"type": 4, "dimensions": [0.001], "mesh_file": "a.stl"}, Mesh("a.stl", 0.001)),
        ({"type": 5, "dimensions": []}, Plane()),
    ],
)
def test_C9_every_type_of_obstacle_is_read(fields, body):
    pose = Pose(position=Point(x=1.0), orientation=Quaternion(z=1.0, w=0.0))
    (read,), problems = translate.obstacles([obstacle(pose=pose, allow=["tool"], **fields)])
    expected = Obstacle("o", "base_link", body, (1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), ("tool",))
    assert (read, problems) == (expected, ())


@pytest.mark.parametrize(
    "fields, why",
    [
        ({"type": 0}, "unknown"),
        ({"type": 6}, "unknown"),
        ({"dimensions": [1.0]}, "dimensions"),
        ({"dimensions": [1.0, math.nan, 1.0]}, "dimensions"),
        ({"dimensions": [1.0, -1.0, 1.0]}, "dimensions"),
        ({"dimensions": [1.0, math.inf, 1.0]}, "dimensions"),
        ({"pose": Pose(position=Point(x=math.nan))}, "pose"),
        ({"pose": Pose(orientation=Quaternion(w=0.0))}, "pose"),
        ({"pose": Pose(orientation=Quaternion(w=math.nan))}, "pose"),
    ],
)
def test_an_obstacle_that_makes_no_sense_is_not_drawn_and_says_why(fields, why):
    read, (problem,) = translate.obstacles([obstacle(**fields), obstacle(name="good")])
    assert [o.name for o in read] == ["good"]
    assert problem.startswith("o: ")
    assert why in problem


def test_what_the_arbiter_says_is_aged_by_its_own_clock():
    message = msg.ArbiterState(
        header=Header(stamp=Time(sec=100)),
        owner="app",
        activity=msg.ArbiterState.TRAJECTORY,
        estop_latched=True,
        estop_level=msg.EStop.CUT,
        last_stop_cause="source_gone",
        last_stop_stamp=Time(sec=90),
        last_refusal=msg.Refusal(code="c", reason="r", source="s", stamp=Time(sec=97)),
        sources=[msg.SourceStatus(name="app", neutral_required=True)],
    )
    read = translate.arbiter_status(message)
    assert (read.owner, read.activity, read.estop_level) == ("app", "TRAJECTORY", "CUT")
    assert read.neutral_required
    assert (read.last_stop_age, read.last_refusal.age) == (10.0, 3.0)
    assert math.isnan(translate.arbiter_status(msg.ArbiterState()).last_stop_age)


def test_a_level_and_a_state_that_nobody_defined_are_not_taken_for_harmless():
    assert translate.arbiter_status(msg.ArbiterState(estop_level=9)).estop_level == "CUT"
    assert translate.arm_status(msg.ArmState(state=77)).state == "STATE 77"


def test_what_the_driver_says_is_read():
    health = msg.JointHealth(name="axis_e", stale=True, status_flags=["OVER_TEMPERATURE"])
    message = msg.ArmState(
        state=msg.ArmState.EXECUTING,
        blocked_by=["limit axis_d"],
        collision_pair="a b",
        clearance=0.5,
        link=msg.LinkCounters(connected=True),
        joints=[health],
    )
    read = translate.arm_status(message)
    assert (read.state, read.connected, read.blocked_by) == ("EXECUTING", True, ("limit axis_d",))
    assert (read.collision_pair, read.clearance) == ("a b", 0.5)
    (joint,) = read.joints
    assert (joint.name, joint.stale, joint.flags) == ("axis_e", True, ("OVER_TEMPERATURE",))


def test_telemetry_keeps_what_is_not_known():
    gripper = msg.Gripper(
        joint_positions=[1.0, 2.0, 3.0, 4.0, math.nan],
        end_position=Point(x=math.nan, y=0.0, z=0.0),
        joint_fault=[False, True, False, False, False],
    )
    read = translate.telemetry(msg.GripperTel(gripper=gripper))
    assert read.positions[:4] == (1.0, 2.0, 3.0, 4.0)
    assert math.isnan(read.positions[4])
    assert math.isnan(read.tip[0])
    assert read.joint_fault == (False, True, False, False, False)


# Meshes.


def stl(size: float = 1.0) -> bytes:
    """Return a tetrahedron as a binary STL file."""
    corners = size * np.array(((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)), dtype=float)
    faces = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    data = bytes(80) + struct.pack("<I", len(faces))
    for face in faces:
        data += struct.pack("<12fH", 0, 0, 0, *corners[list(face)].ravel(), 0)
    return data


def mesh(file: str, name: str = "m", scale: float = 0.001) -> Obstacle:
    return Obstacle(name, "base_link", Mesh(file, scale))


def test_a_mesh_file_becomes_its_hull_in_metres(tmp_path):
    (tmp_path / "a.stl").write_bytes(stl(100.0))
    hulls, problems = HullStore(str(tmp_path)).read([mesh("a.stl")])
    assert problems == ()
    assert len(hulls["m"]) == 4
    assert np.max(hulls["m"]) == pytest.approx(0.1)


def test_a_mesh_file_is_read_once_while_it_is_named_and_anew_afterwards(tmp_path):
    file = tmp_path / "a.stl"
    file.write_bytes(stl(100.0))
    store = HullStore("")
    first, _ = store.read([mesh(str(file))])
    file.write_bytes(stl(200.0))
    assert store.read([mesh(str(file))])[0] == first
    store.read([])
    assert np.max(store.read([mesh(str(file))])[0]["m"]) == pytest.approx(0.2)


@pytest.mark.parametrize("content", [None, b"", b"no mesh", bytes(LARGEST + 1)])
def test_a_mesh_file_that_is_none_is_told_and_the_others_are_drawn(tmp_path, content):
    if content is not None:
        (tmp_path / "bad.stl").write_bytes(content)
    (tmp_path / "good.stl").write_bytes(stl(100.0))
    hulls, (problem,) = HullStore(str(tmp_path)).read([mesh("bad.stl", "b"), mesh("good.stl")])
    assert hulls.keys() == {"m"}
    assert problem.startswith("b: ")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.stl")
    hulls, (problem,) = HullStore(str(tmp_path)).read([mesh("pipe.stl")])
    assert hulls == {}
    assert "no file" in problem


def test_a_relative_mesh_file_needs_a_folder():
    hulls, (problem,) = HullStore("").read([mesh("a.stl")])
    assert hulls == {}
    assert "mesh_folder" in problem
