"""Between the subscriptions and the disk: a queue of bounded size, and the thread that writes."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass

from reach_alpha5_bags.recorder.metadata import TopicFacts
from reach_alpha5_bags.recorder.writer import BagWriter

TICK = 0.25
"""Longest time [s] that the writer sleeps."""

OVERHEAD = 500
"""Bytes that a message takes beside its content, while it waits."""


@dataclass(frozen=True, slots=True)
class Status:
    """How the recording is."""

    written: int
    """Messages."""
    bytes: int
    """On the disk."""
    dropped: int
    """Messages that came while too many waited, for the disk or for the recorder."""
    lost: int
    """Messages that the disk did not take."""
    trouble: str
    """Why nothing is written at present; empty: it is."""

    @property
    def missing(self) -> int:
        """Messages that came and are not in the bag."""
        return self.dropped + self.lost


class Tape:
    """Takes messages from one thread and has them written by another.

    Args:
        writer: writes them; nobody else calls it from now on.
        max_waiting: bytes that may wait; what comes beyond that is dropped and counted.
    """

    def __init__(self, writer: BagWriter, max_waiting: int) -> None:
        self._writer = writer
        self._max_waiting = max_waiting
        self._queue: deque[tuple[TopicFacts, bytes, int, int]] = deque()
        self._changed = threading.Condition()
        self._waiting = 0
        self._dropped = 0
        self._is_leaving = False
        self.broken: BaseException | None = None
        """What ended the thread, if anything did."""
        self._thread = threading.Thread(target=self._run, name="writer")
        self._thread.start()

    def put(self, topic: TopicFacts, data: bytes, received: int, sent: int) -> None:
        """Have a message written; see `BagWriter.write`."""
        size = len(data) + OVERHEAD
        with self._changed:
            if self._waiting + size > self._max_waiting or self.broken is not None:
                self._dropped += 1
                return
            self._waiting += size
            self._queue.append((topic, data, received, sent))
            self._changed.notify()

    def miss(self, count: int) -> None:
        """Count messages that were dropped before they came here."""
        with self._changed:
            self._dropped += count

    def status(self) -> Status:
        """Return how the recording is."""
        writer = self._writer
        with self._changed:
            dropped = self._dropped
        return Status(writer.written, writer.taken, dropped, writer.lost, writer.trouble)

    def close(self) -> None:
        """Write what waits, end the bag, and return when that is done."""
        with self._changed:
            self._is_leaving = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        try:
            while self._write_some():
                pass
            self._writer.close()
        except BaseException as error:
            # Whoever looks at the status must see it, and the messages must not pile up.
            with self._changed:
                self.broken = error
                self._dropped += len(self._queue)
                self._queue.clear()
            raise

    def _write_some(self) -> bool:
        """Write what waits, or wait a little; False at the end."""
        with self._changed:
            if not self._queue and not self._is_leaving:
                self._changed.wait(TICK)
            some, self._queue = self._queue, deque()
            is_last = self._is_leaving and not some
        for topic, data, received, sent in some:
            self._writer.write(topic, data, received, sent, time.monotonic_ns())
            self._writer.tick(time.monotonic_ns())
            with self._changed:
                self._waiting -= len(data) + OVERHEAD
        self._writer.tick(time.monotonic_ns())
        return not is_last
