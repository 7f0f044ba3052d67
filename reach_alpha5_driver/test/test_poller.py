"""Requests: the line is kept busy, never overrun, and always recovers."""

from __future__ import annotations

import itertools
import random
from collections import Counter, deque
from dataclasses import replace

import pytest

from reach_alpha5_driver.budget import line_problem
from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.poller import (
    QUESTION_BYTES,
    SILENT_AFTER,
    SILENT_PERIOD,
    SILENT_PERIOD_SHARED,
    Poller,
)
from reach_alpha5_driver.protocol import packets
from reach_alpha5_driver.protocol.codec import decode
from reach_alpha5_driver.protocol.packets import PacketId
from reach_alpha5_driver.schedule import FAST, RS485, SLOW, ScheduleConfig

TIMEOUT = 0.1
CONFIG = ScheduleConfig(
    telemetry_window=150, request_timeout=TIMEOUT, slow_telemetry_period=1000.0
)
LIMITS = (PacketId.POSITION_LIMITS, PacketId.VELOCITY_LIMITS)


def poller(**settings) -> Poller:
    """Return a poller whose first turn of the slow values is over."""
    made = Poller(replace(CONFIG, **settings))
    made.start(0.0)
    for target in made._targets:
        target.slow_due = made._config.slow_telemetry_period
    return made


def asked(poller: Poller, now: float) -> list[packets.Request]:
    """Return all requests that the poller makes now."""
    found = []
    while (data := poller.next_request(now)) is not None:
        packet = packets.parse(decode(data))
        assert isinstance(packet, packets.Request)
        found.append(packet)
    return found


def answer(poller: Poller, request: packets.Request, now: float = 0.0) -> None:
    for packet_id in request.packet_ids:
        poller.on_reply(request.device, packet_id, now)


def converse(
    poller: Poller, seconds: float, dead: tuple[int, ...] = (), step: float = 0.0026
) -> list[tuple[float, packets.Request]]:
    """Let the line carry one answer in each step; return what was asked, and when."""
    found = []
    on_the_way: deque[packets.Request] = deque()
    for tick in range(round(seconds / step)):
        now = tick * step
        poller.expire(now)
        for request in asked(poller, now):
            found.append((now, request))
            if request.device not in dead:
                on_the_way.append(request)
        if on_the_way:
            answer(poller, on_the_way.popleft(), now)
    return found


def test_each_device_is_asked_for_three_values_in_turn_until_the_window_is_full():
    requests = asked(poller(), 0.0)
    assert [request.device for request in requests] == [5, 4, 3, 2, 1]
    assert all(request.packet_ids == FAST for request in requests)


def test_nothing_is_asked_before_the_line_is_open():
    made = Poller(CONFIG)
    assert made.next_request(0.0) is None
    assert made.next_time(0.0) == float("inf")


def test_known_fault_request_lists_padded_with_zero_ids():
    made = poller()
    assert len(made.next_request(0.0) or b"") == 9
    made.ask(5, [PacketId.SERIAL_NUMBER])
    made._fast_in_a_row = len(DEVICES)
    assert len(made.next_request(0.0) or b"") == 7


@pytest.mark.parametrize("rate", [0.0, 0.4, 1.0, 60.0])
def test_known_fault_an_integer_period_of_zero_makes_a_busy_loop(rate: float):
    for telemetry in ("request", "heartbeat"):
        config = replace(CONFIG, telemetry=telemetry, telemetry_rate=rate)
        if line_problem(config) is not None:
            continue
        made = Poller(config)
        made.start(0.0)
        now, wakeups = 0.0, 0
        while now < 1.0:
            made.expire(now)
            asked(made, now)
            made.settings(now)
            assert made.next_time(now) > now
            now = made.next_time(now)
            wakeups += 1
        assert wakeups < 1500


def test_a_whole_answer_gives_its_credit_back():
    p = poller()
    first, *_ = asked(p, 0.0)
    assert p.next_request(0.0) is None
    answer(p, first)
    assert [request.device for request in asked(p, 0.0)] == [5]


