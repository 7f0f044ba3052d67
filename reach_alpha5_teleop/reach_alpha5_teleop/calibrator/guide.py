"""The calibrator's conversation: frames and lines in, sentences and a calibration out. Pure.

Theory of operation. First the pad is let go of, and where its axes stand is learned. Then each
function is asked for in turn. An answer is what happened between two moments of rest: one axis or
one button, and nothing else. What is ambiguous is refused with a sentence, and asked again.

A trigger may read 0 until it is first touched, and somebody may hold it pulled for a while. So an
axis is taken only when it came back to where it set out from: a trigger that settles elsewhere is
asked for once more, from there.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from reach_alpha5_teleop.axes import AxisSpec, travel
from reach_alpha5_teleop.calibrator.questions import QUESTIONS, Kind, Question
from reach_alpha5_teleop.calibrator.watch import Activity, Watch
from reach_alpha5_teleop.pad import ROUNDING, JoyFrame

FIRST_REST = 1.0
"""Time [s] that the pad must be let go of at the start."""

ENOUGH = 0.8
"""Travel that a control must make, as a fraction of its full one."""

BYSTANDER = 0.35
"""Travel up to which another axis may be taken along by the same thumb."""

BACK = 0.1
"""How near to where it set out an axis must end."""

ELSEWHERE = 2.0
"""Time [s] after which a trigger that stays elsewhere may rest there: a hand lets go sooner."""

REMIND = 4.0
"""Time [s] after which a pad that is silent, or a control that is held, is spoken of."""

HELP = "Enter s to skip a question that is optional, b to go back, q to leave."


class Tone(enum.Enum):
    """How a sentence is meant."""

    ASK = "?"
    TELL = "-"
    REFUSE = "!"


@dataclass(frozen=True, slots=True)
class Say:
    """A sentence for the user; `key` is the question that it belongs to, if any."""

    tone: Tone
    text: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class LearnedAxis:
    """An axis of the pad: its place, and its rest and direction."""

    index: int
    rest: float
    invert: bool


Answer: TypeAlias = LearnedAxis | int
"""An axis, or the place of a button."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was learned: lengths of the arrays, and the answer to each question that has one."""

    axis_count: int
    button_count: int
    answers: Mapping[str, Answer]


