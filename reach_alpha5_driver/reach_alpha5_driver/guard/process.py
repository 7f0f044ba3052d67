"""The guard's process: it holds the arm's port, and writes the stop when the driver cannot.

The driver starts this file as a program. It imports nothing but the standard library, and as
little of that as will do: it must be small, start at once, and share no fault with the driver.

It listens on one end of a socket pair of which only the driver has the other. Three things end
motion here, and each works alone:

* The driver is gone, and did not say goodbye: the other end closes, or the kernel says that the
  process has ended (a child of the driver may have inherited the other end and keep it open). The
  stop is written whether the arm was said to move or not, twice, and the guard ends; the lock on
  the port ends with it.
* The driver's control thread is stopped or gone: while the arm may move, pulses come. When they
  do not, the kernel is asked about the thread that sent them.
* The driver hangs: no pulses for longer, for whatever reason. The guard latches, tells the driver,
  and repeats the stop until the driver says that no motion can be on the line any more: a driver
  that wakes up may have had a write under way, and there is nobody who could see in the arm's
  reports whether it obeyed. On a half-duplex bus an answer of the arm may have garbled a stop.

While the arm is still, the guard sleeps without a time-out.
"""

import fcntl
import math
import os
import select
import signal
import socket
import struct
import sys
import termios
import time
from collections.abc import Callable

# -- what is said: a letter, and what belongs to it

PULSE, STILL, REARM, WATCH, UNWATCH, GOODBYE = b"P", b"S", b"R", b"W", b"U", b"G"
DONE, TRIPPED = b"D", b"T"

PULSE_FORMAT = struct.Struct("=cdi")
"""The pulse's time (CLOCK_MONOTONIC, all processes share it) and the thread that sent it."""

TICKET_FORMAT = struct.Struct("=cI")
"""A number that the answer to `WATCH` and `UNWATCH` repeats; answer 0 is the greeting."""

DESCRIPTOR_FORMAT = struct.Struct("=i")
"""The port that comes with `WATCH`, beside the message (SCM_RIGHTS)."""

DESCRIPTOR_SPACE = socket.CMSG_SPACE(DESCRIPTOR_FORMAT.size)

LONGEST = 512
"""Bytes of the longest message."""

MOST_AT_ONCE = 1000
"""Messages read before the time is looked at again; more than the socket holds."""

# -- times, in seconds

LOOK_PERIOD = 0.005
"""Between two looks at a thread that is late."""

OVERSLEPT = 0.01
"""A guard that comes later than this to a look was kept from the processor."""

WRITE_TIME = 0.02
"""Longest time for the port to take a stop, before its queue is flushed again."""

DRAIN_TIME = 0.1
"""Longest wait for a stop to leave the queue; it takes 6 ms at 115200 baud."""

LAST_WORDS_TIME = 1.0
"""Longest time spent on a port that takes nothing, once the driver is gone."""

ALIVE = b"RSD"
"""States of a thread that may go on by itself: it runs or waits for a processor, sleeps, waits for
a device."""


class Watch:
    """What was heard of the driver, and what follows. Times come in; nothing goes out but answers.

    The arm is still, or may move (`moving`), and the latch is set (`tripped`) or not. A pulse
    makes `moving`, `STILL` ends it. Lateness while moving sets the latch, only `REARM` ends it.
    """

    # Of the last pulse, and nothing is asked of them while there was none.
    _pulse_at: float
    _thread: int
    _look_at: float

    def __init__(
        self,
        suspect_after: float,
        hang_after: float,
        repeat_period: float,
        trouble_of: Callable[[int], str],
    ) -> None:
        """Begin with an arm that is still.

        Args:
            suspect_after: age of the last pulse at which its thread is looked at [s].
            hang_after: age of the last pulse that is a hang [s].
            repeat_period: between two stops while the latch is set and the arm may move [s].
            trouble_of: tells why a thread cannot go on, or nothing if it can.
        """
        self._suspect_after = suspect_after
        self._hang_after = hang_after
        self._repeat_period = repeat_period
        self._trouble_of = trouble_of
        self.moving = False
        self.tripped = False
        self.reason = ""
        """Why the latch was set last."""

    @property
    def next_look(self) -> float:
        """When `must_stop` is to be asked next [s]; infinite while the arm is still."""
        return self._look_at if self.moving else math.inf

    def pulse(self, at: float, thread: int, now: float) -> None:
        """`thread` has said at the time `at` [s] that the arm may move."""
        self.moving = True
        self._pulse_at = min(at, now)
        self._thread = thread
        # After the latch is set, motion is what a driver does that has not noticed yet.
        self._look_at = now if self.tripped else self._pulse_at + self._suspect_after

    def still(self) -> None:
        """No motion can be on the line."""
        self.moving = False

    def rearm(self) -> None:
        """The driver knows, and somebody has reset it."""
        self.moving = self.tripped = False

    def must_stop(self, now: float) -> bool:
        """Tell whether a stop is to be written now; sets the latch if it was not set."""
        if now < self.next_look:
            return False
        if not self.tripped and not self._is_late(now):
            return False
        self.tripped = True
        self._look_at = now + self._repeat_period
        return True

    def _is_late(self, now: float) -> bool:
        trouble = self._trouble_of(self._thread)
        hang_at = self._pulse_at + self._hang_after
        # Whoever was kept from the processor gives the driver, kept from it too, the chance to go
        # first: one more look, but not for ever.
        overslept = now - self._look_at > OVERSLEPT and now < hang_at + self._hang_after
        if trouble or (now >= hang_at and not overslept):
            state = f"its control thread is {trouble}" if trouble else "it hangs"
            late = 1e3 * (now - self._pulse_at)
            self.reason = f"no pulse from the driver for {late:.0f} ms: {state}"
            return True
        self._look_at = now + LOOK_PERIOD
        if now < hang_at:
            self._look_at = min(self._look_at, hang_at)
        return False


