"""Everything that goes into the arbiter and everything that comes out of it, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.errand import Ending
from reach_alpha5_arbiter.execution import Execution
from reach_alpha5_arbiter.snapshot import Snapshot
from reach_alpha5_arbiter.trajectory import Goal, Posture
from reach_alpha5_common.command import DriverCommand, MotionCommand
from reach_alpha5_common.refusal import Problem, Refusal

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
    writer: str = ""
    """Who wrote it on that topic; empty = the middleware does not tell."""
    stream_id: int = 0
    """The joint stream that it is for; 0 = none."""
    veto: Problem | None = None
    """What a check of one's own has against its joint target (C12)."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A heartbeat of one client of a source."""

    source: str
    client_id: str
    present: bool


@dataclass(frozen=True, slots=True)
class Replayed:
    """A message was said again, out of a bag: whoever it is of has not said it now."""

    source: str
    """Whose it is: a source, or the topic of what is no source's."""
    problem: Problem
    stops: bool = False
    """Whether it ends what the source asked for: a command, or that a client is gone."""


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
class OpenStream:
    """Open a stream of commands. Answered by a `Reply`."""

    source: str
    client_id: str
    kind: int
    """`StreamKind`; another one is refused."""
    idle_timeout: float = 0.0
    """[s]; 0 = the configured one."""


@dataclass(frozen=True, slots=True)
class CloseStream:
    """Close a stream of commands. Answered by a `Reply`."""

    source: str
    client_id: str
    stream_id: int = 0
    """As opened; 0 = whichever."""


@dataclass(frozen=True, slots=True)
class GoalAsked:
    """A goal of the goal source. Answered by a `GoalEnded`, at once or when it has ended."""

    goal: Goal
    veto: Problem | None = None
    """What a check of one's own has against one of its joint targets (C12)."""


@dataclass(frozen=True, slots=True)
class GoalCancelled:
    """The client of a goal does not want it any more."""

    goal_id: str


@dataclass(frozen=True, slots=True)
class PostureSeen:
    """Where the joints are, as measured."""

    posture: Posture


@dataclass(frozen=True, slots=True)
class CheckIn:
    """A sign of life of an e-stop endpoint."""

    endpoint: str
    challenge: int
    response: int
    level: int
    """`StopLevel`; one that nobody defined is CUT."""
    reason: str


@dataclass(frozen=True, slots=True)
class EndpointGone:
    """The last publisher of an endpoint's check-ins disappeared."""

    endpoint: str


@dataclass(frozen=True, slots=True)
class UpstreamBeat:
    """A heartbeat of the upstream link."""

    present: bool


@dataclass(frozen=True, slots=True)
class UpstreamGone:
    """The last publisher of the upstream link's heartbeat disappeared."""


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
    joint_names: tuple[str, ...] = ()
    """Of the arm, chain order, the jaws last."""


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
    | Replayed
    | SourceGone
    | EStopPress
    | Reset
    | Acquire
    | Return
    | OpenStream
    | CloseStream
    | GoalAsked
    | GoalCancelled
    | PostureSeen
    | CheckIn
    | EndpointGone
    | UpstreamBeat
    | UpstreamGone
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


@dataclass(frozen=True, slots=True)
class GoalProgress:
    """How far the goal that owns the arm is, at a measured posture."""

    execution: Execution
    posture: Posture


@dataclass(frozen=True, slots=True)
class GoalEnded:
    """A goal has ended, and so has its motion."""

    goal_id: str
    ending: Ending
    posture: Posture | None
    """The last one measured; None = there was none."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """What an e-stop endpoint has to answer next."""

    endpoint: str
    challenge: int


Output = Send | StateChanged | Refused | Reply | GoalProgress | GoalEnded | Challenge
