"""All that decides what the arbiter does next, and how it is shown to others."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.driver import BLOCKS, Driver
from reach_alpha5_arbiter.endpoint import Endpoint
from reach_alpha5_arbiter.errand import ENDED, PHASES, Ending, Errand, GoalPhase, Waiting
from reach_alpha5_arbiter.latches import Latches
from reach_alpha5_arbiter.motion import Lease, Motion
from reach_alpha5_arbiter.snapshot import Asked, GoalSnapshot, Snapshot
from reach_alpha5_arbiter.source import Source
from reach_alpha5_arbiter.stream import Stream
from reach_alpha5_arbiter.trajectory import Goal, Posture
from reach_alpha5_arbiter.upstream import Upstream
from reach_alpha5_common.command import StopLevel
from reach_alpha5_common.refusal import Refusal


@dataclass(slots=True)
class State:
    """The state: values that are replaced whole. Only `Machine` and `rules` replace them."""

    sources: dict[str, Source]
    """By name, as are the endpoints."""
    endpoints: dict[str, Endpoint]
    upstream: Upstream
    latches: Latches
    lease: Lease = field(default_factory=Lease)
    motion: Motion = field(default_factory=Motion)
    driver: Driver = field(default_factory=Driver)
    stream: Stream = field(default_factory=Stream)
    errand: Errand | None = None
    """The goal that owns the arm."""
    waiting: Waiting | None = None
    """What is said when the arm has come to rest."""
    posture: Posture | None = None
    """The last one measured."""
    rested_at: float = -math.inf
    """Monotonic time [s] since which the arm is thought to rest: a goal begins at no posture that
    was measured before."""
    ended: tuple[Goal, Ending] | None = None
    """The last goal that ended, to be shown."""
    asked: Asked = field(default_factory=Asked)
    sequence: int = 0
    stops: int = 0
    last_stop_cause: StopCause | None = None
    last_stop_at: float = math.nan
    now: float = -math.inf
    """Monotonic time [s] of the last event."""
    closed: bool = False
    """Whether nothing is heard any more."""

    def copied(self) -> State:
        """Return an independent copy."""
        return replace(self, sources=dict(self.sources), endpoints=dict(self.endpoints))

    @property
    def is_permitted(self) -> bool:
        """Whether no latch stands, ours or the driver's, and every e-stop endpoint is clear."""
        shown = self.driver.shown_with(self.latches)
        latched = shown.estop is not StopLevel.NONE or shown.is_faulted
        return not latched and all(each.is_clear for each in self.endpoints.values())

    def snapshot(self, refusals: tuple[Refusal, ...], now: float) -> Snapshot:
        """Show it at monotonic time `now` [s]."""
        driver, lease = self.driver, self.lease
        shown = driver.shown_with(self.latches)
        return Snapshot(
            owner=lease.owner or "",
            lease_epoch=lease.epoch,
            lease_age=now - lease.since,
            activity=self.motion.activity,
            estop_latched=shown.estop is not StopLevel.NONE,
            estop_level=shown.estop,
            estop_source=shown.estop_source,
            estop_reason=shown.estop_reason,
            fault_latched=shown.is_faulted,
            fault_causes=shown.faults,
            driver_connected=driver.is_connected,
            unready=driver.standing.value if driver.standing in BLOCKS else "",
            last_stop_cause=self.last_stop_cause,
            last_stop_at=self.last_stop_at,
            stops=self.stops,
            refusals=refusals,
            sources=tuple(source.snapshot(now) for source in self.sources.values()),
            asked=self.asked,
            stream=self.stream,
            goal=self._goal(now),
            endpoints=tuple(self.endpoints.values()),
            upstream_lost=self.upstream.is_lost,
            permitted=self.is_permitted,
        )

    def visible(self) -> tuple[object, ...]:
        """Return all that others see, but for ages and counters."""
        driver, errand, waiting = self.driver, self.errand, self.waiting
        return (
            self.lease.epoch,
            self.motion.activity,
            self.latches,
            driver.standing,
            driver.estop_level,
            driver.is_faulted,
            self.stops,
            # Two clients that speak in turns must not make a change of each heartbeat.
            [
                (s.liveness, s.arming, s.voices, s.client_id if s.voices < 2 else "")
                for s in self.sources.values()
            ],
            self.stream.state,
            errand and errand.goal.id,
            waiting and waiting.goal and waiting.goal.id,
            [(e.state, e.stands_for) for e in self.endpoints.values()],
            self.upstream.is_lost,
        )

    def _goal(self, now: float) -> GoalSnapshot:
        """Show the goal that owns the arm, else the one that waits, else the last one."""
        if self.errand is not None:
            goal, execution = self.errand.goal, self.errand.execution
            phase = PHASES[self.motion.activity]
            return _shown(goal, phase, execution.elapsed(now), execution.duration)
        if self.waiting is not None and self.waiting.goal is not None:
            return _shown(self.waiting.goal, GoalPhase.WAITING)
        if self.ended is not None:
            goal, ending = self.ended
            return replace(_shown(goal, ENDED[ending.outcome]), code=ending.code)
        return GoalSnapshot()


def _shown(
    goal: Goal, phase: GoalPhase, elapsed: float = math.nan, duration: float = math.nan
) -> GoalSnapshot:
    return GoalSnapshot(goal.id, goal.kind.value, goal.source, phase, elapsed, duration)
