"""When a heartbeat is due, and what it says, by what the kernel tells of a process. Pure.

A program that sends no heartbeats is no source, so that nothing it asks for moves the arm. Here
somebody else sends them for it, and must not say more than can be known from outside: that the
process is there, and that it is not stopped. A process that hangs looks like one that waits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType


class Life(Enum):
    """How it is with a process."""

    RUNNING = "runs"
    """It computes or waits for something, as far as one can see."""
    STOPPED = "is stopped"
    """By a signal or a debugger: it can be continued."""
    GONE = "is gone"
    """It has ended, whether or not somebody has collected its status."""


LIVES: Mapping[str, Life] = MappingProxyType(
    {
        "R": Life.RUNNING,
        "S": Life.RUNNING,
        "D": Life.RUNNING,
        "I": Life.RUNNING,
        "T": Life.STOPPED,
        "t": Life.STOPPED,
        "Z": Life.GONE,
        "X": Life.GONE,
        "x": Life.GONE,
    }
)
"""The letters of proc(5), /proc/PID/stat."""


def life_of(stat: str) -> Life:
    """Return how it is with the process of a line of /proc/PID/stat.

    A letter that is not known, or a line that is none, is no sign that the process runs.
    """
    # The name before it is the program's own choice, and may hold spaces and brackets.
    fields = stat.rpartition(")")[2].split()
    return LIVES.get(fields[0], Life.STOPPED) if fields else Life.STOPPED


def life_of_all(own: Life, descendants: Iterable[Life]) -> Life:
    """Return how it is with a process and all that it has started.

    What does the work may be a child (`ros2 run` is such a parent), so one that is stopped counts.
    One that has ended does not: helpers come and go.
    """
    if own is Life.RUNNING and Life.STOPPED in descendants:
        return Life.STOPPED
    return own


def exit_code(returned: int) -> int:
    """Return the exit code that tells a shell how a process ended.

    Args:
        returned: its exit code, or minus the signal that killed it.
    """
    return returned if returned >= 0 else 128 - returned


class Pulse:
    """Says `present` once a period, and at once when that changes."""

    def __init__(self, period: float) -> None:
        """Begin with nothing said; `period` is in seconds."""
        self._period = period
        self._said: bool | None = None
        self.due = -math.inf
        """Monotonic time [s] of the next heartbeat if nothing changes."""

    def beat(self, life: Life, now: float) -> bool | None:
        """Return what to say at monotonic time `now` [s]: present, not present, or None."""
        present = life is Life.RUNNING
        if present is self._said and now < self.due:
            return None
        self._said = present
        self.due = now + self._period
        return present
