"""One source of commands as the arbiter keeps it: liveness, arming, clients, order of stamps.

A `Source` is a value. What happens to it gives a new one; nothing here sends or decides anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from reach_alpha5_arbiter.config import SourceConfig
from reach_alpha5_arbiter.state import SourceSnapshot
from reach_alpha5_arbiter.tables import (
    ARMING,
    LIVENESS,
    Arming,
    ArmingEvent,
    Liveness,
    LivenessEvent,
)

MAX_CLIENTS = 8
"""Clients of one source that are told apart. Two are one too many already; memory is bounded."""

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


@dataclass(frozen=True, slots=True)
class Source:
    """A source at one moment."""

    config: SourceConfig
    liveness: Liveness = LIVENESS.initial
    arming: Arming = ARMING.initial
    clients: tuple[tuple[str, float], ...] = ()
    """(client id, monotonic time of its last heartbeat), the last one heard at the end."""
    newest: Place | None = None
    """The place of the newest command that was obeyed; None = any is in order."""
    heartbeat_at: float = -math.inf
    command_at: float = -math.inf
    commands: int = 0
    refusals: int = 0

    @property
    def client_id(self) -> str:
        """The client whose heartbeat was the last; empty = none within the time-out."""
        return self.clients[-1][0] if self.clients else ""

    @property
    def is_armed(self) -> bool:
        """Whether a neutral command was seen since the last thing that disarms."""
        return self.arming is Arming.ARMED

    def lapses_at(self) -> float:
        """Return the monotonic time [s] at which its watchdog lapses if nothing more is heard."""
        return self.heartbeat_at + self.config.heartbeat_timeout

    def heard(self, client_id: str, present: bool, now: float) -> Source:
        """Take a heartbeat."""
        others = tuple(client for client in self.clients if client[0] != client_id)
        row = LIVENESS.step(self.liveness, LivenessEvent.HERE if present else LivenessEvent.AWAY)
        return replace(
            self,
            liveness=row.then,
            clients=(*others[1 - MAX_CLIENTS :], (client_id, now)),
            heartbeat_at=now,
        )

    def silenced(self, event: LivenessEvent) -> Source:
        """Take a LAPSE or a LOST: nobody is heard any more."""
        return replace(self, liveness=LIVENESS.step(self.liveness, event).then, clients=())

    def aged(self, now: float) -> Source:
        """Forget the clients that are not heard any more while another one is."""
        timeout = self.config.heartbeat_timeout
        if len(self.clients) < 2 or now - self.clients[0][1] < timeout:
            return self
        return replace(self, clients=tuple(c for c in self.clients if now - c[1] < timeout))

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
            clients=len(self.clients),
            commands=self.commands,
            refusals=self.refusals,
        )


def _age(at: float, now: float) -> float:
    return now - at if math.isfinite(at) else math.nan
