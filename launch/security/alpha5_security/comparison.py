"""A policy beside a graph that runs: what is used is allowed, and what is allowed is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType

from alpha5_security.policy import COUNTERPARTS, Enclave, Profile, Right, Verb

UNUSED: Mapping[Right, str] = MappingProxyType(
    {
        Right(Verb.PUBLISH, "estop"): "everybody may stop, also who has no button",
        Right(Verb.REQUEST, "estop"): "everybody may stop, also who has no button",
        Right(Verb.SUBSCRIBE, "joint_states"): "heard while the goal source is there",
        Right(Verb.SUBSCRIBE, "motion_permitted"): "an e-stop endpoint may drive a relay",
        Right(Verb.SUBSCRIBE, "/parameter_events"): "who is not of this workspace may be in C++",
    }
)
"""What a node that runs may, but need not do, and why."""

ALONE: Mapping[str, str] = MappingProxyType(
    {
        "/rosout": "each node has it, whoever reads it",
        "/parameter_events": "each node has it, whoever reads it",
        "/tf": "of robot_state_publisher; no node of ours hears it",
        "/tf_static": "of robot_state_publisher; no node of ours hears it",
        "robot_description": "of robot_state_publisher; no node of ours hears it",
        "/events/write_split": "of a recorder; no node of ours hears it",
        "markers": "of the markers node; rviz hears it, which is not of ours",
    }
)
"""What may be allowed to a node that does not run although none that runs has to do with it, and
why."""

UNSAID: Mapping[str, str] = MappingProxyType(
    {
        "teleop/twist": "the arbiter hears it of each source; teleop does not use it",
        "teleop/twist_ctrl": "the arbiter hears it of each source; teleop does not use it",
        "teleop/joint_ctrl": "the arbiter hears it of each source; teleop does not use it",
    }
)
"""What a node hears although nobody may say it, and why. The names in these three are as in a
profile."""


@dataclass(frozen=True, slots=True)
class RunningNode:
    """A node of a graph, and what it uses."""

    namespace: str
    """Absolute."""
    name: str
    enclave: str
    """That of its process; `/` where none was given."""
    uses: frozenset[Right]
    """Topics and services, absolute; actions are the topics and services that ROS makes of
    them."""

    def __str__(self) -> str:
        """Return its full name."""
        return f"{self.namespace.rstrip('/')}/{self.name}"


Placed = tuple[RunningNode, Enclave, Profile]


def problems(policy: Sequence[Enclave], graph: Sequence[RunningNode]) -> list[str]:
    """Say where a policy and a graph do not agree, a line each; empty = nowhere."""
    placed: list[Placed] = []
    found: list[str] = []
    for node in graph:
        place = place_of(policy, node)
        if place is None:
            where = "" if node.enclave == "/" else f" {node.enclave}"
            found.append(f"{node}: no profile for it in any enclave{where}")
        else:
            placed.append((node, *place))
    found += _of_nodes(policy, placed)
    found += _of_others(policy, placed)
    found += _of_names(policy, placed)
    return found


def place_of(policy: Sequence[Enclave], node: RunningNode) -> tuple[Enclave, Profile] | None:
    """Return the enclave and the profile of a node that runs, or None."""
    for enclave in policy:
        # Many enclaves may have the same tool's profile: that of its own enclave counts.
        if node.enclave not in ("/", enclave.path):
            continue
        for profile in enclave.profiles:
            if profile.namespace == node.namespace and fnmatchcase(node.name, profile.node):
                return enclave, profile
    return None


def allows(rights: frozenset[Right], use: Right) -> bool:
    """Whether one of some rights, which may hold `*`, allows a use."""
    return use in rights or any(
        right.verb is use.verb and fnmatchcase(use.name, right.name) for right in rights
    )


def is_tool(profile: Profile) -> bool:
    """Whether it stands for whatever is started there: that uses what it likes of an enclave."""
    return "*" in profile.node


def _of_nodes(policy: Sequence[Enclave], placed: Sequence[Placed]) -> Iterator[str]:
    """Judge those that run by what they do."""
    everything = frozenset[Right]().union(*(enclave.basic() for enclave in policy))
    for node, enclave, profile in placed:
        allowed = profile.basic()
        if is_tool(profile):
            # Without security nobody knows in which enclave it would be.
            allowed = enclave.basic() if node.enclave == enclave.path else everything
        for use in sorted(node.uses, key=str):
            if not allows(allowed, use):
                yield f"{node}: does {use}, which is not allowed"
        if not is_tool(profile):
            optional = {profile.absolute(right) for right in UNUSED}
            for right in sorted(allowed - node.uses - optional, key=str):
                yield f"{node}: may {right}, which it does not"


def _of_others(policy: Sequence[Enclave], placed: Sequence[Placed]) -> Iterator[str]:
    """Judge those that do not run by the other end of what they may."""
    running = {(enclave.path, profile) for _, enclave, profile in placed}
    uses = frozenset(use for node, _, _ in placed for use in node.uses)
    for enclave in policy:
        for profile in enclave.profiles:
            if (enclave.path, profile) in running:
                continue
            own = profile.absolute(Right(Verb.REPLY, "~/")).name
            alone = {profile.absolute(Right(Verb.PUBLISH, name)).name for name in ALONE}
            for right in sorted(profile.basic(), key=str):
                if right.name.startswith(own) or right.name in alone:
                    continue
                if not any(Right(verb, right.name) in uses for verb in COUNTERPARTS[right.verb]):
                    yield f"{enclave.path}: may {right}, which concerns no node that runs"


def _of_names(policy: Sequence[Enclave], placed: Sequence[Placed]) -> Iterator[str]:
    """Demand that somebody may say what a node hears, and that nobody else serves what it does."""
    rights = {enclave.path: enclave.basic() for enclave in policy}

    def able(right: Right) -> list[str]:
        return [path for path, its in rights.items() if allows(its, right)]

    for node, _, profile in placed:
        if is_tool(profile):
            continue
        unsaid = {profile.absolute(Right(Verb.SUBSCRIBE, name)) for name in UNSAID}
        for use in sorted(node.uses - unsaid, key=str):
            if use.verb is Verb.SUBSCRIBE and not able(Right(Verb.PUBLISH, use.name)):
                yield f"{node}: hears {use.name}, which nobody may publish"
            elif use.verb is Verb.REPLY and len(others := able(use)) > 1:
                yield f"{node}: serves {use.name}, and so may all of {', '.join(others)}"
