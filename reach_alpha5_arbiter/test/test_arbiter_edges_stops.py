"""The edges of what keeps the arm still: where one more or one less would be wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest
from arbiter_bench import (
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
    sent,
    stops,
)

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.driver import ArmCondition
from reach_alpha5_arbiter.endpoint import EndpointConfig
from reach_alpha5_arbiter.tables import Activity
from reach_alpha5_common.command import StopLevel


def test_D7_joints_at_rest_confirm_no_stop_before_the_driver_says_so_too() -> None:
    bench = Bench()
    bench.jog()
    bench.hear(report(ArmCondition.EXECUTING))
    bench.command(PAD, STILL)
    bench.hear(events.JointFeedback(True))
    assert bench.state.activity is Activity.EASING
    bench.hear(report(ArmCondition.ENABLED))
    assert bench.state.activity is Activity.STILL


def test_D7_a_driver_at_rest_confirms_no_stop_before_the_joints_rest_too() -> None:
    bench = Bench()
    bench.jog()
    bench.command(PAD, STILL)
    bench.hear(report())
    assert bench.state.activity is Activity.EASING
    bench.hear(events.JointFeedback(True))
    assert bench.state.activity is Activity.STILL


def test_rule6_a_twist_is_said_with_a_lifetime_and_no_longer_than_its_own() -> None:
    bench = Bench()
    bench.arm()
    (word,) = sent(bench.command(PAD, TWIST))
    assert word.lifetime == CONFIG.command_lifetime
    bench.now += 0.3
    bench.hear(bench.beat(PAD), report())
    bench.arm()
    (word,) = sent(bench.command(PAD, replace(TWIST, lifetime=0.1)))
    assert word.lifetime == pytest.approx(0.1)


def test_rule2_the_causes_of_a_fault_are_kept_oldest_first_each_once_and_bounded() -> None:
    bench = Bench()
    first = tuple(f"cause_{number}" for number in range(10))
    bench.hear(report(ArmCondition.MAJOR_FAULT, causes=first))
    assert bench.state.fault_causes == ("driver_fault", *first)
    bench.hear(report())
    more = tuple(f"cause_{number}" for number in range(5, 20))
    bench.hear(report(ArmCondition.MAJOR_FAULT, causes=more))
    expected = ("driver_fault", *(f"cause_{number}" for number in range(15)))
    assert bench.state.fault_causes == expected


def test_rule1_nobody_is_named_while_no_estop_stands() -> None:
    bench = Bench()
    assert (bench.state.estop_source, bench.state.estop_reason) == ("", "")
    bench.hear(events.EStopPress(StopLevel.CUT, "pilot", "a hand in the way"))
    assert (bench.state.estop_source, bench.state.estop_reason) == ("pilot", "a hand in the way")
    bench.hear(events.Reset())
    assert (bench.state.estop_source, bench.state.estop_reason) == ("", "")


def test_C12_an_upstream_link_that_was_never_heard_is_lost_if_one_is_asked_for() -> None:
    assert CONFIG.upstream_timeout == 0.0
    linked = Bench(replace(CONFIG, upstream_timeout=0.5))
    assert linked.state.upstream_lost
    assert not Bench().state.upstream_lost


def test_rule9_a_stop_that_is_asked_for_again_is_overdue_no_later() -> None:
    bench = Bench()
    bench.jog()
    for _ in range(5):
        bench.hear(events.EStopPress(StopLevel.CUT, "pilot", ""))
        out = bench.wait(0.5, [PAD], driver=report(ArmCondition.EXECUTING))
    assert StopCause.STOP_UNCONFIRMED in stops(bench.said)
    assert out
    assert "stop_unconfirmed" in bench.state.fault_causes


def test_each_stop_is_counted() -> None:
    bench = Bench()
    before = bench.state.stops
    bench.jog()
    bench.command(PAD, STILL)
    bench.hear(events.EStopPress(StopLevel.CUT, "pilot", ""))
    assert len(stops(bench.said)) == 2
    assert bench.state.stops == before + 2


@pytest.mark.parametrize(
    ("seen", "cause"),
    [
        (report(ArmCondition.MAJOR_FAULT, active=False), StopCause.FAULT),
        (report(emo=True, epoch=1, active=False), StopCause.ESTOP),
    ],
)
def test_of_several_reasons_in_one_report_the_one_that_latches_is_told(
    seen: events.ArmReport, cause: StopCause
) -> None:
    bench = Bench()
    bench.jog()
    assert stops(bench.hear(seen)) == [cause]


def test_an_estop_of_the_driver_says_nothing_to_an_arm_that_is_still() -> None:
    bench = Bench()
    assert not kinds(bench.hear(report(emo=True, epoch=1)))
    assert bench.state.estop_latched


def test_rule2_a_fault_at_rest_asks_each_source_for_a_neutral() -> None:
    bench = Bench()
    bench.arm()
    assert not bench.source(PAD).neutral_required
    bench.hear(report(ArmCondition.MAJOR_FAULT))
    assert bench.source(PAD).neutral_required


def test_an_endpoint_that_comes_to_object_raises_the_level() -> None:
    endpoint = EndpointConfig("bridge", lapse_level=StopLevel.SETTLE_THEN_CUT)
    bench = Bench(replace(CONFIG, endpoints=(endpoint,)))
    assert bench.state.estop_level is StopLevel.SETTLE_THEN_CUT
    bench.hear(events.CheckIn("bridge", 1, 2, StopLevel.CUT, "a leak"))
    assert bench.state.estop_level is StopLevel.CUT
    assert (bench.state.estop_source, bench.state.estop_reason) == ("endpoint bridge", "a leak")


def test_a_reset_that_one_endpoint_stands_against_is_refused_in_its_name() -> None:
    bench = Bench(replace(CONFIG, endpoints=(EndpointConfig("bridge"),)))
    out = bench.hear(events.Reset())
    (told,) = [each.refusal for each in out if isinstance(each, events.Refused)]
    assert (told.source, told.code) == ("bridge", "endpoint_not_clear")


def test_a_reset_while_the_driver_is_not_heard_says_so_and_names_no_epoch() -> None:
    bench = Bench(ready=False)
    out = bench.hear(events.Reset())
    assert [word.estop_epoch for word in sent(out)] == [0]
    assert "not heard" in reply(out).message
    bench.hear(report(epoch=7))
    out = bench.hear(events.Reset())
    assert [word.estop_epoch for word in sent(out)] == [7]
    assert "not heard" not in reply(out).message


def test_C12_after_the_upstream_link_was_lost_a_source_that_was_armed_must_be_neutral() -> None:
    bench = Bench(replace(CONFIG, upstream_timeout=0.5))
    bench.hear(events.UpstreamBeat(True))
    bench.arm()
    bench.hear(events.UpstreamGone(), events.UpstreamBeat(True))
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]


def test_a_source_may_be_armed_before_the_driver_is_heard() -> None:
    bench = Bench(ready=False)
    bench.arm()
    bench.hear(events.Tick())
    assert not bench.source(PAD).neutral_required
    bench.hear(report())
    assert kinds(bench.command(PAD, FORWARD)) == ["INPUT"]


def test_a_motion_that_lapsed_in_the_driver_just_now_does_not_go_on() -> None:
    bench = Bench()
    bench.jog()
    bench.now += CONFIG.command_lifetime
    assert stops(bench.hear(events.Tick())) == [StopCause.LAPSED]
