"""How much of what was written still waits for the wire.

Many adapters cannot be asked, so the driver reckons from the line's pace: 8N1 is ten bits a byte.
"""

from __future__ import annotations

BITS_PER_BYTE = 10


class LinePace:
    """Reckons the output queue of a serial line. Times are monotonic seconds."""

    def __init__(self, baud_rate: int) -> None:
        """Begin with an empty queue."""
        self.bytes_per_second = baud_rate / BITS_PER_BYTE
        self._free_at = float("-inf")

    def wrote(self, count: int, now: float) -> None:
        """Note that `count` bytes were handed to the line."""
        self._free_at = max(self._free_at, now) + count / self.bytes_per_second

    def kernel_holds(self, count: int, now: float) -> None:
        """Correct the reckoning upwards by what the kernel says it still holds."""
        self._free_at = max(self._free_at, now + count / self.bytes_per_second)

    def purged(self) -> None:
        """Note that everything queued was thrown away."""
        self._free_at = float("-inf")

    def queued(self, now: float) -> float:
        """Return how many bytes still wait."""
        return max(0.0, self._free_at - now) * self.bytes_per_second

    def time_when(self, count: float) -> float:
        """Return the time at which no more than `count` bytes wait."""
        return self._free_at - count / self.bytes_per_second
