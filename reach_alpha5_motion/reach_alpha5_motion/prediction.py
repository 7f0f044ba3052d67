"""Where the arm is by the time that it obeys: what was measured, and the rates sent since."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

HORIZON = 0.4
"""s: nothing is foreseen further. What is older than this says too little of now: whoever asks
must not take for known what was measured longer ago, its latency included."""


class RateHistory:
    """The rates of the last moments, and what they come to. Times are monotonic [s]."""

    def __init__(self) -> None:
        self._rates: deque[tuple[float, tuple[float, ...]]] = deque()

    def forget(self) -> None:
        """The arm is thought still: nothing was sent to it."""
        self._rates.clear()

    def sent(self, rates: Sequence[float], now: float) -> None:
        """Note the rates that stand from `now` on."""
        self._rates.append((now, tuple(rates)))
        while len(self._rates) > 1 and self._rates[1][0] <= now - 2.0 * HORIZON:
            self._rates.popleft()

    def travel(self, begins: Sequence[float], now: float) -> list[float]:
        """Return how far the rates that were sent move each joint.

        Args:
            begins: for each joint the time from which its rates count [s].
            now: the time up to which they count [s].
        """
        moved = [0.0] * len(begins)
        earliest = now - HORIZON
        begins = [max(begin, earliest) for begin in begins]
        first = min(begins)
        end = now
        for since, rates in reversed(self._rates):
            if since >= end:
                continue
            for joint, begin in enumerate(begins):
                if begin < end:
                    moved[joint] += rates[joint] * (end - (begin if begin > since else since))
            end = since
            if end <= first:
                break
        return moved