class Guide:
    """Leads through the questions. `now` is monotonic time in seconds and never decreases."""

    def __init__(self, now: float) -> None:
        self._begin(now)
        self._has_left = False

    def _begin(self, now: float) -> None:
        self._watch = Watch()
        self._lengths: tuple[int, int] | None = None
        self._rest: tuple[float, ...] = ()
        self._number = -1
        self._answers: dict[str, Answer] = {}
        self._quiet_since = now

    @property
    def has_left(self) -> bool:
        """Whether the user wants to leave without a profile."""
        return self._has_left

    @property
    def calibration(self) -> Calibration | None:
        """What was learned, once every question is answered or skipped."""
        if self._number < len(QUESTIONS) or self._lengths is None:
            return None
        return Calibration(*self._lengths, dict(self._answers))

    def start(self) -> list[Say]:
        """Return what is said before anything else."""
        return [Say(Tone.TELL, HELP), Say(Tone.ASK, "let go of the whole pad, and wait", "rest")]

    def on_frame(self, frame: JoyFrame, now: float) -> list[Say]:
        """Take a frame of the pad in."""
        lengths = (len(frame.axes), len(frame.buttons))
        if not all(abs(value) <= 1.0 + ROUNDING for value in frame.axes) or not lengths[0]:
            return []
        if self._lengths is not None and lengths != self._lengths:
            told = (
                f"the pad had {self._lengths[0]} axes and {self._lengths[1]} buttons and has "
                f"{lengths[0]} and {lengths[1]} now: let one joy node publish here. "
                "Beginning again"
            )
            self._begin(now)
            return [Say(Tone.REFUSE, told), *self.start()[1:]]
        self._lengths = lengths
        self._watch.see(frame, now)
        if self._number < 0:
            return self._first_rest(now)
        if self._number >= len(QUESTIONS):
            return []
        return self._look(QUESTIONS[self._number], now)

    def answer(self, line: str, now: float) -> list[Say]:
        """Take a line that the user entered."""
        word = line.strip().lower()
        if word == "q":
            self._has_left = True
            return [Say(Tone.TELL, "left; nothing was written")]
        if word == "b" and self._number > 0:
            self._number -= 1
            self._answers.pop(QUESTIONS[self._number].key, None)
            return self._ask(now)
        if word == "s" and 0 <= self._number < len(QUESTIONS):
            question = QUESTIONS[self._number]
            if not question.is_optional:
                return [Say(Tone.REFUSE, "this one is needed", question.key)]
            self._number += 1
            return [Say(Tone.TELL, "skipped", question.key), *self._ask(now)]
        return [Say(Tone.TELL, HELP)]

    def tick(self, now: float) -> list[Say]:
        """Let time pass: remind of what is waited for, every `REMIND` at most."""
        if self._number >= len(QUESTIONS) or now - self._quiet_since < REMIND:
            return []
        self._quiet_since = now
        if self._lengths is None:
            text = "no pad is heard: see whether a joy node runs, and on this topic"
        elif self._watch.down:
            text = (
                f"button {_listed(self._watch.down)} is down: let go of it. If it stays down by "
                "itself, the joy node's `sticky_buttons` must be false"
            )
        elif self._watch.rest(now) is None:
            text = "the pad does not come to rest: let go of it"
        else:
            return []
        return [Say(Tone.TELL, text)]

    def _first_rest(self, now: float) -> list[Say]:
        rest = self._watch.rest(now, FIRST_REST)
        if rest is None:
            return []
        self._rest = _settled(rest)
        self._number = 0
        axes, buttons = self._lengths or (0, 0)
        told = f"a pad with {axes} axes and {buttons} buttons, at rest at {_row(rest)}"
        return [Say(Tone.TELL, told), *self._ask(now)]

    def _ask(self, now: float) -> list[Say]:
        self._quiet_since = now
        self._watch.restart()
        if self._number >= len(QUESTIONS):
            return [Say(Tone.TELL, "that is all")]
        question = QUESTIONS[self._number]
        optional = " (optional)" if question.is_optional else ""
        return [Say(Tone.ASK, question.text + optional, question.key)]

    def _look(self, question: Question, now: float) -> list[Say]:
        """Judge what happened once the pad is let go of."""
        rest = self._watch.rest(now)
        if rest is None:
            return []
        activity = self._watch.activity()
        judged: Answer | str
        if question.kind is Kind.BUTTON:
            if not activity.pressed and not self._went(activity):
                self._rest = _settled(rest)
                return []
            judged = self._judge_button(activity)
        else:
            if not activity.pressed and not self._went(activity):
                return []
            moved = self._moved(activity, BYSTANDER)
            left = [i for i in moved if abs(rest[i] - self._rest[i]) > BACK]
            if left and (question.kind is Kind.STICK or not self._watch.rest(now, ELSEWHERE)):
                return []  # held; it is judged when it is let go of
            if left:
                self._rest = _settled(rest)
                again = f"axis {_listed(left)} is at {_row([rest[i] for i in left])} now"
                return [Say(Tone.TELL, f"{again}: once more", question.key), *self._ask(now)]
            judged = self._judge_axis(activity)
        if isinstance(judged, str):
            self._rest = _settled(rest)
            return [Say(Tone.REFUSE, judged, question.key), *self._ask(now)]
        self._answers[question.key] = judged
        self._rest = _settled(rest)
        self._number += 1
        return [Say(Tone.TELL, _told(judged), question.key), *self._ask(now)]

    def _travels(self, activity: Activity) -> list[tuple[float, float]]:
        """Return the travel of each axis to its lowest and highest value, signed fractions."""
        return [
            (travel(AxisSpec(i, rest=rest), low), travel(AxisSpec(i, rest=rest), high))
            for i, (rest, low, high) in enumerate(
                zip(self._rest, activity.low, activity.high, strict=True)
            )
        ]

    def _moved(self, activity: Activity, least: float) -> list[int]:
        return [i for i, ways in enumerate(self._travels(activity)) if max(map(abs, ways)) > least]

    def _went(self, activity: Activity) -> bool:
        return bool(self._moved(activity, BYSTANDER))

    def _judge_button(self, activity: Activity) -> Answer | str:
        """Return the button that was pressed, or why that is no answer."""
        if not activity.pressed:
            moved = _listed(self._moved(activity, BYSTANDER))
            return f"that was axis {moved}; this takes a button"
        if len(activity.pressed) > 1:
            return f"buttons {_listed(activity.pressed)} went down; press one alone"
        (index,) = activity.pressed
        used = self._owner(index)
        return f"button {index} is {used} already; take another" if used else index

    def _judge_axis(self, activity: Activity) -> Answer | str:
        """Return the axis that moved, or why that is no answer.

        A trigger may press a button at the end of its travel: buttons do not count here.
        """
        moved = self._moved(activity, BYSTANDER)
        if not moved:
            return f"that was button {_listed(activity.pressed)}; this takes a stick or a trigger"
        if len(moved) > 1:
            return f"axes {_listed(moved)} moved together; move one alone"
        (index,) = moved
        low, high = self._travels(activity)[index]
        if min(-low, high) > BYSTANDER:
            return f"axis {index} went both ways; move it one way only"
        if max(-low, high) < ENOUGH:
            reached = max(-low, high)
            return f"axis {index} went {reached:.0%} of its way only; move it all the way"
        used = self._owner_of_axis(index)
        if used:
            return f"axis {index} is {used} already; take another"
        return LearnedAxis(index, round(self._rest[index], 2) + 0.0, invert=-low > high)

    def _owner(self, button: int) -> str:
        return next((key for key, answer in self._answers.items() if answer == button), "")

    def _owner_of_axis(self, index: int) -> str:
        return next(
            (
                key
                for key, answer in self._answers.items()
                if isinstance(answer, LearnedAxis) and answer.index == index
            ),
            "",
        )


def _settled(rest: tuple[float, ...]) -> tuple[float, ...]:
    """Return where axes are at rest: what is near an end of the range is there.

    A trigger that rests at 0.97 would else have its full travel between there and 1.
    """
    return tuple(
        math.copysign(1.0, value) if 1.0 - abs(value) <= BACK else value for value in rest
    )


def _listed(indices: frozenset[int] | list[int]) -> str:
    return " and ".join(str(index) for index in sorted(indices))


def _row(values: tuple[float, ...] | list[float]) -> str:
    return " ".join(f"{value + 0.0:.2f}" for value in values)


def _told(answer: Answer) -> str:
    if isinstance(answer, int):
        return f"button {answer}"
    way = "minus" if answer.invert else "plus"
    return f"axis {answer.index}, rest {answer.rest:.2f}, towards {way}"
