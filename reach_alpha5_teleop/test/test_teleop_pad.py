from __future__ import annotations

import math

import pytest

from reach_alpha5_common.refusal import Problem
from reach_alpha5_teleop import profiles
from reach_alpha5_teleop.pad import REST_PATIENCE, JoyFrame, Pad, PadState

PROFILE = profiles.find("xbox_game_controller")
TTL = 0.5
UP, DOWN = [0] * 15, [1] * 15


@pytest.fixture
def pad() -> Pad:
    return Pad(PROFILE, TTL)


def frame(axes=(0.0,) * 6, buttons=(0,) * 15, stamp=0) -> JoyFrame:
    return JoyFrame(list(axes), list(buttons), stamp)


def button(name: str) -> list[int]:
    """Return the buttons array with one of them held."""
    return [int(index == PROFILE.buttons[name]) for index in range(15)]


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (frame(axes=[0.0] * 5), "wrong_layout"),
        (frame(axes=[0.0] * 7), "wrong_layout"),
        (frame(axes=[]), "wrong_layout"),
        (frame(buttons=[0] * 14), "wrong_layout"),
        (frame(buttons=[0] * 16), "wrong_layout"),
        (frame(buttons=[]), "wrong_layout"),
        (frame(buttons=[0] * 21), "layout_changed"),
        (frame(axes=[0.0] * 5 + [math.nan]), "not_finite"),
        (frame(axes=[math.inf] + [0.0] * 5), "not_finite"),
        (frame(axes=[-math.inf] + [0.0] * 5), "not_finite"),
        (frame(axes=[1.01] + [0.0] * 5), "out_of_range"),
        (frame(axes=[0.0] * 4 + [-7.0, 0.0]), "out_of_range"),
        (frame(buttons=[0] * 14 + [2]), "bad_button"),
        (frame(buttons=[-1] + [0] * 14), "bad_button"),
        (frame(stamp=-1), "old_stamp"),
    ],
)
def test_U5_frame_that_is_not_of_this_pad_is_refused_with_a_code(pad, bad, code):
    assert isinstance(pad.receive(frame(), 1.0), PadState)
    problem = pad.receive(bad, 1.1)
    assert isinstance(problem, Problem)
    assert problem.code == code


def test_refused_frame_is_no_sign_of_life(pad):
    pad.receive(frame(), 1.0)
    pad.receive(frame(axes=[]), 1.4)
    assert pad.expire(1.6)
    assert not pad.present


def test_full_scale_in_single_precision_is_taken(pad):
    assert isinstance(pad.receive(frame(axes=[1.0000001] * 6), 1.0), PadState)


def test_D1_silence_beyond_the_ttl_is_absence(pad):
    pad.receive(frame(), 1.0)
    assert not pad.expire(1.5)
    assert pad.present
    assert pad.expire(1.51)
    assert not pad.present
    assert not pad.expire(9.0), "it goes once"


def test_D5_press_is_an_edge_and_is_seen_once(pad):
    pad.receive(frame(), 1.0)
    held = frame(buttons=button("mode"))
    assert [pad.receive(held, 1.1 + i / 10).pressed for i in range(3)] == [set(), {"mode"}, set()]
    assert pad.receive(frame(), 1.4).pressed == set()
    assert [pad.receive(held, 1.5 + i / 10).pressed for i in range(2)] == [set(), {"mode"}]


def test_D5_press_during_refused_frames_is_seen_with_the_next_valid_ones(pad):
    pad.receive(frame(), 1.0)
    held = frame(buttons=button("mode"))
    pad.receive(frame(axes=[math.nan] * 6, buttons=button("mode")), 1.1)
    assert [pad.receive(held, 1.2 + i / 10).pressed for i in range(2)] == [set(), {"mode"}]


def test_U3_button_counts_from_its_second_frame_and_no_longer_from_the_first_without_it(pad):
    pad.receive(frame(), 1.0)
    held = frame(buttons=button("jaws_open"))
    states = [pad.receive(f, 1.1 + i / 10) for i, f in enumerate((held, held, frame()))]
    assert [state.down for state in states] == [set(), {"jaws_open"}, set()]
    assert [state.held for state in states] == [{"jaws_open"}, {"jaws_open"}, set()]


def test_deadman_counts_at_once(pad):
    pad.receive(frame(), 1.0)
    assert pad.receive(frame(buttons=button("deadman")), 1.1).down == {"deadman"}


@pytest.mark.parametrize(("name", "told"), [("mode", {"mode"}), ("jaws_open", set())])
def test_D5_press_of_one_frame_is_told_where_it_is_lost(pad, name, told):
    pad.receive(frame(), 1.0)
    assert pad.receive(frame(buttons=button(name)), 1.1).too_short == set()
    assert pad.receive(frame(), 1.2).too_short == told
    assert pad.receive(frame(), 1.3).too_short == set()


