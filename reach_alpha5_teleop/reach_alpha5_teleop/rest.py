"""Where an axis really rests: learned from the frames of a pad that nobody touches.

A profile promises a rest; worn sticks keep a little off it. So the real one is learned when a pad
comes in, and never from a single frame: the reports have to stay together for a while, near enough
to what is promised. A trigger that its driver reports as 0 until it is first touched stays unknown
thereby, where 0 is not its rest; so does a stick that is held over.

How near is near enough? Within the deadband. Then even a rest that was learned wrongly, from a
stick that somebody held still just there, leaves the stick that is let go inside the deadband.
"""

from __future__ import annotations

from dataclasses import dataclass

STEADY_TIME = 0.2
"""Shortest time [s] for which the reports stay together."""

STEADY_FRAMES = 5
"""Fewest of them: a pad that repeats its frames slowly takes longer."""

STEADY_SPREAD = 0.05
"""Widest spread of reports that stay together: a stick trembles, a hand moves it farther."""


@dataclass(slots=True)
class _Window:
    """Reports that have stayed together."""

    since: float
    low: float
    high: float
    total: float = 0.0
    count: int = 0

    def takes(self, raw: float) -> bool:
        return max(self.high, raw) - min(self.low, raw) <= STEADY_SPREAD

    def add(self, raw: float) -> None:
        self.low, self.high = min(self.low, raw), max(self.high, raw)
        self.total += raw
        self.count += 1


class RestLearner:
    """Learns the rest of one axis, once."""

    def __init__(self, low: float, high: float) -> None:
        """Look for a rest between these two reports."""
        self._low, self._high = low, high
        self._window: _Window | None = None
        self.rest: float | None = None
        """The report at rest; None = not known yet."""

    def see(self, raw: float, now: float) -> None:
        """Look at a report in [-1, 1] that came at monotonic time `now` [s]."""
        if self.rest is not None:
            return
        if not self._low <= raw <= self._high:
            self._window = None
            return
        if self._window is None or not self._window.takes(raw):
            self._window = _Window(now, raw, raw)
        window = self._window
        window.add(raw)
        if window.count >= STEADY_FRAMES and now - window.since >= STEADY_TIME:
            self.rest = window.total / window.count

    def forget(self) -> None:
        """Another pad may be there next."""
        self._window = self.rest = None
