"""Goals of the two actions as plain values, and every check that can be made before one starts.

A goal is a trajectory of all joints (`control_msgs/FollowJointTrajectory`) or a position of the
jaws (`control_msgs/GripperCommand`). Positions are in rad, those of the jaws in m of push-rod
travel, as in `joint_states`; times in s.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain, pairwise

from reach_alpha5_common.command import MAX_NAME, first_out_of_range
from reach_alpha5_common.refusal import Problem

JAWS = "axis_a"
"""The joint, after any prefix, that moves in metres."""

END_VELOCITY = 1e-6
"""rad/s, m/s: what a planner's rounding leaves of a last velocity that is meant to be zero."""

MOST = 1000.0
"""s, rad or m, and per second: no time, position or velocity of an arm is beyond this."""

MOST_ACCELERATION = 1e5
"""rad/s^2, m/s^2: likewise."""

SHOWN = 40
"""Characters of a name that comes from outside and is said again in a reason."""


class GoalKind(enum.Enum):
    """Which action a goal is of; the value is its name."""

    TRAJECTORY = "follow_joint_trajectory"
    GRIPPER = "gripper_cmd"


class ErrorCode(enum.IntEnum):
    """The result codes of `control_msgs/FollowJointTrajectory`."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


Failure = tuple[Problem, ErrorCode]
"""Why a goal is not, or no longer, followed: our code and reason, and the action's own code."""


@dataclass(frozen=True, slots=True)
class Point:
    """Where the joints are at one time. What is empty is not said."""

    at: float
    """s from the start of the trajectory."""
    positions: tuple[float, ...]
    velocities: tuple[float, ...] = ()
    accelerations: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Posture:
    """Where the joints were measured, and how fast they went.

    Raises:
        ValueError: there is not one of each for every joint.
    """

    joint_names: tuple[str, ...]
    """All of the arm, the jaws last; positions and velocities are as many."""
    positions: tuple[float, ...]
    velocities: tuple[float, ...]
    at: float
    """Monotonic time [s] of the measurement."""

    def __post_init__(self) -> None:
        if not len(self.joint_names) == len(self.positions) == len(self.velocities):
            raise ValueError("joint_names, positions and velocities differ in number")

    def is_fresh(self, now: float, config: GoalConfig) -> bool:
        """Say whether it still tells where the arm is at monotonic time `now` [s]."""
        return 0.0 <= now - self.at <= config.feedback_timeout


@dataclass(frozen=True, slots=True)
class Goal:
    """What one goal of an action asks. A trajectory without points asks to hold: stop, and stay.

    A gripper goal comes without a joint, since the jaws are the last joint of the arm whatever
    its prefix; it gets it when it is taken. It has one point, at 0 s, and one tolerance of each
    kind.
    """

    id: str
    kind: GoalKind
    source: str
    joint_names: tuple[str, ...]
    points: tuple[Point, ...]
    path_tolerances: tuple[float, ...]
    """How far each joint may be from where it should be on the way; inf = it is not watched."""
    goal_tolerances: tuple[float, ...]
    """How far from the last point each joint may end; inf = it is not watched."""
    goal_time_tolerance: float
    """s that the arm may take longer; inf = however long."""
    starts_in: float
    """s from receipt until it starts; 0 = now; negative: its stamp has passed."""
    flaw: Problem | None = None
    """What the message asked beside all this, and nobody here can do."""

    @property
    def is_hold(self) -> bool:
        """Whether it asks to stop and to stay."""
        return not self.points and self.flaw is None


