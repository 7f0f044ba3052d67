#!/usr/bin/env python3
"""Write the example pad session: a bag of `Joy` frames as a pilot's Xbox-layout pad makes them.

The pilot tries the stick without the deadman, goes to the deployed pose in two parts, jogs along
every axis in both stick modes, lets go of the deadman in mid-motion, moves jaws and wrist, presses
the e-stop in mid-motion while the stick stays where it is, resets, and goes on. A second topic
names each phase when it begins, so that what the arm did can be judged phase by phase.

Needs the Python package `rosbags` only. The bag holds stock message definitions and opens with
`ros2 bag` as well.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

# What the pilot takes for each thing, in seconds.
IDLE = 2.0
BEAT = 0.6  # between two moves, everything let go: what moved fades for 0.18 s of it
JOG = 0.7  # one move of a stick
TOUCH = 0.2  # a press of a button, or the way of a stick from one place to another
GRIP = 1.0  # one move of jaws or wrist
# The way to the deployed pose takes about 12 s at full speed from where the simulated arm starts:
# lift 4, swing 6, lower 2.
DEPLOY_FIRST = 5.0
DEPLOY_REST = 9.0

RATE = 50
"""Frames a second."""

START = 1_760_000_000 * 10**9
"""Stamp of the first frame [ns since the epoch]: fixed, so that the bag comes out the same."""

JOY_TOPIC = "/alpha5/joy"
PHASE_TOPIC = "/alpha5/session_phase"

# The layout of joy's game_controller_node: what a control pushed forward, right, or pulled reads.
AXES = {
    "left_forward": (1, 1.0),
    "left_right": (0, -1.0),
    "right_forward": (3, 1.0),
    "right_right": (2, -1.0),
    "left_trigger": (4, -1.0),
    "right_trigger": (5, -1.0),
}
BUTTONS = {"A": 0, "B": 1, "X": 2, "Y": 3, "BACK": 4, "START": 6, "LB": 9, "RB": 10}
AXIS_COUNT, BUTTON_COUNT = 6, 21


@dataclass(frozen=True)
class Phase:
    """A part of the session: when it begins [s], and what the pilot does in it."""

    begin: float
    name: str
    meaning: str


@dataclass
class Pad:
    """A pad in the pilot's hands; every moment of it is kept as a frame."""

    axes: dict[str, float] = field(default_factory=lambda: dict.fromkeys(AXES, 0.0))
    held: set[str] = field(default_factory=set)
    frames: list[tuple[list[float], list[int]]] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)

    def phase(self, name: str, meaning: str) -> None:
        """Begin a phase."""
        self.phases.append(Phase(len(self.frames) / RATE, name, meaning))

    def wait(self, seconds: float) -> None:
        """Keep everything where it is."""
        for _ in range(round(seconds * RATE)):
            axes = [0.0] * AXIS_COUNT
            for name, (index, sign) in AXES.items():
                axes[index] = sign * self.axes[name] if self.axes[name] else 0.0
            buttons = [0] * BUTTON_COUNT
            for name in self.held:
                buttons[BUTTONS[name]] = 1
            self.frames.append((axes, buttons))

    def move(self, **axes: float) -> None:
        """Take sticks and triggers to where they are told, as fast as a hand does."""
        begin = dict(self.axes)
        steps = round(TOUCH * RATE)
        for step in range(1, steps + 1):
            part = step / steps
            for name, end in axes.items():
                self.axes[name] = begin[name] + part * (end - begin[name])
            self.wait(1 / RATE)

    def let_go(self, *axes: str) -> None:
        """Let sticks and triggers spring back, all of them if none is named."""
        self.move(**dict.fromkeys(axes or AXES, 0.0))

    def hold(self, *buttons: str) -> None:
        """Press buttons and keep them down."""
        self.held.update(buttons)

    def release(self, *buttons: str) -> None:
        """Let buttons come up."""
        self.held.difference_update(buttons)

    def tap(self, button: str) -> None:
        """Press a button for a moment."""
        self.hold(button)
        self.wait(TOUCH)
        self.release(button)

    def jog(self, name: str, meaning: str, seconds: float = JOG, **axes: float) -> None:
        """Make one move of the sticks a phase of its own."""
        self.phase(name, meaning)
        self.move(**axes)
        self.wait(seconds)
        self.let_go()
        self.wait(BEAT)

    def press(self, name: str, meaning: str, button: str, seconds: float) -> None:
        """Make a button held for a while a phase of its own."""
        self.phase(name, meaning)
        self.hold(button)
        self.wait(seconds)
        self.release(button)
        self.wait(BEAT)


