"""The edges of what is kept apart: twins, sources, clients, and the latch of the driver."""

from __future__ import annotations

from dataclasses import replace

import pytest
from arbiter_bench import (
    BOT,
    CONFIG,
    FORWARD,
    PAD,
    STILL,
    WALL,
    Bench,
    kinds,
    refused,
    reply,
    report,
)
from arbiter_goals import ARM, HOME, GoalBench, goal, grip

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.core import MotionArbiter
from reach_alpha5_arbiter.endpoint import EndpointConfig, answer_to
from reach_alpha5_arbiter.execution import Execution
from reach_alpha5_arbiter.stream import StreamKind
from reach_alpha5_arbiter.trajectory import ErrorCode, GoalConfig, Point, goal_problem
from reach_alpha5_common.command import StopLevel


def opens(bench: Bench, idle_timeout: float = 0.0) -> events.Reply:
    asked = events.OpenStream(BOT, bench.clients[BOT], StreamKind.TWIST, idle_timeout)
    return reply(bench.hear(asked))


def test_what_a_twin_hears_is_not_heard_by_the_other() -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD))
    bench.arbiter.fork().handle(events.SourceGone(PAD), bench.now)
    assert bench.source(PAD).present


def test_R3_a_stream_is_closed_by_no_other_source_and_who_is_wrong_is_told_so_first() -> None:
    bench = Bench()
    bench.hear(bench.beat(BOT), bench.beat(PAD))
    answer = reply(bench.hear(events.CloseStream(PAD, "another")))
    assert answer.code == "wrong_client"
    assert opens(bench).success
    assert reply(bench.hear(events.CloseStream(PAD, bench.clients[PAD]))).code == "no_stream"
    assert bench.state.stream.is_open


def test_R3_a_stream_that_would_idle_too_long_is_told_the_longest_time() -> None:
    bench = Bench()
    bench.hear(bench.beat(BOT))
    assert f"{CONFIG.stream_idle_timeout:g} s" in opens(bench, idle_timeout=30.0).message


def test_nobody_is_known_to_write_for_a_source_that_is_gone() -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD))
    wall = WALL + round(bench.now * 1e9)
    bench.hear(events.Command(PAD, STILL, wall, wall, "joy", "writer"))
    bench.hear(events.SourceGone(PAD))
    assert bench.source(PAD).clients == 0


def test_rule1_an_estop_that_the_driver_latches_after_a_reset_is_a_new_one() -> None:
    bench = Bench()
    bench.hear(report(epoch=4), events.Reset(), report(emo=True, epoch=4))
    assert bench.arbiter.state.latches.estop is StopLevel.CUT


def test_why_the_driver_cannot_move_the_arm_is_shown_and_nothing_when_it_can() -> None:
    bench = Bench()
    assert bench.state.unready == ""
    bench.hear(report(powered=False))
    assert "motors" in bench.state.unready


def test_an_endpoint_that_is_heard_and_objects_is_told_even_if_it_stops_no_more_than_before() -> (
    None
):
    bench = Bench(replace(CONFIG, endpoints=(EndpointConfig("bridge"),)))
    (asked,) = (e for e in bench.hear(events.Tick()) if isinstance(e, events.Challenge))
    number, level = asked.challenge, bench.state.endpoints[0].stands_for
    out = bench.hear(events.CheckIn("bridge", number, answer_to(number), level, ""))
    assert [each for each in out if isinstance(each, events.StateChanged)]


def test_C11_a_goal_of_the_jaws_has_one_point_and_one_of_the_arm_names_its_joints() -> None:
    names = (*ARM, "axis_a")
    twice = replace(grip(0.01), points=(Point(0.0, (0.01,)), Point(1.0, (0.0,))))
    assert goal_problem(grip(0.01), names, GoalConfig()) is None
    assert goal_problem(twice, names, GoalConfig()) is not None
    nameless = goal_problem(replace(goal(), joint_names=()), (), GoalConfig())
    assert nameless is not None
    assert nameless[0].code == "partial_goal"


def test_C11_a_goal_while_an_estop_stands_is_invalid_in_the_words_of_the_action() -> None:
    bench = GoalBench()
    bench.hear(events.EStopPress(StopLevel.CUT, "pilot", ""))
    (ended,) = [each for each in bench.ask(goal()) if isinstance(each, events.GoalEnded)]
    assert (ended.ending.code, ended.ending.error) == ("estop_latched", ErrorCode.INVALID_GOAL)


