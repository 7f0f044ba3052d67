"""All state machines of the arbiter, as literal tables.

A pair (state, event) that is not listed is illegal: it raises `IllegalTransition` and changes
nothing. The diagrams and tables of `docs/arbiter.md` are made from these objects.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Generic, TypeVar

from reach_alpha5_common.command import StopLevel

S = TypeVar("S", bound=enum.Enum)
E = TypeVar("E", bound=enum.Enum)


class IllegalTransition(LookupError):
    """An event that a machine does not know in its present state. Nothing has changed."""


class Word(enum.Enum):
    """What a transition says to the driver."""

    NOTHING = "nothing"
    MOTION = "INPUT, TWIST or JOINT"
    SETPOINT = "JOINT"
    EASE = "STOP within ease_time"
    STOP = "STOP at once"


@dataclass(frozen=True, slots=True)
class Row(Generic[S, E]):
    """One transition: in `state`, `event` leads to `then` and says `word` to the driver."""

    state: S
    event: E
    then: S
    word: Word = Word.NOTHING


class Machine(Generic[S, E]):
    """A named table of transitions."""

    def __init__(self, name: str, initial: S, rows: tuple[Row[S, E], ...]) -> None:
        self.name = name
        self.initial = initial
        self.rows = rows
        self._row = {(row.state, row.event): row for row in rows}
        if len(self._row) != len(rows):
            raise ValueError(f"{name}: a pair of state and event is listed twice")

    def step(self, state: S, event: E) -> Row[S, E]:
        """Return the transition of `event` in `state`.

        Raises:
            IllegalTransition: the pair is not in the table.
        """
        try:
            return self._row[state, event]
        except KeyError:
            raise IllegalTransition(f"{self.name}: {event.name} in {state.name}") from None


class LatchEvent(enum.Enum):
    """What sets and clears the latches."""

    SETTLE = "an e-stop of level SETTLE_THEN_CUT, from anybody"
    CUT = "an e-stop of level CUT or of a level that nobody defined, from anybody"
    FAULT = "the driver's major fault, a driver lost in motion, a stop not confirmed"
    RESET = "the reset service; it moves nothing and grants nothing"


class FaultLatch(enum.Enum):
    """Whether a fault is latched."""

    CLEAR = "clear"
    LATCHED = "latched"


class Liveness(enum.Enum):
    """What a source's heartbeats say."""

    SILENT = "no heartbeat within the time-out"
    ABSENT = "heartbeats, but it says that it is not there"
    LIVE = "heartbeats, and it is there"


class LivenessEvent(enum.Enum):
    """What changes a source's liveness."""

    HERE = "a heartbeat that says present"
    AWAY = "a heartbeat that says not present: gone outright"
    LAPSE = "no heartbeat within the time-out"
    LOST = "its publisher disappeared: gone outright"


class Arming(enum.Enum):
    """Whether a source's moving command may count."""

    DISARMED = "a neutral command must come first"
    ARMED = "a neutral command was seen since"


class ArmingEvent(enum.Enum):
    """What arms a source and everything that disarms it (rule 3)."""

    NEUTRAL = "a neutral command, accepted"
    REFUSED = "a command of the source was refused; a refused goal is not one"
    NOT_LIVE = "its heartbeat lapsed, it is gone, or it is two"
    GRANT = "the lease was acquired or taken by service"
    OUSTED = "the lease was taken from it, returned by it, or its stream was closed"
    LAPSED = "the arbiter was held up, and what it had said for the source lapsed in the driver"
    LATCH = "an e-stop or a fault latched"
    RESET = "a reset"
    NOT_READY = "the driver, its arm or the upstream link stopped being ready, or does not obey"


class Tenure(enum.Enum):
    """Whether somebody holds the lease."""

    FREE = "nobody"
    HELD = "one source"


