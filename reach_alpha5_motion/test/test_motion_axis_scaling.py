"""How much of each asked axis is granted."""

import numpy as np
import pytest

from reach_alpha5_motion.axis_scaling import Coupling, scales
from reach_alpha5_motion.limits import RateBounds

FAST = (1e6,) * 3


def granted_of(columns, limits, velocity):
    """Scales of the columns, where there are no lone joints and no couplings."""
    granted, lone = scales(columns, limits, velocity)
    assert lone == []
    return granted


def bounds(lower, upper):
    return RateBounds(tuple(lower), tuple(upper))


def test_everything_is_granted_when_there_is_room():
    columns = [(1.0, 0.5, 0.0), (0.0, 0.1, 1.0)]
    assert granted_of(columns, bounds([-2.0] * 3, [2.0] * 3), FAST) == [1.0, 1.0]


def test_rule16_a_blocked_axis_does_not_block_another():
    columns = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
    granted = granted_of(columns, bounds([-2.0] * 3, [0.0, 2.0, 2.0]), FAST)
    assert granted == pytest.approx([0.0, 1.0], abs=1e-8)


def test_rule16_rounding_of_a_rate_that_must_be_zero_blocks_nothing():
    blocked = bounds([0.0, -2.0, -2.0], [2.0] * 3)
    assert granted_of([(-1e-17, 0.5, 0.0)], blocked, FAST) == [1.0]
    two = [(-1e-17, 0.5, 0.0), (1e-18, 0.0, 0.5)]
    assert granted_of(two, blocked, FAST) == pytest.approx([1.0, 1.0])


def test_two_axes_that_share_a_joint_share_what_is_left():
    granted = granted_of([(1.0, 0.0, 0.0), (1.0, 0.0, 0.0)], bounds([-1.0] * 3, [1.0] * 3), FAST)
    assert granted == pytest.approx([0.5, 0.5], abs=1e-8)


def test_speed_limits_slow_all_axes_alike():
    limits = (1.0, 1.0, 1.0)
    granted = granted_of([(4.0, 0.0, 0.0), (0.0, 0.5, 0.0)], bounds([-1.0] * 3, limits), limits)
    assert granted == pytest.approx([0.25, 0.25], abs=1e-5)


def test_an_axis_far_too_fast_does_not_slow_the_others_once_it_is_blocked():
    limits = (1.0, 1.0, 1.0)
    columns = [(400.0, 0.0, 0.0), (0.0, 0.5, 0.0)]
    others = []
    for room in np.linspace(1.0, 0.0, 201):
        first, second = granted_of(columns, bounds([-1.0] * 3, [room, 1.0, 1.0]), limits)
        assert first * 400.0 <= room + 2e-6
        others.append(second)
    assert others[0] == pytest.approx(1.0 / 400.0, rel=1e-3)
    assert others[-1] == pytest.approx(1.0, abs=1e-6)
    assert (np.diff(others) >= -1e-9).all(), "it must get better all the way"


def test_rule16_random_programs_are_never_reversed_within_bounds_and_never_needlessly_slow():
    rng = np.random.default_rng(7)
    for _ in range(3000):
        axes = rng.integers(1, 4)
        matrix = rng.normal(size=(3, axes)) * 10.0 ** rng.uniform(-2, 2, (1, axes))
        upper = rng.uniform(0.0, 2.0, 3) * rng.choice([0.0, 1.0], 3, p=[0.3, 0.7])
        lower = -rng.uniform(0.0, 2.0, 3) * rng.choice([0.0, 1.0], 3, p=[0.3, 0.7])
        granted = np.array(granted_of(matrix.T.tolist(), bounds(lower, upper), FAST))
        assert ((granted >= 0.0) & (granted <= 1.0)).all()
        rates = matrix @ granted
        assert (rates <= upper + 1e-5).all()
        assert (rates >= lower - 1e-5).all()
        for axis in np.flatnonzero(granted < 0.999):
            more = granted.copy()
            more[axis] += 1e-3
            rates = matrix @ more
            over = np.maximum(rates - upper, lower - rates)
            assert (over > -2e-6).any(), "an axis is held back with no bound in its way"


def nearest(rows, rates, caps):
    """The scales nearest to one by another way: projections on one bound after the other."""
    found, corrections = np.ones(len(caps)), np.zeros((len(rows) + 1, len(caps)))
    for _ in range(5000):
        for place, (row, rate) in enumerate(zip(rows, rates, strict=True)):
            begun = found + corrections[place]
            over = max(0.0, (row @ begun - rate) / (row @ row))
            found = begun - over * row
            corrections[place] = begun - found
        begun = found + corrections[-1]
        found = np.clip(begun, 0.0, caps)
        corrections[-1] = begun - found
    return found


@pytest.mark.parametrize("seed", range(12))
def test_the_scales_are_those_nearest_to_one(seed):
    rng = np.random.default_rng(seed)
    count, bodies = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    rows = rng.normal(size=(bodies, count + 2)) * 0.1
    rates = np.maximum(0.0, rng.normal(0.03, 0.05, bodies))
    caps = [1.0, 1.0] if seed % 2 else rng.uniform(0.2, 1.0, 2).tolist()
    couplings = [
        Coupling(tuple(row), rate) for row, rate in zip(rows.tolist(), rates.tolist(), strict=True)
    ]
    columns = [(0.01, 0.0, 0.0)] * count
    granted, lone = scales(columns, bounds([-9.0] * 3, [9.0] * 3), FAST, caps, couplings)
    expected = nearest(rows, np.maximum(rates, 1e-6), [1.0] * count + caps)
    assert [*granted, *lone] == pytest.approx(expected.tolist(), abs=1e-4)
