"""A replay as lines for people: what was heard, what followed, and why. Pure."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from reach_alpha5_arbiter.events import GoalEnded, Output, Refused, Reply, Send, Tick
from reach_alpha5_arbiter.replay.matching import Difference, Moment, Part
from reach_alpha5_common.command import CommandKind, DriverCommand, MotionCommand

INDENT = " " * 15
WIDTH = 160
"""Characters of an event or a value that are shown: a goal may have thousands of points."""

UNTOLD = frozenset({"stamp", "wall", "writer", "challenge", "response"})
"""Fields of events that say little to people."""

COUNTED = frozenset(
    {"commands", "refusals", "check_ins", "stops", "issued", "challenge", "is_answered"}
)
"""Fields of a snapshot that change with each event of their kind."""


def clock(wall: float) -> str:
    """Return the time of day in UTC of `wall` [s since the epoch]."""
    if not math.isfinite(wall):
        return "--:--:--.---"
    minutes, seconds = divmod(wall % 86400, 60)
    hours, minutes = divmod(int(minutes), 60)
    # Cut off and not rounded: there is no second 60.
    return f"{hours:02}:{minutes:02}:{int(seconds):02}.{int(seconds % 1 * 1000):03}"


def brief(value: Any) -> str:
    """Return a value in short: of a record, the fields that are not as they are by default."""
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return f"({', '.join(map(brief, value))})"
    if not is_dataclass(value) or isinstance(value, type):
        return repr(value)
    said = [
        f"{field.name}={brief(getattr(value, field.name))}"
        for field in fields(value)
        if getattr(value, field.name) != field.default and field.name not in UNTOLD
    ]
    return f"{type(value).__name__}({', '.join(said)})"


def event_line(moment: Moment) -> str:
    """Return when and what."""
    what = "(checkpoint)" if moment.event is None else _cut(brief(moment.event))
    return f"{clock(moment.wall)}  [{moment.now:.6f}]  {what}"


def output_line(output: Output) -> str | None:
    """Return what followed, or None for what the changes tell better."""
    match output:
        case Send(command, cause):
            why = f", because of {cause.code}" if cause else ""
            return f"-> {_command(command)}{why}"
        case Refused(refusal):
            return f"refused {refusal.source}: {refusal.code} (x{refusal.count}): {refusal.reason}"
        case Reply(success, code, message):
            return f"answer {'yes' if success else f'no, {code}'}: {message}"
        case GoalEnded(goal_id, ending):
            return f"goal {goal_id!r} {ending.outcome.name}: {ending.code}: {ending.text}"
    return None


def difference_lines(difference: Difference, most: int = 20) -> list[str]:
    """Return what differs, `most` values of it."""
    lines = [f"DIFFERENT: {difference.what}", f"  at {event_line(difference.moment)}"]
    lines += [
        f"  {part.path}: live {part.live!r}, replayed {part.replayed!r}"
        for part in difference.parts[:most]
    ]
    if len(difference.parts) > most:
        lines.append(f"  and {len(difference.parts) - most} more values")
    return lines


class Trace:
    """Prints a replay as a time line.

    What is said to the driver again and again is shown when it begins and when it changes.

    Args:
        write: takes each line.
        everything: show the events that nothing followed on, and repetitions, as well.
    """

    def __init__(self, write: Callable[[str], object], everything: bool = False) -> None:
        self._write = write
        self._everything = everything
        self._standing: tuple[CommandKind, MotionCommand] | None = None

    def on_step(self, moment: Moment, outputs: Sequence[Output], changed: Sequence[Part]) -> None:
        """Show an event and what followed."""
        lines = [line for line in map(output_line, outputs) if line]
        lines += [
            f"{part.path}: {_cut(brief(part.live))} -> {_cut(brief(part.replayed))}"
            for part in changed
            if self._everything or not _is_counted(part.path)
        ]
        repeats = self._repeats(moment, outputs)
        if not self._everything and (repeats or not lines):
            return
        self._write(event_line(moment))
        for line in lines:
            self._write(INDENT + line)

    def on_note(self, moment: Moment, text: str) -> None:
        """Show what happened to the replay."""
        self._write(f"{clock(moment.wall)}  -- {text}")

    def _repeats(self, moment: Moment, outputs: Sequence[Output]) -> bool:
        """Say whether all that followed is that motion goes on as it was said before."""
        sent = [output.command for output in outputs if isinstance(output, Send)]
        if not sent:
            return False
        before, self._standing = self._standing, (sent[-1].kind, sent[-1].motion)
        if before is None or len(outputs) > 1 or before[0] is not sent[-1].kind:
            return False
        # Of a goal each set-point is another one.
        return isinstance(moment.event, Tick) or before == self._standing


def _is_counted(path: str) -> bool:
    return path.startswith("refusals") or path.rpartition(".")[2] in COUNTED


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[:WIDTH]}..."


def _command(command: DriverCommand) -> str:
    number, lifetime = f"#{command.sequence}", f"for {command.lifetime:g} s"
    if command.kind is CommandKind.STOP:
        level = f" level {command.stop_level.name}" if command.stop_level else ""
        ease = f" within {command.lifetime:g} s" if command.lifetime else ""
        return f"{number} STOP{level}{ease}"
    if command.kind is CommandKind.RESET:
        return f"{number} RESET of epoch {command.estop_epoch}"
    return f"{number} {command.kind.name} {brief(command.motion)} {lifetime}"
