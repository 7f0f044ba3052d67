"""What is believed of a joint, and for how long."""

from __future__ import annotations

import math

import pytest
from driver_rig import BOUNDS
from hypothesis import given
from hypothesis import strategies as st

from reach_alpha5_driver.belief import CONTRADICTIONS, REPORTED, Belief, joint_bounds
from reach_alpha5_driver.quantities import QUANTITIES

STALE, SLOW = 0.25, 5.0
E, WRIST, A = 0, 3, 4


@pytest.fixture
def belief() -> Belief:
    return Belief(BOUNDS, STALE, SLOW)


def report(belief: Belief, values: list[float], start: float = 10.0, joint: int = E) -> float:
    """Report positions 10 ms apart; return the time of the last."""
    at = start
    for turn, value in enumerate(values):
        at = start + 0.01 * turn
        belief.on_position(joint, value, at)
    return at


def test_nothing_is_believed_before_three_reports_agree(belief):
    assert not belief.on_position(E, 1.0, 10.0)
    assert not belief.on_position(E, 1.0, 10.01)
    assert math.isnan(belief.joints[E].position)
    assert belief.on_position(E, 1.01, 10.02)
    assert belief.joints[E].position == 1.01


def test_first_reports_that_disagree_are_not_believed(belief):
    report(belief, [1.0, 3.0, 5.0])
    assert math.isnan(belief.joints[E].position)


def test_a_jump_faster_than_the_joint_can_move_is_not_believed_and_counted(belief):
    at = report(belief, [1.0, 1.0, 1.0])
    assert not belief.on_position(E, 2.0, at + 0.01)
    assert belief.joints[E].position == 1.0
    assert belief.implausible == 1


def test_one_bad_report_among_good_ones_costs_only_itself(belief):
    report(belief, [1.0, 1.0, 1.0, 5.0, 1.0, 1.0])
    assert belief.joints[E].position == 1.0
    assert belief.joints[E].reports == 3
    assert belief.implausible == 1


def test_rule_17_a_joint_that_says_again_and_again_that_it_jumped_is_stale_before_it_is_believed(
    belief,
):
    at = report(belief, [1.0, 1.0, 1.0])
    for turn in range(1, CONTRADICTIONS + 1):
        assert not belief.stale(E, at + 0.01 * turn)
        assert not belief.on_position(E, 3.0, at + 0.01 * turn)
    at += 0.01 * CONTRADICTIONS
    assert belief.stale(E, at)
    assert belief.joints[E].position == 1.0
    assert belief.on_position(E, 3.0, at + 0.01)
    assert not belief.stale(E, at + 0.01)


def test_rule_17_a_jump_whose_reports_all_come_in_one_read_is_seen_as_stale(belief):
    at = report(belief, [1.0, 1.0, 1.0]) + 0.01
    for _ in range(10):
        belief.on_position(E, 3.0, at)
    assert belief.stale(E, at)
    assert belief.on_position(E, 3.0, at + 0.01)


@pytest.mark.parametrize("value", [-0.2, 6.5, 1e30, -math.inf, math.inf, math.nan])
def test_a_position_outside_the_widest_limits_is_never_believed(belief, value):
    report(belief, [value] * 10)
    assert math.isnan(belief.joints[E].position)
    assert belief.implausible == 10


def test_a_position_grows_stale_and_is_not_repeated_as_fresh(belief):
    for joint in range(5):
        report(belief, [0.005] * 3, joint=joint)
    at = 10.02
    assert belief.fresh(at + STALE - 0.001)
    assert not belief.fresh(at + STALE + 0.001)
    assert not belief.answers(at + STALE + 0.001)
    assert belief.stale(E, at + STALE + 0.001)
    assert all(math.isnan(v) for v in belief.velocities(at + STALE + 0.001))


def test_one_stale_joint_makes_the_posture_stale(belief):
    for joint in range(4):
        report(belief, [0.005] * 3, joint=joint)
    assert belief.answers(10.05)
    assert not belief.fresh(10.05)


