"""What the driver opens: a pseudo-terminal behind a stable name, or a TCP port."""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import pty
import socket
import struct
import termios
import tty
from pathlib import Path
from typing import Protocol

RECEIVE_BUFFER = 4000
"""What the driver's machine keeps of received bytes; more are lost, as on a real port [bytes]."""

FLUSHED_BY_WRITER = 0x02
"""TIOCPKT_FLUSHWRITE: the driver has thrown away what it had written (`tcflush`)."""


class PortError(Exception):
    """The port cannot be offered; the message says what to do."""


class Port(Protocol):
    """One end of the line, for the driver to open."""

    @property
    def name(self) -> str:
        """What the driver opens: a path, or a `socket://` URL."""

    def readers(self) -> list[int]:
        """Return the descriptors that become readable when `read` has something to do."""

    def read(self, limit: int) -> tuple[bytes, bool]:
        """Return up to `limit` bytes the driver has written, and whether it has purged before.

        Nothing there gives no bytes. `limit` may be zero: only a purge is looked for.
        """

    def write(self, data: bytes) -> int:
        """Give bytes to the driver. Return how many were lost, as nobody took them."""

    def unplug(self) -> None:
        """Pull the cable: the driver sees its port die."""

    def plug(self) -> None:
        """Put it back."""

    def close(self) -> None:
        """Take the port away for good."""


class PtyPort:
    """A pseudo-terminal. The link, if wanted, always leads to it, also after `plug`."""

    def __init__(self, link: str | None) -> None:
        self._link = Path(link).absolute() if link else None
        self._master: int | None = None
        self._slave = -1
        self._path = ""
        self.plug()

    @property
    def name(self) -> str:
        """Path to open."""
        return str(self._link) if self._link else self._path

    def readers(self) -> list[int]:
        """Return the master's descriptor, if plugged."""
        return [] if self._master is None else [self._master]

    def read(self, limit: int) -> tuple[bytes, bool]:
        """See `Port`. The kernel keeps bytes that were flushed, but tells: packet mode."""
        if self._master is None:
            return b"", False
        try:
            packet = os.read(self._master, limit + 1)
        except BlockingIOError:
            return b"", False
        return packet[1:], bool(packet and packet[0] & FLUSHED_BY_WRITER)

    def write(self, data: bytes) -> int:
        """See `Port`."""
        if self._master is None:
            return len(data)
        waiting = array.array("i", [0])
        fcntl.ioctl(self._slave, termios.FIONREAD, waiting)
        room = max(0, RECEIVE_BUFFER - waiting[0])
        with contextlib.suppress(BlockingIOError):
            return len(data) - os.write(self._master, data[:room])
        return len(data)

    def unplug(self) -> None:
        """See `Port`: whoever has the slave open sees a hang-up."""
        if self._master is None:
            return
        if self._link and self._is_ours(self._link):
            self._link.unlink()
        os.close(self._slave)
        os.close(self._master)
        self._master = None

    def plug(self) -> None:
        """See `Port`."""
        if self._master is not None:
            return
        # A slave that stays open lets the driver close and open again without a hang-up.
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        fcntl.ioctl(self._master, termios.TIOCPKT, struct.pack("i", 1))
        self._path = os.ttyname(self._slave)
        if self._link:
            try:
                make_link(self._link, self._path)
            except PortError:
                self._link = None
                self.unplug()
                raise

    def close(self) -> None:
        """See `Port`."""
        self.unplug()

    def _is_ours(self, link: Path) -> bool:
        return link.is_symlink() and os.readlink(link) == self._path


def make_link(link: Path, target: str) -> None:
    """Make or replace the symbolic link, at once for everyone who looks.

    Raises:
        PortError: something that is not a link is there, or the folder does not allow it.
    """
    temporary = link.with_name(f".{link.name}.{os.getpid()}")
    try:
        if link.exists() and not link.is_symlink():
            raise PortError(
                f"{link} is there and is not a link: choose another name, or remove it"
            )
        temporary.symlink_to(target)
        temporary.replace(link)
    except OSError as error:
        raise PortError(f"cannot make the link {link}: {error.strerror}") from error


class TcpPort:
    """A TCP port for one driver at a time; the next may come when it has gone."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener: socket.socket | None = None
        self._client: socket.socket | None = None
        self.plug()

    @property
    def name(self) -> str:
        """URL to open with `serial_for_url`."""
        return f"socket://127.0.0.1:{self._port}"

    def readers(self) -> list[int]:
        """Return the driver's connection, or where it would come in."""
        waiting = self._client or self._listener
        return [] if waiting is None else [waiting.fileno()]

    def read(self, limit: int) -> tuple[bytes, bool]:
        """See `Port`. TCP has no purge."""
        if self._client is None:
            self._accept()
            return b"", False
        if limit == 0:
            return b"", False
        try:
            data = self._client.recv(limit)
        except BlockingIOError:
            return b"", False
        except OSError:
            data = b""
        if not data:
            self._hang_up()
        return data, False

    def write(self, data: bytes) -> int:
        """See `Port`."""
        if self._client is None:
            return len(data)
        try:
            return len(data) - self._client.send(data)
        except BlockingIOError:
            return len(data)
        except OSError:
            self._hang_up()
            return len(data)

    def unplug(self) -> None:
        """See `Port`."""
        self._hang_up()
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def plug(self) -> None:
        """See `Port`."""
        if self._listener is not None:
            return
        try:
            self._listener = socket.create_server(("127.0.0.1", self._port), backlog=1)
        except OSError as error:
            raise PortError(f"cannot listen on TCP port {self._port}: {error.strerror}") from error
        self._listener.setblocking(False)
        self._port = self._listener.getsockname()[1]

    def close(self) -> None:
        """See `Port`."""
        self.unplug()

    def _accept(self) -> None:
        if self._listener is None:
            return
        with contextlib.suppress(BlockingIOError):
            self._client, _ = self._listener.accept()
            self._client.setblocking(False)
            self._client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _hang_up(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
