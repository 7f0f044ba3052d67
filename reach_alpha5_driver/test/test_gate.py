"""The gate: motion passes only while everything allows it, at the moment of the write."""

from __future__ import annotations

import math
import random

import pytest
from driver_rig import FORWARD, RATE_LIMITS

from reach_alpha5_common.command import STILL, StopLevel
from reach_alpha5_driver.demand import Demand
from reach_alpha5_driver.devices import BASE_UNIT, DEVICES
from reach_alpha5_driver.gate import NOTHING, RATE_TOLERANCE, Gate, Release
from reach_alpha5_driver.holds import Hold
from reach_alpha5_driver.protocol import packets
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.protocol.packets import STOP_FRAMES
from reach_alpha5_driver.states import Event, State, after
from reach_alpha5_driver.stops import Beyond

RATES = (0.1, 0.0, 0.0, 0.0, 0.001)
STOP = Release(True, STOP_FRAMES)
STANDBY = Release(True, STOP_FRAMES + packets.mode_frames(packets.Mode.STANDBY))
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
    assert gate.last_stop_cause == "stale_posture"
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


def test_a_new_gate_is_closed_held_and_takes_the_arm_for_moving():
    gate = Gate(RATE_LIMITS, REPEAT)
    assert gate.state is State.NONE
    assert set(gate.holds) == set(Hold)
    assert gate.moved
    assert gate.released_rates == (0.0,) * 5
    assert (gate.stops, gate.last_stop_cause) == (0, "")
    assert gate.last_stop_at == gate.disengaged_at == -math.inf


def test_the_first_time_that_all_joints_are_heard_is_a_stop_too():
    gate = Gate(RATE_LIMITS, REPEAT)
    assert gate.release(0.0, True) == STOP
    assert gate.last_stop_cause == "heard_again"


def test_what_was_let_out_is_known_and_counted():
    gate = moving()
    assert gate.released_rates == RATES
    assert gate.moved
    stops = gate.stops
    gate.stop("commanded", 1.1)
    assert gate.stop_owed is True
    gate.release(1.1, True)
    assert gate.stop_owed is False
    assert (gate.stops, gate.last_stop_at) == (stops + 1, 1.1)
    assert gate.released_rates == (0.0,) * 5
    assert not gate.moved


def test_rates_leave_as_one_velocity_frame_for_each_joint():
    gate = opened()
    gate.take(Demand(FORWARD, 1.25))
    gate.set_rates(RATES)
    sent = [
        packets.parse(frame) for frame in StreamDecoder().receive(gate.release(1.0, True).data)
    ]
    assert [packet.device for packet in sent] == [device.id for device in DEVICES]
    assert [packet.value for packet in sent] == pytest.approx(RATES)


def test_a_step_to_a_preset_leaves_as_it_is_and_at_rates_that_nobody_knows():
    gate = opened()
    gate.take(Demand(FORWARD, 1.25))
    gate.set_preset(2)
    assert gate.release(1.0, True).data == packets.encode(packets.PresetGo(BASE_UNIT, 2))
    assert len(gate.released_rates) == 5
    assert all(map(math.isnan, gate.released_rates))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("joint", range(5))
def test_a_rate_may_stand_at_its_limit_as_rounding_has_it(joint, sign):
    gate = moving()
    rates = list(RATES)
    rates[joint] = sign * RATE_LIMITS[joint] * (1.0 + RATE_TOLERANCE)
    gate.set_rates(rates)
    assert gate.release(1.1, True).data
    rates[joint] = sign * RATE_LIMITS[joint] * (1.0 + 2.0 * RATE_TOLERANCE)
    with pytest.raises(ValueError):
        gate.set_rates(rates)


@pytest.mark.parametrize("rates", [RATES[:4], (*RATES, 0.0)])
def test_there_is_one_rate_for_each_joint(rates):
    gate = moving()
    with pytest.raises(ValueError):
        gate.set_rates(rates)


def test_bad_rates_take_the_good_ones_before_them_back():
    gate = moving()
    gate.set_rates(RATES)
    with pytest.raises(ValueError):
        gate.set_rates((math.nan, *RATES[1:]))
    assert gate.release(1.1, True) == NOTHING


def test_a_new_demand_does_not_go_on_with_the_rates_of_one_that_ended():
    gate = moving()
    gate.set_rates(RATES)
    gate.rest("neutral")
    assert gate.release(1.1, True) == STOP
    assert gate.take(Demand(FORWARD, 2.0))
    assert gate.release(1.2, True) == NOTHING


# -- holds, engagement


@pytest.mark.parametrize("hold", Hold)
def test_a_hold_ends_motion_and_bears_its_name(hold):
    gate = moving()
    gate.hold(hold, 1.1)
    assert gate.release(1.1, True) == STOP
    assert gate.last_stop_cause == hold.code
    assert gate.state is State.IDLE
    gate.engage()
    assert gate.state is State.IDLE
    gate.lift(hold)
    gate.lift(hold)
    assert gate.state is State.IDLE
    gate.engage()
    assert gate.state is State.ENABLED


