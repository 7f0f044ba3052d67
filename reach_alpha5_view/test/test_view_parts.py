"""What each namespace shows of what was said."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from view_material import ARBITER, ARM, DEPLOYED, NOW, model, of, telemetry, urdf, whole, words

from reach_alpha5_common.command import (
    Cartesian,
    CommandKind,
    Cylindrical,
    DriverCommand,
    GripperCommand,
    GripperVelocities,
    JointCommand,
    KnownPose,
    Pose,
    TwistCommand,
)
from reach_alpha5_motion.model import ArmModel
from reach_alpha5_motion.obstacles import Box, Cylinder, Mesh, Plane, Sphere
from reach_alpha5_view.scene.description import Description
from reach_alpha5_view.scene.geometry import from_rpy, rotated
from reach_alpha5_view.scene.scene import Scene
from reach_alpha5_view.scene.shapes import Kind, Shape
from reach_alpha5_view.scene.states import UNKNOWN_POINT, Obstacle, Refused
from reach_alpha5_view.scene.words import LONGEST, WIDTH
from reach_alpha5_view.scene.workspace import section_edges

TIP = telemetry().tip


def asked(scene: Scene, **fields) -> list[Shape]:
    """Return what is drawn of one arm input."""
    return commanded(scene, CommandKind.INPUT, input=GripperCommand(**fields))


def commanded(scene: Scene, kind: CommandKind, **fields) -> list[Shape]:
    scene.update_command(DriverCommand(kind, lifetime=0.25, **fields), NOW)
    return of(scene, "commanded")


def way(arrow: Shape) -> np.ndarray:
    """Return the vector of an arrow, which begins at the tip."""
    start, end = map(np.array, arrow.points)
    assert start == pytest.approx(TIP)
    assert arrow.frame == "base_link_frd"
    return end - start


# The commanded direction.


def test_B3_a_cartesian_input_is_an_arrow_along_it_in_the_frd_frame():
    (arrow,) = asked(whole(), arm_input=2, cartesian=Cartesian(0.5, -1.0, 0.25))
    assert arrow.kind is Kind.ARROW
    assert way(arrow) == pytest.approx(np.array((0.5, -1.0, 0.25)) * 0.15)


@pytest.mark.parametrize(
    "inputs, expected",
    [
        ({"radial": 1.0}, (0.15, 0.0, 0.0)),  # deployed, the arm points forward
        ({"vertical": 1.0}, (0.0, 0.0, 0.15)),
        ({"radial": -0.5, "vertical": -1.0}, (-0.075, 0.0, -0.15)),
    ],
)
def test_B4_radial_and_vertical_input_are_an_arrow_in_the_plane_of_the_arm(inputs, expected):
    (arrow,) = asked(whole(), arm_input=3, cylindrical=Cylindrical(**inputs))
    assert way(arrow) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("base", [0.5, math.pi, 5.0])
def test_B4_azimuth_is_an_arc_about_the_base_axis_clockwise_from_above(base):
    posture = (base, *DEPLOYED[1:])
    scene = whole()
    scene.update_telemetry(telemetry(posture), NOW)
    shapes = asked(scene, arm_input=3, cylindrical=Cylindrical(azimuth=1.0))
    (arc,) = (shape for shape in shapes if shape.kind is Kind.LINE_STRIP)
    points = np.array(arc.points)
    assert points[0] == pytest.approx(model().tip(posture), abs=1e-9)
    # Clockwise from above is the minus sense of axis_e, whose motion the Jacobian tells.
    wanted = -model().jacobian(posture)[:, 0]
    step = points[1] - points[0]
    cosine = step @ wanted / np.linalg.norm(step) / np.linalg.norm(wanted)
    assert cosine > 0.99
    length = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    assert length == pytest.approx(0.15, rel=0.02)


def test_D8_a_twist_is_an_arrow_in_the_axes_of_its_link():
    twist = TwistCommand("tool", (0.0, 0.0, 0.08))
    (arrow,) = commanded(whole(), CommandKind.TWIST, twist=twist)
    outward = np.array(model().frames.axes("tool", DEPLOYED)[2])
    assert way(arrow) == pytest.approx(0.08 * outward)


def test_D8_a_twist_in_an_unknown_link_draws_no_arrow():
    twist = TwistCommand("nothing", (0.1, 0.0, 0.0), grip=1.0)
    (text,) = commanded(whole(), CommandKind.TWIST, twist=twist)
    assert (text.kind, text.text) == (Kind.TEXT, "jaws open")


def test_B5_a_known_pose_is_told_by_name_and_speed_while_it_runs():
    pose = KnownPose(Pose.DEPLOYED, 0.6)
    (text,) = asked(whole(), arm_input=5, known_pose=pose)
    assert text.text == "to deployed at 60%"
    (text,) = asked(whole(), arm_input=5, known_pose=KnownPose(Pose.NAMED, 1.0, "rack"))
    assert text.text == "to rack at 100%"
    assert asked(whole(), arm_input=5, known_pose=replace(pose, velocity=0.0)) == []


def test_wrist_and_jaws_are_told_beside_the_arrow():
    velocities = GripperVelocities(grip=-0.5, rotate=0.2)
    shapes = asked(whole(), gripper_velocities=velocities, arm_input=2, cartesian=Cartesian(x=1.0))
    assert [shape.text for shape in shapes if shape.text] == ["wrist plus, jaws close"]
    assert len(shapes) == 2


def test_set_points_are_where_the_tip_would_be_with_all_of_them():
    goal = (3.0, 1.2, *DEPLOYED[2:])
    command = JointCommand(("axis_e", "axis_d"), goal[:2], (0.0, 0.0))
    ball, line = commanded(whole(), CommandKind.JOINT, joint=command)
    assert ball.position == pytest.approx(model().tip(goal))
    assert line.points[0] == pytest.approx(TIP)
    assert line.points[1] == ball.position


def test_set_points_of_the_wrist_alone_draw_nothing():
    command = JointCommand(("axis_b",), (2.0,), (0.0,))
    assert commanded(whole(), CommandKind.JOINT, joint=command) == []


# What blocks.


def test_a_limit_is_a_disc_across_the_axis_of_its_joint():
    scene = whole()
    scene.update_arm(replace(ARM, blocked_by=("limit axis_d",)), NOW)
    disc, text = of(scene, "blocked")
    assert (disc.frame, disc.kind, text.text) == ("link_d", Kind.CYLINDER, "axis_d at its limit")
    assert rotated(disc.orientation, (0.0, 0.0, 1.0)) == pytest.approx((0.0, 1.0, 0.0))


def test_a_collision_is_drawn_over_the_bodies_of_both():
    hull = Obstacle("hull", "base_link", Box((0.5, 0.3, 0.1)), (0.0, 0.0, -0.3))
    scene = whole()
    scene.update_obstacles((hull,))
    scene.update_arm(replace(ARM, blocked_by=("collision link_b hull",)), NOW)
    shapes = of(scene, "blocked")
    links = [shape for shape in shapes if shape.frame == "link_b" and not shape.text]
    assert len(links) == len(Description.from_urdf(urdf()).bodies["link_b"]) > 0
    (box,) = (shape for shape in shapes if shape.frame == "base_link" and not shape.text)
    assert box.position == hull.position
    assert box.size == pytest.approx((0.508, 0.308, 0.108))
    assert [shape.text for shape in shapes if shape.text] == ["blocked: link_b and hull"]
    assert {shape.colour[:3] for shape in shapes} == {(1.0, 0.22, 0.2)}


@pytest.mark.parametrize("clearance, shown", [(0.0599, True), (0.0601, False), (math.nan, False)])
def test_what_is_nearest_is_shown_only_when_it_is_near(clearance, shown):
    scene = whole()
    arm = replace(ARM, collision_pair="link_b link_e", clearance=clearance)
    scene.update_arm(arm, NOW)
    assert bool(of(scene, "nearest")) is shown


def test_what_blocks_is_not_shown_a_second_time_as_nearest():
    scene = whole()
    pair = "link_b link_e"
    arm = replace(ARM, collision_pair=pair, clearance=0.01, blocked_by=(f"collision {pair}",))
    scene.update_arm(arm, NOW)
    assert of(scene, "blocked")
    assert not of(scene, "nearest")


def test_an_unknown_body_or_reason_is_in_the_overlay_alone():
    scene = whole()
    scene.update_arm(replace(ARM, blocked_by=("collision ghost haunt", "moon")), NOW)
    assert not of(scene, "blocked")
    assert "blocked: collision ghost haunt, moon" in words(scene)


def test_U14_a_faulty_joint_has_a_ball_and_its_flags():
    joints = list(ARM.joints)
    joints[2] = replace(joints[2], flags=("OVER_TEMPERATURE",))
    scene = whole()
    scene.update_arm(replace(ARM, joints=tuple(joints), fault_causes=("temperature axis_c",)), NOW)
    ball, text = of(scene, "joint faults")
    assert ball.frame == text.frame == "link_c"
    assert text.text == "axis_c\ntemperature axis_c\nOVER_TEMPERATURE"


def test_a_suspect_and_a_silent_joint_are_faults_as_well():
    joints = list(ARM.joints)
    joints[0] = replace(joints[0], stale=True)
    scene = whole()
    scene.update_arm(replace(ARM, joints=tuple(joints)), NOW)
    scene.update_telemetry(telemetry(joint_fault=(False, False, False, True, False)), NOW)
    assert {shape.frame for shape in of(scene, "joint faults")} == {"link_e", "link_b"}
    assert "no fresh position" in of(scene, "joint faults")[1].text


# Obstacles.


@pytest.mark.parametrize(
    "body, kind, size",
    [
        (Box((0.1, 0.2, 0.3)), Kind.BOX, (0.1, 0.2, 0.3)),
        (Sphere(0.1), Kind.SPHERE, (0.2, 0.2, 0.2)),
        (Cylinder(radius=0.1, length=0.5), Kind.CYLINDER, (0.2, 0.2, 0.5)),
    ],
)
def test_C9_an_obstacle_is_drawn_as_large_as_it_counts(body, kind, size):
    turned = from_rpy(0.1, 0.2, 0.3)
    scene = whole()
    scene.update_obstacles((Obstacle("rack", "base_link", body, (0.6, 0.0, 0.1), turned),))
    (shape,) = of(scene, "obstacles")
    assert (shape.kind, shape.size, shape.orientation) == (kind, size, turned)
    assert (shape.frame, shape.position) == ("base_link", (0.6, 0.0, 0.1))


def test_C9_a_plane_is_a_square_whose_upper_side_is_the_plane():
    turned = from_rpy(0.0, math.pi / 2.0, 0.0)
    scene = whole()
    scene.update_obstacles((Obstacle("wall", "base_link", Plane(), (1.0, 0.0, 0.0), turned),))
    (shape,) = of(scene, "obstacles")
    face = rotated(turned, (0.0, 0.0, shape.size[2] / 2.0))
    assert np.add(shape.position, face) == pytest.approx((1.0, 0.0, 0.0))


def test_C9_a_mesh_is_drawn_as_its_hull_and_otherwise_says_why_not():
    mesh = Obstacle("bracket", "base_link", Mesh("bracket.stl", 0.001))
    hull = (((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0)),)
    scene = whole()
    scene.update_obstacles((mesh,), {"bracket": hull})
    (shape,) = of(scene, "obstacles")
    assert (shape.kind, shape.points) == (Kind.TRIANGLES, hull[0])
    scene.update_obstacles((mesh,))
    assert not of(scene, "obstacles")
    assert "not drawn: bracket.stl cannot be read" in of(scene, "obstacle names")[0].text


def test_an_obstacle_says_what_may_touch_it():
    rack = Obstacle("rack", "tool", Sphere(0.02), allow=("link_a", "finger_left"))
    scene = whole()
    scene.update_obstacles((rack,))
    (name,) = of(scene, "obstacle names")
    assert name.frame == "tool"
    assert name.text == "rack\nmay touch link_a, finger_left"


def test_obstacles_that_are_taken_away_are_gone():
    scene = whole()
    scene.update_obstacles((Obstacle("rack", "tool", Sphere(0.02)),))
    scene.update_obstacles(())
    assert not of(scene, "obstacles")
    assert not of(scene, "obstacle names")


# The overlay.


def test_the_overlay_says_who_latched_what_and_why():
    scene = whole()
    scene.update_arbiter(
        replace(
            ARBITER,
            owner="",
            activity="STILL",
            estop_latched=True,
            estop_level="CUT",
            estop_source="console",
            estop_reason="diver in the water",
            fault_latched=True,
            fault_causes=("arm_major_fault",),
        ),
        NOW,
    )
    text = words(scene)
    assert "E-STOP (CUT) by console: diver in the water" in text
    assert "FAULT: arm_major_fault" in text
    assert "owner: nobody   STILL" in text


def test_the_overlay_says_the_last_stop_and_the_last_refusal_and_how_old_they_are():
    refusal = Refused("not_owner", "teleop owns the arm; acquire the lease first", "app", 4.0)
    scene = whole()
    scene.update_arbiter(
        replace(ARBITER, last_stop_cause="source_gone", last_stop_age=11.0, last_refusal=refusal),
        NOW - 0.9,
    )
    text = words(scene, NOW)
    assert "last stop: source_gone (12 s ago)" in text
    assert "refused of app: not_owner (5 s ago)" in text
    assert "acquire the lease first" in text


@pytest.mark.parametrize(
    "change, expected",
    [
        ({"connected": False}, "LINK DOWN"),
        ({"emo": True}, "the driver's e-stop latch is set"),
        ({"active": False}, "the driver is not active"),
        ({"service_mode": True}, "SERVICE MODE"),
        ({"holds": ("no_guard",)}, "held: no_guard"),
        ({"warnings": ("temperature_high axis_c",)}, "warning: temperature_high axis_c"),
        ({"blocked_by": ("limit axis_d",)}, "blocked: limit axis_d"),
        ({"fault_causes": ("overcurrent axis_a",)}, "arm fault: overcurrent axis_a"),
        ({"last_refusal": Refused("old_sequence", "is old")}, "driver refused: old_sequence"),
    ],
)
def test_U14_the_overlay_says_what_the_driver_says(change, expected):
    scene = whole()
    scene.update_arm(replace(ARM, **change), NOW)
    assert expected in words(scene)


@pytest.mark.parametrize(
    "change, expected",
    [
        ({"neutral_required": True}, "neutral is required"),
        ({"upstream_lost": True}, "the upstream link is lost"),
        ({"driver_connected": False}, "does not hear a driver"),
    ],
)
def test_the_overlay_says_what_the_arbiter_waits_for(change, expected):
    scene = whole()
    scene.update_arbiter(replace(ARBITER, **change), NOW)
    assert expected in words(scene)


def test_the_overlay_stays_small_whatever_others_wrote():
    refusal = Refused("x", "long " * 1000, "app", 0.0)
    scene = whole()
    scene.update_arbiter(
        replace(ARBITER, last_refusal=refusal, fault_latched=True, fault_causes=("c",) * 100), NOW
    )
    text = words(scene)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert len(text) < 4 * LONGEST
    assert "and 94 more" in text


# The workspace.


def test_random_postures_are_within_the_workspace_and_it_is_reached():
    arm = model()
    (section,) = of(whole(), "workspace")
    edge = np.array(section.points)
    outer = np.linalg.norm(edge[:, :2] - arm.base_position[:2], axis=1).max()
    lowest, highest = edge[:, 2].min(), edge[:, 2].max()
    rng = np.random.default_rng(7)
    postures = rng.uniform(arm.limits.lower, arm.limits.upper, (4000, 5))
    tips = np.array([arm.tip(q) for q in postures])
    radii = np.linalg.norm(tips[:, :2] - arm.base_position[:2], axis=1)
    assert outer - 0.01 < radii.max() < outer + 0.002
    assert tips[:, 2].min() > lowest - 0.002
    assert tips[:, 2].max() < highest + 0.002
    assert tips[:, 2].min() < lowest + 0.02


def test_the_workspace_turns_with_the_mount():
    upright = whole()
    inverted = Scene()
    inverted.set_description(urdf(mount="0 0 0", turn="3.14159265 0 0"))
    (first,), (second,) = of(upright, "workspace"), of(inverted, "workspace")
    shift = np.array(first.points) - model().base_position
    # Turned by half about x: right is left and down is up; both begin at another turn of the base.
    assert sorted(np.round(shift[:, 2], 6)) == pytest.approx(
        sorted(np.round(-np.array(second.points)[:, 2], 6)), abs=1e-5
    )


def in_plane(arm, q) -> np.ndarray:
    """Return signed distance from the base axis and height along it."""
    posture = arm.posture(q)
    return np.array((posture.reach, np.dot(posture.up, posture.tip)))


@pytest.mark.parametrize("upper", [3.5, 6.2])
def test_the_edges_of_the_section_enclose_every_posture_closely(upper):
    xml = urdf().replace('upper="3.5"', f'upper="{upper}"')
    arm = ArmModel.from_urdf(xml)
    assert arm.limits.upper[1] == arm.limits.upper[2] == upper
    # Half a turn of axis_d apart, both places are opposite each other about the shoulder.
    ends = [np.array((1.0, shoulder, 1.0, 0.0, 0.0)) for shoulder in (0.3, 0.3 + math.pi)]
    shoulder = (in_plane(arm, ends[0]) + in_plane(arm, ends[1])) / 2.0

    def polar(points) -> tuple[np.ndarray, np.ndarray]:
        x, y = (np.array(points) - shoulder).T
        return np.arctan2(y, x), np.hypot(x, y)

    outer, inner = map(polar, section_edges(arm))
    rng = np.random.default_rng(11)
    postures = rng.uniform(arm.limits.lower, arm.limits.upper, (3000, 5))
    directions, radii = polar([in_plane(arm, q) for q in postures])
    for edge, sense in ((outer, 1.0), (inner, -1.0)):
        limits = np.interp(directions, *edge, period=2.0 * math.pi)
        beyond = sense * (radii - limits)
        assert np.quantile(beyond, 0.99) < 0.01
        assert beyond.max() < 0.03  # beside the ends of the section, between two directions


def test_the_envelope_is_the_outer_edge_and_small_enough_to_be_sent_again_and_again():
    scene = whole()
    (envelope,), (section,) = of(scene, "workspace envelope"), of(scene, "workspace")
    corners, edge = np.array(envelope.points), np.array(section.points)
    assert len(corners) % 3 == 0
    assert 1000 < len(corners) < 3000
    around = np.linalg.norm(corners[:, :2] - model().base_position[:2], axis=1)
    most = np.linalg.norm(edge[:, :2] - model().base_position[:2], axis=1).max()
    assert around.max() == pytest.approx(most, abs=0.005)


# What is not known.


@pytest.mark.parametrize(
    "command",
    [
        DriverCommand(
            CommandKind.INPUT,
            input=GripperCommand(arm_input=3, cylindrical=Cylindrical(azimuth=1.0)),
            lifetime=1.0,
        ),
        DriverCommand(
            CommandKind.JOINT, joint=JointCommand(("axis_d",), (1.0,), (0.0,)), lifetime=1.0
        ),
    ],
)
def test_nothing_is_drawn_from_positions_that_are_no_longer_so(command):
    scene = whole()
    scene.update_command(command, NOW)
    assert of(scene, "commanded")
    # A joint that fell silent: its last position is repeated, but the tip is no longer told.
    scene.update_telemetry(telemetry(tip=UNKNOWN_POINT), NOW)
    assert not of(scene, "commanded")


def test_an_input_that_is_no_number_draws_nothing():
    cylindrical = Cylindrical(radial=math.nan, azimuth=math.nan)
    assert asked(whole(), arm_input=3, cylindrical=cylindrical) == []
