"""The format of a profile as JSON Schema, for editors, from the tables of `profile`. Pure.

It says what a schema can say: keys, kinds and ranges. That an axis drives one thing at a time, and
that a place lies within the arrays, `profile.load` alone knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from reach_alpha5_teleop.modes import Mode
from reach_alpha5_teleop.profile import (
    BINDINGS,
    BUTTONS,
    MAX_CONTROLS,
    NODES,
    OPTIONAL_BINDINGS,
    RANGES,
    REQUIRED_BINDINGS,
    REQUIRED_BUTTONS,
)

FILE = "profile.schema.json"
"""Name of the file beside the profiles; it holds what `alpha5-pad schema` prints."""

AXIS_NAME = {"type": "string", "description": "name of one of the axes"}

PLACE = {"type": "integer", "minimum": 0, "maximum": MAX_CONTROLS - 1}

COUNTS = {
    "type": "array",
    "items": {"type": "integer", "minimum": 1, "maximum": MAX_CONTROLS},
    "minItems": 1,
}


def _object(properties: dict[str, Any], required: Iterable[str] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(required),
        "additionalProperties": False,
    }


def schema() -> dict[str, Any]:
    """Return the schema."""
    ranges = {
        key: {"type": "number", "minimum": low, "maximum": high}
        for key, (low, high) in RANGES.items()
    }
    axis = _object({"index": PLACE, "invert": {"type": "boolean"}, **ranges}, ["index"])
    bindings = {
        section: _object(
            dict.fromkeys(keys, AXIS_NAME), () if section in OPTIONAL_BINDINGS else keys
        )
        for section, keys in BINDINGS.items()
    }
    top = {
        "name": {"type": "string", "minLength": 1},
        "layout": _object(
            {"axes": COUNTS, "buttons": COUNTS, "node": {"enum": list(NODES)}},
            ["axes", "buttons"],
        ),
        "axes": {"type": "object", "additionalProperties": axis},
        **bindings,
        "modes": {
            "type": "array",
            "items": {"enum": [mode.value for mode in Mode]},
            "minItems": 1,
            "uniqueItems": True,
        },
        "buttons": _object(dict.fromkeys(BUTTONS, PLACE), REQUIRED_BUTTONS),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Pad profile of reach_alpha5_teleop",
        **_object(top, ["name", "layout", "axes", "buttons", *REQUIRED_BINDINGS]),
    }


def text() -> str:
    """Return the text of the file."""
    return json.dumps(schema(), indent=2) + "\n"