def test_a_hold_that_stands_already_ends_nothing_anew():
    gate = opened()
    gate.hold(Hold.UNPOWERED, 2.0)
    gate.hold(Hold.UNPOWERED, 3.0)
    assert gate.disengaged_at == 2.0


def test_a_latched_estop_keeps_everybody_from_engaging():
    gate = opened()
    gate.estop(StopLevel.SETTLE_THEN_CUT, 2.0)
    assert gate.state is State.IDLE
    assert gate.disengaged_at == 2.0
    gate.engage()
    assert gate.state is State.IDLE


WRONG = {
    "estop": lambda gate: setattr(gate, "estop_level", StopLevel.CUT),
    "hold": lambda gate: gate.holds.setdefault(Hold.MISMATCH),
    "state": lambda gate: setattr(gate, "state", State.IDLE),
}
"""What no call leads to: an error of ours."""


@pytest.mark.parametrize("wrong", WRONG)
def test_nothing_moves_on_one_promise_when_another_is_broken(wrong):
    gate = moving()
    gate.set_rates(RATES)
    WRONG[wrong](gate)
    assert gate.release(1.1, True) == NOTHING
    gate = opened()
    WRONG[wrong](gate)
    assert not gate.take(Demand(FORWARD, 2.0))
    gate.set_rates(RATES)
    assert gate.release(1.1, True) == NOTHING


def test_execution_without_a_demand_is_stopped():
    gate = moving()
    gate.demand = None
    assert gate.release(1.1, True) == STOP
    assert gate.last_stop_cause == "expired"
    assert gate.state is State.ENABLED


def in_state(state: State) -> Gate:
    """Return a gate that a few calls have brought into a state at 1 s; nothing is owed."""
    if state is State.NONE:
        gate = free()
    elif state is State.EXECUTING:
        return moving()
    else:
        gate = opened()
    if state is State.IDLE:
        gate.disengage("stale_posture", 1.0)
    elif state is State.MINOR_FAULT:
        gate.minor_fault("minor", 1.0)
    elif state is State.MAJOR_FAULT:
        gate.fault("major", 1.0)
    gate.release(1.0, True)
    assert gate.state is state
    return gate


ALIVE = (State.IDLE, State.ENABLED, State.EXECUTING)


@pytest.mark.parametrize("state", State)
def test_an_arm_that_falls_silent_is_no_arm_and_a_fault_stays_one(state):
    gate = in_state(state)
    gate.arm_answers(False, 2.0)
    assert gate.state is (State.NONE if state in ALIVE else state)
    assert gate.demand is None
    assert gate.disengaged_at < 2.0


@pytest.mark.parametrize("state", State)
def test_an_arm_that_goes_on_answering_changes_nothing_but_the_first_time(state):
    gate = in_state(state)
    demand, first = gate.demand, state is State.NONE
    gate.arm_answers(True, 2.0)
    assert gate.state is (State.IDLE if first else state)
    assert gate.demand is demand
    assert (gate.disengaged_at == 2.0) is first


@pytest.mark.parametrize("state", ALIVE)
def test_whoever_is_disengaged_must_engage_again(state):
    gate = in_state(state)
    gate.disengage("stale_posture", 2.0)
    assert gate.state is after(state, Event.DISENGAGE) is State.IDLE
    assert gate.disengaged_at == 2.0
    assert not gate.take(Demand(FORWARD, 3.0))


# -- faults


@pytest.mark.parametrize("state", set(State) - {State.MAJOR_FAULT, State.MINOR_FAULT})
def test_a_minor_fault_stops_whatever_the_arm_does_and_latches(state):
    gate = in_state(state)
    gate.minor_fault("hot", 1.05)
    assert gate.state is after(state, Event.MINOR) is State.MINOR_FAULT
    assert gate.release(1.05, True) == STOP
    assert gate.last_stop_cause == "fault"
    assert gate.disengaged_at == 1.05
    assert gate.fault_causes == ["hot"]
    gate.engage()
    assert not gate.take(Demand(FORWARD, 3.0))


def test_the_next_minor_fault_is_listed_and_says_no_stop_of_its_own():
    gate = in_state(State.MINOR_FAULT)
    gate.minor_fault("hot", 1.05)
    assert gate.release(1.05, True) == NOTHING
    assert gate.fault_causes == ["minor", "hot"]


def test_a_minor_fault_after_a_major_one_changes_nothing_but_the_list():
    gate = in_state(State.MAJOR_FAULT)
    gate.minor_fault("hot", 1.05)
    assert gate.state is State.MAJOR_FAULT
    assert gate.release(1.05, True) == NOTHING
    assert gate.fault_causes == ["major", "hot"]


def test_a_major_fault_right_after_another_stop_bears_its_name():
    gate = opened()
    gate.stop("commanded", 1.0)
    gate.release(1.0, True)
    gate.fault("internal_error", 1.01)
    assert gate.release(1.01, True) == STOP
    assert gate.last_stop_cause == "fault"


