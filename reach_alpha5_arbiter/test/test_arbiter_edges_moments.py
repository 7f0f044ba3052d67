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
from reach_alpha5_arbiter.core import MotionArbiter
from reach_alpha5_arbiter.tables import Activity

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
    assert not endings(out)


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
