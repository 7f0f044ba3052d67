"""A line that misbehaves on purpose: the fault layer of the tests, over any other transport."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from reach_alpha5_driver.transport.base import LineLost, Transport


@dataclass(frozen=True, slots=True)
class Faults:
    """Probabilities in [0, 1]: of the first five per byte received, of the others per call."""

    drop: float = 0.0
    flip: float = 0.0
    duplicate: float = 0.0
    insert: float = 0.0
    """A random byte comes before this one."""
    cut: float = 0.0
    """What follows is held back until the next read: chunks are split here, merged there."""
    stall: float = 0.0
    """A write takes nothing."""
    short_write: float = 0.0
    """A write takes a part."""
    error: float = 0.0
    """A read or write ends the line."""


class FaultyLine:
    """Passes everything on to another transport, but for the faults."""

    def __init__(self, line: Transport, faults: Faults, seed: int) -> None:
        """Disturb `line`; the same seed gives the same faults for the same calls."""
        self._line = line
        self._faults = faults
        self._random = random.Random(seed)
        self._held = b""
        self._per_byte: tuple[tuple[float, Callable[[int], bytes]], ...] = (
            (faults.drop, lambda byte: b""),
            (faults.flip, lambda byte: bytes((byte ^ 1 << self._random.randrange(8),))),
            (faults.duplicate, lambda byte: bytes((byte, byte))),
            (faults.insert, lambda byte: bytes((self._random.randrange(256), byte))),
        )

    def fileno(self) -> int:
        """Return the descriptor of the disturbed line; bytes held back do not make it readable."""
        return self._line.fileno()

    def read(self) -> bytes:
        """Return what arrived, disturbed."""
        self._maybe_break()
        arrived, self._held = self._held, b""
        out = bytearray()
        data = arrived + b"".join(map(self._disturb, self._line.read()))
        for at, byte in enumerate(data):
            if at and self._hits(self._faults.cut):
                self._held = data[at:]
                break
            out.append(byte)
        return bytes(out)

    def write(self, data: bytes) -> int:
        """Hand over nothing, a part or all."""
        self._maybe_break()
        if self._hits(self._faults.stall):
            return 0
        if data and self._hits(self._faults.short_write):
            data = data[: self._random.randrange(len(data))]
        return self._line.write(data)

    def purge_output(self) -> None:
        """Purge the disturbed line."""
        self._line.purge_output()

    def queued(self) -> int:
        """Return the queue of the disturbed line."""
        return self._line.queued()

    def close(self) -> None:
        """Close the disturbed line."""
        self._line.close()

    def _hits(self, probability: float) -> bool:
        return probability > 0.0 and self._random.random() < probability

    def _maybe_break(self) -> None:
        if self._hits(self._faults.error):
            raise LineLost("[Errno 5] Input/output error (made by the fault layer)")

    def _disturb(self, byte: int) -> bytes:
        for probability, change in self._per_byte:
            if self._hits(probability):
                return change(byte)
        return bytes((byte,))
