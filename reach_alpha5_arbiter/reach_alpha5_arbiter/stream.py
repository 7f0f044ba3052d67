"""A stream of commands as the arbiter keeps it: opened and closed by service, closed by idleness.

A `Stream` is a value. There is one at a time; one that is closed is kept to be shown.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, replace

from reach_alpha5_arbiter.codes import Code
from reach_alpha5_arbiter.tables import STREAM, StreamEvent, StreamState
from reach_alpha5_common.command import JointCommand, MotionCommand, TwistCommand


class StreamKind(enum.IntEnum):
    """What commands a stream has; the numbers are those of `StreamStatus`."""

    NONE = 0
    JOINT = 1
    TWIST = 2


KINDS: dict[StreamKind, type[MotionCommand]] = {
    StreamKind.JOINT: JointCommand,
    StreamKind.TWIST: TwistCommand,
}


class StreamEnd(Code):
    """Why a stream was closed: `StreamStatus.closed_because`. Beside these, `Disarmed`."""

    CLOSED = ("closed", "Its source closed it.")
    IDLE = ("idle", "No command of its kind came within its idle time-out.")


@dataclass(frozen=True, slots=True)
class Stream:
    """The stream that is open, or was open last."""

    state: StreamState = STREAM.initial
    kind: StreamKind = StreamKind.NONE
    source: str = ""
    id: int = 0
    """Counts the streams."""
    idle_timeout: float = math.inf
    """[s]"""
    heard_at: float = math.nan
    """Monotonic time [s] of its last command, or of its opening."""
    commands: int = 0
    closed_because: str = ""
    """Documented code; empty = it is open, or there was none yet."""

    @property
    def is_open(self) -> bool:
        """Whether what comes on it is arbitrated."""
        return self.state is StreamState.OPEN

    @property
    def idles_at(self) -> float:
        """Monotonic time [s] at which it is closed if nothing comes; inf = it is not open."""
        return self.heard_at + self.idle_timeout if self.is_open else math.inf

    def is_open_for(self, source: str) -> bool:
        """Whether it is open, and of this source."""
        return self.is_open and self.source == source

    def has(self, command: MotionCommand) -> bool:
        """Whether the command is of its kind."""
        return isinstance(command, KINDS[self.kind])

    def opened(self, kind: StreamKind, source: str, idle_timeout: float, now: float) -> Stream:
        """Take that it is opened."""
        then = STREAM.step(self.state, StreamEvent.OPEN).then
        return Stream(then, kind, source, self.id + 1, idle_timeout, now)

    def heard(self, now: float) -> Stream:
        """Take a command of its kind that nothing stood against."""
        return replace(self, heard_at=now, commands=self.commands + 1)

    def closed(self, event: StreamEvent, because: Code) -> Stream:
        """Take that it is closed."""
        then = STREAM.step(self.state, event).then
        return replace(self, state=then, closed_because=because.code)
