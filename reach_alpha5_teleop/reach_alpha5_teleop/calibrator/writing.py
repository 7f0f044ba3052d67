"""A calibration as the text of a profile. Pure."""

from __future__ import annotations

import json

from reach_alpha5_teleop.calibrator.guide import Calibration, LearnedAxis
from reach_alpha5_teleop.calibrator.questions import QUESTIONS, Kind

SHAPE = {Kind.STICK: "exponent: 1.5", Kind.TRIGGER: "deadband: 0.05"}
"""How the travel of a control is read: a finer middle for sticks, an early start for triggers."""


def profile_text(name: str, calibration: Calibration) -> str:
    """Return the YAML text of the profile `name`, with comments."""
    answers = calibration.answers
    lines = [
        "# Pad profile made by `alpha5-pad make`. docs/pads.md describes the format. After a",
        "# change: `alpha5-pad check FILE`.",
        "",
        # JSON's strings are YAML's, with whatever the name has in it.
        f"name: {json.dumps(name)}",
        "",
        "layout:  # lengths of the two arrays; a frame with others is refused",
        f"  axes: [{calibration.axis_count}]",
        f"  buttons: [{calibration.button_count}]",
        "",
        "axes:  # named after what plus does; exponent: finer around the middle",
    ]
    sections: dict[str, list[str]] = {}
    buttons = []
    for question in QUESTIONS:
        answer = answers.get(question.key)
        if isinstance(answer, LearnedAxis):
            keys = [f"index: {answer.index}"]
            # The joy node's own dead zone makes the rest of a stick an exact 0.
            if abs(answer.rest) > 0.0:
                keys.append(f"rest: {answer.rest:g}")
            if answer.invert:
                keys.append("invert: true")
            keys.append(SHAPE[question.kind])
            lines.append(f"  {question.key}: {{{', '.join(keys)}}}")
            for section, key in question.drives:
                sections.setdefault(section, []).append(f"  {key}: {question.key}")
        elif answer is not None:
            buttons.append(f"  {question.key}: {answer}")
    for section, bound in sections.items():
        lines += ["", f"{section}:", *bound]
    lines += ["", "buttons:  # deadman and estop are needed", *buttons]
    return "\n".join(lines) + "\n"