@pytest.mark.parametrize("state", State)
def test_only_a_minor_fault_ends_by_itself_and_the_arm_is_looked_for_anew(state):
    gate = in_state(state)
    causes = list(gate.fault_causes)
    gate.recover()
    minor = state is State.MINOR_FAULT
    assert gate.state is (State.NONE if minor else state)
    assert gate.fault_causes == ([] if minor else causes)
    assert after(state, Event.RECOVER) is gate.state


@pytest.mark.parametrize("state", [State.MAJOR_FAULT, State.MINOR_FAULT])
def test_a_reset_clears_the_fault_and_the_arm_is_looked_for_anew(state):
    gate = in_state(state)
    gate.reset()
    assert gate.state is State.NONE
    assert gate.fault_causes == []


def test_states_have_the_numbers_of_arm_state():
    assert {state.name: state.value for state in State} == {
        "NONE": 0,
        "IDLE": 1,
        "ENABLED": 2,
        "EXECUTING": 3,
        "MAJOR_FAULT": 4,
        "MINOR_FAULT": 5,
    }


# -- stops


def test_an_estop_at_rest_bears_its_name_and_so_does_a_worse_one():
    gate = opened()
    gate.estop(StopLevel.SETTLE_THEN_CUT, 1.0)
    gate.release(1.0, True)
    assert gate.last_stop_cause == "estop"
    gate.stop("commanded", 1.2)
    gate.estop(StopLevel.CUT, 1.2)
    assert gate.release(1.2, True) == CUT
    assert gate.last_stop_cause == "estop"


def test_the_stop_after_a_cut_says_nothing_of_power():
    gate = opened()
    gate.estop(StopLevel.CUT, 1.0)
    assert gate.release(1.0, True) == CUT
    gate.stop("commanded", 2.0)
    assert gate.release(2.0, True) == STOP


def test_stops_at_rest_keep_their_period_and_no_more():
    gate = opened()
    gate.stop("commanded", 0.5 * REPEAT)
    assert gate.release(0.5 * REPEAT, True) == NOTHING
    gate.stop("commanded", REPEAT)  # since 0.0
    assert gate.release(REPEAT, True) == STOP


def test_an_arm_that_may_move_is_stopped_however_soon_after_another_stop():
    gate = moving()
    gate.stop("commanded", 1.1)
    gate.release(1.1, True)
    gate.take(Demand(FORWARD, 2.0))
    gate.set_rates(RATES)
    assert gate.release(1.11, True).data
    gate.line_closed(1.12)
    gate.stop("commanded", 1.13)
    assert gate.stop_owed


def test_an_arm_just_connected_may_move():
    gate = opened()
    assert not gate.moved
    gate.line_opened()
    assert gate.moved
    assert gate.release(2.0, False) == STOP
    assert gate.last_stop_cause == "connected"


@pytest.mark.parametrize(
    ("beyond", "cause", "written"),
    [
        (Beyond.NOTHING, "still_moving", STOP),
        (Beyond.STANDBY, "still_moving_standby", STANDBY),
        (Beyond.DISABLE, "still_moving_disable", CUT),
    ],
)
def test_an_arm_that_does_not_obey_is_stopped_by_other_means(beyond, cause, written):
    gate = opened()
    gate.still_moving(beyond)
    assert gate.release(1.0, True) == written
    assert gate.last_stop_cause == cause


def test_a_cut_of_the_power_is_a_stop_that_disables_the_motors():
    gate = opened()
    gate.cut()
    assert gate.release(1.0, True) == CUT
    assert gate.last_stop_cause == "power_cut"


def test_the_first_of_several_causes_is_the_one_that_is_shown():
    gate = moving()
    gate.stop("commanded", 1.1)
    gate.stop("another", 1.1)
    gate.rest("neutral")
    gate.release(1.1, True)
    assert gate.last_stop_cause == "commanded"


def test_what_ends_no_demand_owes_no_stop():
    gate = moving()
    gate.line_closed(1.1)
    gate.rest("neutral")
    assert gate.moved
    assert not gate.stop_owed


def test_another_cause_of_a_fault_is_a_stop_too_when_the_last_one_is_a_while_ago():
    gate = in_state(State.MAJOR_FAULT)
    gate.fault("another", 1.0 + REPEAT)
    assert gate.release(1.0 + REPEAT, True) == STOP


# -- motion that fades


def test_motion_that_fades_goes_on_until_its_time_is_over():
    gate = moving()
    assert gate.ease("fade_over", 2.0) is True
    assert gate.demand is not None
    assert gate.demand.command == STILL
    gate.set_rates(RATES)
    assert not gate.release(1.9, True).purge
    assert gate.release(2.0, True) == STOP
    assert gate.last_stop_cause == "fade_over"


def test_motion_that_fades_already_gets_no_longer_for_it():
    gate = moving()
    assert gate.ease("fade_over", 2.0) is True
    assert gate.ease("fade_over", 3.0) is True
    assert gate.release(2.0, True) == STOP


def test_an_arm_that_was_not_moved_has_nothing_to_fade():
    gate = opened()
    assert gate.ease("fade_over", 2.0) is False
    demand = Demand(FORWARD, 1.25)
    gate.take(demand)
    assert gate.ease("fade_over", 2.0) is False
    assert gate.demand is demand


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
