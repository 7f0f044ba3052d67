"""What is said now, and what is said again: told apart by two times of one clock."""

from __future__ import annotations

import pytest

from reach_alpha5_common.freshness import CODE, MAX_STAMP_AGE, NANO, Freshness

NOW = 1_700_000_000 * NANO
DAY = 86_400 * NANO
BOUND = 1.0
FRESHNESS = Freshness(BOUND)


@pytest.mark.parametrize("clock", [NOW, NOW - DAY, NOW + DAY, 2 * NANO])
@pytest.mark.parametrize("age", [0, 1, NANO // 2, NANO, -1, -NANO])
def test_U6_what_is_stamped_when_it_is_sent_is_fresh_whatever_the_clock_shows(
    clock: int, age: int
) -> None:
    assert FRESHNESS.problem(clock - age, clock) is None


@pytest.mark.parametrize("age", [NANO + 1, 2 * NANO, DAY, 365 * DAY])
def test_what_was_stamped_long_before_it_is_sent_is_said_again(age: int) -> None:
    problem = FRESHNESS.problem(NOW - age, NOW)
    assert problem is not None
    assert problem.code == CODE
    assert "old" in problem.reason


@pytest.mark.parametrize("ahead", [NANO + 1, DAY])
def test_a_bag_of_a_recorder_whose_clock_was_ahead_is_told_as_well(ahead: int) -> None:
    problem = FRESHNESS.problem(NOW + ahead, NOW)
    assert problem is not None
    assert problem.code == CODE
    assert "ahead" in problem.reason


def test_what_has_no_stamp_is_not_fresh_and_told_so() -> None:
    problem = FRESHNESS.problem(0, NOW)
    assert problem is not None
    assert "without a stamp" in problem.reason


def test_a_middleware_that_does_not_tell_when_it_was_sent_lets_nothing_through() -> None:
    for stamp in (0, NOW):
        problem = FRESHNESS.problem(stamp, 0)
        assert problem is not None
        assert problem.code == CODE
        assert "middleware" in problem.reason


@pytest.mark.parametrize(("stamp", "sent"), [(0, 0), (0, NOW), (NOW, 0), (NOW - DAY, NOW)])
def test_a_bound_of_zero_looks_at_nothing(stamp: int, sent: int) -> None:
    assert Freshness(0.0).problem(stamp, sent) is None


def test_the_default_tells_a_bag_from_a_slow_sender() -> None:
    freshness = Freshness(MAX_STAMP_AGE.default)
    assert freshness.problem(NOW - NANO // 2, NOW) is None
    assert freshness.problem(NOW - 2 * NANO, NOW) is not None
