"""A quantity over time, and a quantity's spread, in bounded memory.

No spike is lost: where many samples share a place in a plot, the smallest and the largest of
them are kept.
"""

from __future__ import annotations

import math
from itertools import zip_longest

BUCKETS = 2400
"""Places in time of a plot, at most: about two for each pixel of a wide window."""

FIRST_WIDTH = 0.02
"""Width [s] of a bucket before any were merged: finer than any topic that is plotted."""

DIGITS = 5
"""Significant digits of a plotted number."""


class Envelope:
    """The smallest and largest values in each of a bounded number of equal spans of time.

    When time outgrows the buckets, pairs of them are merged, and each is twice as wide.

    Args:
        budget: most buckets.
    """

    __slots__ = ("_budget", "begin", "highs", "lows", "width")

    def __init__(self, budget: int = BUCKETS) -> None:
        self._budget = budget
        self.begin = math.nan
        """Begin of the first bucket [s]; NaN = no sample yet."""
        self.width = FIRST_WIDTH
        """Of a bucket [s]."""
        self.lows: list[float] = []
        self.highs: list[float] = []
        """Of each bucket; infinities the wrong way round where it is empty."""

    def add(self, at: float, value: float) -> None:
        """Take in a sample; what is not finite is none.

        One that is older than the first, as they come from a file without an index, counts as
        simultaneous with the first.
        """
        if not -math.inf < value < math.inf:
            return
        if not self.lows:
            self.begin = at
        index = max(0, int((at - self.begin) / self.width))
        while index >= self._budget:
            self._merge()
            index = int((at - self.begin) / self.width)
        if index >= len(self.lows):
            more = index + 1 - len(self.lows)
            self.lows.extend([math.inf] * more)
            self.highs.extend([-math.inf] * more)
        if value < self.lows[index]:
            self.lows[index] = value
        if value > self.highs[index]:
            self.highs[index] = value

    def _merge(self) -> None:
        self.width *= 2.0
        self.lows = [
            min(pair) for pair in zip_longest(self.lows[::2], self.lows[1::2], fillvalue=math.inf)
        ]
        self.highs = [
            max(pair)
            for pair in zip_longest(self.highs[::2], self.highs[1::2], fillvalue=-math.inf)
        ]

    def data(self, scale: float = 1.0) -> dict[str, object]:
        """Return it for the page, times `scale`; empty buckets are null."""
        return {
            "begin": rounded(self.begin if self.lows else 0.0, 9),
            "width": self.width,
            "low": [rounded(value * scale) for value in self.lows],
            "high": [rounded(value * scale) for value in self.highs],
        }

    @property
    def smallest(self) -> float:
        """Of all samples; infinity = there was none."""
        return min(self.lows, default=math.inf)

    @property
    def largest(self) -> float:
        """Of all samples; minus infinity = there was none."""
        return max(self.highs, default=-math.inf)


def rounded(value: float, digits: int = DIGITS) -> float | None:
    """Return a number as the page carries it: short; None where there is none."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


class Spread:
    """Percentiles of a positive quantity, each to a hundredth of its value."""

    __slots__ = ("_bins", "count", "largest", "negative", "smallest")

    STEP = math.log(1.02)
    SMALLEST, LARGEST = 1e-7, 1e7
    """What is outside counts as these in percentiles, so that the bins are bounded."""

    def __init__(self) -> None:
        self._bins: dict[int, int] = {}
        self.count = 0
        self.negative = 0
        """Samples below zero; they count as the smallest in percentiles."""
        self.smallest = math.inf
        self.largest = -math.inf

    def add(self, value: float) -> None:
        """Take in a sample; what is not finite is none."""
        if not math.isfinite(value):
            return
        self.count += 1
        self.negative += value < 0.0
        if value < self.smallest:
            self.smallest = value
        if value > self.largest:
            self.largest = value
        place = math.log(min(max(value, self.SMALLEST), self.LARGEST)) // self.STEP
        self._bins[int(place)] = self._bins.get(int(place), 0) + 1

    def percentile(self, percent: float) -> float:
        """Return what `percent` of the samples do not exceed; NaN = there are none."""
        wanted = math.ceil(percent / 100.0 * self.count)
        for place, count in sorted(self._bins.items()):
            wanted -= count
            if wanted <= 0:
                middle = math.exp((place + 0.5) * self.STEP)
                return min(max(middle, self.smallest), self.largest)
        return math.nan
