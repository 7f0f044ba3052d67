"""The account of requests: no credit is lost or made, whatever comes back."""

from __future__ import annotations

import random

from reach_alpha5_driver.orders import OVERTAKING, Order, Orders
from reach_alpha5_driver.protocol.packets import PacketId
from reach_alpha5_driver.schedule import FAST

POSITION, VELOCITY, CURRENT = FAST
COST = 30


def orders(*devices: int, window: int = 300, in_order: bool = True) -> Orders:
    """Return an account on which each of `devices` was asked for the fast values in turn."""
    made = Orders(window, in_order)
    for place, device in enumerate(devices):
        made.add(order(device, expires=0.1 + place))
    return made


def order(device: int, expires: float = 0.1) -> Order:
    return Order(device, list(FAST), expires, expires)


def answer(account: Orders, device: int, packet_ids=FAST) -> list[Order]:
    return [each for packet_id in packet_ids for each in account.on_reply(device, packet_id)[1]]


def test_a_whole_answer_gives_its_credit_back():
    account = orders(5)
    assert account.bytes == COST
    assert answer(account, 5) == []
    assert not account
    assert account.bytes == 0


def test_one_request_of_any_size_is_always_allowed():
    account = Orders(1, in_order=False)
    assert account.room(1000)
    account.add(order(3))
    assert not account.room(1)


def test_a_lost_first_report_does_not_stay_on_the_account():
    account = orders(5, 4, 3, 2, 1, 5)
    lost = answer(account, 5, (VELOCITY, CURRENT))
    assert [each.device for each in lost] == [5]
    assert account.bytes == 5 * COST
    later = [answer(account, device) for device in (4, 3, 2, 1, 5)]
    assert later == [[]] * 5, "the next answer is not taken for the lost one"
    assert account.bytes == 0


def test_a_lost_last_report_is_noticed_when_the_next_answer_begins():
    account = orders(5, 5)
    assert answer(account, 5, (POSITION, VELOCITY)) == []
    assert [each.missing for each in answer(account, 5)] == [[CURRENT]]
    assert account.bytes == 0


def test_a_lost_request_is_noticed_when_later_ones_are_answered():
    account = orders(5, 4, 3, 2, 1, 5)
    found = [[each.device for each in answer(account, device)] for device in (4, 3, 2)]
    assert found == [[]] * OVERTAKING + [[5]]
    assert [answer(account, device) for device in (1, 5)] == [[], []]
    assert account.bytes == 0


def test_devices_may_overtake_each_other_a_little():
    account = orders(5, 4)
    assert answer(account, 4) == []
    assert answer(account, 5) == []
    assert account.bytes == 0


def test_without_an_order_among_answers_nothing_is_given_up_early():
    account = orders(5, in_order=False)
    assert answer(account, 5, (CURRENT, VELOCITY)) == []
    assert account.bytes == 10


def test_what_nobody_asked_for_changes_nothing():
    account = orders(5)
    assert account.on_reply(4, POSITION) == (None, [])
    assert account.on_reply(5, PacketId.HARDWARE_STATUS) == (None, [])
    assert account.bytes == COST


def test_an_order_expires_once():
    account = orders(5, 4)
    assert [each.device for each in account.expire(0.1)] == [5]
    assert account.expire(0.1) == []
    assert account.next_expiry == 1.1
    assert account.bytes == COST


def test_the_account_is_the_sum_of_what_is_missing_whatever_comes():
    rng = random.Random(5)
    for in_order in (True, False):
        account = Orders(240, in_order)
        standing: list[Order] = []
        for step in range(20_000):
            now = step * 0.001
            account.expire(now)
            if account.room(COST):
                made = order(rng.randrange(1, 6), now + 0.1)
                account.add(made)
                standing.append(made)
            account.on_reply(rng.randrange(1, 6), rng.choice(FAST))
            assert 0 <= account.bytes <= 240
        account.expire(1e9)
        assert account.bytes == 0
        assert not account
