"""Tells a message that is said now from one that is said again: a bag beside a live arm.

Whoever says something stamps it and hands it to the middleware, which notes when: two times of one
clock, the sender's, a moment apart. Of what a bag says again the stamp is that of the recording.
So it is told apart whatever the clocks of sender and receiver show, and however long the way was.

What is said again may stop the arm. It never moves it, and it is no sign of life.
"""

from __future__ import annotations

from dataclasses import dataclass

from reach_alpha5_common.parameters import Parameter
from reach_alpha5_common.refusal import Problem

NANO = 1_000_000_000

CODE = "replayed"

MAX_STAMP_AGE = Parameter(
    "max_stamp_age",
    1.0,
    "How far the stamp of a message may be from when its sender sends it; one that is further off "
    "comes out of a bag, and is refused. 0: not looked at, for senders whose clock is that of a "
    "simulation. Ours.",
    unit="s",
    range=(0.0, 60.0),
)
"""For the table of every node that moves something by what it hears."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """The bound that a node sets.

    Attributes:
        max_stamp_age: `MAX_STAMP_AGE` [s]; 0 = everything is fresh.
    """

    max_stamp_age: float

    def problem(self, stamp: int, sent: int) -> Problem | None:
        """Return why a message is not fresh, or None.

        Args:
            stamp: of its header [ns on the sender's clock].
            sent: when the sender's middleware took it [ns on the same clock]; 0 = unknown.
        """
        if self.max_stamp_age == 0.0:
            return None
        if sent == 0:
            return Problem(
                CODE,
                "the middleware does not tell when it was sent, so that it may come out of a bag; "
                "use one that tells, or set max_stamp_age to 0 where no bag is ever played",
            )
        age = (sent - stamp) / NANO
        # A stamp from the future is of a bag as well: of one whose recorder's clock was ahead.
        if abs(age) <= self.max_stamp_age:
            return None
        side = "old" if age > 0.0 else "ahead"
        told = "without a stamp" if stamp == 0 else f"with a stamp {abs(age):.3g} s {side}"
        return Problem(
            CODE, f"sent {told}, as out of a bag; stop the player, or stamp it when it is sent"
        )
