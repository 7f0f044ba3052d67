"""What an e-stop endpoint says, and when it falls silent. Pure: time comes in as an argument.

A software stop. Not safety-rated.

The endpoint speaks for its owner: a person at a terminal, a watch over a leak sensor, a program
that must not hang. The owner says again and again that all is well, by `feed`. What hears the
challenges is another thread as a rule, and that one goes on when the owner's loop hangs; so a
challenge is answered only while the last `feed` is fresh. To be silent is enough: the arbiter
stops the arm then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from reach_alpha5_arbiter.endpoint import answer_to
from reach_alpha5_common.command import StopLevel


@dataclass(frozen=True, slots=True)
class CheckIn:
    """What to say to the arbiter: `EStopCheckIn` without ROS."""

    challenge: int
    response: int
    level: StopLevel
    reason: str = ""


class EStopEndpoint:
    """One endpoint: silent until its owner has said that all is well.

    Args:
        fresh_for: how long [s] the owner's word counts.

    Raises:
        ValueError: `fresh_for` is not above 0.
    """

    def __init__(self, fresh_for: float = 0.5) -> None:
        if not 0.0 < fresh_for < math.inf:
            raise ValueError(f"fresh_for is {fresh_for} s; it must be above 0")
        self._fresh_for = fresh_for
        self._fed_at = -math.inf
        self._newest = 0
        self._level = StopLevel.NONE
        self._reason = ""

    @property
    def level(self) -> StopLevel:
        """Its objection; NONE = it has none."""
        return self._level

    def feed(self, now: float) -> None:
        """Take its owner's word that all is well at monotonic time `now` [s]."""
        self._fed_at = now

    def is_fresh(self, now: float) -> bool:
        """Say whether the owner's last word still counts."""
        return now < self._fed_at + self._fresh_for

    def challenged(self, challenge: int, now: float) -> CheckIn | None:
        """Take a challenge, and return the answer; None = none, the owner was not heard in time.

        An objection is said even then.
        """
        self._newest = challenge
        if self._level is StopLevel.NONE and not self.is_fresh(now):
            return None
        return self._check_in()

    def press(self, level: StopLevel, reason: str) -> CheckIn:
        """Object, from now on and until `release`; return what to say at once.

        Raises:
            ValueError: the level is NONE.
        """
        if level is StopLevel.NONE:
            raise ValueError("an objection has a level above NONE; `release` ends one")
        self._level, self._reason = level, reason
        return self._check_in()

    def release(self) -> None:
        """Have no objection any more: the next answer says so. No latch clears by it."""
        self._level, self._reason = StopLevel.NONE, ""

    def _check_in(self) -> CheckIn:
        return CheckIn(self._newest, answer_to(self._newest), self._level, self._reason)
