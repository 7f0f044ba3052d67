"""Sees that a guard watches the line, and that the core knows what the guard has done."""

from __future__ import annotations

import math

from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.guard.client import Guard, GuardError, GuardState
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
        self._next_start = -math.inf
        self._told = GuardState.OFF

    def start(self, core: DriverCore, now: float) -> None:
        """Start the guard if it does not run, but not all the time."""
        if self._guard.check() not in GONE or now < self._next_start:
            return
        self._next_start = now + START_PERIOD
        self._line = None
        try:
            self._guard.start()
        except GuardError as error:
            core.notes.append(Note("error", str(error)))

    def look(self, core: DriverCore, line: Transport, now: float) -> None:
        """See that a guard watches the line, and tell the core what it has done."""
        state = self._guard.check()
        if state in GONE:
            core.on_guard(False, now)
            if state is GuardState.LOST and self._told is not state:
                core.notes.append(Note("error", f"the guard is lost: {self._guard.reason}"))
            self._told = state
            if core.may_move:  # the stop first: starting takes a while
                return
            self.start(core, now)
        if self._guard.check() is GuardState.WATCHING and self._line is not line:
            self._line = line
            self._guard.watch(line.fileno())
        state = self._guard.check()
        core.on_guard(state not in GONE, now)
        if state is GuardState.TRIPPED:
            if self._told is not state:
                core.on_guard_trip(self._guard.reason, now)
            elif core.gate.state is not State.MAJOR_FAULT:  # it was reset
                self._guard.rearm()
        self._told = state

    def let_go(self) -> None:
        """Make the guard give its copy of the line back; call it before the line is closed."""
        self._line = None
        self._guard.unwatch()

    def filenos(self) -> tuple[int, ...]:
        """Return what turns readable when the guard has something to tell."""
        number = self._guard.fileno()
        return () if number < 0 else (number,)
