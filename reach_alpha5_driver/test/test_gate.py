"""The gate: motion passes only while everything allows it, at the moment of the write."""

from __future__ import annotations

import math
import random

import pytest
from driver_rig import FORWARD, RATE_LIMITS

from reach_alpha5_common.command import StopLevel
from reach_alpha5_driver.demand import Demand
from reach_alpha5_driver.gate import NOTHING, Gate, Release
from reach_alpha5_driver.holds import Hold
from reach_alpha5_driver.protocol import packets
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.protocol.packets import STOP_FRAMES
from reach_alpha5_driver.states import State

RATES = (0.1, 0.0, 0.0, 0.0, 0.001)
STOP = Release(True, STOP_FRAMES)
CUT = Release(True, STOP_FRAMES + packets.mode_frames(packets.Mode.DISABLE))
LIFETIME = 0.25
REPEAT = 0.1


def free() -> Gate:
    """Return a gate on which nothing has a hold."""
    gate = Gate(RATE_LIMITS, REPEAT)
    for hold in Hold:
        gate.lift(hold)
    return gate


def opened() -> Gate:
    """Return a gate that waits for a demand."""
    gate = free()
    gate.line_opened()
    assert gate.release(0.0, False) == STOP
    gate.arm_answers(True, 0.0)
    assert gate.release(0.0, True) == STOP
    gate.engage()
    assert gate.state is State.ENABLED
    return gate


def moving(now: float = 1.0) -> Gate:
    """Return a gate that has let motion out, of a demand that began at `now`."""
    gate = opened()
    assert gate.take(Demand(FORWARD, now + LIFETIME))
    gate.set_rates(RATES)
    released = gate.release(now, True)
    assert released.data
    assert not released.purge
    return gate


CLOSERS = {
    "commanded": lambda gate: gate.stop("commanded", 1.1),
    "neutral": lambda gate: gate.rest("neutral"),
    "estop": lambda gate: gate.estop(StopLevel.SETTLE_THEN_CUT, 1.1),
    "fault": lambda gate: gate.fault("unresolved", 1.1),
    "stale_posture": lambda gate: gate.disengage("stale_posture", 1.1),
    "arm_silent": lambda gate: gate.arm_answers(False, 1.1),
    "reset": lambda gate: gate.reset(),
    "shutdown": lambda gate: gate.shutdown(),
}


@pytest.mark.parametrize("cause", CLOSERS)
def test_whatever_closes_the_gate_stops_the_arm_once_and_says_why(cause):
    gate = moving()
    CLOSERS[cause](gate)
    assert gate.release(1.1, True) == STOP
    assert gate.last_stop_cause == cause
    assert gate.release(1.1, True) == NOTHING
    assert gate.release(5.0, True) == NOTHING


@pytest.mark.parametrize("cause", set(CLOSERS) - {"shutdown"})
def test_rates_that_were_staged_before_the_gate_closed_are_never_released(cause):
    gate = moving()
    gate.set_rates(RATES)
    CLOSERS[cause](gate)
    assert gate.release(1.1, True) == STOP
    assert gate.release(1.1, True) == NOTHING


def test_rule_12_a_demand_ends_at_its_lifetime_even_with_fresh_rates_staged():
    gate = moving()
    gate.set_rates(RATES)
    assert gate.release(1.0 + LIFETIME, True) == STOP
    assert gate.last_stop_cause == "expired"
    assert gate.state is State.ENABLED


def test_rule_12_motion_passes_until_just_before_the_end_of_the_lifetime():
    gate = moving()
    gate.set_rates(RATES)
    assert not gate.release(1.0 + LIFETIME - 1e-6, True).purge


def test_motion_needs_a_fresh_posture_at_the_moment_of_the_write():
    gate = moving()
    gate.set_rates(RATES)
    assert gate.release(1.1, False) == STOP
    assert gate.state is State.IDLE


def test_the_stop_is_the_broadcast_first_and_then_all_five():
    frames = StreamDecoder().receive(STOP.data)
    stops = [packets.parse(frame) for frame in frames]
    assert [stop.device for stop in stops] == [0xFF, 1, 2, 3, 4, 5]
    assert all(stop.value == 0.0 for stop in stops)


def test_a_demand_that_never_moved_the_arm_needs_no_stop():
    gate = opened()
    stops = gate.stops
    gate.take(Demand(FORWARD, 1.25))
    assert gate.release(1.3, True) == NOTHING
    assert gate.stops == stops


@pytest.mark.parametrize("cause", ["estop", "fault", "stale_posture", "arm_silent"])
def test_a_closed_gate_takes_no_demand(cause):
    gate = moving()
    CLOSERS[cause](gate)
    assert not gate.take(Demand(FORWARD, 10.0))
    assert gate.demand is None
    gate.engage()
    assert gate.take(Demand(FORWARD, 10.0)) is (cause == "stale_posture")


