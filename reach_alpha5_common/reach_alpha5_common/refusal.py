"""Refusals: bad input gets a code, a reason and a counter, and nothing else happens."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something cannot be obeyed: a documented code and a sentence for people."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused command, request or message."""

    code: str
    reason: str
    source: str
    count: int
    """How many with this code from this source since the log was made, this one included."""
    at: float
    """Monotonic time of the refusal, in seconds."""


@dataclass(frozen=True, slots=True)
class Refusals:
    """What a log holds at one moment. Keys are (code, source)."""

    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    last: dict[tuple[str, str], Refusal] = field(default_factory=dict)
    """The last one of each that is kept, oldest first."""


class RefusalLog:
    """Counts refusals by code and source, and keeps the last ones. Memory is bounded."""

    MAX_KEYS = 256
    """Distinct (code, source) pairs that are counted apart; more share one counter."""

    MAX_KEPT = 8
    """Refusals that are kept: the last one of each of so many sources and codes."""

    OTHERS = "(others)"

    def __init__(self, contents: Refusals | None = None) -> None:
        """Begin with nothing refused, or go on from what another log held."""
        contents = contents or Refusals()
        self._counts = Counter(contents.counts)
        self._kept = dict(contents.last)
        self.total = sum(self._counts.values())

    def contents(self) -> Refusals:
        """Return what it holds."""
        return Refusals(dict(self._counts), dict(self._kept))

    def refuse(self, problem: Problem, source: str, now: float) -> Refusal:
        """Count and keep a refusal of `source` at monotonic time `now` [s]."""
        key = (problem.code, source)
        if key not in self._counts and len(self._counts) >= self.MAX_KEYS:
            key = (self.OTHERS, self.OTHERS)
        self._counts[key] += 1
        self.total += 1
        refusal = Refusal(problem.code, problem.reason, source, self._counts[key], now)
        self._kept.pop(key, None)
        if len(self._kept) == self.MAX_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = refusal
        return refusal

    @property
    def last(self) -> Refusal | None:
        """The last refusal; None = there was none."""
        return next(reversed(self._kept.values()), None)

    @property
    def latest(self) -> tuple[Refusal, ...]:
        """The last refusal of each source and code, newest first."""
        return tuple(reversed(self._kept.values()))

    def counts(self) -> dict[tuple[str, str], int]:
        """Return a copy of the counters: (code, source) to number."""
        return dict(self._counts)
