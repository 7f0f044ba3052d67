"""What the driver tells about itself: immutable pictures that any thread may read."""

from __future__ import annotations

from dataclasses import dataclass, field

from reach_alpha5_common.command import Pose, StopLevel
from reach_alpha5_common.refusal import Refusal
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
    """What is known of one joint; the fields are those of `JointHealth`. NaN = never heard."""

    axis: str
    """Joint name without the prefix."""
    device_id: int
    stale: bool
    mode: int | None
    position: float
    velocity: float
    """NaN also where none is fresh."""
    current: float
    temperature: float
    humidity: float
    voltage: float
    status_flags: tuple[str, ...]
    age: float


@dataclass(frozen=True, slots=True)
class LinkPicture:
    """What passed over the line; the fields are those of `LinkCounters`."""

    connected: bool
    counters: dict[str, int]
    telemetry_rate: float


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