class LeaseEvent(enum.Enum):
    """What makes the lease change hands."""

    FIRST_MOVE = "a moving command of an armed source while nobody holds the lease"
    ACQUIRE = "the acquire service while nobody holds the lease"
    GOAL = "a goal of the armed goal source while nobody holds the lease"
    STREAM = "a stream is opened while nobody holds the lease"
    TAKE = "the acquire service with `take`, by a person"
    PREEMPT = "a moving command of an armed person while the arm is a goal's, or between two goals"
    RETURN = "the return service, or a stream of the owner that is closed"
    IDLE = "the owner asked for no motion for its `idle_release`"
    LOST = "the owner is not live any more"


class StreamState(enum.Enum):
    """Whether a stream of commands is open."""

    CLOSED = "what comes on it is refused"
    OPEN = "what comes on it is arbitrated"


class StreamEvent(enum.Enum):
    """What opens and closes a stream."""

    OPEN = "the service `open_stream`"
    CLOSE = "the service `close_stream`"
    IDLE = "no command of its kind within its idle time-out"
    ENDED = "its source was disarmed by anything but a refused command"


class Activity(enum.Enum):
    """What the arm is doing for us."""

    STILL = "nothing asks for motion, or nothing may"
    JOGGING = "the owner's command stands"
    TRAJECTORY = "a goal owns the arm: its set-points are said"
    SLOWING = "the goal is to end: its set-points slow down along its path"
    CONCLUDING = "the driver was told to stop at once, and the goal has not really ended yet"
    EASING = "the driver was told to let the motion fade and then to stop; not confirmed yet"
    ENDING = "the driver was told to stop at once; not confirmed yet"


class ActivityEvent(enum.Enum):
    """What changes the activity."""

    MOVE = "a moving command that nothing stands against"
    FOLLOW = "the next set-point of the goal"
    SLOW = "the goal is cancelled, replaced or preempted"
    EASE = "the owner asks for no motion, and nothing else stands against it"
    HALT = "any other reason to be still"
    INSIST = "a stop that is always said: e-stop, driver heard, exit"
    REST = "feedback since the stop confirms that the arm rests"
    OVERDUE = "the stop was not confirmed within `stop_confirm_timeout`"


ESTOP: Machine[StopLevel, LatchEvent] = Machine(
    "e-stop latch",
    StopLevel.NONE,
    (
        Row(StopLevel.NONE, LatchEvent.SETTLE, StopLevel.SETTLE_THEN_CUT),
        Row(StopLevel.NONE, LatchEvent.CUT, StopLevel.CUT),
        Row(StopLevel.NONE, LatchEvent.RESET, StopLevel.NONE),
        Row(StopLevel.SETTLE_THEN_CUT, LatchEvent.SETTLE, StopLevel.SETTLE_THEN_CUT),
        Row(StopLevel.SETTLE_THEN_CUT, LatchEvent.CUT, StopLevel.CUT),
        Row(StopLevel.SETTLE_THEN_CUT, LatchEvent.RESET, StopLevel.NONE),
        Row(StopLevel.CUT, LatchEvent.SETTLE, StopLevel.CUT),
        Row(StopLevel.CUT, LatchEvent.CUT, StopLevel.CUT),
        Row(StopLevel.CUT, LatchEvent.RESET, StopLevel.NONE),
    ),
)

FAULT: Machine[FaultLatch, LatchEvent] = Machine(
    "fault latch",
    FaultLatch.CLEAR,
    (
        Row(FaultLatch.CLEAR, LatchEvent.FAULT, FaultLatch.LATCHED),
        Row(FaultLatch.CLEAR, LatchEvent.RESET, FaultLatch.CLEAR),
        Row(FaultLatch.LATCHED, LatchEvent.FAULT, FaultLatch.LATCHED),
        Row(FaultLatch.LATCHED, LatchEvent.RESET, FaultLatch.CLEAR),
    ),
)

