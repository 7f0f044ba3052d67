"""C11: what the messages of the two actions say, as the core is told it, and the way back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory, GripperCommand
from control_msgs.msg import JointTolerance
from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint, MultiDOFJointTrajectoryPoint

from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.errand import ENDED, PHASES, Ending, GoalOutcome, GoalPhase
from reach_alpha5_arbiter.events import GoalEnded, GoalProgress
from reach_alpha5_arbiter.execution import Execution
from reach_alpha5_arbiter.goal_messages import (
    gripper_feedback,
    gripper_goal,
    gripper_result,
    posture,
    trajectory_feedback,
    trajectory_goal,
    trajectory_result,
)
from reach_alpha5_arbiter.trajectory import ErrorCode, Goal, GoalConfig, GoalKind, Posture
from reach_alpha5_msgs import msg

ARM = ("axis_e", "axis_d", "axis_c", "axis_b")
ALL = (*ARM, "axis_a")
CONFIG = GoalConfig()
NOW_NS = 1_900_000_000_123_456_789
"""Some wall-clock time."""

Message = FollowJointTrajectory.Goal
Change = Callable[[Message], object]


def message(names: tuple[str, ...] = ARM) -> Message:
    """Return the message of a goal with one point."""
    made = Message()
    made.trajectory.joint_names = list(names)
    made.trajectory.points = [
        JointTrajectoryPoint(
            positions=[0.1 * number for number, _ in enumerate(names)],
            velocities=[0.0] * len(names),
            time_from_start=Duration(seconds=1.5).to_msg(),
        )
    ]
    return made


def read(made: Message) -> Goal:
    return trajectory_goal(made, "07", "planner", NOW_NS, CONFIG)


def tolerance(name: str, position: float, **more: float) -> JointTolerance:
    return JointTolerance(name=name, position=position, **more)


def test_C11_a_trajectory_is_read_as_it_stands() -> None:
    goal = read(message())
    assert (goal.id, goal.kind, goal.source) == ("07", GoalKind.TRAJECTORY, "planner")
    assert goal.joint_names == ARM
    (point,) = goal.points
    assert point.at == 1.5
    assert point.positions == pytest.approx((0.0, 0.1, 0.2, 0.3))
    assert (point.velocities, point.accelerations) == ((0.0,) * 4, ())
    assert (goal.starts_in, goal.flaw) == (0.0, None)


def test_C11_no_points_ask_to_hold() -> None:
    assert read(Message()).is_hold


def test_C11_a_tolerance_of_0_is_the_configured_one_and_one_below_0_is_none() -> None:
    made = message(ALL)
    made.path_tolerance = [tolerance("axis_c", 0.05), tolerance("axis_e", -1.0)]
    made.goal_tolerance = [tolerance("axis_a", 0.001), tolerance("axis_b", 0.0)]
    goal = read(made)
    turning, sliding = CONFIG.path_tolerance, CONFIG.jaw_path_tolerance
    assert goal.path_tolerances == (math.inf, turning, 0.05, turning, sliding)
    assert goal.goal_tolerances == (*(CONFIG.goal_tolerance,) * 4, 0.001)
    assert goal.goal_time_tolerance == CONFIG.goal_time_tolerance
    made.goal_time_tolerance = Duration(seconds=7.25).to_msg()
    assert read(made).goal_time_tolerance == 7.25
    made.goal_time_tolerance = Duration(seconds=-1.0).to_msg()
    assert read(made).goal_time_tolerance == math.inf


def test_C11_a_tolerance_that_is_no_number_stays_one_so_that_it_is_refused() -> None:
    made = message()
    made.path_tolerance = [tolerance("axis_e", math.nan)]
    assert math.isnan(read(made).path_tolerances[0])


@pytest.mark.parametrize(("ahead", "starts_in"), [(2_500_000_000, 2.5), (-1_000, -1e-6)])
def test_C11_a_stamped_start_counts_from_receipt(ahead: int, starts_in: float) -> None:
    made = message()
    seconds, nanoseconds = divmod(NOW_NS + ahead, 10**9)
    made.trajectory.header.stamp = Time(sec=seconds, nanosec=nanoseconds)
    assert read(made).starts_in == pytest.approx(starts_in, abs=1e-9)


def _tolerance_of_nobody(made: Message) -> None:
    made.path_tolerance = [tolerance("tail", 0.1)]


def _tolerance_twice(made: Message) -> None:
    made.goal_tolerance = [tolerance("axis_e", 0.1)] * 2


def _tolerance_of_velocity(made: Message) -> None:
    made.path_tolerance = [tolerance("axis_e", 0.1, velocity=0.1)]


def _tolerance_of_acceleration(made: Message) -> None:
    made.goal_tolerance = [tolerance("axis_e", 0.1, acceleration=0.1)]


def _effort(made: Message) -> None:
    made.trajectory.points[0].effort = [1.0] * 4


def _two_trajectories(made: Message) -> None:
    made.multi_dof_trajectory.points = [MultiDOFJointTrajectoryPoint()]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (_tolerance_of_nobody, "bad_tolerance"),
        (_tolerance_twice, "bad_tolerance"),
        (_tolerance_of_velocity, "not_supported"),
        (_tolerance_of_acceleration, "not_supported"),
        (_effort, "not_supported"),
        (_two_trajectories, "not_supported"),
    ],
)
def test_rule10_what_a_goal_cannot_hold_is_its_flaw(change: Change, code: str) -> None:
    made = message()
    change(made)
    goal = read(made)
    assert goal.flaw is not None
    assert goal.flaw.code == code


def test_rule10_a_goal_without_points_in_which_something_is_wrong_is_no_neutral() -> None:
    made = Message(path_tolerance=[tolerance("tail", 0.1)])
    assert not read(made).is_hold


def test_C11_a_gripper_goal_is_a_position_of_the_jaws_and_nothing_on_how_hard() -> None:
    made = GripperCommand.Goal()
    made.command.position = 0.009
    goal = gripper_goal(made, "08", "planner", CONFIG)
    assert (goal.kind, goal.joint_names, goal.flaw) == (GoalKind.GRIPPER, (), None)
    assert goal.points[0].positions == (0.009,)
    assert goal.goal_tolerances == (CONFIG.jaw_goal_tolerance,)
    for effort in (1.0, -1.0, math.nan):
        made.command.max_effort = effort
        flaw = gripper_goal(made, "08", "planner", CONFIG).flaw
        assert flaw is not None
        assert flaw.code == "not_supported"


# ---- what is measured --------------------------------------------------------------------------


def measured(ago: int = 0, **fields: object) -> JointState:
    made = JointState(name=list(ALL), position=[0.5] * 5, velocity=[0.1] * 5)
    made.header.stamp = Time(sec=(NOW_NS - ago) // 10**9, nanosec=(NOW_NS - ago) % 10**9)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(("ago", "at"), [(0, 100.0), (20_000_000, 99.98), (-5_000_000_000, 100.0)])
def test_C11_a_posture_is_as_old_as_its_stamp_and_never_of_the_future(ago: int, at: float) -> None:
    seen = posture(measured(ago), NOW_NS, 100.0)
    assert seen is not None
    assert seen.at == pytest.approx(at)
    assert (seen.joint_names, seen.positions, seen.velocities) == (ALL, (0.5,) * 5, (0.1,) * 5)


@pytest.mark.parametrize("field", ["name", "position", "velocity"])
def test_rule10_a_posture_that_does_not_tell_all_of_each_joint_is_none(field: str) -> None:
    short = getattr(measured(), field)[:-1]
    assert posture(measured(**{field: short}), NOW_NS, 100.0) is None


# ---- the way back ------------------------------------------------------------------------------

HERE = Posture(ALL, (0.0, 0.0, 0.0, 0.0, 0.006), (0.0,) * 5, at=10.0)


def test_C11_feedback_tells_what_was_wanted_when_it_was_measured() -> None:
    begun = Execution.begin(read(message()), HERE, 10.0, CONFIG)
    assert isinstance(begun, Execution)
    seen = Posture(ALL, (0.01, 0.02, 0.03, 0.04, 0.006), (0.1,) * 5, at=10.75)
    told = trajectory_feedback(GoalProgress(begun, seen), Time(sec=4))
    assert (told.header.stamp.sec, tuple(told.joint_names)) == (4, ARM)
    assert told.actual.positions.tolist() == pytest.approx([0.01, 0.02, 0.03, 0.04])
    assert told.actual.velocities.tolist() == pytest.approx([0.1] * 4)
    # Half way of a cubic from rest to rest.
    assert told.desired.positions.tolist() == pytest.approx([0.0, 0.05, 0.1, 0.15])
    assert told.error.positions.tolist() == pytest.approx([-0.01, 0.03, 0.07, 0.11])
    assert told.desired.time_from_start.nanosec == 750_000_000


def test_C11_feedback_of_the_jaws_tells_where_they_are_and_no_effort() -> None:
    made = GripperCommand.Goal()
    made.command.position = 0.009
    goal = replace(gripper_goal(made, "08", "planner", CONFIG), joint_names=ALL[-1:])
    begun = Execution.begin(goal, HERE, 10.0, CONFIG)
    assert isinstance(begun, Execution)
    told = gripper_feedback(GoalProgress(begun, HERE), Time())
    assert told.position == 0.006
    assert math.isnan(told.effort)
    assert not (told.stalled or told.reached_goal)


def test_C11_a_result_begins_with_our_code_and_has_the_action_s() -> None:
    ending = Ending(GoalOutcome.ABORTED, "path_left", "axis_e is off", ErrorCode(-4))
    result = trajectory_result(GoalEnded("07", ending, HERE))
    assert result.error_code == FollowJointTrajectory.Result.PATH_TOLERANCE_VIOLATED
    assert result.error_string == "path_left: axis_e is off"
    done = Ending.of(GoalOutcome.SUCCEEDED, StopCause.GOAL_REACHED)
    assert trajectory_result(GoalEnded("07", done, HERE)).error_code == 0


@pytest.mark.parametrize(
    ("outcome", "stalled", "reached"),
    [
        (GoalOutcome.SUCCEEDED, False, True),
        (GoalOutcome.SUCCEEDED, True, False),
        (GoalOutcome.CANCELED, False, False),
        (GoalOutcome.ABORTED, False, False),
    ],
)
def test_C11_jaws_have_reached_their_goal_or_stalled_or_neither(
    outcome: GoalOutcome, stalled: bool, reached: bool
) -> None:
    ending = Ending(outcome, "whatever", "", stalled=stalled)
    result = gripper_result(GoalEnded("08", ending, HERE))
    assert (result.stalled, result.reached_goal, result.position) == (stalled, reached, 0.006)
    assert math.isnan(result.effort)
    assert math.isnan(gripper_result(GoalEnded("08", ending, None)).position)


def test_phases_are_numbered_as_the_message_has_them() -> None:
    assert {phase.name: phase.value for phase in GoalPhase} == {
        name: getattr(msg.GoalStatus, name) for name in GoalPhase.__members__
    }
    assert {*PHASES.values(), *ENDED.values()} < set(GoalPhase)
