"""What other threads want of the control thread: handed over here, done there.

Handing over never blocks, and memory is bounded whatever comes.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from reach_alpha5_common.command import DriverCommand, StopLevel
from reach_alpha5_driver.core import DriverCore

MAX_WAITING = 1000
"""Commands that may wait for the thread; a flood beyond is answered with a stop."""


@dataclass(frozen=True, slots=True)
class _Call:
    """Something that another thread wants done, and what will hold the result."""

    action: Callable[[DriverCore, float], Any]
    result: Future[Any]

    def make(self, core: DriverCore, now: float) -> None:
        """Do it, in the thread that owns `core`, unless it was cancelled."""
        if not self.result.set_running_or_notify_cancel():
            return
        try:
            self.result.set_result(self.action(core, now))
        except Exception as error:
            self.result.set_exception(error)
            raise


class Inbox:
    """Commands, e-stops and calls, and the descriptor that wakes whoever takes them."""

    def __init__(self) -> None:
        """Make an empty one."""
        self._estops: deque[tuple[int, str, str]] = deque()
        self._words: deque[tuple[DriverCommand, float] | _Call] = deque()
        """Commands and calls in the order in which they came."""
        self._flooded = False
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def __len__(self) -> int:
        """Return how much waits."""
        return len(self._words) + len(self._estops)

    def fileno(self) -> int:
        """Return the descriptor that is readable when something waits."""
        return self._fd

    def wake(self) -> None:
        """Wake the thread up with nothing but that."""
        os.eventfd_write(self._fd, 1)

    def command(self, command: DriverCommand, received: float) -> None:
        """Hand over a command that arrived at the monotonic time `received`."""
        if len(self._words) < MAX_WAITING:
            self._words.append((command, received))
        else:
            self._flooded = True
        self.wake()

    def estop(self, level: int, source: str, reason: str) -> None:
        """Hand over an e-stop; it is taken before all else.

        Beyond `MAX_WAITING` only the most restrictive level is added: those that wait latch as it
        is.
        """
        if len(self._estops) < MAX_WAITING or level >= StopLevel.CUT:
            if len(self._estops) > MAX_WAITING:
                return  # one of these is there already
            self._estops.append((level, source, reason))
        self.wake()

    def call(self, action: Callable[[DriverCore, float], Any]) -> Future[Any]:
        """Hand over a call `action(core, now)`, and return what will hold the result.

        Beyond `MAX_WAITING` it is not made, and the result says so.
        """
        call = _Call(action, Future())
        if len(self._words) < MAX_WAITING:
            self._words.append(call)
        else:
            call.result.set_exception(TimeoutError("too many calls wait"))
        self.wake()
        return call.result

    def deliver(self, core: DriverCore, now: float) -> None:
        """Give `core` all that waits; for the thread that owns it."""
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self._fd)
        for _ in range(len(self._estops)):
            core.on_estop(*self._estops.popleft(), now)
        flooded, self._flooded = self._flooded, False
        for _ in range(len(self._words)):
            word = self._words.popleft()
            if isinstance(word, _Call):
                word.make(core, now)
            elif not flooded:
                core.on_command(*word, now)
        if flooded:  # last, so that nothing that waited moves after it
            core.on_command(DriverCommand(), now, now)
