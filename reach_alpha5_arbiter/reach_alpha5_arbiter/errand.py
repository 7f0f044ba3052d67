"""A goal on its way: what it waits for, how far it is, how it ends. Values, all of them."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, replace

from reach_alpha5_arbiter.codes import Code, StopCause
from reach_alpha5_arbiter.execution import Execution
from reach_alpha5_arbiter.tables import Activity
from reach_alpha5_arbiter.trajectory import ErrorCode, Goal
from reach_alpha5_common.command import MotionCommand


class GoalOutcome(enum.Enum):
    """How a goal ended, in the words of actions."""

    SUCCEEDED = "succeeded"
    CANCELED = "canceled"
    ABORTED = "aborted"


class GoalPhase(enum.IntEnum):
    """How far a goal is; the numbers are those of `GoalStatus`."""

    NONE = 0
    WAITING = 1
    RUNNING = 2
    SLOWING = 3
    ENDING = 4
    SUCCEEDED = 5
    CANCELED = 6
    ABORTED = 7


PHASES = {
    Activity.TRAJECTORY: GoalPhase.RUNNING,
    Activity.SLOWING: GoalPhase.SLOWING,
    Activity.CONCLUDING: GoalPhase.ENDING,
}
"""Of the goal that owns the arm."""

ENDED = {
    GoalOutcome.SUCCEEDED: GoalPhase.SUCCEEDED,
    GoalOutcome.CANCELED: GoalPhase.CANCELED,
    GoalOutcome.ABORTED: GoalPhase.ABORTED,
}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a goal ends or ended."""

    outcome: GoalOutcome
    code: str
    """Documented code: a stop cause, a refusal, or why the goal itself was wrong."""
    text: str
    """For people."""
    error: ErrorCode = ErrorCode.INVALID_GOAL
    """As the stock action numbers it."""
    stalled: bool = False
    """The jaws did not get on."""

    @classmethod
    def of(cls, outcome: GoalOutcome, cause: Code) -> Ending:
        """Return the ending that a stop cause makes."""
        success = outcome is GoalOutcome.SUCCEEDED
        error = ErrorCode.SUCCESSFUL if success else ErrorCode.INVALID_GOAL
        return cls(outcome, cause.code, cause.meaning, error)


@dataclass(frozen=True, slots=True)
class Errand:
    """The goal that owns the arm. It exists exactly while the activity is one of its phases."""

    execution: Execution
    ending: Ending | None = None
    """How it will end once its motion has; None = it goes on."""
    is_obeyed: bool = False
    """Whether the driver has said since that a demand moves the arm."""
    slowed_for: StopCause | None = None
    """Why it slows down; None = it does not."""

    @property
    def goal(self) -> Goal:
        """The goal."""
        return self.execution.goal

    def ends(self, ending: Ending) -> Errand:
        """Take a reason to end at once: the first failure counts.

        A success that something comes between is none: "never success while the arm is dead".
        """
        spoils = self.ending is None or self.ending.outcome is GoalOutcome.SUCCEEDED
        return replace(self, ending=ending) if spoils else self

    def moves_on(self, ending: Ending) -> Errand:
        """Take that rest was not confirmed: neither what succeeded nor what was cancelled has."""
        fails = self.ending is None or self.ending.outcome is not GoalOutcome.ABORTED
        return replace(self, ending=ending) if fails else self

    def slows(self, ending: Ending, cause: StopCause, now: float) -> Errand:
        """Take a reason to slow down along its path, and then to end; the first one counts."""
        if self.slowed_for is not None:
            return self
        slowed = self.execution.slowed(now)
        return replace(self, ending=ending, slowed_for=cause, execution=slowed)


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits until the arm has come to rest. At most one thing does."""

    source: str
    what: Goal | MotionCommand
    starts_at: float = -math.inf
    """Monotonic time [s] before which a goal does not begin."""
    ends_at: float = math.inf
    """Monotonic time [s] at which a command's own lifetime is over."""
    begins_by: float = math.inf
    """Monotonic time [s] until which a goal that is due waits for feedback; inf = not due yet."""

    @property
    def goal(self) -> Goal | None:
        """The goal, if it is one that waits."""
        return self.what if isinstance(self.what, Goal) else None
