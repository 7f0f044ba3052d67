"""The driver's end of the guard: starts it, hands it the port, sends the pulses."""

from __future__ import annotations

import contextlib
import enum
import math
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

from reach_alpha5_driver.guard import process
from reach_alpha5_driver.guard.config import GuardConfig

START_TIMEOUT = 5.0
"""Longest time [s] for Python to start on a busy machine."""

ANSWER_TIMEOUT = 1.0
"""Longest time [s] for the guard to take over a port or let it go; a millisecond is usual."""

END_TIMEOUT = 2.0
"""Longest time [s] for the guard to end."""

UNREAD_LIMIT = 16384
"""SO_SNDBUF of the driver's end: some forty pulses. A guard that leaves so many unread is none."""

MOST_SAID = 65536
"""Bytes read of what a process that does not start has to say; a pipe holds no more."""

FIRST_PROCESS = 1
"""Id of the process that takes all others of its container with it."""


class GuardState(enum.Enum):
    """What is known of the guard."""

    OFF = "off"
    """Not started, or closed."""
    STARTING = "starting"
    """Its process was started, and has not greeted yet."""
    SERVING = "serving"
    """Its process does what it is told; `Guard.watches` tells whether it has a port."""
    TRIPPED = "tripped"
    """It has stopped the arm, and goes on doing so, because no pulse came. `rearm` ends that."""
    LOST = "lost"
    """Its process did not start, has ended, or did not answer and was ended. `start` begins again.
    """


SERVES = (GuardState.SERVING, GuardState.TRIPPED)
"""States of a process that does what it is told."""


