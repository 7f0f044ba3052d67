from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reach_alpha5_common.refusal import Problem
from reach_alpha5_teleop import profiles
from reach_alpha5_teleop.detect import GAP, SETTLE, Detector
from reach_alpha5_teleop.pad import JoyFrame
from reach_alpha5_teleop.profile import Profile

PERIOD = 0.02


def at_rest(profile, lengths=None):
    """Return the frame of a pad that nobody touches."""
    axes, buttons = lengths or (min(profile.axis_counts), min(profile.button_counts))
    values = [0.0] * axes
    for spec in profile.axes.values():
        values[spec.index] = spec.rest
    return JoyFrame(values, [0] * buttons)


def with_axis(frame, index, value):
    axes = list(frame.axes)
    axes[index] = value
    return JoyFrame(axes, frame.buttons)


class Looking:
    """A detector that looks at a pad, 50 frames a second."""

    def __init__(self, known):
        self.detector = Detector(known)
        self.now = 10.0

    def see(self, frame, seconds=SETTLE + 0.1):
        """Show a frame for some time; return what was found last."""
        found = None
        for _ in range(round(seconds / PERIOD)):
            self.now += PERIOD
            found = self.detector.see(frame, self.now)
            if isinstance(found, Profile):
                break
        return found


@pytest.fixture
def looking():
    return Looking(profiles.shipped())


@pytest.mark.parametrize("name", profiles.names())
def test_every_pad_that_nobody_touches_is_known(name):
    profile = profiles.find(name)
    for axes in profile.axis_counts:
        for buttons in profile.button_counts:
            found = Looking(profiles.shipped()).see(at_rest(profile, (axes, buttons)))
            assert found == profile


@pytest.mark.parametrize("name", profiles.names())
def test_D3_a_pad_whose_triggers_read_0_until_they_are_touched_is_known(looking, name):
    frame = at_rest(profiles.find(name))
    untouched = JoyFrame([0.0] * len(frame.axes), frame.buttons)
    assert looking.see(untouched) == profiles.find(name)


def test_D3_a_single_frame_is_too_little(looking):
    assert looking.detector.see(at_rest(profiles.find("xbox_joy_node")), 1.0) is None


def test_arrays_that_fit_nothing_are_not_spoken_of_at_once(looking):
    assert looking.detector.see(JoyFrame([0.0] * 3, [0] * 5), 1.0) is None


def test_a_pad_that_no_profile_is_for_is_told_what_to_do(looking):
    problem = looking.see(JoyFrame([0.0] * 3, [0] * 5))
    assert problem.code == "unknown_pad"
    assert "3 axes and 5 buttons" in problem.reason
    assert "alpha5-pad make" in problem.reason


def test_a_pad_with_something_held_over_is_known_when_it_is_let_go_of(looking):
    profile = profiles.find("xbox_game_controller")
    frame = at_rest(profile)
    problem = looking.see(with_axis(frame, 1, 0.8), 2.0)
    assert problem.code == "pad_not_at_rest"
    assert "xbox_game_controller" in problem.reason
    assert looking.see(frame) == profile


@pytest.fixture
def twins():
    """Two profiles with the same array lengths that differ in what their triggers read at rest."""
    text = (profiles.folder() / "xbox_game_controller.yaml").read_text()
    one = profiles.load(text)
    other = profiles.load(
        text.replace("name: xbox_game_controller", "name: twin")
        .replace("index: 4,", "index: 4, rest: 1.0,")
        .replace("index: 5,", "index: 5, rest: 1.0,")
    )
    return one, other


def test_two_layouts_of_the_same_lengths_are_told_apart_by_their_triggers(twins):
    one, other = twins
    assert Looking(twins).see(at_rest(other)) == other
    # One of the triggers is enough.
    assert Looking(twins).see(with_axis(at_rest(one), 4, 1.0)) == other


def test_two_layouts_that_both_fit_are_named_and_neither_is_chosen(twins):
    problem = Looking(twins).see(at_rest(twins[0]), 30.0)
    assert problem.code == "ambiguous_pad"
    assert "xbox_game_controller or twin" in problem.reason
    assert "parameter `profile`" in problem.reason


def test_what_was_ambiguous_is_known_after_a_trigger_was_touched(twins):
    one, other = twins
    looking = Looking(twins)
    looking.see(at_rest(one))
    for value in (1.0, -1.0):
        looking.see(with_axis(at_rest(one), 4, value), 0.2)
    assert looking.see(at_rest(other)) == other


def test_U2_a_pad_that_comes_after_another_is_looked_at_anew(looking):
    first, second = (profiles.find(name) for name in ("xbox_joy_node", "playstation_joy_node"))
    looking.see(at_rest(first), SETTLE / 2)
    assert looking.see(at_rest(second), SETTLE / 2) is None
    assert looking.see(at_rest(second)) == second


def test_silence_begins_it_anew(looking):
    frame = at_rest(profiles.find("xbox_joy_node"))
    looking.see(frame, SETTLE / 2)
    looking.now += GAP + 0.1
    assert looking.detector.see(frame, looking.now) is None


@pytest.mark.parametrize(
    "frame",
    [
        JoyFrame([float("nan")] * 8, [0] * 11),
        JoyFrame([2.0] * 8, [0] * 11),
        JoyFrame([0.0] * 8, [2] * 11),
    ],
)
def test_a_frame_that_no_pad_sends_is_refused(looking, frame):
    assert looking.see(frame).code == "bad_frame"


FRAMES = st.builds(
    JoyFrame,
    st.lists(st.floats(width=32), max_size=12),
    st.lists(st.integers(-1, 2), max_size=26),
)


@settings(max_examples=50)
@given(st.lists(FRAMES, max_size=8))
def test_any_frames_give_a_fitting_profile_a_problem_or_nothing(frames):
    detector = Detector(profiles.shipped())
    for number, frame in enumerate(frames):
        found = detector.see(frame, number * 0.1)
        if isinstance(found, Profile):
            assert len(frame.axes) in found.axis_counts
            assert len(frame.buttons) in found.button_counts
        else:
            assert found is None or isinstance(found, Problem)
