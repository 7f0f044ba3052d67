"""A goal that is being followed: what the driver is to be told now, and how it goes.

A value that is replaced and never changed. It begins at rest where the joints were measured, and
tells for any time the set-point. Slowing down means that the time of the path, not its shape, is
slowed: from the moment s0 on, over T seconds,

    s(t) = s0 + t - t^2 / (2 T)        s'(t) = 1 - t / T

so that the joints stay on their path, their velocities do not jump, and slowing takes no more than
|q'| / T of acceleration beside what the path itself takes, less and less of it.

What is measured is compared with what was wanted at the time of the measurement.
"""

from __future__ import annotations

import enum
import math
from bisect import bisect_right
from dataclasses import dataclass, replace
from operator import attrgetter, sub

from reach_alpha5_arbiter.spline import Path, trapezoid
from reach_alpha5_arbiter.trajectory import (
    ErrorCode,
    Failure,
    Goal,
    GoalConfig,
    GoalKind,
    Point,
    Posture,
    unit,
)
from reach_alpha5_common.command import JointCommand
from reach_alpha5_common.refusal import Problem


class Verdict(enum.Enum):
    """How a goal goes. All but RUNNING are ends."""

    RUNNING = "running"
    REACHED = "reached"
    """It is where it should be, in time, and rests."""
    STALLED = "stalled"
    """The jaws met something and do not get on: the gripper goal is done as far as can be."""
    SLOWED = "slowed"
    """It was slowed down, and has come to a standstill."""
    PATH = "path"
    """A joint left its path by more than its tolerance."""
    LATE = "late"
    """The time is over by more than its tolerance, and it is not there."""
    BLIND = "blind"
    """The joints have not been measured of late: nobody knows where the arm is."""


@dataclass(frozen=True, slots=True)
class Tracking:
    """How well a goal is followed, at the time of a measurement."""

    joint_names: tuple[str, ...]
    desired: Point
    actual: Point
    error: Point
    """Desired less actual."""
    index: int
    """Which point of the goal is gone towards, from 0."""


