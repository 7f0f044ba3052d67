"""What the joints can change in one step."""

import numpy as np
import pytest

from reach_alpha5_motion.acceleration import towards
from reach_alpha5_motion.keep_out import ApproachLimit
from reach_alpha5_motion.limits import RateBounds

STEP = (0.1, 0.1, 0.1, 0.2, 0.001)
FREE = RateBounds((-9.0,) * 5, (9.0,) * 5)


def test_what_is_within_reach_is_taken_exactly():
    wanted = [0.09, -0.05, 0.1, 0.2, -0.001]
    assert towards([0.0] * 5, wanted, STEP, FREE, ()) == wanted


def test_a_start_is_along_what_is_wanted():
    rates = towards([0.0] * 5, [0.4, -0.2, 0.1, 0.0, 0.0], STEP, FREE, ())
    assert rates == pytest.approx([0.1, -0.05, 0.025, 0.0, 0.0])


def test_faster_and_slower_stay_along_it_though_it_has_turned_a_little():
    wanted = [0.4, -0.2, 0.1, 0.0, 0.0]
    last = [0.151, -0.074, 0.03, 0.0, 0.0]
    rates = towards(last, wanted, STEP, FREE, ())
    assert np.cross(rates[:3], wanted[:3]) == pytest.approx([0.0, 0.0, 0.0])
    assert rates[0] == pytest.approx(0.251)


def test_a_reversal_brakes_all_joints_alike():
    rates = towards([0.4, -0.2, 0.1, 0.0, 0.0], [-0.4, 0.2, -0.1, 0.0, 0.0], STEP, FREE, ())
    assert rates == pytest.approx([0.3, -0.15, 0.075, 0.0, 0.0])


def test_joints_that_make_one_motion_start_and_turn_as_one():
    wanted = [0.2, 0.0, 0.1, 0.8, 0.0005]
    rates = towards([0.0] * 5, wanted, STEP, FREE, (), together=5)
    assert rates == pytest.approx([each / 4.0 for each in wanted])
    turned = towards([0.4, 0.0, 0.0, 0.0, 0.0], [-0.4, 0, 0, 0.16, 0.0004], STEP, FREE, (), 5)
    assert turned == pytest.approx([0.3, 0.0, 0.0, 0.02, 0.00005])


def test_the_wrist_and_the_jaws_do_not_wait_for_the_arm():
    rates = towards([0.4, 0.0, 0.0, 0.0, 0.0], [-0.4, 0.0, 0.0, 0.15, 0.0005], STEP, FREE, ())
    assert rates == pytest.approx([0.3, 0.0, 0.0, 0.15, 0.0005])


def test_a_limit_goes_before_the_line():
    # Joint 0 wants to reverse and needs the most; joint 1 must brake for its limit all it can.
    bounds = RateBounds((-9.0,) * 5, (9.0, 0.31, 9.0, 9.0, 9.0))
    rates = towards([0.5, 0.4, 0.0, 0.0, 0.0], [-0.5, 0.31, 0.0, 0.0, 0.0], STEP, bounds, ())
    assert rates == pytest.approx([0.4, 0.31, 0.0, 0.0, 0.0])


def test_what_must_not_be_touched_goes_before_the_line():
    wall = (ApproachLimit((0.0, 0.2, 0.0, 0.0, 0.0), 0.05, 0.02, "tool wall"),)
    rates = towards([0.2, 0.3, 0.0, 0.0, 0.0], [-0.4, 0.25, 0.0, 0.0, 0.0], STEP, FREE, wall)
    assert 0.2 * rates[1] <= 0.05 + 1e-9
    assert np.abs(np.array(rates) - [0.2, 0.3, 0.0, 0.0, 0.0]).max() <= 0.1 + 1e-12


def test_no_joint_ever_changes_more_than_it_can():
    rng = np.random.default_rng(4)
    for _ in range(3000):
        last, wanted = rng.uniform(-0.5, 0.5, (2, 5))
        bounds = RateBounds(tuple(-rng.uniform(0, 0.5, 5)), tuple(rng.uniform(0, 0.5, 5)))
        row = tuple(rng.normal(size=5).tolist())
        wall = (ApproachLimit(row, float(rng.uniform(0, 0.1)), 0.0, "tool wall"),)
        wanted = bounds.clip(wanted.tolist())
        rates = np.array(towards(last.tolist(), wanted, STEP, bounds, wall))
        assert (np.abs(rates - last) <= np.array(STEP) + 1e-12).all()
