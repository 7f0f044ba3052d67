"""The speed curve and the checks of the configuration."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reach_alpha5_motion.speed import MotionConfig, MotionConfigError

modifiers = st.floats(-1.0, 1.0)


def test_B6_curve_has_its_three_fractions():
    config = MotionConfig(slow_fraction=0.2, default_fraction=0.3, maximum_fraction=0.9)
    assert [config.speed_fraction(m) for m in (-1.0, 0.0, 1.0)] == [0.2, 0.3, 0.9]


@given(modifiers, modifiers)
def test_B6_curve_is_monotone(one, other):
    config = MotionConfig()
    low, high = sorted((one, other))
    assert config.speed_fraction(low) <= config.speed_fraction(high) + 1e-15


@given(modifiers)
def test_B6_curve_stays_between_slow_and_maximum(modifier):
    config = MotionConfig()
    assert config.slow_fraction <= config.speed_fraction(modifier) <= config.maximum_fraction


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"linear_speed": 0.0}, "linear_speed is 0; it must be above 0 and at most 1 m/s"),
        ({"linear_speed": math.nan}, "linear_speed is nan"),
        ({"brake_gain": 11.0}, "brake_gain is 11; .* at most 10 1/s"),
        ({"slow_fraction": 0.6}, "must not fall"),
        ({"default_fraction": 1.5}, "default_fraction is 1.5"),
        ({"pose_tolerance": 0.05}, "below a quarter of leg_tolerance"),
        ({"stowed": (0.1, math.inf, 0.1)}, "stowed is .* it must be 3 finite joint angles"),
        ({"lift": (1.0, 1.0, 1.0)}, "lift is .* it must be 2 finite joint angles"),
    ],
)
def test_bad_configuration_is_refused_with_the_reason(change, message):
    with pytest.raises(MotionConfigError, match=message):
        MotionConfig(**change)


def test_every_problem_is_named_at_once():
    with pytest.raises(MotionConfigError) as caught:
        MotionConfig(linear_speed=-1.0, jaw_speed=5.0)
    assert str(caught.value).count("\n") == 1
