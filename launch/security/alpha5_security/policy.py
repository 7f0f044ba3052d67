"""What a policy is: enclaves with profiles of nodes, and in each the names that it may use.

The terms are those of SROS 2. An enclave is what a process has keys for, a profile is one node in
it, and whatever no profile allows is denied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType


class Verb(Enum):
    """What a node does with a name; the value is the attribute in the policy file."""

    PUBLISH = "publish"
    SUBSCRIBE = "subscribe"
    REPLY = "reply"
    REQUEST = "request"
    EXECUTE = "execute"
    CALL = "call"


KINDS: Mapping[Verb, str] = MappingProxyType(
    {
        Verb.PUBLISH: "topic",
        Verb.SUBSCRIBE: "topic",
        Verb.REPLY: "service",
        Verb.REQUEST: "service",
        Verb.EXECUTE: "action",
        Verb.CALL: "action",
    }
)
"""What the name of each verb is one of."""

COUNTERPARTS: Mapping[Verb, tuple[Verb, ...]] = MappingProxyType(
    {
        Verb.PUBLISH: (Verb.SUBSCRIBE,),
        # Who listens in on what others say to a node is no more than one more subscriber of it.
        Verb.SUBSCRIBE: (Verb.PUBLISH, Verb.SUBSCRIBE),
        Verb.REPLY: (Verb.REQUEST,),
        Verb.REQUEST: (Verb.REPLY,),
    }
)
"""What somebody else must do with a name, that a right to it is of any use."""

ACTION_TOPICS = ("feedback", "status")
ACTION_SERVICES = ("cancel_goal", "get_result", "send_goal")
"""What ROS 2 makes of an action: these, below its name and `_action`."""


@dataclass(frozen=True, slots=True)
class Right:
    """One thing that a node may do, or does."""

    verb: Verb
    name: str
    """Absolute in a graph. In a profile as ROS reads it: relative to the namespace, `~` = the
    node."""

    def __str__(self) -> str:
        """Return it for people."""
        return f"{self.verb.value} {self.name}"


@dataclass(frozen=True, slots=True)
class Profile:
    """A node, and what it may do."""

    namespace: str
    """Absolute."""
    node: str
    """Its name; `*` stands for anything."""
    rights: frozenset[Right]

    def absolute(self, right: Right) -> Right:
        """Return a right of it with an absolute name."""
        base = self.namespace.rstrip("/")
        if right.name.startswith("/"):
            return right
        if right.name.startswith("~"):
            return Right(right.verb, f"{base}/{self.node}{right.name[1:]}")
        return Right(right.verb, f"{base}/{right.name}")

    def basic(self) -> frozenset[Right]:
        """Return all rights with absolute names, actions as the topics and services they are."""
        return frozenset(part for right in self.rights for part in expanded(self.absolute(right)))


@dataclass(frozen=True, slots=True)
class Enclave:
    """What one process has keys for."""

    path: str
    purpose: str
    """For whoever reads the file."""
    profiles: tuple[Profile, ...]

    def basic(self) -> frozenset[Right]:
        """Return what a process with its keys may do, whatever its nodes are called."""
        return frozenset(right for profile in self.profiles for right in profile.basic())


def expanded(right: Right) -> Iterator[Right]:
    """Yield the rights to topics and services that a right comes to: itself, or an action's."""
    if KINDS[right.verb] != "action":
        yield right
        return
    serves = right.verb is Verb.EXECUTE
    for part in ACTION_TOPICS:
        verb = Verb.PUBLISH if serves else Verb.SUBSCRIBE
        yield Right(verb, f"{right.name}/_action/{part}")
    for part in ACTION_SERVICES:
        verb = Verb.REPLY if serves else Verb.REQUEST
        yield Right(verb, f"{right.name}/_action/{part}")
