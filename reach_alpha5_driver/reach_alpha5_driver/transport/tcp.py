"""A serial line behind a TCP port, as terminal servers give it: `socket://HOST:PORT`.

What TCP has taken cannot be called back, so as little as it allows is queued here. A peer that
vanishes says nothing: the connection ends when sent bytes, or probes on a quiet line, are not
acknowledged in `PEER_TIMEOUT`.
"""

from __future__ import annotations

import contextlib
import fcntl
import socket
import struct
import threading
from urllib.parse import urlsplit

from reach_alpha5_driver.transport.base import LineLost, OpenError

SCHEME = "socket"

OPEN_TIMEOUT = 0.5
"""Longest time [s] that opening takes. Nothing else is kept waiting by it but e-stops and commands
while there is no line anyway, so it is short; a server that is further away than this is too far
to steer an arm."""

PEER_TIMEOUT = 3
"""Whole seconds after which a silent peer counts as gone."""

CHUNK = 4096
"""Most bytes taken in one read."""

SEND_BUFFER = 2048
"""Asked for as the size of the send buffer [bytes]; Linux doubles it, and has a least size."""

SIOCOUTQNSD = 0x894B
"""Bytes that wait in the send buffer and have not been sent; from linux/sockios.h."""

OPTIONS = (
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    (socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER),
    # For a line on which bytes wait for their acknowledgement: the driver's usual case.
    (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, PEER_TIMEOUT * 1000),
    # For a quiet line: it is probed each second.
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, PEER_TIMEOUT),
)


class TcpLine:
    """A connection to a terminal server."""

    can_purge = False
    latency = None
    advice = ""

    def __init__(self, connection: socket.socket) -> None:
        """Take over a connection."""
        connection.setblocking(False)
        for level, option, value in OPTIONS:
            connection.setsockopt(level, option, value)
        self._socket = connection

    def fileno(self) -> int:
        """Return the descriptor of the socket."""
        return self._socket.fileno()

    def read(self) -> bytes:
        """Return what has arrived."""
        try:
            data = self._socket.recv(CHUNK)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise LineLost(str(error)) from error
        if not data:
            raise LineLost("the connection was closed at the other end")
        return data

    def write(self, data: bytes) -> int:
        """Hand over as much as the send buffer takes."""
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise LineLost(str(error)) from error

    def purge_output(self) -> None:
        """Do nothing: TCP keeps what it was given."""

    def queued(self) -> int:
        """Return how many bytes have not been sent; those on their way cannot be told."""
        try:
            (count,) = struct.unpack("i", fcntl.ioctl(self.fileno(), SIOCOUTQNSD, bytes(4)))
        except (OSError, ValueError) as error:
            raise LineLost(str(error)) from error
        return int(count)

    def close(self) -> None:
        """Hang up, behind what was written."""
        with contextlib.suppress(OSError):
            # Others may have inherited the descriptor: closing ours alone would not hang up.
            self._socket.shutdown(socket.SHUT_WR)
            # Closing with something unread would reset the connection, and could take the last
            # stop with it.
            while self._socket.recv(CHUNK):
                pass
        self._socket.close()


def open_tcp(url: str, timeout: float = OPEN_TIMEOUT) -> TcpLine:
    """Connect to `socket://HOST:PORT`, in `timeout` seconds at the longest.

    Raises:
        OpenError: nobody is there, or the URL is wrong; the text says what to do.
    """
    host, port = _address(url)
    attempt = _Attempt(host, port, timeout)
    try:
        return TcpLine(attempt.result())
    except OSError as error:
        raise OpenError(
            f"cannot open {url}: {error.strerror or error}; check that {host} is on and serves "
            "this port, and that serial_port names the right one"
        ) from error


def _address(url: str) -> tuple[str, int]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port or parts.path or parts.query:
        raise OpenError(
            f"cannot open {url}: this is no address; write it as socket://HOST:PORT with a port "
            "from 1 to 65535"
        )
    return host, port


class _Attempt:
    """One attempt to connect, in a thread: looking a name up knows no time-out."""

    def __init__(self, host: str, port: int, timeout: float) -> None:
        self._address = host, port
        self._timeout = timeout
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None
        self._error: OSError | None = None
        self._abandoned = False
        self._thread = threading.Thread(target=self._run, name="tcp-open", daemon=True)

    def result(self) -> socket.socket:
        """Connect.

        Raises:
            OSError: it failed, or took too long.
        """
        self._thread.start()
        self._thread.join(self._timeout)
        with self._lock:
            if self._connection is not None:
                return self._connection
            self._abandoned = True
            if self._error is not None:
                raise self._error
        raise TimeoutError(f"no answer in {self._timeout:g} s")

    def _run(self) -> None:
        try:
            connection = socket.create_connection(self._address, self._timeout)
        except OSError as error:
            with self._lock:
                self._error = error
            return
        with self._lock:
            if self._abandoned:
                connection.close()
            else:
                self._connection = connection
