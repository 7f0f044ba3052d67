"""When a line that is not there is tried again."""

import math

import pytest

from reach_alpha5_driver.backoff import Backoff, BackoffConfig

CONFIG = BackoffConfig(reconnect_period=0.25, reconnect_period_max=5.0)


def waits(backoff: Backoff, now: float, count: int) -> list[float]:
    """Return how long each of `count` failed attempts, made as soon as allowed, has to wait."""
    found = []
    for _ in range(count):
        backoff.failed(now)
        found.append(backoff.next_attempt - now)
        now = backoff.next_attempt
    return found


def test_the_first_attempt_is_allowed_at_once():
    assert Backoff(CONFIG).next_attempt == -math.inf


def test_waits_double_up_to_the_maximum_and_stay_there():
    expected = [0.25, 0.5, 1.0, 2.0, 4.0, 5.0, 5.0, 5.0]
    assert waits(Backoff(CONFIG), 0.0, len(expected)) == pytest.approx(expected)


def test_U8_after_a_connection_that_lasted_the_first_attempt_comes_quickly():
    backoff = Backoff(CONFIG)
    waits(backoff, 100.0, 8)
    backoff.opened(200.0)
    assert waits(backoff, 205.0, 2) == pytest.approx([0.25, 0.5])


def test_a_line_that_is_lost_soon_after_each_opening_is_tried_less_and_less_often():
    backoff, now, found = Backoff(CONFIG), 0.0, []
    for _ in range(7):
        backoff.opened(now)
        now += 0.1
        backoff.failed(now)
        found.append(backoff.next_attempt - now)
        now = backoff.next_attempt
    assert found == pytest.approx([0.25, 0.5, 1.0, 2.0, 4.0, 5.0, 5.0])


def test_an_opening_counts_for_one_loss_only():
    backoff = Backoff(CONFIG)
    backoff.opened(0.0)
    assert waits(backoff, 60.0, 4) == pytest.approx([0.25, 0.5, 1.0, 2.0])


def test_whoever_begins_anew_may_try_at_once_and_waits_shortly_again():
    backoff = Backoff(CONFIG)
    waits(backoff, 0.0, 5)
    backoff.begin()
    assert backoff.next_attempt == -math.inf
    assert waits(backoff, 100.0, 2) == pytest.approx([0.25, 0.5])


def test_equal_periods_keep_one_pace():
    assert waits(Backoff(BackoffConfig(1.0, 1.0)), 0.0, 3) == pytest.approx([1.0, 1.0, 1.0])


def test_U8_while_the_arm_may_be_moving_no_wait_is_longer_than_the_first():
    backoff = Backoff(CONFIG)
    waits(backoff, 0.0, 8)
    backoff.opened(50.0)
    backoff.failed(51.0, urgent=True)
    assert backoff.next_attempt == pytest.approx(51.25)
    assert waits(backoff, 51.25, 6) == pytest.approx([0.25] * 6)


def test_an_opening_ends_the_urgency():
    backoff = Backoff(CONFIG)
    backoff.failed(0.0, urgent=True)
    backoff.opened(0.25)
    assert waits(backoff, 0.3, 3) == pytest.approx([0.5, 1.0, 2.0])


@pytest.mark.parametrize(
    ("first", "most"),
    [(0.0, 5.0), (-1.0, 5.0), (6.0, 5.0), (math.nan, 5.0), (1.0, math.nan), (1.0, math.inf)],
)
def test_periods_that_make_no_sense_are_refused_by_name(first, most):
    with pytest.raises(ValueError, match=r"reconnect_period is .*reconnect_period_max"):
        Backoff(BackoffConfig(first, most))
