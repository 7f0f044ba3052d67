"""What a policy is made for: a namespace, the sources, and the features that are on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

PAD = "teleop"
"""The source whose commands come from the teleop node of this workspace."""

VERBS = "app"
"""The source that the verbs node speaks for, if it runs."""

TAKEN = frozenset(
    {
        "anybody",
        "arbiter",
        "desk",
        "driver",
        "joy",
        "markers",
        "observer",
        "operator",
        "robot_state_publisher",
        "upstream",
        "verbs",
    }
)
"""Enclaves that no source can be called after."""


class LayoutError(ValueError):
    """A layout that no policy can be made for; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What a policy is made for. The defaults are those of the nodes and the launch file.

    What a feature needs is allowed only where the feature is on.

    Raises:
        LayoutError: a name cannot be one, or is taken.
    """

    namespace: str = "alpha5"
    """Of nodes and topics, without the first slash."""
    people: tuple[str, ...] = (PAD, "console", "app")
    """Sources that may take the lease, and reset."""
    automation: tuple[str, ...] = ("planner",)
    """Sources that may only acquire a free lease."""
    goal_source: str = "planner"
    """The one that calls the actions; empty = none."""
    estop_endpoints: tuple[str, ...] = ()
    """Those that have to check in."""
    upstream: bool = False
    """Whether an upstream link is watched."""
    service_mode: bool = False
    """Whether the driver is in service mode: for the desk."""
    verbs: bool = False
    """Whether the verbs node runs. It speaks for the source `app`, and whoever has the keys of
    that source calls it."""

    def __post_init__(self) -> None:
        words = [*self.namespace.split("/"), *self.sources, *self.estop_endpoints]
        for word in words:
            # What ROS takes as a part of a name.
            if not (word.isascii() and word.isidentifier()):
                raise LayoutError(
                    f"{word!r} cannot be a part of a name: letters, digits and _ alone, "
                    "and no digit first"
                )
        names = list(chain(self.sources, (f"estop_{name}" for name in self.estop_endpoints)))
        for name in names:
            if name in TAKEN or names.count(name) > 1:
                raise LayoutError(f"the name {name} is taken; give this one another")
        if self.verbs and VERBS not in self.sources:
            raise LayoutError(f"the verbs node speaks for {VERBS}, which is none of the sources")
        if self.goal_source and self.goal_source not in self.sources:
            raise LayoutError(f"the goal source {self.goal_source} is none of the sources")

    @property
    def sources(self) -> tuple[str, ...]:
        """All sources."""
        return self.people + self.automation
