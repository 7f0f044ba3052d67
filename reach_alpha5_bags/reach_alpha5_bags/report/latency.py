"""How topics came: how many messages, how old, with what gaps; and how old heartbeats became."""

from __future__ import annotations

from typing import Any

from reach_alpha5_bags.report.series import Envelope, Spread

MOST_SOURCES = 16
"""Sources whose heartbeats are told of."""


class Traffic:
    """One topic."""

    def __init__(self) -> None:
        self.count = 0
        self.first = 0.0
        self.last = 0.0
        """[s]"""
        self.longest_gap = 0.0
        """Between two messages [s]."""
        self.gap_at = 0.0
        """When that gap began [s]."""
        self.latency = Spread()
        """From a message's stamp, by its sender's clock, to its receipt, by the recorder's [s]."""
        self.latencies = Envelope()
        self.misread = 0
        """Messages that say less than was expected."""

    def hear(self, at: float, latency: float | None) -> None:
        """Take in a message; `latency` None = it has no stamp."""
        if not self.count:
            self.first = self.last = at
        self.count += 1
        if at - self.last > self.longest_gap:
            self.longest_gap, self.gap_at = at - self.last, self.last
        self.last = max(at, self.last)
        if latency is not None:
            self.latency.add(latency)
            self.latencies.add(at, latency)

    @property
    def rate(self) -> float:
        """Messages a second between the first and the last [Hz]."""
        span = self.last - self.first
        return (self.count - 1) / span if span > 0.0 else 0.0


class Heartbeats:
    """Ages of the sources' heartbeats [s], from `arbiter_state`."""

    def __init__(self) -> None:
        self.ages: dict[str, Envelope] = {}

    def hear(self, at: float, state: Any) -> None:
        """Take in an `ArbiterState`. The age of a source that is not alive tells nothing new."""
        for source in state.sources:
            if source.name not in self.ages:
                if not source.alive or len(self.ages) >= MOST_SOURCES:
                    continue
                self.ages[source.name] = Envelope()
            if source.alive:
                self.ages[source.name].add(at, float(source.heartbeat_age))
