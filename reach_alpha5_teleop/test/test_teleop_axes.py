from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reach_alpha5_teleop.axes import AxisSpec, shape, travel

SPECS = st.builds(
    AxisSpec,
    index=st.just(0),
    rest=st.floats(-1.0, 1.0),
    invert=st.booleans(),
    deadband=st.floats(0.02, 0.5),
    exponent=st.floats(1.0, 4.0),
)
UNIT = st.floats(-1.0, 1.0)


@pytest.mark.parametrize(
    ("rest", "invert", "raw", "expected"),
    [
        (0.0, False, 1.0, 1.0),
        (0.0, False, -0.5, -0.5),
        (0.0, True, 0.25, -0.25),
        (1.0, True, 1.0, 0.0),
        (1.0, True, 0.0, 0.5),
        (1.0, True, -1.0, 1.0),
        (-1.0, False, -1.0, 0.0),
        (-1.0, False, 1.0, 1.0),
        (0.2, False, 1.0, 1.0),
        (0.2, False, -1.0, -1.0),
    ],
)
def test_D3_travel_is_measured_from_the_rest_of_the_axis(rest, invert, raw, expected):
    assert travel(AxisSpec(0, rest, invert), raw) == pytest.approx(expected)


@given(SPECS, UNIT)
def test_D2_every_report_is_normalised(spec, raw):
    assert -1.0 <= shape(spec, travel(spec, raw)) <= 1.0


@pytest.mark.parametrize("rest", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("raw", [1.0000001, -1.0000001])
def test_full_scale_that_single_precision_rounded_up_stays_in_range(rest, raw):
    assert -1.0 <= travel(AxisSpec(0, rest), raw) <= 1.0


@given(SPECS)
def test_full_travel_reaches_one_on_both_sides(spec):
    assert shape(spec, 1.0) == 1.0
    assert shape(spec, -1.0) == -1.0


@given(SPECS, st.floats(0.0, 1.0))
def test_inside_the_deadband_an_axis_is_at_rest(spec, part):
    assert shape(spec, part * spec.deadband) == 0.0


@given(SPECS)
def test_value_is_continuous_at_the_edge_of_the_deadband(spec):
    step = 1e-6
    assert abs(shape(spec, spec.deadband + step)) <= step / (1.0 - spec.deadband) * 1.01


@given(SPECS, UNIT, UNIT)
def test_more_travel_never_gives_less(spec, one, other):
    low, high = sorted((one, other))
    assert shape(spec, low) <= shape(spec, high)


def test_exponent_makes_the_middle_finer_and_keeps_the_sign():
    spec = AxisSpec(0, deadband=0.1, exponent=2.0)
    assert shape(spec, 0.55) == pytest.approx(0.25)
    assert shape(spec, -0.55) == pytest.approx(-0.25)


@given(SPECS, UNIT)
def test_rest_never_reads_as_negative_zero(spec, part):
    value = shape(spec, part * spec.deadband)
    assert math.copysign(1.0, value) == 1.0