def test_U17_what_the_arm_is_off_fades_over_several_points_if_they_are_close() -> None:
    bench = GoalBench()
    rest, here = (0.0,) * 4, HOME[:4]
    points = (Point(0.0, here, rest), Point(0.1, here, rest), Point(2.0, here, rest))
    bench.positions["axis_e"] += 0.05
    asked = replace(goal(), points=points)
    begun = Execution.begin(asked, bench.posture().posture, bench.now, GoalConfig())
    assert isinstance(begun, Execution)
    off = begun.setpoint(bench.now + 0.25).positions[0] - here[0]
    assert off == pytest.approx(0.025)


@pytest.mark.parametrize("name", ["path_tolerance", "stall_time", "rest_velocity"])
def test_a_setting_of_goals_that_is_below_zero_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        GoalConfig(**{name: -0.1})


def test_an_arbiter_that_is_restored_from_a_state_goes_on_from_it() -> None:
    bench = Bench()
    bench.jog()
    again = MotionArbiter.restored(CONFIG, bench.arbiter.state)
    event = events.EStopPress(StopLevel.CUT, "pilot", "")
    assert again.handle(event, bench.now) == bench.hear(event)


def test_R3_closing_a_stream_at_rest_says_nothing_and_wants_a_neutral_again() -> None:
    bench = Bench()
    bench.hear(bench.beat(BOT))
    answer = opens(bench)
    assert (answer.success, answer.code) == (True, "")
    bench.command(BOT, STILL)
    assert not kinds(bench.hear(events.CloseStream(BOT, bench.clients[BOT])))
    assert refused(bench.command(BOT, FORWARD)) == ["neutral_required"]


def test_C12_the_upstream_link_that_is_lost_at_rest_says_nothing_to_the_driver() -> None:
    bench = Bench(replace(CONFIG, upstream_timeout=0.5))
    bench.hear(events.UpstreamBeat(True))
    assert not kinds(bench.hear(events.UpstreamGone()))


def test_rule9_an_owner_that_is_gone_while_the_arm_rests_says_nothing_to_the_driver() -> None:
    bench = Bench()
    bench.hear(bench.beat(BOT), events.Acquire(BOT, bench.clients[BOT]))
    assert not kinds(bench.hear(events.SourceGone(BOT)))
    assert bench.state.owner == ""


def test_an_endpoint_lapses_when_its_time_out_is_over_and_not_later() -> None:
    bench = Bench(replace(CONFIG, endpoints=(EndpointConfig("bridge"),)))
    (asked,) = (e for e in bench.hear(events.Tick()) if isinstance(e, events.Challenge))
    number = asked.challenge
    bench.hear(events.CheckIn("bridge", number, answer_to(number), 0, ""))
    assert bench.state.endpoints[0].is_clear
    bench.now += 1.0
    bench.hear(events.Tick())
    assert not bench.state.endpoints[0].is_clear


def test_U12_a_silent_driver_is_lost_when_its_time_out_is_over_and_not_later() -> None:
    bench = Bench()
    bench.now += CONFIG.driver_timeout
    bench.hear(events.Tick())
    assert not bench.state.driver_connected


def test_C12_a_silent_upstream_link_is_lost_when_its_time_out_is_over_and_not_later() -> None:
    bench = Bench(replace(CONFIG, upstream_timeout=0.5))
    bench.hear(events.UpstreamBeat(True))
    bench.now += 0.5
    bench.hear(events.Tick())
    assert bench.state.upstream_lost


def test_R3_only_commands_of_its_kind_keep_a_stream_open() -> None:
    bench = Bench()
    bench.hear(bench.beat(BOT))
    opens(bench)
    for _ in range(4):
        bench.now += 0.25
        bench.hear(bench.beat(BOT), report())
        bench.command(BOT, STILL)
    assert bench.state.stream.closed_because == "idle"


def test_rule4_a_second_client_is_named_in_its_refusal() -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD))
    out = bench.hear(events.Heartbeat(PAD, "the other one", True))
    (told,) = [each.refusal for each in out if isinstance(each, events.Refused)]
    assert "the other one" in told.reason
