"""Frames that are in order and yet wild: U3."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reach_alpha5_common.command import STILL
from reach_alpha5_teleop.glitch import HAND, JumpGuard
from reach_alpha5_teleop.outputs import Publish, Refused

NEUTRAL = Publish(STILL)


@given(st.lists(st.floats(-1.0, 1.0), max_size=30))
def test_what_is_believed_is_never_farther_out_than_what_is_said(travels):
    guard = JumpGuard()
    for travel in travels:
        believed = guard.read(travel)
        assert abs(believed) <= abs(travel)
        assert believed * travel >= 0.0


@given(st.lists(st.floats(-1.0, 1.0), max_size=10), st.floats(-1.0, 1.0))
def test_what_stays_is_believed_with_its_second_frame(before, travel):
    guard = JumpGuard()
    for value in before:
        guard.read(value)
    guard.read(travel)
    assert guard.read(travel) == travel


@given(st.floats(-HAND, HAND), st.floats(-HAND, HAND))
def test_way_of_a_hand_is_believed_at_once(one, other):
    guard = JumpGuard()
    assert guard.read(one) == one
    assert guard.read(other) == other


def test_two_wild_frames_that_disagree_are_believed_as_far_as_both_say():
    guard = JumpGuard()
    guard.read(1.0)
    assert guard.read(0.7) == 0.7
    guard.forget()
    guard.read(0.7)
    assert guard.read(1.0) == 0.7
    guard.forget()
    guard.read(1.0)
    assert guard.read(-1.0) == 0.0


def test_jump_is_forgotten_by_a_frame_without_it():
    guard = JumpGuard()
    guard.read(1.0)
    guard.read(0.0)
    assert guard.read(1.0) == 0.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("axis", ["left_forward", "left_right", "right_back", "right_right"])
def test_U3_full_scale_for_one_frame_moves_nothing(any_pilot, commands, axis, sign):
    any_pilot.arm()
    assert any_pilot.jump(**{axis: sign}) == []
    assert any_pilot.jump(**{axis: 0.0}) == []
    assert commands(any_pilot.hold(10)) == []


def test_U3_full_scale_for_one_frame_while_the_arm_moves_the_other_way_only_stops_it(
    pilot, commands
):
    pilot.arm()
    pilot.move(left_forward=0.5)
    assert pilot.jump(left_forward=-1.0) == [NEUTRAL]
    (command,) = commands(pilot.jump(left_forward=0.5))
    assert command.cartesian.x > 0.0


def test_U3_full_scale_that_stays_counts_from_the_second_frame(pilot, commands):
    pilot.arm()
    assert commands(pilot.jump(left_forward=1.0)) == []
    (command,) = commands(pilot.jump(left_forward=1.0))
    assert command.cartesian.x == 1.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_U3_quick_hand_is_not_held_up(pilot, commands, sign):
    pilot.arm()
    assert commands(pilot.jump(left_forward=0.6 * sign)) != []
    assert commands(pilot.jump(left_forward=-0.6 * sign)) != [], "nor when it turns round"


@pytest.mark.parametrize(
    "button", ["pose_stowed", "pose_deployed", "jaws_open", "jaws_close", "mode", "reset"]
)
def test_U3_button_for_one_frame_does_nothing(any_pilot, button):
    any_pilot.arm()
    out = any_pilot.flash(button)
    assert not [o for o in out if not isinstance(o, Refused)]
    told = [o.refusal.code for o in out if isinstance(o, Refused)]
    assert told == (["short_press"] if button in ("mode", "reset") else [])


def test_U3_single_frame_at_rest_arms_nothing(pilot, commands):
    pilot.connect()
    pilot.move(left_forward=0.5)
    pilot.press("deadman")
    pilot.jump(left_forward=0.0)
    assert commands(pilot.jump(left_forward=0.5)) == []


def test_U3_letting_go_is_never_delayed(pilot):
    pilot.arm()
    pilot.move(left_forward=1.0)
    assert pilot.jump(left_forward=0.0) == [NEUTRAL]
    pilot.hold(2)
    pilot.press("jaws_open")
    pilot.held.clear()
    assert pilot.hold(1) == [NEUTRAL]
