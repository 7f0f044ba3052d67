"""QoS as bags write it down, and as the recorder asks for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

NANO = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Offer:
    """What a publisher offers, in the words of the bag format (its version 9)."""

    history: str
    depth: int
    reliability: str
    durability: str
    deadline: int
    """[ns]"""
    lifespan: int
    """[ns]"""
    liveliness: str
    liveliness_lease_duration: int
    """[ns]"""
    avoid_ros_namespace_conventions: bool

    def plain(self) -> dict[str, Any]:
        """Return it as it is written into a bag."""
        return {
            "history": self.history,
            "depth": self.depth,
            "reliability": self.reliability,
            "durability": self.durability,
            "deadline": _time(self.deadline),
            "lifespan": _time(self.lifespan),
            "liveliness": self.liveliness,
            "liveliness_lease_duration": _time(self.liveliness_lease_duration),
            "avoid_ros_namespace_conventions": self.avoid_ros_namespace_conventions,
        }


@dataclass(frozen=True, slots=True)
class Request:
    """What a subscription asks for."""

    is_reliable: bool
    is_latched: bool


def request(offers: Iterable[Offer]) -> Request:
    """Return the most that all publishers of a topic offer, so that all of them are heard."""
    offers = list(offers)
    return Request(
        is_reliable=all(offer.reliability == "reliable" for offer in offers),
        is_latched=all(offer.durability == "transient_local" for offer in offers),
    )


def _time(nanoseconds: int) -> dict[str, int]:
    return {"sec": nanoseconds // NANO, "nsec": nanoseconds % NANO}
