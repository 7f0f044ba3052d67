"""What keeps the arm still beside the sources: e-stop endpoints, the upstream link (C12)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from arbiter_bench import (
    CONFIG,
    FORWARD,
    PAD,
    STILL,
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
from reach_alpha5_arbiter.endpoint import EndpointConfig, EndpointState, answer_to
from reach_alpha5_common.command import StopLevel

BRIDGE, DECK = "bridge", "deck"
WATCHED = replace(
    CONFIG,
    endpoints=(
        EndpointConfig(BRIDGE, timeout=1.0, lapse_level=StopLevel.SETTLE_THEN_CUT),
        EndpointConfig(DECK, timeout=1.0, lapse_level=StopLevel.CUT),
    ),
)
LINKED = replace(CONFIG, upstream_timeout=0.5)


class Guarded(Bench):
    """A bench whose endpoints answer as long as they are told to."""

    def __init__(self) -> None:
        self.answers = {BRIDGE: 0, DECK: 0}
        super().__init__(WATCHED)

    def hear(self, *inputs: events.Event) -> list[events.Output]:
        out = super().hear(*inputs)
        for output in out:
            if isinstance(output, events.Challenge) and output.endpoint in self.answers:
                out += self.check_in(output, self.answers[output.endpoint])
        return out

    def check_in(self, asked: events.Challenge, level: int = 0) -> list[events.Output]:
        response = answer_to(asked.challenge)
        return super().hear(
            events.CheckIn(asked.endpoint, asked.challenge, response, level, "a test")
        )

    def ready(self) -> None:
        """Have all endpoints clear, nothing latched, and the pad moving the arm."""
        self.wait(0.5, [PAD])
        self.hear(events.Reset())
        self.jog(PAD)


def test_a_new_configuration_starts_stopped_and_says_whom_it_waits_for() -> None:
    bench = Guarded()
    bench.answers.clear()
    bench.wait(0.5, [PAD])
    assert bench.state.estop_latched
    assert bench.state.estop_level is StopLevel.CUT
    assert bench.state.estop_source == f"endpoint {DECK}"
    out = bench.hear(events.Reset())
    assert reply(out).code == "endpoint_not_clear"
    assert BRIDGE in reply(out).message
    assert DECK in reply(out).message
    assert not kinds(out)


def test_the_driver_is_latched_too_when_it_is_first_heard() -> None:
    bench = Guarded()
    bench.answers.clear()
    other = Bench(WATCHED, ready=False)
    (word,) = sent(other.hear(report()))
    assert word.stop_level is StopLevel.CUT


def test_clearing_permits_motion_and_never_causes_it() -> None:
    bench = Guarded()
    bench.wait(0.5, [PAD])
    assert all(endpoint.is_clear for endpoint in bench.state.endpoints)
    assert bench.state.estop_latched
    assert not bench.state.permitted
    assert refused(bench.command(PAD, FORWARD)) == ["estop_latched"]
    assert reply(bench.hear(events.Reset())).success
    assert bench.state.permitted
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]
    bench.command(PAD, STILL)
    assert kinds(bench.command(PAD, FORWARD)) == ["INPUT"]


@pytest.mark.parametrize(
    ("name", "level"), [(BRIDGE, StopLevel.SETTLE_THEN_CUT), (DECK, StopLevel.CUT)]
)
def test_an_endpoint_that_does_not_answer_stops_the_arm_in_time(
    name: str, level: StopLevel
) -> None:
    bench = Guarded()
    bench.ready()
    del bench.answers[name]
    out = bench.wait(0.6, [PAD])
    assert not stops(out)
    out = bench.wait(0.5, [PAD])
    (word,) = [word for word in sent(out) if word.kind.name == "STOP"]
    assert word.stop_level is level
    assert word.lifetime == 0.0
    assert bench.state.estop_source == f"endpoint {name}"
    assert not bench.is_moving()


def test_a_vanished_endpoint_stops_the_arm_at_once() -> None:
    bench = Guarded()
    bench.ready()
    assert stops(bench.hear(events.EndpointGone(BRIDGE))) == [StopCause.ESTOP]
    states = {each.config.name: each.state for each in bench.state.endpoints}
    assert states == {BRIDGE: EndpointState.LAPSED, DECK: EndpointState.CLEAR}


def test_the_most_restrictive_endpoint_wins_and_says_it_once() -> None:
    bench = Guarded()
    bench.ready()
    bench.answers[BRIDGE] = int(StopLevel.SETTLE_THEN_CUT)
    out = bench.wait(0.5, [PAD])
    assert stops(out) == [StopCause.ESTOP]
    assert bench.state.estop_level is StopLevel.SETTLE_THEN_CUT
    bench.answers[DECK] = 99  # a level that nobody defined
    out = bench.wait(0.5, [PAD])
    assert stops(out) == [StopCause.ESTOP]
    assert bench.state.estop_level is StopLevel.CUT
    assert bench.state.estop_source == f"endpoint {DECK}"
    # The objection is over, the latch is not.
    bench.answers.update({BRIDGE: 0, DECK: 0})
    bench.wait(0.5, [PAD])
    assert bench.state.estop_level is StopLevel.CUT


def test_rule10_a_wrong_answer_is_no_sign_of_life() -> None:
    bench = Guarded()
    bench.ready()
    del bench.answers[BRIDGE]
    out = bench.wait(0.3, [PAD])
    asked = [
        output
        for output in out
        if isinstance(output, events.Challenge) and output.endpoint == BRIDGE
    ]
    wrong = events.CheckIn(BRIDGE, asked[-1].challenge, asked[-1].challenge, 0, "")
    assert refused(bench.hear(wrong)) == ["bad_response"]
    assert bench.state.refusals[0].source == BRIDGE
    assert stops(bench.wait(1.0, [PAD])) == [StopCause.ESTOP]


def test_rule10_an_endpoint_that_is_not_configured_is_refused() -> None:
    bench = Guarded()
    assert refused(bench.hear(events.CheckIn("cook", 1, 2, 2, ""))) == ["unknown_endpoint"]
    assert refused(bench.hear(events.EndpointGone("cook"))) == ["unknown_endpoint"]


def test_challenges_never_repeat_and_differ_from_run_to_run() -> None:
    first, second = (
        [
            output.challenge
            for output in _challenged(session)
            if isinstance(output, events.Challenge)
        ]
        for session in (1, 2)
    )
    assert len(set(first)) == len(first) > 10
    assert not set(first) & set(second)


def _challenged(session: int) -> list[events.Output]:
    from reach_alpha5_arbiter.core import MotionArbiter

    arbiter = MotionArbiter(WATCHED, session)
    return [out for step in range(60) for out in arbiter.handle(events.Tick(), step * 0.05)]


# ---- the upstream link -------------------------------------------------------------------------


def linked() -> Bench:
    """A bench with a pad that moves the arm over a link that is there."""
    bench = Bench(LINKED)
    bench.hear(events.UpstreamBeat(True))
    bench.jog(PAD)
    return bench


@pytest.mark.parametrize(
    "loss", [events.UpstreamBeat(False), events.UpstreamGone()], ids=["down", "gone"]
)
def test_C12_the_loss_of_the_upstream_link_stops_at_once_and_latches_nothing(
    loss: events.Event,
) -> None:
    bench = linked()
    out = bench.hear(loss)
    assert stops(out) == [StopCause.UPSTREAM_LOST]
    assert bench.state.upstream_lost
    assert not bench.state.estop_latched
    assert not bench.state.fault_latched
    assert refused(bench.command(PAD, FORWARD)) == ["upstream_lost"]
    bench.hear(events.UpstreamBeat(True))
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]
    bench.command(PAD, STILL)
    assert kinds(bench.command(PAD, FORWARD)) == ["INPUT"]


def test_C12_a_silent_upstream_link_stops_within_its_time_out() -> None:
    bench = linked()
    assert not stops(bench.wait(0.4, [PAD]))
    assert stops(bench.wait(0.2, [PAD])) == [StopCause.UPSTREAM_LOST]


def test_C12_nothing_moves_before_the_upstream_link_is_there() -> None:
    bench = Bench(LINKED)
    bench.arm(PAD)
    assert refused(bench.command(PAD, FORWARD)) == ["upstream_lost"]


def test_without_an_upstream_link_its_heartbeats_mean_nothing() -> None:
    bench = Bench()
    bench.jog(PAD)
    assert not stops(bench.hear(events.UpstreamBeat(True), events.UpstreamBeat(False)))
    assert not bench.state.upstream_lost
