from __future__ import annotations

import math
from dataclasses import replace

import pytest

from reach_alpha5_common.command import (
    STILL,
    ArmInput,
    Cartesian,
    Cylindrical,
)
from reach_alpha5_common.refusal import Problem
from reach_alpha5_teleop.modes import Mode
from reach_alpha5_teleop.outputs import (
    EStopPressed,
    Heartbeat,
    ModeChanged,
    Publish,
    Refused,
    ResetPressed,
)

NEUTRAL = Publish(STILL)


def test_no_motion_without_the_deadman(any_pilot, commands):
    any_pilot.connect()
    for axis in any_pilot.profile.axes:
        assert commands(any_pilot.move(**{axis: 1.0})) == []
        any_pilot.move(**{axis: 0.0})
    for button in set(any_pilot.profile.buttons) - {"deadman", "estop"}:
        assert commands(any_pilot.tap(button)) == []


def test_deadman_and_stick_move_the_arm_in_every_frame(any_pilot, commands):
    any_pilot.arm()
    for _ in range(3):
        (command,) = commands(any_pilot.move(left_forward=1.0))
        assert command.cartesian == Cartesian(x=1.0)
        assert command.lifetime == 0.5


def test_signs_forward_right_down(any_pilot, commands):
    any_pilot.arm()
    (command,) = commands(any_pilot.move(left_forward=1.0, left_right=1.0, right_back=1.0))
    assert command.cartesian == Cartesian(1.0, 1.0, 1.0)


def test_joy_signs_of_game_controller_node(pilot, commands):
    """Forward and left are plus there, a pulled trigger is -1."""
    pilot.arm()
    deadman = [int(i == 9) for i in range(15)]
    pushed = replace(pilot.frame(), axes=[1.0, 1.0, 0.0, 1.0, 0.0, -1.0], buttons=deadman)
    pilot.send(pushed)
    (command,) = commands(pilot.send(replace(pushed, stamp=pushed.stamp + 1)))
    assert command.cartesian == Cartesian(x=1.0, y=-1.0, z=-1.0)
    assert command.speed_modifier == 1.0


def test_U4_deadman_release_sends_one_neutral(pilot):
    pilot.arm()
    pilot.move(left_forward=1.0)
    assert pilot.release("deadman") == [NEUTRAL]
    assert pilot.move() == []


def test_D7_stick_release_sends_one_neutral_and_then_nothing(pilot):
    pilot.arm()
    pilot.move(left_forward=1.0)
    assert pilot.move(left_forward=0.0) == [NEUTRAL]
    assert pilot.move() == []


def test_D3_pad_that_nobody_touches_says_nothing(any_pilot, commands):
    any_pilot.connect()
    assert commands([output for _ in range(50) for output in any_pilot.move()]) == []


def test_stick_held_over_while_the_deadman_goes_down_has_to_be_let_go_first(pilot, commands):
    pilot.connect()
    pilot.move(left_forward=1.0)
    assert commands(pilot.press("deadman")) == []
    assert commands(pilot.move(left_forward=0.5)) == []
    pilot.let_go("left_forward")
    assert commands(pilot.move(left_forward=0.5)) != []


def test_pose_button_held_while_the_deadman_goes_down_has_to_be_let_go_first(pilot, commands):
    pilot.connect()
    pilot.press("pose_deployed")
    assert commands(pilot.press("deadman")) == []
    pilot.release("pose_deployed")
    (command,) = commands(pilot.press("pose_deployed"))
    assert command.arm_input == ArmInput.KNOWN_POSE


def test_B5_pose_is_hold_to_run(pilot):
    pilot.arm()
    pilot.press("pose_stowed")
    assert pilot.release("pose_stowed") == [NEUTRAL]


def test_contradiction_stops_and_waits_for_rest(pilot, commands):
    pilot.arm()
    pilot.press("pose_deployed")
    assert pilot.jump(left_forward=0.5) == [NEUTRAL]
    assert pilot.release("pose_deployed") == [], "the stick is over still: no lurch"
    pilot.let_go("left_forward")
    assert commands(pilot.move(left_forward=1.0)) != []


# Silence and damage.


@pytest.mark.parametrize("moving", [True, False])
def test_D1_U1_silence_ends_motion_and_presence(pilot, moving):
    pilot.arm()
    pilot.move(left_forward=1.0 if moving else 0.0)
    out = pilot.wait(0.7)
    assert out.count(NEUTRAL) == moving
    beats = [output for output in out if isinstance(output, Heartbeat)]
    assert beats[0] == Heartbeat(True)
    assert beats[-1] == Heartbeat(False)


