from __future__ import annotations

import pytest

from reach_alpha5_common.command import STILL, ArmInput, Cartesian, Cylindrical, Pose
from reach_alpha5_teleop import profiles
from reach_alpha5_teleop.mapping import Mode, interpret
from reach_alpha5_teleop.pad import PadState

LIFETIME = 0.4
PROFILE = profiles.find("xbox_game_controller")


def intent(*held: str, mode: Mode = Mode.CARTESIAN, toggled: float = 0.0, **axes: float):
    """Return what the pad asks for with these buttons held and these axes moved."""
    values = {**dict.fromkeys(PROFILE.axes, 0.0), **axes}
    touched = frozenset(name for name, value in values.items() if value)
    down = frozenset(held)
    state = PadState(values, touched, down, frozenset(), down)
    return interpret(PROFILE, state, mode, LIFETIME, toggled)


@pytest.mark.parametrize(
    ("axis", "mode", "expected"),
    [
        ("left_forward", Mode.CARTESIAN, Cartesian(x=0.5)),
        ("left_right", Mode.CARTESIAN, Cartesian(y=0.5)),
        ("right_back", Mode.CARTESIAN, Cartesian(z=0.5)),
        ("left_forward", Mode.CYLINDRICAL, Cylindrical(radial=0.5)),
        ("left_right", Mode.CYLINDRICAL, Cylindrical(azimuth=0.5)),
        ("right_back", Mode.CYLINDRICAL, Cylindrical(vertical=0.5)),
    ],
)
def test_B3_B4_stick_drives_its_axis_and_no_other(axis, mode, expected):
    command = intent(mode=mode, **{axis: 0.5}).command
    assert getattr(command, mode.value) == expected
    assert command.arm_input == ArmInput[mode.name]
    assert command.problem() is None
    assert not command.moves_gripper


def test_B2_one_input_in_a_command_whatever_the_sticks_do():
    for mode in Mode:
        command = intent(mode=mode, left_forward=1.0, left_right=-1.0, right_back=0.3).command
        assert command.problem() is None


@pytest.mark.parametrize(
    ("button", "pose"), [("pose_stowed", Pose.STOWED), ("pose_deployed", Pose.DEPLOYED)]
)
def test_B5_pose_button_asks_for_the_pose_at_full_velocity(button, pose):
    command = intent(button).command
    assert command.arm_input == ArmInput.KNOWN_POSE
    assert (command.known_pose.pose, command.known_pose.velocity) == (pose, 1.0)
    assert command.problem() is None


@pytest.mark.parametrize(("button", "grip"), [("jaws_open", 1.0), ("jaws_close", -1.0)])
def test_jaws_move_without_an_arm_input(button, grip):
    command = intent(button).command
    assert command.gripper_velocities.grip == grip
    assert command.arm_input == ArmInput.NONE


def test_wrist_turns_with_the_right_stick_in_any_mode():
    for mode in Mode:
        assert intent(mode=mode, right_right=-0.5).command.gripper_velocities.rotate == -0.5


def test_jaws_and_wrist_go_on_beside_a_pose():
    command = intent("pose_deployed", "jaws_close", right_right=0.5).command
    assert command.moves_arm
    assert (command.gripper_velocities.grip, command.gripper_velocities.rotate) == (-1.0, 0.5)


@pytest.mark.parametrize(
    ("held", "axes"),
    [
        (("pose_deployed",), {"left_forward": 0.01}),
        (("pose_stowed", "pose_deployed"), {}),
        (("jaws_open", "jaws_close"), {}),
        (("jaws_open", "jaws_close"), {"left_forward": 1.0}),
    ],
)
def test_controls_that_contradict_each_other_are_still(held, axes):
    result = intent(*held, **axes)
    assert result.ambiguous
    assert result.command == STILL


@pytest.mark.parametrize(
    ("faster", "slower", "expected"),
    [
        (0.0, 0.0, 0.0),
        (1.0, 0.0, 1.0),
        (0.0, 1.0, -1.0),
        (1.0, 1.0, 0.0),
        (-1.0, 0.0, 0.0),
        (0.0, -1.0, 0.0),
    ],
)
def test_B6_triggers_scale_the_speed(faster, slower, expected):
    command = intent(left_forward=1.0, right_trigger=faster, left_trigger=slower).command
    assert command.speed_modifier == expected


def test_triggers_alone_ask_for_nothing():
    result = intent(right_trigger=1.0)
    assert result.command == STILL
    assert result.at_rest


def test_motion_ends_by_itself_and_a_neutral_command_stands():
    assert intent(left_forward=1.0).command.lifetime == LIFETIME
    assert intent("jaws_open").command.lifetime == LIFETIME
    assert intent().command == STILL


@pytest.mark.parametrize("button", ["pose_stowed", "pose_deployed", "jaws_open", "jaws_close"])
def test_held_button_that_moves_something_is_not_at_rest(button):
    assert not intent(button).at_rest


@pytest.mark.parametrize("axis", ["left_forward", "left_right", "right_back", "right_right"])
def test_deflected_stick_is_not_at_rest(axis):
    assert not intent(**{axis: 0.01}).at_rest


def test_deadman_estop_and_verbs_move_nothing():
    result = intent("deadman", "estop", "reset", "mode")
    assert result.command == STILL
    assert result.at_rest


@pytest.mark.parametrize("held", [(), ("jaws_open",), ("pose_stowed",)])
def test_every_number_is_a_float_since_messages_take_no_other(held):
    command = intent(*held, left_forward=0.0 if held else 1.0).command
    payloads = (
        command.gripper_velocities,
        command.cartesian,
        command.cylindrical,
        command.known_pose,
    )
    numbers = [
        getattr(payload, name)
        for payload in payloads
        for name in payload.__slots__
        if name not in ("pose", "name", "while_holding")
    ]
    assert {type(number) for number in numbers} == {float}