def test_after_a_gap_three_reports_must_agree_again(belief):
    report(belief, [1.0, 1.0, 1.0])
    assert not belief.on_position(E, 4.0, 20.0)
    assert not belief.on_position(E, 4.0, 20.2)
    assert belief.stale(E, 20.2)
    assert belief.on_position(E, 4.0, 20.21)


def test_a_lost_line_makes_everything_stale_at_once_but_keeps_its_age(belief):
    at = report(belief, [1.0, 1.0, 1.0])
    for _ in range(2):
        belief.on_mode(E, 3, at)
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


def test_a_velocity_that_the_joint_cannot_have_is_believed_when_the_next_one_agrees(belief):
    assert not belief.on_velocity(E, 3.0, 10.0)
    assert math.isnan(belief.joints[E].velocity)
    assert belief.on_velocity(E, 8.0, 10.01)
    assert belief.velocities(10.01)[E] == 8.0
    assert belief.too_fast(E, 8.0)
    assert belief.implausible == 1


@pytest.mark.parametrize(
    "reports",
    [
        [(3.0, 0.0), (-3.0, 0.01), (3.0, 0.02)],
        [(3.0, 0.0), (0.1, 0.01), (3.0, 0.02)],
        [(3.0, 0.0), (3.0, 2.0 * STALE)],
        [(math.inf, 0.0), (math.inf, 0.01)],
        [(math.nan, 0.0), (3.0, 0.01), (math.nan, 0.02)],
    ],
)
def test_velocities_that_no_joint_can_have_and_that_disagree_are_damaged_reports(belief, reports):
    believed = [belief.on_velocity(E, value, 10.0 + at) for value, at in reports]
    assert believed == [value == 0.1 for value, _ in reports]


def test_a_velocity_before_the_loss_of_the_line_confirms_none_after_it(belief):
    belief.on_velocity(E, 3.0, 10.0)
    belief.forget()
    assert not belief.on_velocity(E, 3.0, 10.1)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [("current", 0.4, 11.0), ("temperature", 20.0, 500.0), ("humidity", 40.0, 101.0),
     ("voltage", 24.0, -1.0), ("temperature", 20.0, math.nan)],
)  # fmt: skip
def test_slow_values_have_a_widest_range(belief, name, good, bad):
    assert say(belief, name, [good, good, bad, bad, bad]) == [False, True, False, False, False]
    assert getattr(belief.joints[E], name) == good
    assert belief.implausible == 3
    assert belief.joints[E].unconfirmed == ()


def say(belief: Belief, name: str, values: list[float], start: float = 10.0) -> list[bool]:
    """Report a quantity of axis_e every 20 ms; return what was believed."""
    return [
        belief.on_quantity(E, name, value, start + 0.02 * turn)
        for turn, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("name", "value", "jump"),
    [("current", 0.1, 0.9), ("temperature", 20.0, 70.0), ("humidity", 20.0, 60.0),
     ("voltage", 24.0, 15.0)],
)  # fmt: skip
def test_U9_a_value_that_jumps_is_believed_when_a_second_report_agrees(belief, name, value, jump):
    assert say(belief, name, [value] * 3) == [False, True, True]
    assert say(belief, name, [jump, value], 10.1) == [False, True]
    assert getattr(belief.joints[E], name) == value
    assert say(belief, name, [jump], 10.2) == [False]
    assert belief.joints[E].unconfirmed == (name,)
    assert getattr(belief.joints[E], name) == value
    assert say(belief, name, [jump], 10.22) == [True]
    assert belief.joints[E].unconfirmed == ()
    assert getattr(belief.joints[E], name) == jump


def test_a_value_may_change_slowly_without_being_asked_twice(belief):
    assert not belief.on_quantity(E, "temperature", 20.0, 10.0)
    for step in range(50):
        assert belief.on_quantity(E, "temperature", 20.0 + step, 10.0 + 2.0 * step)