def session() -> Pad:
    """Play the session."""
    pad = Pad()
    pad.phase("idle", "nobody touches the pad")
    pad.wait(IDLE)

    pad.jog("no_deadman", "left stick forward, but no deadman: still", left_forward=1.0)

    pad.phase("deadman", "LB held from here on, RT pulled: still")
    pad.hold("LB")
    pad.move(right_trigger=1.0)
    pad.wait(BEAT)
    pad.press("deploy_part", "A held for a part of the way", "A", DEPLOY_FIRST)
    pad.press("deploy_rest", "A held again: on from there, to the end", "A", DEPLOY_REST)
    pad.phase("deployed", "RT let go: still")
    pad.let_go()
    pad.wait(BEAT)

    pad.jog("cartesian_back", "left stick back", left_forward=-1.0)
    pad.jog("cartesian_forward", "left stick forward", left_forward=1.0)
    pad.jog("cartesian_right", "left stick right", left_right=1.0)
    pad.jog("cartesian_left", "left stick left", left_right=-1.0)
    pad.jog("cartesian_down", "right stick back", right_forward=-1.0)
    pad.jog("cartesian_up", "right stick forward", right_forward=1.0)

    pad.phase("deadman_up", "left stick back, LB let go in mid-motion: still")
    pad.move(left_forward=-1.0)
    pad.wait(JOG)
    pad.release("LB")
    pad.wait(JOG)
    pad.phase("deadman_down", "LB again while the stick is back all the time: still")
    pad.hold("LB")
    pad.wait(JOG)
    pad.let_go()
    pad.wait(BEAT)

    pad.phase("mode", "BACK pressed: the sticks are cylindrical now")
    pad.tap("BACK")
    pad.wait(BEAT)
    pad.jog("cylindrical_in", "left stick back", left_forward=-1.0)
    pad.jog("cylindrical_out", "left stick forward", left_forward=1.0)
    pad.jog("cylindrical_clockwise", "left stick right", left_right=1.0)
    pad.jog("cylindrical_counterclockwise", "left stick left", left_right=-1.0)
    pad.jog("cylindrical_down", "right stick back", right_forward=-1.0)
    pad.jog("cylindrical_up", "right stick forward", right_forward=1.0)

    pad.press("jaws_open", "Y held", "Y", GRIP)
    pad.press("jaws_close", "RB held", "RB", GRIP)
    pad.jog("wrist_plus", "right stick right", GRIP, right_right=1.0)
    pad.jog("wrist_minus", "right stick left", GRIP, right_right=-1.0)

    pad.phase("before_estop", "left stick right")
    pad.move(left_right=1.0)
    pad.wait(JOG)
    pad.phase("estop", "B pressed in mid-motion, the stick stays over and wanders: still")
    pad.tap("B")
    pad.move(left_right=0.7, left_forward=0.3)
    pad.move(left_right=1.0, left_forward=0.0)
    pad.wait(JOG)
    pad.let_go()
    pad.release("LB")
    pad.wait(BEAT)

    pad.phase("reset", "everything let go, START pressed")
    pad.tap("START")
    pad.wait(2 * BEAT)
    pad.hold("LB")
    pad.wait(BEAT)
    pad.jog("after_reset", "LB and left stick left", left_right=-1.0)

    pad.phase("end", "LB let go, nobody touches the pad")
    pad.release("LB")
    pad.wait(IDLE)
    return pad


def table(pad: Pad) -> str:
    """Return the phases as a Markdown table."""
    ends = [phase.begin for phase in pad.phases[1:]] + [len(pad.frames) / RATE]
    lines = ["| from s | to s | phase | the pilot |", "|---|---|---|---|"]
    lines += [
        f"| {phase.begin:.2f} | {end:.2f} | `{phase.name}` | {phase.meaning} |"
        for phase, end in zip(pad.phases, ends, strict=True)
    ]
    return "\n".join(lines) + "\n"


def qos(depth: int, durability: QosDurability) -> list[Qos]:
    """Return the profile that a publisher of the topic offers."""
    forever = QosTime(9223372036, 854775807)
    return [
        Qos(
            QosHistory.KEEP_LAST,
            depth,
            QosReliability.RELIABLE,
            durability,
            forever,
            forever,
            QosLiveliness.AUTOMATIC,
            forever,
            False,
        )
    ]


def write(pad: Pad, folder: Path) -> None:
    """Write the session as a bag; `folder` must not exist."""
    store = get_typestore(Stores.ROS2_JAZZY)
    kinds = store.types
    writer = Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP)
    writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with writer:
        joy = writer.add_connection(
            JOY_TOPIC,
            "sensor_msgs/msg/Joy",
            typestore=store,
            offered_qos_profiles=qos(10, QosDurability.VOLATILE),
        )
        label = writer.add_connection(
            PHASE_TOPIC,
            "std_msgs/msg/String",
            typestore=store,
            offered_qos_profiles=qos(1, QosDurability.TRANSIENT_LOCAL),
        )
        begins = {round(phase.begin * RATE): phase.name for phase in pad.phases}
        for number, (axes, buttons) in enumerate(pad.frames):
            stamp = START + number * 10**9 // RATE
            if number in begins:
                said = kinds["std_msgs/msg/String"](data=begins[number])
                writer.write(label, stamp, store.serialize_cdr(said, label.msgtype))
            time = kinds["builtin_interfaces/msg/Time"](*divmod(stamp, 10**9))
            frame = kinds["sensor_msgs/msg/Joy"](
                header=kinds["std_msgs/msg/Header"](stamp=time, frame_id="joy"),
                axes=np.array(axes, dtype=np.float32),
                buttons=np.array(buttons, dtype=np.int32),
            )
            writer.write(joy, stamp, store.serialize_cdr(frame, joy.msgtype))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the bag, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path(__file__).resolve().parent / "pad_session",
        help="where to write the bag (default: %(default)s); must not exist",
    )
    parser.add_argument("--table", action="store_true", help="print the phases and write nothing")
    options = parser.parse_args(arguments)
    pad = session()
    if options.table:
        print(table(pad), end="")
        return 0
    if options.folder.exists():
        print(f"{options.folder} exists: remove it, or name another folder", file=sys.stderr)
        return 1
    write(pad, options.folder)
    print(f"{options.folder}: {len(pad.frames)} frames, {len(pad.frames) / RATE:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
