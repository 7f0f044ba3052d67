"""Samples of one quantity, and their percentiles."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 99
"""Columns of what is printed."""


def percentile(samples: Sequence[float], percent: float) -> float:
    """Return the smallest sample that `percent` of the samples do not exceed.

    This is the nearest-rank definition: the answer was measured, never interpolated.

    Raises:
        ValueError: there are no samples, or `percent` is not in (0, 100].
    """
    if not samples:
        raise ValueError("no samples, no percentile")
    if not 0.0 < percent <= 100.0:
        raise ValueError(f"{percent} is not in (0, 100]")
    return sorted(samples)[math.ceil(percent / 100.0 * len(samples)) - 1]


def number(value: float) -> str:
    """Return a measured number as people read it: three digits, and no exponent."""
    return f"{value:.0f}" if abs(value) >= 1000.0 else f"{value:.3g}"


@dataclass(frozen=True, slots=True)
class Series:
    """Samples of a quantity of which less is better, or more if `more_is_better`.

    The percentiles go from good to bad: `p99` is what 99 % of the samples are not worse than.
    """

    name: str
    unit: str
    samples: tuple[float, ...]
    more_is_better: bool = False

    def at(self, percent: float) -> float:
        """Return the value that `percent` of the samples are not worse than."""
        if not self.more_is_better:
            return percentile(self.samples, percent)
        return -percentile([-sample for sample in self.samples], percent)

    @property
    def p50(self) -> float:
        """The median."""
        return self.at(50)

    @property
    def p99(self) -> float:
        """What 99 % of the samples are not worse than."""
        return self.at(99)

    def text(self) -> str:
        """Return the raw numbers, sorted from good to bad, and percentiles."""
        ordered = sorted(self.samples, reverse=self.more_is_better)
        raw = textwrap.fill(
            " ".join(map(number, ordered)),
            WIDTH,
            initial_indent="    ",
            subsequent_indent="    ",
        )
        summary = "  ".join(f"p{percent} {number(self.at(percent))}" for percent in (50, 90, 99))
        return (
            f"  {self.name} [{self.unit}], {len(ordered)} samples, sorted:\n{raw}\n"
            f"    best {number(ordered[0])}  {summary}  worst {number(ordered[-1])}"
        )