def test_after_a_silence_a_value_needs_two_reports_again(belief):
    say(belief, "voltage", [24.0, 24.0])
    assert not belief.on_quantity(E, "voltage", 24.0, 10.02 + SLOW + 0.1)
    assert belief.on_quantity(E, "voltage", 24.0, 10.02 + SLOW + 0.2)


def test_two_reports_with_a_silence_between_them_do_not_confirm_each_other(belief):
    assert not belief.on_quantity(E, "voltage", 24.0, 10.0)
    assert not belief.on_quantity(E, "voltage", 24.0, 10.0 + SLOW + 0.1)
    assert belief.on_quantity(E, "voltage", 24.0, 10.0 + SLOW + 0.2)


@pytest.mark.parametrize(
    ("name", "limit"),
    [("current", STALE), ("temperature", SLOW), ("humidity", SLOW), ("voltage", SLOW)],
)
def test_a_value_that_is_too_old_is_not_told(belief, name, limit):
    assert math.isnan(belief.value(E, name, 10.0))
    say(belief, name, [1.0, 1.0])
    assert belief.value(E, name, 10.02 + limit - 0.01) == 1.0
    assert math.isnan(belief.value(E, name, 10.02 + limit + 0.01))


def test_U9_a_mode_is_believed_when_two_reports_in_a_row_have_it(belief):
    assert [belief.on_mode(E, 3, 10.0), belief.on_mode(E, 3, 10.1)] == [False, True]
    seen = []
    for turn, mode in enumerate([2, 3, 2, 5, 5, 3, 3]):
        belief.on_mode(E, mode, 10.2 + turn / 10)
        seen.append((belief.mode(E, 10.9), belief.joints[E].unconfirmed))
    asked = ("mode",)
    assert seen == [(3, asked), (3, ()), (3, asked), (3, asked), (5, ()), (5, asked), (3, ())]


def test_modes_with_a_silence_between_them_do_not_confirm_each_other(belief):
    belief.on_mode(E, 3, 10.0)
    assert not belief.on_mode(E, 3, 10.1 + SLOW)
    assert belief.on_mode(E, 3, 10.2 + SLOW)
    assert not belief.on_mode(E, 3, 10.3 + 2.0 * SLOW)


def test_a_mode_that_is_not_confirmed_does_not_make_the_one_before_it_younger(belief):
    for mode, at in ((3, 10.0), (3, 10.1), (2, 10.0 + SLOW)):
        belief.on_mode(E, mode, at)
    assert belief.mode(E, 10.0 + SLOW) == 3
    assert belief.mode(E, 10.2 + SLOW) is None


def test_mode_and_status_that_are_too_old_are_not_told(belief):
    assert belief.mode(E, 10.0) is None
    for _ in range(2):
        belief.on_mode(E, 3, 10.0)
        belief.on_status(E, ("can",), 10.0)
    assert belief.mode(E, 10.0 + SLOW - 0.01) == 3
    assert belief.status_flags(E, 10.0 + SLOW - 0.01) == ("can",)
    assert belief.mode(E, 10.0 + SLOW + 0.01) is None
    assert belief.status_flags(E, 10.0 + SLOW + 0.01) == ()


def test_each_value_has_an_age_that_goes_on_counting_when_the_line_is_lost(belief):
    assert all(math.isnan(belief.age(E, name, 10.0)) for name in REPORTED)
    belief.on_velocity(E, 0.1, 11.0)
    report(belief, [1.0, 1.0, 1.0], 11.98)
    for _ in range(2):
        belief.on_mode(E, 3, 13.0)
    belief.on_status(E, (), 14.0)
    for at, quantity in enumerate(QUANTITIES, 15):
        say(belief, quantity.name, [1.0, 1.0], at - 0.02)
    ages = [belief.age(E, name, 20.0) for name in REPORTED]
    assert ages == pytest.approx([8.0, 9.0, 5.0, 4.0, 3.0, 2.0, 7.0, 6.0])
    belief.forget()
    assert [belief.age(E, name, 20.0) for name in REPORTED] == ages


