"""Requests: the line is kept busy, never overrun, and always recovers."""

from __future__ import annotations

import random
from collections import deque

from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.poller import (
    FAST,
    REPLY_BYTES,
    SILENT_AFTER,
    SILENT_PERIOD,
    SLOW,
    Poller,
)
from reach_alpha5_driver.protocol import packets
from reach_alpha5_driver.protocol.codec import decode, encode

WINDOW = 150
TIMEOUT = 0.1


def poller(window: int = WINDOW, slow: float = 1000.0) -> Poller:
    made = Poller(window, TIMEOUT, slow)
    made.start(0.0)
    for target in range(len(DEVICES)):  # the first turn of the slow values is another test's
        made._targets[target].slow_due = slow
    return made


def asked(poller: Poller, now: float) -> list[packets.Request]:
    """Return all requests that the poller makes now."""
    found = []
    while (data := poller.next_request(now)) is not None:
        packet = packets.parse(decode(data))
        assert isinstance(packet, packets.Request)
        found.append(packet)
    return found


def answer(poller: Poller, request: packets.Request) -> None:
    for packet_id in request.packet_ids:
        poller.on_reply(request.device, packet_id)


def test_reply_sizes_are_those_of_the_codec():
    for packet_id, size in REPLY_BYTES.items():
        if packet_id == packets.PacketId.MODE:
            packet: packets.Packet = packets.SetMode(1, packets.Mode.STANDBY)
        elif packet_id == packets.PacketId.HARDWARE_STATUS:
            packet = packets.HardwareStatus(1, ())
        else:
            packet = packets.PACKETS[packets.PacketId(packet_id)](1, 0.0)
        assert len(encode(packet.to_frame())) == size


def test_each_device_is_asked_for_three_values_in_turn_until_the_window_is_full():
    requests = asked(poller(), 0.0)
    assert [request.device for request in requests] == [5, 4, 3, 2, 1]
    assert all(request.packet_ids == FAST for request in requests)


def test_a_fast_request_takes_nine_bytes():
    assert len(poller().next_request(0.0) or b"") == 9


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
    assert p.on_order == 0
    assert len(asked(p, TIMEOUT)) == 5


def test_reports_that_nobody_asked_for_give_no_credit():
    p = poller()
    for device in DEVICES:
        p.on_reply(device.id, packets.PacketId.POSITION)
        p.on_reply(device.id, packets.PacketId.HARDWARE_STATUS)
    assert p.on_order == 0
    assert len(asked(p, 0.0)) == 5


def test_a_window_smaller_than_a_request_still_asks_one_at_a_time():
    p = poller(window=10)
    assert len(asked(p, 0.0)) == 1


def test_a_dead_device_does_not_slow_the_living():
    p = poller()
    dead = 3
    per_device = dict.fromkeys(range(1, 6), 0)
    on_the_way: deque[packets.Request] = deque()
    duration, step = 10.0, 0.0026
    for tick in range(round(duration / step)):
        p.expire(tick * step)
        for request in asked(p, tick * step):
            per_device[request.device] += 1
            if request.device != dead:
                on_the_way.append(request)
        if on_the_way:  # the line carries one answer a step
            answer(p, on_the_way.popleft())
    living = [count for device, count in per_device.items() if device != dead]
    assert per_device[dead] <= duration / SILENT_PERIOD + SILENT_AFTER + 1
    assert min(living) > 0.9 * max(living)
    assert sum(living) > 0.95 * duration / step


def test_a_device_that_answers_again_is_asked_at_once_like_the_others():
    p = poller()
    for turn in range(SILENT_AFTER):
        asked(p, turn * TIMEOUT)
        p.expire((turn + 1) * TIMEOUT)
    now = SILENT_AFTER * TIMEOUT
    assert asked(p, now) == []
    p.on_reply(3, packets.PacketId.POSITION)
    assert {request.device for request in asked(p, now)} == {3}


def test_slow_values_take_a_turn_of_their_own_spread_over_the_period():
    p = Poller(WINDOW, TIMEOUT, slow_period=1.0)
    p.start(0.0)
    times: dict[int, list[float]] = {device.id: [] for device in DEVICES}
    for tick in range(200):
        now = tick * 0.01
        for request in asked(p, now):
            answer(p, request)
            if request.packet_ids == SLOW:
                times[request.device].append(now)
            if p.on_order == 0 and request.device == 1:
                break
    assert all(len(found) == 2 for found in times.values())
    assert len({found[0] for found in times.values()}) == 5


def test_purged_requests_are_forgotten_and_not_counted():
    p = poller()
    asked(p, 0.0)
    p.forget()
    p.expire(10.0)
    assert p.unanswered == 0
    assert len(asked(p, 10.0)) == 5


def test_credit_is_never_lost_or_made_whatever_answers_come():
    rng = random.Random(7)
    p = Poller(WINDOW, TIMEOUT, slow_period=0.05)
    p.start(0.0)
    now = 0.0
    for _ in range(20_000):
        now += rng.random() * 0.02
        p.expire(now)
        asked(p, now)
        for _ in range(rng.randrange(8)):
            p.on_reply(rng.randrange(1, 6), rng.choice((*FAST, *SLOW)))
        assert 0 <= p.on_order <= WINDOW
    p.expire(now + 1.0)
    assert p.on_order == 0
    assert p.next_time(now) > now
