"""The thread that owns the line: moves bytes between the transport and the core, and keeps time.

Nothing time-critical waits for ROS: this thread sleeps in `select` on the line and on a wake
descriptor, until the core's next deadline at the latest. Others hand over commands and e-stops,
and read pictures; they never touch the core or the line.

No exception ends the thread. An error of the line closes it, and it is opened again; any other
error is a bug, and a bug means: stop the arm, latch a major fault, go on.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable

from reach_alpha5_common.command import DriverCommand, StopLevel
from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.protocol.packets import STOP_FRAMES
from reach_alpha5_driver.reporting import arm_picture
from reach_alpha5_driver.snapshot import ArmPicture, Note, PostureSample
from reach_alpha5_driver.transport.base import LineLost, OpenError, Transport

READ_SPACING = 0.006
"""Least time [s] between two reads. Bytes trickle in one frame at a time; waking up for each would
cost more than all the rest. Commands and e-stops do not wait for it."""

QUEUE_CHECK_PERIOD = 0.1
"""Seconds between two looks at the kernel's output queue. In between the pace of the line tells
it; the call is slow on some ports, and only a line that stalls makes a difference."""

MAX_WAITING = 1000
"""Commands that may wait for the thread; a flood beyond is answered with a stop."""

PAUSE_AFTER_BUG = 0.1
"""Seconds; an error that comes back at once must not take the whole processor."""

LAST_WORD = b"\0" + STOP_FRAMES
"""A stop that needs no core; the terminator keeps half a frame before it off."""

DRAIN_TIME = 0.5
"""Longest time [s] that the last stop may take to leave."""


class ControlLoop:
    """Runs a core on a line, in a thread of its own."""

    def __init__(
        self,
        core: DriverCore,
        open_line: Callable[[], Transport],
        on_update: Callable[[], None],
        reconnect_period: float,
        picture_period: float,
    ) -> None:
        """Make a loop that does not run yet.

        Args:
            core: used by this loop's thread alone from now on.
            open_line: opens the line, or raises `OpenError`.
            on_update: called in the thread when `picture`, `sample` or `notes` has something new;
                must return at once.
            reconnect_period: time between two attempts to open the line [s].
            picture_period: longest time between two pictures [s].
        """
        self._core = core
        self._open_line = open_line
        self._on_update = on_update
        self._reconnect_period = reconnect_period
        self._picture_period = picture_period
        self.picture: ArmPicture = arm_picture(core, time.monotonic())
        self.sample: PostureSample | None = None
        self.notes: deque[Note] = core.notes
        self._line: Transport | None = None
        self._blocked = False
        self._next_open = -math.inf
        self._next_read = -math.inf
        self._next_queue_check = -math.inf
        self._next_picture = -math.inf
        self._told: object = None
        self._open_problem = ""
        self._commands: deque[tuple[DriverCommand, float]] = deque()
        self._estops: deque[tuple[int, str, str]] = deque()
        self._flooded = False
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._leaving = False
        self._thread = threading.Thread(target=self._run, name="arm-control", daemon=True)

    # -- for other threads

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def command(self, command: DriverCommand, received: float) -> None:
        """Hand over a command that arrived at the monotonic time `received`."""
        if len(self._commands) < MAX_WAITING:
            self._commands.append((command, received))
        else:
            self._flooded = True
        os.eventfd_write(self._wake, 1)

    def estop(self, level: int, source: str, reason: str) -> None:
        """Hand over an e-stop; it is taken before all commands.

        Beyond `MAX_WAITING` only the most restrictive level is added: those that wait latch as it
        is, and memory is bounded.
        """
        if len(self._estops) < MAX_WAITING or level >= StopLevel.CUT:
            if len(self._estops) > MAX_WAITING:
                return  # one of these is there already
            self._estops.append((level, source, reason))
        os.eventfd_write(self._wake, 1)

    def close(self, timeout: float = 3.0) -> None:
        """Write the last stop, wait until it is out, release the line, end the thread."""
        self._leaving = True
        os.eventfd_write(self._wake, 1)
        if self._thread.is_alive():
            self._thread.join(timeout)

    # -- the thread

    def _run(self) -> None:
        while not self._leaving:
            self._guarded(self._once)
            self._guarded(self._tell)
        self._guarded(self._leave)
        self._guarded(self._tell)

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
        except LineLost as error:
            self._lose(str(error))
        except Exception as error:
            self._survive(error)

    def _once(self) -> None:
        if self._line is None:
            self._without_line()
        else:
            self._step(self._line)

    def _step(self, line: Transport) -> None:
        now = time.monotonic()
        until = min(self._core.next_wakeup(now), self._next_picture)
        reading = [self._wake]
        if now >= self._next_read:
            reading.append(line.fileno())
        else:
            until = min(until, self._next_read)
        writing = [line.fileno()] if self._blocked else []
        ready, _, _ = select.select(reading, writing, [], _timeout(until - now))
        if self._wake in ready:
            self._take_requests()
            self._write(line)
        now = time.monotonic()
        if now >= self._next_read:
            data = line.read()
            if data:
                self._core.receive_data(data, now)
                self._next_read = now + READ_SPACING
        self._core.tick(now)
        self._write(line)

    def _write(self, line: Transport) -> None:
        now = time.monotonic()
        outgoing = self._core.data_to_send(now)
        if outgoing.purge:
            line.purge_output()
        if outgoing.data:
            count = line.write(outgoing.data)
            self._blocked = count < len(outgoing.data)
            queued = 0
            if now >= self._next_queue_check:
                self._next_queue_check = now + QUEUE_CHECK_PERIOD
                queued = line.queued()
            self._core.data_sent(count, now, queued)

    def _take_requests(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self._wake)
        now = time.monotonic()
        while self._estops:
            self._core.on_estop(*self._estops.popleft(), now)
        if self._flooded:
            self._flooded = False
            self._commands.clear()
            self._core.on_command(DriverCommand(), now, now)
        while self._commands:
            self._core.on_command(*self._commands.popleft(), now)

    def _without_line(self) -> None:
        now = time.monotonic()
        if now >= self._next_open:
            self._next_open = now + self._reconnect_period
            try:
                self._line = self._open_line()
            except OpenError as error:
                if str(error) != self._open_problem:  # say it once, not every second
                    self._open_problem = str(error)
                    retry = f"trying again every {self._reconnect_period:g} s"
                    self._core.notes.append(Note("error", f"{error} ({retry})"))
            else:
                self._open_problem = ""
                self._blocked = False
                self._core.notes.append(Note("info", "the line to the arm is open"))
                self._core.on_connected(time.monotonic())
                return
        until = min(self._next_open, self._next_picture)
        select.select([self._wake], [], [], _timeout(until - time.monotonic()))
        self._take_requests()
        self._core.tick(time.monotonic())

    def _lose(self, reason: str) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.close()
        now = time.monotonic()
        self._next_open = now + self._reconnect_period
        self._core.on_disconnected(reason, now)

    def _survive(self, error: Exception) -> None:
        """Stop the arm without trusting the core, then latch the fault in it."""
        with contextlib.suppress(LineLost):
            if self._line is not None:
                self._line.purge_output()
                self._line.write(LAST_WORD)
        text = "".join(traceback.format_exception(error)).rstrip()
        with contextlib.suppress(Exception):
            self._core.on_internal_error("internal_error", text, time.monotonic())
        time.sleep(PAUSE_AFTER_BUG)

    def _leave(self) -> None:
        line, self._line = self._line, None
        if line is None:
            return
        try:
            self._core.on_shutdown(time.monotonic())
            deadline = time.monotonic() + DRAIN_TIME
            self._blocked = True
            while (self._blocked or line.queued()) and time.monotonic() < deadline:
                if self._blocked:
                    select.select([], [line.fileno()], [], deadline - time.monotonic())
                    self._write(line)
                else:
                    time.sleep(0.001)  # the kernel gives no sign when its queue is empty
        except LineLost:
            raise
        except Exception:
            # The core cannot be asked any more, so the stop goes without it.
            line.purge_output()
            line.write(LAST_WORD)
            raise
        finally:
            line.close()

    def _tell(self) -> None:
        """Make new pictures when they are due, and say so."""
        core, now = self._core, time.monotonic()
        gate = core.gate
        state = (
            gate.state,
            gate.estop_epoch,
            gate.estop_level,
            len(gate.fault_causes),
            gate.stops,
            core.connected,
        )
        sample = core.telemetry.sample
        due = now >= self._next_picture or state != self._told
        if due:
            self._told = state
            self._next_picture = now + self._picture_period
            self.picture = arm_picture(core, now)
        if due or sample is not self.sample:
            self.sample = sample
            self._on_update()


def _timeout(seconds: float) -> float:
    return max(0.0, seconds)
