"""Exact moments, words that are said at rest, and what others are told of changes.

Times are numbers of few binary digits: what is exactly at an edge here is so in floats too.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from arbiter_bench import (
    APP,
    BOT,
    CONFIG,
    FORWARD,
    PAD,
    STILL,
    TWIST,
    Bench,
    kinds,
    refused,
    reply,
    report,
    stops,
)
from arbiter_goals import READY, WITH_GOALS, GoalBench, endings, goal, grip, setpoints

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.config import SourceConfig
from reach_alpha5_arbiter.core import MotionArbiter
from reach_alpha5_arbiter.endpoint import EndpointConfig
from reach_alpha5_arbiter.tables import Activity
from reach_alpha5_common.refusal import Problem

EVEN = replace(
    CONFIG,
    repeat_period=0.125,
    setpoint_period=0.0625,
    command_lifetime=0.25,
    sources=tuple(replace(source, heartbeat_timeout=1.0) for source in CONFIG.sources),
)


def bench() -> Bench:
    made = Bench(EVEN)
    assert made.now == 1000.0
    return made


def test_a_command_is_repeated_from_half_its_period_on_and_not_before() -> None:
    jogging = bench()
    jogging.jog()
    jogging.now += 0.046875  # three eighths of the period
    assert not kinds(jogging.hear(events.Tick()))
    jogging.now = 1000.0625
    assert kinds(jogging.hear(events.Tick())) == ["INPUT"]


def test_a_set_point_is_said_from_half_its_period_on_and_not_before() -> None:
    following = GoalBench(replace(EVEN, goal_source=BOT))
    following.ask(goal(seconds=5.0))
    following.now += 0.0234375
    assert not setpoints(following.hear(events.Tick()))
    following.now = 1000.03125
    assert setpoints(following.hear(events.Tick()))


@pytest.mark.parametrize(
    ("lifetime", "later", "cause"),
    [
        (0.125, 0.125, StopCause.LIFETIME_ENDED),
        (0.0, 0.25, StopCause.LAPSED),
    ],
)
def test_rule6_what_ends_at_a_moment_has_ended_then(
    lifetime: float, later: float, cause: StopCause
) -> None:
    jogging = bench()
    jogging.jog(command=replace(FORWARD, lifetime=lifetime))
    jogging.now += later - 0.015625
    assert not stops(jogging.hear(report()))
    jogging.now += 0.015625
    assert stops(jogging.hear(report())) == [cause]


def test_rule6_a_heartbeat_is_over_at_its_time_out() -> None:
    quiet = bench()
    quiet.hear(quiet.beat(PAD))
    quiet.now += 0.984375
    quiet.hear(events.Tick())
    assert quiet.source(PAD).alive
    quiet.now += 0.015625
    quiet.hear(events.Tick())
    assert not quiet.source(PAD).alive


def test_a_hold_up_of_just_as_long_as_words_last_drops_what_waits() -> None:
    waiting = GoalBench(replace(EVEN, goal_source=BOT))
    waiting.alive = [BOT, PAD]
    waiting.arm(PAD)
    waiting.ask(goal(seconds=5.0))
    waiting.now += 0.125
    waiting.hear(waiting.posture(), events.Tick())
    waiting.command(PAD, FORWARD)
    assert waiting.arbiter.state.waiting is not None
    waiting.now += 0.25
    waiting.hear(READY)
    assert waiting.arbiter.state.waiting is None
    assert waiting.source(PAD).neutral_required


def test_rule9_a_lease_that_changes_hands_at_rest_says_no_stop() -> None:
    still = bench()
    still.hear(still.beat(PAD), still.beat(APP))
    assert reply(still.hear(events.Acquire(PAD, still.clients[PAD]))).success
    out = still.hear(events.Acquire(APP, still.clients[APP], take=True))
    assert reply(out).success
    assert not kinds(out)
    out = still.hear(events.Return(APP, still.clients[APP]))
    assert reply(out) == events.Reply(True, "", "returned")
    assert not kinds(out)


def test_rule9_a_source_that_goes_at_rest_says_no_stop() -> None:
    still = bench()
    still.hear(still.beat(PAD))
    still.hear(events.Acquire(PAD, still.clients[PAD]))
    assert not kinds(still.hear(events.SourceGone(PAD)))
    assert still.state.owner == ""


def test_the_answer_to_a_reset_has_no_code() -> None:
    answer = reply(bench().hear(events.Reset()))
    assert (answer.success, answer.code) == (True, "")


def test_C12_a_link_that_says_again_that_it_is_down_disarms_nobody_again() -> None:
    linked = Bench(replace(CONFIG, upstream_timeout=1.0))
    linked.hear(events.UpstreamBeat(True), events.UpstreamBeat(False))
    linked.arm()
    linked.hear(events.UpstreamBeat(False), events.UpstreamBeat(True))
    assert kinds(linked.command(PAD, FORWARD)) == ["INPUT"]


def test_where_joints_are_says_nothing_before_the_driver_does() -> None:
    early = GoalBench()
    arbiter = MotionArbiter(WITH_GOALS)
    assert arbiter.handle(early.posture(), early.now) == []
    assert arbiter.state.posture is None


def test_S3_U12_jaws_stall_only_after_the_driver_has_said_that_it_moves_them() -> None:
    held = GoalBench()
    held.held = True
    out = held.ask(grip(0.010))
    for _ in range(50):
        held.now += 0.02
        out += held.hear(held.beat(BOT), READY, held.posture(), events.Tick())
    assert not stops(out)


def test_S3_a_stall_is_told_by_its_code() -> None:
    held = GoalBench()
    held.ask(grip(0.010))
    held.run(1.0)
    held.held = True
    assert endings(held.run(3.0)) == [("grip", "succeeded", "goal_stalled")]


def changes(outputs: list[events.Output]) -> int:
    return sum(isinstance(out, events.StateChanged) for out in outputs)


def test_others_are_told_of_another_client_and_not_of_two_that_speak_in_turns() -> None:
    told = bench()
    assert changes(told.hear(events.Heartbeat(PAD, "a", True))) == 1
    assert changes(told.hear(events.Heartbeat(PAD, "a", True))) == 0
    assert changes(told.hear(events.Heartbeat(PAD, "b", True))) == 1
    told.now += 0.015625
    assert changes(told.hear(events.Heartbeat(PAD, "a", True))) == 0
    assert changes(told.hear(events.Heartbeat(PAD, "b", True))) == 0
    told.now += 1.0
    told.hear(events.Tick())
    assert changes(told.hear(events.Heartbeat(PAD, "c", True))) == 1
    told.now += 1.0
    told.hear(events.Tick())
    assert changes(told.hear(events.Heartbeat(PAD, "d", False))) == 1


def test_others_are_told_of_a_goal_that_waits_and_that_begins() -> None:
    told = GoalBench()
    told.is_seen = False
    told.run(2.0)
    assert changes(told.hear(events.GoalAsked(goal(starts_in=1.0)))) == 1
    assert changes(told.hear(events.GoalCancelled("goal"))) == 1
    assert changes(told.ask(goal("another"))) >= 1


def test_an_arbiter_that_is_restored_goes_on_as_the_one_it_was() -> None:
    first = Bench()
    first.jog()
    first.command(PAD, replace(FORWARD, speed_modifier=7.0))
    arbiter = first.arbiter
    twin = MotionArbiter.restored(arbiter.config, arbiter.state, arbiter.refusals.contents())
    first.now += 0.05
    heard = [
        first.beat(PAD),
        events.Command(PAD, replace(FORWARD, speed_modifier=7.0), 0, 0),
        events.Command(PAD, STILL, 0, 0),
        events.Reset(),
        report(),
        events.Tick(),
    ]
    for event in heard:
        assert twin.handle(event, first.now) == arbiter.handle(event, first.now)
    assert twin.state == arbiter.state
    assert twin.refusals.counts() == arbiter.refusals.counts()
    twin.handle(events.EStopPress(2, "x", ""), first.now)
    assert not arbiter.state.latches.estop
    assert arbiter.state.motion.activity in (Activity.ENDING, Activity.STILL)


def test_a_command_that_waits_does_not_keep_the_goal_s_source_from_being_refused() -> None:
    waiting = GoalBench()
    waiting.alive = [BOT, PAD]
    waiting.arm(PAD)
    waiting.ask(goal(seconds=5.0))
    waiting.run(0.5)
    waiting.command(PAD, FORWARD)
    assert not refused(waiting.command(BOT, STILL))
    assert waiting.arbiter.state.waiting is not None


def test_an_arbiter_begins_with_nothing_said_and_nobody_heard() -> None:
    fresh = MotionArbiter(CONFIG).snapshot(0.0)
    assert (fresh.stops, fresh.lease_epoch, fresh.owner) == (0, 0, "")
    assert fresh.last_stop_cause is None
    assert fresh.refusals == ()
    assert not fresh.stream.is_open
    assert fresh.stream.closed_because == ""
    assert fresh.goal.phase == 0


@pytest.mark.parametrize(
    "time",
    [
        *("repeat_period", "setpoint_period", "command_lifetime", "driver_timeout"),
        *("stop_confirm_timeout", "stream_idle_timeout", "max_twist_lifetime"),
    ],
)
def test_a_time_of_none_at_all_is_refused(time: str) -> None:
    with pytest.raises(ValueError, match=time):
        replace(CONFIG, **{time: 0.0})


@pytest.mark.parametrize("time", ["max_future", "ease_time", "upstream_timeout"])
def test_a_time_that_may_be_none_may_not_be_less(time: str) -> None:
    assert getattr(replace(CONFIG, **{time: 0.0}), time) == 0.0
    with pytest.raises(ValueError, match=time):
        replace(CONFIG, **{time: -0.001})


def test_two_endpoints_of_one_name_and_a_source_without_time_are_refused() -> None:
    box = EndpointConfig("box")
    with pytest.raises(ValueError, match="twice"):
        replace(CONFIG, endpoints=(box, box))
    with pytest.raises(ValueError, match="pad"):
        SourceConfig("pad", heartbeat_timeout=0.0)
    with pytest.raises(ValueError, match="pad"):
        SourceConfig("pad", idle_release=float("inf"))


def test_what_is_no_event_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="no event"):
        MotionArbiter(CONFIG).handle("no event", 0.0)  # type: ignore[arg-type]


def test_rule7_a_planner_that_dies_while_its_goal_gives_way_stops_the_arm_at_once() -> None:
    giving = GoalBench()
    giving.alive = [BOT, PAD]
    giving.arm(PAD)
    giving.ask(goal(seconds=5.0))
    giving.run(0.5)
    giving.command(PAD, FORWARD)
    assert giving.state.activity is Activity.SLOWING
    out = giving.hear(events.SourceGone(BOT))
    assert stops(out) == [StopCause.SOURCE_GONE]
    assert giving.state.owner == PAD
    giving.alive = [PAD]
    assert "INPUT" in kinds(giving.run(0.5))


def test_rule3_an_armed_source_that_opens_a_stream_must_be_neutral_on_it_first() -> None:
    opening = Bench(WITH_GOALS)
    opening.arm(BOT)
    assert reply(opening.hear(events.OpenStream(BOT, opening.clients[BOT], 2))).success
    assert refused(opening.command(BOT, TWIST)) == ["neutral_required"]


def test_a_neutral_that_is_said_while_the_driver_is_not_ready_counts_when_it_is() -> None:
    waiting = Bench()
    unpowered = report(powered=False)
    waiting.hear(unpowered)
    waiting.arm()
    waiting.hear(unpowered, report())
    assert kinds(waiting.command(PAD, FORWARD)) == ["INPUT"]


def test_a_goal_that_is_vetoed_or_cancelled_has_the_code_of_the_action_for_neither_fault() -> None:
    asking = GoalBench()
    out = asking.ask(goal("vetoed"), Problem("target_refused", "no"))
    asking.ask(goal("cancelled", seconds=5.0))
    asking.run(0.2)
    out += asking.hear(events.GoalCancelled("cancelled")) + asking.run(1.0)
    errors = {out.goal_id: out.ending.error for out in out if isinstance(out, events.GoalEnded)}
    assert errors == {"vetoed": -1, "cancelled": -1}


def test_set_points_as_rare_as_repetitions_are_in_order() -> None:
    even = replace(CONFIG, setpoint_period=CONFIG.repeat_period)
    assert even.setpoint_period == even.repeat_period


def test_rule10_who_asks_for_a_held_lease_as_somebody_else_is_told_so() -> None:
    held = Bench()
    held.jog()
    held.hear(held.beat(APP))
    assert reply(held.hear(events.Acquire(APP, "somebody else"))).code == "wrong_client"


def test_rule9_a_driver_that_is_lost_after_the_stop_is_not_told_to_stop_again() -> None:
    lost = Bench()
    lost.jog()
    lost.command(PAD, STILL)
    lost.hear(events.EStopPress(2, "diver", ""))
    out = []
    for _ in range(12):
        lost.now += 0.05
        out += lost.hear(lost.beat(PAD), events.Tick())
    assert not lost.state.driver_connected
    assert not stops(out)


def test_R3_a_stream_that_ends_by_a_hold_up_says_so() -> None:
    held = Bench(WITH_GOALS)
    held.hear(held.beat(BOT))
    held.hear(events.OpenStream(BOT, held.clients[BOT], 2))
    held.command(BOT, replace(TWIST, linear=(0.0, 0.0, 0.0)))
    assert kinds(held.command(BOT, replace(TWIST, lifetime=1.0))) == ["TWIST"]
    held.now += 0.3
    assert stops(held.hear(report())) == [StopCause.LAPSED]
    assert held.state.stream.closed_because == "lapsed"
