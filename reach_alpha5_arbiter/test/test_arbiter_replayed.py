"""What a bag says again beside a live arm: it may stop it, never move it, and keeps nothing up."""

from __future__ import annotations

import pytest
from arbiter_bench import AGAIN, APP, CONFIG, FORWARD, PAD, Bench, kinds, refused, report, stops

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import RefusalCode, StopCause
from reach_alpha5_arbiter.journal import Happened, happened, read
from reach_alpha5_arbiter.machine import ARM_STATE, OTHERS, UNKNOWN
from reach_alpha5_common.command import STILL
from reach_alpha5_common.freshness import CODE, Freshness


def again(source: str, stops: bool = False) -> events.Replayed:
    """Something of a source that a bag says again; `stops`: a command, or that it is gone."""
    return events.Replayed(source, AGAIN, stops)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_the_refusal_has_the_code_that_the_documents_list() -> None:
    problem = Freshness(1.0).problem(0, 10**18)
    assert problem is not None
    assert problem.code == CODE == RefusalCode.REPLAYED.code


@pytest.mark.parametrize("source", [PAD, APP, *OTHERS])
def test_rule10_it_is_refused_by_its_code_and_counted_by_whose_it_is(
    bench: Bench, source: str
) -> None:
    for count in (1, 2):
        (out,) = [o for o in bench.hear(again(source)) if isinstance(o, events.Refused)]
        told = out.refusal
        assert (told.code, told.source, told.count) == (CODE, source, count)
        assert told.reason == AGAIN.reason
        if source not in OTHERS:
            assert bench.source(source).refusals == count


def test_rule10_whose_it_is_that_nobody_knows_is_not_kept(bench: Bench) -> None:
    (out,) = [o for o in bench.hear(again("x" * 1000, True)) if isinstance(o, events.Refused)]
    assert out.refusal.source == UNKNOWN


@pytest.mark.parametrize("stops", [False, True])
def test_rule6_it_is_no_sign_of_life(bench: Bench, stops: bool) -> None:
    before = bench.source(PAD)
    bench.hear(again(PAD, stops))
    after = bench.source(PAD)
    assert (after.alive, after.present, after.clients) == (False, False, before.clients)


@pytest.mark.parametrize("stops", [False, True])
def test_rule6_a_source_of_which_only_a_bag_is_left_times_out(bench: Bench, stops: bool) -> None:
    bench.arm(PAD)
    for _ in range(12):
        bench.now += 0.05
        bench.hear(report(), again(PAD, stops), events.Tick())
    assert not bench.source(PAD).alive


def test_rule6_heartbeats_of_a_bag_do_not_prolong_a_motion(bench: Bench) -> None:
    bench.jog(PAD)
    out: list[events.Output] = []
    for _ in range(12):
        bench.now += 0.05
        out += bench.hear(report(), again(PAD), events.Tick())
    assert stops(out) == [StopCause.SOURCE_SILENT]


def test_rule3_what_a_bag_asks_stops_its_source_which_then_needs_a_neutral(bench: Bench) -> None:
    bench.jog(PAD)
    out = bench.hear(again(PAD, stops=True))
    assert stops(out) == [StopCause.COMMAND_REFUSED]
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]
    bench.command(PAD, STILL)
    assert kinds(bench.command(PAD, FORWARD)) == ["INPUT"]


def test_rule3_a_bag_arms_nobody(bench: Bench) -> None:
    bench.hear(bench.beat(PAD), again(PAD, stops=True))
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]


def test_rule4_what_a_bag_says_of_one_source_does_not_stop_another(bench: Bench) -> None:
    bench.jog(PAD)
    out = bench.hear(again(APP, stops=True), again(APP), *(again(name) for name in OTHERS))
    assert kinds(out) == []
    assert bench.is_moving()
    assert bench.state.owner == PAD


def test_rule4_a_second_client_is_no_sooner_forgotten_for_what_a_bag_says(bench: Bench) -> None:
    bench.arm(PAD)
    bench.hear(events.Heartbeat(PAD, "other", True), again(PAD, stops=True), again(PAD))
    assert bench.source(PAD).clients == 2
    assert refused(bench.command(PAD, STILL)) == ["two_clients"]


def test_U12_a_driver_of_which_only_a_bag_is_left_is_lost(bench: Bench) -> None:
    bench.jog(PAD)
    out: list[events.Output] = []
    for _ in range(round(CONFIG.driver_timeout / 0.05) + 1):
        bench.now += 0.05
        out += bench.hear(bench.beat(PAD), again(ARM_STATE), events.Tick())
        bench.command(PAD, FORWARD)
    assert StopCause.DRIVER_LOST in stops(out)
    assert not bench.state.driver_connected


@pytest.mark.parametrize("event", [again(PAD), again(APP, True), again(ARM_STATE)])
def test_the_journal_keeps_it_exactly(event: events.Replayed) -> None:
    assert read(happened(event, 1.5)) == Happened(event, 1.5)
