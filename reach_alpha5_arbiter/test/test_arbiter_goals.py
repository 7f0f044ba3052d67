"""Goals through the core: taken, followed, watched, slowed, ended (rule 5, C6, C11, U12)."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from arbiter_bench import APP, BOT, FORWARD, NONSENSE, PAD, POSE, STILL, kinds, refused, stops
from arbiter_goals import (
    ARM,
    AWAY,
    EXECUTING,
    HOME,
    JOINTS,
    PERIOD,
    READY,
    WITH_GOALS,
    GoalBench,
    endings,
    goal,
    grip,
    hold,
    setpoints,
)

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.errand import GoalPhase
from reach_alpha5_arbiter.tables import Activity
from reach_alpha5_arbiter.trajectory import ErrorCode, Goal
from reach_alpha5_common.refusal import Problem


@pytest.fixture
def bench() -> GoalBench:
    return GoalBench()


def activity(bench: GoalBench) -> Activity:
    return bench.state.activity


def test_C11_a_goal_is_followed_to_its_end_and_ends_when_its_motion_has(bench: GoalBench) -> None:
    begun = bench.ask(goal())
    assert bench.state.owner == BOT
    (first,) = setpoints(begun)
    assert first.joint_names == ARM
    assert first.positions == pytest.approx(HOME[:4])
    assert first.velocities == (0.0,) * 4
    out = bench.run(0.9)
    assert not stops(out)
    assert not endings(out)
    assert bench.state.goal.phase is GoalPhase.RUNNING
    said = [setpoint.positions[0] for setpoint in setpoints(out)]
    assert all(before <= after for before, after in itertools.pairwise(said))
    out = bench.run(1.0)
    assert stops(out) == [StopCause.GOAL_REACHED]
    assert endings(out) == [("goal", "succeeded", "goal_reached")]
    assert activity(bench) is Activity.STILL
    assert tuple(bench.positions[name] for name in ARM) == pytest.approx(AWAY)
    stopped, ended = (
        next(
            place for place, output in enumerate(out) if isinstance(output, kind) and test(output)
        )
        for kind, test in (
            (events.Send, lambda output: output.cause is StopCause.GOAL_REACHED),
            (events.GoalEnded, lambda output: True),
        )
    )
    assert stopped < ended
    assert bench.state.goal.phase is GoalPhase.SUCCEEDED


def test_rule12_no_set_point_outlives_the_watchdog_of_its_source(bench: GoalBench) -> None:
    bench.alive = []
    bench.ask(goal(seconds=10.0))
    lapses = bench.now + 1.0
    out = []
    while activity(bench) is Activity.TRAJECTORY:
        said = bench.run(PERIOD)
        out += said
        for output in said:
            if isinstance(output, events.Send) and output.command.joint.joint_names:
                assert 0.0 < output.command.lifetime <= 0.25
                assert bench.now + output.command.lifetime <= lapses + 1e-9
    assert stops(out) == [StopCause.SOURCE_SILENT]


def test_a_planner_that_dies_stops_the_arm_at_once_and_its_goal_is_aborted(
    bench: GoalBench,
) -> None:
    bench.ask(goal(seconds=5.0))
    bench.run(1.0)
    out = bench.hear(events.SourceGone(BOT))
    assert stops(out) == [StopCause.SOURCE_GONE]
    assert bench.state.owner == ""
    bench.alive = []
    assert endings(bench.run(0.3)) == [("goal", "aborted", "source_gone")]


def test_rule3_a_goal_needs_an_armed_source_and_a_hold_arms_it(bench: GoalBench) -> None:
    bench.hear(events.EStopPress(2, "diver", ""), events.Reset())
    out = bench.ask(goal())
    assert refused(out) == ["neutral_required"]
    assert endings(out) == [("goal", "aborted", "neutral_required")]
    assert endings(bench.ask(hold())) == [("hold", "succeeded", "goal_reached")]
    assert setpoints(bench.ask(goal("second")))


def test_rule10_a_refused_goal_changes_nothing_of_the_one_that_runs(bench: GoalBench) -> None:
    bench.ask(goal(seconds=5.0))
    out = bench.ask(replace(goal("short"), joint_names=ARM[:2]))
    assert endings(out) == [("short", "aborted", "partial_goal")]
    (ended,) = (output for output in out if isinstance(output, events.GoalEnded))
    assert ended.ending.error is ErrorCode.INVALID_JOINTS
    assert bench.state.refusals[0].source == BOT
    assert not stops(out)
    assert setpoints(bench.run(0.1))


@pytest.mark.parametrize(
    ("before", "code"),
    [
        (events.EStopPress(1, "diver", ""), "estop_latched"),
        (replace(READY, state=4), "fault_latched"),
        (replace(READY, powered=False), "arm_unpowered"),
        (replace(READY, active=False), "driver_inactive"),
        (events.SourceGone(BOT), "source_not_alive"),
    ],
)
def test_U15_a_goal_meets_what_a_command_meets(
    bench: GoalBench, before: events.Event, code: str
) -> None:
    bench.hear(before)
    out = bench.ask(goal())
    assert refused(out) == [code]
    assert not setpoints(out)


def test_rule4_automation_does_not_take_the_arm_from_whoever_holds_it(bench: GoalBench) -> None:
    bench.jog(PAD)
    out = bench.ask(goal())
    assert endings(out) == [("goal", "aborted", "lease_held")]
    assert bench.state.owner == PAD
    assert bench.is_moving()


def test_goals_of_another_source_are_refused(bench: GoalBench) -> None:
    bench.arm(APP)
    out = bench.ask(replace(goal(), source=APP))
    assert endings(out) == [("goal", "aborted", "not_goal_source")]


def test_C12_a_check_of_ones_own_refuses_a_goal(bench: GoalBench) -> None:
    out = bench.ask(goal(), Problem("target_refused", "it would touch the hull"))
    assert endings(out) == [("goal", "aborted", "target_refused")]
    assert not setpoints(out)


# ---- how it ends -------------------------------------------------------------------------------


def test_C11_cancelling_slows_down_along_the_path_and_then_stops(bench: GoalBench) -> None:
    bench.ask(goal(seconds=2.0))
    before = setpoints(bench.run(1.0))[-1]
    out = bench.hear(events.GoalCancelled("goal"))
    assert not stops(out)
    assert bench.state.goal.phase is GoalPhase.SLOWING
    out = bench.run(1.0)
    assert stops(out) == [StopCause.GOAL_CANCELED]
    assert endings(out) == [("goal", "canceled", "goal_canceled")]
    said = setpoints(out)
    speeds = [before.velocities[0], *(setpoint.velocities[0] for setpoint in said)]
    assert all(after < before for before, after in itertools.pairwise(speeds))
    assert 0.1 < len(said) * PERIOD <= 0.3 + PERIOD
    # The path of this goal is a line in joint space: all joints are as far along it.
    for setpoint in said:
        ways = [
            (position - start) / (end - start)
            for position, start, end in zip(setpoint.positions, HOME, AWAY, strict=False)
        ]
        assert ways == pytest.approx([ways[0]] * 4)
        assert ways[0] < 1.0


def test_C6_a_newer_goal_begins_when_the_older_one_has_really_ended(bench: GoalBench) -> None:
    bench.ask(goal(seconds=2.0))
    bench.run(1.0)
    out = bench.ask(goal("newer", to=HOME[:4]))
    assert not endings(out)
    out += bench.run(0.6)
    assert endings(out) == [("goal", "aborted", "replaced")]
    ended = next(i for i, output in enumerate(out) if isinstance(output, events.GoalEnded))
    stopped = next(
        i for i, output in enumerate(out) if getattr(output, "cause", None) is StopCause.REPLACED
    )
    begins = setpoints(out[ended:])[0]
    assert stopped < ended
    assert begins.velocities == (0.0,) * 4
    assert not setpoints(out[stopped:ended])
    assert bench.state.goal.id == "newer"
    assert endings(bench.run(2.0)) == [("newer", "succeeded", "goal_reached")]


def test_C6_of_three_goals_the_one_in_the_middle_never_begins(bench: GoalBench) -> None:
    bench.ask(goal(seconds=2.0))
    bench.run(0.5)
    out = bench.ask(goal("middle")) + bench.ask(goal("last"))
    assert endings(out) == [("middle", "aborted", "replaced")]
    out = bench.run(3.0)
    assert [name for name, _, _ in endings(out)] == ["goal", "last"]


def test_rule5_U16_a_person_preempts_a_goal_and_moves_when_it_has_really_ended(
    bench: GoalBench,
) -> None:
    bench.alive = [BOT, PAD]
    bench.arm(PAD)
    bench.ask(goal(seconds=5.0))
    bench.run(1.0)
    out = bench.command(PAD, FORWARD)
    assert not refused(out)
    assert bench.state.owner == PAD
    assert activity(bench) is Activity.SLOWING
    assert kinds(out) == []
    out = bench.run(0.7)
    words = kinds(out)
    stop, first = words.index("STOP"), words.index("INPUT")
    assert set(words[:stop]) == {"JOINT"}
    assert stop < first
    assert set(words[first:]) == {"INPUT"}
    assert stops(out) == [StopCause.PREEMPTED]
    ended = next(i for i, output in enumerate(out) if isinstance(output, events.GoalEnded))
    assert "INPUT" not in kinds(out[:ended])
    assert endings(out) == [("goal", "aborted", "preempted")]
    assert bench.is_moving()
    # The planner must show that it does not go on by itself.
    bench.command(PAD, STILL)
    bench.hear(events.Return(PAD, f"{PAD}-1"))
    bench.run(1.0)
    assert endings(bench.ask(goal("again"))) == [("again", "aborted", "neutral_required")]


def test_rule5_letting_go_while_the_goal_slows_down_drops_what_waits(bench: GoalBench) -> None:
    bench.alive = [BOT, PAD]
    bench.arm(PAD)
    bench.ask(goal(seconds=5.0))
    bench.run(1.0)
    bench.command(PAD, FORWARD)
    bench.run(0.1)
    bench.command(PAD, STILL)
    words = kinds(bench.run(1.0))
    assert "INPUT" not in words
    assert words.count("STOP") == 1
    assert activity(bench) is Activity.STILL


@pytest.mark.parametrize(
    "ends",
    [
        events.EStopPress(2, "diver", ""),
        events.SourceGone(PAD),
        events.Heartbeat(PAD, f"{PAD}-1", False),
        events.Reset(),
        replace(READY, powered=False),
        events.Command(PAD, NONSENSE, 0, 0),
    ],
)
def test_what_disarms_drops_what_waits(bench: GoalBench, ends: events.Event) -> None:
    bench.alive = [BOT]
    bench.arm(PAD)
    bench.ask(goal(seconds=5.0))
    bench.run(0.2)
    bench.command(PAD, FORWARD)
    bench.hear(ends, READY)
    assert "INPUT" not in kinds(bench.run(3.0))


def test_rule5_a_person_who_is_not_armed_preempts_nothing(bench: GoalBench) -> None:
    bench.hear(bench.beat(PAD))
    bench.ask(goal(seconds=5.0))
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]
    assert bench.state.owner == BOT
    assert activity(bench) is Activity.TRAJECTORY


def test_the_planner_s_own_command_replaces_its_goal(bench: GoalBench) -> None:
    bench.ask(goal(seconds=5.0))
    bench.run(0.5)
    bench.command(BOT, POSE)
    out = bench.run(1.0)
    assert endings(out) == [("goal", "aborted", "replaced")]
    assert kinds(out)[-1] == "INPUT"


def test_a_neutral_of_the_planner_ends_its_goal_along_its_path(bench: GoalBench) -> None:
    bench.ask(goal(seconds=5.0))
    bench.run(0.5)
    bench.command(BOT, STILL)
    assert activity(bench) is Activity.SLOWING
    assert endings(bench.run(1.0)) == [("goal", "aborted", "neutral")]


def test_a_hold_ends_what_runs_and_succeeds_when_the_arm_rests(bench: GoalBench) -> None:
    bench.ask(goal(seconds=5.0))
    bench.run(0.5)
    out = bench.ask(hold())
    assert not endings(out)
    assert endings(bench.run(1.0)) == [
        ("goal", "aborted", "replaced"),
        ("hold", "succeeded", "goal_reached"),
    ]


@pytest.mark.parametrize(
    ("event", "cause"),
    [
        (events.EStopPress(2, "diver", ""), StopCause.ESTOP),
        (events.Reset(), StopCause.RESET),
        (replace(EXECUTING, state=4), StopCause.FAULT),
        (replace(EXECUTING, state=0), StopCause.ARM_DISCONNECTED),
        (replace(EXECUTING, powered=False), StopCause.ARM_UNPOWERED),
        (replace(EXECUTING, holds=("no_guard",)), StopCause.ARM_HELD),
        (events.SourceGone(BOT), StopCause.SOURCE_GONE),
        (events.Heartbeat(BOT, f"{BOT}-1", False), StopCause.SOURCE_GONE),
        (events.Heartbeat(BOT, "another", True), StopCause.TWO_CLIENTS),
        (events.Return(BOT, f"{BOT}-1"), StopCause.LEASE_RETURNED),
        (events.Acquire(APP, f"{APP}-1", take=True), StopCause.LEASE_TAKEN),
        (events.Command(BOT, NONSENSE, 0, 0), StopCause.COMMAND_REFUSED),
        (events.Shutdown(), StopCause.SHUTDOWN),
    ],
)
@pytest.mark.parametrize("slowing", [False, True])
def test_rule1_whatever_else_ends_a_goal_ends_it_at_once(
    bench: GoalBench, event: events.Event, cause: StopCause, slowing: bool
) -> None:
    bench.alive = [BOT, APP]
    bench.ask(goal(seconds=5.0))
    bench.run(1.0)
    if slowing:
        bench.hear(events.GoalCancelled("goal"))
        bench.run(PERIOD)
    out = bench.hear(event)
    assert stops(out) == [cause]
    assert not any(output.command.lifetime for output in out if isinstance(output, events.Send))
    assert not setpoints(bench.run(1.0))


def test_a_goal_whose_joints_leave_the_path_is_stopped_and_says_so(bench: GoalBench) -> None:
    bench.ask(goal(seconds=2.0, path=0.1))
    bench.run(0.2)
    bench.held = True
    out = bench.run(2.0)
    assert stops(out)[0] is StopCause.PATH_LEFT
    (ended,) = (output for output in out if isinstance(output, events.GoalEnded))
    assert ended.ending.error is ErrorCode.PATH_TOLERANCE_VIOLATED
    assert "axis_" in ended.ending.text


def test_a_goal_that_does_not_arrive_in_time_is_stopped_and_says_so(bench: GoalBench) -> None:
    wanted = replace(goal(), path_tolerances=(float("inf"),) * 4, goal_time_tolerance=0.5)
    bench.ask(wanted)
    bench.held = True
    out = bench.run(1.4)
    assert not stops(out)
    out = bench.run(0.5)
    assert stops(out) == [StopCause.GOAL_MISSED]
    (ended,) = (output for output in out if isinstance(output, events.GoalEnded))
    assert ended.ending.error is ErrorCode.GOAL_TOLERANCE_VIOLATED


def test_a_goal_without_feedback_is_stopped(bench: GoalBench) -> None:
    bench.ask(goal(seconds=5.0))
    bench.run(0.5)
    bench.is_seen = False
    out = bench.run(1.0)
    assert stops(out) == [StopCause.NO_FEEDBACK]
    assert endings(out) == [("goal", "aborted", "no_feedback")]


def test_a_goal_does_not_begin_before_the_joints_are_seen(bench: GoalBench) -> None:
    bench.is_seen = False
    bench.run(2.0)
    out = bench.hear(events.GoalAsked(goal()))
    assert not setpoints(out)
    assert bench.state.goal.phase is GoalPhase.WAITING
    bench.is_seen = True
    assert setpoints(bench.run(0.1))
    other = GoalBench()
    other.is_seen = False
    other.run(2.0)
    out = other.hear(events.GoalAsked(goal()))
    assert endings(out + other.run(1.0)) == [("goal", "aborted", "no_feedback")]
    assert other.state.owner == BOT


def test_U17_a_goal_begins_where_the_arm_is_measured(bench: GoalBench) -> None:
    bench.ask(goal(seconds=2.0))
    bench.run(1.0)
    bench.hear(events.GoalCancelled("goal"))
    bench.run(1.0)
    bench.positions["axis_e"] += 0.05  # a current has moved it
    (first,) = setpoints(bench.ask(goal("again")))
    assert first.positions[0] == pytest.approx(bench.positions["axis_e"])


def test_a_stamped_start_is_waited_for_without_losing_the_lease(bench: GoalBench) -> None:
    out = bench.ask(goal(starts_in=5.0)) + bench.run(4.9)
    assert not setpoints(out)
    assert bench.state.owner == BOT
    assert bench.state.goal.phase is GoalPhase.WAITING
    assert setpoints(bench.run(0.2))


def test_a_goal_that_waits_can_be_cancelled(bench: GoalBench) -> None:
    bench.ask(goal(starts_in=5.0))
    out = bench.hear(events.GoalCancelled("goal"))
    assert endings(out) == [("goal", "canceled", "goal_canceled")]
    assert not setpoints(bench.run(6.0))
    assert bench.state.owner == ""


def test_U12_a_success_that_something_comes_between_is_none(bench: GoalBench) -> None:
    bench.ask(goal())
    while activity(bench) is not Activity.CONCLUDING:
        bench.run(PERIOD)
    assert endings(bench.hear(events.EStopPress(2, "diver", ""))) == []
    assert endings(bench.run(1.0)) == [("goal", "aborted", "estop")]


def test_U12_a_success_whose_stop_is_not_confirmed_is_none(bench: GoalBench) -> None:
    bench.ask(goal())
    while activity(bench) is not Activity.CONCLUDING:
        bench.run(PERIOD)
    out = []
    for _ in range(60):
        bench.now += 0.05
        out += bench.hear(bench.beat(BOT), EXECUTING, events.JointFeedback(False), events.Tick())
    assert endings(out) == [("goal", "aborted", "stop_unconfirmed")]
    assert bench.state.fault_latched


def test_a_driver_that_does_not_obey_set_points_ends_the_goal(bench: GoalBench) -> None:
    bench.ask(goal(seconds=5.0))
    out = []
    for _ in range(20):
        bench.now += 0.05
        idle = replace(READY, state=1)
        out += bench.hear(bench.beat(BOT), idle, bench.posture(), events.Tick())
    assert stops(out)[0] is StopCause.DRIVER_IDLE


def test_the_lease_of_a_goal_that_ended_is_released_by_idleness(bench: GoalBench) -> None:
    bench.ask(goal())
    bench.run(2.0)
    assert bench.state.owner == BOT
    bench.run(3.1)
    assert bench.state.owner == ""


# ---- what a hostile reader found ----------------------------------------------------------------


def test_rule11_nothing_is_said_after_the_last_stop_and_open_goals_have_ended(
    bench: GoalBench,
) -> None:
    bench.ask(goal(starts_in=0.1))
    bench.now += 0.11
    out = bench.hear(events.Shutdown())
    assert kinds(out) == ["STOP"]
    assert endings(out) == [("goal", "aborted", "shutdown")]
    other = GoalBench()
    other.ask(goal(seconds=5.0))
    other.run(0.5)
    out = other.hear(events.Shutdown())
    assert kinds(out) == ["STOP"]
    assert endings(out) == [("goal", "aborted", "shutdown")]


def test_a_gripper_goal_moves_the_jaws_in_whatever_order_joints_are_measured(
    bench: GoalBench,
) -> None:
    seen = bench.posture().posture
    turned = replace(
        seen,
        joint_names=seen.joint_names[::-1],
        positions=seen.positions[::-1],
        velocities=seen.velocities[::-1],
    )
    (first,) = setpoints(bench.hear(events.PostureSeen(turned), events.GoalAsked(grip(0.008))))
    assert first.joint_names == ("axis_a",)
    assert first.positions == pytest.approx((HOME[4],))


def test_a_posture_without_a_joint_of_the_arm_tells_nothing(bench: GoalBench) -> None:
    bench.ask(goal(seconds=5.0))
    bench.run(0.2)
    seen = bench.posture().posture
    partial = replace(
        seen,
        joint_names=seen.joint_names[1:],
        positions=seen.positions[1:],
        velocities=seen.velocities[1:],
    )
    assert not stops(bench.hear(events.PostureSeen(partial)))
    assert bench.arbiter.state.posture.joint_names == JOINTS


def test_rule4_one_person_does_not_preempt_another(bench: GoalBench) -> None:
    bench.alive = [BOT, PAD, APP]
    bench.arm(PAD)
    bench.arm(APP)
    bench.ask(goal(seconds=5.0))
    bench.run(0.5)
    bench.command(PAD, FORWARD)
    assert refused(bench.command(APP, FORWARD)) == ["not_owner"]
    assert bench.state.owner == PAD


def test_U16_a_person_takes_the_arm_between_two_goals_as_well(bench: GoalBench) -> None:
    bench.alive = [BOT, PAD]
    bench.arm(PAD)
    bench.ask(goal())
    bench.run(2.0)
    assert bench.state.owner == BOT
    assert kinds(bench.command(PAD, FORWARD)) == ["INPUT"]
    assert endings(bench.ask(goal("next"))) == [("next", "aborted", "lease_held")]


@pytest.mark.parametrize("phase", [Activity.SLOWING, Activity.CONCLUDING])
def test_rule3_a_command_that_waits_does_not_outlast_a_hold_up_of_the_arbiter(
    bench: GoalBench, phase: Activity
) -> None:
    bench.alive = [BOT, PAD]
    bench.arm(PAD)
    bench.ask(goal(seconds=5.0))
    bench.run(0.5)
    bench.command(PAD, FORWARD)
    while activity(bench) is not phase:
        bench.now += PERIOD
        bench.hear(bench.beat(PAD), bench.beat(BOT), EXECUTING, bench.posture(), events.Tick())
    bench.now += 0.3
    words = kinds(bench.hear(bench.beat(PAD), READY) + bench.run(1.0))
    assert "INPUT" not in words
    assert "TWIST" not in words


def test_U17_a_goal_does_not_begin_at_a_posture_from_before_the_rest(bench: GoalBench) -> None:
    bench.ask(goal("first"))
    bench.run(0.5)
    old = bench.posture()
    bench.hear(old, events.GoalCancelled("first"))
    bench.is_seen = False
    while activity(bench) is not Activity.STILL:
        bench.run(PERIOD)
    out = bench.hear(events.GoalAsked(goal("second")))
    assert not setpoints(out)
    bench.is_seen = True
    out = bench.run(0.1)
    assert setpoints(out)[0].positions == pytest.approx(
        [bench.arbiter.state.errand.execution.path.points[0].positions[k] for k in range(4)]
    )


@pytest.mark.parametrize("number", [1e308, -1e300, 1001.0])
def test_rule10_numbers_that_no_arm_has_are_refused(bench: GoalBench, number: float) -> None:
    out = bench.ask(goal(to=(number, 1.0, 1.0, 0.0)))
    assert endings(out) == [("goal", "aborted", "out_of_range")]
    assert endings(bench.ask(grip(number))) == [("grip", "aborted", "out_of_range")]


@pytest.mark.parametrize("phase", [0.0, 0.03, 0.05, 0.09])
def test_U12_jaws_that_nothing_moves_have_not_stalled(bench: GoalBench, phase: float) -> None:
    idle = replace(READY, state=1)
    bench.held = True
    out = bench.ask(grip(0.010))
    bench.now += phase
    for step in range(60):
        bench.now += PERIOD
        out += bench.hear(bench.posture(), events.Tick())
        if step % 5 == 3:
            out += bench.hear(bench.beat(BOT), idle, events.JointFeedback(True))
    assert endings(out) == [("grip", "aborted", "driver_idle")]


def test_U12_a_cancelled_goal_whose_arm_moves_on_is_none_that_was_cancelled(
    bench: GoalBench,
) -> None:
    bench.ask(goal(seconds=5.0))
    bench.run(0.5)
    bench.hear(events.GoalCancelled("goal"))
    out = []
    for _ in range(60):
        bench.now += 0.05
        out += bench.hear(bench.beat(BOT), EXECUTING, bench.posture())
        out += bench.hear(events.JointFeedback(False), events.Tick())
    assert endings(out) == [("goal", "aborted", "stop_unconfirmed")]


def test_the_first_reason_is_told_also_when_rest_is_not_confirmed(bench: GoalBench) -> None:
    bench.ask(goal(seconds=5.0))
    bench.run(0.5)
    out = []
    for _ in range(60):  # the driver is dead
        bench.now += 0.05
        out += bench.hear(bench.beat(BOT), events.Tick())
    assert [code for _, _, code in endings(out)] == ["driver_lost"]


def test_U12_a_hold_of_who_does_not_have_the_arm_holds_nothing(bench: GoalBench) -> None:
    bench.jog(PAD)
    assert endings(bench.ask(hold())) == [("hold", "aborted", "not_owner")]
    assert bench.is_moving()


def test_a_hold_is_now_whatever_its_stamp_says(bench: GoalBench) -> None:
    bench.ask(goal(seconds=5.0))
    bench.run(0.5)
    bench.ask(replace(hold(), starts_in=2e9))
    assert ("hold", "succeeded", "goal_reached") in endings(bench.run(1.0))


# ---- jaws --------------------------------------------------------------------------------------


def test_a_gripper_goal_moves_the_jaws_alone(bench: GoalBench) -> None:
    out = bench.ask(grip(0.010)) + bench.run(4.0)
    assert endings(out) == [("grip", "succeeded", "goal_reached")]
    assert {setpoint.joint_names for setpoint in setpoints(out)} == {("axis_a",)}
    assert bench.positions["axis_a"] == pytest.approx(0.010, abs=1e-4)


def test_S3_jaws_that_meet_something_succeed_as_stalled(bench: GoalBench) -> None:
    bench.ask(grip(0.010))
    bench.run(1.0)
    bench.held = True
    out = bench.run(3.0)
    assert stops(out)[0] is StopCause.GOAL_STALLED
    (ended,) = (output for output in out if isinstance(output, events.GoalEnded))
    assert ended.ending.stalled
    assert ended.ending.outcome.value == "succeeded"
    assert ended.posture is not None
    assert dict(zip(JOINTS, ended.posture.positions, strict=True))["axis_a"] < 0.010


def test_goals_are_refused_where_no_source_has_them() -> None:
    bench = GoalBench(replace(WITH_GOALS, goal_source=""))
    nobody: Goal = replace(goal(), source="")
    assert endings(bench.ask(nobody)) == [("goal", "aborted", "not_goal_source")]
    assert endings(bench.ask(goal())) == [("goal", "aborted", "not_goal_source")]
