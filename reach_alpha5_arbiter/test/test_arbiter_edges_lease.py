"""The edges of the lease, of streams under it, and of who counts as a client."""

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
    WALL,
    Bench,
    kinds,
    refused,
    reply,
    report,
    stops,
)

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.driver import ArmCondition
from reach_alpha5_arbiter.stream import StreamKind

EXECUTING = report(ArmCondition.EXECUTING)


def written(bench: Bench, writer: str, command: object = FORWARD) -> list[events.Output]:
    """A command of the pad, of which the middleware tells who wrote it."""
    wall = WALL + round(bench.now * 1e9)
    return bench.hear(
        events.Command(PAD, command, wall, wall, "joy", writer)  # type: ignore[arg-type]
    )


def opened(bench: Bench, idle_timeout: float = 0.0) -> list[events.Output]:
    return bench.hear(events.OpenStream(BOT, bench.clients[BOT], StreamKind.TWIST, idle_timeout))


def test_D3_who_moves_the_arm_is_not_idle_however_long_it_moves() -> None:
    bench = Bench()
    bench.jog()
    assert not stops(bench.wait(4.0, [PAD], driver=EXECUTING))
    assert bench.state.owner == PAD
    assert bench.is_moving()


def test_a_refusal_of_a_source_that_is_none_of_ours_is_told_of_as_unknown() -> None:
    bench = Bench()
    out = bench.hear(events.Heartbeat("nobody", "a", True))
    (told,) = [each.refusal for each in out if isinstance(each, events.Refused)]
    assert (told.source, told.code) == ("(unknown)", "unknown_source")


def test_rule4_who_asked_last_is_shown_with_what_came_of_it() -> None:
    bench = Bench()
    assert (bench.state.asked.source, bench.state.asked.granted) == ("", False)
    bench.jog()
    bench.hear(bench.beat(BOT), events.Acquire(BOT, bench.clients[BOT]))
    assert (bench.state.asked.source, bench.state.asked.granted) == (BOT, False)
    bench.now += 0.1
    bench.hear(bench.beat(APP), events.Acquire(APP, bench.clients[APP], True))
    asked = bench.state.asked
    assert (asked.source, asked.granted, asked.at) == (APP, True, bench.now)


def test_opening_a_stream_at_rest_says_nothing_to_the_driver() -> None:
    bench = Bench()
    bench.hear(bench.beat(BOT), events.Acquire(BOT, bench.clients[BOT]))
    assert not kinds(opened(bench))
    assert bench.state.stream.is_open


def test_closing_a_stream_is_answered_without_a_code() -> None:
    bench = Bench()
    bench.hear(bench.beat(BOT))
    opened(bench)
    answer = reply(bench.hear(events.CloseStream(BOT, bench.clients[BOT])))
    assert (answer.success, answer.code) == (True, "")


def test_R3_a_stream_is_closed_at_the_end_of_its_idle_time_out_and_not_later() -> None:
    bench = Bench()
    bench.hear(bench.beat(BOT))
    opened(bench, idle_timeout=0.5)
    bench.now += 0.25
    bench.hear(bench.beat(BOT), report(), events.Tick())
    assert bench.state.stream.is_open
    bench.now += 0.25
    bench.hear(events.Tick())
    assert bench.state.stream.closed_because == "idle"


@pytest.mark.parametrize(
    ("event", "because"),
    [
        (report(ArmCondition.MAJOR_FAULT), "latch"),
        (report(powered=False), "not_ready"),
        (events.Reset(), "reset"),
    ],
)
def test_R3_the_reason_why_a_stream_was_closed_is_shown(event: events.Event, because: str) -> None:
    bench = Bench()
    bench.hear(bench.beat(BOT))
    opened(bench)
    bench.hear(event)
    assert bench.state.stream.closed_because == because


def test_the_longest_client_id_is_taken_and_none_longer() -> None:
    bench = Bench()
    assert not refused(bench.hear(events.Heartbeat(PAD, "x" * 128, True)))
    assert refused(bench.hear(events.Heartbeat(APP, "x" * 129, True))) == ["bad_client_id"]


def test_rule4_a_second_writer_on_one_topic_stops_the_arm_and_takes_the_lease() -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD))
    written(bench, "first", STILL)
    assert kinds(written(bench, "first")) == ["INPUT"]
    out = written(bench, "second")
    assert refused(out) == ["two_clients"]
    assert stops(out) == [StopCause.TWO_CLIENTS]
    assert bench.state.owner == ""


def test_the_idle_time_out_of_a_stream_is_the_configured_one_unless_it_says_less() -> None:
    bench = Bench(replace(CONFIG, stream_idle_timeout=0.75))
    bench.hear(bench.beat(BOT))
    opened(bench)
    assert bench.state.stream.idle_timeout == 0.75
