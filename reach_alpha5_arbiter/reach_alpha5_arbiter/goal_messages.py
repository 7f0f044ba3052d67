"""Translate between the messages of the two actions and the values of the core.

Nothing is judged here. What a message asks beside what a `Goal` can hold goes into its `flaw`, for
the core to refuse.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory, GripperCommand
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

from reach_alpha5_arbiter.errand import GoalOutcome
from reach_alpha5_arbiter.events import GoalEnded, GoalProgress
from reach_alpha5_arbiter.trajectory import (
    JAWS,
    Goal,
    GoalConfig,
    GoalKind,
    Point,
    Posture,
    too_many_points,
)
from reach_alpha5_common.messages import NANO, duration, nanoseconds, seconds
from reach_alpha5_common.refusal import Problem


def trajectory_goal(
    message: FollowJointTrajectory.Goal, goal_id: str, source: str, wall: int, config: GoalConfig
) -> Goal:
    """Return the value of a trajectory goal that came at our wall-clock time `wall` [ns].

    Of tolerances, 0 asks for the configured one, and below 0 for none.
    """
    trajectory = message.trajectory
    names = tuple(trajectory.joint_names)
    # What will be refused is not read, nor remembered: that takes a time that others have not.
    crowded = len(trajectory.points) > config.max_points
    stamp = nanoseconds(trajectory.header.stamp)
    return Goal(
        id=goal_id,
        kind=GoalKind.TRAJECTORY,
        source=source,
        joint_names=names,
        points=tuple(
            Point(
                seconds(point.time_from_start),
                tuple(point.positions),
                tuple(point.velocities),
                tuple(point.accelerations),
            )
            for point in (() if crowded else trajectory.points)
        ),
        path_tolerances=_tolerances(names, message.path_tolerance, config.path_tolerances(names)),
        goal_tolerances=_tolerances(names, message.goal_tolerance, config.goal_tolerances(names)),
        goal_time_tolerance=_tolerance(
            seconds(message.goal_time_tolerance), config.goal_time_tolerance
        ),
        starts_in=(stamp - wall) / NANO if stamp else 0.0,
        flaw=too_many_points(len(trajectory.points), config)
        if crowded
        else next(_flaws(message, names), None),
    )


def gripper_goal(
    message: GripperCommand.Goal, goal_id: str, source: str, config: GoalConfig
) -> Goal:
    """Return the value of a gripper goal: where the jaws shall be [m of push-rod travel].

    It has no path tolerance: jaws that meet something do not get on, and have stalled.
    """
    command = message.command
    flaw = None
    if command.max_effort != 0.0:
        flaw = _not_supported("max_effort", "the grip current is configured; send 0")
    return Goal(
        id=goal_id,
        kind=GoalKind.GRIPPER,
        source=source,
        joint_names=(),
        points=(Point(0.0, (command.position,)),),
        path_tolerances=(math.inf,),
        goal_tolerances=(config.jaw_goal_tolerance,),
        goal_time_tolerance=config.goal_time_tolerance,
        starts_in=0.0,
        flaw=flaw,
    )


def posture(message: JointState, wall: int, now: float) -> Posture | None:
    """Return the posture of a message that came at wall-clock time `wall` [ns], monotonic `now`.

    It was measured as long before `now` as its stamp lies before `wall`, and never after: a clock
    that was set makes a posture older than it is, or as old as its receipt. None: it does not say
    of each joint where it is and how fast.
    """
    names = tuple(message.name)
    if not len(names) == len(message.position) == len(message.velocity):
        return None
    age = max(0, wall - nanoseconds(message.header.stamp)) / NANO
    return Posture(names, tuple(message.position), tuple(message.velocity), now - age)


def trajectory_feedback(progress: GoalProgress, stamp: Time) -> FollowJointTrajectory.Feedback:
    """Return the feedback of a trajectory; `stamp` is the time of the measurement."""
    tracking = progress.execution.tracking(progress.posture)
    feedback = FollowJointTrajectory.Feedback(
        joint_names=list(tracking.joint_names),
        desired=_point(tracking.desired),
        actual=_point(tracking.actual),
        error=_point(tracking.error),
    )
    feedback.header.stamp = stamp
    if hasattr(feedback, "index"):  # not in every release of control_msgs
        feedback.index = tracking.index
    return feedback


def gripper_feedback(progress: GoalProgress, stamp: Time) -> GripperCommand.Feedback:
    """Return the feedback of a gripper goal. The effort is not known: NaN."""
    (position,) = progress.execution.tracking(progress.posture).actual.positions
    return GripperCommand.Feedback(position=float(position), effort=math.nan)


def trajectory_result(ended: GoalEnded) -> FollowJointTrajectory.Result:
    """Return the result of a trajectory: the action's code, and ours with the reason."""
    ending = ended.ending
    return FollowJointTrajectory.Result(
        error_code=int(ending.error), error_string=f"{ending.code}: {ending.text}"
    )


def gripper_result(ended: GoalEnded) -> GripperCommand.Result:
    """Return the result of a gripper goal. What is not known is NaN."""
    ending, seen = ended.ending, ended.posture
    joints = () if seen is None else zip(seen.joint_names, seen.positions, strict=True)
    return GripperCommand.Result(
        position=next((float(at) for name, at in joints if name.endswith(JAWS)), math.nan),
        effort=math.nan,
        stalled=ending.stalled,
        reached_goal=ending.outcome is GoalOutcome.SUCCEEDED and not ending.stalled,
    )


def _flaws(message: FollowJointTrajectory.Goal, names: Sequence[str]) -> Iterator[Problem]:
    if message.multi_dof_trajectory.joint_names or message.multi_dof_trajectory.points:
        yield _not_supported("multi_dof_trajectory", "every joint moves in one direction")
    if any(point.effort for point in message.trajectory.points):
        yield _not_supported("effort", "the arm is led by positions; leave it empty")
    if message.component_path_tolerance or message.component_goal_tolerance:
        yield _not_supported("component tolerances", "every joint moves in one direction")
    for tolerances in (message.path_tolerance, message.goal_tolerance):
        for tolerance in tolerances:
            if tolerance.velocity > 0.0 or tolerance.acceleration > 0.0:
                yield _not_supported(
                    "a tolerance of velocity or acceleration", "positions are watched; send 0"
                )
        named = [tolerance.name for tolerance in tolerances]
        if len(set(named)) != len(named) or not set(named) <= set(names):
            yield Problem(
                "bad_tolerance", "a tolerance is of no joint of the goal, or there twice"
            )


def _not_supported(what: str, why: str) -> Problem:
    return Problem("not_supported", f"{what} cannot be obeyed: {why}")


def _tolerances(
    names: Iterable[str], asked: Iterable[Any], configured: Sequence[float]
) -> tuple[float, ...]:
    said = {tolerance.name: tolerance.position for tolerance in asked}
    return tuple(
        _tolerance(said.get(name, 0.0), default)
        for name, default in zip(names, configured, strict=True)
    )


def _tolerance(asked: float, configured: float) -> float:
    """Return what is meant by a tolerance; NaN, which means nothing, stays."""
    if asked == 0.0:
        return configured
    return math.inf if asked < 0.0 else asked


def _point(point: Point) -> JointTrajectoryPoint:
    return JointTrajectoryPoint(
        positions=[float(position) for position in point.positions],
        velocities=[float(velocity) for velocity in point.velocities],
        time_from_start=duration(point.at),
    )
