"""How far a verb is, told from what the arm reports and nothing else. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from reach_alpha5_common.command import Pose
from reach_alpha5_teleop.verbs.table import Part, Verb

BEGIN_TIME = 0.6
"""Time [s] within which an arm that is not there yet says that it moves towards a pose."""

STUCK_TIME = 2.0
"""Time [s] for which something holds the arm back before the verb is given up."""

REST_TIME = 0.6
"""Time [s] for which jaws that are told to move do not, before they count as at their end."""

LEAST_JAW_SPEED = 1e-4
"""Speed [m/s] below which the jaws stand."""


@dataclass(frozen=True, slots=True)
class ArmView:
    """What the arm says of itself.

    Attributes:
        obeys: a demand stands and moves it.
        moving_to: `Pose` that it moves towards; UNSPECIFIED = none.
        held_back_by: what holds back what is asked.
        holding: the jaws are stalled on something.
        jaws_at_limit: the limit holds the jaws back.
        jaw_speed: measured [m/s]; NaN = unknown.
    """

    obeys: bool = False
    moving_to: int = Pose.UNSPECIFIED
    held_back_by: tuple[str, ...] = ()
    holding: bool = False
    jaws_at_limit: bool = False
    jaw_speed: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a verb ended."""

    success: bool
    message: str


@dataclass(frozen=True, slots=True)
class Progress:
    """One verb under way. Times are monotonic seconds.

    Attributes:
        verb: what runs.
        began_at: when it was first said.
        has_begun: the arm has said that it moves towards the pose, or the jaws have moved.
        held_since: since when something holds it back; None = nothing does.
        resting_since: since when the jaws do not move; None = they do.
    """

    verb: Verb
    began_at: float
    has_begun: bool = False
    held_since: float | None = None
    resting_since: float | None = None

    def after(self, arm: ArmView, now: float) -> Progress | Outcome:
        """Take a report of the arm: go on, or tell how it ended."""
        if not arm.obeys:  # it has not heard of it yet, or not any more: others say why
            return replace(self, held_since=None, resting_since=None)
        return (self._of_arm if self.verb.part is Part.ARM else self._of_jaws)(arm, now)

    def _of_arm(self, arm: ArmView, now: float) -> Progress | Outcome:
        # An arm that is held back does not move towards the pose either: it is not there.
        moves = arm.moving_to == self.verb.command.known_pose.pose
        held_since = (self.held_since or now) if arm.held_back_by else None
        if held_since is not None:
            if now - held_since >= STUCK_TIME:
                return Outcome(False, f"held back by {', '.join(arm.held_back_by)}")
        elif not moves and (self.has_begun or now - self.began_at >= BEGIN_TIME):
            return Outcome(True, "there")
        return replace(self, has_begun=self.has_begun or moves, held_since=held_since)

    def _of_jaws(self, arm: ArmView, now: float) -> Progress | Outcome:
        if arm.holding:
            return Outcome(True, "the jaws hold something")
        if arm.jaws_at_limit:
            return Outcome(True, "the jaws are at their end")
        begun = self.has_begun or arm.jaw_speed >= LEAST_JAW_SPEED
        # NaN is no speed that is known to be small.
        resting_since = (self.resting_since or now) if arm.jaw_speed < LEAST_JAW_SPEED else None
        if resting_since is not None and now - resting_since >= REST_TIME:
            return Outcome(begun, "the jaws go no further" if begun else "the jaws did not move")
        return replace(self, has_begun=begun, resting_since=resting_since)


@dataclass(frozen=True, slots=True)
class Asked:
    """A call of a verb that is not answered yet."""

    number: int
    name: str
    at: float
    progress: Progress | None = field(default=None)
    """None = the arbiter does not listen yet."""
