"""Records the tapes beside it: a hand on an Xbox pad, heard through a joy node.

There is no pad on a build machine. So the hand is reckoned, and what `joy_node` and
`game_controller_node` do with its events is done here as their sources have it: the integers of
SDL, the sign that is turned around, the dead zone that is taken out, a frame at each event that
the coalescing lets through and one every 20 ms without any, single precision. What the kernel and
SDL do before the first touch is in it, too: `joy_node` knows the released triggers of this pad.

    python3 record.py        writes the tapes anew, the same ones each time
"""

from __future__ import annotations

import json
import math
import random
import struct
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

PERIOD = 0.02
FULL = 32767
DEADZONE = 0.05 * FULL
"""The dead zone of a joy node that is not told another; ours is told 0, others' are not."""

HAND_TIME = 0.12
"""Time [s] in which a thumb moves a stick all the way."""

STEPS = (
    # phase, seconds, controls that the hand moves to
    ("idle", 1.0, {}),
    ("deadman", 0.5, {"lb": 1}),
    ("forward", 1.0, {"left_y": 1.0}),
    ("let go", 0.5, {"left_y": 0.0}),
    ("mode", 0.2, {"back": 1}),
    ("cylindrical", 0.5, {"back": 0}),
    ("turn", 1.0, {"left_x": 1.0}),
    ("faster", 1.0, {"right_trigger": 1.0}),
    ("turn ends", 0.5, {"left_x": 0.0, "right_trigger": 0.0}),
    ("mode 2", 0.2, {"back": 1}),
    ("pose", 0.5, {"back": 0}),
    ("mode 3", 0.2, {"back": 1}),
    ("wrist mode", 0.5, {"back": 0}),
    ("mode 4", 0.2, {"back": 1}),
    ("cartesian", 0.5, {"back": 0}),
    ("wrist", 1.0, {"right_x": 1.0}),
    ("wrist ends", 0.5, {"right_x": 0.0}),
    ("jaws", 0.8, {"y": 1}),
    ("jaws end", 0.5, {"y": 0}),
    ("forward again", 0.8, {"left_y": 0.7}),
    ("deadman up", 0.8, {"lb": 0}),
    ("rest", 0.8, {"left_y": 0.0}),
    ("back", 0.8, {"lb": 1, "left_y": 0.0}),
    ("backward", 0.8, {"left_y": -0.8}),
    ("estop", 0.5, {"b": 1}),
    ("estop let go", 1.0, {"b": 0}),
    ("end", 1.0, {"left_y": 0.0, "lb": 0}),
)
"""The hand at work. Sticks: forward and left are plus, as everywhere; a trigger is pulled by 1."""


def published(raw: int) -> float:
    """Return what a joy node publishes for an axis value of SDL."""
    value = float(max(raw, -FULL))
    value = math.copysign(max(0.0, abs(value) - DEADZONE), value)
    scaled = value * struct.unpack("f", struct.pack("f", -1.0 / 0.95 / FULL))[0]
    return round(struct.unpack("f", struct.pack("f", scaled))[0], 6) + 0.0


def raw(name: str, position: float, node: str, trembling: random.Random) -> int:
    """Return SDL's integer for where a control is: left and forward are minus there."""
    if "trigger" not in name:
        noise = trembling.uniform(-400, 400)
        return round(max(-1.0, min(1.0, -position)) * (FULL - 400) + noise)
    if node == "joy_node":  # the kernel's 0 to 255, spread over all of SDL's range
        return round(position * 255) * 257 - 32768
    return round(position * FULL)


def record(node: str) -> str:
    """Return the text of a tape."""
    from joy_pads import LAYOUTS

    layout = LAYOUTS[node]
    trembling = random.Random(5)
    at = dict.fromkeys((*layout.axes, *layout.buttons), 0.0)
    lines = [json.dumps({"node": node, "pad": "Xbox, reckoned", "profile": layout.profile})]
    now = 0.0
    for phase, seconds, moves in STEPS:
        begun, start = now, dict(at)
        while now < begun + seconds:
            part = min(1.0, (now - begun) / HAND_TIME)
            for name, goal in moves.items():
                is_button = name in layout.buttons
                at[name] = goal if is_button else start[name] + (goal - start[name]) * part
            axes, buttons = [0.0] * layout.axis_count, [0] * layout.button_count
            for name, index in layout.axes.items():
                axes[index] = published(raw(name, at[name], node, trembling))
            for name, index in layout.buttons.items():
                buttons[index] = int(at[name])
            lines.append(json.dumps([round(now, 3), phase, axes, buttons]))
            # An event comes when it likes; without any the node repeats itself.
            now += PERIOD if part >= 1.0 else trembling.uniform(0.004, PERIOD)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for tape in ("joy_node", "game_controller_node"):
        (HERE / f"{tape}.jsonl").write_text(record(tape))
