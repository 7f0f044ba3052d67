"""Everything that goes into the arbiter and everything that comes out of it, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.state import Snapshot
from reach_alpha5_common.command import DriverCommand, MotionCommand
from reach_alpha5_common.refusal import Refusal

# ---- in ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a source."""

    source: str
    command: MotionCommand
    stamp: int
    """The sender's clock [ns since the epoch]: orders, never ages."""
    wall: int
    """Our own wall clock [ns] at receipt: only tells a stamp from the far future."""
    topic: str = ""
    """Which of the source's topics it came on: those of one arrive in the order they were sent."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A heartbeat of one client of a source."""

    source: str
    client_id: str
    present: bool


@dataclass(frozen=True, slots=True)
class SourceGone:
    """The last publisher of a source's heartbeat disappeared."""

    source: str


@dataclass(frozen=True, slots=True)
class EStopPress:
    """An e-stop, from anybody. A `level` that nobody defined is CUT."""

    level: int
    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reset:
    """Clear the latches, ours and the driver's. Answered by a `Reply`."""


@dataclass(frozen=True, slots=True)
class Acquire:
    """Ask for the lease. Answered by a `Reply`."""

    source: str
    client_id: str
    take: bool = False


@dataclass(frozen=True, slots=True)
class Return:
    """Give the lease back. Answered by a `Reply`."""

    source: str
    client_id: str
    lease_epoch: int = 0
    """As granted; 0 = whichever."""


@dataclass(frozen=True, slots=True)
class ArmReport:
    """What the driver says of itself and its arm: the part of `ArmState` that decides."""

    state: int
    """`ArmState` number; one that nobody defined counts as no arm."""
    powered: bool
    emo: bool
    emo_level: int
    estop_epoch: int
    active: bool
    """Whether its lifecycle node is active."""
    fault_causes: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    """What keeps the arm from being engaged."""
    service_mode: bool = False


@dataclass(frozen=True, slots=True)
class JointFeedback:
    """Whether the measured velocities of all joints say that the arm rests."""

    at_rest: bool


@dataclass(frozen=True, slots=True)
class Tick:
    """Nothing but the passing of time."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """The process is about to exit. Nothing is heard after it."""


Event = (
    Command
    | Heartbeat
    | SourceGone
    | EStopPress
    | Reset
    | Acquire
    | Return
    | ArmReport
    | JointFeedback
    | Tick
    | Shutdown
)

# ---- out ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Send:
    """Say this to the driver, now and in this order."""

    command: DriverCommand
    cause: StopCause | None = None
    """Why, when it is a STOP."""


@dataclass(frozen=True, slots=True)
class StateChanged:
    """Something that others see has changed."""

    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Refused:
    """Something was not obeyed."""

    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a request."""

    success: bool
    code: str
    message: str


Output = Send | StateChanged | Refused | Reply
