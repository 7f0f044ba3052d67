"""The edges of who may move the arm beside a planner, and of times that end."""

from __future__ import annotations

from dataclasses import replace

import pytest
from arbiter_bench import (
    BOT,
    CONFIG,
    FORWARD,
    PAD,
    SOURCES,
    STILL,
    WALL,
    Bench,
    refused,
    reply,
    stops,
)
from arbiter_bench import report as driver_report
from arbiter_goals import ARM, HOME, WITH_GOALS, GoalBench, endings, goal

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.config import SourceConfig
from reach_alpha5_arbiter.driver import ArmCondition
from reach_alpha5_arbiter.endpoint import EndpointConfig, challenge_of
from reach_alpha5_arbiter.spline import Path
from reach_alpha5_arbiter.stream import StreamKind
from reach_alpha5_arbiter.trajectory import ErrorCode, GoalConfig, Point, goal_problem
from reach_alpha5_common.command import JointCommand, StopLevel
from reach_alpha5_common.refusal import Problem

PROBE = "probe"
GOLDEN = [0xFE85D630CE5340F1, 0xE66A2D62D2EB3717, 0x324C3C4D3C55518A]
"""Of session 1 and the endpoint `bridge`: old recordings have the answers to them."""

VETO = Problem("own_check", "it would hit the wall")


def opens(bench: Bench, name: str = BOT) -> events.Reply:
    asked = events.OpenStream(name, bench.clients[name], StreamKind.TWIST)
    return reply(bench.hear(asked))


def test_rule5_other_automation_does_not_take_the_arm_from_a_goal() -> None:
    bench = GoalBench(replace(WITH_GOALS, sources=(*SOURCES, SourceConfig(PROBE))))
    bench.arm(PROBE)
    bench.ask(goal())
    assert refused(bench.command(PROBE, FORWARD)) == ["not_owner"]


def test_rule4_a_person_does_not_take_the_arm_from_a_stream_or_a_command_of_the_planner() -> None:
    bench = GoalBench()
    bench.arm(PAD)
    assert opens(bench).success
    assert refused(bench.command(PAD, FORWARD)) == ["not_owner"]
    bench = GoalBench()
    bench.arm(PAD)
    bench.command(BOT, FORWARD)
    assert refused(bench.command(PAD, FORWARD)) == ["not_owner"]


def test_rule4_who_is_no_owner_is_told_who_is() -> None:
    bench = Bench()
    bench.jog()
    bench.hear(bench.beat(BOT))
    answer = opens(bench)
    assert answer.code == "not_owner"
    assert PAD in answer.message
    answer = reply(bench.hear(events.Return(BOT, bench.clients[BOT])))
    assert answer.code == "not_owner"
    assert PAD in answer.message


def test_R3_a_set_point_is_not_taken_on_a_stream_of_twists() -> None:
    bench = GoalBench()
    assert opens(bench).success
    bench.command(BOT, STILL)
    setpoint = JointCommand(ARM, HOME[:4], (0.1,) * 4, lifetime=0.1)
    wall = WALL + round(bench.now * 1e9)
    out = bench.hear(events.Command(BOT, setpoint, wall, wall, stream_id=1))
    assert refused(out) == ["no_stream"]


def test_rule9_a_stop_is_overdue_when_its_time_is_over_and_not_later() -> None:
    bench = Bench()
    bench.jog()
    began = bench.now
    bench.hear(events.EStopPress(StopLevel.CUT, "pilot", ""))
    moves = driver_report(ArmCondition.EXECUTING)
    for _ in range(7):
        bench.now += 0.25
        assert not stops(bench.hear(moves, bench.beat(PAD)))
    bench.now = began + CONFIG.stop_confirm_timeout
    assert stops(bench.hear(events.Tick())) == [StopCause.STOP_UNCONFIRMED]