@dataclass(frozen=True, slots=True)
class GoalConfig:
    """How goals are followed and watched.

    Raises:
        ValueError: a value is none that can be, or jaws that begin to move would seem stalled.
    """

    path_tolerance: float = 0.2
    """rad that a joint may be off its path, where the goal does not say."""
    jaw_path_tolerance: float = 0.002
    """m, likewise, of jaws that a trajectory names."""
    goal_tolerance: float = 0.02
    """rad that a joint may end off its last point, where the goal does not say."""
    jaw_goal_tolerance: float = 0.0005
    """m, likewise."""
    goal_time_tolerance: float = 2.0
    """s that the arm may take longer, where the goal does not say."""
    start_tolerance: float = 0.1
    """rad between the measured position and a first point that is due at once."""
    jaw_start_tolerance: float = 0.001
    """m, likewise."""
    start_blend: float = 0.5
    """s in which what is left of that difference fades, so that no joint jumps."""
    start_grace: float = 0.2
    """s by which the stamp of a start may have passed when the goal comes."""
    max_start_delay: float = 60.0
    """s that a start may lie ahead."""
    max_points: int = 1000
    """Points of a goal: to read each takes some 20 us, in which nothing else is heard."""
    feedback_timeout: float = 0.5
    """s: a posture that is older does not tell where the arm is."""
    rest_velocity: float = 0.03
    """rad/s: a joint that is not faster rests."""
    rest_jaw_velocity: float = 0.0003
    """m/s, likewise."""
    stop_time: float = 0.3
    """s in which a cancelled trajectory slows to a standstill along its path."""
    gripper_speed: float = 0.0025
    """m/s of a gripper goal."""
    gripper_acceleration: float = 0.01
    """m/s^2, likewise."""
    stall_time: float = 0.5
    """s after which jaws that do not get on have met something."""
    stall_velocity: float = 0.0003
    """m/s: jaws that are not faster do not get on."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0.0 <= value < math.inf:
                raise ValueError(f"{field.name} is {value:g}; it must be a number from 0 on")
        for name in ("start_blend", "stop_time", "gripper_speed", "gripper_acceleration"):
            if not getattr(self, name) > 0.0:
                raise ValueError(f"{name} is 0; it must be above 0")
        slow = 2.0 * max(self.stall_velocity, self.rest_jaw_velocity)
        if not self.gripper_speed > slow:
            raise ValueError(
                f"gripper_speed is {self.gripper_speed:g} m/s; it must be above {slow:g} m/s, "
                "twice what counts as rest and as a stall, or jaws that move seem not to"
            )
        slow = 2.0 * self.stall_velocity / self.gripper_acceleration
        if not self.stall_time > slow:
            raise ValueError(
                f"stall_time is {self.stall_time:g} s; it must be above {slow:g} s, in which the "
                "jaws come to move"
            )

    def path_tolerances(self, joint_names: Iterable[str]) -> tuple[float, ...]:
        """Return the tolerance on the way of each joint, as far as the goal does not say."""
        return _each(joint_names, self.path_tolerance, self.jaw_path_tolerance)

    def goal_tolerances(self, joint_names: Iterable[str]) -> tuple[float, ...]:
        """Return the tolerance at the end of each joint, as far as the goal does not say."""
        return _each(joint_names, self.goal_tolerance, self.jaw_goal_tolerance)

    def start_tolerances(self, joint_names: Iterable[str]) -> tuple[float, ...]:
        """Return how far each joint may be from a first point that is due at once."""
        return _each(joint_names, self.start_tolerance, self.jaw_start_tolerance)

    def rest_velocities(self, joint_names: Iterable[str]) -> tuple[float, ...]:
        """Return how fast each joint may be and rest."""
        return _each(joint_names, self.rest_velocity, self.rest_jaw_velocity)


def unit(joint_name: str) -> str:
    """Return the unit of a joint's position."""
    return "m" if joint_name.endswith(JAWS) else "rad"


def goal_problem(goal: Goal, joint_names: Sequence[str], config: GoalConfig) -> Failure | None:
    """Return the first thing that stands against ever starting the goal, or None.

    A hold is never refused: it is a stop.

    Args:
        goal: as received.
        joint_names: all of the arm, the jaws last.
        config: which goals are taken.
    """
    if goal.is_hold:
        return None
    for check, code in CHECKS[goal.kind]:
        for problem in check(goal, joint_names, config):
            return problem, code
    return None


def too_many_points(points: int, config: GoalConfig) -> Problem:
    """Return what stands against a trajectory of so many points."""
    return Problem(
        "too_many_points",
        f"{points} points; send {config.max_points} at most, and fewer for the same path",
    )


Check = Callable[[Goal, Sequence[str], GoalConfig], Iterator[Problem]]


def _against_message(goal: Goal, _: Sequence[str], __: GoalConfig) -> Iterator[Problem]:
    if goal.flaw is not None:
        yield goal.flaw


def _against_joints(goal: Goal, names: Sequence[str], _: GoalConfig) -> Iterator[Problem]:
    for name in goal.joint_names:
        if name not in names:
            yield Problem(
                "unknown_joint",
                f"{name[:SHOWN]!r} is not a joint of the arm; name {', '.join(names)}",
            )
    if len(set(goal.joint_names)) != len(goal.joint_names):
        yield Problem(
            "joint_named_twice",
            f"joint_names {', '.join(goal.joint_names)[:MAX_NAME]} repeats one",
        )
    missing = [name for name in names[:-1] if name not in goal.joint_names]
    if missing or not goal.joint_names:
        yield Problem(
            "partial_goal",
            f"{', '.join(missing or names)} is not named; name every joint; the jaws may be "
            "left out, and then hold still",
        )


def _against_jaws(goal: Goal, names: Sequence[str], _: GoalConfig) -> Iterator[Problem]:
    if not names:
        yield Problem("unknown_joint", "the arm has not said yet which joints it has; wait for it")
    if goal.joint_names:
        yield Problem("unknown_joint", "a gripper goal names no joint: it moves the jaws")


