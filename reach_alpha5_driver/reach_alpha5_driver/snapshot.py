"""What the driver tells about itself: immutable pictures that any thread may read."""

from __future__ import annotations

from dataclasses import dataclass, field

from reach_alpha5_common.command import Pose, StopLevel
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
    moving_to: Pose = Pose.UNSPECIFIED
    pose_velocity: float = 0.0
    """Fraction of the configured speed asked for on the way to `moving_to`."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth a line in the log."""

    severity: str
    """`info`, `warn` or `error`: the names of the logger's methods."""
    text: str
