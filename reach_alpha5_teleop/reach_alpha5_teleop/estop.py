"""An e-stop press is told until it is known to have latched."""

from __future__ import annotations

RETRY = 0.2
"""Shortest time [s] between two tellings of one press."""


class EStopTelling:
    """Whether the last press still has to be told again.

    What ends it is a word of the arbiter's that comes after the press. From then on the latch is
    the arbiter's: whoever resets it is not overruled by a press of before.

    While a latch of before is known, the arbiter's word may be of that one. It counts after the
    press was told again, or after that latch was seen to be gone.
    """

    def __init__(self) -> None:
        self._told_at: float | None = None
        self._latched = False
        self._latched_before = False

    @property
    def pending(self) -> bool:
        """Whether the press is not known to have latched."""
        return self._told_at is not None

    def begin(self, now: float) -> None:
        """Note that a press is told for the first time at monotonic time `now` [s]."""
        self._told_at = now
        self._latched_before = self._latched

    def told_again(self, now: float) -> None:
        """Note that the press is told again."""
        self._told_at = now
        self._latched_before = False

    def due(self, now: float) -> bool:
        """Say whether to tell it again."""
        return self._told_at is not None and now - self._told_at >= RETRY

    def heard(self, latched: bool) -> None:
        """Take the arbiter's word on whether an e-stop is latched."""
        self._latched = latched
        if not latched:
            self._latched_before = False
        elif not self._latched_before:
            self._told_at = None
