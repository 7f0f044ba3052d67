"""The serial line: when each byte is on the wire, from the moment it was handed over.

Nothing here waits: each byte gets its time from the line rate when it is sent, and is handed out
to whoever asks after that time. A reader that comes late finds all that a real line would have
carried by then, with the same times.

RS-232 is two lanes that know nothing of each other. RS-485 is one pair of wires: what overlaps in
time is garbled for everyone.
"""

from __future__ import annotations

import enum
import random
from bisect import insort
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from reach_alpha5_driver.sim.ids import BASE_DEVICE

BITS_PER_BYTE = 10
"""8N1: a start bit, eight data bits, a stop bit."""

UART_FIFO = 16
"""Bytes that a UART has taken already and that a purge cannot call back."""

DRIVER = 0
"""Sender id of the driver's end; the arm's senders are its device ids."""


class Collision(enum.Enum):
    """Who ran into whom on RS-485. The value is its name in the counts."""

    DRIVER_INTO_DEVICE = "driver_into_device"
    """The driver began to talk before an answer had ended."""
    DEVICE_INTO_DRIVER = "device_into_driver"
    """A device answered while the driver still, or again, had bytes on the wires."""
    DEVICE_INTO_DEVICE = "device_into_device"
    """Two devices talked at once: both were asked, or one was slow, or sent its heartbeat."""


_SLACK = 1e-9
"""Clock arithmetic in floats may miss a byte's end by less than this [s]."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes that followed each other on the wire without a gap."""

    start: float
    """When the first bit of the first byte was on the wire [s, monotonic]."""
    end: float
    """When the last byte was whole."""
    data: bytes


@dataclass(order=True, slots=True)
class _Transmission:
    start: float
    sender: int = field(compare=False)
    data: bytearray = field(compare=False)


class Lane:
    """One direction of the line, and what is queued for it."""

    def __init__(self, byte_time: float) -> None:
        self._byte_time = byte_time
        self._queue: list[_Transmission] = []
        self._free: dict[int, float] = {}

    def send(self, sender: int, at: float, data: bytes) -> _Transmission:
        """Queue `data` behind what `sender` still has to send, not before the time `at`."""
        start = max(at, self._free.get(sender, at))
        self._free[sender] = start + len(data) * self._byte_time
        transmission = _Transmission(start, sender, bytearray(data))
        if not self._queue or self._queue[-1].start <= start:
            self._queue.append(transmission)
        else:
            insort(self._queue, transmission)
        return transmission

    def take(self, now: float, frame_by_frame: bool = False) -> Chunk | None:
        """Return the next bytes that are whole by `now`: of one transmission, or of one frame."""
        while self._queue and not self._queue[0].data:
            self._queue.pop(0)
        if not self._queue:
            return None
        first = self._queue[0]
        passed = now + _SLACK - first.start
        if passed < self._byte_time:
            return None
        size = min(int(passed / self._byte_time), len(first.data))
        if frame_by_frame:
            size = first.data.find(0, 0, size) + 1 or size
        chunk = Chunk(first.start, first.start + size * self._byte_time, bytes(first.data[:size]))
        if size == len(first.data):
            self._queue.pop(0)
        else:
            del first.data[:size]
            first.start = chunk.end
        return chunk

    def due(self) -> float | None:
        """Return when the next frame, or what there is of it, will be whole."""
        for transmission in self._queue:
            if transmission.data:
                size = transmission.data.find(0) + 1 or len(transmission.data)
                return transmission.start + size * self._byte_time
        return None

    def purge(self, sender: int, now: float) -> int:
        """Take back what `sender` has not sent yet, but for its UART. Return how many bytes."""
        limit = now + UART_FIFO * self._byte_time
        purged = 0
        free = now
        for transmission in self._of(sender):
            stays = max(0, int((limit + _SLACK - transmission.start) / self._byte_time))
            purged += max(0, len(transmission.data) - stays)
            del transmission.data[stays:]
            if transmission.data:
                free = self._end(transmission)
        self._free[sender] = free
        return purged

    def backlog(self) -> int:
        """Return how many bytes have not been handed out."""
        return sum(len(transmission.data) for transmission in self._queue)

    def overlaps(self, other: _Transmission) -> Iterator[tuple[_Transmission, range, range]]:
        """Yield what other senders transmit at the time of `other`.

        Each as the transmission, the indices of its bytes that are hit, and those of `other`'s.
        """
        for mine in self._queue:
            start, end = max(mine.start, other.start), min(self._end(mine), self._end(other))
            if mine.sender != other.sender and end - start > _SLACK:
                yield mine, self._indices(mine, start, end), self._indices(other, start, end)

    def _of(self, sender: int) -> list[_Transmission]:
        return [transmission for transmission in self._queue if transmission.sender == sender]

    def _end(self, transmission: _Transmission) -> float:
        return transmission.start + len(transmission.data) * self._byte_time

    def _indices(self, transmission: _Transmission, start: float, end: float) -> range:
        first = int((start + _SLACK - transmission.start) / self._byte_time)
        last = int((end - _SLACK - transmission.start) / self._byte_time)
        return range(first, min(last + 1, len(transmission.data)))


class Line:
    """Both directions between the driver and the arm."""

    def __init__(self, baud: int, half_duplex: bool, seed: int) -> None:
        self.byte_time = BITS_PER_BYTE / baud
        self.half_duplex = half_duplex
        self.to_arm = Lane(self.byte_time)
        self.to_driver = Lane(self.byte_time)
        self.collision_kinds: Counter[Collision] = Counter()
        """How often a transmission ran into another one, by who ran into whom."""
        self._random = random.Random(seed)

    @property
    def collisions(self) -> int:
        """Transmissions that ran into another one."""
        return sum(self.collision_kinds.values())

    def send_to_arm(self, at: float, data: bytes) -> None:
        """Put the driver's bytes on the line, from the time `at` on."""
        sent = self.to_arm.send(DRIVER, at, data)
        if self.half_duplex:
            self._collide(sent, self.to_driver, Collision.DRIVER_INTO_DEVICE)

    def send_to_driver(self, device_id: int, at: float, data: bytes) -> None:
        """Put a device's bytes on the line, from the time `at` on.

        On RS-232 the base unit sends for all, one after the other; on RS-485 each for itself.
        """
        sender = device_id if self.half_duplex else BASE_DEVICE
        sent = self.to_driver.send(sender, at, data)
        if self.half_duplex:
            self._collide(sent, self.to_arm, Collision.DEVICE_INTO_DRIVER)
            self._merge(sent)

    def _collide(self, sent: _Transmission, lane: Lane, kind: Collision) -> None:
        """Garble both sides of every overlap with the other end's bytes."""
        for other, theirs, ours in lane.overlaps(sent):
            self.collision_kinds[kind] += 1
            self._garble(other.data, theirs)
            self._garble(sent.data, ours)

    def _merge(self, sent: _Transmission) -> None:
        """Garble what other devices send at the same time: the driver hears one byte for both."""
        absorbed: set[int] = set()
        for other, theirs, ours in self.to_driver.overlaps(sent):
            self.collision_kinds[Collision.DEVICE_INTO_DEVICE] += 1
            self._garble(other.data, theirs)
            absorbed.update(ours)
        if absorbed:
            # Frames of one size are absorbed whole; a loose end follows when the wire is free.
            left = bytes(b for i, b in enumerate(sent.data) if i not in absorbed)
            sent.data[:] = b""
            if left:
                self.to_driver.send(sent.sender, sent.start, left)

    def _garble(self, data: bytearray, indices: range) -> None:
        for index in indices:
            data[index] ^= self._random.randrange(1, 256)