class Guard:
    """Keeps a guard process. All calls are for one thread: that which moves the arm.

    No call raises, whatever happens to the process; none waits for it but those that say so: what
    it answers is taken in by `check`, and so is that it does not. The order that makes it safe:
    `watch` when the port has opened, no motion before it `watches`, `pulse` **before** the first
    byte of motion is written and as often as `next_pulse` says, `still` when a stop is on the line
    and nothing else can be, `unwatch` before the port is closed.
    """

    def __init__(self, stop: bytes, config: GuardConfig) -> None:
        """Make a guard that is off.

        Args:
            stop: what stops the arm on the wire, led by a terminator for the sake of half a frame
                before it.
            config: times.
        """
        self._stop = stop
        self._config = config
        self._process: subprocess.Popen[bytes] | None = None
        self._leaving: list[subprocess.Popen[bytes]] = []
        """Processes that were let go of, and may not have ended yet."""
        self._peer: socket.socket | None = None
        self._next_pulse = math.inf
        self._ticket = self._answered = 0
        self._deadline = math.inf
        """When the answer to the last ticket must have come [s]."""
        self._has_port = False
        self._state = GuardState.OFF
        self.reason = ""
        """Why the guard has tripped or is lost."""

    @property
    def pid(self) -> int | None:
        """Id of the guard's process."""
        return None if self._process is None else self._process.pid

    @property
    def watches(self) -> bool:
        """Whether it has said that it holds the port that it was given last."""
        return self._has_port and self._answered == self._ticket

    def start(self) -> None:
        """Start the process, unless there is one; `check` tells what comes of it."""
        if self._peer is not None:
            return
        if os.getpid() == FIRST_PROCESS:
            self._lose(
                "the driver is process 1 of its container: nothing outlives it, so nothing could "
                "stop the arm when it is killed; start the container with an init (`--init`)"
            )
            return
        try:
            # Packets keep messages whole, and a write to a peer that is gone raises no SIGPIPE.
            self._peer, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._peer.setblocking(False)
                self._peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNREAD_LIMIT)
                self._process = self._spawn(theirs)
        except OSError as error:
            self._lose(f"its process cannot be started: {error}")
            return
        self._state, self.reason = GuardState.STARTING, ""
        self._ticket, self._answered = 0, -1
        self._deadline = time.monotonic() + START_TIMEOUT

    def watch(self, fd: int) -> None:
        """Hand over the port that has just opened, if it serves; an earlier one is let go.

        It `watches` when its answer has come. If none comes it is ended, and `LOST`.
        """
        if self._state not in SERVES:
            return
        self._has_port = True
        port = process.DESCRIPTOR_FORMAT.pack(fd)
        self._ask(process.WATCH, [(socket.SOL_SOCKET, socket.SCM_RIGHTS, port)])

    def unwatch(self, wait: bool = False) -> None:
        """Make the guard let the port go, which keeps its lock as long.

        No more pulses are expected then: without a port there is nothing to stop.

        Args:
            wait: wait until it has, or was ended because it did not answer.
        """
        self.still()
        if not self._has_port:
            return
        self._has_port = False
        self._ask(process.UNWATCH, [])
        while wait and self.check() is not GuardState.LOST and self._answered != self._ticket:
            poller = select.poll()
            poller.register(self.fileno(), select.POLLIN)
            poller.poll(max(0, math.ceil(1e3 * (self._deadline - time.monotonic()))))

    def pulse(self, now: float) -> None:
        """Say that the arm may move. Call it as often as you like: one goes out each period.

        A process that starts is told nothing: it has no port, and would find old pulses.
        """
        if self._state not in SERVES or now < self._next_pulse < math.inf:
            return
        self._next_pulse = now + self._config.pulse_period
        self._send(process.PULSE_FORMAT.pack(process.PULSE, now, threading.get_native_id()))

    def still(self) -> None:
        """Say, once, that no motion can be on the line any more."""
        if self._next_pulse < math.inf:
            self._next_pulse = math.inf
            self._send(process.STILL)

    def next_pulse(self) -> float:
        """Return when `pulse` is due [s], infinite while the arm is still."""
        return self._next_pulse

    def check(self) -> GuardState:
        """Take in what the guard has said or should have said; return what is known of it."""
        self._leaving = [leaving for leaving in self._leaving if leaving.poll() is None]
        while self._peer is not None:
            try:
                message = self._peer.recv(process.LONGEST)
            except BlockingIOError:
                break
            except OSError as error:
                self._lose(f"it cannot be reached: {error}")
                break
            if not message:
                self._lose("its process has ended")
            elif message[:1] == process.TRIPPED:
                self._state = GuardState.TRIPPED
                self.reason = message[1:].decode(errors="replace")
            else:
                self._take_answer(message)
        if (
            self._peer is not None
            and self._answered != self._ticket
            and time.monotonic() >= self._deadline
        ):
            self._lose("it did not answer in time")
        return self._state

    def rearm(self) -> None:
        """Unlatch a guard that has tripped, after a reset."""
        if self._state is GuardState.TRIPPED:
            self._state, self.reason, self._next_pulse = GuardState.SERVING, "", math.inf
            self._send(process.REARM)

    def fileno(self) -> int:
        """Return a descriptor that is readable when `check` has news; -1 if off or lost."""
        return -1 if self._peer is None else self._peer.fileno()

    def close(self) -> None:
        """Say goodbye, wait for the end of the process; end it if it does not."""
        self._send(process.GOODBYE)
        self._let_go(GuardState.OFF, "")
        for leaving in self._leaving:
            try:
                leaving.wait(END_TIMEOUT)
            except subprocess.TimeoutExpired:
                leaving.kill()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    leaving.wait(END_TIMEOUT)
        self.check()

    # -- the process

    def _spawn(self, peer: socket.socket) -> subprocess.Popen[bytes]:
        config = self._config
        times = (config.suspect_after, config.hang_after, config.repeat_period)
        return subprocess.Popen(
            [
                sys.executable, "-I", "-S", process.__file__,
                str(peer.fileno()), str(os.getpid()), self._stop.hex(), *map(str, times),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(peer.fileno(),),
            cwd="/",
            start_new_session=True,  # Ctrl-C, Ctrl-Z and a closed terminal do not reach it
        )  # fmt: skip

    def _last_line(self) -> str:
        """Return the last line of what a process that does not start has to say."""
        if self._process is None or self._process.stderr is None:
            return ""
        number = self._process.stderr.fileno()
        os.set_blocking(number, False)  # it may live on, and say nothing
        try:
            return os.read(number, MOST_SAID).decode(errors="replace").strip().rpartition("\n")[2]
        except BlockingIOError:
            return ""

    def _lose(self, reason: str) -> None:
        """End the process, and wait for nothing."""
        if self._state is GuardState.STARTING:
            reason = f"it does not start: {self._last_line() or reason}"
        self._let_go(GuardState.LOST, reason)
        for leaving in self._leaving:
            leaving.kill()

    def _let_go(self, state: GuardState, reason: str) -> None:
        """Close what leads to the process; when it has ended, `check` clears it away."""
        self._state, self.reason = state, reason
        self._has_port, self._next_pulse = False, math.inf
        if self._peer is not None:
            self._peer.close()
            self._peer = None
        if self._process is not None:
            _close_messages(self._process)
            self._leaving.append(self._process)
            self._process = None

    # -- the socket

    def _ask(self, kind: bytes, rights: list[tuple[int, int, bytes]]) -> None:
        self._ticket += 1
        self._deadline = time.monotonic() + ANSWER_TIMEOUT
        self._send(process.TICKET_FORMAT.pack(kind, self._ticket), rights)

    def _take_answer(self, message: bytes) -> None:
        _, self._answered = process.TICKET_FORMAT.unpack(message)
        if self._state is GuardState.STARTING:
            self._state = GuardState.SERVING
            if self._process is not None:
                _close_messages(self._process)

    def _send(self, message: bytes, rights: Sequence[tuple[int, int, bytes]] = ()) -> None:
        if self._peer is None:
            return
        try:
            self._peer.sendmsg([message], rights)
        except BlockingIOError:
            self._lose("it does not read what it is told")
        except OSError as error:
            self._lose(f"it cannot be reached: {error}")


def _close_messages(of: subprocess.Popen[bytes]) -> None:
    if of.stderr is not None:
        of.stderr.close()
