"""One source of commands as the arbiter keeps it: liveness, arming, clients, order of stamps.

A `Source` is a value. What happens to it gives a new one; nothing here sends or decides anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from reach_alpha5_arbiter.config import SourceConfig
from reach_alpha5_arbiter.snapshot import SourceSnapshot
from reach_alpha5_arbiter.tables import (
    ARMING,
    LIVENESS,
    Arming,
    ArmingEvent,
    Liveness,
    LivenessEvent,
)

MAX_CLIENTS = 8
"""Clients and writers of one source that are told apart. Two on one topic are one too many
already; memory is bounded."""

MAX_CLIENT_ID = 128
"""Longest client id, in characters."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command stands in the order of the commands of its source."""

    stamp: int
    """[ns] of the sender's clock."""
    topic: str

    def is_before(self, other: Place) -> bool:
        """Say whether its stamp is the older."""
        return self.stamp < other.stamp

    def is_ambiguous_with(self, other: Place) -> bool:
        """Say whether nothing tells which is the newer: on one topic, arrival does."""
        return self.stamp == other.stamp and self.topic != other.topic


class Heard(NamedTuple):
    """Somebody who was heard: one writer on one topic, or one client by its heartbeat."""

    topic: str
    """On which it wrote; of a client: empty."""
    name: str
    at: float
    """Monotonic time [s] of its last word."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source at one moment."""

    config: SourceConfig
    liveness: Liveness = LIVENESS.initial
    arming: Arming = ARMING.initial
    clients: tuple[Heard, ...] = ()
    """By their heartbeats, the last one heard at the end."""
    writers: tuple[Heard, ...] = ()
    """By their commands, topic by topic, the last one heard at the end."""
    newest: Place | None = None
    """The place of the newest command that was obeyed; None = any is in order."""
    heartbeat_at: float = -math.inf
    command_at: float = -math.inf
    commands: int = 0
    refusals: int = 0

    @property
    def client_id(self) -> str:
        """The client whose heartbeat was the last; empty = none within the time-out."""
        return self.clients[-1].name if self.clients else ""

    @property
    def voices(self) -> int:
        """How many clients speak for it, as far as is known: more than one is one too many."""
        if len(self.writers) < 2:  # as a rule, and this is asked at each event
            return max(len(self.clients), len(self.writers))
        topics = [writer.topic for writer in self.writers]
        return max(len(self.clients), *map(topics.count, topics))

    @property
    def is_armed(self) -> bool:
        """Whether a neutral command was seen since the last thing that disarms."""
        return self.arming is Arming.ARMED

    def lapses_at(self) -> float:
        """Return the monotonic time [s] at which its watchdog lapses if nothing more is heard."""
        return self.heartbeat_at + self.config.heartbeat_timeout

    def heard(self, client_id: str, present: bool, now: float) -> Source:
        """Take a heartbeat."""
        row = LIVENESS.step(self.liveness, LivenessEvent.HERE if present else LivenessEvent.AWAY)
        return replace(
            self,
            liveness=row.then,
            clients=_with(self.clients, Heard("", client_id, now)),
            heartbeat_at=now,
        )

    def written(self, topic: str, writer: str, now: float) -> Source:
        """Take that a command came: who wrote it; empty = the middleware does not tell."""
        if not writer:
            return self
        return replace(self, writers=_with(self.writers, Heard(topic, writer, now)))

    def silenced(self, event: LivenessEvent) -> Source:
        """Take a LAPSE or a LOST: nobody is heard any more."""
        then = LIVENESS.step(self.liveness, event).then
        return replace(self, liveness=then, clients=(), writers=())

    def aged(self, now: float, stands: bool) -> Source:
        """Forget the clients and writers that are not heard any more while another one is.

        Args:
            now: monotonic time [s].
            stands: a command of the source moves the arm: who wrote it is not forgotten.
        """
        since = now - self.config.heartbeat_timeout
        # The only client is told of until the watchdog lapses.
        clients = self.clients if len(self.clients) < 2 else _heard_after(since, self.clients)
        writers = self.writers if stands else _heard_after(since, self.writers)
        if len(clients) == len(self.clients) and len(writers) == len(self.writers):
            return self
        return replace(self, clients=clients, writers=writers)

    def armed_by(self, event: ArmingEvent) -> Source:
        """Take something that arms or disarms."""
        then = ARMING.step(self.arming, event).then
        return self if then is self.arming else replace(self, arming=then)

    def snapshot(self, now: float) -> SourceSnapshot:
        """Show it at monotonic time `now` [s]."""
        return SourceSnapshot(
            name=self.config.name,
            person=self.config.person,
            present=self.liveness is Liveness.LIVE,
            alive=self.liveness is not Liveness.SILENT,
            neutral_required=not self.is_armed,
            heartbeat_age=_age(self.heartbeat_at, now),
            command_age=_age(self.command_at, now),
            client_id=self.client_id,
            clients=self.voices,
            commands=self.commands,
            refusals=self.refusals,
        )


def _with(heard: tuple[Heard, ...], new: Heard) -> tuple[Heard, ...]:
    """Return who was heard, `new` at the end, and no more than are told apart."""
    others = tuple(old for old in heard if old[:2] != new[:2])
    return *others[1 - MAX_CLIENTS :], new


def _heard_after(since: float, heard: tuple[Heard, ...]) -> tuple[Heard, ...]:
    return tuple(old for old in heard if old.at > since)


def _age(at: float, now: float) -> float:
    return now - at if math.isfinite(at) else math.nan
