"""A line without hardware: two ends in one process, with an output queue that can fill up."""

from __future__ import annotations

import os
import threading

from reach_alpha5_driver.transport.base import LineLost


class MemoryLine:
    """Our end of the line. `far` is the other one."""

    can_purge = True
    latency = None
    advice = ""

    def __init__(self, capacity: int = 4096) -> None:
        """Make an open line whose output queue takes `capacity` bytes."""
        self._capacity = capacity
        self._lock = threading.Lock()
        self._queue = bytearray()
        self._lost = False
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        self._open = True
        self.far = FarEnd(self)

    def fileno(self) -> int:
        """Return the descriptor that turns readable when the far end sends or hangs up."""
        return self._reader

    def read(self) -> bytes:
        """Return what the far end sent."""
        try:
            data = os.read(self._reader, 4096)
        except BlockingIOError:
            return b""
        if not data:
            raise LineLost("the far end hung up")
        return data

    def write(self, data: bytes) -> int:
        """Queue as much as the queue has room for."""
        with self._lock:
            self._check()
            taken = data[: self._capacity - len(self._queue)]
            self._queue += taken
        return len(taken)

    def purge_output(self) -> None:
        """Empty the queue."""
        with self._lock:
            self._check()
            self._queue.clear()

    def queued(self) -> int:
        """Return the length of the queue."""
        with self._lock:
            self._check()
            return len(self._queue)

    def close(self) -> None:
        """Close our end."""
        with self._lock:
            if self._open:
                self._open = False
                os.close(self._reader)
        self.far.hang_up()

    def _check(self) -> None:
        if self._lost:
            raise LineLost("the far end hung up")


class FarEnd:
    """The arm's end of a `MemoryLine`."""

    def __init__(self, line: MemoryLine) -> None:
        """Belong to `line`."""
        self._line = line

    def send(self, data: bytes) -> None:
        """Send bytes to our end."""
        os.write(self._line._writer, data)

    def take(self, most: int = 1 << 20) -> bytes:
        """Take up to `most` bytes off the queue: they passed over the wire."""
        with self._line._lock:
            taken = bytes(self._line._queue[:most])
            del self._line._queue[:most]
        return taken

    def hang_up(self) -> None:
        """End the line from the far side."""
        with self._line._lock:
            if not self._line._lost:
                self._line._lost = True
                os.close(self._line._writer)
