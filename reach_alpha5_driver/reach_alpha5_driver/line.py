"""How much of what was written still waits for the wire.

Many adapters cannot be asked, so the driver reckons from the line's pace: 8N1 is ten bits a byte.
Where the kernel tells what it holds, that is the truth, and a line that stalls is found out.
"""

from __future__ import annotations

import math

BITS_PER_BYTE = 10

ROUNDING = 1e-6
"""[s]; what a time is later, so that by then not a fraction of a byte too much waits."""


class LinePace:
    """Reckons the output queue of a serial line. Times are monotonic seconds."""

    def __init__(self, baud_rate: int) -> None:
        """Begin with an empty queue."""
        self.bytes_per_second = baud_rate / BITS_PER_BYTE
        self.unchecked = 0
        """Bytes written since the kernel told what it holds."""
        self._told = 0
        self._free_at = -math.inf

    def wrote(self, count: int, now: float) -> None:
        """Note that `count` bytes were handed to the line."""
        self._free_at = max(self._free_at, now) + count / self.bytes_per_second
        self.unchecked += count

    def kernel_holds(self, count: int, now: float) -> None:
        """Correct the reckoning upwards by what the kernel says it still holds."""
        self._free_at = max(self._free_at, now + count / self.bytes_per_second)
        self._told, self.unchecked = count, 0

    def purged(self) -> None:
        """Note that everything queued was thrown away."""
        self._free_at = -math.inf
        self._told = self.unchecked = 0

    def queued(self, now: float) -> float:
        """Return how many bytes still wait, as reckoned."""
        return max(0.0, self._free_at - now) * self.bytes_per_second

    @property
    def at_most(self) -> int:
        """How many bytes wait if none has left since the kernel told what it holds."""
        return self._told + self.unchecked

    def time_when(self, count: float) -> float:
        """Return the time at which no more than `count` bytes wait, as reckoned."""
        return self._free_at - count / self.bytes_per_second + ROUNDING
