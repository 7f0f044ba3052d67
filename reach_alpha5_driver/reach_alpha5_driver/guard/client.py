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

FIRST_PROCESS = 1
"""Id of the process that takes all others of its container with it."""


class GuardError(Exception):
    """The guard cannot be started; the text says what to do about it."""


class GuardState(enum.Enum):
    """What is known of the guard."""

    OFF = "off"
    """Not started, or closed."""
    WATCHING = "watching"
    """Its process serves; it stops the arm at the port that it was given last, if any."""
    TRIPPED = "tripped"
    """It has stopped the arm, and goes on doing so, because no pulse came. `rearm` ends that."""
    LOST = "lost"
    """Its process has ended, or did not answer and was ended. `start` begins again."""


class Guard:
    """Keeps a guard process. All calls are for one thread: that which moves the arm.

    No call but `start` raises, whatever happens to the process; none waits for it but those that
    say so. The order that makes it safe: `watch` when the port has opened, `pulse` **before** the
    first byte of motion is written and as often as `next_pulse` says, `still` when a stop is on
    the line and nothing else can be, `unwatch` before the port is closed.
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
        self._peer: socket.socket | None = None
        self._next_pulse = math.inf
        self._ticket = 0
        self._answered = 0
        self._state = GuardState.OFF
        self.reason = ""
        """Why the guard has tripped or is lost."""

    @property
    def pid(self) -> int | None:
        """Id of the guard's process."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the process and wait until it serves; nothing happens if it does already.

        Raises:
            GuardError: it does not start. The arm must not move then.
        """
        if self._peer is not None:
            return
        if os.getpid() == FIRST_PROCESS:
            raise GuardError(
                "the driver is process 1 of its container: nothing outlives it, so nothing could "
                "stop the arm when it is killed; start the container with an init (`--init`)"
            )
        # Packets keep messages whole, and a write to a peer that is gone raises no SIGPIPE.
        self._peer, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._peer.setblocking(False)
        self._peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNREAD_LIMIT)
        self._process = None
        try:
            self._process = self._spawn(theirs)
        except OSError as error:
            self._lose("its process cannot be started")
            raise GuardError(f"the guard cannot be started: {error}") from error
        finally:
            theirs.close()
        self._state, self.reason = GuardState.WATCHING, ""
        self._ticket, self._answered, self._next_pulse = 0, -1, math.inf
        if not self._wait_for_answer(START_TIMEOUT):
            raise GuardError(f"the guard does not start: {self._last_line() or self.reason}")
        if self._process.stderr is not None:
            self._process.stderr.close()

    def watch(self, fd: int) -> None:
        """Hand over the port that has just opened; waits until the guard has it.

        An earlier port is let go. A guard that does not answer is ended, and `LOST`.
        """
        port = process.DESCRIPTOR_FORMAT.pack(fd)
        self._ask(process.WATCH, [(socket.SOL_SOCKET, socket.SCM_RIGHTS, port)])

    def unwatch(self) -> None:
        """Make the guard let the port go, which keeps its lock as long; waits until it has.

        No more pulses are expected then: without a port there is nothing to stop.
        """
        self.still()
        self._ask(process.UNWATCH, [])

    def pulse(self, now: float) -> None:
        """Say that the arm may move. Call it as often as you like: one goes out each period."""
        if self._peer is None or now < self._next_pulse < math.inf:
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
        """Take in what the guard has said, and return what is known of it."""
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
                _, self._answered = process.TICKET_FORMAT.unpack(message)
        return self._state

    def rearm(self) -> None:
        """Unlatch a guard that has tripped, after a reset."""
        if self._state is GuardState.TRIPPED:
            self._state, self.reason, self._next_pulse = GuardState.WATCHING, "", math.inf
            self._send(process.REARM)

    def fileno(self) -> int:
        """Return a descriptor that is readable when `check` has news; -1 if off or lost."""
        return -1 if self._peer is None else self._peer.fileno()

    def close(self) -> None:
        """Say goodbye, wait for the end of the process; end it if it does not."""
        if self._peer is not None:
            self._send(process.GOODBYE)
        if self._peer is not None:
            self._peer.close()
            self._peer = None
            self._end(patience=END_TIMEOUT)
        self._state, self.reason, self._next_pulse = GuardState.OFF, "", math.inf

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
        """Return the last line of what a process that did not start had to say."""
        if self._process is None or self._process.stderr is None:
            return ""
        with self._process.stderr as messages:
            return messages.read().decode(errors="replace").strip().rpartition("\n")[2]

    def _lose(self, reason: str) -> None:
        if self._peer is not None:
            self._peer.close()
            self._peer = None
        self._end(patience=0.0)
        self._state, self.reason, self._next_pulse = GuardState.LOST, reason, math.inf

    def _end(self, patience: float) -> None:
        """Wait for the process `patience` [s], then kill it; it leaves no zombie."""
        if self._process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
            return
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_TIMEOUT)

    # -- the socket

    def _ask(self, kind: bytes, rights: list[tuple[int, int, bytes]]) -> None:
        if self._peer is None:
            return
        self._ticket += 1
        self._send(process.TICKET_FORMAT.pack(kind, self._ticket), rights)
        self._wait_for_answer(ANSWER_TIMEOUT)

    def _wait_for_answer(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while self.check() is not GuardState.LOST and self._answered != self._ticket:
            left = deadline - time.monotonic()
            if left <= 0.0:
                self._lose(f"it did not answer within {timeout:g} s")
            elif self._peer is not None:
                poller = select.poll()
                poller.register(self._peer, select.POLLIN)
                poller.poll(math.ceil(1e3 * left))
        return self._state is not GuardState.LOST

    def _send(self, message: bytes, rights: Sequence[tuple[int, int, bytes]] = ()) -> None:
        if self._peer is None:
            return
        try:
            self._peer.sendmsg([message], rights)
        except BlockingIOError:
            self._lose("it does not read what it is told")
        except OSError as error:
            self._lose(f"it cannot be reached: {error}")