def test_D1_absence_is_told_at_once(pilot):
    pilot.arm()
    pilot.move(left_forward=1.0)
    pilot.wait(0.49)
    out = pilot.wait(0.02)
    assert out[:2] == [NEUTRAL, Heartbeat(False)]


def test_silence_that_no_tick_saw_is_silence(pilot):
    pilot.arm()
    pilot.move(left_forward=1.0)
    pilot.now += 1.0
    assert pilot.move() == [NEUTRAL, Heartbeat(False), Heartbeat(True)]


def test_U2_pad_that_comes_back_needs_rest_and_a_fresh_deadman(pilot, commands):
    pilot.arm()
    pilot.move(left_forward=1.0)
    pilot.wait(0.7)
    assert commands(pilot.move()) == [], "stick and deadman held over"
    assert commands(pilot.settle()) == []
    assert commands(pilot.move(left_forward=1.0)) == [], "that deadman is an old one"
    pilot.let_go("left_forward")
    pilot.release("deadman")
    pilot.press("deadman")
    assert commands(pilot.move(left_forward=1.0)) != []


def test_U2_pad_powered_on_late_is_found(pilot, commands):
    assert set(pilot.wait(5.0)) == {Heartbeat(False)}
    assert pilot.hold(1) == [Heartbeat(True)]
    pilot.connect().press("deadman")
    assert commands(pilot.move(left_forward=1.0)) != []


def test_D6_pad_whose_publisher_is_gone_stops_at_once(pilot):
    pilot.arm()
    pilot.move(left_forward=1.0)
    assert pilot.core.on_pad_gone(pilot.now) == [NEUTRAL, Heartbeat(False)]
    assert pilot.core.on_pad_gone(pilot.now) == []


@pytest.mark.parametrize("gone", ["silent", "unplugged"])
def test_jaws_toggle_of_a_pad_that_comes_in_closes_first(pilot_with, commands, gone):
    pilot = pilot_with(buttons={"jaws_toggle": 7})
    for _ in range(2):
        pilot.arm()
        pilot.press("jaws_toggle")
        assert commands(pilot.hold(1))[0].gripper_velocities.grip == -1.0
        pilot.held.clear()
        if gone == "silent":
            pilot.wait(0.7)
        else:
            pilot.core.on_pad_gone(pilot.now)


