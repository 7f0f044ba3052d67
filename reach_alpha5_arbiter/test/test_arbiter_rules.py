"""The rules of the arbiter, one by one, on the core."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from arbiter_bench import (
    APP,
    BOT,
    CONFIG,
    DAY,
    FORWARD,
    HOUR,
    JAWS_ONLY,
    NONSENSE,
    PAD,
    POSE,
    POSE_HELD,
    RIGHT,
    TWIST,
    TWIST_HELD,
    WALL,
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
from reach_alpha5_arbiter.config import ArbiterConfig, SourceConfig
from reach_alpha5_arbiter.driver import ArmCondition
from reach_alpha5_arbiter.tables import Activity
from reach_alpha5_common.command import (
    STILL,
    CommandKind,
    GripperCommand,
    MotionCommand,
    StopLevel,
)

ESTOP = events.EStopPress(StopLevel.CUT, "pilot", "a hand in the way")


def with_lifetime(lifetime: float) -> GripperCommand:
    return replace(FORWARD, lifetime=lifetime)


# ---- rule 1: e-stop ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pressed", "level"),
    [
        ((1,), StopLevel.SETTLE_THEN_CUT),
        ((2,), StopLevel.CUT),
        ((200,), StopLevel.CUT),
        ((2, 1), StopLevel.CUT),
        ((1, 2), StopLevel.CUT),
        ((1, 0), StopLevel.SETTLE_THEN_CUT),
    ],
)
def test_rule1_the_most_restrictive_estop_level_is_latched(
    pressed: tuple[int, ...], level: StopLevel
) -> None:
    bench = Bench()
    for value in pressed:
        bench.hear(events.EStopPress(value, "x", "y"))
    assert bench.state.estop_level is level
    assert bench.state.estop_latched


def test_rule1_each_press_is_said_to_the_driver_with_the_latched_level() -> None:
    bench = Bench()
    bench.jog()
    for _ in range(3):
        (stop,) = sent(bench.hear(ESTOP))
        assert (stop.kind, stop.stop_level) == (CommandKind.STOP, StopLevel.CUT)
    (stop,) = sent(bench.hear(events.EStopPress(1, "x", "")))
    assert stop.stop_level is StopLevel.CUT


def test_rule1_anybody_may_press_without_the_lease_and_is_named() -> None:
    bench = Bench()
    bench.jog(PAD)
    assert stops(bench.hear(events.EStopPress(2, "diver", "tangled"))) == [StopCause.ESTOP]
    assert (bench.state.estop_source, bench.state.estop_reason) == ("diver", "tangled")
    assert bench.state.owner == PAD


def test_rule1_level_none_neither_latches_nor_clears() -> None:
    bench = Bench()
    assert bench.hear(events.EStopPress(0, "x", "")) == []
    bench.hear(ESTOP)
    bench.hear(events.EStopPress(0, "x", ""))
    assert bench.state.estop_latched


def test_D4_the_stick_cannot_drive_through_an_estop() -> None:
    bench = Bench()
    bench.jog()
    bench.hear(ESTOP)
    for _ in range(20):
        bench.wait(0.05, [PAD])
        out = bench.command(PAD, FORWARD)
        assert kinds(out) == []
        assert refused(out) == ["estop_latched"]
    bench.command(PAD, STILL)
    assert refused(bench.command(PAD, FORWARD)) == ["estop_latched"]


def test_rule1_text_of_a_press_is_bounded() -> None:
    bench = Bench()
    bench.hear(events.EStopPress(2, "s" * 10_000, "r" * 10_000))
    assert len(bench.state.estop_source) <= 200
    assert len(bench.state.estop_reason) <= 200


# ---- rule 2: faults and reset ------------------------------------------------------------------


def test_rule2_a_major_fault_latches_and_outlives_its_report() -> None:
    bench = Bench()
    bench.jog()
    out = bench.hear(report(ArmCondition.MAJOR_FAULT, causes=("no_answer",)))
    assert stops(out) == [StopCause.FAULT]
    bench.hear(report())
    assert bench.state.fault_causes == ("driver_fault", "no_answer")
    bench.command(PAD, STILL)
    assert refused(bench.command(PAD, FORWARD)) == ["fault_latched"]


def test_rule2_reset_names_the_drivers_epoch_moves_nothing_and_grants_nothing() -> None:
    bench = Bench()
    bench.jog()
    bench.hear(ESTOP, report(emo=True, epoch=7))
    bench.said.clear()
    out = bench.hear(events.Reset())
    assert reply(out).success
    (reset,) = sent(out)
    assert (reset.kind, reset.estop_epoch) == (CommandKind.RESET, 7)
    bench.hear(report(epoch=7))
    assert not bench.state.estop_latched
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]
    bench.command(PAD, STILL)
    assert kinds(bench.command(PAD, FORWARD)) == ["INPUT"]


def test_rule2_reset_while_moving_stops_first() -> None:
    bench = Bench()
    bench.jog()
    assert kinds(bench.hear(events.Reset())) == ["STOP", "RESET"]
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]


def test_rule2_reset_takes_the_arming_that_a_neutral_gave_before_it() -> None:
    bench = Bench()
    bench.hear(ESTOP)
    bench.arm()
    bench.hear(events.Reset())
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]


def test_rule2_after_a_reset_motion_waits_until_the_driver_agrees() -> None:
    bench = Bench()
    bench.hear(ESTOP, report(emo=True, epoch=3), events.Reset())
    bench.hear(report(emo=True, epoch=3))
    assert bench.state.estop_latched
    assert bench.state.estop_source == "driver"
    bench.arm()
    assert refused(bench.command(PAD, FORWARD)) == ["driver_estopped"]
    bench.hear(report(epoch=3))
    assert not bench.state.estop_latched
    # The push through the block does not count when the block goes.
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]
    bench.command(PAD, STILL)
    assert kinds(bench.command(PAD, FORWARD)) == ["INPUT"]


def test_rule2_an_estop_pressed_while_the_reset_was_under_way_stays_latched() -> None:
    bench = Bench()
    bench.hear(ESTOP, report(emo=True, epoch=3), events.Reset())
    bench.hear(report(emo=True, epoch=4))
    bench.hear(report())
    assert bench.state.estop_latched


def test_rule2_an_estop_that_only_the_driver_heard_latches_here_too() -> None:
    bench = Bench()
    bench.jog()
    assert stops(bench.hear(report(emo=True, emo_level=1, epoch=1))) == [StopCause.ESTOP]
    bench.hear(report(epoch=0))  # the driver was started anew
    assert bench.state.estop_level is StopLevel.SETTLE_THEN_CUT
    assert bench.state.estop_source == "driver"


def test_rule2_a_fault_still_reported_after_a_reset_blocks_but_clears_by_itself() -> None:
    bench = Bench()
    bench.hear(report(ArmCondition.MAJOR_FAULT), events.Reset())
    bench.hear(report(ArmCondition.MAJOR_FAULT))
    assert bench.state.fault_causes == ("driver_fault",)
    bench.arm()
    assert refused(bench.command(PAD, FORWARD)) == ["driver_faulted"]
    bench.hear(report())
    assert not bench.state.fault_latched


# ---- rule 3: neutral first ---------------------------------------------------------------------


def test_rule3_U3_a_pad_that_starts_at_full_scale_does_not_move_the_arm() -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD))
    for _ in range(5):
        assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]
    assert sent(bench.said) == []


def test_rule3_U1_U7_after_a_lapse_the_old_stream_does_not_go_on() -> None:
    bench = Bench()
    bench.jog()
    assert stops(bench.wait(0.6)) == [StopCause.SOURCE_SILENT]
    assert refused(bench.command(PAD, FORWARD)) == ["source_not_alive"]
    bench.hear(bench.beat(PAD))
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]
    bench.command(PAD, STILL)
    assert kinds(bench.command(PAD, FORWARD)) == ["INPUT"]


@pytest.mark.parametrize("gone", [True, False])
def test_rule3_U2_a_source_that_comes_back_with_motion_is_refused(gone: bool) -> None:
    bench = Bench()
    bench.jog()
    if gone:
        bench.hear(bench.beat(PAD, present=False))
    else:
        bench.wait(0.6)
    bench.hear(bench.beat(PAD))
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]


def test_rule3_a_source_that_lost_the_lease_must_be_neutral_when_it_is_free_again() -> None:
    bench = Bench()
    bench.jog(PAD)
    bench.hear(bench.beat(APP), events.Acquire(APP, "app-1", take=True))
    bench.hear(events.Return(APP, "app-1"))
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]


def test_rule3_a_grant_by_service_needs_a_neutral() -> None:
    bench = Bench()
    bench.arm()
    assert reply(bench.hear(events.Acquire(PAD, "teleop-1"))).success
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]


# ---- rule 4: the lease -------------------------------------------------------------------------


def test_rule4_D5_the_first_press_acquires_and_counts_also_after_idle() -> None:
    bench = Bench()
    bench.jog()
    assert bench.state.owner == PAD
    bench.command(PAD, STILL)
    bench.wait(3.2, [PAD], rests=True)
    assert bench.state.owner == ""
    assert kinds(bench.command(PAD, FORWARD)) == ["INPUT"]
    assert bench.state.owner == PAD


def test_D3_a_source_that_nobody_touches_never_holds_the_lease() -> None:
    bench = Bench()
    for _ in range(10):
        bench.arm()
        bench.wait(0.2, [PAD])
    assert bench.state.owner == ""
    assert bench.state.lease_epoch == 0


def test_rule4_U16_a_second_source_is_refused_and_must_be_neutral_afterwards() -> None:
    bench = Bench()
    bench.jog(PAD)
    bench.arm(APP)
    out = bench.command(APP, RIGHT)
    assert (refused(out), kinds(out)) == (["not_owner"], [])
    assert bench.is_moving()
    bench.command(PAD, STILL)
    bench.hear(events.Return(PAD, "teleop-1"))
    assert refused(bench.command(APP, RIGHT)) == ["neutral_required"]
    bench.command(APP, STILL)
    assert kinds(bench.command(APP, RIGHT)) == ["INPUT"]


@pytest.mark.parametrize(
    ("asks", "take", "code"),
    [
        (APP, False, "lease_held"),
        (APP, True, ""),
        (BOT, False, "lease_held"),
        (BOT, True, "not_a_person"),
        (PAD, False, ""),
    ],
)
def test_rule4_who_may_acquire_while_the_pad_holds_the_lease(
    asks: str, take: bool, code: str
) -> None:
    bench = Bench()
    bench.jog(PAD)
    bench.hear(bench.beat(asks))
    answer = reply(bench.hear(events.Acquire(asks, f"{asks}-1", take)))
    assert (answer.success, answer.code) == (not code, code)
    assert bench.state.owner == (asks if answer.success else PAD)
    assert bench.is_moving() == (bench.state.owner == PAD)


def test_rule4_taking_stops_the_arm_once_and_both_must_be_neutral() -> None:
    bench = Bench()
    bench.jog(PAD)
    bench.arm(APP)
    epoch = bench.state.lease_epoch
    out = bench.hear(events.Acquire(APP, "app-1", take=True))
    assert stops(out) == [StopCause.LEASE_TAKEN]
    assert bench.state.lease_epoch == epoch + 1
    assert refused(bench.command(APP, RIGHT)) == ["neutral_required"]
    assert refused(bench.command(PAD, FORWARD)) == ["not_owner"]
    bench.command(APP, STILL)
    assert kinds(bench.command(APP, RIGHT)) == ["INPUT"]


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (events.Return(PAD, "teleop-1"), ""),
        (events.Return(PAD, "teleop-1", 1), ""),
        (events.Return(PAD, "teleop-1", 9), "wrong_epoch"),
        (events.Return(PAD, "another"), "wrong_client"),
        (events.Return(APP, "app-1"), "not_owner"),
        (events.Return(BOT, "autonomy-1"), "source_not_alive"),
        (events.Return("nobody", "x"), "unknown_source"),
    ],
)
def test_rule4_return(event: events.Return, code: str) -> None:
    bench = Bench()
    bench.jog(PAD)
    bench.hear(bench.beat(APP))
    out = bench.hear(event)
    assert (reply(out).success, reply(out).code) == (not code, code)
    assert stops(out) == ([] if code else [StopCause.LEASE_RETURNED])
    assert bench.state.owner == (PAD if code else "")


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (events.Acquire(PAD, "another"), "wrong_client"),
        (events.Acquire(APP, "app-1"), "source_not_alive"),
        (events.Acquire("nobody", "x"), "unknown_source"),
    ],
)
def test_rule4_only_a_live_client_may_acquire(event: events.Acquire, code: str) -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD))
    assert reply(bench.hear(event)).code == code
    assert bench.state.owner == ""


def test_rule4_an_owner_that_is_gone_loses_the_lease() -> None:
    bench = Bench()
    bench.jog(PAD)
    bench.hear(bench.beat(PAD, present=False))
    assert bench.state.owner == ""


# ---- rule 6: how long a command stands ---------------------------------------------------------


def test_rule6_B7_a_command_stands_and_is_repeated_until_the_next_one() -> None:
    bench = Bench()
    bench.jog(APP)
    words = sent(bench.wait(2.0, [APP]))
    assert {word.kind for word in words} == {CommandKind.INPUT}
    assert {word.input for word in words} == {FORWARD}
    assert len(words) >= 35
    assert kinds(bench.command(APP, RIGHT)) == ["INPUT"]


def test_rule6_a_lifetime_ends_the_command_and_bounds_what_the_driver_is_told() -> None:
    bench = Bench()
    bench.arm()
    (word,) = sent(bench.command(PAD, with_lifetime(0.12)))
    assert word.lifetime == pytest.approx(0.12)
    out = bench.wait(0.2, [PAD])
    assert stops(out) == [StopCause.LIFETIME_ENDED]
    assert all(w.lifetime <= 0.12 for w in sent(out))
    # It ended as it said it would: nothing is wrong with its source.
    assert kinds(bench.command(PAD, FORWARD)) == ["INPUT"]


def test_rule6_no_demand_reaches_beyond_the_watchdog_of_its_source() -> None:
    bench = Bench()
    bench.jog()
    lapse = bench.now + 0.5
    for _ in range(9):
        for word in sent(bench.wait(0.05)):
            if word.kind is CommandKind.INPUT:
                assert bench.now + word.lifetime <= lapse + 1e-9


def test_rule6_a_late_command_does_not_revive_a_source_that_lapsed_without_a_tick() -> None:
    bench = Bench()
    bench.jog()
    bench.wait(0.4)
    bench.now += 0.2
    out = bench.command(PAD, RIGHT)
    assert stops(out) == [StopCause.SOURCE_SILENT]
    assert refused(out) == ["source_not_alive"]


def test_an_arbiter_that_was_held_up_lets_nothing_go_on_that_lapsed_in_the_driver() -> None:
    bench = Bench()
    bench.jog()
    bench.now += 0.3
    out = bench.hear(bench.beat(PAD), report(), events.Tick())
    assert stops(out) == [StopCause.LAPSED]
    # What waited in its queue while it was held up may have been said by a stick long let go of.
    assert refused(bench.command(PAD, RIGHT)) == ["neutral_required"]


def test_rule6_an_older_command_is_dropped_and_its_sender_must_be_neutral() -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD))
    bench.command(PAD, STILL, stamp=WALL)
    bench.command(PAD, FORWARD, stamp=WALL + 20)
    out = bench.command(PAD, RIGHT, stamp=WALL + 10)
    assert refused(out) == ["stale_stamp"]
    assert stops(out) == [StopCause.COMMAND_REFUSED]
    assert refused(bench.command(PAD, RIGHT, stamp=WALL + 30)) == ["neutral_required"]


def test_rule6_equal_and_absent_stamps_are_in_order() -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD))
    bench.command(PAD, STILL, stamp=0)
    assert kinds(bench.command(PAD, FORWARD, stamp=0)) == ["INPUT"]
    assert kinds(bench.command(PAD, RIGHT, stamp=0)) == ["INPUT"]


@pytest.mark.parametrize("offset", [-DAY, -HOUR, 0])
def test_U6_a_sender_whose_clock_is_behind_works_and_still_times_out(offset: int) -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD))
    bench.command(PAD, STILL, stamp=WALL + offset)
    assert kinds(bench.command(PAD, FORWARD, stamp=WALL + offset + 1)) == ["INPUT"]
    assert stops(bench.wait(0.6)) == [StopCause.SOURCE_SILENT]


def test_U6_a_sender_whose_clock_is_ahead_moves_nothing_and_can_still_stop() -> None:
    bench = Bench()
    bench.jog()
    ahead = WALL + round(bench.now * 1e9) + DAY
    out = bench.command(PAD, FORWARD, stamp=ahead)
    assert (refused(out), stops(out)) == (["future_stamp"], [StopCause.COMMAND_REFUSED])
    bench.command(PAD, STILL, stamp=ahead)
    assert refused(bench.command(PAD, FORWARD, stamp=ahead + 1)) == ["future_stamp"]
    # Its clock is set right: the stamps from the future have left nothing behind.
    bench.command(PAD, STILL)
    assert kinds(bench.command(PAD, FORWARD)) == ["INPUT"]


def test_U6_a_neutral_stops_the_arm_whatever_its_stamp() -> None:
    for offset in (-DAY, DAY):
        bench = Bench()
        bench.jog()
        stamp = WALL + round(bench.now * 1e9) + offset
        assert kinds(bench.command(PAD, STILL, stamp=stamp)) == ["STOP"]


def test_U6_a_clock_set_back_does_not_lock_its_sender_out() -> None:
    bench = Bench()
    bench.jog()
    back = WALL - HOUR
    assert refused(bench.command(PAD, RIGHT, stamp=back)) == ["stale_stamp"]
    assert not bench.is_moving()
    assert refused(bench.command(PAD, STILL, stamp=back + 1)) == ["stale_stamp"]
    assert refused(bench.command(PAD, STILL, stamp=back + 2)) == []
    assert kinds(bench.command(PAD, FORWARD, stamp=back + 3)) == ["INPUT"]


def test_U6_a_lapse_restarts_the_order_of_stamps() -> None:
    bench = Bench()
    bench.jog()
    bench.wait(0.6)
    bench.hear(bench.beat(PAD))
    assert refused(bench.command(PAD, STILL, stamp=WALL - HOUR)) == []
    assert kinds(bench.command(PAD, FORWARD, stamp=WALL - HOUR + 1)) == ["INPUT"]


# ---- twists ------------------------------------------------------------------------------------


def test_D8_S2_a_twist_is_said_as_a_twist_until_its_lifetime_ends() -> None:
    bench = Bench()
    bench.arm()
    (word,) = sent(bench.command(PAD, TWIST))
    assert (word.kind, word.twist, word.input) == (CommandKind.TWIST, TWIST, STILL)
    out = bench.wait(0.5, [PAD])
    assert stops(out) == [StopCause.LIFETIME_ENDED]
    words = [word for word in sent(out) if word.kind is not CommandKind.STOP]
    assert {(word.kind, word.twist) for word in words} == {(CommandKind.TWIST, TWIST)}
    assert len(words) >= 6
    assert kinds(bench.command(PAD, TWIST)) == ["TWIST"]


@pytest.mark.parametrize("lifetime", [0.0, math.nextafter(2.0, 3.0), 3600.0])
def test_S2_a_twist_that_could_run_away_is_refused_and_ends_what_was_before(
    lifetime: float,
) -> None:
    bench = Bench()
    bench.jog(PAD, TWIST)
    out = bench.command(PAD, replace(TWIST, lifetime=lifetime))
    assert (refused(out), stops(out)) == (["bad_lifetime"], [StopCause.COMMAND_REFUSED])
    refusal = bench.state.refusals[0]
    assert refusal is not None
    assert "the longest 2 s" in refusal.reason
    assert refused(bench.command(PAD, TWIST)) == ["neutral_required"]


def test_S2_the_longest_lifetime_of_a_twist_is_configured() -> None:
    bench = Bench(replace(CONFIG, max_twist_lifetime=0.4))
    bench.jog(PAD, TWIST)
    assert refused(bench.command(PAD, replace(TWIST, lifetime=0.5))) == ["bad_lifetime"]


def test_a_twist_that_does_not_move_is_a_neutral_and_needs_no_lifetime() -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD))
    assert refused(bench.command(PAD, TWIST_HELD)) == []
    assert kinds(bench.command(PAD, TWIST)) == ["TWIST"]
    assert stops(bench.command(PAD, TWIST_HELD)) == [StopCause.NEUTRAL]


def test_rule10_a_malformed_twist_is_refused_and_counted() -> None:
    bench = Bench()
    bench.jog(PAD, TWIST)
    out = bench.command(PAD, replace(TWIST, angular=(0.0, math.nan, 0.0)))
    assert (refused(out), stops(out)) == (["not_finite"], [StopCause.COMMAND_REFUSED])
    assert refused(bench.command(PAD, replace(TWIST, grip=-1.1))) == ["out_of_range"]
    assert bench.source(PAD).refusals == 2


def test_the_newest_command_counts_whichever_kind_it_is() -> None:
    bench = Bench()
    bench.jog(PAD, FORWARD)
    for command in (TWIST, RIGHT, TWIST, JAWS_ONLY):
        bench.command(PAD, command)
        assert {word.motion for word in sent(bench.wait(0.2, [PAD]))} == {command}


def test_a_twist_passes_no_block_that_stands_against_another_command() -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD), bench.beat(APP))
    assert refused(bench.command(PAD, TWIST)) == ["neutral_required"]
    bench.jog(APP)
    bench.command(PAD, STILL)
    assert refused(bench.command(PAD, TWIST)) == ["not_owner"]
    bench.hear(ESTOP)
    assert refused(bench.command(PAD, TWIST)) == ["estop_latched"]


def test_rule6_the_stamps_of_a_source_are_in_one_order_over_its_topics() -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD))
    bench.command(PAD, STILL, stamp=WALL, topic="gripper_ctrl")
    assert kinds(bench.command(PAD, TWIST, stamp=WALL + 20, topic="twist")) == ["TWIST"]
    out = bench.command(PAD, FORWARD, stamp=WALL + 10, topic="gripper_ctrl")
    assert (refused(out), stops(out)) == (["stale_stamp"], [StopCause.COMMAND_REFUSED])


@pytest.mark.parametrize("stamp", [0, WALL])
def test_rule6_motion_on_another_topic_counts_only_if_it_is_the_newer_for_certain(
    stamp: int,
) -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD))
    bench.command(PAD, STILL, stamp, "twist")
    assert kinds(bench.command(PAD, TWIST, stamp, "twist")) == ["TWIST"]
    # The release came on one topic; what was sent before it on another one may arrive after it.
    assert stops(bench.command(PAD, STILL, stamp, "gripper_ctrl")) == [StopCause.NEUTRAL]
    assert refused(bench.command(PAD, TWIST, stamp, "twist")) == ["stale_stamp"]
    # A neutral on the topic that is used from now on is enough, stamps or not.
    bench.command(PAD, STILL, stamp, "twist")
    assert kinds(bench.command(PAD, TWIST, stamp, "twist")) == ["TWIST"]


# ---- rule 7: gone, silent, and two -------------------------------------------------------------


@pytest.mark.parametrize(
    "event", [events.Heartbeat(PAD, "teleop-1", False), events.SourceGone(PAD)]
)
def test_rule7_a_source_that_is_gone_stops_the_arm_at_once(event: events.Event) -> None:
    bench = Bench()
    bench.jog()
    assert stops(bench.hear(event)) == [StopCause.SOURCE_GONE]
    assert refused(bench.command(PAD, FORWARD)) == ["source_not_alive"]


def test_rule7_somebody_else_going_does_not_matter_to_the_owner() -> None:
    bench = Bench()
    bench.jog(PAD)
    bench.hear(bench.beat(APP))
    assert sent(bench.hear(bench.beat(APP, present=False), events.SourceGone(APP))) == []
    assert bench.is_moving()


@pytest.mark.parametrize(("name", "timeout"), [(PAD, 0.5), (APP, 1.5), (BOT, 1.0)])
def test_rule7_each_source_has_its_own_watchdog(name: str, timeout: float) -> None:
    bench = Bench()
    bench.jog(name)
    assert stops(bench.wait(timeout - 0.05)) == []
    assert stops(bench.wait(0.1)) == [StopCause.SOURCE_SILENT]


@pytest.mark.parametrize("client_id", ["", "x" * 129])
def test_rule7_a_heartbeat_without_a_proper_client_id_keeps_nothing_alive(client_id: str) -> None:
    bench = Bench()
    assert refused(bench.hear(events.Heartbeat(PAD, client_id, True))) == ["bad_client_id"]
    assert not bench.source(PAD).alive
    assert refused(bench.command(PAD, STILL)) == ["source_not_alive"]


def test_two_clients_on_one_source_stop_the_arm_and_are_refused_until_one_is_left() -> None:
    bench = Bench()
    bench.jog(PAD)
    out = bench.hear(events.Heartbeat(PAD, "intruder", True))
    assert (refused(out), stops(out)) == (["two_clients"], [StopCause.TWO_CLIENTS])
    assert bench.source(PAD).clients == 2
    assert refused(bench.command(PAD, STILL)) == ["two_clients"]
    assert refused(bench.command(PAD, FORWARD)) == ["two_clients"]
    bench.wait(0.6, [PAD])
    assert bench.source(PAD).clients == 1
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]
    bench.command(PAD, STILL)
    assert kinds(bench.command(PAD, FORWARD)) == ["INPUT"]


def test_clients_of_a_source_are_bounded() -> None:
    bench = Bench()
    for number in range(1000):
        bench.hear(events.Heartbeat(PAD, f"client {number}", True))
    assert bench.source(PAD).clients == 8


# ---- rule 8: jaws ------------------------------------------------------------------------------


def test_rule8_no_arm_input_lets_the_jaws_go_on() -> None:
    bench = Bench()
    bench.jog(PAD, POSE)
    (word,) = sent(bench.command(PAD, JAWS_ONLY))
    assert (word.kind, word.input) == (CommandKind.INPUT, JAWS_ONLY)
    assert stops(bench.command(PAD, STILL)) == [StopCause.NEUTRAL]


def test_B5_a_pose_that_is_not_held_is_a_stop_and_a_neutral() -> None:
    bench = Bench()
    bench.jog(PAD, POSE)
    assert stops(bench.command(PAD, POSE_HELD)) == [StopCause.NEUTRAL]
    assert kinds(bench.command(PAD, POSE)) == ["INPUT"]


# ---- rule 9: the stop --------------------------------------------------------------------------


def test_rule9_U4_release_sends_one_stop_and_then_silence() -> None:
    bench = Bench()
    bench.jog()
    assert stops(bench.command(PAD, STILL)) == [StopCause.NEUTRAL]
    out = bench.wait(10.0, [PAD], rests=True)
    for _ in range(20):
        out += bench.command(PAD, STILL)
    assert sent(out) == []


def test_rule9_idle_is_silent_but_for_one_stop_when_the_driver_is_heard() -> None:
    bench = Bench(ready=False)
    assert sent(bench.silence(1.0, [PAD])) == []
    (first,) = sent(bench.wait(5.0, [PAD]))
    assert (first.kind, first.sequence) == (CommandKind.STOP, 1)


def test_D7_the_activity_ends_when_feedback_confirms_rest() -> None:
    bench = Bench()
    bench.jog()
    executing = report(ArmCondition.EXECUTING)
    bench.wait(0.5, [PAD], executing, rests=False)
    bench.command(PAD, STILL)
    for feedback in (executing, events.JointFeedback(True), events.JointFeedback(False), report()):
        bench.hear(feedback)
        assert bench.state.activity is Activity.EASING
    bench.hear(events.JointFeedback(True))
    assert bench.state.activity is Activity.STILL
    assert not bench.state.fault_latched


def test_U12_a_driver_that_does_not_engage_ends_the_motion_and_wants_a_neutral() -> None:
    bench = Bench()
    bench.wait(5.0, [PAD], report(ArmCondition.IDLE))
    bench.jog()
    out = bench.wait(0.4, [PAD], report(ArmCondition.IDLE))
    assert stops(out) == [], "what it said before it was asked for motion is no answer"
    out = bench.wait(1.0, [PAD], report(ArmCondition.IDLE))
    assert stops(out) == [StopCause.DRIVER_IDLE]
    assert bench.source(PAD).neutral_required
    assert kinds(bench.command(PAD, FORWARD)) == []
    bench.command(PAD, STILL)
    assert kinds(bench.command(PAD, FORWARD)) == ["INPUT"]


def test_a_driver_that_is_idle_for_a_moment_ends_nothing() -> None:
    bench = Bench()
    bench.jog()
    for state in (ArmCondition.IDLE, ArmCondition.EXECUTING) * 5:
        assert stops(bench.wait(0.3, [PAD], report(state))) == []
    assert bench.is_moving()


def test_rule9_a_stop_that_is_not_confirmed_is_repeated_once_and_latches_a_fault() -> None:
    bench = Bench()
    bench.jog()
    bench.command(PAD, STILL)
    out = bench.wait(5.0, [PAD], rests=False)
    assert stops(out) == [StopCause.STOP_UNCONFIRMED]
    assert bench.state.activity is Activity.STILL
    assert bench.state.fault_causes == ("stop_unconfirmed",)


def test_the_stop_that_the_owner_asks_for_leaves_the_motion_time_to_fade() -> None:
    bench = Bench()
    for command in (STILL, TWIST_HELD, POSE_HELD):
        bench.jog()
        (stop,) = sent(bench.command(PAD, command))
        assert (stop.kind, stop.lifetime) == (CommandKind.STOP, 0.5)
    bench = Bench(replace(CONFIG, ease_time=0.0))
    bench.jog()
    (stop,) = sent(bench.command(PAD, STILL))
    assert stop.lifetime == 0.0


ENDINGS: list[tuple[events.Event, StopCause]] = [
    (ESTOP, StopCause.ESTOP),
    (events.Reset(), StopCause.RESET),
    (events.Shutdown(), StopCause.SHUTDOWN),
    (events.SourceGone(PAD), StopCause.SOURCE_GONE),
    (events.Heartbeat(PAD, "teleop-1", False), StopCause.SOURCE_GONE),
    (events.Heartbeat(PAD, "intruder", True), StopCause.TWO_CLIENTS),
    (events.Acquire(APP, "app-1", take=True), StopCause.LEASE_TAKEN),
    (events.Return(PAD, "teleop-1"), StopCause.LEASE_RETURNED),
    (events.Command(PAD, NONSENSE, 0, 0), StopCause.COMMAND_REFUSED),
    (report(ArmCondition.MAJOR_FAULT), StopCause.FAULT),
    (report(emo=True, epoch=1), StopCause.ESTOP),
    (report(holds=("no_guard",)), StopCause.ARM_HELD),
]


@pytest.mark.parametrize(("event", "cause"), ENDINGS)
@pytest.mark.parametrize("fading", [False, True])
def test_rule1_rule7_whatever_else_ends_motion_ends_it_at_once_also_while_it_fades(
    event: events.Event, cause: StopCause, fading: bool
) -> None:
    bench = Bench()
    bench.jog()
    bench.hear(bench.beat(APP))
    if fading:
        bench.command(PAD, STILL)
    out = bench.hear(event)
    assert stops(out) == [cause]
    assert all(word.lifetime == 0.0 for word in sent(out))
    if not isinstance(event, (events.EStopPress, events.Shutdown)):
        assert stops(bench.hear(event)) == [], "said once"


def test_rule6_a_source_that_falls_silent_while_its_motion_fades_ends_it_at_once() -> None:
    bench = Bench()
    bench.jog()
    bench.wait(0.3)
    bench.command(PAD, STILL)
    (stop,) = sent(bench.wait(0.3, rests=False))
    assert stop.lifetime == 0.0
    assert bench.state.last_stop_cause is StopCause.SOURCE_SILENT


def test_rule9_a_second_neutral_does_not_make_the_fading_last_longer() -> None:
    bench = Bench()
    bench.jog()
    bench.command(PAD, STILL)
    assert sent(bench.command(PAD, STILL)) == []
    assert sent(bench.command(PAD, TWIST_HELD)) == []


def test_rule9_the_time_to_confirm_a_stop_begins_when_the_motion_must_have_faded() -> None:
    bench = Bench()
    bench.jog()
    bench.command(PAD, STILL)
    executing = report(ArmCondition.EXECUTING)
    assert stops(bench.wait(0.5, [PAD], executing, rests=False)) == []
    assert stops(bench.wait(1.9, [PAD], rests=False)) == []
    assert stops(bench.wait(0.2, [PAD], rests=False)) == [StopCause.STOP_UNCONFIRMED]


def test_rule4_an_idle_owner_keeps_the_lease_until_its_motion_has_faded() -> None:
    hasty = replace(CONFIG.sources[0], idle_release=0.1)
    bench = Bench(replace(CONFIG, sources=(hasty,)))
    bench.jog()
    bench.command(PAD, STILL)
    bench.wait(0.3, [PAD], report(ArmCondition.EXECUTING), rests=False)
    assert bench.state.owner == PAD
    bench.wait(0.1, [PAD], rests=True)
    assert bench.state.owner == ""


def test_rule9_motion_may_go_on_while_a_stop_is_not_confirmed_yet() -> None:
    bench = Bench()
    bench.jog()
    bench.command(PAD, STILL)
    assert kinds(bench.command(PAD, RIGHT)) == ["INPUT"]
    assert bench.is_moving()


# ---- rule 10: refusals -------------------------------------------------------------------------


def test_rule10_a_malformed_command_is_refused_counted_and_ends_the_one_before_it() -> None:
    bench = Bench()
    bench.jog()
    out = bench.command(PAD, NONSENSE)
    assert (refused(out), stops(out)) == (["not_finite"], [StopCause.COMMAND_REFUSED])
    bench.command(PAD, NONSENSE)
    refusal = bench.state.refusals[0]
    assert refusal is not None
    assert (refusal.code, refusal.source, refusal.count) == ("not_finite", PAD, 2)
    assert bench.source(PAD).refusals == 2


def test_rule10_a_source_that_is_not_configured_is_refused() -> None:
    bench = Bench()
    for event in (
        events.Command("nobody", FORWARD, 0, 0),
        events.Heartbeat("nobody", "x", True),
        events.SourceGone("nobody"),
    ):
        assert refused(bench.hear(event)) == ["unknown_source"]


# ---- rule 11: exit -----------------------------------------------------------------------------


@pytest.mark.parametrize("moving", [False, True])
def test_rule11_D6_U13_a_stop_is_the_last_word_before_the_exit(moving: bool) -> None:
    bench = Bench()
    if moving:
        bench.jog()
    assert stops(bench.hear(events.Shutdown())) == [StopCause.SHUTDOWN]
    bench.said.clear()
    bench.arm()
    bench.command(PAD, FORWARD)
    bench.hear(ESTOP, events.Reset(), events.Tick(), events.Shutdown())
    assert bench.said == []


# ---- the driver --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heard", "code"),
    [
        (None, "driver_lost"),
        (report(ArmCondition.NONE), "arm_disconnected"),
        (report(77), "arm_disconnected"),
        (report(powered=False), "arm_unpowered"),
        (report(ArmCondition.NONE, active=False), "driver_inactive"),
        (report(ArmCondition.IDLE, active=False, holds=("inactive",)), "driver_inactive"),
        (report(holds=("not_identified",)), "arm_held"),
        (report(ArmCondition.MINOR_FAULT), "driver_faulted"),
        (report(service_mode=True), "service_mode"),
    ],
)
def test_U12_U15_an_arm_that_cannot_move_gets_no_motion(
    heard: events.ArmReport | None, code: str
) -> None:
    bench = Bench(ready=False)
    if heard is not None:
        bench.hear(heard)
    bench.arm()
    out = bench.command(PAD, FORWARD)
    assert (refused(out), kinds(out)) == ([code], [])


@pytest.mark.parametrize(
    ("report_", "cause"),
    [
        (report(active=False, holds=("inactive",)), StopCause.DRIVER_INACTIVE),
        (report(holds=("no_guard",)), StopCause.ARM_HELD),
        (
            report(ArmCondition.MINOR_FAULT, causes=("temperature_too_high axis_c",)),
            StopCause.FAULT,
        ),
        (report(service_mode=True), StopCause.SERVICE_MODE),
    ],
)
def test_rule3_what_the_driver_holds_back_stops_motion_latches_nothing_and_wants_a_neutral(
    report_: events.ArmReport, cause: StopCause
) -> None:
    bench = Bench()
    bench.jog()
    assert stops(bench.hear(report_)) == [cause]
    assert not bench.state.fault_latched
    bench.hear(report())
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]
    bench.wait(0.1, [PAD], rests=True)
    bench.jog()


@pytest.mark.parametrize("state", [1, 2, 3])
def test_an_arm_in_these_states_may_move(state: int) -> None:
    bench = Bench()
    bench.hear(report(state))
    bench.arm()
    assert kinds(bench.command(PAD, FORWARD)) == ["INPUT"]


def test_U12_a_driver_that_falls_silent_in_motion_latches_a_fault() -> None:
    bench = Bench()
    bench.jog()
    assert stops(bench.silence(0.6, [PAD])) == [StopCause.DRIVER_LOST]
    assert bench.state.fault_causes == ("driver_lost",)
    assert not bench.state.driver_connected


def test_a_driver_that_falls_silent_at_rest_only_asks_for_a_neutral() -> None:
    bench = Bench()
    bench.arm()
    assert sent(bench.silence(0.6, [PAD])) == []
    assert stops(bench.hear(report())) == [StopCause.DRIVER_HEARD]
    assert not bench.state.fault_latched
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]


def test_U8_an_arm_that_is_unplugged_in_motion_comes_back_disarmed_without_a_fault() -> None:
    bench = Bench()
    bench.jog()
    unplugged = report(ArmCondition.NONE)
    assert stops(bench.hear(unplugged)) == [StopCause.ARM_DISCONNECTED]
    bench.wait(5.0, [PAD], unplugged)
    bench.hear(report())
    assert not bench.state.fault_latched
    assert refused(bench.command(PAD, FORWARD)) == ["neutral_required"]


def test_a_driver_that_starts_anew_is_given_the_latch_that_stands() -> None:
    bench = Bench()
    bench.hear(ESTOP)
    bench.silence(0.6)
    (stop,) = sent(bench.hear(report()))
    assert stop.stop_level is StopLevel.CUT


# ---- the interface -----------------------------------------------------------------------------


def test_sequence_numbers_grow_by_one_from_one() -> None:
    bench = Bench(ready=False)
    bench.hear(report())
    bench.arm()
    bench.command(PAD, FORWARD)
    bench.wait(0.3, [PAD])
    bench.hear(ESTOP, events.Reset(), events.Shutdown())
    numbers = [word.sequence for word in sent(bench.said)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 5


def test_an_illegal_call_raises_and_changes_nothing() -> None:
    bench = Bench()
    bench.jog()
    before = bench.state
    for now in (bench.now - 1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="time"):
            bench.arbiter.handle(ESTOP, now)
    with pytest.raises(TypeError):
        bench.arbiter.handle("stop", bench.now)  # type: ignore[arg-type]
    assert repr(bench.state) == repr(before)


def test_a_twin_goes_its_own_way() -> None:
    bench = Bench()
    bench.jog()
    twin = bench.arbiter.fork()
    twin.handle(ESTOP, bench.now)
    assert twin.snapshot(bench.now).estop_latched
    assert not bench.state.estop_latched
    assert bench.is_moving()


def test_the_same_events_give_the_same_outputs() -> None:
    def run() -> list[events.Output]:
        bench = Bench()
        bench.jog()
        bench.wait(0.3, [PAD])
        bench.hear(ESTOP, events.Reset())
        return bench.said

    assert repr(run()) == repr(run())


@pytest.mark.parametrize(
    "make",
    [
        lambda: ArbiterConfig(()),
        lambda: ArbiterConfig((SourceConfig("a"), SourceConfig("a"))),
        lambda: ArbiterConfig((SourceConfig("a"),), repeat_period=0.2, command_lifetime=0.25),
    ],
)
def test_a_configuration_that_cannot_work_is_refused(make: Callable[[], ArbiterConfig]) -> None:
    with pytest.raises(ValueError, match=r"sources|repeat_period"):
        make()


def _written(bench: Bench, command: MotionCommand, writer: str) -> list[events.Output]:
    bench.now += 0.01
    stamp = WALL + round(bench.now * 1e9)
    return bench.hear(events.Command(PAD, command, stamp, stamp, "gripper_ctrl", writer))


def test_two_writers_on_one_topic_stop_the_arm_although_one_heartbeat_speaks_for_both() -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD))
    _written(bench, STILL, "first")
    assert kinds(_written(bench, FORWARD, "first")) == ["INPUT"]
    out = _written(bench, RIGHT, "second")
    assert (refused(out), stops(out)) == (["two_clients"], [StopCause.TWO_CLIENTS])
    assert bench.source(PAD).clients == 2
    assert bench.state.owner == ""
    bench.hear(bench.beat(PAD))
    assert refused(_written(bench, STILL, "second")) == ["two_clients"]
    bench.wait(0.6, [PAD])
    assert not refused(_written(bench, STILL, "second"))
    assert kinds(_written(bench, RIGHT, "second")) == ["INPUT"]


def test_who_holds_the_stick_still_is_not_forgotten_as_a_writer() -> None:
    bench = Bench()
    bench.hear(bench.beat(PAD))
    _written(bench, STILL, "first")
    _written(bench, FORWARD, "first")
    bench.wait(2.0, [PAD])
    assert bench.is_moving()
    assert stops(_written(bench, RIGHT, "second")) == [StopCause.TWO_CLIENTS]


def test_writers_are_told_apart_on_each_topic_for_itself() -> None:
    bench = Bench()
    bench.arm()
    stamp = WALL + round(bench.now * 1e9)
    bench.hear(events.Command(PAD, STILL, stamp, stamp, "gripper_ctrl", "first"))
    out = bench.hear(events.Command(PAD, STILL, stamp, stamp, "twist", "second"))
    assert not refused(out)
    assert bench.source(PAD).clients == 1


def test_asking_for_a_lease_that_one_has_changes_nothing() -> None:
    bench = Bench()
    bench.jog()
    out = bench.hear(events.Acquire(PAD, bench.clients[PAD]))
    assert reply(out).success
    assert "yours" in reply(out).message
    assert bench.is_moving()
    assert (bench.state.asked.source, bench.state.asked.granted) == (PAD, True)
    bench.hear(bench.beat(APP), events.Acquire(APP, bench.clients[APP]))
    assert (bench.state.asked.source, bench.state.asked.granted) == (APP, False)
