"""What the driver tells about itself: immutable pictures that any thread may read."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from reach_alpha5_common.command import KnownPose, StopLevel
from reach_alpha5_common.refusal import Refusal
from reach_alpha5_driver.identity import DeviceIdentity
from reach_alpha5_driver.states import State


@dataclass(frozen=True, slots=True)
class PostureSample:
    """One full set of measured joint values, chain order [rad, m; rad/s, m/s]."""

    at: float
    """Monotonic time at which the newest of them was received [s]."""
    positions: tuple[float, ...]
    velocities: tuple[float, ...]
    """NaN where none is fresh."""


@dataclass(frozen=True, slots=True)
class JointPicture:
    """What is known of one joint; the fields are those of `JointHealth`.

    NaN and None = never heard, or too old.
    """

    axis: str
    """Joint name without the prefix."""
    device_id: int
    stale: bool
    mode: int | None
    position: float
    """The last one believed, also when stale."""
    values: dict[str, float]
    """Velocity, current, temperature, humidity, voltage [SI], by name."""
    status_flags: tuple[str, ...]
    ages: dict[str, float]
    """Seconds since each of `belief.REPORTED` was received, by name."""
    identity: DeviceIdentity
    suspect: bool
    """Whether it is silent, or something is wrong with it."""


@dataclass(frozen=True, slots=True)
class LinkPicture:
    """What passed over the line; the fields are those of `LinkCounters`."""

    connected: bool
    counters: dict[str, int]
    telemetry_rate: float
    telemetry_planned: float
    latency_timer: int
    """[ms]; -1 = none, or it cannot be read."""


@dataclass(frozen=True, slots=True)
class ArmPicture:
    """The driver and its arm at one moment; the fields are those of `ArmState` and `Gripper`."""

    at: float
    """Monotonic time of the picture [s]."""
    state: State
    powered: bool
    estop_level: StopLevel
    estop_epoch: int
    stream_open: bool
    fault_causes: tuple[str, ...]
    last_stop_cause: str
    stops: int
    last_refusal: Refusal | None
    link: LinkPicture
    joints: tuple[JointPicture, ...]
    posture_at: float
    """Monotonic time of the newest position; -inf = none."""
    control_mode: int
    active: bool
    identified: bool
    service_mode: bool
    holding: bool
    holds: tuple[str, ...]
    mismatches: tuple[str, ...]
    plannable: bool
    """Whether nothing that the arm says of itself forbids planned motion."""
    warnings: tuple[str, ...]
    at_limit: tuple[bool, ...] = field(default=(False,) * 5)
    blocked_by: tuple[str, ...] = ()
    """What holds back what is asked: `limit JOINT`, `collision PAIR`."""
    moving_to: KnownPose = field(default=KnownPose())

    @property
    def collides(self) -> bool:
        """Whether the arm is held back because something is near."""
        return any(cause.startswith(COLLISION) for cause in self.blocked_by)


COLLISION = "collision "
"""How what holds the arm back begins when it is something near."""


@dataclass(frozen=True, slots=True)
class Clearance:
    """How near the arm is to what it keeps clear of."""

    distance: float = math.nan
    """[m], below zero where two bodies overlap; NaN = not watched, or not known."""
    pair: str = ""
    """What is nearest to what, for the distances that are kept; empty = not watched."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth a line in the log."""

    severity: str
    """`info`, `warn` or `error`: the names of the logger's methods."""
    text: str
