"""Streams of joint and cartesian commands (R3), and joint set-points through the core."""

from __future__ import annotations

from dataclasses import replace

import pytest
from arbiter_bench import (
    APP,
    BOT,
    FORWARD,
    NONSENSE,
    PAD,
    TWIST,
    WALL,
    Bench,
    kinds,
    refused,
    reply,
    sent,
    stops,
)
from arbiter_goals import ARM, READY, WITH_GOALS, goal

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.stream import StreamKind
from reach_alpha5_common.command import JointCommand
from reach_alpha5_common.refusal import Problem

SETPOINT = JointCommand(ARM, (0.5, 1.0, 1.0, 0.0), (0.1, 0.0, 0.0, 0.0), lifetime=0.1)
NO_JOINT = JointCommand()


@pytest.fixture
def bench() -> Bench:
    bench = Bench(WITH_GOALS)
    bench.hear(bench.beat(BOT))
    return bench


def open_stream(
    bench: Bench, kind: int = StreamKind.JOINT, name: str = BOT, idle_timeout: float = 0.0
) -> events.Reply:
    return reply(bench.hear(events.OpenStream(name, bench.clients[name], kind, idle_timeout)))


def point(
    bench: Bench,
    command: JointCommand = SETPOINT,
    stream_id: int | None = None,
    veto: Problem | None = None,
) -> list[events.Output]:
    """A command on `joint_ctrl`."""
    stream = bench.state.stream.id if stream_id is None else stream_id
    bench.now += 0.001
    stamp = WALL + round(bench.now * 1e9)
    return bench.hear(
        events.Command(BOT, command, stamp, stamp, "joint_ctrl", stream_id=stream, veto=veto)
    )


def test_R3_a_stream_is_opened_armed_by_a_neutral_and_moves_the_arm(bench: Bench) -> None:
    assert open_stream(bench).success
    assert bench.state.stream.is_open
    assert bench.state.owner == BOT
    assert refused(point(bench)) == ["neutral_required"]
    assert not sent(point(bench, NO_JOINT))
    (word,) = sent(point(bench))
    assert word.joint == SETPOINT
    assert word.lifetime == pytest.approx(0.1)
    assert bench.state.stream.commands == 2


def test_R3_set_points_without_their_open_stream_are_refused(bench: Bench) -> None:
    bench.arm(BOT)
    assert refused(point(bench, stream_id=1)) == ["no_stream"]
    open_stream(bench)
    point(bench, NO_JOINT)
    assert refused(point(bench, stream_id=bench.state.stream.id + 1)) == ["no_stream"]
    bench.hear(events.CloseStream(BOT, bench.clients[BOT]))
    bench.arm(BOT)
    assert refused(point(bench)) == ["no_stream"]


def test_a_set_point_is_said_once_and_ends_by_itself(bench: Bench) -> None:
    open_stream(bench)
    point(bench, NO_JOINT)
    point(bench)
    out = bench.wait(0.05, [BOT])
    assert "JOINT" not in kinds(out)
    out += bench.wait(0.1, [BOT])
    assert stops(out) == [StopCause.LIFETIME_ENDED]


def test_R3_an_idle_stream_is_closed_on_the_monotonic_clock_and_its_lease_is_free(
    bench: Bench,
) -> None:
    open_stream(bench, idle_timeout=0.5)
    point(bench, NO_JOINT)
    bench.wait(0.4, [BOT])
    assert bench.state.stream.is_open
    bench.wait(0.2, [BOT])
    assert not bench.state.stream.is_open
    assert bench.state.stream.closed_because == "idle"
    assert bench.state.owner == ""


def test_R3_commands_keep_a_stream_open_and_its_owner_from_being_idle(bench: Bench) -> None:
    open_stream(bench)
    for _ in range(10):
        bench.wait(0.5, [BOT])
        point(bench, NO_JOINT)
    assert bench.state.stream.is_open
    assert bench.state.owner == BOT


def test_R3_an_idle_stream_of_a_moving_twist_stops_the_arm(bench: Bench) -> None:
    open_stream(bench, StreamKind.TWIST, idle_timeout=0.2)
    bench.command(BOT, replace(TWIST, linear=(0.0, 0.0, 0.0)))
    assert kinds(bench.command(BOT, replace(TWIST, lifetime=1.0))) == ["TWIST"]
    assert stops(bench.wait(0.3, [BOT])) == [StopCause.STREAM_IDLE]


def test_R3_closing_stops_the_arm_and_returns_the_lease(bench: Bench) -> None:
    open_stream(bench)
    point(bench, NO_JOINT)
    point(bench)
    out = bench.hear(events.CloseStream(BOT, bench.clients[BOT], bench.state.stream.id))
    assert reply(out).success
    assert stops(out) == [StopCause.STREAM_CLOSED]
    assert bench.state.owner == ""
    assert bench.state.stream.closed_because == "closed"
    again = reply(bench.hear(events.CloseStream(BOT, bench.clients[BOT])))
    assert again.code == "no_stream"


