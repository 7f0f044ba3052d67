"""The upstream link as the arbiter sees it: a way to the surface without which nothing moves.

Its loss is not latched: motion is possible again when it is back, after a neutral command.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from reach_alpha5_arbiter.tables import LIVENESS, Liveness, LivenessEvent


@dataclass(frozen=True, slots=True)
class Upstream:
    """The link at one moment."""

    timeout: float = 0.0
    """Silence [s] after which it is lost; 0 = there is no such link."""
    liveness: Liveness = LIVENESS.initial
    heard_at: float = -math.inf

    @property
    def is_lost(self) -> bool:
        """Whether there must be a link and there is none."""
        return self.timeout > 0.0 and self.liveness is not Liveness.LIVE

    @property
    def lapses_at(self) -> float:
        """Monotonic time [s] at which it is lost if nothing more is heard."""
        return math.inf if self.liveness is Liveness.SILENT else self.heard_at + self.timeout

    def heard(self, present: bool, now: float) -> Upstream:
        """Take a heartbeat of the link."""
        event = LivenessEvent.HERE if present else LivenessEvent.AWAY
        return replace(self, liveness=LIVENESS.step(self.liveness, event).then, heard_at=now)

    def silenced(self, event: LivenessEvent) -> Upstream:
        """Take a LAPSE or a LOST."""
        return replace(self, liveness=LIVENESS.step(self.liveness, event).then)