def test_rule_18_after_the_line_was_lost_no_value_is_told(belief):
    for _ in range(2):
        belief.on_mode(E, 3, 10.0)
    belief.on_velocity(E, 0.1, 10.0)
    for quantity in QUANTITIES:
        say(belief, quantity.name, [1.0, 1.0])
    for _ in range(2):
        belief.on_status(E, ("can",), 10.0)
    belief.forget()
    assert all(math.isnan(belief.value(E, quantity.name, 10.03)) for quantity in QUANTITIES)
    assert belief.mode(E, 10.03) is None
    assert belief.status_flags(E, 10.03) == ()
    assert math.isnan(belief.velocities(10.03)[E])


def test_a_report_before_the_loss_of_the_line_confirms_none_after_it(belief):
    say(belief, "temperature", [90.0])
    belief.on_status(E, ("can",), 10.0)
    belief.forget()
    assert not belief.on_quantity(E, "temperature", 90.0, 10.1)
    belief.on_status(E, ("can",), 10.1)
    assert belief.joints[E].status_flags == ()
    assert belief.joints[E].unconfirmed == ("temperature", "status")


def test_U9_a_flag_is_believed_and_given_up_when_two_reports_in_a_row_say_so(belief):
    seen = []
    for flags in [(), ("can",), (), ("can", "flash"), ("can",), ("flash",), ()]:
        belief.on_status(E, flags, 10.0)
        seen.append(belief.joints[E].status_flags)
    assert seen == [(), (), (), (), ("can",), ("can",), ()]


@given(st.lists(st.sets(st.sampled_from(["flash", "can", "humidity"])), max_size=12))
def test_each_flag_is_decided_by_itself_and_they_stay_in_wire_order(reports):
    belief = Belief(BOUNDS, STALE)
    believed, before = set(), set()
    for flags in reports:
        in_order = tuple(name for name in ("flash", "humidity", "can") if name in flags)
        belief.on_status(E, in_order, 10.0)
        believed = (before & flags) | (believed & (before | flags))
        before = flags
        told = belief.joints[E].status_flags
        assert told == tuple(name for name in ("flash", "humidity", "can") if name in believed)
        assert ("status" in belief.joints[E].unconfirmed) == (flags != believed)


def test_a_wrist_without_limits_may_pass_from_a_full_turn_to_zero(belief):
    belief.set_turning(WRIST, True)
    report(belief, [6.25, 6.26, 6.27, 6.28, 0.005, 0.015], joint=WRIST)
    assert belief.joints[WRIST].position == 0.015
    assert belief.joints[WRIST].reports == 4
    assert belief.way(WRIST, 6.28) == pytest.approx(0.0182, abs=1e-4)
    report(belief, [6.28], 10.06, joint=WRIST)
    assert belief.joints[WRIST].position == 6.28
    assert belief.way(WRIST, 0.1) == pytest.approx(-0.1032, abs=1e-4)
    assert belief.implausible == 0


def test_a_wrist_without_limits_jumps_no_further_than_one_with_them(belief):
    belief.set_turning(WRIST, True)
    report(belief, [6.24, 6.25, 6.26, 3.0], joint=WRIST)
    assert belief.joints[WRIST].position == 6.26
    assert not belief.on_position(WRIST, 6.5, 10.04)
    assert belief.implausible == 2


def test_a_joint_with_limits_does_not_wrap(belief):
    report(belief, [6.26, 6.27, 6.28, 0.005], joint=WRIST)
    assert belief.joints[WRIST].position == 6.28
    belief.set_turning(WRIST, True)
    belief.set_turning(WRIST, False)
    assert not belief.on_position(WRIST, 0.005, 10.05)


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
