"""Serial ports and pseudo-terminals through pyserial; the one way in to all transports.

pyserial opens and configures the port. Reading and writing go to its file descriptor directly: the
control loop waits on that with `select`, and must never be held by a write.

A port is ours alone. Two locks see to that, since programs know the one or the other: `flock`, and
`TIOCEXCL`, which keeps out all but root. The guard process inherits the descriptor and both locks
with it, so that nobody comes between the death of a driver and its last stop; closing gives them
back by name, as closing one copy of a descriptor does not.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import struct
import termios

import serial

from reach_alpha5_driver.transport import tcp
from reach_alpha5_driver.transport.base import LineLost, OpenError, Transport
from reach_alpha5_driver.transport.latency_timer import shorten_latency
from reach_alpha5_driver.transport.lock_owner import busy_text

CHUNK = 4096
"""Most bytes taken in one read."""

BUSY = (errno.EBUSY, errno.EAGAIN)
"""What `open` says of a port under `TIOCEXCL`, and `flock` of one that is locked."""

ADVICE = {
    errno.ENOENT: "there is no such port; plug the adapter in, or set serial_port to one of those "
    "that `python3 -m serial.tools.list_ports` shows",
    errno.EACCES: "no permission; add this user to the group of the port (usually "
    "`sudo usermod -aG dialout $USER`) and log in again",
    errno.ENOTTY: "this is no serial port; set serial_port to one",
    errno.EISDIR: "this is a folder; set serial_port to a serial port",
}

PTY_MAJORS = range(136, 144)
"""Device numbers of pseudo-terminals on Linux."""


class SerialLine:
    """An open serial port."""

    can_purge = True

    def __init__(self, port: serial.Serial, path: str) -> None:
        """Take over `port`, open at `path`, which does not block; use `open_serial`."""
        self._port = port
        self._fd: int = port.fileno()
        self.latency_timer = shorten_latency(path, self._fd)

    @property
    def advice(self) -> str:
        """What to do about a slow adapter."""
        return self.latency_timer.advice

    @property
    def latency(self) -> int | None:
        """Return the latency timer of the adapter."""
        return self.latency_timer.milliseconds

    def fileno(self) -> int:
        """Return the descriptor of the port."""
        return self._fd

    def read(self) -> bytes:
        """Return what has arrived."""
        try:
            data = os.read(self._fd, CHUNK)
            if not data and select.select([self._fd], [], [], 0)[0]:
                # Either bytes came just now, or a port that hung up is always ready, with nothing.
                data = os.read(self._fd, CHUNK)
                if not data:
                    raise LineLost("the port was closed at the other end")
        except BlockingIOError:
            return b""
        except (OSError, ValueError) as error:
            raise LineLost(str(error)) from error
        return data

    def write(self, data: bytes) -> int:
        """Hand over as much as the kernel takes."""
        try:
            return os.write(self._fd, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise LineLost(str(error)) from error

    def purge_output(self) -> None:
        """Flush the kernel's output queue."""
        try:
            termios.tcflush(self._fd, termios.TCOFLUSH)
        except termios.error as error:
            raise LineLost(str(error)) from error

    def queued(self) -> int:
        """Return the length of the kernel's output queue (TIOCOUTQ)."""
        try:
            (count,) = struct.unpack("i", fcntl.ioctl(self._fd, termios.TIOCOUTQ, bytes(4)))
        except OSError as error:
            raise LineLost(str(error)) from error
        return int(count)

    def close(self) -> None:
        """Give the locks back, for all who hold the descriptor, and close the port."""
        if self._port.is_open:
            share(self._fd)
        with contextlib.suppress(OSError, termios.error):
            self._port.close()


def open_serial(url: str, baud_rate: int) -> Transport:
    """Open a device path or URL, exclusively; takes `tcp.OPEN_TIMEOUT` at the longest.

    Raises:
        OpenError: it cannot be opened; the text says why, and what to do.
    """
    if url.lower().startswith(f"{tcp.SCHEME}://"):
        return tcp.open_tcp(url)
    try:
        port = serial.serial_for_url(
            url, baudrate=baud_rate, timeout=0, write_timeout=0, exclusive=True, do_not_open=True
        )
    except (OSError, ValueError) as error:
        raise OpenError(f"cannot open {url}: {error}") from error
    if not isinstance(port, serial.Serial):
        raise OpenError(
            f"cannot use {url}: it has no file descriptor; use a device path or socket://HOST:PORT"
        )
    path = port.portstr or url
    try:
        port.open()
    except (OSError, ValueError, termios.error) as error:
        raise OpenError(f"cannot open {url}: {_advice(path, error)}") from error
    line = SerialLine(port, path)
    # A pseudo-terminal stays exclusive while its other end is open, so a driver that was killed
    # would lock out the next one for ever.
    if os.major(os.fstat(line.fileno()).st_rdev) not in PTY_MAJORS:
        claim(line.fileno())
    return line


def claim(fd: int) -> None:
    """Keep programs that look for no lock from opening a port."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(fd, termios.TIOCEXCL)


def share(fd: int) -> None:
    """Give both locks back, also those that a copy of the descriptor would keep."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(fd, termios.TIOCNXCL)
    with contextlib.suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_UN)


def _advice(port: str, error: BaseException) -> str:
    number = _number(error)
    if number in BUSY:
        return busy_text(port)
    return str(error) if number is None else ADVICE.get(number, str(error))


def _number(error: BaseException) -> int | None:
    """Return the errno behind a failed opening; pyserial keeps it in one of three places."""
    number = getattr(error, "errno", None)
    if number is None and isinstance(error.__context__, termios.error):
        number = error.__context__.args[0]
    return number
