"""An e-stop press is told until it is known to have latched."""

from __future__ import annotations

RETRY = 0.2
"""Shortest time [s] between two tellings of one press."""


class EStopTelling:
    """Whether the last press still has to be told again.

    What ends it is a word of the arbiter's that comes after the press. From then on the latch is
    the arbiter's: whoever resets it is not overruled by a press of before.
    """

    def __init__(self) -> None:
        self._told_at: float | None = None

    @property
    def pending(self) -> bool:
        """Whether the press is not known to have latched."""
        return self._told_at is not None

    def told(self, now: float) -> None:
        """Note that a press is told at monotonic time `now` [s], for the first time or again."""
        self._told_at = now

    def due(self, now: float) -> bool:
        """Say whether to tell it again."""
        return self._told_at is not None and now - self._told_at >= RETRY

    def latched(self) -> None:
        """The arbiter says that an e-stop is latched."""
        self._told_at = None
