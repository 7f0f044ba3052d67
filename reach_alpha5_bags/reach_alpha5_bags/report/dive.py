"""A dive, gathered message by message: which topic goes to which accumulator."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reach_alpha5_bags.report.joints import Health, Motion
from reach_alpha5_bags.report.latency import Heartbeats, Traffic
from reach_alpha5_bags.report.link import Link
from reach_alpha5_bags.report.reaction import Reaction
from reach_alpha5_bags.report.timeline import Arbiter, Driver, Presses
from reach_alpha5_bags.report.tip import Tip

NANO = 1e-9
STAMP = 4
"""Where a serialised header has its stamp: behind the four bytes that say how it is serialised."""


@dataclass(frozen=True, slots=True)
class Feed:
    """What is done with a topic."""

    to: tuple[str, ...] = ()
    """Accumulators of a `Dive` that take in its messages; none = these are counted, and their
    stamps looked at."""
    tells: str = ""
    """What the page lacks without it; empty = nothing."""


FEEDS: Mapping[str, Feed] = {
    "arbiter_state": Feed(
        ("arbiter", "heartbeats"),
        "owner, activity, latches, the arbiter's stops and refusals, heartbeats",
    ),
    "arm_state": Feed(
        ("driver", "health", "link"),
        "the driver's states, stops, faults and refusals, the link, currents and temperatures, "
        "serial numbers",
    ),
    "joint_states": Feed(("motion",), "positions and velocities, the time moving"),
    "gripper_tel": Feed(("tip",), "where the tip went"),
    "driver_command": Feed(("reaction",), "how fast the arm answers"),
    "estop": Feed(("presses",)),
    "joy": Feed(),
    "arbiter_journal": Feed(),
    "/diagnostics": Feed(),
}
"""Topic, in the arm's namespace if it has no slash, to what becomes of it. All begin with a
header. A dive without an e-stop has nothing on `estop`."""


def stamp_of(data: bytes) -> int:
    """Return the stamp [ns] of a serialised message that begins with a header.

    Raises:
        struct.error: it is too short.
    """
    seconds, nanoseconds = struct.unpack_from("<iI" if data[1] & 1 else ">iI", data, STAMP)
    return int(seconds) * 1_000_000_000 + int(nanoseconds)


class Dive:
    """All accumulators."""

    def __init__(self) -> None:
        self.arbiter = Arbiter()
        self.driver = Driver()
        self.presses = Presses()
        self.motion = Motion()
        self.health = Health()
        self.link = Link()
        self.tip = Tip()
        self.heartbeats = Heartbeats()
        self.reaction = Reaction()
        self._hear: Mapping[str, Callable[[float, Any], None]] = {
            "arbiter": self.arbiter.hear,
            "driver": self.driver.hear,
            "presses": self.presses.hear,
            "motion": self._move,
            "health": self.health.hear,
            "link": self.link.hear,
            "tip": self.tip.hear,
            "heartbeats": self.heartbeats.hear,
            "reaction": self.reaction.command,
        }
        self.traffic: dict[str, Traffic] = {topic: Traffic() for topic in FEEDS}

    def hear(self, topic: str, at: float, stamp: int | None, receipt: int, message: Any) -> None:
        """Take in a message.

        Args:
            topic: one of `FEEDS`.
            at: when it was recorded [s since the bag's begin].
            stamp: that of its header [ns since the epoch]; None or 0 = it has none.
            receipt: when it was recorded [ns since the epoch].
            message: what it says; None = nothing that is looked at.
        """
        traffic = self.traffic[topic]
        traffic.hear(at, (receipt - stamp) * NANO if stamp else None)
        if message is None:
            return
        is_read = True
        for name in FEEDS[topic].to:
            try:
                self._hear[name](at, message)
            # Other definitions of the message have other fields, and a damaged one has anything.
            except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError):
                is_read = False
        traffic.misread += not is_read

    def _move(self, at: float, message: Any) -> None:
        self.motion.hear(at, message)
        self.reaction.joints(at, self.motion.moving)

    def finish(self) -> None:
        """End what lasts, after the last message."""
        for states in (*self.arbiter.states.values(), *self.driver.states.values()):
            states.close()
