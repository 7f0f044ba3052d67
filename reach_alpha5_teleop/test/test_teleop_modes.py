"""Pose mode, wrist mode, and jaws that run by themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reach_alpha5_common.command import STILL, GripperVelocities, Pose
from reach_alpha5_teleop.outputs import Publish

NEUTRAL = Publish(STILL)


@pytest.mark.parametrize(("push", "pose"), [(1.0, Pose.DEPLOYED), (-1.0, Pose.STOWED)])
def test_B5_pose_mode_runs_to_the_pose_while_the_stick_is_over(pilot_with, commands, push, pose):
    pilot = pilot_with(pose={"run": "left_forward"}, modes=["pose", "cartesian"])
    pilot.arm()
    (slow,) = commands(pilot.move(left_forward=0.5 * push))
    (fast,) = commands(pilot.move(left_forward=push))
    assert {slow.known_pose.pose, fast.known_pose.pose} == {pose}
    assert 0.0 < slow.known_pose.velocity < fast.known_pose.velocity == 1.0
    assert pilot.move(left_forward=0.0) == [NEUTRAL]


def test_wrist_mode_turns_the_wrist_and_nothing_else(pilot_with, commands):
    pilot = pilot_with(wrist_mode={"rotate": "left_right"}, modes=["wrist", "cartesian"])
    pilot.arm()
    (command,) = commands(pilot.move(left_right=1.0, left_forward=1.0))
    assert command.gripper_velocities == GripperVelocities(rotate=1.0)
    assert not command.moves_arm


def test_wrist_mode_leaves_the_arm_where_it_is_whatever_pose_button_is_held(pilot_with, commands):
    pilot = pilot_with(wrist_mode={"rotate": "left_right"}, modes=["wrist", "cartesian"])
    pilot.arm()
    assert commands(pilot.press("pose_deployed")) == []


def test_two_sticks_that_turn_the_wrist_contradict_each_other(pilot_with, commands):
    pilot = pilot_with(wrist_mode={"rotate": "left_right"}, modes=["wrist", "cartesian"])
    pilot.arm()
    assert commands(pilot.move(right_right=0.5)) != [], "the one of every mode turns it as well"
    assert pilot.move(left_right=0.5) == [NEUTRAL]


def test_wrist_may_be_turned_by_one_stick_in_its_own_mode_and_in_all_others(pilot_with, commands):
    pilot = pilot_with(wrist_mode={"rotate": "right_right"}, modes=["wrist", "cartesian"])
    pilot.arm()
    (command,) = commands(pilot.move(right_right=1.0))
    assert command.gripper_velocities.rotate == 1.0


def test_jaws_toggle_closes_stops_and_opens(pilot_with, commands):
    pilot = pilot_with(buttons={"jaws_toggle": 7})
    pilot.arm()
    grips = []
    for _ in range(4):
        pilot.tap("jaws_toggle")
        grips.append([c.gripper_velocities.grip for c in commands(pilot.hold(3))])
    assert grips == [[-1.0] * 3, [], [1.0] * 3, []]


def test_D7_jaws_toggle_ends_with_the_first_frame_of_a_press_and_one_neutral(pilot_with):
    pilot = pilot_with(buttons={"jaws_toggle": 7})
    pilot.arm()
    pilot.tap("jaws_toggle")
    pilot.held.add("jaws_toggle")
    assert pilot.hold(1) == [NEUTRAL]
    pilot.held.clear()
    pilot.held.add("deadman")
    assert pilot.hold(5) == [], "that short press did what it had to"


@pytest.mark.parametrize(
    "end",
    [
        lambda pilot: pilot.release("deadman"),
        lambda pilot: pilot.press("estop"),
        lambda pilot: pilot.press("mode"),
        lambda pilot: pilot.press("jaws_close"),
        lambda pilot: pilot.hear(owner="console"),
        lambda pilot: pilot.hear(fault=True),
        lambda pilot: pilot.hear(neutral_required=True),
        lambda pilot: pilot.wait(0.7),
        lambda pilot: pilot.core.on_pad_gone(pilot.now),
        lambda pilot: pilot.send(replace(pilot.frame(), axes=[])),
    ],
)
def test_whatever_disarms_ends_jaws_that_run_by_themselves(pilot_with, commands, end):
    pilot = pilot_with(buttons={"jaws_toggle": 7})
    pilot.arm()
    pilot.tap("jaws_toggle")
    assert NEUTRAL in end(pilot)
    pilot.held.clear()
    pilot.hear()
    pilot.settle()
    assert commands(pilot.press("deadman") + pilot.hold(3)) == []
    (command,) = commands(pilot.jump(**{next(iter(pilot.values)): 0.5}))
    assert not command.gripper_velocities.grip


def test_jaws_toggle_without_the_deadman_starts_nothing(pilot_with, commands):
    pilot = pilot_with(buttons={"jaws_toggle": 7})
    pilot.connect()
    assert commands(pilot.tap("jaws_toggle") + pilot.press("deadman") + pilot.hold(5)) == []


def test_jaws_toggle_while_a_stick_keeps_the_pad_from_being_armed_starts_nothing(
    pilot_with, commands
):
    pilot = pilot_with(buttons={"jaws_toggle": 7})
    pilot.connect()
    pilot.move(left_forward=0.5)
    pilot.press("deadman")
    assert commands(pilot.tap("jaws_toggle") + pilot.let_go("left_forward")) == []
    assert commands(pilot.move(left_forward=0.5)) != []
