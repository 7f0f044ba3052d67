"""When to try again to open a line that could not be opened, or that was lost.

The first try comes soon: most losses are short. Each failure doubles the wait up to a maximum, so
that a missing arm costs nothing. A line that opens only to be lost at once is a failure like any
other; only one that lasted begins anew.

A line that is lost while the arm moves, or is not known to rest, is another matter: nothing but
its next opening brings the stop. Until then, each wait is as short as the first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BackoffConfig:
    """Waits between two attempts, in seconds."""

    reconnect_period: float = 0.25
    """Before the first attempt after a loss; it doubles from there."""
    reconnect_period_max: float = 5.0
    """Longest wait. A connection that stood for as long makes the next wait short again."""


class Backoff:
    """Says when the line may be opened next. Times are monotonic seconds."""

    def __init__(self, config: BackoffConfig) -> None:
        """Allow the first attempt at once.

        Raises:
            ValueError: the periods are not 0 < `reconnect_period` <= `reconnect_period_max`.
        """
        if not 0.0 < config.reconnect_period <= config.reconnect_period_max < math.inf:
            raise ValueError(
                f"reconnect_period is {config.reconnect_period:g} s and reconnect_period_max "
                f"{config.reconnect_period_max:g} s; set a period above 0 that is not longer than "
                "the maximum"
            )
        self._config = config
        self._opened_at: float | None = None
        self._urgent = False
        self.wait = config.reconnect_period
        """Before the attempt after the next failure [s]."""
        self.next_attempt = -math.inf
        """The line may be opened from this time on."""

    def begin(self) -> None:
        """Begin anew: somebody wants the line now."""
        self.wait = self._config.reconnect_period
        self.next_attempt = -math.inf

    def opened(self, now: float) -> None:
        """Note that the line is open."""
        self._opened_at = now
        self._urgent = False

    def failed(self, now: float, urgent: bool = False) -> None:
        """Note that the line could not be opened, or that it was lost.

        Args:
            now: the time.
            urgent: the arm may be moving; stays so until the line is open again.
        """
        self._urgent = self._urgent or urgent
        lasted = 0.0 if self._opened_at is None else now - self._opened_at
        if self._urgent or lasted >= self._config.reconnect_period_max:
            self.wait = self._config.reconnect_period
        self._opened_at = None
        self.next_attempt = now + self.wait
        self.wait = min(2.0 * self.wait, self._config.reconnect_period_max)