def test_lost_replies_give_their_credit_back_by_time_out_and_are_counted():
    p = poller()
    asked(p, 0.0)
    p.expire(TIMEOUT - 0.001)
    assert p.unanswered == 0
    p.expire(TIMEOUT)
    assert p.unanswered == 5
    assert not p.awaiting
    assert len(asked(p, TIMEOUT)) == 5


def test_reports_that_nobody_asked_for_give_no_credit():
    p = poller()
    for device in DEVICES:
        p.on_reply(device.id, PacketId.POSITION, 0.0)
        p.on_reply(device.id, PacketId.HARDWARE_STATUS, 0.0)
    assert not p.awaiting
    assert len(asked(p, 0.0)) == 5


def test_a_report_that_comes_twice_gives_its_credit_once():
    p = poller(telemetry_window=300)
    asked(p, 0.0)
    p.on_reply(5, PacketId.POSITION, 0.0)
    p.on_reply(5, PacketId.POSITION, 0.0)
    assert p._orders.bytes == 290


def test_a_credit_that_there_was_not_ends_when_the_line_runs_dry():
    p = poller()
    waiting: deque[packets.Request] = deque()
    most = 0
    for tick in range(10_000):
        now = tick * 0.0026
        waiting += asked(p, now)
        if now < 5.0 and tick % 400 == 0:  # an answer that comes twice, after another one
            answer(p, packets.Request(1 + tick // 400 % 5, FAST), now)
        if waiting:
            answer(p, waiting.popleft(), now)
        most = max(most, len(waiting)) if now > 15.0 else 0
    assert 0 < most <= 5, "what is on its way is what the window holds, again"


def test_a_window_smaller_than_a_request_still_asks_one_at_a_time():
    assert len(asked(poller(telemetry_window=10), 0.0)) == 1


def test_a_dead_device_does_not_slow_the_living():
    dead, duration, step = 3, 10.0, 0.0026
    p = poller()
    per_device = Counter(request.device for _, request in converse(p, duration, (dead,), step))
    living = [count for device, count in per_device.items() if device != dead]
    assert per_device[dead] <= duration / SILENT_PERIOD + SILENT_AFTER / step / 4
    assert min(living) > 0.9 * max(living)
    assert sum(living) > 0.95 * duration / step


def test_a_device_that_answers_again_is_asked_at_once_like_the_others():
    p = poller()
    for turn in range(10):
        asked(p, turn * TIMEOUT)
        p.expire((turn + 1) * TIMEOUT)
    now = 1.0
    asked(p, now)
    p.expire(now + 0.1)
    assert asked(p, now + 0.1) == []
    p.on_reply(3, PacketId.POSITION, now + 0.1)
    assert 3 in {request.device for request in asked(p, now + 0.1)}


def test_slow_values_take_a_turn_of_their_own_spread_over_the_period():
    p = Poller(replace(CONFIG, slow_telemetry_period=1.0))
    p.start(0.0)
    slow = [(now, r.device) for now, r in converse(p, 2.0) if r.packet_ids == SLOW]
    assert Counter(device for _, device in slow) == dict.fromkeys(range(1, 6), 2)
    first = [now for now, _ in slow[:5]]
    assert [round(now, 1) for now in first] == [0.0, 0.2, 0.4, 0.6, 0.8]


def test_a_fixed_rate_paces_the_requests():
    p = poller(telemetry_rate=20.0)
    times = [now for now, request in converse(p, 5.0) if request.device == 4]
    assert len(times) == pytest.approx(100, abs=2)
    gaps = [after - before for before, after in itertools.pairwise(times)]
    assert max(gaps) < 0.06


def test_a_late_wakeup_is_not_made_up_for_by_a_burst():
    p = poller(telemetry_rate=20.0)
    for request in asked(p, 5.0):
        answer(p, request, 5.0)
    assert len(asked(p, 5.001)) <= 5
    assert asked(p, 5.04) == []


def test_a_question_is_asked_once_within_a_round_and_before_slow_values():
    p = Poller(replace(CONFIG, slow_telemetry_period=0.001))
    p.start(0.0)
    p.ask(2, [PacketId.SERIAL_NUMBER])
    p.ask(2, [PacketId.SERIAL_NUMBER])
    requests = [request for _, request in converse(p, 0.2)]
    question = packets.Request(2, (PacketId.SERIAL_NUMBER,))
    assert requests.count(question) == 1
    before = requests[: requests.index(question)]
    assert len(before) <= len(DEVICES)
    assert all(request.packet_ids == FAST for request in before)


def test_questions_do_not_starve_fast_values_nor_the_other_way_round():
    p = poller()
    for device in DEVICES:
        for packet_id in (PacketId.SERIAL_NUMBER, PacketId.MODEL_NUMBER, PacketId.MODE):
            p.ask(device.id, [packet_id])
    kinds = [request.packet_ids == FAST for _, request in converse(p, 0.5)]
    questions = [place for place, fast in enumerate(kinds) if not fast]
    assert len(questions) == 15
    gaps = {after - before for before, after in itertools.pairwise(questions)}
    assert gaps == {len(DEVICES) + 1}


def test_questions_of_one_call_go_together_and_long_ones_in_parts():
    p = poller(telemetry_window=1000)
    p.ask(5, LIMITS)
    p.ask(4, [PacketId.MODE])
    p.ask(4, [PacketId.VOLTAGE])
    p.ask(3, [PacketId(0x57 + slot) for slot in range(4)])
    found = [r for _, r in converse(p, 0.5) if r.packet_ids != FAST]
    assert found[:3] == [
        packets.Request(5, LIMITS),
        packets.Request(4, (PacketId.MODE,)),
        packets.Request(4, (PacketId.VOLTAGE,)),
    ]
    assert [len(request.packet_ids) for request in found[3:]] == [QUESTION_BYTES // 38] * 2


def test_a_question_that_is_not_answered_is_not_asked_again():
    p = poller()
    p.ask(3, [PacketId.SERIAL_NUMBER])
    found = [r for _, r in converse(p, 1.0, dead=(3,))]
    assert found.count(packets.Request(3, (PacketId.SERIAL_NUMBER,))) == 1


@pytest.mark.parametrize(
    "device, packet_ids",
    [(0xFF, [PacketId.POSITION]), (6, [PacketId.POSITION]), (5, []), (5, [0]), (5, [0xFE])],
)
def test_questions_that_must_never_be_sent_are_refused(device: int, packet_ids: list[int]):
    with pytest.raises(packets.PacketError):
        poller().ask(device, packet_ids)


def test_purged_requests_are_forgotten_and_not_counted():
    p = poller()
    asked(p, 0.0)
    p.cut(0.0, 0.005)
    p.expire(5.0)
    assert p.unanswered == 0
    assert len(asked(p, 5.0)) == 5


def test_after_a_stop_late_answers_are_waited_for_but_not_for_ever():
    p = poller()
    asked(p, 0.0)
    p.cut(0.0, 0.005)
    end = p.next_time(0.0)
    now = 0.0
    while now < 1.0:  # a device that reports by itself
        p.on_reply(5, PacketId.POSITION, now)
        p.on_reply(5, PacketId.VELOCITY, now)
        if now > end + TIMEOUT:
            break
        now += 0.005
    assert p.next_request(now) is not None


def test_a_line_that_closes_takes_questions_along():
    p = poller()
    p.ask(5, [PacketId.SERIAL_NUMBER])
    p.forget()
    p.start(0.0)
    assert PacketId.SERIAL_NUMBER not in {
        packet_id for _, request in converse(p, 0.2) for packet_id in request.packet_ids
    }


def test_credit_is_never_lost_or_made_whatever_answers_come():
    rng = random.Random(7)
    p = poller(slow_telemetry_period=0.05)
    now = 0.0
    for _ in range(20_000):
        now += rng.random() * 0.02
        p.expire(now)
        if rng.random() < 0.01:
            p.cut(now, now)
        if rng.random() < 0.1:
            p.ask(rng.randrange(1, 6), [PacketId.MODE])
        asked(p, now)
        assert p.next_time(now) > now
        for _ in range(rng.randrange(8)):
            p.on_reply(rng.randrange(1, 6), rng.choice((*FAST, *SLOW)), now)
        assert 0 <= p._orders.bytes <= 150
    p.expire(now + 1.0)
    assert not p.awaiting


# -- RS-485: one device asked at a time


def shared(**settings) -> Poller:
    return poller(wiring=RS485, **settings)


def test_on_rs485_the_next_request_waits_for_the_whole_answer_and_the_turnaround():
    p = shared()
    (request,) = asked(p, 0.0)
    p.on_reply(request.device, FAST[0], 0.004)
    p.on_reply(request.device, FAST[1], 0.005)
    assert p.talk_at > 0.0055
    p.on_reply(request.device, FAST[2], 0.006)
    assert p.talk_at > 0.006
    assert p.next_time(0.006) == pytest.approx(0.0065)
    assert p.talk_at <= 0.0066
    assert [request.device for request in asked(p, 0.0066)] == [4]


def test_a_time_that_has_passed_unnoticed_wakes_at_once():
    p = shared()
    (request,) = asked(p, 0.0)
    answer(p, request, 0.006)
    assert p.next_request(0.0061) is None
    assert p.next_time(0.03) == 0.03, "the turnaround ended between two looks at it"


def test_on_rs485_no_answer_is_waited_for_until_its_time_out():
    p = shared()
    asked(p, 0.0)
    p.expire(TIMEOUT - 0.001)
    assert p.talk_at > TIMEOUT - 0.001
    p.expire(TIMEOUT)
    assert p.talk_at <= TIMEOUT


def test_on_rs485_an_answer_that_has_begun_does_not_keep_the_bus_for_the_time_out():
    p = shared()
    asked(p, 0.0)
    p.on_reply(5, FAST[0], 0.004)
    end = p.next_time(0.004)
    assert 0.004 + 20 / 11520 < end < 0.012
    p.expire(end)
    assert p.talk_at <= end
    assert p.unanswered == 1


def test_on_rs485_answers_in_another_order_are_waited_for_as_well():
    p = shared()
    asked(p, 0.0)
    p.on_reply(5, FAST[2], 0.004)
    p.on_reply(5, FAST[0], 0.005)
    assert p.talk_at > 0.006


def test_on_rs485_reports_of_others_do_not_end_the_wait():
    p = shared()
    asked(p, 0.0)
    for packet_id in FAST:
        p.on_reply(3, packet_id, 0.003)
    p.on_reply(5, PacketId.HARDWARE_STATUS, 0.003)
    assert p.talk_at > 0.01


@pytest.mark.parametrize("dead", [(3,), (1, 2), (1, 2, 3, 4)])
def test_on_rs485_the_living_wait_for_the_dead_once_in_a_while(dead: tuple[int, ...]):
    p = shared()
    found = converse(p, 10.0, dead=dead, step=0.007)
    late = Counter(r.device for now, r in found if now > 3.0)
    per_second = sum(late[device] for device in dead) / 7.0
    assert per_second <= 1.2 / SILENT_PERIOD_SHARED
    assert min(late[each.id] for each in DEVICES if each.id not in dead) > 7.0 * 10


def test_on_rs485_all_are_looked_for_when_all_are_dead():
    p = shared()
    found = converse(p, 10.0, dead=(1, 2, 3, 4, 5), step=0.007)
    late = Counter(r.device for now, r in found if now > 3.0)
    assert min(late.values()) >= 7 and len(late) == 5