def test_an_estop_writes_a_stop_on_each_new_latch_even_at_rest():
    gate = opened()
    gate.estop(StopLevel.SETTLE_THEN_CUT, 0.01)
    assert gate.release(0.01, True) == STOP
    gate.estop(StopLevel.CUT, 0.02)
    assert gate.release(0.02, True) == CUT


def test_an_estop_that_is_hammered_does_not_fill_the_line():
    gate = moving()
    written = 0
    for turn in range(1000):
        now = 1.1 + turn * 0.001
        gate.estop(StopLevel.CUT, now)
        written += gate.release(now, True).purge
    assert gate.estop_epoch == 1000
    assert 2 <= written <= 1.0 / REPEAT + 2


def test_the_most_restrictive_level_stays_until_the_reset():
    gate = opened()
    gate.estop(StopLevel.CUT, 0.1)
    gate.estop(StopLevel.SETTLE_THEN_CUT, 0.2)
    assert gate.estop_level is StopLevel.CUT
    gate.reset()
    assert gate.estop_level is StopLevel.NONE


def test_joints_that_were_silent_are_stopped_once_more_when_all_are_heard():
    gate = moving()
    assert gate.release(1.1, False) == STOP
    assert gate.release(1.2, False) == NOTHING
    assert gate.release(1.3, True) == STOP
    assert gate.last_stop_cause == "heard_again"
    assert gate.release(1.4, True) == NOTHING


def test_a_new_fault_writes_a_stop_even_right_after_another_stop():
    gate = moving()
    gate.stop("commanded", 1.1)
    assert gate.release(1.1, True) == STOP
    gate.fault("internal_error", 1.11)
    assert gate.release(1.11, True) == STOP
    gate.fault("internal_error", 1.12)
    assert gate.release(1.12, True) == NOTHING


def test_an_estop_of_no_level_changes_nothing():
    gate = moving()
    gate.estop(StopLevel.NONE, 1.1)
    assert gate.state is State.EXECUTING
    assert gate.estop_epoch == 0


def test_a_reset_ends_in_stillness_not_in_motion():
    gate = moving()
    gate.set_rates(RATES)
    gate.estop(StopLevel.CUT, 1.1)
    gate.reset()
    assert gate.release(1.1, True) == CUT
    assert gate.release(1.12, True) == NOTHING


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1.0, -1.0])
@pytest.mark.parametrize("joint", range(5))
def test_a_rate_beyond_the_description_is_not_staged(joint, bad):
    gate = moving()
    rates = list(RATES)
    rates[joint] = bad
    with pytest.raises(ValueError):
        gate.set_rates(rates)
    assert gate.release(1.1, True) == NOTHING


def test_a_stop_owed_to_a_line_that_is_gone_is_dropped_and_owed_anew_to_the_next():
    gate = moving()
    gate.line_closed(1.1)
    assert not gate.stop_owed
    assert gate.state is State.NONE
    gate.line_opened()
    assert gate.release(2.0, False) == STOP


def test_causes_of_a_fault_are_listed_once_oldest_first():
    gate = opened()
    for cause in ("one", "two", "one"):
        gate.fault(cause, 1.0)
    assert gate.fault_causes == ["one", "two"]


def test_seeded_walk_motion_is_only_released_when_everything_allows_it():
    """Random calls in random order, judged by an independent account of what allows motion."""
    for seed in range(300):
        rng = random.Random(seed)
        gate = free()
        now = 0.0
        latched = faulty = False
        expires = -math.inf
        for _ in range(200):
            now += rng.choice((0.0, 0.001, 0.1, 0.3))
            action = rng.randrange(12)
            if action == 0:
                gate.estop(StopLevel.CUT, now)
                latched, expires = True, -math.inf
            elif action == 1:
                gate.fault("cause", now)
                faulty, expires = True, -math.inf
            elif action == 2:
                gate.reset()
                latched = faulty = False
                expires = -math.inf
            elif action == 3:
                gate.stop("commanded", now)
                expires = -math.inf
            elif action == 4:
                gate.line_closed(now)
                gate.line_opened()
                expires = -math.inf
            elif action in (5, 6):
                gate.arm_answers(True, now)
            elif action in (7, 8):
                gate.engage()
            elif action in (9, 10) and gate.take(Demand(FORWARD, now + LIFETIME)):
                expires = now + LIFETIME
            if gate.demand is not None:
                gate.set_rates(RATES)
            fresh = rng.random() < 0.95
            released = gate.release(now, fresh)
            if released.data and not released.purge:
                assert fresh, seed
                assert not latched, seed
                assert not faulty, seed
                assert now < expires, seed
