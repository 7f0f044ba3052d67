"""C11, U17: a goal under way: its set-points, how it slows down, and how it is judged."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reach_alpha5_arbiter.execution import FAILURES, Execution, Verdict
from reach_alpha5_arbiter.trajectory import (
    ErrorCode,
    Goal,
    GoalConfig,
    GoalKind,
    Point,
    Posture,
    goal_problem,
)

ARM = ("axis_e", "axis_d", "axis_c", "axis_b")
ALL = (*ARM, "axis_a")
CONFIG = GoalConfig()
BEGAN = 100.0
REST = (0.0,) * 4
AWAY = (0.5, -0.5, 0.25, 1.0)
FAR = 1e9
"""s: long after everything."""


def goal(*points: Point, **change: object) -> Goal:
    made = Goal(
        id="01",
        kind=GoalKind.TRAJECTORY,
        source="planner",
        joint_names=ARM,
        points=points or (Point(0.0, REST, REST), Point(2.0, AWAY, REST)),
        path_tolerances=(0.2,) * 4,
        goal_tolerances=(0.02,) * 4,
        goal_time_tolerance=2.0,
        starts_in=0.0,
    )
    return replace(made, **change)  # type: ignore[arg-type]


def jaws(position: float, joint: str = "axis_a") -> Goal:
    return Goal(
        "02",
        GoalKind.GRIPPER,
        "planner",
        (joint,),
        (Point(0.0, (position,)),),
        (math.inf,),
        (0.0005,),
        2.0,
        0.0,
    )


def measured(
    arm: tuple[float, ...] = REST,
    at: float = BEGAN,
    velocities: tuple[float, ...] = REST,
    jaw: tuple[float, float] = (0.005, 0.0),
) -> Posture:
    return Posture(ALL, (*arm, jaw[0]), (*velocities, jaw[1]), at)


def begun(asked: Goal, posture: Posture | None = None, config: GoalConfig = CONFIG) -> Execution:
    received = replace(asked, joint_names=()) if asked.kind is GoalKind.GRIPPER else asked
    assert goal_problem(received, ALL, config) is None
    execution = Execution.begin(asked, posture or measured(), BEGAN, config)
    assert isinstance(execution, Execution), execution
    return execution


def followed(execution: Execution, at: float) -> Posture:
    """Where the arm is at `at` if it follows perfectly."""
    said = execution.setpoint(at)
    where = dict(
        zip(said.joint_names, zip(said.positions, said.velocities, strict=True), strict=True)
    )
    motions = [where.get(name, (0.005, 0.0)) for name in ALL]
    return Posture(ALL, tuple(p for p, _ in motions), tuple(v for _, v in motions), at)


# ---- beginning ---------------------------------------------------------------------------------


def test_U17_a_goal_starts_from_where_the_joints_are_measured() -> None:
    asked = goal(Point(1.0, AWAY, REST))
    posture = measured((0.1, 0.2, 0.3, 0.4), velocities=(0.01, -0.01, 0.0, 0.0))
    execution = begun(asked, posture)
    said = execution.setpoint(BEGAN)
    assert said.positions == (0.1, 0.2, 0.3, 0.4)
    assert said.velocities == REST, "the noise of a measured rest is no motion"
    assert execution.setpoint(BEGAN + 1.0).positions == AWAY


@pytest.mark.parametrize(
    ("detail", "middle"),
    [
        ((), (0.25, 0.5)),
        ((REST,), (0.5 * 5 / 32, 0.5 * 9 / 8)),
        ((REST, REST), (0.5 * 53 / 512, 0.5 * 135 / 128)),
    ],
    ids=["line", "cubic", "quintic"],
)
def test_C11_the_first_segment_says_as_much_as_its_point_does(
    detail: tuple[tuple[float, ...], ...], middle: tuple[float, float]
) -> None:
    execution = begun(goal(Point(1.0, AWAY, *detail)))
    share = {0: 0.5, 1: 0.25, 2: 0.25}[len(detail)]
    said = execution.setpoint(BEGAN + share)
    assert said.positions[0] == pytest.approx(middle[0])
    assert said.velocities[0] == pytest.approx(middle[1] if detail else 0.5)


def test_U17_what_the_arm_is_off_its_first_point_fades_and_nothing_jumps() -> None:
    execution = begun(goal(), measured((0.09, -0.09, 0.0, 0.0)))
    there = begun(goal())
    assert execution.setpoint(BEGAN).positions == (0.09, -0.09, 0.0, 0.0)
    assert execution.setpoint(BEGAN).velocities == REST
    after = BEGAN + CONFIG.start_blend
    assert execution.setpoint(after) == there.setpoint(after)
    half = execution.setpoint(BEGAN + CONFIG.start_blend / 2).positions
    whole = there.setpoint(BEGAN + CONFIG.start_blend / 2).positions
    assert half[0] - whole[0] == pytest.approx(0.045)


def test_U17_a_trajectory_shorter_than_the_fading_still_ends_at_its_point() -> None:
    execution = begun(goal(Point(0.0, REST), Point(0.1, AWAY)), measured((0.09, 0.0, 0.0, 0.0)))
    assert execution.setpoint(BEGAN + 0.1).positions == AWAY
    assert execution.setpoint(BEGAN + 0.0999999).positions == pytest.approx(AWAY, abs=1e-5)


@pytest.mark.parametrize(
    ("posture", "code"),
    [
        (measured((0.11, 0.0, 0.0, 0.0)), "start_elsewhere"),
        (measured((0.0, 0.0, 0.0, -0.11)), "start_elsewhere"),
        (measured((math.nan, 0.0, 0.0, 0.0)), "no_feedback"),
        (measured(at=BEGAN - 0.51), "no_feedback"),
        (measured(at=math.nan), "no_feedback"),
        (Posture(ARM[1:], REST[1:], REST[1:], BEGAN), "no_feedback"),
        (Posture((), (), (), BEGAN), "no_feedback"),
    ],
)
def test_C11_a_goal_does_not_begin_from_elsewhere_or_from_nobody_knows_where(
    posture: Posture, code: str
) -> None:
    failed = Execution.begin(goal(), posture, BEGAN, CONFIG)
    assert isinstance(failed, tuple)
    assert (failed[0].code, failed[1]) == (code, ErrorCode.INVALID_GOAL)


def test_C11_who_is_elsewhere_is_told_with_its_unit() -> None:
    asked = goal(
        Point(0.0, (*REST, 0.004)),
        Point(1.0, (*REST, 0.004)),
        joint_names=ALL,
        path_tolerances=(0.2,) * 5,
        goal_tolerances=(0.2,) * 5,
    )
    failed = Execution.begin(asked, measured(jaw=(0.006, 0.0)), BEGAN, CONFIG)
    assert isinstance(failed, tuple)
    assert "axis_a is 0.002 m" in failed[0].reason


def test_C11_jaws_do_not_begin_while_they_are_not_measured() -> None:
    for posture in (Posture((), (), (), BEGAN), measured(jaw=(math.nan, 0.0))):
        failed = Execution.begin(jaws(0.005), posture, BEGAN, CONFIG)
        assert isinstance(failed, tuple)
        assert failed[0].code == "no_feedback"


def test_C11_joints_are_found_by_name_whatever_their_order() -> None:
    asked = goal(joint_names=tuple(reversed(ARM)))
    execution = begun(asked, measured((0.01, 0.02, 0.03, 0.04)))
    assert execution.setpoint(BEGAN).joint_names == tuple(reversed(ARM))
    assert execution.setpoint(BEGAN).positions == (0.04, 0.03, 0.02, 0.01)


# ---- set-points --------------------------------------------------------------------------------


def test_C11_the_end_is_the_last_point_to_the_bit_and_rests() -> None:
    for duration in (0.1, 0.3, 1.1, 2.7):
        execution = begun(goal(Point(duration, AWAY)))
        for late in (0.0, 1e-9, 5.0):
            said = execution.setpoint(BEGAN + duration + late)
            assert (said.positions, said.velocities) == (AWAY, REST)
            assert execution.is_over(BEGAN + duration + late)
    assert not execution.is_over(BEGAN + 2.6)
    assert execution.elapsed(BEGAN + 1.0) == 1.0
    assert execution.elapsed(BEGAN - 1.0) == 0.0


def test_C11_a_gripper_goal_moves_the_jaws_alone_in_whatever_order_joints_are_measured() -> None:
    names = ("left_axis_a", "left_axis_b")
    posture = Posture(names, (0.002, 1.0), (0.0, 0.0), BEGAN)
    execution = begun(jaws(0.012, names[0]), posture)
    assert execution.setpoint(BEGAN) == replace(
        execution.setpoint(BEGAN), joint_names=names[:1], positions=(0.002,), velocities=(0.0,)
    )
    # 0.01 m at 0.0025 m/s, and once the quarter of a second in which it speeds up.
    assert execution.duration == pytest.approx(4.25)
    assert execution.setpoint(BEGAN + 2.0).velocities == pytest.approx((0.0025,))
    assert execution.setpoint(BEGAN + 5.0).positions == (0.012,)


def test_C11_jaws_that_are_there_already_are_there() -> None:
    execution = begun(jaws(0.005))
    assert execution.is_over(BEGAN)
    assert execution.verdict(measured(), BEGAN) is Verdict.REACHED


# ---- slowing down ------------------------------------------------------------------------------

SLOWING = {
    "duration": st.floats(0.05, 5.0),
    "when": st.floats(0.0, 6.0),
    "stop_time": st.floats(0.02, 2.0),
    "curved": st.booleans(),
}


def slowing(duration: float, when: float, stop_time: float, curved: bool) -> Execution:
    end = Point(duration, AWAY, REST) if curved else Point(duration, AWAY)
    execution = begun(goal(end), config=replace(CONFIG, stop_time=stop_time))
    return execution.slowed(BEGAN + when)


@given(**SLOWING)
def test_C11_slowing_ends_at_rest_on_the_path_within_its_time(
    duration: float, when: float, stop_time: float, curved: bool
) -> None:
    execution = slowing(duration, when, stop_time, curved)
    assert execution.is_slow
    assert BEGAN + when <= execution.standstill_at <= BEGAN + when + stop_time * (1 + 1e-9)
    for at in (execution.standstill_at, BEGAN + when + stop_time, FAR):
        said = execution.setpoint(at)
        assert said.velocities == REST
        on_path = execution.path.motion(execution.elapsed(at))[0]
        assert said.positions == on_path
    rest = execution.setpoint(FAR).positions
    assert rest == pytest.approx(execution.setpoint(execution.standstill_at).positions, abs=1e-7)
    # It goes on by half of what it would have gone, or to the end of its path.
    went_on = execution.elapsed(FAR) - min(when, duration)
    assert went_on == pytest.approx(min(stop_time / 2, max(0.0, duration - when)), abs=1e-9)


@given(**SLOWING)
def test_C11_while_it_slows_the_velocity_is_that_of_the_position_and_never_jumps(
    duration: float, when: float, stop_time: float, curved: bool
) -> None:
    execution = slowing(duration, when, stop_time, curved)
    began, ended = execution.slowed_at, execution.standstill_at
    times = [float(at) for at in np.linspace(began, ended, 41)]
    said = [execution.setpoint(at) for at in times]
    for joint, way in enumerate(AWAY):
        # Of the path alone: |q'| and |q''| at most.
        fastest = abs(way) / duration * (1.5 if curved else 1.0)
        bend = 6.0 * abs(way) / duration**2 if curved else 0.0
        most = fastest / stop_time + bend
        for (at, one), (then, next_) in pairwise(zip(times, said, strict=True)):
            step = then - at
            # The last of a path that is met at speed is a stop at once: a straight line ends so.
            if then >= ended and ended < began + stop_time:
                continue
            change = abs(next_.velocities[joint] - one.velocities[joint])
            assert change <= most * step * (1 + 1e-6) + 1e-7
            mean = (next_.velocities[joint] + one.velocities[joint]) / 2 * step
            went = next_.positions[joint] - one.positions[joint]
            assert went == pytest.approx(mean, abs=most * step * step + 1e-9)


@given(**SLOWING)
def test_C11_slowing_is_begun_once(
    duration: float, when: float, stop_time: float, curved: bool
) -> None:
    execution = slowing(duration, when, stop_time, curved)
    assert execution.slowed(BEGAN + when + 0.1) is execution
    before = begun(execution.goal, config=execution.config)
    for at in np.linspace(BEGAN, BEGAN + when, 7):
        assert execution.setpoint(float(at)).positions == pytest.approx(
            before.setpoint(float(at)).positions, abs=1e-12
        )


def test_C11_slowing_at_its_end_leaves_it_there_and_is_over_at_once() -> None:
    execution = begun(goal()).slowed(BEGAN + 3.0)
    assert execution.setpoint(BEGAN + 3.0).positions == AWAY
    assert execution.verdict(measured(), BEGAN + 3.0) is Verdict.SLOWED


def test_C11_slowing_before_it_began_counts_from_its_beginning() -> None:
    assert begun(goal()).slowed(BEGAN - 1.0).slowed_at == BEGAN


def test_C11_slowing_is_over_at_standstill_and_not_before() -> None:
    execution = begun(goal()).slowed(BEGAN + 1.0)
    end = BEGAN + 1.0 + CONFIG.stop_time
    assert execution.standstill_at == pytest.approx(end)
    before = end - 0.01
    assert execution.verdict(followed(execution, before), before) is Verdict.RUNNING
    assert execution.verdict(followed(execution, before), end + 1e-9) is Verdict.SLOWED


# ---- how it goes -------------------------------------------------------------------------------


def off(posture: Posture, name: str, by: float) -> Posture:
    place = posture.joint_names.index(name)
    positions = list(posture.positions)
    positions[place] += by
    return replace(posture, positions=tuple(positions))


@pytest.mark.parametrize("by", [0.19, -0.19, 0.21, -0.21])
@pytest.mark.parametrize("name", ARM)
@pytest.mark.parametrize("slow", [False, True])
def test_C11_a_joint_that_leaves_its_path_ends_the_goal_while_it_slows_too(
    name: str, by: float, slow: bool
) -> None:
    execution = begun(goal())
    now = BEGAN + 1.0
    if slow:
        execution = execution.slowed(now - 0.1)
    posture = off(followed(execution, now), name, by)
    left = abs(by) > 0.2
    assert execution.verdict(posture, now) is (Verdict.PATH if left else Verdict.RUNNING)
    failed = execution.failure(posture, now)
    assert (failed is not None) is left
    if failed is not None:
        assert (failed[0].code, failed[1]) == ("path_left", ErrorCode.PATH_TOLERANCE_VIOLATED)
        assert name in failed[0].reason


def test_C11_what_was_measured_is_compared_with_what_was_wanted_then() -> None:
    # Fast enough to be 0.3 rad further after 50 ms.
    execution = begun(goal(Point(1.0, (6.0, 0.0, 0.0, 0.0))))
    old = followed(execution, BEGAN + 0.5)
    assert execution.verdict(old, BEGAN + 0.55) is Verdict.RUNNING
    assert execution.verdict(replace(old, at=BEGAN + 0.55), BEGAN + 0.55) is Verdict.PATH


def test_C11_a_joint_that_is_not_watched_may_be_anywhere_but_not_nowhere() -> None:
    execution = begun(goal(path_tolerances=(math.inf,) * 4))
    posture = followed(execution, BEGAN + 1.0)
    assert execution.verdict(off(posture, "axis_e", 3.0), posture.at) is Verdict.RUNNING
    assert execution.verdict(off(posture, "axis_e", math.nan), posture.at) is Verdict.PATH
    missing = Posture(ALL[1:], posture.positions[1:], posture.velocities[1:], posture.at)
    assert execution.verdict(missing, posture.at) is Verdict.PATH


def test_C11_it_is_reached_within_the_tolerance_at_rest_and_measured_after_the_end() -> None:
    execution = begun(goal())
    end = BEGAN + 2.0
    there = measured(AWAY, at=end)
    assert execution.verdict(there, end + 0.02) is Verdict.REACHED
    assert execution.failure(there, end + 0.02) is None
    assert execution.verdict(off(there, "axis_b", 0.019), end) is Verdict.REACHED
    assert execution.verdict(off(there, "axis_b", 0.021), end) is Verdict.RUNNING
    moving = replace(there, velocities=(0.0, 0.031, 0.0, 0.0, 0.0))
    assert execution.verdict(moving, end) is Verdict.RUNNING
    assert execution.verdict(replace(there, at=end - 0.001), end + 0.02) is Verdict.RUNNING
    unknown = replace(there, velocities=(math.nan,) * 5)
    assert execution.verdict(unknown, end) is Verdict.RUNNING


def test_C11_it_may_come_late_by_its_tolerance_and_no_more() -> None:
    execution = begun(goal())
    end = BEGAN + 2.0
    posture = off(measured(AWAY, at=end + 1.9), "axis_b", 0.05)
    assert execution.verdict(posture, end + 1.9) is Verdict.RUNNING
    late = replace(posture, at=end + 2.01)
    failed = execution.failure(late, end + 2.01)
    assert failed is not None
    assert (failed[0].code, failed[1]) == ("goal_missed", ErrorCode.GOAL_TOLERANCE_VIOLATED)
    assert "axis_b" in failed[0].reason
    moving = measured(AWAY, at=end + 2.01, velocities=(0.0, 0.0, 0.1, 0.0))
    failed = execution.failure(moving, end + 2.01)
    assert failed is not None
    assert "axis_c still moves" in failed[0].reason
    assert execution.verdict(measured(AWAY, at=end + 2.01), end + 2.01) is Verdict.REACHED
    patient = begun(goal(goal_time_tolerance=math.inf))
    assert patient.verdict(replace(posture, at=end + 9e6), end + 9e6) is Verdict.RUNNING


def test_C11_a_tolerance_that_is_met_exactly_is_met() -> None:
    # Numbers of few binary digits: what is exactly at the edge here is so in floats too.
    edge = replace(
        CONFIG,
        feedback_timeout=0.5,
        stall_velocity=0.25,
        stall_time=0.5,
        gripper_speed=1.0,
        gripper_acceleration=2.0,
    )
    still = (Point(0.0, REST), Point(2.0, REST))
    execution = begun(goal(*still, path_tolerances=(0.25,) * 4), config=edge)
    posture = measured((0.25, -0.25, 0.0, 0.0), at=BEGAN + 1.0)
    assert execution.verdict(posture, BEGAN + 1.5) is Verdict.RUNNING
    assert execution.verdict(posture, BEGAN + 1.5001) is Verdict.BLIND
    away = measured((0.25, 0.0, 0.0, 0.0), at=BEGAN + 4.0)
    assert execution.verdict(away, BEGAN + 4.0) is Verdict.RUNNING
    failed = execution.failure(away, BEGAN + 4.25)
    assert failed is not None
    assert failed[0].code == "goal_missed"
    stuck = measured(at=BEGAN, jaw=(0.005, -0.25))
    gripper = begun(jaws(0.012), config=edge).seen(stuck)
    assert gripper.verdict(replace(stuck, at=BEGAN + 0.5), BEGAN + 0.5) is Verdict.STALLED


def test_C11_how_long_the_joints_were_not_measured_is_told() -> None:
    failed = begun(goal()).failure(measured(), BEGAN + 1.5)
    assert failed is not None
    assert "1.5 s ago" in failed[0].reason


def test_U12_a_goal_is_never_reached_while_nobody_measures() -> None:
    execution = begun(goal())
    there = measured(AWAY, at=BEGAN + 2.0)
    assert execution.verdict(there, BEGAN + 2.51) is Verdict.BLIND
    assert execution.verdict(replace(there, at=math.nan), BEGAN + 2.0) is Verdict.BLIND
    failed = execution.failure(there, BEGAN + 2.51)
    assert failed is not None
    assert failed[0].code == "no_feedback"
    assert failed[1] is not ErrorCode.SUCCESSFUL


def test_C11_jaws_that_meet_something_have_stalled_and_that_is_no_failure() -> None:
    execution = begun(jaws(0.012))
    for tenth in range(1, 40):
        now = BEGAN + tenth / 10
        # They go as wanted for a second, and then they do not get on.
        where = execution.setpoint(min(now, BEGAN + 1.0)).positions[0]
        speed = 0.0025 if now <= BEGAN + 1.0 else 0.0002
        posture = measured(at=now, jaw=(where, speed))
        execution = execution.seen(posture)
        verdict = execution.verdict(posture, now)
        assert execution.failure(posture, now) is None
        if verdict is not Verdict.RUNNING:
            break
    assert verdict is Verdict.STALLED
    assert now - BEGAN == pytest.approx(1.6)


def test_C11_jaws_that_get_on_again_have_not_stalled() -> None:
    execution = begun(jaws(0.012))
    for tenth in range(1, 30):
        now = BEGAN + tenth / 10
        posture = measured(at=now, jaw=(0.005, 0.0 if tenth % 5 else 0.001))
        execution = execution.seen(posture)
        assert execution.verdict(posture, now) is Verdict.RUNNING


def test_C11_jaws_are_not_stuck_by_what_was_measured_before_they_were_asked() -> None:
    execution = begun(jaws(0.012)).seen(measured(at=BEGAN - 0.4))
    assert execution.verdict(measured(at=BEGAN + 0.3), BEGAN + 0.3) is Verdict.RUNNING
    assert execution.verdict(measured(at=BEGAN + 0.5), BEGAN + 0.5) is Verdict.STALLED


def test_C11_jaws_that_slow_down_have_slowed_even_if_they_are_stuck() -> None:
    execution = begun(jaws(0.012)).seen(measured(at=BEGAN)).slowed(BEGAN + 0.4)
    posture = measured(at=BEGAN + 0.6)
    assert execution.verdict(posture, BEGAN + 0.6) is Verdict.RUNNING
    assert execution.verdict(posture, BEGAN + 0.71) is Verdict.SLOWED


def test_C11_an_arm_is_not_stuck_by_resting() -> None:
    still = (Point(0.0, REST), Point(5.0, REST))
    execution = begun(goal(*still))
    for tenth in range(1, 49):
        posture = measured(at=BEGAN + tenth / 10)
        execution = execution.seen(posture)
        assert execution.verdict(posture, posture.at) is Verdict.RUNNING


def test_C11_feedback_says_what_was_wanted_what_was_measured_and_how_far_apart() -> None:
    execution = begun(goal(Point(1.0, AWAY)))
    posture = off(measured((0.2, -0.25, 0.125, 0.5), at=BEGAN + 0.5), "axis_b", -0.1)
    told = execution.tracking(posture)
    assert told.joint_names == ARM
    assert told.desired.at == told.actual.at == told.error.at == 0.5
    assert told.desired.positions == (0.25, -0.25, 0.125, 0.5)
    assert told.actual.positions == (0.2, -0.25, 0.125, 0.4)
    assert told.error.positions == pytest.approx((0.05, 0.0, 0.0, 0.1))
    assert told.error.velocities == pytest.approx(AWAY)


@pytest.mark.parametrize(
    ("at", "index"), [(0.0, 0), (0.9, 0), (1.0, 1), (1.9, 1), (2.0, 1), (9.0, 1)]
)
def test_C11_feedback_says_which_point_is_gone_towards(at: float, index: int) -> None:
    execution = begun(goal(Point(1.0, REST), Point(2.0, AWAY)))
    assert execution.tracking(measured(at=BEGAN + at)).index == index


def test_C11_every_verdict_that_is_bad_has_a_code_of_the_action() -> None:
    good = {Verdict.RUNNING, Verdict.REACHED, Verdict.STALLED, Verdict.SLOWED}
    assert set(FAILURES) == set(Verdict) - good
    assert all(code is not ErrorCode.SUCCESSFUL for _, code in FAILURES.values())


@pytest.mark.parametrize("asked", [goal(), jaws(0.01)], ids=["trajectory", "gripper"])
def test_U17_an_execution_is_made_of_what_json_can_carry_and_back(asked: Goal) -> None:
    execution = begun(asked, measured((0.05, 0.0, 0.0, 0.0))).slowed(BEGAN + 0.5)

    def plain(value: object) -> object:
        if dataclasses.is_dataclass(value):
            return [plain(getattr(value, entry.name)) for entry in dataclasses.fields(value)]
        if isinstance(value, tuple):
            return [plain(entry) for entry in value]
        if isinstance(value, enum.Enum):
            return value.value
        assert value is None or type(value) in (str, int, float, bool), value
        return value

    def back(like: object, value: object) -> object:
        if dataclasses.is_dataclass(like):
            entries = [getattr(like, entry.name) for entry in dataclasses.fields(like)]
            return type(like)(*map(back, entries, value))  # type: ignore[arg-type, operator]
        if isinstance(like, tuple):
            return tuple(map(back, like, value))  # type: ignore[arg-type]
        return type(like)(value) if isinstance(like, enum.Enum) else value

    again = back(execution, json.loads(json.dumps(plain(execution))))
    assert isinstance(again, Execution)
    assert again == execution
    assert again.setpoint(BEGAN + 0.6) == execution.setpoint(BEGAN + 0.6)