def _against_points(goal: Goal, _: Sequence[str], config: GoalConfig) -> Iterator[Problem]:
    points, joints = goal.points, len(goal.joint_names)
    if len(points) > config.max_points:
        yield too_many_points(len(points), config)
        return
    for place, point in enumerate(points):
        sizes = len(point.velocities), len(point.accelerations)
        if len(point.positions) != joints or sizes not in ((0, 0), (joints, 0), (joints, joints)):
            yield Problem(
                "bad_sizes",
                f"point {place} has {len(point.positions)} positions, {sizes[0]} velocities and "
                f"{sizes[1]} accelerations for {joints} joints; send one position per joint, one "
                "velocity each or none, and accelerations with velocities alone",
            )
        numbers = (point.at, *point.positions, *point.velocities)
        yield from _against_numbers(f"a number of point {place}", numbers, point.accelerations)
    if points[0].at < 0.0:
        yield _bad_times(f"point 0 is due at {points[0].at:g} s; begin at 0 s or later")
    for place, (before, after) in enumerate(pairwise(points), start=1):
        if not after.at > before.at:
            yield _bad_times(
                f"point {place} is due at {after.at:g} s and the one before at {before.at:g} s; "
                "let the times rise"
            )
    if not points[-1].at > 0.0:
        yield _bad_times("the last point is due at 0 s; give the arm time to get there")
    if any(abs(velocity) > END_VELOCITY for velocity in points[-1].velocities):
        yield Problem("ends_moving", "the last point has a velocity; end at rest")


def _against_numbers(
    what: str, numbers: Sequence[float], accelerations: Sequence[float] = ()
) -> Iterator[Problem]:
    within = ((what, number, -MOST, MOST) for number in numbers)
    steep = ((what, number, -MOST_ACCELERATION, MOST_ACCELERATION) for number in accelerations)
    problem = first_out_of_range(chain(within, steep))
    if problem is not None:
        yield problem


def _bad_times(reason: str) -> Problem:
    return Problem("bad_times", reason)


def _against_position(goal: Goal, _: Sequence[str], __: GoalConfig) -> Iterator[Problem]:
    if len(goal.points) != 1 or len(goal.points[0].positions) != 1:
        yield Problem("bad_sizes", "a gripper goal has one position")
    else:
        yield from _against_numbers("the position", goal.points[0].positions)


def _against_tolerances(goal: Goal, _: Sequence[str], __: GoalConfig) -> Iterator[Problem]:
    joints = len(goal.joint_names) if goal.kind is GoalKind.TRAJECTORY else 1
    if not len(goal.path_tolerances) == len(goal.goal_tolerances) == joints:
        yield Problem("bad_tolerance", f"there must be one tolerance of each kind for {joints}")
    tolerances = (*goal.path_tolerances, *goal.goal_tolerances, goal.goal_time_tolerance)
    if not all(tolerance >= 0.0 for tolerance in tolerances):
        yield Problem("bad_tolerance", "a tolerance is not a number from 0 on")


def _against_past(goal: Goal, _: Sequence[str], config: GoalConfig) -> Iterator[Problem]:
    if not goal.starts_in >= -config.start_grace:
        yield Problem(
            "start_passed",
            f"it should have started {-goal.starts_in:g} s ago; stamp it ahead, with a clock that "
            "is set, or with 0 to start it now",
        )


def _against_future(goal: Goal, _: Sequence[str], config: GoalConfig) -> Iterator[Problem]:
    if not goal.starts_in <= config.max_start_delay:
        yield Problem(
            "start_too_far",
            f"it would start in {goal.starts_in:g} s; send it {config.max_start_delay:g} s ahead "
            "at most",
        )


CHECKS: dict[GoalKind, tuple[tuple[Check, ErrorCode], ...]] = {
    GoalKind.TRAJECTORY: (
        (_against_message, ErrorCode.INVALID_GOAL),
        (_against_joints, ErrorCode.INVALID_JOINTS),
        (_against_points, ErrorCode.INVALID_GOAL),
        (_against_tolerances, ErrorCode.INVALID_GOAL),
        (_against_past, ErrorCode.OLD_HEADER_TIMESTAMP),
        (_against_future, ErrorCode.INVALID_GOAL),
    ),
    GoalKind.GRIPPER: (
        (_against_message, ErrorCode.INVALID_GOAL),
        (_against_jaws, ErrorCode.INVALID_JOINTS),
        (_against_position, ErrorCode.INVALID_GOAL),
        (_against_tolerances, ErrorCode.INVALID_GOAL),
    ),
}
"""What is looked at, in this order, and the code of the action that what is found there gets."""


def _each(joint_names: Iterable[str], turning: float, sliding: float) -> tuple[float, ...]:
    return tuple(sliding if name.endswith(JAWS) else turning for name in joint_names)
