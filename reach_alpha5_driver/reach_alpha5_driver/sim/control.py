"""The control socket: commands to a running simulation from tests and shells."""

from __future__ import annotations

import contextlib
import os
import socket
import stat

from reach_alpha5_driver.sim.ports import PortError

MAX_LINE = 1024
"""Longest command [bytes]; whoever sends more is hung up on."""

END = b"\n\n"
"""Ends an answer: answers may have more than one line."""


class ControlServer:
    """A Unix stream socket: one command a line, each answered by text and an empty line."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._clients: dict[int, tuple[socket.socket, bytearray]] = {}
        _remove_stale(path)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._listener.bind(path)
        except OSError as error:
            self._listener.close()
            raise PortError(f"cannot make the control socket {path}: {error}") from error
        self._listener.listen()
        self._listener.setblocking(False)

    def readers(self) -> list[int]:
        """Return the descriptors that become readable when there is something to do."""
        return [self._listener.fileno(), *self._clients]

    def read(self, descriptor: int) -> list[str]:
        """Return the commands that have come in on one of the descriptors."""
        if descriptor == self._listener.fileno():
            with contextlib.suppress(BlockingIOError):
                client, _ = self._listener.accept()
                # Whoever does not read the answers is hung up on: it must not hold up the arm.
                client.setblocking(False)
                self._clients[client.fileno()] = (client, bytearray())
            return []
        client, pending = self._clients[descriptor]
        try:
            data = client.recv(MAX_LINE)
        except OSError:
            data = b""
        pending += data
        *lines, rest = bytes(pending).split(b"\n")
        pending[:] = rest
        if not data or len(rest) > MAX_LINE:
            self._hang_up(descriptor)
        return [line.decode(errors="replace") for line in lines]

    def answer(self, descriptor: int, text: str) -> None:
        """Answer one command."""
        entry = self._clients.get(descriptor)
        if entry is None:
            return
        try:
            entry[0].sendall(text.encode() + END)
        except OSError:
            self._hang_up(descriptor)

    def close(self) -> None:
        """Hang up on everyone and remove the socket."""
        for descriptor in list(self._clients):
            self._hang_up(descriptor)
        self._listener.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)

    def _hang_up(self, descriptor: int) -> None:
        client, _ = self._clients.pop(descriptor)
        client.close()


class ControlClient:
    """Sends commands to a running simulation."""

    def __init__(self, path: str, timeout: float = 10.0) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        self._pending = b""
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise

    def command(self, line: str) -> str:
        """Send one command and return the answer, errors too.

        Raises:
            OSError: the simulation has gone, or does not answer in time.
        """
        self._socket.sendall(line.encode(errors="surrogateescape") + b"\n")
        while END not in self._pending:
            data = self._socket.recv(65536)
            if not data:
                raise ConnectionError("the simulation has gone")
            self._pending += data
        answer, self._pending = self._pending.split(END, 1)
        return answer.decode()

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


def _remove_stale(path: str) -> None:
    """Remove a socket that nobody serves any more.

    Raises:
        PortError: something else has the name, or nothing can have it.
    """
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise PortError(f"{path} is there and is not a socket: choose another name")
        ControlClient(path).close()
    except FileNotFoundError:
        return
    except ConnectionRefusedError:
        os.unlink(path)
    except OSError as error:
        raise PortError(f"cannot make the control socket {path}: {error.strerror}") from error
    else:
        raise PortError(f"{path} is served by another simulation: choose another name")
