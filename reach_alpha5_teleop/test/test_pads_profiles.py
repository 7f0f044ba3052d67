"""Golden frames: what the profiles make of the frames that the pads are known to send.

The tables here were written from the sources that each profile names, not from the profiles.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from reach_alpha5_common.command import ArmInput, Pose
from reach_alpha5_teleop import profiles
from reach_alpha5_teleop.core import ArbiterView, TeleopConfig, TeleopCore
from reach_alpha5_teleop.outputs import EStopPressed, Publish, ResetPressed
from reach_alpha5_teleop.pad import JoyFrame


@dataclass(frozen=True)
class Layout:
    """Where a pad has its controls; sticks: left and forward are plus.

    `south`, `east`, `west` and `north` are the four buttons under the right thumb by where their
    function lies in SDL's order; `triggers` are left and right, each with its rest, or None.
    """

    lengths: tuple[int, int]
    sticks: tuple[int, int, int, int]
    triggers: tuple[int, int] | None
    trigger_rest: float
    south: int
    east: int
    west: int
    north: int
    left: int
    right: int
    back: int
    start: int
    more_lengths: tuple[tuple[int, int], ...] = field(default=())


LAYOUTS = {
    "xbox_game_controller": Layout(
        (6, 21), (0, 1, 2, 3), (4, 5), 0.0, 0, 1, 2, 3, 9, 10, 4, 6, ((6, 15),)
    ),
    "sdl_hidapi_joy_node": Layout(
        (6, 16), (0, 1, 2, 3), (4, 5), 1.0, 0, 1, 2, 3, 9, 10, 4, 6, ((6, 17), (6, 20))
    ),
    "xbox_joy_node": Layout(
        (8, 11), (0, 1, 3, 4), (2, 5), 1.0, 0, 1, 2, 3, 4, 5, 6, 7, ((8, 12),)
    ),
    "xbox_bluetooth_joy_node": Layout(
        (8, 16), (0, 1, 2, 3), (5, 4), 1.0, 0, 1, 3, 4, 6, 7, 10, 11, ((8, 15),)
    ),
    "playstation_joy_node": Layout(
        (8, 13), (0, 1, 3, 4), (2, 5), 1.0, 0, 1, 3, 2, 4, 5, 8, 9
    ),
    "switch_pro_joy_node": Layout(
        (6, 14), (0, 1, 2, 3), None, 0.0, 0, 1, 3, 2, 5, 6, 9, 10
    ),
    "logitech_direct_joy_node": Layout(
        (6, 12), (0, 1, 2, 3), None, 0.0, 1, 2, 0, 3, 4, 5, 8, 9
    ),
    "steam_deck_joy_node": Layout(
        (10, 24), (0, 1, 2, 3), (9, 8), 1.0, 3, 4, 5, 6, 7, 8, 11, 12
    ),
}  # fmt: skip


class Hand:
    """Holds a pad and feeds a core with its raw frames, 50 a second."""

    def __init__(self, name, lengths=None):
        self.layout = LAYOUTS[name]
        axes, buttons = lengths or self.layout.lengths
        self.axes = [0.0] * axes
        self.buttons = [0] * buttons
        for index in self.layout.triggers or ():
            self.axes[index] = self.layout.trigger_rest
        self.core = TeleopCore(profiles.find(name), TeleopConfig())
        self.now = 200.0

    def hold(self, frames=1):
        out = []
        for _ in range(frames):
            self.now += 0.02
            frame = JoyFrame(tuple(self.axes), tuple(self.buttons), round(self.now * 1e9))
            out += self.core.on_joy(frame, self.now)
        return out

    def arm(self):
        """Bring the pad in, untouched, and hold the deadman."""
        self.hold(60)
        self.buttons[self.layout.left] = 1
        self.hold(5)
        return self

    def axis(self, index, value, frames=10):
        self.axes[index] = value
        return self.hold(frames)

    def press(self, button, frames=10):
        self.buttons[button] = 1
        return self.hold(frames)

    def release(self, button, frames=10):
        self.buttons[button] = 0
        return self.hold(frames)


def motions(out):
    return [o.command for o in out if isinstance(o, Publish) and not o.command.is_neutral]


def stops(out):
    return [o.command for o in out if isinstance(o, Publish) and o.command.is_neutral]


@pytest.fixture(params=sorted(LAYOUTS))
def hand(request):
    return Hand(request.param).arm()


def test_every_profile_that_comes_with_the_package_has_golden_frames():
    assert sorted(LAYOUTS) == profiles.names()


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_both_nodes_say_whose_layout_a_profile_is(name):
    assert profiles.find(name).node in name or profiles.find(name).node == "game_controller_node"


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_D3_an_untouched_pad_says_nothing_but_that_it_is_there(name):
    hand = Hand(name)
    assert stops(hand.hold(100)) + motions(hand.hold(100)) == []
    assert hand.core.present
    assert hand.core.refusals.total == 0


@pytest.mark.parametrize(
    ("stick", "value", "axis", "sign"),
    [(1, 1.0, "x", 1), (1, -1.0, "x", -1), (0, 1.0, "y", -1), (0, -1.0, "y", 1),
     (3, 1.0, "z", -1), (3, -1.0, "z", 1)],
)  # fmt: skip
def test_B3_sticks_move_the_tool_where_they_point(hand, stick, value, axis, sign):
    commands = motions(hand.axis(hand.layout.sticks[stick], value))
    assert commands[-1].arm_input is ArmInput.CARTESIAN
    values = {name: getattr(commands[-1].cartesian, name) for name in "xyz"}
    assert values.pop(axis) == sign
    assert not any(values.values())
    assert commands[-1].speed_modifier == 0.0
    assert len(stops(hand.axis(hand.layout.sticks[stick], 0.0))) == 1


@pytest.mark.parametrize(
    ("stick", "value", "axis", "sign"),
    [(1, 1.0, "radial", 1), (0, -1.0, "azimuth", 1), (3, -1.0, "vertical", 1)],
)
def test_B4_cylindrical_mode_is_one_press_away(hand, stick, value, axis, sign):
    hand.press(hand.layout.back)
    hand.release(hand.layout.back)
    commands = motions(hand.axis(hand.layout.sticks[stick], value))
    assert commands[-1].arm_input is ArmInput.CYLINDRICAL
    assert getattr(commands[-1].cylindrical, axis) == sign


@pytest.mark.parametrize(("value", "pose"), [(1.0, Pose.DEPLOYED), (-1.0, Pose.STOWED)])
def test_B5_in_pose_mode_the_stick_runs_to_the_pose(hand, value, pose):
    for _ in range(2):
        hand.press(hand.layout.back)
        hand.release(hand.layout.back)
    commands = motions(hand.axis(hand.layout.sticks[1], value))
    assert commands[-1].arm_input is ArmInput.KNOWN_POSE
    assert commands[-1].known_pose.pose is pose
    assert commands[-1].known_pose.velocity == 1.0
    assert len(stops(hand.axis(hand.layout.sticks[1], 0.0))) == 1


def test_B1_in_wrist_mode_the_left_stick_turns_the_wrist_alone(hand):
    for _ in range(3):
        hand.press(hand.layout.back)
        hand.release(hand.layout.back)
    commands = motions(hand.axis(hand.layout.sticks[0], -1.0))
    assert not commands[-1].moves_arm
    assert commands[-1].gripper_velocities.rotate == 1.0


@pytest.mark.parametrize(("value", "sign"), [(-1.0, 1), (1.0, -1)])
def test_B1_right_stick_turns_the_wrist(hand, value, sign):
    commands = motions(hand.axis(hand.layout.sticks[2], value))
    assert not commands[-1].moves_arm
    assert commands[-1].gripper_velocities.rotate == sign


def test_B6_triggers_make_the_arm_faster_and_slower(hand):
    if hand.layout.triggers is None:
        pytest.skip("this pad's triggers are buttons without travel")
    left, right = hand.layout.triggers
    hand.axis(hand.layout.sticks[1], 1.0)
    assert motions(hand.axis(right, -1.0))[-1].speed_modifier == 1.0
    hand.axis(right, hand.layout.trigger_rest)
    assert motions(hand.axis(left, -1.0))[-1].speed_modifier == -1.0
    assert motions(hand.axis(left, hand.layout.trigger_rest))[-1].speed_modifier == 0.0


@pytest.mark.parametrize("name", sorted(n for n, it in LAYOUTS.items() if it.triggers))
def test_D3_triggers_that_read_0_until_they_are_touched_pull_nothing(name):
    hand = Hand(name)
    left, right = hand.layout.triggers
    hand.axes[left] = hand.axes[right] = 0.0
    hand.arm()
    assert motions(hand.axis(hand.layout.sticks[1], 1.0))[-1].speed_modifier == 0.0
    hand.axis(right, hand.layout.trigger_rest, frames=100)
    assert motions(hand.axis(right, -1.0))[-1].speed_modifier == 1.0


@pytest.mark.parametrize(
    ("button", "check"),
    [
        ("south", lambda c: c.known_pose.pose is Pose.DEPLOYED),
        ("west", lambda c: c.known_pose.pose is Pose.STOWED),
        ("right", lambda c: c.gripper_velocities.grip == -1.0),
        ("north", lambda c: c.gripper_velocities.grip == 1.0),
    ],
)
def test_buttons_do_the_same_on_every_pad(hand, button, check):
    place = getattr(hand.layout, button)
    assert check(motions(hand.press(place))[-1])
    assert len(stops(hand.release(place))) == 1


def test_U4_letting_the_deadman_go_stops_once(hand):
    hand.axis(hand.layout.sticks[1], 1.0)
    out = hand.release(hand.layout.left)
    assert len(stops(out)) == 1
    assert motions(out) == []


def test_D4_estop_is_the_same_button_on_every_pad_and_start_resets(hand):
    hand.axis(hand.layout.sticks[1], 1.0)
    out = hand.press(hand.layout.east)
    assert out.count(EStopPressed()) == 1
    assert motions(out) == []
    hand.axis(hand.layout.sticks[1], 0.0)
    hand.release(hand.layout.east)
    hand.release(hand.layout.left)
    hand.core.on_arbiter(ArbiterView(estop=True), hand.now)
    assert hand.press(hand.layout.start).count(ResetPressed()) == 1


@pytest.mark.parametrize(
    ("name", "lengths"),
    [(name, lengths) for name, it in LAYOUTS.items() for lengths in it.more_lengths],
)
def test_other_lengths_of_a_pad_move_the_same(name, lengths):
    hand = Hand(name, lengths).arm()
    assert motions(hand.axis(hand.layout.sticks[1], 1.0))[-1].cartesian.x == 1.0


@pytest.mark.parametrize("name", sorted(LAYOUTS))
@pytest.mark.parametrize("change", [(-1, 0), (1, 0), (0, -1), (0, 1)])
def test_U5_arrays_that_are_short_or_grow_move_nothing(name, change):
    hand = Hand(name).arm()
    assert motions(hand.axis(hand.layout.sticks[1], 1.0))
    for values, by in ((hand.axes, change[0]), (hand.buttons, change[1])):
        if by < 0:
            values.pop()
        values += [0] * max(0, by)
    out = hand.hold(100)
    assert len(stops(out)) == 1
    assert motions(out) == []
