"""Which topics of a bag may be played, and why the others may not.

Whatever is not known to ask for nothing is taken for a command: it is played only if a person
names it. The stamps of a bag are old, and everything that can move an arm refuses old stamps; this
is the line before that one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from reach_alpha5_bags.names import Topic, resolve
from reach_alpha5_bags.profile import Profile, pattern

COMMAND_TYPES = frozenset(
    [
        *(
            "control_msgs/msg/JointJog",
            "geometry_msgs/msg/Twist",
            "geometry_msgs/msg/TwistStamped",
        ),
        *("sensor_msgs/msg/Joy", "sensor_msgs/msg/JoyFeedbackArray"),
        *("std_msgs/msg/Bool", "std_msgs/msg/UInt8", "trajectory_msgs/msg/JointTrajectory"),
        *(
            f"reach_alpha5_msgs/msg/{name}"
            for name in (
                *("ClientHeartbeat", "DriverCommand", "EStop", "EStopChallenge", "EStopCheckIn"),
                *("GripperCtrl", "JointCtrl", "TwistCtrl"),
            )
        ),
    ]
)
"""Types that something may act on, whatever the name of the topic."""


@dataclass(frozen=True, slots=True)
class Played:
    """A topic of the bag, and where it goes."""

    topic: Topic
    name: str
    """Under which it is published."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is played and what is not."""

    played: tuple[Played, ...]
    refused: dict[str, str]
    """Topics that are not, with the reason."""


def choose(
    topics: Iterable[Topic],
    profile: Profile,
    forced: Collection[str] = (),
    *,
    source: str | None = None,
    target: str | None = None,
) -> Choice:
    """Choose among the topics of a bag.

    Args:
        topics: of the bag.
        profile: knows which topics show something, and ask for nothing.
        forced: full names of topics that a person wants played whatever they are.
        source: namespace in the bag; None = all of them.
        target: namespace to play it in instead; None = as recorded.
    """
    shown = [_within(entry.name) for entry in profile.arm if entry.shows]
    shown += [re.compile(pattern(entry.name)) for entry in profile.shared if entry.shows]
    shared = {entry.name for entry in profile.shared}
    within = resolve(source or "", "")
    played, refused = [], {}
    for topic in topics:
        is_inside = topic.name.startswith(within)
        why = ""
        if topic.name in forced:
            pass
        elif not is_inside and topic.name not in shared:
            why = "it is of another namespace"
        elif topic.type in COMMAND_TYPES:
            why = f"something may act on a {topic.type}"
        elif not any(expression.match(topic.name) for expression in shown):
            why = "it is not known to ask for nothing"
        if why:
            refused[topic.name] = why
            continue
        is_moved = target is not None and is_inside and topic.name not in shared
        name = resolve(target or "", topic.name[len(within) :]) if is_moved else topic.name
        played.append(Played(topic, name))
    return Choice(tuple(played), refused)


def _within(name: str) -> re.Pattern[str]:
    """Return the expression of a topic of an arm, in any namespace."""
    return re.compile("^(/[^/]+)*" + pattern("/" + name).lstrip("^"))
