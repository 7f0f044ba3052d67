"""The thread that owns the line: moves bytes between the transport and the core, and keeps time.

Nothing time-critical waits for ROS: this thread sleeps in `select` on the line and on a wake
descriptor, until the core's next deadline at the latest. Others hand over commands and e-stops,
and read pictures; they never touch the core or the line.

No exception ends the thread. An error of the line closes it, and it is opened again; any other
error is a bug, and a bug means: stop the arm, latch a major fault, go on.

What the thread itself can no longer do, because the process died or hangs, the guard does: it has
the port too, and hears a pulse from here for as long as the arm may move.
"""

from __future__ import annotations

import contextlib
import math
import select
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable

from reach_alpha5_driver.backoff import Backoff
from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.guard.client import Guard
from reach_alpha5_driver.guard.keeper import GuardKeeper
from reach_alpha5_driver.inbox import Inbox
from reach_alpha5_driver.protocol.packets import STOP_FRAMES
from reach_alpha5_driver.reporting import arm_picture
from reach_alpha5_driver.snapshot import ArmPicture, Note, PostureSample
from reach_alpha5_driver.transport.base import LineLost, OpenError, Transport

READ_SPACING = 0.006
"""Least time [s] between two reads. Bytes trickle in one frame at a time; waking up for each would
cost more than all the rest. Commands and e-stops do not wait for it."""

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
        guard: Guard,
        backoff: Backoff,
        on_update: Callable[[], None],
        picture_period: float,
    ) -> None:
        """Make a loop that does not run yet.

        Args:
            core: used by this loop's thread alone from now on.
            open_line: opens the line, or raises `OpenError`.
            guard: stops the arm when this process cannot.
            backoff: when to try again to open the line.
            on_update: called in the thread when `picture`, `sample` or `notes` has something new;
                must return at once.
            picture_period: longest time between two pictures [s].
        """
        self._core = core
        self._open_line = open_line
        self._guard = guard
        self._keeper = GuardKeeper(guard)
        self._backoff = backoff
        self._on_update = on_update
        self._picture_period = picture_period
        self.picture: ArmPicture = arm_picture(core, time.monotonic())
        self.sample: PostureSample | None = None
        self.notes: deque[Note] = core.notes
        self._news = threading.Condition()
        self._line: Transport | None = None
        self._serving = False
        self._blocked = False
        self._next_read = -math.inf
        self._next_picture = -math.inf
        self._told: object = None
        self.open_problem = ""
        """Why the line could not be opened; empty = it could, or it was not tried."""
        self.inbox = Inbox()
        """What others want of the thread."""
        self._leaving = False
        self._thread = threading.Thread(target=self._run, name="arm-control", daemon=True)

    # -- for other threads

    def start(self) -> None:
        """Begin, without a line."""
        self._thread.start()

    def open_line(self) -> None:
        """Open the line, and again whenever it is lost, until `close_line`."""
        self.open_problem = ""
        self._backoff.begin()
        self._serving = True
        self.inbox.wake()

    def close_line(self) -> None:
        """Write the last stop, wait until it is out, and release the line."""
        self._serving = False
        self.inbox.wake()

    def wait_until(self, condition: Callable[[ArmPicture], bool], timeout: float) -> bool:
        """Wait until a picture fulfils `condition`; return whether one did within `timeout` [s].

        `open_problem` is told together with the pictures.
        """
        with self._news:
            return self._news.wait_for(lambda: condition(self.picture), timeout)

    def close(self, timeout: float = 3.0) -> bool:
        """Write the last stop, wait until it is out, release the line, end thread and guard.

        Returns whether the thread has ended within `timeout` [s]. If it has not, it hangs: then
        the guard is left to stop the arm when this process ends.
        """
        self._leaving = True
        self.inbox.wake()
        if self._thread.is_alive():
            self._thread.join(timeout)
        ended = not self._thread.is_alive()
        if ended:
            self._guard.close()
        return ended

    # -- the thread

    def _run(self) -> None:
        while not self._leaving:
            self._guarded(self._once)
            self._guarded(self._tell)
        self._guarded(self._release)
        self._guarded(self._tell)

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
        except LineLost as error:
            reason = str(error)
            self._guarded(lambda: self._lose(reason))
        except Exception as error:
            self._survive(error)

    def _once(self) -> None:
        if self._line is None:
            self._without_line()
        elif self._serving:
            self._step(self._line)
        else:
            self._release()

    def _step(self, line: Transport) -> None:
        now = time.monotonic()
        until = min(self._core.next_wakeup(now), self._next_picture, self._guard.next_pulse())
        reading = [self.inbox.fileno(), *self._keeper.filenos()]
        if self._may_read(now):
            reading.append(line.fileno())
        else:
            until = min(until, self._next_read)
        writing = [line.fileno()] if self._blocked else []
        ready, _, _ = select.select(reading, writing, [], _timeout(until - now))
        # Before anything is written: a process that was stopped wakes up here, and the guard has
        # stopped the arm meanwhile.
        self._keeper.look(self._core, line, time.monotonic())
        if self.inbox.fileno() in ready:
            self.inbox.deliver(self._core, time.monotonic())
            self._write(line)
        now = time.monotonic()
        if self._may_read(now):
            data = line.read()
            if data:
                self._core.receive_data(data, now)
                self._next_read = now + READ_SPACING
        self._core.tick(now)
        self._write(line)

    def _may_read(self, now: float) -> bool:
        return now >= self._next_read or self._core.outbox.prompt_reads

    def _write(self, line: Transport) -> None:
        now = time.monotonic()
        if self._core.outbox.wants_queued:
            self._core.data_sent(0, now, line.queued())
        if self._core.may_move or self._blocked:  # blocked: motion may be before the stop
            self._keeper.pulse(self._core, now)  # first: no motion is ever out without its guard
        outgoing = self._core.data_to_send(now)
        if outgoing.purge:
            line.purge_output()
        if outgoing.data:
            count = line.write(outgoing.data)
            self._blocked = count < len(outgoing.data)
            self._core.data_sent(count, now)
        if not self._core.may_move and not self._blocked:
            self._guard.still()

    def _without_line(self) -> None:
        now = time.monotonic()
        reading = [self.inbox.fileno()]
        if self._serving:
            self._keeper.look(self._core, None, now)
            reading += self._keeper.filenos()
        if self._serving and now >= self._backoff.next_attempt:
            try:
                line = self._open_line()
            except OpenError as error:
                self._backoff.failed(time.monotonic())
                if str(error) != self.open_problem:  # say it once, not each time
                    self.open_problem = str(error)
                    self._core.notes.append(Note("error", f"{error} (will be tried again)"))
            else:
                self.open_problem = ""
                self._take_line(line)
                return
        until = min(self._backoff.next_attempt if self._serving else math.inf, self._next_picture)
        select.select(reading, [], [], _timeout(until - time.monotonic()))
        now = time.monotonic()
        self.inbox.deliver(self._core, now)
        self._core.tick(now)

    def _take_line(self, line: Transport) -> None:
        self._line = line
        self._blocked = False
        now = time.monotonic()
        self._backoff.opened(now)
        self._core.notes.append(Note("info", "the line to the arm is open"))
        if line.advice:
            self._core.notes.append(Note("warn", line.advice))
        self._core.on_connected(now, line.can_purge, line.latency)

    def _lose(self, reason: str) -> None:
        """Close a line that failed. It may have failed once only, so the stop is tried on it."""
        line, self._line = self._line, None
        may_move = self._core.may_move
        if line is not None:
            _write_last_word(line)
        self._keeper.let_go()
        if line is not None:
            line.close()
        now = time.monotonic()
        self._backoff.failed(now, urgent=may_move)
        self._core.on_disconnected(reason, now)

    def _survive(self, error: Exception) -> None:
        """Stop the arm without trusting the core, then latch the fault in it."""
        if self._line is not None and _write_last_word(self._line):
            self._guard.still()
        text = "".join(traceback.format_exception(error)).rstrip()
        with contextlib.suppress(Exception):
            self._core.on_internal_error("internal_error", text, time.monotonic())
        time.sleep(PAUSE_AFTER_BUG)

    def _release(self) -> None:
        """Write the last stop, wait until it is out, and give the line back."""
        line, self._line = self._line, None
        if line is None:
            return
        try:
            self._core.on_shutdown(time.monotonic())
            self._write(line)
            deadline = time.monotonic() + DRAIN_TIME
            while (self._core.outbox.unfinished or line.queued()) and time.monotonic() < deadline:
                time.sleep(0.001)  # the kernel gives no sign when its queue is empty
                self._write(line)
        except LineLost as error:
            self._core.notes.append(Note("error", f"the line was lost on the way out: {error}"))
        except Exception:
            _write_last_word(line)  # the core cannot be asked any more
            raise
        finally:
            self._keeper.let_go(wait=True)  # whoever opens the line next finds it free
            line.close()
            self._core.on_released(time.monotonic())

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
            tuple(gate.holds),
            core.supervisor.findings,
            core.supervisor.mismatches,
            core.supervisor.grip.holding,
        )
        sample = core.telemetry.sample
        due = now >= self._next_picture or state != self._told
        if due:
            self._told = state
            self._next_picture = now + self._picture_period
            with self._news:
                self.picture = arm_picture(core, now)
                self._news.notify_all()
        if due or sample is not self.sample:
            self.sample = sample
            self._on_update()


def _write_last_word(line: Transport) -> bool:
    """Write a stop that needs no core; return whether the line took all of it."""
    with contextlib.suppress(Exception):  # nothing is known of the line, and nothing may end here
        line.purge_output()
    with contextlib.suppress(Exception):
        return line.write(LAST_WORD) == len(LAST_WORD)
    return False


def _timeout(seconds: float) -> float:
    return max(0.0, seconds)
