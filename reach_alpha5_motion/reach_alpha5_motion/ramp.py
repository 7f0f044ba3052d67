"""Starts, stops and turns without a jerk: what is asked now is mixed with what was asked before.

The motion is the weighted mean of what was asked over the last `ramp_time`. A change at time 0 has
come through at time t by

    S(t) = t^2 / (2 a j)                for t <= j
           (t - j/2) / a                for j <= t <= a
           1 - (a + j - t)^2 / (2 a j)  for a <= t <= a + j,  then 1

with a + j = ramp_time and j = jerk_share x ramp_time: the response of two moving means, of a and
of j seconds, one after the other. So a change of speed v takes an acceleration of v/a and a jerk
of v/(a j) at most. The weights are never negative and their sum is never above one: the mean lies
between what was asked, so that it is never faster, an axis that was not asked gets exactly
nothing, none is reversed, a direction that was held is kept exactly, and a stop ends after
ramp_time.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

SPACING = 0.002
"""s: of asks that follow each other within less, the last counts. Bounds the memory."""


@dataclass(frozen=True, slots=True)
class Ramp:
    """The step response S."""

    mean: float
    """a [s]."""
    jerk: float
    """j [s], at most a."""

    @classmethod
    def of(cls, ramp_time: float, jerk_share: float) -> Ramp:
        """Return the ramp that takes `ramp_time` [s], of which a share up to 1/2 is j."""
        jerk = ramp_time * jerk_share
        return cls(ramp_time - jerk, jerk)

    @property
    def time(self) -> float:
        """How long a change takes [s]."""
        return self.mean + self.jerk

    def response(self, since: float) -> float:
        """Return how much of a change has come through, in [0, 1], `since` [s] after it."""
        if since <= 0.0:
            return 0.0
        left = self.mean + self.jerk - since
        if left <= 0.0:
            return 1.0
        if since < self.jerk:
            return since * since / (2.0 * self.mean * self.jerk)
        if left < self.jerk:
            return 1.0 - left * left / (2.0 * self.mean * self.jerk)
        return (since - self.jerk / 2.0) / self.mean


Key = TypeVar("Key")


class Shaper(Generic[Key]):
    """What was asked over the last `ramp_time`, and the mean of it. Times are monotonic [s].

    What is asked is speeds, and a key that says what they are speeds of: only those of one key are
    added up. None: nothing is asked.
    """

    def __init__(self, ramp: Ramp) -> None:
        self._ramp = ramp
        self._asked: deque[tuple[float, tuple[Key, tuple[float, ...]] | None]] = deque()

    @property
    def at_rest(self) -> bool:
        """Whether nothing is asked and all that was has faded."""
        return not self._asked

    def forget(self) -> None:
        """Begin at rest."""
        self._asked.clear()

    def ask(self, ask: tuple[Key, tuple[float, ...]] | None, since: float) -> None:
        """Let `ask` stand from the time `since` on; times do not fall."""
        asked = self._asked
        if ask == (asked[-1][1] if asked else None):
            return
        if asked and since - asked[-1][0] < SPACING:
            since = asked.pop()[0]
        asked.append((since, ask))

    def mean(self, now: float) -> dict[Key, tuple[float, ...]]:
        """Return the mean speeds of all that still counts, oldest first."""
        asked = self._asked
        if not asked:
            return {}
        while len(asked) > 1 and now - asked[1][0] >= self._ramp.time:
            asked.popleft()
        if len(asked) == 1 and asked[0][1] is None:
            asked.clear()
        if len(asked) == 1 and asked[0][1] is not None and now - asked[0][0] >= self._ramp.time:
            key, speeds = asked[0][1]
            return {key: speeds}
        sums: dict[Key, list[float]] = {}
        responses = [self._ramp.response(now - since) for since, _ in asked]
        responses.append(0.0)
        added: Key | None = None
        total: list[float] = []
        for place, (_, ask) in enumerate(asked):
            weight = responses[place] - responses[place + 1]
            if ask is None or weight <= 0.0:
                continue
            key, speeds = ask
            if key != added:  # most follow one of the same key: to compare is less than to hash
                added, total = key, sums.setdefault(key, [0.0] * len(speeds))
            for axis, speed in enumerate(speeds):
                total[axis] += weight * speed
        return {key: tuple(total) for key, total in sums.items()}
