"""Where an axis rests is learned: D3."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reach_alpha5_teleop.axes import Axis, AxisSpec, shape, travel
from reach_alpha5_teleop.rest import STEADY_FRAMES, STEADY_SPREAD, STEADY_TIME, RestLearner

PERIOD = STEADY_TIME / (STEADY_FRAMES - 1)
"""Time [s] between frames of which just enough are needed."""


def learn(*reports: float, low: float = -0.1, high: float = 0.1, period: float = PERIOD):
    """Return the rest that is learned from these reports, or None."""
    learner = RestLearner(low, high)
    for number, raw in enumerate(reports):
        learner.see(raw, number * period)
    return learner.rest


def test_D3_rest_is_never_learned_from_a_single_first_frame():
    assert learn(0.0) is None
    assert learn(*[0.0] * (STEADY_FRAMES - 1)) is None
    assert learn(*[0.0] * STEADY_FRAMES) == 0.0


def test_D3_frames_of_a_moment_are_not_enough_however_many():
    assert learn(*[0.0] * 100, period=STEADY_TIME / 200) is None


def test_D3_few_frames_are_not_enough_however_far_apart():
    assert learn(*[0.0] * (STEADY_FRAMES - 1), period=0.4) is None


def test_D3_rest_is_what_the_frames_say_on_average():
    assert learn(0.04, 0.06, 0.05, 0.05, 0.05) == pytest.approx(0.05)


def test_D3_wild_frame_begins_the_wait_anew():
    assert learn(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0) is None


def test_D3_axis_on_its_way_is_not_at_rest():
    assert learn(*[-0.1 + 0.02 * step for step in range(11)]) is None


def test_D3_trembling_wider_than_the_spread_is_not_rest():
    assert learn(*[STEADY_SPREAD * 0.6, -STEADY_SPREAD * 0.6] * 10) is None


@pytest.mark.parametrize("raw", [0.11, -0.11, 1.0, -1.0])
def test_D3_rest_too_far_from_the_promised_one_is_none(raw):
    assert learn(*[raw] * 50) is None


def test_rest_is_learned_once_and_anew_after_it_is_forgotten():
    learner = RestLearner(-0.1, 0.1)
    for step in range(20):
        learner.see(0.05, step * PERIOD)
    for step in range(20, 40):
        learner.see(-0.05, step * PERIOD)
    assert learner.rest == pytest.approx(0.05)
    learner.forget()
    assert learner.rest is None
    learner.see(-0.05, 40 * PERIOD)
    assert learner.rest is None


@given(st.floats(-1.0, 1.0), st.floats(0.02, 0.5), st.floats(-1.0, 1.0), st.floats(0.0, 1.0))
def test_D3_whatever_is_learned_an_axis_at_its_promised_rest_is_at_rest(
    rest, deadband, held, part
):
    """So a stick that somebody held still while the pad came in does not creep afterwards."""
    spec = AxisSpec(0, rest=rest, deadband=deadband)
    axis = Axis(spec)
    for step in range(20):
        axis.read(held, step * PERIOD)
    if axis.rest is not None:
        assert shape(spec, travel(spec, rest, axis.rest)) == 0.0
    else:
        assert axis.read(part, 20 * PERIOD).value == 0.0


@pytest.mark.parametrize("rest", [1.0, -1.0])
def test_D3_trigger_that_reads_zero_until_touched_counts_once_it_was_released(rest):
    trigger, now = Axis(AxisSpec(0, rest=rest, invert=rest > 0.0, deadband=0.05)), 0.0

    def read(raw: float, frames: int = 10) -> float:
        nonlocal now
        for _ in range(frames):
            now += PERIOD
            value = trigger.read(raw, now).value
        return value

    assert read(0.0, 100) == 0.0, "an invented 0 is no rest"
    assert read(-rest) == 0.0, "first pull: its rest was never seen"
    assert read(rest) == 0.0
    assert read(-rest) == 1.0


def test_D3_worn_stick_is_measured_from_where_it_rests():
    stick = Axis(AxisSpec(0, deadband=0.1))
    for step in range(10):
        assert stick.read(0.08, step * PERIOD).value == 0.0
    assert stick.read(-0.01, 1.0).value == 0.0
    assert stick.read(0.19, 1.1).value > 0.0
    assert stick.read(-0.05, 1.2).value < 0.0
    assert [stick.read(raw, 2.0).value for raw in (0.5, 1.0, -0.5, -1.0)][1::2] == [1.0, -1.0]


def test_trigger_that_rests_beyond_its_learned_rest_is_not_pulled():
    trigger = Axis(AxisSpec(0, rest=1.0, invert=True, deadband=0.05))
    for step in range(10):
        trigger.read(0.92, step * PERIOD)
    assert trigger.read(1.0, 1.0).value == 0.0
