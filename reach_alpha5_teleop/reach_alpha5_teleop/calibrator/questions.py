"""What the calibrator asks, in order. Data only."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Kind(enum.Enum):
    """What kind of control answers a question."""

    STICK = "stick"
    TRIGGER = "trigger"
    BUTTON = "button"


@dataclass(frozen=True, slots=True)
class Question:
    """One function that a control of the pad shall have.

    Attributes:
        key: name of the axis in the profile, or function of `profile.BUTTONS`.
        kind: what kind of control it takes.
        text: what the user shall do.
        is_optional: it may be skipped.
        drives: sections of the profile that an axis is bound in, each as (section, key).
    """

    key: str
    kind: Kind
    text: str
    is_optional: bool = True
    drives: tuple[tuple[str, str], ...] = ()


def _stick(key: str, way: str, *drives: tuple[str, str], is_optional: bool = False) -> Question:
    text = f"push the stick that shall move {way} fully that way, then let go"
    return Question(key, Kind.STICK, text, is_optional, drives)


def _trigger(key: str) -> Question:
    text = f"pull the trigger that shall make the arm {key}, all the way, then let go"
    return Question(key, Kind.TRIGGER, text, drives=(("speed", key),))


def _button(key: str, does: str, *, is_optional: bool = True) -> Question:
    return Question(
        key, Kind.BUTTON, f"press the button that shall {does}, then let go", is_optional
    )


QUESTIONS = (
    _button("deadman", "be the deadman (held while anything moves)", is_optional=False),
    _button("estop", "be the E-STOP", is_optional=False),
    _stick(
        "forward", "the tool forward (in cylindrical mode: outward)",
        ("cartesian", "x"), ("cylindrical", "radial"), ("pose", "run"),
    ),
    _stick(
        "right", "the tool to the right (in cylindrical mode: clockwise from above)",
        ("cartesian", "y"), ("cylindrical", "azimuth"), ("wrist_mode", "rotate"),
    ),
    _stick("down", "the tool down", ("cartesian", "z"), ("cylindrical", "vertical")),
    _stick("wrist", "the wrist in its positive sense", ("wrist", "rotate"), is_optional=True),
    _trigger("faster"),
    _trigger("slower"),
    _button("reset", "reset after an e-stop or a fault"),
    _button("mode", "switch to the next stick mode"),
    _button("pose_deployed", "run to the deployed pose while it is held"),
    _button("pose_stowed", "run to the stowed pose while it is held"),
    _button("jaws_close", "close the jaws while it is held"),
    _button("jaws_open", "open the jaws while it is held"),
    _button("jaws_toggle", "start the jaws the other way with each press"),
)  # fmt: skip
"""The deadman and the e-stop first: without them there is no profile."""