def test_U7_frame_that_is_delivered_twice_stops_and_moves_nothing(pilot, commands):
    pilot.arm()
    twice = replace(pilot.frame(), axes=[0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    out = pilot.send(twice) + pilot.send(twice)
    assert [o.refusal.code for o in out if isinstance(o, Refused)] == ["old_stamp"]
    assert commands(out) == []


def test_U5_refused_frame_stops_and_is_counted(pilot, commands):
    pilot.arm()
    pilot.move(left_forward=1.0)
    bad = replace(pilot.frame(), axes=[math.nan] * 6)
    refused, neutral = pilot.send(bad)
    assert isinstance(refused, Refused)
    assert (refused.refusal.code, refused.refusal.count) == ("not_finite", 1)
    assert neutral == NEUTRAL
    assert pilot.send(bad)[0].refusal.count == 2
    assert commands(pilot.move(left_forward=1.0)) == [], "no lurch after it either"


def test_U5_only_refused_frames_is_absence(pilot):
    pilot.arm()
    out = [o for _ in range(40) for o in pilot.send(replace(pilot.frame(), buttons=[]))]
    assert Heartbeat(False) in out
    assert not pilot.core.present


def test_U7_older_frame_moves_nothing(pilot, commands):
    pilot.arm()
    old = replace(pilot.frame(), stamp=0)
    pilot.move(left_forward=1.0)
    pilot.move(left_forward=0.0)
    out = pilot.send(replace(old, axes=[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]))
    assert out[0].refusal.code == "old_stamp"
    assert commands(out) == []


def test_U6_clock_of_the_pad_that_jumps_ahead_does_not_outlast_the_ttl(pilot):
    pilot.arm()
    pilot.send(replace(pilot.frame(), stamp=2**62))
    assert Heartbeat(False) in pilot.wait(0.7)
    pilot.move()
    assert pilot.core.present, "and its frames are taken again afterwards"


def test_U2_nothing_moves_before_the_rests_are_known(pilot, commands):
    pilot.hold(2)
    pilot.press("deadman")
    assert commands(pilot.move(left_forward=1.0)) == []
    pilot.settle()
    assert commands(pilot.move(left_forward=1.0)) != []


def test_D3_axis_that_does_not_come_to_rest_is_told_once_and_moves_nothing(pilot, commands):
    pilot.values["left_forward"] = 0.3
    refused = [o for o in pilot.hold(200) if isinstance(o, Refused)]
    assert [o.refusal.code for o in refused] == ["no_rest"]
    assert "left_forward reads 0.3 and should rest at 0" in refused[0].refusal.reason
    pilot.press("deadman")
    assert commands(pilot.move(left_forward=1.0)) == []
    assert commands(pilot.move(left_right=1.0)) != [], "the others go on"
    pilot.wait(0.7)
    assert "no_rest" in {o.refusal.code for o in pilot.hold(200) if isinstance(o, Refused)}


def test_D3_worn_stick_that_rests_off_zero_moves_nothing_and_never_holds_the_arm(any_pilot):
    for name in any_pilot.values:
        any_pilot.values[name] = 0.9 * any_pilot.profile.axes[name].deadband
    out = any_pilot.hold(50) + any_pilot.press("deadman") + any_pilot.hold(50)
    assert not [o for o in out if isinstance(o, Publish | Refused)]


def test_replayed_frame_stops_and_is_no_sign_of_life_and_its_estop_counts(pilot, commands):
    pilot.arm()
    pilot.move(left_forward=1.0)
    old = Problem("replayed", "out of a bag")
    refused, neutral = pilot.core.on_joy(pilot.frame(), pilot.now, old)
    assert (refused.refusal.code, neutral) == ("replayed", NEUTRAL)
    pilot.held.add("estop")
    assert pilot.core.on_joy(pilot.frame(), pilot.now, old)[0] == EStopPressed()
    pilot.now += 0.6
    assert Heartbeat(False) in pilot.core.on_joy(pilot.frame(), pilot.now, old)


# Verbs.


def test_D4_estop_goes_out_without_deadman_and_on_every_press(pilot):
    pilot.connect()
    for _ in range(3):
        assert pilot.press("estop") == [EStopPressed()]
        assert pilot.move() == []
        assert pilot.release("estop") == []


def test_D4_estop_ends_motion_and_the_stick_cannot_drive_through_it(pilot, commands):
    pilot.arm()
    pilot.move(left_forward=1.0)
    assert pilot.press("estop") == [EStopPressed(), NEUTRAL]
    assert commands(pilot.move(left_forward=0.9)) == []
    assert commands(pilot.release("estop")) == []
    assert commands(pilot.move(left_forward=0.8)) == []


def test_D4_nothing_arms_while_the_estop_button_is_down(pilot, commands):
    pilot.arm()
    pilot.press("estop")
    pilot.move()
    assert commands(pilot.move(left_forward=1.0)) == []


def test_D4_estop_in_a_damaged_frame_and_in_the_first_one(pilot):
    pilot.held = {"estop"}
    out = pilot.send(replace(pilot.frame(), axes=[math.nan] * 6))
    assert out[0] == EStopPressed()
    assert isinstance(out[1], Refused)


def test_estop_after_a_silence_comes_before_everything_else(pilot):
    pilot.arm()
    pilot.move(left_forward=1.0)
    pilot.now += 1.0
    assert pilot.press("estop")[0] == EStopPressed()


def test_reset_is_called_once_a_press(pilot):
    pilot.connect()
    assert pilot.press("reset") == [ResetPressed()]
    assert pilot.move() == []


def test_reset_with_a_control_deflected_is_refused(pilot):
    pilot.connect()
    pilot.move(right_back=-1.0)
    (refused,) = pilot.press("reset")
    assert refused.refusal.code == "not_at_rest"


def test_reset_with_the_estop_held_is_refused(pilot):
    pilot.connect()
    pilot.press("estop")
    (refused,) = pilot.press("reset")
    assert refused.refusal.code == "estop_held"


def test_reset_held_while_the_pad_connects_is_no_press(pilot):
    pilot.held = {"reset"}
    assert pilot.move() == [Heartbeat(True)]


def test_mode_button_switches_what_the_sticks_drive(pilot, commands):
    pilot.connect()
    assert pilot.tap("mode") == [ModeChanged(Mode.CYLINDRICAL)]
    pilot.press("deadman")
    (command,) = commands(pilot.move(left_right=1.0))
    assert command.cylindrical == Cylindrical(azimuth=1.0)
    assert pilot.core.mode is Mode.CYLINDRICAL
    pilot.let_go("left_right")
    pilot.release("deadman")
    for mode in (*pilot.profile.modes[2:], pilot.profile.modes[0]):
        assert pilot.tap("mode") == [ModeChanged(mode)]


def test_mode_change_under_a_deflected_stick_does_not_lurch(pilot, commands):
    pilot.arm()
    pilot.move(left_right=1.0)
    assert pilot.press("mode")[1:] == [ModeChanged(Mode.CYLINDRICAL), NEUTRAL]
    assert commands(pilot.release("mode")) == []
    pilot.let_go("left_right")
    assert commands(pilot.move(left_right=1.0)) != []


# The arbiter.


def test_neutral_is_given_when_the_arbiter_waits_for_it(pilot):
    pilot.connect()
    assert pilot.hear(neutral_required=True) == [NEUTRAL]


def test_neutral_is_not_streamed(pilot):
    pilot.connect()
    out = []
    for _ in range(100):
        pilot.now += 0.01
        out += pilot.hear(neutral_required=True)
    assert 1 <= len(out) <= 6


@pytest.mark.parametrize("axis", ["left_forward", "right_right"])
def test_no_neutral_while_a_control_is_deflected(pilot, axis):
    pilot.connect()
    pilot.move(**{axis: 1.0})
    assert pilot.hear(neutral_required=True) == []


def test_no_neutral_for_a_pad_that_is_not_there(pilot):
    assert pilot.hear(neutral_required=True) == []
    pilot.connect()
    pilot.wait(0.7)
    assert pilot.hear(neutral_required=True) == []


def test_no_neutral_after_a_refused_frame_until_a_valid_one(pilot):
    pilot.connect()
    pilot.send(replace(pilot.frame(), axes=[]))
    assert pilot.hear(neutral_required=True) == []
    pilot.move()
    assert pilot.hear(neutral_required=True) == [], "one frame may be wild"
    pilot.move()
    assert pilot.hear(neutral_required=True) == [NEUTRAL]


def test_no_neutral_while_latched_since_the_reset_would_ask_again(pilot):
    pilot.connect()
    assert pilot.hear(estop=True, neutral_required=True) == []


@pytest.mark.parametrize(
    "said",
    [{"owner": "console"}, {"estop": True}, {"fault": True}, {"neutral_required": True}],
    ids=str,
)
def test_what_the_arbiter_says_ends_motion_and_asks_for_rest(pilot, commands, said):
    pilot.arm()
    pilot.move(left_forward=1.0)
    assert NEUTRAL in pilot.hear(**said)
    assert commands(pilot.move()) == []
    pilot.hear()
    assert commands(pilot.move()) == []
    pilot.let_go("left_forward")
    assert commands(pilot.move(left_forward=1.0)) != []


def test_D5_first_press_after_idle_counts_whatever_the_arbiter_said_before(pilot, commands):
    """The lease may be somebody else's or free: a pad at rest has nothing to let go of."""
    pilot.arm()
    for said in ({"owner": "console"}, {"neutral_required": True}, {}):
        pilot.hear(**said)
        assert commands(pilot.press("pose_deployed")) != []
        pilot.release("pose_deployed")


@pytest.mark.parametrize("latch", [{"estop": True}, {"fault": True}])
def test_D4_nothing_arms_while_a_latch_is_set(pilot, commands, latch):
    pilot.connect()
    pilot.hear(**latch)
    pilot.press("deadman")
    assert commands(pilot.move(left_forward=1.0)) == []
    pilot.let_go("left_forward")
    pilot.hear()
    pilot.hold(2)
    assert commands(pilot.move(left_forward=1.0)) != []


@pytest.mark.parametrize("owner", ["", "teleop"])
def test_arbiter_that_is_content_changes_nothing(pilot, commands, owner):
    pilot.arm()
    pilot.move(left_forward=1.0)
    assert pilot.hear(owner=owner) == []
    assert commands(pilot.move()) != []


# Life.


def test_every_tick_beats_and_says_whether_the_pad_is_there(pilot):
    assert pilot.core.tick(pilot.now) == [Heartbeat(False)]
    pilot.connect()
    assert pilot.core.tick(pilot.now) == [Heartbeat(True)]


@pytest.mark.parametrize("moving", [True, False])
def test_D6_leaving_says_neutral_and_absent(pilot, moving):
    pilot.arm()
    pilot.move(left_forward=float(moving))
    assert pilot.core.close(pilot.now) == [NEUTRAL, Heartbeat(False)]