def test_one_of_two_clients_is_forgotten_when_its_time_out_is_over_and_not_later() -> None:
    bench = Bench()
    bench.hear(events.Heartbeat(PAD, "a", True))
    bench.now += 0.25
    bench.hear(events.Heartbeat(PAD, "b", True))
    assert bench.source(PAD).clients == 2
    bench.now += 0.25
    bench.hear(events.Tick())
    assert bench.source(PAD).clients == 1


def test_an_estop_of_the_driver_without_a_level_is_a_cut() -> None:
    bench = Bench()
    bench.hear(replace(driver_report(emo=True, epoch=3), emo_level=0))
    assert bench.state.estop_level is StopLevel.CUT


def test_C11_a_goal_that_is_wrong_and_vetoed_is_told_what_is_wrong_with_it() -> None:
    bench = GoalBench()
    wrong = replace(goal(), goal_tolerances=(-1.0,) * 4)
    assert refused(bench.ask(wrong, VETO)) == ["bad_tolerance"]
    assert refused(bench.ask(goal(), VETO)) == ["own_check"]


@pytest.mark.parametrize("source", [PAD, BOT])
def test_C11_a_goal_that_nobody_may_ask_is_invalid_in_the_words_of_the_action(source: str) -> None:
    bench = GoalBench()
    bench.hear(events.SourceGone(BOT))
    out = bench.ask(replace(goal(), source=source))
    (ended,) = [each for each in out if isinstance(each, events.GoalEnded)]
    assert ended.ending.error is ErrorCode.INVALID_GOAL


def test_C11_a_goal_that_was_cancelled_is_no_success() -> None:
    bench = GoalBench()
    bench.ask(goal(starts_in=1.0))
    out = bench.hear(events.GoalCancelled("goal"))
    assert endings(out) == [("goal", "canceled", "goal_canceled")]
    (ended,) = [each for each in out if isinstance(each, events.GoalEnded)]
    assert ended.ending.error is not ErrorCode.SUCCESSFUL


@pytest.mark.parametrize(
    ("points", "code", "told"),
    [
        ((Point(0.0, (0.0,) * 4), Point(0.0, (1.0,) * 4)), "bad_times", "point 1"),
        ((Point(1.0, (1001.0,) * 4),), "out_of_range", "point 0"),
        ((Point(1001.0, (0.0,) * 4),), "out_of_range", "point 0"),
        ((Point(1.0, (0.0,) * 4, (1001.0,) * 4),), "out_of_range", "point 0"),
        ((Point(1.0, (0.0,) * 4, (0.0,) * 4, (2e5,) * 4),), "out_of_range", "point 0"),
        ((Point(1.0, (0.0,) * 4, (1e-6,) * 4),), "", ""),
    ],
)
def test_C11_numbers_that_no_arm_has_are_refused_with_the_point(
    points: tuple[Point, ...], code: str, told: str
) -> None:
    asked = replace(goal(), points=points)
    found = goal_problem(asked, (*ARM, "axis_a"), GoalConfig())
    assert (found[0].code if found else "") == code
    assert told in (found[0].reason if found else "")


def test_C11_a_velocity_that_one_end_says_alone_is_not_used() -> None:
    path = Path((Point(0.0, (0.0,), (5.0,)), Point(1.0, (1.0,)), Point(2.0, (2.0,), (0.0,))))
    assert path.motion(0.5) == ((0.5,), (1.0,))
    assert path.motion(1.5) == ((1.5,), (1.0,))


def test_the_challenges_of_a_recording_are_the_same_when_it_is_run_again() -> None:
    assert [challenge_of(1, "bridge", number) for number in (1, 2, 1 << 40)] == GOLDEN
    bench = Bench(replace(CONFIG, endpoints=(EndpointConfig("bridge"),)))
    (first,) = [e for e in bench.hear(events.Tick()) if isinstance(e, events.Challenge)]
    assert first.challenge == challenge_of(0, "bridge", 1)
