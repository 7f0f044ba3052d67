"""What is believed of a joint, and for how long."""

from __future__ import annotations

import math

import pytest
from driver_rig import BOUNDS
from hypothesis import given
from hypothesis import strategies as st

from reach_alpha5_driver.belief import CONTRADICTIONS, Belief, joint_bounds

STALE = 0.25
E, A = 0, 4


@pytest.fixture
def belief() -> Belief:
    return Belief(BOUNDS, STALE)


def report(belief: Belief, values: list[float], start: float = 10.0, joint: int = E) -> float:
    """Report positions 10 ms apart; return the time of the last."""
    at = start
    for turn, value in enumerate(values):
        at = start + 0.01 * turn
        belief.on_position(joint, value, at)
    return at


def test_nothing_is_believed_before_two_reports_agree(belief):
    assert not belief.on_position(E, 1.0, 10.0)
    assert math.isnan(belief.joints[E].position)
    assert belief.on_position(E, 1.01, 10.01)
    assert belief.joints[E].position == 1.01


def test_first_reports_that_disagree_are_not_believed(belief):
    report(belief, [1.0, 3.0, 5.0])
    assert math.isnan(belief.joints[E].position)


def test_a_jump_faster_than_the_joint_can_move_is_not_believed_and_counted(belief):
    at = report(belief, [1.0, 1.0])
    assert not belief.on_position(E, 2.0, at + 0.01)
    assert belief.joints[E].position == 1.0
    assert belief.implausible == 1


def test_one_bad_report_among_good_ones_costs_only_itself(belief):
    report(belief, [1.0, 1.0, 5.0, 1.0, 1.0])
    assert belief.joints[E].position == 1.0
    assert belief.joints[E].reports == 3
    assert belief.implausible == 1


def test_rule_17_a_joint_that_says_again_and_again_that_it_jumped_is_stale_before_it_is_believed(
    belief,
):
    at = report(belief, [1.0, 1.0])
    for turn in range(1, CONTRADICTIONS + 1):
        assert not belief.stale(E, at + 0.01 * turn)
        assert not belief.on_position(E, 3.0, at + 0.01 * turn)
    at += 0.01 * CONTRADICTIONS
    assert belief.stale(E, at)
    assert belief.joints[E].position == 1.0
    assert belief.on_position(E, 3.0, at + 0.01)
    assert not belief.stale(E, at + 0.01)


@pytest.mark.parametrize("value", [-0.2, 6.5, 1e30, -math.inf, math.inf, math.nan])
def test_a_position_outside_the_widest_limits_is_never_believed(belief, value):
    report(belief, [value] * 10)
    assert math.isnan(belief.joints[E].position)
    assert belief.implausible == 10


def test_a_position_grows_stale_and_is_not_repeated_as_fresh(belief):
    for joint in range(5):
        report(belief, [0.005, 0.005], joint=joint)
    at = 10.01
    assert belief.fresh(at + STALE - 0.001)
    assert not belief.fresh(at + STALE + 0.001)
    assert not belief.answers(at + STALE + 0.001)
    assert belief.stale(E, at + STALE + 0.001)
    assert all(math.isnan(v) for v in belief.velocities(at + STALE + 0.001))


def test_one_stale_joint_makes_the_posture_stale(belief):
    for joint in range(4):
        report(belief, [0.005, 0.005], joint=joint)
    assert belief.answers(10.05)
    assert not belief.fresh(10.05)


def test_after_a_gap_two_reports_must_agree_again(belief):
    report(belief, [1.0, 1.0])
    assert not belief.on_position(E, 4.0, 20.0)
    assert belief.stale(E, 20.0)
    assert belief.on_position(E, 4.0, 20.01)


def test_a_lost_line_makes_everything_stale_at_once_but_keeps_its_age(belief):
    at = report(belief, [1.0, 1.0])
    belief.on_mode(E, 3)
    belief.forget()
    assert belief.stale(E, at)
    assert belief.joints[E].heard_at == at
    assert belief.joints[E].mode is None


def test_a_velocity_that_the_joint_cannot_have_is_counted(belief):
    assert belief.on_velocity(A, 0.005, 10.0)
    assert not belief.on_velocity(A, 0.007, 10.0)
    assert not belief.on_velocity(A, math.nan, 10.0)
    assert belief.joints[A].velocity == 0.005
    assert belief.implausible == 2


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [("current", 0.4, 11.0), ("temperature", 20.0, 500.0), ("humidity", 40.0, 101.0),
     ("voltage", 24.0, -1.0)],
)  # fmt: skip
def test_slow_values_have_a_widest_range(belief, name, good, bad):
    assert belief.on_quantity(E, name, good)
    assert not belief.on_quantity(E, name, bad)
    assert getattr(belief.joints[E], name) == good


def test_bounds_follow_the_description_with_room_for_noise():
    bounds = joint_bounds([0.0] * 5, [3.0] * 4 + [0.015], [0.5] * 4 + [0.003])
    assert bounds[E].speed > 0.5
    assert bounds[A].margin < bounds[E].margin


@given(
    st.lists(
        st.tuples(st.floats(allow_nan=True, width=32), st.floats(0.0, 0.1)),
        max_size=40,
    )
)
def test_whatever_is_reported_a_believed_position_is_inside_the_widest_limits(reports):
    belief = Belief(BOUNDS, STALE)
    now = 0.0
    for value, wait in reports:
        now += wait
        before, before_at = belief.joints[E].position, belief.joints[E].position_at
        believed = belief.on_position(E, value, now)
        position = belief.joints[E].position
        if believed:
            assert -0.1 <= position <= 6.4
        else:
            assert position == before or (math.isnan(position) and math.isnan(before))
            assert belief.joints[E].position_at in (before_at, -math.inf)
