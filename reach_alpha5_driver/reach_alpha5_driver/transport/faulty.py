"""A line that misbehaves on purpose: the fault layer of the tests, over any other transport."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from reach_alpha5_driver.transport.base import LineLost, Transport

MAX_STALL = 100
"""Most writes in a row that one stall swallows."""


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
    """A write takes nothing, and so do up to `MAX_STALL` - 1 after it."""
    short_write: float = 0.0
    """A write takes a part."""
    error: float = 0.0
    """A read or write ends the line."""


class FaultyLine:
    """Passes everything on to another transport, but for the faults."""

    def __init__(self, line: Transport, faults: Faults, seed: int) -> None:
        """Disturb `line`; the same seed gives the same faults for the same calls."""
        self._line = line
        self.faults = faults
        """May be replaced at any time."""
        self.strikes = 0
        """How often one has struck."""
        self._random = random.Random(seed)
        self._held = b""
        self._stalled = 0
        self._changes: tuple[tuple[str, Callable[[int], bytes]], ...] = (
            ("drop", lambda byte: b""),
            ("flip", lambda byte: bytes((byte ^ 1 << self._random.randrange(8),))),
            ("duplicate", lambda byte: bytes((byte, byte))),
            ("insert", lambda byte: bytes((self._random.randrange(256), byte))),
        )

    @property
    def can_purge(self) -> bool:
        """Whether the disturbed line can purge."""
        return self._line.can_purge

    @property
    def advice(self) -> str:
        """The advice of the disturbed line."""
        return self._line.advice

    @property
    def latency(self) -> int | None:
        """The latency of the disturbed line."""
        return self._line.latency

    def fileno(self) -> int:
        """Return the descriptor of the disturbed line; bytes held back do not make it readable."""
        return self._line.fileno()

    def read(self) -> bytes:
        """Return what arrived, disturbed."""
        self._maybe_break()
        arrived, self._held = self._held, b""
        data = arrived + self._disturb(self._line.read())
        if self.faults.cut:
            for at in range(1, len(data)):
                if self._hits(self.faults.cut):
                    data, self._held = data[:at], data[at:]
                    break
        return data

    def write(self, data: bytes) -> int:
        """Hand over nothing, a part or all."""
        self._maybe_break()
        if self._hits(self.faults.stall):
            self._stalled = self._random.randint(1, MAX_STALL)
        if self._stalled:
            self._stalled -= 1
            return 0
        if data and self._hits(self.faults.short_write):
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
        if probability <= 0.0 or self._random.random() >= probability:
            return False
        self.strikes += 1
        return True

    def _maybe_break(self) -> None:
        if self._hits(self.faults.error):
            raise LineLost("[Errno 5] Input/output error (made by the fault layer)")

    def _disturb(self, data: bytes) -> bytes:
        rates = [(getattr(self.faults, name), change) for name, change in self._changes]
        active = [(rate, change) for rate, change in rates if rate]
        if not active:
            return data
        return b"".join(self._change(byte, active) for byte in data)

    def _change(self, byte: int, active: list[tuple[float, Callable[[int], bytes]]]) -> bytes:
        for rate, change in active:
            if self._hits(rate):
                return change(byte)
        return bytes((byte,))