@pytest.mark.parametrize(
    ("event", "because"),
    [
        (events.EStopPress(2, "diver", ""), "latch"),
        (events.Reset(), "reset"),
        (events.SourceGone(BOT), "not_live"),
        (events.Acquire(APP, f"{APP}-1", take=True), "ousted"),
        (events.Return(BOT, f"{BOT}-1"), "ousted"),
    ],
)
def test_R3_what_disarms_closes_the_stream(
    bench: Bench, event: events.Event, because: str
) -> None:
    bench.hear(bench.beat(APP))
    open_stream(bench)
    bench.hear(event)
    assert bench.state.stream.closed_because == because


def test_a_refused_set_point_ends_the_motion_and_not_the_stream(bench: Bench) -> None:
    open_stream(bench)
    point(bench, NO_JOINT)
    point(bench)
    out = point(bench, replace(SETPOINT, lifetime=0.0))
    assert refused(out) == ["bad_setpoint_lifetime"]
    assert stops(out) == [StopCause.COMMAND_REFUSED]
    assert bench.state.stream.is_open
    assert refused(point(bench)) == ["neutral_required"]
    point(bench, NO_JOINT)
    assert kinds(point(bench)) == ["JOINT"]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (replace(SETPOINT, positions=(0.0,)), "bad_sizes"),
        (replace(SETPOINT, joint_names=("axis_e",) * 4), "joint_named_twice"),
        (replace(SETPOINT, positions=(0.0, float("nan"), 0.0, 0.0)), "not_finite"),
        (replace(SETPOINT, lifetime=0.3), "bad_setpoint_lifetime"),
        (FORWARD, "stream_open"),
        (TWIST, "stream_open"),
        (NONSENSE, "not_finite"),
    ],
)
def test_rule10_what_is_no_good_set_point_is_refused(
    bench: Bench, command: JointCommand, code: str
) -> None:
    open_stream(bench)
    point(bench, NO_JOINT)
    assert refused(point(bench, command)) == [code]


def test_C12_a_check_of_ones_own_refuses_a_set_point_and_never_a_neutral(bench: Bench) -> None:
    veto = Problem("target_refused", "it would touch the hull")
    open_stream(bench)
    assert not refused(point(bench, NO_JOINT, veto=veto))
    assert refused(point(bench, veto=veto)) == ["target_refused"]


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        (events.OpenStream("nobody", "x", StreamKind.JOINT), "unknown_source"),
        (events.OpenStream(BOT, "x", StreamKind.JOINT), "wrong_client"),
        (events.OpenStream(BOT, f"{BOT}-1", 0), "bad_stream"),
        (events.OpenStream(BOT, f"{BOT}-1", 3), "bad_stream"),
        (events.OpenStream(BOT, f"{BOT}-1", 1, -1.0), "bad_stream"),
        (events.OpenStream(BOT, f"{BOT}-1", 1, 1.5), "bad_stream"),
        (events.OpenStream(BOT, f"{BOT}-1", 1, float("nan")), "bad_stream"),
        (events.OpenStream(APP, f"{APP}-1", StreamKind.JOINT), "source_not_alive"),
    ],
)
def test_rule10_a_wish_for_a_stream_that_cannot_be_is_refused(
    bench: Bench, wish: events.OpenStream, code: str
) -> None:
    out = bench.hear(wish)
    assert reply(out).code == code
    assert refused(out) == [code]
    assert not bench.state.stream.is_open
    assert bench.state.owner == ""


def test_there_is_one_stream_at_a_time_and_none_beside_a_goal(bench: Bench) -> None:
    assert open_stream(bench).success
    assert open_stream(bench).code == "stream_open"
    bench.hear(events.CloseStream(BOT, bench.clients[BOT]))
    bench.arm(BOT)
    bench.hear(READY, events.GoalAsked(goal(starts_in=30.0)))
    assert open_stream(bench).code == "goal_active"
    other = Bench(WITH_GOALS)
    other.jog(PAD)
    other.hear(other.beat(BOT))
    assert open_stream(other).code == "not_owner"


def test_opening_a_stream_stops_what_its_source_had_asked_for(bench: Bench) -> None:
    bench.jog(BOT)
    out = bench.hear(events.OpenStream(BOT, bench.clients[BOT], StreamKind.JOINT))
    assert stops(out) == [StopCause.REPLACED]


def test_U15_a_stream_is_not_opened_while_nothing_may_move(bench: Bench) -> None:
    bench.hear(events.EStopPress(2, "diver", ""))
    assert open_stream(bench).code == "estop_latched"
