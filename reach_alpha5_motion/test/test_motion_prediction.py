"""How far the arm has gone since it was measured."""

import pytest

from reach_alpha5_motion.prediction import HORIZON, RateHistory

ONE = (1.0, 0.0, 0.0, 0.0, 0.0)
TWO = (2.0, -1.0, 0.0, 0.0, 0.0)


def history(*sent):
    rates = RateHistory()
    for at, values in sent:
        rates.sent(values, at)
    return rates


def test_it_is_the_integral_of_the_rates():
    rates = history((0.0, ONE), (0.05, TWO))
    assert rates.travel([0.02] * 5, 0.10) == pytest.approx([0.13, -0.05, 0.0, 0.0, 0.0])


def test_each_joint_counts_from_its_own_time():
    rates = history((0.0, (1.0,) * 5))
    ways = rates.travel([0.00, 0.02, 0.04, 0.10, 0.30], 0.10)
    assert ways == pytest.approx([0.10, 0.08, 0.06, 0.0, 0.0])


def test_before_anything_was_sent_the_arm_is_still():
    assert history().travel([0.0] * 5, 0.1) == [0.0] * 5
    assert history((0.09, ONE)).travel([0.0] * 5, 0.1)[0] == pytest.approx(0.01)


def test_nothing_is_foreseen_beyond_the_horizon():
    rates = history((0.0, ONE))
    assert rates.travel([-5.0] * 5, 100.0)[0] == pytest.approx(HORIZON)


def test_what_was_forgotten_counts_no_more():
    rates = history((0.0, ONE))
    rates.forget()
    assert rates.travel([0.0] * 5, 0.1) == [0.0] * 5


def test_its_memory_stays_small():
    rates = RateHistory()
    for number in range(5000):
        rates.sent(ONE, number * 0.01)
    assert len(rates._rates) < 2.0 * HORIZON / 0.01 + 3