def test_first_frame_presses_and_holds_nothing(pad):
    state = pad.receive(frame(buttons=DOWN), 1.0)
    assert state.pressed == set()
    assert state.down == set()


def test_U2_button_held_across_a_gap_counts_after_it_was_up(pad):
    pad.receive(frame(buttons=UP), 1.0)
    pad.forget()
    assert pad.receive(frame(buttons=button("deadman")), 2.0).down == set()
    assert pad.receive(frame(buttons=UP), 2.1).down == set()
    assert pad.receive(frame(buttons=button("deadman")), 2.2).down == {"deadman"}


def test_U2_stick_held_over_across_a_gap_counts_after_it_was_at_rest(pad):
    pad.receive(frame(), 1.0)
    pad.forget()
    pushed = frame(axes=[0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    for step in range(20):
        state = pad.receive(pushed, 2.0 + step / 50)
        assert not any(state.axes.values())
        assert "left_forward" not in state.touched
    for step in range(20):
        pad.receive(frame(), 2.4 + step / 50)
    assert pad.receive(pushed, 2.9).touched == {"left_forward"}, "a jump is no rest either"
    assert pad.receive(pushed, 3.0).axes["left_forward"] == 1.0


def test_D3_axes_that_do_not_rest_in_time_are_told_in_one_frame(pad):
    told = []
    for step in range(300):
        state = pad.receive(frame(axes=[0.5, 0.0, 0.0, 0.0, 0.0, -0.8]), step / 50)
        if state.unknown:
            told.append((step / 50, dict(state.unknown)))
    assert told == [(REST_PATIENCE, {"left_right": 0.5, "right_trigger": -0.8})]


def test_U2_another_pad_of_the_profile_may_come_after_a_gap(pad):
    pad.receive(frame(), 1.0)
    assert pad.expire(2.0)
    assert isinstance(pad.receive(frame(buttons=[0] * 21, stamp=-5), 2.0), PadState)


def test_estop_is_pressed_on_the_edge(pad):
    assert not pad.estop_pressed(frame(), 1.0)
    assert pad.estop_pressed(frame(buttons=button("estop")), 1.1)
    assert not pad.estop_pressed(frame(buttons=button("estop")), 1.2)
    assert not pad.estop_pressed(frame(), 1.3)
    assert pad.estop_pressed(frame(buttons=button("estop")), 1.4)


def test_estop_held_in_the_first_frame_is_pressed(pad):
    assert pad.estop_pressed(frame(buttons=button("estop")), 1.0)


def test_estop_held_after_a_silence_is_pressed_again(pad):
    pad.estop_pressed(frame(buttons=button("estop")), 1.0)
    assert pad.estop_pressed(frame(buttons=button("estop")), 1.0 + TTL + 0.1)


@pytest.mark.parametrize(
    "damaged",
    [
        frame(axes=[math.nan] * 6, buttons=button("estop")),
        frame(axes=[], buttons=button("estop")),
        frame(buttons=button("estop")[:2]),
        frame(buttons=[value * 7 for value in button("estop")]),
        frame(buttons=[-value for value in button("estop")]),
        frame(buttons=[*button("estop"), 0, 0]),
    ],
)
def test_D4_estop_is_read_from_a_damaged_frame(pad, damaged):
    assert pad.estop_pressed(damaged, 1.0)


def test_frame_too_short_for_the_estop_button_presses_nothing(pad):
    assert not pad.estop_pressed(frame(buttons=[1]), 1.0)


def test_U3_wild_frame_that_is_delivered_twice_does_not_confirm_itself(pad):
    for step in range(20):
        pad.receive(frame(stamp=step + 1), 1.0 + step / 50)
    wild = frame([0.0, 1.0, 0.0, 0.0, 0.0, 0.0], button("jaws_open"), stamp=21)
    first, again = pad.receive(wild, 1.4), pad.receive(wild, 1.41)
    assert (first.down, first.axes["left_forward"]) == (set(), 0.0)
    assert isinstance(again, Problem)
    assert again.code == "old_stamp"
    assert "not newer than the one before" in again.reason
    calm = pad.receive(frame(stamp=22), 1.42)
    assert (calm.down, calm.axes["left_forward"]) == (set(), 0.0)


@pytest.mark.parametrize(
    ("stamps", "taken"), [((0, 0, 0), True), ((0, 5, 0), False), ((5, 0), False), ((5, 5), False)]
)
def test_U7_frames_without_stamps_are_taken_if_none_has_one(pad, stamps, taken):
    *_, last = [pad.receive(frame(stamp=stamp), 1.0) for stamp in stamps]
    assert isinstance(last, PadState) == taken
