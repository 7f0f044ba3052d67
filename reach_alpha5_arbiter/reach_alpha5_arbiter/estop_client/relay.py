"""When a relay in the arm's supply may be closed, and whether its contact does what it was told.

Pure: time comes in as an argument. A software stop. Not safety-rated, and a relay that is driven
by it does not become so.
"""

from __future__ import annotations

import math


class Relay:
    """Closed only while the arbiter says so in time; watched by its own feedback contact.

    Args:
        silence: how long [s] the arbiter's last word counts.
        switching_time: how long [s] the contact may take to follow.
    """

    def __init__(self, silence: float = 0.5, switching_time: float = 0.2) -> None:
        self._silence = silence
        self._switching_time = switching_time
        self._permitted_at = -math.inf
        self._wanted = False
        self._agreed_at = -math.inf

    def heard(self, permitted: bool, now: float) -> None:
        """Take a word on `motion_permitted`, heard at monotonic time `now` [s]."""
        self._permitted_at = now if permitted else -math.inf

    def may_close(self, now: float) -> bool:
        """Say whether the coil is to be driven; to be asked ten times a second or more often."""
        return now < self._permitted_at + self._silence

    def objection(self, is_closed: bool, now: float) -> str:
        """Say what is wrong with the contact that is read at `now` [s]; empty = nothing.

        An open relay is nothing to object to, since it opens at each stop: if its endpoint did,
        nothing could ever close it. What counts is that the contact does what the coil is told.
        """
        wanted = self.may_close(now)
        if wanted is not self._wanted or is_closed is wanted:
            self._wanted, self._agreed_at = wanted, now
        if now < self._agreed_at + self._switching_time:
            return ""
        return "the relay does not close" if wanted else "the relay does not open"
