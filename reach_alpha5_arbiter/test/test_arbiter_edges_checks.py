"""The edges of what is admitted: the last value that is taken, and what a refusal says."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from arbiter_bench import APP, BOT, CONFIG, FORWARD, PAD, STILL, WALL, Bench, refused, reply
from arbiter_bench import report as driver_report
from arbiter_goals import GoalBench, goal, grip

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.driver import ArmCondition
from reach_alpha5_arbiter.endpoint import ALL_ONES, EndpointConfig, challenge_of
from reach_alpha5_arbiter.execution import Execution
from reach_alpha5_arbiter.stream import StreamKind
from reach_alpha5_arbiter.tables import LIVENESS, Machine
from reach_alpha5_arbiter.trajectory import ErrorCode, GoalConfig, Posture
from reach_alpha5_common.command import StopLevel

SECOND = 1_000_000_000


def is_challenge(output: events.Output) -> bool:
    return isinstance(output, events.Challenge)


def opens(bench: Bench, kind: int = StreamKind.TWIST, idle_timeout: float = 0.0) -> events.Reply:
    return reply(bench.hear(events.OpenStream(BOT, bench.clients[BOT], kind, idle_timeout)))


@pytest.mark.parametrize(
    ("ahead", "codes"),
    [(SECOND // 2, []), (SECOND, []), (SECOND + 1, ["future_stamp"])],
)
def test_U6_a_stamp_may_lie_ahead_by_a_second_and_no_more(ahead: int, codes: list[str]) -> None:
    bench = Bench()
    bench.arm()
    bench.now += 0.05
    wall = WALL + round(bench.now * 1e9)
    assert refused(bench.command(PAD, FORWARD, stamp=wall + ahead)) == codes


def test_R3_streams_are_numbered_from_one_and_may_idle_as_long_as_is_configured() -> None:
    bench = Bench()
    bench.hear(bench.beat(BOT))
    longest = CONFIG.stream_idle_timeout
    for number in (1, 2):
        assert opens(bench, idle_timeout=longest).success
        assert bench.state.stream.id == number
        assert bench.state.stream.idle_timeout == longest
        close = events.CloseStream(BOT, bench.clients[BOT], number)
        assert reply(bench.hear(close)).success
    assert opens(bench, idle_timeout=math.nextafter(longest, 2.0)).code == "bad_stream"


def test_rule10_a_stream_of_a_kind_that_is_none_is_refused_with_the_kind() -> None:
    bench = Bench()
    bench.hear(bench.beat(BOT))
    answer = opens(bench, kind=7)
    assert answer.code == "bad_stream"
    assert "kind 7" in answer.message


def test_R3_only_the_client_that_is_heard_closes_the_stream_of_its_source() -> None:
    bench = Bench()
    bench.hear(bench.beat(BOT))
    opens(bench)
    answer = reply(bench.hear(events.CloseStream(BOT, "another")))
    assert (answer.success, answer.code) == (False, "wrong_client")
    assert bench.state.stream.is_open


def test_R3_no_goal_of_a_source_begins_while_its_stream_is_open() -> None:
    bench = GoalBench()
    opens(bench)
    bench.command(BOT, STILL)
    assert refused(bench.ask(goal())) == ["stream_open"]


def test_rule4_who_is_refused_the_lease_is_told_who_holds_it() -> None:
    bench = Bench()
    bench.jog(APP)
    bench.hear(bench.beat(BOT))
    answer = reply(bench.hear(events.Acquire(BOT, bench.clients[BOT])))
    assert answer.code == "lease_held"
    assert APP in answer.message


def test_rule2_a_fault_permits_nothing() -> None:
    bench = Bench()
    assert bench.state.permitted
    bench.hear(driver_report(ArmCondition.MAJOR_FAULT))
    assert not bench.state.permitted


def test_an_estop_of_the_driver_that_a_reset_did_not_clear_is_shown_with_its_level() -> None:
    bench = Bench()
    for level in (StopLevel.SETTLE_THEN_CUT, StopLevel.CUT):
        bench.hear(driver_report(emo=True, emo_level=level, epoch=4), events.Reset())
        assert bench.state.estop_level is level


def test_nobody_is_a_client_of_a_source_that_is_gone() -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD))
    assert bench.source(PAD).clients == 1
    bench.hear(events.SourceGone(PAD))
    assert (bench.source(PAD).clients, bench.source(PAD).client_id) == (0, "")
    bench.hear(bench.beat(PAD, present=False))
    assert not bench.source(PAD).present


def test_C11_the_error_of_the_action_is_zero_for_a_success_alone() -> None:
    bench = GoalBench()
    bench.ask(goal(seconds=0.2))
    (ended,) = [each for each in bench.run(1.0) if isinstance(each, events.GoalEnded)]
    assert ended.ending.error is ErrorCode.SUCCESSFUL
    bench.ask(goal(seconds=1.0))
    bench.hear(events.EStopPress(StopLevel.CUT, "pilot", ""))
    (ended,) = [each for each in bench.run(1.0) if isinstance(each, events.GoalEnded)]
    assert ended.ending.error is not ErrorCode.SUCCESSFUL


def test_C11_the_end_of_the_path_comes_before_the_slowing_is_over_if_it_is_near() -> None:
    bench = GoalBench()
    config = GoalConfig(stop_time=0.3)
    begun = Execution.begin(goal(seconds=1.0), bench.posture().posture, bench.now, config)
    assert isinstance(begun, Execution)
    slowed = begun.slowed(bench.now + 0.9)
    # t - t^2 / 0.6 = 0.1 s, the rest of the path
    assert slowed.standstill_at - bench.now == pytest.approx(0.9 + 0.3 - math.sqrt(0.03))


def test_C11_jaws_of_an_arm_without_joints_do_not_begin() -> None:
    nothing = Posture((), (), (), 1000.0)
    begun = Execution.begin(grip(0.01), nothing, 1000.0, GoalConfig())
    assert not isinstance(begun, Execution)
    assert begun[0].code == "no_feedback"


def test_a_posture_has_one_position_and_one_velocity_for_each_joint() -> None:
    with pytest.raises(ValueError, match="differ in number"):
        Posture(("axis_e",), (0.0, 1.0), (0.0,), 0.0)
    with pytest.raises(ValueError, match="differ in number"):
        Posture(("axis_e",), (0.0,), (), 0.0)


def test_challenges_have_64_bits_and_differ() -> None:
    made = [challenge_of(1, "bridge", number) for number in range(500)]
    assert len(set(made)) == len(made)
    assert all(0 <= each <= ALL_ONES for each in made)
    assert max(made) > ALL_ONES // 2


def test_what_a_twin_asks_of_an_endpoint_is_not_asked_yet_by_the_other() -> None:
    bench = Bench(replace(CONFIG, endpoints=(EndpointConfig("bridge"),)))
    twin = bench.arbiter.fork()
    first = [each for each in twin.handle(events.Tick(), bench.now) if is_challenge(each)]
    assert first
    assert [each for each in bench.hear(events.Tick()) if is_challenge(each)] == first


def test_rule4_who_returns_an_old_lease_is_told_the_present_epoch() -> None:
    bench = Bench()
    bench.jog()
    epoch = bench.state.lease_epoch
    answer = reply(bench.hear(events.Return(PAD, bench.clients[PAD], epoch + 1)))
    assert answer.code == "wrong_epoch"
    assert str(epoch) in answer.message


def test_R3_a_stream_is_closed_by_its_number_or_without_one_and_by_no_other() -> None:
    bench = Bench()
    bench.hear(bench.beat(BOT))
    opens(bench)
    answer = reply(bench.hear(events.CloseStream(BOT, bench.clients[BOT], 2)))
    assert (answer.success, answer.code) == (False, "no_stream")
    assert reply(bench.hear(events.CloseStream(BOT, bench.clients[BOT], 1))).success


def test_a_table_lists_no_pair_twice() -> None:
    with pytest.raises(ValueError, match="twice"):
        Machine("odd", LIVENESS.initial, (LIVENESS.rows[0], LIVENESS.rows[0]))
