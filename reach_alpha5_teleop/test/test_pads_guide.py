from __future__ import annotations

import pytest

from reach_alpha5_teleop import profiles
from reach_alpha5_teleop.calibrator.guide import Guide, Tone
from reach_alpha5_teleop.calibrator.questions import QUESTIONS, Kind
from reach_alpha5_teleop.calibrator.writing import profile_text
from reach_alpha5_teleop.pad import JoyFrame
from reach_alpha5_teleop.profile import load

KINDS = {question.key: question.kind for question in QUESTIONS}

AXES_OF = {
    "forward": "left_forward",
    "right": "left_right",
    "down": "right_back",
    "wrist": "right_right",
    "faster": "right_trigger",
    "slower": "left_trigger",
}
"""What the profiles that come with the package call the axes that the calibrator asks for."""


class User:
    """Answers the calibrator with a pad whose profile is known."""

    def __init__(self, name="xbox_game_controller"):
        self.profile = profiles.find(name)
        self.now = 50.0
        self.guide = Guide(self.now)
        self.axes = [0.0] * min(self.profile.axis_counts)
        self.buttons = [0] * min(self.profile.button_counts)
        for spec in self.profile.axes.values():
            self.axes[spec.index] = spec.rest
        self.said = self.guide.start()

    def hold(self, seconds=0.7):
        """Leave the controls as they are for a while; return what is said."""
        said = []
        for _ in range(round(seconds / 0.02)):
            self.now += 0.02
            said += self.guide.on_frame(JoyFrame(tuple(self.axes), tuple(self.buttons)), self.now)
            said += self.guide.tick(self.now)
        self.said += said
        return said

    def enter(self, line):
        said = self.guide.answer(line, self.now)
        self.said += said
        return said

    def connect(self):
        self.hold(1.2)
        return self

    @property
    def asked(self):
        """Key of the question that was asked last."""
        return [say.key for say in self.said if say.tone is Tone.ASK][-1]

    def press(self, *places):
        for place in places:
            self.buttons[place] = 1
        said = self.hold(0.1)
        for place in places:
            self.buttons[place] = 0
        return said + self.hold()

    def push(self, index, to, back=None):
        """Move an axis, slowly enough to be seen, and let go of it."""
        rest = self.axes[index]
        said = []
        for part in (0.3, 0.7, 1.0):
            self.axes[index] = rest + (to - rest) * part
            said += self.hold(0.06)
        self.axes[index] = rest if back is None else back
        return said + self.hold()

    def move(self, key):
        """Move the axis that the profile has for a question, all the way its plus way."""
        spec = self.profile.axes[AXES_OF[key]]
        return self.push(spec.index, -1.0 if spec.invert else 1.0)

    def reply(self):
        """Answer the question that was asked as the profile has it."""
        key = self.asked
        if KINDS[key] is Kind.BUTTON:
            if key not in self.profile.buttons:
                return self.enter("s")
            return self.press(self.profile.buttons[key])
        if AXES_OF[key] not in self.profile.axes:
            return self.enter("s")
        return self.move(key)

    def reply_until(self, key):
        while self.asked != key:
            self.reply()
        return self


def refusals(said):
    return [say.text for say in said if say.tone is Tone.REFUSE]


@pytest.mark.parametrize("name", profiles.names())
def test_a_pad_that_is_played_as_a_profile_has_it_gives_that_profile(name):
    user = User(name).connect()
    for _ in QUESTIONS:
        user.reply()
    assert refusals(user.said) == []
    made = load(profile_text("mine", user.guide.calibration))
    known = user.profile
    assert made.name == "mine"
    assert made.axis_counts == {min(known.axis_counts)}
    assert made.button_counts == {min(known.button_counts)}
    assert made.buttons == known.buttons
    assert made.modes == known.modes
    for key, axis in AXES_OF.items():
        if axis in known.axes:
            assert made.axes[key] == known.axes[axis]
    renamed = {
        section: {key: AXES_OF[axis] for key, axis in bound.items()}
        for section, bound in made.bindings.items()
    }
    assert renamed == known.bindings


def test_nothing_is_made_before_the_last_question_is_answered():
    user = User().connect()
    for _ in QUESTIONS:
        assert user.guide.calibration is None
        user.reply()
    assert user.guide.calibration is not None


def test_D3_a_trigger_that_reads_0_until_it_is_touched_is_asked_for_again():
    user = User("xbox_joy_node")
    spec = user.profile.axes["right_trigger"]
    user.axes[spec.index] = 0.0
    user.connect().reply_until("faster")
    user.push(spec.index, -1.0, back=1.0)
    user.hold(2.0)
    assert user.asked == "faster"
    assert "once more" in user.said[-2].text
    user.push(spec.index, -1.0)
    assert user.asked == "slower"
    answer = user.guide._answers["faster"]
    assert (answer.rest, answer.invert) == (1.0, True)


def test_D3_a_trigger_that_is_held_for_long_is_not_taken_for_one_that_rests_there():
    user = User("xbox_joy_node").connect().reply_until("faster")
    spec = user.profile.axes["right_trigger"]
    for value in (-1.0, 1.0):
        user.axes[spec.index] = value
        assert "once more" in user.hold(2.5)[0].text
    user.move("faster")
    assert user.asked == "slower"
    assert user.guide._answers["faster"].rest == 1.0