@dataclass(frozen=True, slots=True)
class Execution:
    """A goal under way. All times but those of the path are monotonic [s]."""

    goal: Goal
    config: GoalConfig
    joint_names: tuple[str, ...]
    """Which joints it moves."""
    path: Path
    began_at: float
    slowed_at: float = math.inf
    """Since when it slows down; inf = it does not."""
    stuck_since: float = math.inf
    """Since when the jaws of a gripper goal have not got on; inf = they do."""

    @classmethod
    def begin(
        cls, goal: Goal, posture: Posture, now: float, config: GoalConfig
    ) -> Execution | Failure:
        """Begin to follow a goal in which `goal_problem` found nothing, and which is no hold.

        Args:
            goal: what to follow.
            posture: where the joints are; they rest.
            now: monotonic time [s] at which it starts.
            config: how it is followed.

        Returns:
            The execution, or why it cannot begin from here.
        """
        names = goal.joint_names
        measured, _ = _measured(posture, names)
        known = names and all(map(math.isfinite, measured))
        if not (known and posture.is_fresh(now, config)):
            return (
                Problem("no_feedback", "the joints are not measured; look at `joint_states`"),
                ErrorCode.INVALID_GOAL,
            )
        if goal.kind is GoalKind.GRIPPER:
            (target,) = goal.points[0].positions
            path = trapezoid(
                measured[0], target, config.gripper_speed, config.gripper_acceleration
            )
            return cls(goal, config, names, path, now)
        first = goal.points[0]
        if first.at > 0.0:
            return cls(goal, config, names, Path((_rest_like(first, measured), *goal.points)), now)
        offsets = tuple(is_ - due for is_, due in zip(measured, first.positions, strict=True))
        tolerances = config.start_tolerances(names)
        joint = _first_beyond(offsets, tolerances)
        if joint is not None:
            off = _told(names[joint], offsets[joint], tolerances[joint])
            return (
                Problem("start_elsewhere", f"{off} from its first point; plan from where it is"),
                ErrorCode.INVALID_GOAL,
            )
        blend = min(config.start_blend, goal.points[-1].at)
        return cls(goal, config, names, Path(goal.points, offsets, blend), now)

    # ---- time ----------------------------------------------------------------------------------

    @property
    def duration(self) -> float:
        """How long the path takes [s], unslowed."""
        return self.path.duration

    @property
    def is_slow(self) -> bool:
        """Whether it slows down, or has."""
        return self.slowed_at < math.inf

    @property
    def standstill_at(self) -> float:
        """When the set-points come to rest [s]: at the end of the path, or sooner if it slows."""
        if not self.is_slow:
            return self.began_at + self.duration
        # With s0 + t - t^2/(2T) = duration the end of the path comes first, if it comes at all.
        time = self.config.stop_time
        share = 2.0 * (self.duration - self.elapsed(self.slowed_at)) / time
        return self.slowed_at + time * (1.0 - math.sqrt(max(0.0, 1.0 - share)))

    def elapsed(self, now: float) -> float:
        """Return how far the time of the path is [s], in [0, duration]."""
        if not self.is_slow and now >= self.began_at + self.duration:
            return self.duration  # to the bit, whatever the difference of the two is
        since = max(0.0, min(now, self.slowed_at) - self.began_at)
        if now > self.slowed_at:
            slow = min(now - self.slowed_at, self.config.stop_time)
            since += slow - slow * slow / (2.0 * self.config.stop_time)
        return min(since, self.duration)

    def is_over(self, now: float) -> bool:
        """Say whether the set-points rest: the end of the path has come, or standstill."""
        return now >= self.standstill_at

    def slowed(self, now: float) -> Execution:
        """Return it slowing down from `now` on; if it does so already, as it is."""
        return self if self.is_slow else replace(self, slowed_at=max(now, self.began_at))

    # ---- what to say ---------------------------------------------------------------------------

    def setpoint(self, now: float) -> JointCommand:
        """Return where the joints shall be now, and how fast they shall go."""
        positions, velocities = self._desired(now)
        return JointCommand(self.joint_names, positions, velocities)

    def _desired(self, now: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
        positions, velocities = self.path.motion(self.elapsed(now))
        if self.is_over(now):
            return positions, (0.0,) * len(positions)
        if now <= self.slowed_at:
            return positions, velocities
        rate = max(0.0, 1.0 - (now - self.slowed_at) / self.config.stop_time)
        return positions, tuple(rate * velocity for velocity in velocities)

    # ---- how it goes ---------------------------------------------------------------------------

    def seen(self, posture: Posture) -> Execution:
        """Take notice of a measurement: whether the jaws of a gripper goal get on."""
        if self.goal.kind is not GoalKind.GRIPPER:
            return self
        _, (velocity,) = _measured(posture, self.joint_names)
        stuck = abs(velocity) <= self.config.stall_velocity
        since = min(self.stuck_since, max(posture.at, self.began_at)) if stuck else math.inf
        return self if since == self.stuck_since else replace(self, stuck_since=since)

    def verdict(self, posture: Posture, now: float) -> Verdict:
        """Say how it goes, by the newest measurement; `seen` has been told of it.

        On the way the tolerances of the path hold; those of the goal from its end on, which a
        measurement must be later than. Stock controllers look at it so.
        """
        return self._judged(posture, now)[0]

    def failure(self, posture: Posture, now: float) -> Failure | None:
        """Say what went wrong, for people too; None when the verdict is none that is bad."""
        verdict, reason = self._judged(posture, now)
        if verdict not in FAILURES:
            return None
        code, error_code = FAILURES[verdict]
        return Problem(code, reason), error_code

    def tracking(self, posture: Posture) -> Tracking:
        """Return what was wanted when it was measured, what was measured, and the error."""
        wanted, measured = self._desired(posture.at), _measured(posture, self.joint_names)
        error = _less(wanted[0], measured[0]), _less(wanted[1], measured[1])
        at, points = self.elapsed(posture.at), self.goal.points
        desired, actual, off = (Point(at, *motion) for motion in (wanted, measured, error))
        index = min(bisect_right(points, at, key=attrgetter("at")), len(points) - 1)
        return Tracking(self.joint_names, desired, actual, off, index)

    def _judged(self, posture: Posture, now: float) -> tuple[Verdict, str]:
        goal, config, names, ends_at = self.goal, self.config, self.joint_names, self.standstill_at
        if self.is_slow and now >= ends_at:
            return Verdict.SLOWED, ""
        if not posture.is_fresh(now, config):
            return Verdict.BLIND, f"the joints were last measured {now - posture.at:.2g} s ago"
        positions, velocities = _measured(posture, names)
        errors = _less(self._desired(posture.at)[0], positions)
        late = ""
        if posture.at < ends_at:
            joint = _first_beyond(errors, goal.path_tolerances)
            if joint is not None:
                return Verdict.PATH, (
                    _told(names[joint], errors[joint], goal.path_tolerances[joint])
                    + f" from its path at {self.elapsed(posture.at):.2f} s"
                )
        else:
            joint = _first_beyond(errors, goal.goal_tolerances)
            moving = _first_beyond(velocities, config.rest_velocities(names))
            if joint is None and moving is None:
                return Verdict.REACHED, ""
            if joint is not None:
                late = (
                    _told(names[joint], errors[joint], goal.goal_tolerances[joint])
                    + " from its last point"
                )
            elif moving is not None:
                late = f"{names[moving]} still moves"
        if not self.is_slow and posture.at - self.stuck_since >= config.stall_time:
            return Verdict.STALLED, ""
        if now - ends_at > goal.goal_time_tolerance:
            return Verdict.LATE, late or "no measurement since its end"
        return Verdict.RUNNING, ""


FAILURES = {
    Verdict.PATH: ("path_left", ErrorCode.PATH_TOLERANCE_VIOLATED),
    Verdict.LATE: ("goal_missed", ErrorCode.GOAL_TOLERANCE_VIOLATED),
    Verdict.BLIND: ("no_feedback", ErrorCode.PATH_TOLERANCE_VIOLATED),
}
"""Our code and the action's of each verdict that is bad. Without feedback nobody can say that the
path is kept."""


def _measured(posture: Posture, names: tuple[str, ...]) -> tuple[tuple[float, ...], ...]:
    """Return positions and velocities of the joints `names`; NaN where one was not measured."""
    seen = dict(
        zip(
            posture.joint_names,
            zip(posture.positions, posture.velocities, strict=True),
            strict=True,
        )
    )
    nothing = (math.nan, math.nan)
    motions = [seen.get(name, nothing) for name in names]
    return tuple(at for at, _ in motions), tuple(speed for _, speed in motions)


def _rest_like(point: Point, positions: tuple[float, ...]) -> Point:
    """Return rest at `positions` at 0 s, saying as much as `point` does."""
    rest = (0.0,) * len(positions)
    return Point(
        0.0, positions, rest if point.velocities else (), rest if point.accelerations else ()
    )


def _less(left: tuple[float, ...], right: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(map(sub, left, right))


def _first_beyond(values: tuple[float, ...], tolerances: tuple[float, ...]) -> int | None:
    """Return which is the first value that is not within its tolerance; NaN never is."""
    for place, (value, tolerance) in enumerate(zip(values, tolerances, strict=True)):
        if not abs(value) <= tolerance:
            return place
    return None


def _told(name: str, off: float, tolerance: float) -> str:
    return f"{name} is {abs(off):.3g} {unit(name)}, and not at most {tolerance:g},"
