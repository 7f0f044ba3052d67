"""The accumulators of the report, each alone."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_dives import JOINTS, arbiter, arm, jog, refusal, tip

from reach_alpha5_bags.report.dive import Dive
from reach_alpha5_bags.report.joints import Health, Motion
from reach_alpha5_bags.report.lanes import Events, States
from reach_alpha5_bags.report.latency import Traffic
from reach_alpha5_bags.report.link import Link
from reach_alpha5_bags.report.reaction import PATIENCE, Reaction
from reach_alpha5_bags.report.series import Envelope, Spread
from reach_alpha5_bags.report.timeline import Arbiter, Driver
from reach_alpha5_bags.report.tip import Tip
from reach_alpha5_msgs import msg

SAMPLES = st.lists(
    st.tuples(st.floats(0.0, 1e5), st.floats(-1e3, 1e3)), min_size=1, max_size=200
).map(sorted)


@given(SAMPLES)
def test_a_plot_keeps_every_extreme_in_a_bounded_number_of_buckets(
    samples: list[tuple[float, float]],
) -> None:
    envelope = Envelope(budget=16)
    for at, value in samples:
        envelope.add(at, value)
    assert len(envelope.lows) == len(envelope.highs) <= 16
    assert envelope.smallest == min(value for _, value in samples)
    assert envelope.largest == max(value for _, value in samples)
    for at, value in samples:
        # A sample on the edge of two buckets may be in either.
        place = (at - envelope.begin) / envelope.width
        near = {max(0, math.floor(place - 1e-6)), min(math.floor(place + 1e-6), 15)}
        assert any(
            envelope.lows[k] <= value <= envelope.highs[k] for k in near if k < len(envelope.lows)
        )


def test_a_spike_of_one_sample_is_seen_after_hours() -> None:
    envelope = Envelope()
    for tick in range(400_000):
        envelope.add(tick * 0.02, 99.0 if tick == 123_456 else 1.0)
    assert envelope.largest == 99.0
    spike = int((123_456 * 0.02 - envelope.begin) / envelope.width)
    assert envelope.highs[spike] == 99.0
    assert envelope.lows[spike] == 1.0


def test_what_is_no_number_leaves_a_gap() -> None:
    envelope = Envelope()
    for at, value in ((0.0, 1.0), (1.0, math.nan), (2.0, math.inf), (3.0, 2.0)):
        envelope.add(at, value)
    data: Any = envelope.data()
    assert [value for value in data["low"] if value is not None] == [1.0, 2.0]


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=300))
def test_percentiles_are_right_to_two_hundredths(samples: list[float]) -> None:
    spread = Spread()
    for value in samples:
        spread.add(value)
    for percent in (50, 99, 100):
        exact = sorted(samples)[math.ceil(percent / 100 * len(samples)) - 1]
        assert spread.percentile(percent) == pytest.approx(exact, rel=0.02)


@given(st.lists(st.tuples(st.floats(0.0, 1e4), st.sampled_from("abc"), st.integers(1, 5))))
def test_events_are_folded_and_never_lost(told: list[tuple[float, str, int]]) -> None:
    events = Events(budget=8)
    for at, label, count in sorted(told):
        events.add(at, label, count=count)
    total = sum(count for _, _, count in told)
    assert len(list(events)) <= 8
    assert sum(entry.count for entry in events) == events.count == total
    assert events.folded == len(told) - len(list(events))
    assert sum(events.counts.values()) == total


def test_few_events_are_not_folded() -> None:
    events = Events(budget=8)
    for number in range(8):
        events.add(number * 0.001, "same")
    assert events.folded == 0
    assert len(list(events)) == 8


def test_folded_events_say_from_when_to_when_and_of_which_kinds() -> None:
    events = Events(budget=4)
    for number in range(200):
        events.add(number * 1e4, "ab"[number % 2])
    labels = {label for entry in events for label in (entry.label, *entry.ways)}
    assert labels == {"a", "b"}
    assert next(iter(events)).begin == 0.0
    assert list(events)[-1].end == 199e4


def test_a_state_ends_where_its_messages_cease() -> None:
    states = States()
    for tick in range(11):
        states.keep(tick * 0.1, "teleop")
    states.keep(60.0, "teleop")
    states.close()
    spans = [(entry.begin, entry.end) for entry in states]
    assert spans == [(0.0, 1.0), (60.0, 60.0)]
    assert states.times == {"teleop": 1.0}


def test_a_latch_that_is_told_anew_is_the_same_latch() -> None:
    states = States()
    for at, label in ((0.0, ""), (1.0, "pad"), (1.5, "driver"), (2.0, ""), (3.0, "pad")):
        states.keep(at, label)
    states.close()
    assert states.spells == 2
    assert states.count == 3


def test_times_of_states_are_exact_although_they_are_folded() -> None:
    states = States(budget=8)
    for tick in range(1001):
        states.keep(tick * 0.5, "on" if tick % 2 else "")
    states.close()
    assert len(list(states)) <= 8
    assert states.count == 500
    assert states.times["on"] == pytest.approx(250.0)


def test_stops_and_refusals_are_counted_by_their_counters() -> None:
    lanes = Arbiter()
    lanes.hear(0.0, arbiter(stops=7, last_refusal=refusal("stale_stamp", 4)))
    lanes.hear(
        1.0, arbiter(stops=9, last_stop_cause="estop", last_refusal=refusal("stale_stamp", 6))
    )
    lanes.hear(
        2.0,
        arbiter(
            stops=9,
            last_stop_cause="estop",
            last_refusal=refusal("not_owner", 1, reason="busy"),
            earlier_refusals=[refusal("stale_stamp", 6)],
        ),
    )
    assert [(e.begin, e.label, e.count) for e in lanes.stops] == [(1.0, "estop", 2)]
    refused = [(e.begin, e.label, e.source, e.count) for e in lanes.refusals.lane]
    assert refused == [(1.0, "stale_stamp", "app", 2), (2.0, "not_owner", "app", 1)]


def test_after_a_restart_counters_begin_anew() -> None:
    lanes = Arbiter()
    lanes.hear(0.0, arbiter(stops=7, last_refusal=refusal("not_owner", 40)))
    lanes.hear(1.0, arbiter())
    lanes.hear(2.0, arbiter(stops=2, last_stop_cause="x", last_refusal=refusal("not_owner", 3)))
    assert lanes.stops.count == 2
    assert lanes.refusals.lane.count == 3


def test_the_arm_says_what_holds_it_back_and_when_the_link_is_lost() -> None:
    lanes = Driver()
    lanes.hear(0.0, arm())
    lanes.hear(1.0, arm(state=msg.ArmState.EXECUTING, blocked_by=["limit axis_d"]))
    lanes.hear(2.0, arm(state=msg.ArmState.NONE, link={"connected": False}))
    lanes.hear(3.0, arm(link={"reconnects": 1, "guard_trips": 2}))
    for states in lanes.states.values():
        states.close()
    told = {title: [(e.begin, e.end, e.label) for e in s] for title, s in lanes.states.items()}
    assert told["Held back by"] == [(1.0, 2.0, "limit axis_d")]
    assert told["Link lost"] == [(2.0, 3.0, "lost")]
    assert [label for _, _, label in told["Arm"]] == ["enabled", "executing", "no arm", "enabled"]
    assert lanes.link.counts == {"reconnected": 1, "guard_trip": 2}


def joint_state(velocity: float, jaws: float = 0.0) -> SimpleNamespace:
    return SimpleNamespace(
        name=list(JOINTS),
        position=np.array([1.0] * 5),
        velocity=np.array([0.0, velocity, 0.0, 0.0, jaws]),
    )


def test_time_moving_counts_joints_and_jaws_but_no_gap_in_the_recording() -> None:
    motion = Motion()
    for tick in range(11):
        motion.hear(tick * 0.1, joint_state(0.1))
    motion.hear(9.0, joint_state(0.1))
    motion.hear(9.1, joint_state(0.0, jaws=0.002))
    motion.hear(9.2, joint_state(math.nan))
    motion.hear(9.3, joint_state(0.0))
    assert motion.time_moving == pytest.approx(1.2)


def test_health_keeps_every_joint_and_leaves_out_what_was_not_heard() -> None:
    health = Health()
    state = arm()
    state.joints[2].temperature = math.nan
    state.joints[1].current = 1.9
    health.hear(0.0, state)
    assert health.quantities["current"]["axis_d"].largest == 1.9
    assert not health.quantities["temperature"]["axis_c"].lows
    assert health.joints["axis_e"].device.serial_number == 4711.0


def test_the_link_counts_from_the_begin_of_the_bag_and_over_a_restart() -> None:
    link = Link()
    link.hear(0.0, arm(link={"bad_crc": 5, "bad_cobs": 1}))
    link.hear(1.0, arm(link={"bad_crc": 8, "bad_cobs": 1}))
    link.hear(2.0, arm(link={"bad_crc": 2}))
    assert link.totals["garbled"] == 5
    assert link.counters["garbled"].smallest == 0.0
    assert link.counters["garbled"].largest == 5.0


def test_the_way_of_the_tip_is_no_sum_of_noise() -> None:
    path = Tip()
    for tick in range(1000):
        path.hear(tick * 0.1, tip(0.0004 * (tick % 2), 0.0, 0.0))
    assert path.travelled == 0.0
    for tick in range(101):
        path.hear(100.0 + tick * 0.1, tip(tick * 0.01, 0.0, 0.0))
    assert path.travelled == pytest.approx(1.0, abs=0.002)


def test_no_excursion_of_the_tip_beyond_the_resolution_is_thinned_away() -> None:
    path = Tip(budget=50)
    spots = [(math.cos(k * 0.05) * k * 0.001, math.sin(k * 0.05) * k * 0.001) for k in range(2000)]
    for tick, (x, y) in enumerate(spots):
        path.hear(tick * 0.1, tip(x, y, 0.0))
    assert len(path.points) <= 50
    kept = [point for point in path.points if point is not None]
    for x, y in spots:
        # Thinning again and again adds up to less than twice the last resolution.
        assert min(math.dist((x, y), point[1:3]) for point in kept) <= 2 * path.resolution


def test_a_way_that_nobody_saw_is_not_drawn_and_not_travelled() -> None:
    path = Tip()
    path.hear(0.0, tip(0.0, 0.0, 0.0))
    path.hear(0.1, tip(math.nan, math.nan, math.nan))
    path.hear(0.2, tip(1.0, 0.0, 0.0))
    path.hear(9.0, tip(2.0, 0.0, 0.0))
    assert path.travelled == 0.0
    assert [point and point[1] for point in path.points] == [0.0, None, 1.0, None, 2.0]


def test_a_topic_tells_its_longest_gap_and_its_latency() -> None:
    traffic = Traffic()
    for at in (0.0, 0.1, 0.2, 5.2, 5.3):
        traffic.hear(at, 0.01)
    traffic.hear(5.4, -0.5)
    assert traffic.longest_gap == 5.0
    assert traffic.gap_at == 0.2
    assert traffic.latency.percentile(50) == pytest.approx(0.01, rel=0.02)
    assert traffic.latency.negative == 1


def test_the_arm_answers_a_command_from_rest_alone() -> None:
    reaction = Reaction()
    reaction.joints(0.0, False)
    reaction.command(1.0, jog(0.5))
    reaction.joints(1.04, False)
    reaction.command(1.05, jog(0.5))
    reaction.joints(1.06, True)
    reaction.command(1.1, jog(-0.5))
    reaction.joints(1.12, True)
    assert reaction.start.times.count == 1
    assert reaction.start.times.largest == pytest.approx(0.06)


def test_an_arm_that_has_just_come_to_rest_answers_nothing() -> None:
    reaction = Reaction()
    reaction.joints(0.0, True)
    reaction.joints(0.1, False)
    reaction.command(0.2, jog(0.5))
    reaction.joints(0.3, True)
    assert reaction.start.times.count == 0


def test_a_message_with_other_fields_is_counted_and_hides_no_other() -> None:
    dive = Dive()
    dive.hear("arbiter_state", 0.0, None, 0, SimpleNamespace(owner="teleop"))
    dive.hear("arbiter_state", 1.0, None, 0, arbiter(owner="teleop"))
    dive.finish()
    assert dive.traffic["arbiter_state"].misread == 1
    assert dive.arbiter.states["Owner"].count == 1


def test_a_stop_is_answered_by_rest() -> None:
    reaction = Reaction()
    reaction.joints(0.0, True)
    reaction.command(1.0, msg.DriverCommand())
    reaction.joints(1.02, True)
    reaction.command(1.03, msg.DriverCommand())
    reaction.joints(1.2, False)
    assert reaction.rest.times.count == 1
    assert reaction.rest.times.largest == pytest.approx(0.2)


def test_a_command_without_an_answer_is_counted_and_no_latency() -> None:
    reaction = Reaction()
    reaction.joints(0.0, False)
    reaction.command(1.0, jog(0.5))
    reaction.joints(1.0 + PATIENCE + 0.1, False)
    reaction.joints(1.0 + PATIENCE + 0.2, True)
    assert reaction.start.times.count == 0
    assert reaction.start.unanswered == 1


def test_a_command_that_ends_before_the_arm_moves_is_no_latency() -> None:
    reaction = Reaction()
    reaction.joints(0.0, False)
    reaction.command(1.0, jog(0.5))
    reaction.command(1.01, jog(0.0))
    reaction.joints(1.5, True)
    assert reaction.start.times.count == 0
    assert reaction.start.unanswered == 0
