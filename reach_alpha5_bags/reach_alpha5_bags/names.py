"""Topics of bags, and their names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic that the bag has."""

    name: str
    """With its namespace."""
    type: str
    """For example `sensor_msgs/msg/Joy`."""
    count: int
    """Messages."""
    is_latched: bool = False
    """Its publishers kept the newest message for whoever came late."""


def resolve(namespace: str, name: str) -> str:
    """Return the full name of a topic.

    Args:
        namespace: with or without slashes around it; empty or a slash: none.
        name: in the namespace; one that begins with a slash is full already.
    """
    return name if name.startswith("/") else f"/{namespace.strip('/')}/{name}".replace("//", "/")