def test_a_trigger_that_is_held_as_a_hand_does_is_taken_at_once():
    user = User("xbox_joy_node").connect().reply_until("faster")
    spec = user.profile.axes["right_trigger"]
    user.axes[spec.index] = -1.0
    assert user.hold(1.5) == []
    user.axes[spec.index] = 1.0
    user.hold()
    assert user.asked == "slower"


def test_a_stick_that_is_held_is_judged_when_it_is_let_go_of():
    user = User().connect().reply_until("forward")
    user.axes[1] = 1.0
    assert refusals(user.hold(3.0)) == []
    assert user.asked == "forward"
    user.axes[1] = 0.0
    user.hold()
    assert user.asked == "right"


def test_a_stick_that_does_not_return_to_an_exact_0_keeps_its_rest():
    user = User()
    user.axes[1] = 0.04
    user.connect().reply_until("forward")
    user.push(1, 1.0)
    assert user.guide._answers["forward"].rest == 0.04


def test_a_button_that_is_down_from_the_start_is_waited_for_and_spoken_of():
    user = User()
    user.buttons[3] = 1
    said = user.hold(6.0)
    assert user.asked == "rest"
    assert "button 3 is down" in said[-1].text
    assert "sticky_buttons" in said[-1].text
    user.buttons[3] = 0
    user.hold(1.2)
    assert user.asked == QUESTIONS[0].key


@pytest.mark.parametrize(
    ("question", "do", "why"),
    [
        ("deadman", lambda user: user.press(3, 4), "buttons 3 and 4 went down"),
        ("deadman", lambda user: user.push(1, 1.0), "that was axis 1; this takes a button"),
        ("estop", lambda user: user.press(9), "button 9 is deadman already"),
        ("forward", lambda user: user.press(2), "that was button 2; this takes a stick"),
        ("forward", lambda user: user.push(1, 0.6), "went 60% of its way only"),
        ("right", lambda user: user.push(1, 1.0), "axis 1 is forward already"),
    ],
)
def test_an_answer_that_is_not_clear_is_refused_and_asked_again(question, do, why):
    user = User().connect().reply_until(question)
    (text,) = refusals(do(user))
    assert why in text
    assert user.asked == question
    assert question not in user.guide._answers
    user.reply()
    assert user.asked != question


def test_two_axes_that_move_together_are_refused():
    user = User().connect().reply_until("forward")
    user.axes[0], user.axes[1] = 0.9, 0.9
    user.hold(0.1)
    user.axes[0], user.axes[1] = 0.0, 0.0
    assert "axes 0 and 1 moved together" in refusals(user.hold())[0]


def test_two_presses_in_quick_succession_are_one_answer_and_refused():
    user = User().connect()
    for place in (3, 4):
        user.buttons[place] = 1
        user.hold(0.1)
        user.buttons[place] = 0
        user.hold(0.2)
    assert "buttons 3 and 4 went down" in refusals(user.hold())[0]


def test_an_axis_that_goes_both_ways_is_refused():
    user = User().connect().reply_until("forward")
    for value in (1.0, -1.0, 0.0):
        user.axes[1] = value
        user.hold(0.1)
    assert "went both ways" in refusals(user.hold())[0]


def test_the_thumb_may_take_the_other_axis_of_the_stick_along_a_little():
    user = User().connect().reply_until("forward")
    user.axes[0], user.axes[1] = 0.3, 1.0
    user.hold(0.1)
    user.axes[0], user.axes[1] = 0.0, 0.0
    assert refusals(user.hold()) == []
    assert user.asked == "right"


def test_what_is_needed_cannot_be_skipped_and_what_is_optional_can():
    user = User().connect()
    assert "needed" in user.enter("s")[0].text
    assert user.asked == "deadman"
    user.reply_until("reset")
    user.enter("s")
    assert user.asked == "mode"
    assert "reset" not in user.guide._answers


def test_b_goes_back_and_forgets_the_answer():
    user = User().connect().reply_until("forward")
    user.enter("b")
    assert user.asked == "estop"
    user.press(7)
    assert user.guide._answers["estop"] == 7


def test_q_leaves_without_a_profile():
    user = User().connect()
    user.enter("q")
    assert user.guide.has_left
    assert user.guide.calibration is None


def test_U5_arrays_that_change_their_length_begin_it_again():
    user = User().connect().reply_until("right")
    user.axes.append(0.0)
    assert "6 axes and 15 buttons and has 7" in refusals(user.hold(0.1))[0]
    assert user.guide._answers == {}
    user.hold(1.2)
    assert user.asked == "deadman"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2.0])
def test_a_frame_that_no_pad_sends_is_no_answer(value):
    user = User().connect().reply_until("forward")
    user.axes[1] = value
    user.hold(0.2)
    user.axes[1] = 0.0
    assert user.hold() == []
    assert user.asked == "forward"


def test_silence_is_spoken_of():
    user = User()
    said = []
    for _ in range(500):
        user.now += 0.02
        said += user.guide.tick(user.now)
    assert [say.text.split(":")[0] for say in said] == ["no pad is heard"] * 2


def test_a_trigger_that_rests_almost_at_its_end_is_taken_for_one_that_rests_there():
    user = User("xbox_joy_node")
    spec = user.profile.axes["right_trigger"]
    user.axes[spec.index] = 0.95
    user.connect().reply_until("faster")
    user.axes[spec.index] = 1.0
    assert user.hold() == []
    user.push(spec.index, -1.0)
    assert user.guide._answers["faster"].rest == 1.0