LIVENESS: Machine[Liveness, LivenessEvent] = Machine(
    "liveness of a source",
    Liveness.SILENT,
    (
        Row(Liveness.SILENT, LivenessEvent.HERE, Liveness.LIVE),
        Row(Liveness.SILENT, LivenessEvent.AWAY, Liveness.ABSENT),
        Row(Liveness.SILENT, LivenessEvent.LOST, Liveness.SILENT),
        Row(Liveness.ABSENT, LivenessEvent.HERE, Liveness.LIVE),
        Row(Liveness.ABSENT, LivenessEvent.AWAY, Liveness.ABSENT),
        Row(Liveness.ABSENT, LivenessEvent.LAPSE, Liveness.SILENT),
        Row(Liveness.ABSENT, LivenessEvent.LOST, Liveness.SILENT),
        Row(Liveness.LIVE, LivenessEvent.HERE, Liveness.LIVE),
        Row(Liveness.LIVE, LivenessEvent.AWAY, Liveness.ABSENT),
        Row(Liveness.LIVE, LivenessEvent.LAPSE, Liveness.SILENT),
        Row(Liveness.LIVE, LivenessEvent.LOST, Liveness.SILENT),
    ),
)

ARMING: Machine[Arming, ArmingEvent] = Machine(
    "arming of a source",
    Arming.DISARMED,
    tuple(
        Row(state, event, Arming.ARMED if event is ArmingEvent.NEUTRAL else Arming.DISARMED)
        for state in Arming
        for event in ArmingEvent
    ),
)

LEASE: Machine[Tenure, LeaseEvent] = Machine(
    "lease",
    Tenure.FREE,
    (
        Row(Tenure.FREE, LeaseEvent.FIRST_MOVE, Tenure.HELD),
        Row(Tenure.FREE, LeaseEvent.ACQUIRE, Tenure.HELD),
        Row(Tenure.FREE, LeaseEvent.GOAL, Tenure.HELD),
        Row(Tenure.FREE, LeaseEvent.STREAM, Tenure.HELD),
        Row(Tenure.HELD, LeaseEvent.TAKE, Tenure.HELD),
        Row(Tenure.HELD, LeaseEvent.PREEMPT, Tenure.HELD),
        Row(Tenure.HELD, LeaseEvent.RETURN, Tenure.FREE),
        Row(Tenure.HELD, LeaseEvent.IDLE, Tenure.FREE),
        Row(Tenure.HELD, LeaseEvent.LOST, Tenure.FREE),
    ),
)

STREAM: Machine[StreamState, StreamEvent] = Machine(
    "stream",
    StreamState.CLOSED,
    (
        Row(StreamState.CLOSED, StreamEvent.OPEN, StreamState.OPEN),
        Row(StreamState.OPEN, StreamEvent.CLOSE, StreamState.CLOSED),
        Row(StreamState.OPEN, StreamEvent.IDLE, StreamState.CLOSED),
        Row(StreamState.OPEN, StreamEvent.ENDED, StreamState.CLOSED),
    ),
)

