"""Take the arbiter's decisions again from its journal, and compare them with the live ones. Pure.

The journal's entries go through a fresh core, from a checkpoint on. Three things are compared:
each command to the driver that was recorded, each state that was shown, and each later checkpoint,
which holds all that the live core knew. Whatever breaks the chain of entries (a lost message, an
arbiter that was started anew, an entry that cannot be read) ends the replay until the next
checkpoint. After a checkpoint that differs the replay goes on as the live run did, so that what
differs later is another difference.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from reach_alpha5_arbiter import journal
from reach_alpha5_arbiter.core import MotionArbiter
from reach_alpha5_arbiter.events import Output, Send
from reach_alpha5_arbiter.journal import Checkpoint, EntryError, Happened
from reach_alpha5_arbiter.replay.matching import (
    MISSING,
    SETTLED,
    SETTLED_AT_END,
    Commands,
    Difference,
    Moment,
    Part,
    Plain,
    States,
    changes,
    differing,
)
from reach_alpha5_arbiter.snapshot import Snapshot
from reach_alpha5_common.command import DriverCommand

MAX_DIFFERENCES = 1000
"""Differences that are kept; all are counted."""


@dataclass(frozen=True, slots=True)
class Wire:
    """How the core's values look in a bag."""

    command: Callable[[DriverCommand], Plain]
    state: Callable[[Snapshot], Plain]


class Listener(Protocol):
    """Follows a replay."""

    def on_step(self, moment: Moment, outputs: Sequence[Output], changed: Sequence[Part]) -> None:
        """Take an event, what followed, and what others see changed by it."""

    def on_note(self, moment: Moment, text: str) -> None:
        """Take something else that happened to the replay."""


class Nobody:
    """A listener that does not listen."""

    def on_step(self, moment: Moment, outputs: Sequence[Output], changed: Sequence[Part]) -> None:
        """Do nothing."""

    def on_note(self, moment: Moment, text: str) -> None:
        """Do nothing."""


@dataclass(slots=True)
class Counts:
    """What was read and what was done with it."""

    messages: int = 0
    events: int = 0
    """Given to the replay's core."""
    skipped: int = 0
    """Events before the first checkpoint, or between a gap and the next one."""
    checkpoints: int = 0
    compared: int = 0
    """Checkpoints at which there was a replay to compare."""
    gaps: int = 0
    lost: int = 0
    """Entries that are missing in the gaps."""
    sessions: list[int] = field(default_factory=list)
    """Runs of the arbiter, in their order."""
    differences: int = 0


class Replay:
    """One replay of one arbiter's journal."""

    def __init__(self, wire: Wire, listener: Listener | None = None) -> None:
        self.counts = Counts()
        self.differences: list[Difference] = []
        self.commands = Commands(self._differ)
        self.states = States(self._differ, wire.state)
        self._wire = wire
        self._listener = listener or Nobody()
        self._arbiter: MotionArbiter | None = None
        self._moment = Moment(math.nan, math.nan, None)
        self._shown: Snapshot | None = None
        self._next = 0
        self._place = 0

    # ---- what the bag holds, in its order ------------------------------------------------------

    def hear(self, session: int, first: int, entries: Sequence[str], wall: float) -> None:
        """Take a message of the journal, published at `wall` [s since the epoch]."""
        counts = self.counts
        counts.messages += 1
        if session not in counts.sessions[-1:]:
            self._break(wall, f"run {session:016x} of the arbiter")
            counts.sessions.append(session)
        elif first != self._next:
            counts.gaps += 1
            counts.lost += max(0, first - self._next)
            self._break(wall, f"the journal goes from entry {self._next} to {first}")
        self._next = first + len(entries)
        read = [self._read(first + index, entry, wall) for index, entry in enumerate(entries)]
        times = [entry.now for entry in read if isinstance(entry, Happened)]
        # The last event was just before the message.
        offset = wall - times[-1] if times else self._moment.wall - self._moment.now
        for text, entry in zip(entries, read, strict=True):
            if isinstance(entry, Happened):
                self._take(entry, offset)
            elif isinstance(entry, Checkpoint):
                self._check(entry, text, offset)
            else:
                self._arbiter = None
        if self._arbiter is not None:
            self._place += 1
        self._settle(SETTLED)

    def sent(self, command: Plain) -> None:
        """Take a recorded command to the driver."""
        self.commands.recorded(command, self._place)

    def shown(self, state: Plain) -> None:
        """Take a recorded state."""
        self.states.recorded(state, self._place)

    def finish(self) -> None:
        """Take that the bag is over."""
        self._settle(SETTLED_AT_END)
        self.commands.end()
        self.states.end()

    # ---- the replay ----------------------------------------------------------------------------

    def _read(self, number: int, entry: str, wall: float) -> Happened | Checkpoint | None:
        try:
            return journal.read(entry)
        except EntryError as error:
            moment = Moment(self._moment.now, wall, None)
            self._differ(
                Difference(f"entry {number}", moment, (Part("unreadable", entry, str(error)),))
            )
            return None

    def _take(self, happened: Happened, offset: float) -> None:
        arbiter, now = self._arbiter, happened.now
        if arbiter is None:
            self.counts.skipped += 1
            return
        self._moment = moment = Moment(now, now + offset, happened.event)
        try:
            outputs = arbiter.handle(happened.event, now)
        # Whatever it is: the live core took this event.
        except Exception as error:
            self._differ(Difference("event", moment, (Part("raised", MISSING, repr(error)),)))
            self._arbiter = None
            return
        self.counts.events += 1
        for output in outputs:
            if isinstance(output, Send):
                self.commands.replayed(self._wire.command(output.command), moment)
        before, after = self._shown, arbiter.snapshot(now)
        assert before is not None
        changed = tuple(changes(before, after))
        if changed:
            self._shown = after
            self.states.replayed(after, moment)
        self._listener.on_step(moment, outputs, changed)

    def _check(self, live: Checkpoint, text: str, offset: float) -> None:
        self.counts.checkpoints += 1
        arbiter, now = self._arbiter, live.state.now
        if arbiter is not None:
            self.counts.compared += 1
            replayed = _checkpoint(arbiter)
            if replayed == text:
                return
            parts = tuple(differing(json.loads(text), json.loads(replayed)))
            self._differ(Difference("checkpoint", self._moment, parts))
        self._moment = Moment(now, now + offset, None)
        arbiter = MotionArbiter.restored(live.config, live.state, live.refusals)
        self._arbiter = arbiter
        self._place = 0
        self._shown = arbiter.snapshot(now)
        self.commands.begin(live.state.sequence)
        self.states.begin(self._shown, self._moment)
        self._listener.on_note(self._moment, "the replay begins here")

    def _settle(self, margin: int) -> None:
        self.commands.settle(self._place, margin, self._moment)
        self.states.settle(self._place, margin)

    def _break(self, wall: float, why: str) -> None:
        self._settle(SETTLED_AT_END)
        self._arbiter = None
        self._listener.on_note(Moment(self._moment.now, wall, None), why)

    def _differ(self, difference: Difference) -> None:
        self.counts.differences += 1
        if len(self.differences) < MAX_DIFFERENCES:
            self.differences.append(difference)
        self._listener.on_note(difference.moment, f"DIFFERENT: {difference.what}")


def _checkpoint(arbiter: MotionArbiter) -> str:
    return journal.checkpoint(arbiter.config, arbiter.state, arbiter.refusals.contents())
