"""Sees that a guard watches the line, and that the core knows what the guard has done."""

from __future__ import annotations

import math

from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.guard.client import Guard, GuardState
from reach_alpha5_driver.snapshot import Note
from reach_alpha5_driver.states import State
from reach_alpha5_driver.transport.base import Transport

START_PERIOD = 1.0
"""Seconds between two attempts to start a guard that does not run."""

GONE = (GuardState.OFF, GuardState.LOST)


class GuardKeeper:
    """Looks after one guard, for the thread that moves the arm. Times are monotonic seconds."""

    def __init__(self, guard: Guard) -> None:
        """Keep `guard`."""
        self._guard = guard
        self._line: Transport | None = None
        """The line that the guard was given."""
        self._next_start = -math.inf
        self._told: GuardState | None = None
        self._complaint: str | None = None

    def look(self, core: DriverCore, line: Transport | None, now: float) -> None:
        """See that a guard watches the line, and tell the core what it has done. Never waits.

        Args:
            core: is told that a guard watches when it has said so of this very line.
            line: the open line, None while there is none.
            now: the time.
        """
        state = self._guard.check()
        if state in GONE:
            core.on_guard(False, now)
            self._complain(core)
            if not core.gate.stop_owed:  # the stop first: even to begin takes a few milliseconds
                self._start(now)
        elif state is not GuardState.STARTING:
            self._complaint = None
            if line is not None and line is not self._line:
                self._line = line
                self._guard.watch(line.fileno())
        core.on_guard(self._watches, now)
        self._see_trip(core, now)

    def pulse(self, core: DriverCore, now: float) -> None:
        """Say that the arm may move; a guard that is lost by that is told before motion leaves."""
        self._guard.pulse(now)
        if not self._watches:
            core.on_guard(False, now)

    def let_go(self, wait: bool = False) -> None:
        """Make the guard give its copy of the line back; call it before the line is closed.

        Args:
            wait: wait until it has, or was ended for not answering: only when the arm was stopped.
        """
        self._line = None
        self._guard.unwatch(wait)

    def filenos(self) -> tuple[int, ...]:
        """Return what turns readable when the guard has something to tell."""
        number = self._guard.fileno()
        return () if number < 0 else (number,)

    @property
    def _watches(self) -> bool:
        return self._line is not None and self._guard.watches

    def _start(self, now: float) -> None:
        if now < self._next_start:
            return
        self._next_start = now + START_PERIOD
        self._line = None
        self._guard.start()

    def _complain(self, core: DriverCore) -> None:
        """Say why there is no guard: once, not at each attempt."""
        reason = self._guard.reason
        if reason and reason != self._complaint:
            core.notes.append(Note("error", f"no guard: {reason}"))
        self._complaint = reason

    def _see_trip(self, core: DriverCore, now: float) -> None:
        state = self._guard.check()
        if state is GuardState.TRIPPED:
            if self._told is not state:
                core.on_guard_trip(self._guard.reason, now)
            elif core.gate.state is not State.MAJOR_FAULT:  # it was reset
                self._guard.rearm()
                state = GuardState.SERVING  # what it says next is news, even if it trips again
        self._told = state
