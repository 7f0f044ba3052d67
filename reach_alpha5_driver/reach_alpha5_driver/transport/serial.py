"""Serial ports, pseudo-terminals and `socket://` through pyserial.

pyserial opens and configures the port. Reading and writing go to its file descriptor directly: the
control loop waits on that with `select`, and must never be held by a write.
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

from reach_alpha5_driver.transport.base import LineLost, OpenError, Transport

CHUNK = 4096
"""Most bytes taken in one read."""

ADVICE = {
    errno.ENOENT: "there is no such port; plug the adapter in, or set serial_port to one of those "
    "that `python3 -m serial.tools.list_ports` shows",
    errno.EACCES: "no permission; add this user to the group of the port (usually "
    "`sudo usermod -aG dialout $USER`) and log in again",
    errno.EBUSY: "another program holds the port; close it",
    errno.EAGAIN: "another program holds the port; close it",
    errno.ENOTTY: "this is no serial port; set serial_port to one",
    errno.EISDIR: "this is a folder; set serial_port to a serial port",
}


class SerialLine:
    """An open pyserial port with a file descriptor."""

    def __init__(self, port: serial.SerialBase, fd: int) -> None:
        """Take over `port`, whose descriptor `fd` does not block; use `open_serial`."""
        self._port = port
        self._fd = fd
        self._is_tty = os.isatty(fd)

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
        """Flush the kernel's output queue; a socket has none that can be flushed."""
        if not self._is_tty:
            return
        try:
            termios.tcflush(self._fd, termios.TCOFLUSH)
        except termios.error as error:
            raise LineLost(str(error)) from error

    def queued(self) -> int:
        """Return the length of the kernel's output queue (TIOCOUTQ)."""
        if not self._is_tty:
            return 0
        try:
            (count,) = struct.unpack("i", fcntl.ioctl(self._fd, termios.TIOCOUTQ, bytes(4)))
        except OSError as error:
            raise LineLost(str(error)) from error
        return int(count)

    def close(self) -> None:
        """Close the port and give its lock back."""
        with contextlib.suppress(OSError, termios.error):
            self._port.close()


def open_serial(url: str, baud_rate: int) -> Transport:
    """Open a device path or pyserial URL, exclusively.

    Raises:
        OpenError: it cannot be opened; the text says why, and what to do.
    """
    try:
        port = serial.serial_for_url(
            url, baudrate=baud_rate, timeout=0, write_timeout=0, exclusive=True
        )
    except (OSError, ValueError, termios.error) as error:
        number = _number(error)
        advice = str(error) if number is None else ADVICE.get(number, str(error))
        raise OpenError(f"cannot open {url}: {advice}") from error
    try:
        return SerialLine(port, port.fileno())
    except (AttributeError, OSError) as error:
        port.close()
        raise OpenError(
            f"cannot use {url}: it has no file descriptor; use a device path or socket://HOST:PORT"
        ) from error


def _number(error: BaseException) -> int | None:
    """Return the errno behind a failed opening; pyserial keeps it in one of three places."""
    number = getattr(error, "errno", None)
    if number is None and isinstance(error.__context__, termios.error):
        number = error.__context__.args[0]
    return number
