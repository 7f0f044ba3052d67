"""The scene as a whole: what is stale, what is unknown, and that it can be drawn."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from view_material import ARBITER, ARM, NOW, alive, of, telemetry, urdf, whole, words

from reach_alpha5_common.command import (
    Cartesian,
    CommandKind,
    Cylindrical,
    DriverCommand,
    GripperCommand,
)
from reach_alpha5_motion.model import ModelError
from reach_alpha5_view.scene.config import LIFETIMES, SceneConfig
from reach_alpha5_view.scene.scene import NAMESPACES, Layer, Scene
from reach_alpha5_view.scene.shapes import Kind
from reach_alpha5_view.scene.states import UNKNOWN_POINT, ArmStatus, Telemetry

JOG = DriverCommand(
    CommandKind.INPUT, input=GripperCommand(arm_input=2, cartesian=Cartesian(x=1.0)), lifetime=0.25
)


def test_a_scene_that_heard_nothing_says_so_and_shows_nothing_else():
    shapes = Scene().shapes(NOW)
    assert {shape.namespace for shape in shapes} == {"status"}
    assert "nothing heard of the arbiter yet" in shapes[0].text
    assert "nothing heard of the driver yet" in shapes[0].text


def test_what_is_well_is_not_red_and_not_stale():
    (status,) = of(whole(), "status")
    assert "STALE" not in status.text
    assert "owner: teleop   JOGGING" in status.text
    assert status.colour[0] < 0.5


@pytest.mark.parametrize("namespace", ["tip", "commanded", "blocked", "nearest", "joint faults"])
def test_U12_nothing_of_a_silent_driver_looks_alive(namespace):
    scene = whole()
    busy = replace(
        ARM,
        blocked_by=("limit axis_d",),
        collision_pair="link_b link_e",
        clearance=0.01,
        fault_causes=("overheated axis_c",),
    )
    scene.update_arm(busy, NOW)
    scene.update_command(replace(JOG, lifetime=60.0), NOW)
    assert of(scene, namespace, NOW + 0.9)
    assert not of(scene, namespace, NOW + 1.1)


def test_U12_a_silent_driver_is_told_as_stale_in_red():
    scene = whole()
    scene.update_arbiter(ARBITER, NOW + 7.0)
    (status,) = of(scene, "status", NOW + 7.0)
    assert "STALE: nothing heard of the driver for 7 s" in status.text
    assert "ENABLED" not in status.text
    assert status.colour[:2] == (1.0, 0.22)


def test_U12_a_silent_arbiter_is_told_as_stale_and_its_owner_is_not_shown():
    scene = whole()
    scene.update_arm(ARM, NOW + 5.0)
    scene.update_telemetry(telemetry(), NOW + 5.0)
    text = words(scene, NOW + 5.0)
    assert "STALE: nothing heard of the arbiter for 5 s" in text
    assert "teleop" not in text


def test_a_posture_that_stopped_coming_is_told_although_the_driver_speaks():
    scene = whole()
    scene.update_arm(ARM, NOW + 3.0)
    scene.update_arbiter(ARBITER, NOW + 3.0)
    assert "STALE: nothing heard of the posture for 3 s" in words(scene, NOW + 3.0)


def test_an_unknown_tip_shows_neither_tip_nor_arrow_and_says_so():
    scene = whole()
    scene.update_command(JOG, NOW)
    assert of(scene, "commanded")
    scene.update_telemetry(telemetry(tip=UNKNOWN_POINT), NOW)
    assert not of(scene, "tip")
    assert not of(scene, "commanded")
    assert "STALE: the posture is not known" in words(scene)


def test_the_trail_of_a_stale_posture_stays_and_turns_grey():
    scene = whole()
    scene.update_telemetry(telemetry((math.pi, 1.6, 1.57, 0.0, 0.005)), NOW + 0.1)
    (live,) = of(scene, "trail", NOW + 0.2)
    (stale,) = of(scene, "trail", NOW + 2.0)
    assert stale.points == live.points
    assert stale.colour != live.colour
    assert stale.colour[0] == stale.colour[1] == stale.colour[2]


def test_the_arrow_ends_with_the_lifetime_of_the_command():
    scene = whole()
    scene.update_command(JOG, NOW)
    assert of(scene, "commanded", NOW + 0.24)
    assert not of(scene, "commanded", NOW + 0.26)


def test_a_stop_ends_the_arrow_at_once():
    scene = whole()
    scene.update_command(JOG, NOW)
    scene.update_command(DriverCommand(lifetime=0.2), NOW)
    assert not of(scene, "commanded")


def test_every_shape_disappears_unless_it_is_renewed():
    config = SceneConfig()
    periods = {
        Layer.MOVING: config.moving_period,
        Layer.WORDS: config.words_period,
        Layer.STANDING: config.standing_period,
    }
    scene = whole()
    scene.update_arm(replace(ARM, blocked_by=("limit axis_d",)), NOW)
    scene.update_command(JOG, NOW)
    for layer, period in periods.items():
        shapes = scene.shapes(NOW, (layer,))
        assert shapes
        assert {shape.lifetime for shape in shapes} == {LIFETIMES * period}


def test_a_description_of_another_arm_is_refused_and_the_old_one_kept():
    scene = whole()
    before = of(scene, "workspace")
    assert before
    for wrong in ("", "<robot", "<robot name='x'/>", urdf("left_")):
        with pytest.raises(ModelError):
            scene.set_description(wrong)
    assert of(scene, "workspace") == before


def test_a_prefix_goes_to_every_frame_of_the_arm():
    scene = Scene(SceneConfig(prefix="left_"))
    scene.set_description(urdf("left_"))
    alive(scene)
    names = ("limit left_axis_d", "collision left_link_b left_link_e")
    scene.update_arm(replace(ARM, blocked_by=names), NOW)
    frames = {shape.frame for shape in of(scene, "blocked")}
    assert frames == {"left_link_d", "left_link_b", "left_link_e"}


NUMBER = st.floats(allow_nan=True, allow_infinity=True, width=32)
NAME = st.sampled_from(["axis_d", "link_b", "hull", "", "limit", "\u00e9\u0000"])


@given(
    tip=st.tuples(NUMBER, NUMBER, NUMBER),
    positions=st.tuples(*[NUMBER] * 5),
    asked=st.tuples(NUMBER, NUMBER, NUMBER),
    arm_input=st.sampled_from([0, 2, 3, 5, 9]),
    blocked=st.lists(st.lists(NAME, max_size=4).map(" ".join), max_size=4),
    clearance=NUMBER,
)
def test_whatever_is_said_what_is_drawn_has_numbers_and_known_names(
    tip, positions, asked, arm_input, blocked, clearance, whole_scene
):
    scene = whole_scene
    scene.update_telemetry(Telemetry(positions, tip), NOW)
    scene.update_arm(
        ArmStatus(
            blocked_by=tuple(blocked), collision_pair=(blocked or [""])[0], clearance=clearance
        ),
        NOW,
    )
    command = GripperCommand(
        arm_input=arm_input, cartesian=Cartesian(*asked), cylindrical=Cylindrical(*asked)
    )
    scene.update_command(DriverCommand(CommandKind.INPUT, input=command, lifetime=1.0), NOW)
    shapes = scene.shapes(NOW)
    known = {name for names in NAMESPACES.values() for name in names}
    assert {shape.namespace for shape in shapes} <= known
    assert len({(shape.namespace, shape.number) for shape in shapes}) == len(shapes)
    for shape in shapes:
        numbers = (*shape.position, *shape.orientation, *shape.size, *shape.colour)
        assert all(map(math.isfinite, numbers))
        assert all(math.isfinite(value) for point in shape.points for value in point)
        assert math.hypot(*shape.orientation) == pytest.approx(1.0)
        assert (shape.kind is Kind.TEXT) == bool(shape.text)
        assert all(" " <= letter <= "~" or letter == "\n" for letter in shape.text)


@pytest.fixture(scope="module")
def whole_scene() -> Scene:
    return whole()


def test_the_layers_have_the_namespaces_of_the_table():
    scene = whole()
    scene.update_command(JOG, NOW)
    scene.update_telemetry(telemetry((math.pi, 1.6, 1.57, 0.0, 0.005)), NOW)
    for layer, names in NAMESPACES.items():
        assert {shape.namespace for shape in scene.shapes(NOW, (layer,))} <= set(names)