ACTIVITY: Machine[Activity, ActivityEvent] = Machine(
    "activity",
    Activity.STILL,
    (
        Row(Activity.STILL, ActivityEvent.MOVE, Activity.JOGGING, Word.MOTION),
        Row(Activity.STILL, ActivityEvent.FOLLOW, Activity.TRAJECTORY, Word.SETPOINT),
        Row(Activity.STILL, ActivityEvent.EASE, Activity.STILL),
        Row(Activity.STILL, ActivityEvent.HALT, Activity.STILL),
        Row(Activity.STILL, ActivityEvent.INSIST, Activity.STILL, Word.STOP),
        Row(Activity.JOGGING, ActivityEvent.MOVE, Activity.JOGGING, Word.MOTION),
        Row(Activity.JOGGING, ActivityEvent.EASE, Activity.EASING, Word.EASE),
        Row(Activity.JOGGING, ActivityEvent.HALT, Activity.ENDING, Word.STOP),
        Row(Activity.JOGGING, ActivityEvent.INSIST, Activity.ENDING, Word.STOP),
        Row(Activity.TRAJECTORY, ActivityEvent.FOLLOW, Activity.TRAJECTORY, Word.SETPOINT),
        Row(Activity.TRAJECTORY, ActivityEvent.SLOW, Activity.SLOWING),
        Row(Activity.TRAJECTORY, ActivityEvent.EASE, Activity.SLOWING),
        Row(Activity.TRAJECTORY, ActivityEvent.HALT, Activity.CONCLUDING, Word.STOP),
        Row(Activity.TRAJECTORY, ActivityEvent.INSIST, Activity.CONCLUDING, Word.STOP),
        Row(Activity.SLOWING, ActivityEvent.FOLLOW, Activity.SLOWING, Word.SETPOINT),
        Row(Activity.SLOWING, ActivityEvent.SLOW, Activity.SLOWING),
        Row(Activity.SLOWING, ActivityEvent.EASE, Activity.SLOWING),
        Row(Activity.SLOWING, ActivityEvent.HALT, Activity.CONCLUDING, Word.STOP),
        Row(Activity.SLOWING, ActivityEvent.INSIST, Activity.CONCLUDING, Word.STOP),
        # No MOVE and no FOLLOW here: what comes next waits until the goal has really ended.
        Row(Activity.CONCLUDING, ActivityEvent.SLOW, Activity.CONCLUDING),
        Row(Activity.CONCLUDING, ActivityEvent.EASE, Activity.CONCLUDING),
        Row(Activity.CONCLUDING, ActivityEvent.HALT, Activity.CONCLUDING),
        Row(Activity.CONCLUDING, ActivityEvent.INSIST, Activity.CONCLUDING, Word.STOP),
        Row(Activity.CONCLUDING, ActivityEvent.REST, Activity.STILL),
        Row(Activity.CONCLUDING, ActivityEvent.OVERDUE, Activity.STILL, Word.STOP),
        Row(Activity.EASING, ActivityEvent.MOVE, Activity.JOGGING, Word.MOTION),
        Row(Activity.EASING, ActivityEvent.EASE, Activity.EASING),
        # What comes while the motion fades does not wait until it has.
        Row(Activity.EASING, ActivityEvent.HALT, Activity.ENDING, Word.STOP),
        Row(Activity.EASING, ActivityEvent.INSIST, Activity.ENDING, Word.STOP),
        Row(Activity.EASING, ActivityEvent.REST, Activity.STILL),
        Row(Activity.EASING, ActivityEvent.OVERDUE, Activity.STILL, Word.STOP),
        Row(Activity.ENDING, ActivityEvent.MOVE, Activity.JOGGING, Word.MOTION),
        Row(Activity.ENDING, ActivityEvent.EASE, Activity.ENDING),
        Row(Activity.ENDING, ActivityEvent.HALT, Activity.ENDING),
        Row(Activity.ENDING, ActivityEvent.INSIST, Activity.ENDING, Word.STOP),
        Row(Activity.ENDING, ActivityEvent.REST, Activity.STILL),
        Row(Activity.ENDING, ActivityEvent.OVERDUE, Activity.STILL, Word.STOP),
    ),
)

MACHINES = (ESTOP, FAULT, LIVENESS, ARMING, LEASE, STREAM, ACTIVITY)

FOLLOWING = frozenset({Activity.TRAJECTORY, Activity.SLOWING})
"""A goal's set-points are said."""

GOAL_PHASES = FOLLOWING | {Activity.CONCLUDING}
"""A goal owns the arm."""

MOVING = FOLLOWING | {Activity.JOGGING}
"""Motion is asked of the driver."""

UNCONFIRMED = frozenset({Activity.CONCLUDING, Activity.EASING, Activity.ENDING})
"""A stop was said and feedback has not confirmed it yet."""
