"""What the arbiter shows of itself: told at each change, and right in its numbers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from arbiter_bench import BOT, CONFIG, FORWARD, PAD, STILL, Bench, report
from arbiter_goals import AWAY, GoalBench, goal

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.driver import ArmCondition
from reach_alpha5_arbiter.endpoint import EndpointConfig, answer_to
from reach_alpha5_arbiter.errand import GoalPhase
from reach_alpha5_arbiter.stream import StreamKind
from reach_alpha5_common.command import StopLevel

CUT = events.EStopPress(StopLevel.CUT, "pilot", "")
ACQUIRE = events.Acquire(BOT, "autonomy-1")
OPEN = events.OpenStream(BOT, "autonomy-1", StreamKind.TWIST)
EMO = report(emo=True, emo_level=1, epoch=1)
DEAF = report(ArmCondition.MAJOR_FAULT, active=False)


def told(outputs: list[events.Output]) -> bool:
    return any(isinstance(each, events.StateChanged) for each in outputs)


@pytest.mark.parametrize(
    ("before", "event"),
    [
        pytest.param((CUT,), events.Reset(), id="latches"),
        pytest.param((), report(powered=False), id="standing of the driver"),
        pytest.param((EMO, events.Reset()), replace(EMO, emo_level=2), id="its e-stop level"),
        pytest.param((DEAF, events.Reset()), report(active=False), id="its fault"),
        pytest.param((CUT,), CUT, id="a stop more"),
        pytest.param((), events.Heartbeat(PAD, "a", False), id="a source"),
        pytest.param(
            (events.Heartbeat(BOT, "autonomy-1", True), OPEN), events.Reset(), id="the stream"
        ),
    ],
)
def test_each_change_that_others_see_is_told(
    before: tuple[events.Event, ...], event: events.Event
) -> None:
    bench = Bench()
    bench.hear(*before)
    assert told(bench.hear(event))


def test_that_a_source_is_armed_is_told() -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD))
    assert told(bench.command(PAD, STILL))


def test_nothing_is_told_when_only_time_passes() -> None:
    bench = Bench()
    bench.arm()
    bench.now += 0.05
    assert not told(bench.hear(bench.beat(PAD), report(), events.Tick()))


def test_the_release_of_an_idle_lease_is_told() -> None:
    bench = Bench()
    bench.hear(bench.beat(BOT), ACQUIRE)
    assert bench.state.owner == BOT
    assert told(bench.wait(3.1, [BOT]))
    assert bench.state.owner == ""


def test_the_end_of_a_motion_is_told() -> None:
    bench = Bench()
    bench.jog()
    bench.command(PAD, STILL)
    bench.hear(report())
    assert told(bench.hear(events.JointFeedback(True)))


def test_what_an_endpoint_says_is_told() -> None:
    bench = Bench(replace(CONFIG, endpoints=(EndpointConfig("bridge"),)))

    def check_in(level: int) -> list[events.Output]:
        (asked,) = (e for e in bench.hear(events.Tick()) if isinstance(e, events.Challenge))
        bench.now += 0.25
        number = asked.challenge
        return bench.hear(report(), events.CheckIn("bridge", number, answer_to(number), level, ""))

    assert told(check_in(0))
    assert told(check_in(StopLevel.CUT))
    assert bench.state.endpoints[0].stands_for is StopLevel.CUT
    assert told(check_in(StopLevel.SETTLE_THEN_CUT))
    assert bench.state.endpoints[0].stands_for is StopLevel.SETTLE_THEN_CUT


def test_C12_the_upstream_link_is_shown_as_it_comes_and_goes() -> None:
    bench = Bench(replace(CONFIG, upstream_timeout=0.5))
    assert told(bench.hear(events.UpstreamBeat(True)))
    assert not bench.state.upstream_lost
    assert told(bench.hear(events.UpstreamGone()))
    assert bench.state.upstream_lost


def test_a_goal_that_waits_is_told_and_one_that_was_refused_is_shown() -> None:
    bench = GoalBench()
    bench.hear(bench.posture(), ACQUIRE)
    bench.command(BOT, STILL)
    assert told(bench.hear(events.GoalAsked(goal("later", starts_in=1.0))))
    assert (bench.state.goal.id, bench.state.goal.phase) == ("later", GoalPhase.WAITING)
    bench = GoalBench()
    bench.hear(events.GoalAsked(replace(goal("bad"), source=PAD)))
    shown = bench.state.goal
    assert (shown.id, shown.phase, shown.code) == ("bad", GoalPhase.ABORTED, "not_goal_source")


def test_a_goal_is_shown_with_how_far_it_is_until_it_has_ended() -> None:
    bench = GoalBench()
    assert bench.state.goal.phase is GoalPhase.NONE
    bench.ask(goal(to=AWAY, seconds=1.0))
    bench.run(0.4)
    shown = bench.state.goal
    assert (shown.phase, shown.action, shown.source) == (
        GoalPhase.RUNNING,
        "follow_joint_trajectory",
        BOT,
    )
    assert (shown.elapsed, shown.duration) == (pytest.approx(0.4), 1.0)
    bench.hear(events.GoalCancelled("goal"))
    assert bench.state.goal.phase is GoalPhase.SLOWING
    bench.hear(CUT)
    assert bench.state.goal.phase is GoalPhase.ENDING
    bench.run(0.2)
    shown = bench.state.goal
    assert (shown.phase, shown.code) == (GoalPhase.CANCELED, "goal_canceled")
    assert math.isnan(shown.elapsed)
    assert math.isnan(shown.duration)


def test_ages_and_counts_are_those_of_what_was_heard() -> None:
    bench = Bench()
    shown = bench.source(PAD)
    assert math.isnan(shown.heartbeat_age)
    assert math.isnan(shown.command_age)
    assert (shown.present, shown.alive, shown.client_id, shown.clients) == (False, False, "", 0)
    bench.hear(bench.beat(PAD, present=False))
    assert (bench.source(PAD).present, bench.source(PAD).alive) == (False, True)
    bench.hear(bench.beat(PAD))
    bench.now += 0.25
    bench.command(PAD, FORWARD)
    bench.now += 0.125
    shown = bench.source(PAD)
    assert (shown.heartbeat_age, shown.command_age) == (0.375, 0.125)
    assert (shown.commands, shown.refusals) == (1, 1)
    assert (shown.present, shown.alive, shown.clients) == (True, True, 1)
    assert shown.client_id == bench.clients[PAD]
    assert shown.person


def test_the_lease_and_the_last_stop_are_shown_with_their_times() -> None:
    bench = Bench(ready=False)
    assert math.isnan(bench.state.lease_age)
    assert bench.state.last_stop_cause is None
    assert math.isnan(bench.state.last_stop_at)
    assert not bench.state.driver_connected
    bench.hear(report())
    assert bench.state.driver_connected
    bench.jog()
    epoch = bench.state.lease_epoch
    bench.now += 0.25
    bench.hear(CUT)
    assert (bench.state.owner, bench.state.lease_epoch) == (PAD, epoch)
    assert bench.state.lease_age == 0.25
    assert bench.state.last_stop_cause is StopCause.ESTOP
    assert bench.state.last_stop_at == bench.now