class Port:
    """The arm's port, a copy of the driver's descriptor.

    The copies share one description: its flags are the driver's, and are never changed here. The
    driver's is non-blocking, but nothing here relies on it.
    """

    def __init__(self, fd: int, stop: bytes) -> None:
        """Own `fd`; `stop` is what stops the arm, a terminator first."""
        self._fd = fd
        self._stop = stop
        self._is_tty = os.isatty(fd)

    def stop(self) -> str:
        """Flush the queue and write the stop. Return what was wrong, nothing if all went out."""
        deadline = time.monotonic() + WRITE_TIME
        poller = select.poll()
        poller.register(self._fd, select.POLLOUT)
        left = self._stop
        try:
            self._flush()
            while left:
                wait = deadline - time.monotonic()
                if wait <= 0.0 or not poller.poll(math.ceil(1e3 * wait)):
                    return "the port takes nothing"
                try:
                    left = left[os.write(self._fd, left) :]
                except BlockingIOError:
                    time.sleep(0.001)  # ready, and yet no room: a port that counts differently
        except (OSError, termios.error) as error:
            return str(error)
        return ""

    def drain(self, timeout: float) -> None:
        """Wait until the queue is empty, at most `timeout` [s]; not where that cannot be told."""
        deadline = time.monotonic() + timeout
        while self._queued() and time.monotonic() < deadline:
            time.sleep(0.002)

    def close(self) -> None:
        """Give the copy back."""
        os.close(self._fd)

    def _flush(self) -> None:
        if self._is_tty:
            termios.tcflush(self._fd, termios.TCOFLUSH)

    def _queued(self) -> int:
        try:
            (count,) = struct.unpack("i", fcntl.ioctl(self._fd, termios.TIOCOUTQ, bytes(4)))
        except OSError:
            return 0
        return int(count)


