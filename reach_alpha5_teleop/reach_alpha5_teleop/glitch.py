"""A single wild frame must not move the arm (U3).

Joysticks and their radios now and then report full scale for one frame, in range and well formed.
A hand does not move a stick that far between two frames. So what jumps away from rest by more than
`HAND` counts only when the next frame confirms it; until then the value before stands. Whatever
goes towards rest counts at once, and so does the way of a hand.
"""

from __future__ import annotations

import math

HAND = 0.6
"""The most of an axis's travel that counts at once: a hand needs some 50 ms for all of it, and
pads report every 20 ms or sooner."""


class JumpGuard:
    """The travel of one axis as far as it is believed."""

    def __init__(self) -> None:
        self._value = 0.0
        self._jump: float | None = None

    def read(self, travel: float) -> float:
        """Return what to believe of a travel in [-1, 1]; 0 = at rest.

        To turn round is to let go, and then to push from rest.
        """
        base = self._value if self._value * travel > 0.0 else 0.0
        if abs(travel) - abs(base) <= HAND:
            self._value, self._jump = travel, None
        elif self._jump is not None and self._jump * travel > 0.0:
            # Both frames say at least this much.
            self._value = math.copysign(min(abs(travel), abs(self._jump)), travel)
            self._jump = travel
        else:
            self._value, self._jump = base, travel
        return self._value

    def forget(self) -> None:
        """Begin at rest."""
        self._value, self._jump = 0.0, None
