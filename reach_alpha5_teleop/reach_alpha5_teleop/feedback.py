"""What the pilot feels: short pulses of the pad's motor, each pattern with an end."""

from __future__ import annotations

import enum
from collections.abc import Mapping


class Cause(enum.Enum):
    """Why the pad rumbles; what comes later here is more urgent."""

    BLOCKED = "the arm is held back"
    LEASE_LOST = "the arm is somebody else's, or nobody's, in mid-motion"
    LATCHED = "an e-stop or a fault latched"

    @property
    def urgency(self) -> int:
        """Greater before lesser."""
        return list(Cause).index(self)


PATTERNS: Mapping[Cause, tuple[float, ...]] = {
    Cause.BLOCKED: (0.12, 0.88),
    Cause.LEASE_LOST: (0.15, 0.15, 0.15, 0.55),
    Cause.LATCHED: (0.6, 0.4),
}
"""Seconds on, off, on, off ...; the last one is quiet, so that what goes on is felt as pulses.
Each time on is below 1 s, after which joy's nodes end a rumble by themselves."""


class Rumble:
    """Plays one pattern at a time."""

    def __init__(self, strength: float) -> None:
        """Rumble with `strength` in [0, 1]; 0 = never."""
        self._strength = strength
        self._cause: Cause | None = None
        self._since = 0.0
        self._said = 0.0

    @property
    def playing(self) -> bool:
        """Whether there is more to come."""
        return self._cause is not None

    def start(self, cause: Cause, now: float) -> bool:
        """Begin a pattern, unless one is on that is as urgent; say whether it begins."""
        on = self._cause if now - self._since < self._length() else None
        if self._strength == 0.0 or (on is not None and cause.urgency <= on.urgency):
            return False
        self._cause, self._since = cause, now
        return True

    def change(self, now: float) -> float | None:
        """Return the intensity in [0, 1] that the motor shall have now; None = what it has."""
        level = self._strength if self._is_on(now) else 0.0
        if level == self._said:
            return None
        self._said = level
        return level

    def stop(self) -> float | None:
        """End what plays; return as `change`."""
        self._cause = None
        return self.change(self._since)

    def _length(self) -> float:
        return sum(PATTERNS[self._cause]) if self._cause is not None else 0.0

    def _is_on(self, now: float) -> bool:
        if self._cause is None:
            return False
        end = self._since
        for number, part in enumerate(PATTERNS[self._cause]):
            end += part
            if now < end:
                return number % 2 == 0
        self._cause = None
        return False
