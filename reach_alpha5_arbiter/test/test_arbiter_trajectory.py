"""C11: what a goal must be before it may start; everything else is refused with a code."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from control_msgs.action import FollowJointTrajectory

from reach_alpha5_arbiter.trajectory import (
    ErrorCode,
    Goal,
    GoalConfig,
    GoalKind,
    Point,
    goal_problem,
    unit,
)
from reach_alpha5_common.refusal import Problem

ARM = ("axis_e", "axis_d", "axis_c", "axis_b")
ALL = (*ARM, "axis_a")
CONFIG = GoalConfig()
REST = (0.0,) * 4


def goal(**change: object) -> Goal:
    good = Goal(
        id="01",
        kind=GoalKind.TRAJECTORY,
        source="planner",
        joint_names=ARM,
        points=(Point(0.0, REST, REST, REST), Point(1.0, (0.1,) * 4, REST, REST)),
        path_tolerances=(0.2,) * 4,
        goal_tolerances=(0.02,) * 4,
        goal_time_tolerance=2.0,
        starts_in=0.0,
    )
    return replace(good, **change)  # type: ignore[arg-type]


def gripper(**change: object) -> Goal:
    good = Goal(
        "02",
        GoalKind.GRIPPER,
        "planner",
        joint_names=(),
        points=(Point(0.0, (0.005,)),),
        path_tolerances=(math.inf,),
        goal_tolerances=(0.0005,),
        goal_time_tolerance=2.0,
        starts_in=0.0,
    )
    return replace(good, **change)  # type: ignore[arg-type]


def ending(*points: Point) -> Goal:
    return goal(points=points)


def test_C11_the_codes_are_those_of_the_action() -> None:
    for code in ErrorCode:
        assert code == getattr(FollowJointTrajectory.Result, code.name)


@pytest.mark.parametrize("left_out", ARM)
def test_C11_a_goal_names_each_joint_of_the_arm(left_out: str) -> None:
    refused = goal_problem(
        goal(joint_names=tuple(name for name in ARM if name != left_out)), ALL, CONFIG
    )
    assert refused is not None
    assert refused[0].code == "partial_goal"
    assert left_out in refused[0].reason


def test_C11_a_goal_that_names_the_whole_arm_may_start() -> None:
    assert goal_problem(goal(), ALL, CONFIG) is None
    assert goal_problem(gripper(), ALL, CONFIG) is None


def test_C11_the_jaws_may_be_named_and_the_order_is_free() -> None:
    names = ("axis_a", *reversed(ARM))
    whole = goal(
        joint_names=names,
        points=(Point(1.0, (0.0,) * 5),),
        path_tolerances=(math.inf,) * 5,
        goal_tolerances=(0.0,) * 5,
        goal_time_tolerance=math.inf,
    )
    assert goal_problem(whole, ALL, CONFIG) is None


BAD = {
    "a joint of another arm": (
        goal(joint_names=("axis_e", "axis_d", "axis_c", "elbow")),
        "unknown_joint",
        ErrorCode.INVALID_JOINTS,
    ),
    "a joint twice": (
        goal(joint_names=(*ARM[:3], "axis_c")),
        "joint_named_twice",
        ErrorCode.INVALID_JOINTS,
    ),
    "a partial goal": (goal(joint_names=ARM[1:]), "partial_goal", ErrorCode.INVALID_JOINTS),
    "the jaws alone": (goal(joint_names=("axis_a",)), "partial_goal", ErrorCode.INVALID_JOINTS),
    "no joint": (goal(joint_names=()), "partial_goal", ErrorCode.INVALID_JOINTS),
    "a position missing": (ending(Point(1.0, REST[1:])), "bad_sizes", ErrorCode.INVALID_GOAL),
    "no position": (ending(Point(1.0, (), REST)), "bad_sizes", ErrorCode.INVALID_GOAL),
    "a velocity missing": (
        ending(Point(1.0, REST, REST[1:])),
        "bad_sizes",
        ErrorCode.INVALID_GOAL,
    ),
    "an acceleration too many": (
        ending(Point(1.0, REST, REST, (0.0,) * 5)),
        "bad_sizes",
        ErrorCode.INVALID_GOAL,
    ),
    "accelerations without velocities": (
        ending(Point(1.0, REST, (), REST)),
        "bad_sizes",
        ErrorCode.INVALID_GOAL,
    ),
    "a position that is none": (
        ending(Point(1.0, (0.0, 0.0, math.nan, 0.0))),
        "not_finite",
        ErrorCode.INVALID_GOAL,
    ),
    "a velocity without end": (
        ending(Point(1.0, REST, (math.inf, 0.0, 0.0, 0.0)), Point(2.0, REST, REST)),
        "not_finite",
        ErrorCode.INVALID_GOAL,
    ),
    "an acceleration that is none": (
        ending(Point(1.0, REST, REST, (math.nan, 0.0, 0.0, 0.0))),
        "not_finite",
        ErrorCode.INVALID_GOAL,
    ),
    "a time that is none": (ending(Point(math.nan, REST)), "not_finite", ErrorCode.INVALID_GOAL),
    "a time before the start": (
        ending(Point(-0.1, REST), Point(1.0, REST)),
        "bad_times",
        ErrorCode.INVALID_GOAL,
    ),
    "two points at one time": (
        ending(Point(1.0, REST), Point(1.0, REST)),
        "bad_times",
        ErrorCode.INVALID_GOAL,
    ),
    "times that fall": (
        ending(Point(1.0, REST), Point(0.5, REST), Point(2.0, REST)),
        "bad_times",
        ErrorCode.INVALID_GOAL,
    ),
    "no time at all": (ending(Point(0.0, REST)), "bad_times", ErrorCode.INVALID_GOAL),
    "an end in motion": (
        ending(Point(1.0, REST, (0.0, 0.0, 0.0, -1e-5))),
        "ends_moving",
        ErrorCode.INVALID_GOAL,
    ),
    "more points than are taken": (
        ending(*(Point(float(k), REST) for k in range(CONFIG.max_points + 1))),
        "too_many_points",
        ErrorCode.INVALID_GOAL,
    ),
    "a tolerance missing": (
        goal(path_tolerances=(0.1,) * 3),
        "bad_tolerance",
        ErrorCode.INVALID_GOAL,
    ),
    "a tolerance below zero": (
        goal(goal_tolerances=(0.1, 0.1, -0.1, 0.1)),
        "bad_tolerance",
        ErrorCode.INVALID_GOAL,
    ),
    "a tolerance that is none": (
        goal(path_tolerances=(math.nan,) * 4),
        "bad_tolerance",
        ErrorCode.INVALID_GOAL,
    ),
    "a time tolerance that is none": (
        goal(goal_time_tolerance=math.nan),
        "bad_tolerance",
        ErrorCode.INVALID_GOAL,
    ),
    "a start that has passed": (
        goal(starts_in=-0.21),
        "start_passed",
        ErrorCode.OLD_HEADER_TIMESTAMP,
    ),
    "a start that is none": (
        goal(starts_in=math.nan),
        "start_passed",
        ErrorCode.OLD_HEADER_TIMESTAMP,
    ),
    "a start in an hour": (goal(starts_in=3600.0), "start_too_far", ErrorCode.INVALID_GOAL),
    "what nobody can do": (
        goal(flaw=Problem("not_supported", "efforts")),
        "not_supported",
        ErrorCode.INVALID_GOAL,
    ),
    "an empty goal with what nobody can do": (
        goal(points=(), flaw=Problem("not_supported", "multi_dof_trajectory")),
        "not_supported",
        ErrorCode.INVALID_GOAL,
    ),
    "jaws that are named": (
        gripper(joint_names=("axis_a",)),
        "unknown_joint",
        ErrorCode.INVALID_JOINTS,
    ),
    "jaws that go nowhere": (
        gripper(points=(Point(0.0, (math.inf,)),)),
        "not_finite",
        ErrorCode.INVALID_GOAL,
    ),
    "jaws with two positions": (
        gripper(points=(Point(0.0, (0.0, 0.0)),)),
        "bad_sizes",
        ErrorCode.INVALID_GOAL,
    ),
    "jaws without a tolerance": (
        gripper(goal_tolerances=()),
        "bad_tolerance",
        ErrorCode.INVALID_GOAL,
    ),
    "jaws with an effort": (
        gripper(flaw=Problem("not_supported", "max_effort")),
        "not_supported",
        ErrorCode.INVALID_GOAL,
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_rule10_a_goal_that_is_not_in_order_is_refused_with_its_code(case: str) -> None:
    bad, code, error_code = BAD[case]
    refused = goal_problem(bad, ALL, CONFIG)
    assert refused is not None
    assert (refused[0].code, refused[1]) == (code, error_code)
    assert refused[0].reason


@pytest.mark.parametrize("asked", [goal(), gripper()], ids=["trajectory", "gripper"])
def test_rule10_no_goal_starts_while_the_joints_are_unknown(asked: Goal) -> None:
    refused = goal_problem(asked, (), CONFIG)
    assert refused is not None
    assert refused[0].code == "unknown_joint"


def test_rule10_a_name_of_any_length_makes_a_reason_that_can_be_read() -> None:
    for names in (("x" * 100_000,), (*ARM, *ARM * 10_000)):
        refused = goal_problem(goal(joint_names=names), ALL, CONFIG)
        assert refused is not None
        assert len(refused[0].reason) < 300


@pytest.mark.parametrize(
    "hold",
    [
        goal(points=()),
        goal(points=(), joint_names=()),
        goal(points=(), joint_names=("elbow",), path_tolerances=(), starts_in=-5.0),
    ],
)
def test_C11_an_empty_goal_is_a_hold_and_is_never_refused(hold: Goal) -> None:
    assert hold.is_hold
    assert goal_problem(hold, ALL, CONFIG) is None
    assert goal_problem(hold, (), CONFIG) is None


def test_C11_the_stamp_of_a_start_may_just_have_passed_when_it_comes() -> None:
    assert goal_problem(goal(starts_in=-CONFIG.start_grace), ALL, CONFIG) is None
    assert goal_problem(goal(starts_in=CONFIG.max_start_delay), ALL, CONFIG) is None


def test_C11_a_last_velocity_may_be_zero_but_for_rounding() -> None:
    assert goal_problem(ending(Point(1.0, REST, (1e-9,) * 4)), ALL, CONFIG) is None


def test_C11_as_many_points_as_are_taken_are_taken() -> None:
    points = tuple(Point(float(k), REST) for k in range(1, CONFIG.max_points + 1))
    assert goal_problem(goal(points=points), ALL, CONFIG) is None


def test_C11_jaws_are_measured_in_metres_whatever_their_prefix() -> None:
    names = ("left_axis_b", "left_axis_a")
    assert [unit(name) for name in names] == ["rad", "m"]
    assert CONFIG.path_tolerances(names) == (0.2, 0.002)
    assert CONFIG.goal_tolerances(names) == (0.02, 0.0005)
    assert CONFIG.start_tolerances(names) == (0.1, 0.001)
    assert CONFIG.rest_velocities(names) == (0.03, 0.0003)


@pytest.mark.parametrize(
    "name", ["start_blend", "stop_time", "gripper_speed", "gripper_acceleration"]
)
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_C11_a_setting_that_is_divided_by_is_above_zero(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        GoalConfig(**{name: value})