class Process:
    """Joins the watch to the socket, the port and the clock."""

    def __init__(self, peer: socket.socket, watch: Watch, stop: bytes, repeat: float) -> None:
        """Serve the driver at the other end of `peer`."""
        self._peer = peer
        self._watch = watch
        self._stop = stop
        self._repeat = repeat
        self._port: Port | None = None
        self._connected = True
        self._goodbye = False

    def serve(self, driver: int) -> None:
        """Watch the process with the id `driver` until it is gone, or says goodbye."""
        poller = select.poll()
        poller.register(self._peer, select.POLLIN)
        end_of_driver = _end_of(driver)
        if end_of_driver is not None:
            poller.register(end_of_driver, select.POLLIN)
        self._say(TICKET_FORMAT.pack(DONE, 0))
        try:
            while self._connected and not self._goodbye:
                ready = poller.poll(_milliseconds(self._watch.next_look - time.monotonic()))
                # All that was said is heard before lateness is judged: a guard that was kept from
                # the processor must not take its own delay for the driver's.
                self._listen()
                if any(fd == end_of_driver for fd, _ in ready):
                    self._connected = False
                self._judge(time.monotonic())
        finally:
            # An error of this program ends here too.
            if not self._goodbye or self._watch.moving:
                self._last_words()

    def _judge(self, now: float) -> None:
        told = self._watch.tripped
        if not self._watch.must_stop(now):
            return
        trouble = self._port.stop() if self._port else "it has no port"
        if not told:
            text = self._watch.reason
            if trouble:
                text += f"; the stop could not be written: {trouble}"
            self._say(TRIPPED + text.encode(errors="replace")[: LONGEST - 1])

    def _last_words(self) -> None:
        """Write the stop twice; nobody is left who could see whether the first was obeyed."""
        if self._port is None:
            return
        give_up = time.monotonic() + LAST_WORDS_TIME
        wanted = 2
        while wanted and time.monotonic() < give_up:
            if not self._port.stop():
                wanted -= 1
                self._port.drain(DRAIN_TIME)
            time.sleep(self._repeat if wanted else 0.0)

    def _listen(self) -> None:
        for _ in range(MOST_AT_ONCE):
            try:
                message, extra, _, _ = self._peer.recvmsg(LONGEST, DESCRIPTOR_SPACE)
            except BlockingIOError:
                return
            except ConnectionResetError:
                continue  # the driver left without reading everything; what it said is still there
            if not message:
                self._connected = False
                return
            self._take(message, [data for _, _, data in extra])

    def _take(self, message: bytes, extra: list[bytes]) -> None:
        kind = message[:1]
        if kind == PULSE:
            _, at, thread = PULSE_FORMAT.unpack(message)
            self._watch.pulse(at, thread, time.monotonic())
        elif kind == STILL:
            self._watch.still()
        elif kind == REARM:
            self._watch.rearm()
        elif kind == GOODBYE:
            self._goodbye = True
        elif kind in (WATCH, UNWATCH):
            self._change_port(extra)
            _, ticket = TICKET_FORMAT.unpack(message)
            self._say(TICKET_FORMAT.pack(DONE, ticket))

    def _change_port(self, extra: list[bytes]) -> None:
        if self._port is not None:
            self._port.close()
            self._port = None
        for data in extra:
            (fd,) = DESCRIPTOR_FORMAT.unpack(data)
            self._port = Port(fd, self._stop)

    def _say(self, message: bytes) -> None:
        try:
            self._peer.send(message)
        except OSError:
            return  # a driver that is gone, or does not listen: the next look finds out


def trouble_of(process: int, thread: int) -> str:
    """Return why a thread of a process cannot go on by itself, nothing if it can."""
    try:
        fd = os.open(f"/proc/{process}/task/{thread}/status", os.O_RDONLY)
        try:
            return trouble_in(os.read(fd, 8192))
        finally:
            os.close(fd)
    except OSError:
        return "gone"


def trouble_in(status: bytes) -> str:
    """Tell what `/proc/PID/task/TID/status` says against a thread.

    A process that was killed gives its memory back before it closes its files, which takes 100 ms
    and more for a large one on a busy machine: it is found here long before the socket ends. A
    process that dumps core never comes back, and closes its files when the dump is written.
    """
    _, _, state = status.partition(b"\nState:\t")
    if not state or state[:1] not in ALIVE:
        return state.partition(b"\n")[0].decode(errors="replace") or "in an unknown state"
    if b"\nVmSize:" not in status:
        return "exiting"
    if b"\nCoreDumping:\t1" in status:
        return "dumping core"
    return ""


def _end_of(process: int) -> int | None:
    """Return a descriptor that becomes readable when the process has ended."""
    try:
        return os.pidfd_open(process)
    except (AttributeError, OSError):  # an old kernel, or gone already: the socket tells it alone
        return None


def _milliseconds(seconds: float) -> int | None:
    return None if math.isinf(seconds) else max(0, math.ceil(1e3 * seconds))


def main(arguments: list[str]) -> int:
    """Run the guard; see `client.Guard` for who starts it and how."""
    if len(arguments) != 6:
        print(
            "usage: process.py SOCKET DRIVER STOP SUSPECT_AFTER HANG_AFTER REPEAT_PERIOD\n"
            "Started by the driver: a descriptor, a process id, hex bytes, and times in seconds.",
            file=sys.stderr,
        )
        return 2
    fd, driver, stop = int(arguments[0]), int(arguments[1]), bytes.fromhex(arguments[2])
    suspect_after, hang_after, repeat = (float(text) for text in arguments[3:])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if trouble := trouble_of(driver, driver):
        print(f"/proc says that the driver (process {driver}) is {trouble}", file=sys.stderr)
        return 1
    peer = socket.socket(fileno=fd)
    peer.setblocking(False)
    watch = Watch(suspect_after, hang_after, repeat, lambda thread: trouble_of(driver, thread))
    Process(peer, watch, stop, repeat).serve(driver)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
