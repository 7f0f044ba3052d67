"""What the arbiter shows of itself: `ArbiterState` without ROS.

All times are on the monotonic clock; NaN = there was none yet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.endpoint import Endpoint
from reach_alpha5_arbiter.errand import GoalPhase
from reach_alpha5_arbiter.stream import Stream
from reach_alpha5_arbiter.tables import Activity
from reach_alpha5_common.command import StopLevel
from reach_alpha5_common.refusal import Refusal


@dataclass(frozen=True, slots=True)
class SourceSnapshot:
    """One source as others see it."""

    name: str
    person: bool
    present: bool
    alive: bool
    neutral_required: bool
    heartbeat_age: float
    command_age: float
    client_id: str
    clients: int
    commands: int
    refusals: int


@dataclass(frozen=True, slots=True)
class GoalSnapshot:
    """The goal that owns the arm or waits for it, or else the last one, as others see it."""

    id: str = ""
    action: str = ""
    source: str = ""
    phase: GoalPhase = GoalPhase.NONE
    elapsed: float = math.nan
    """Of its own time [s]; NaN = it has not begun."""
    duration: float = math.nan
    """[s]; NaN = it has not begun."""
    code: str = ""
    """Why it ended; empty = it has not."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The last request for the lease by service."""

    source: str = ""
    granted: bool = False
    at: float = math.nan
    """Monotonic time [s]."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The arbiter as others see it.

    The latches are the effective ones: ours, or the driver's while it reports that its own stand.
    """

    owner: str
    lease_epoch: int
    lease_age: float
    activity: Activity
    estop_latched: bool
    estop_level: StopLevel
    estop_source: str
    estop_reason: str
    fault_latched: bool
    fault_causes: tuple[str, ...]
    driver_connected: bool
    unready: str
    """Why the driver cannot be given motion; empty = it can."""
    last_stop_cause: StopCause | None
    last_stop_at: float
    """Monotonic time [s] of the last stop."""
    stops: int
    refusals: tuple[Refusal, ...]
    """The last one of each source and code, newest first, some of them."""
    sources: tuple[SourceSnapshot, ...]
    asked: Asked
    stream: Stream
    goal: GoalSnapshot
    endpoints: tuple[Endpoint, ...]
    upstream_lost: bool
    permitted: bool
    """Whether no latch stands and every e-stop endpoint is clear."""
