"""Smooth starts and stops: the mean of what was asked."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reach_alpha5_motion.ramp import SPACING, Ramp, Shaper

RAMP = Ramp.of(0.18, 0.25)


def run(asks, step=0.001, end=1.0):
    """Ask (time, ask) and return the mean speed of "x" at each step."""
    shaper, todo, speeds = Shaper(RAMP), list(asks), []
    for now in np.arange(0.0, end, step):
        while todo and todo[0][0] <= now:
            shaper.ask(todo.pop(0)[1], now)
        speeds.append(shaper.mean(now).get("x", (0.0,))[0])
    return np.array(speeds), shaper


def test_a_change_takes_the_ramp_time_and_no_more_acceleration_and_jerk_than_said():
    speeds, _ = run([(0.1, ("x", (2.0,)))])
    assert speeds[100] == 0.0
    assert speeds[281] == 2.0
    acceleration = np.diff(speeds) / 0.001
    assert (acceleration >= 0.0).all()
    assert acceleration.max() == pytest.approx(2.0 / RAMP.mean, rel=1e-6)
    jerk = np.diff(acceleration) / 0.001
    assert np.abs(jerk).max() == pytest.approx(2.0 / (RAMP.mean * RAMP.jerk), rel=1e-3)


def test_a_stop_ends_exactly_and_after_the_ramp_time():
    speeds, shaper = run([(0.1, ("x", (2.0,))), (0.5, None)])
    assert speeds[500] == 2.0
    assert 0.0 < speeds[670] < 0.05
    assert (speeds[681:] == 0.0).all()
    assert shaper.at_rest


def test_a_reversal_goes_straight_from_one_speed_to_the_other():
    speeds, _ = run([(0.0, ("x", (1.0,))), (0.5, ("x", (-1.0,)))])
    turning = speeds[500:682]
    assert (np.diff(turning) <= 0.0).all()
    assert turning[0] == 1.0
    assert turning[-1] == -1.0


def test_what_was_asked_fades_while_another_thing_comes():
    shaper = Shaper(RAMP)
    shaper.ask(("x", (1.0,)), 0.0)
    shaper.mean(0.3)
    shaper.ask(("y", (1.0, 0.0)), 0.3)
    half = shaper.mean(0.3 + RAMP.time / 2.0)
    assert half["x"][0] == pytest.approx(0.5)
    assert half["y"] == pytest.approx((0.5, 0.0))
    assert list(half) == ["x", "y"], "the newest is the last"


def test_after_forgetting_motion_begins_at_rest():
    shaper = Shaper(RAMP)
    shaper.ask(("x", (1.0,)), 0.0)
    assert shaper.mean(0.5)["x"] == (1.0,)
    shaper.forget()
    assert shaper.at_rest
    assert shaper.mean(0.5) == {}
    shaper.ask(("x", (1.0,)), 0.5)
    assert shaper.mean(0.51)["x"][0] < 0.05


speed = st.floats(-1.0, 1.0)
asks = st.lists(
    st.tuples(st.floats(0.0, 0.1), st.one_of(st.none(), st.tuples(speed, speed))), max_size=30
)


@settings(deadline=None)
@given(asks)
def test_rule16_any_asks_give_what_lies_between_them(asks):
    shaper, now, recent = Shaper(RAMP), 0.0, [(-1.0, (0.0, 0.0))]
    for wait, ask in asks:
        now += wait
        shaper.ask(None if ask is None else ("x", (*ask, 0.0)), now)
        recent.append((now, ask or (0.0, 0.0)))
        first, second, third = shaper.mean(now).get("x", (0.0,) * 3)
        begun = [ask for at, ask in recent if at < now - RAMP.time - SPACING][-1:]
        counted = begun + [ask for at, ask in recent if at >= now - RAMP.time - SPACING]
        counted.append((0.0, 0.0))
        for value, axis in ((first, 0), (second, 1)):
            values = [ask[axis] for ask in counted]
            assert min(values) - 1e-12 <= value <= max(values) + 1e-12
        assert third == 0.0, "what was never asked is exactly still"


def test_a_direction_that_is_held_is_kept_exactly_while_it_comes_and_goes():
    shaper = Shaper(RAMP)
    shaper.ask(("x", (0.3, -0.1)), 0.0)
    for now in np.arange(0.01, 0.3, 0.007):
        x, y = shaper.mean(now)["x"]
        assert math.atan2(y, x) == pytest.approx(math.atan2(-0.1, 0.3), abs=1e-12)


def test_however_fast_it_is_asked_the_memory_stays_small():
    shaper = Shaper(RAMP)
    for number in range(4000):
        now = number * 5e-5
        shaper.ask(("x", (float(number % 7),)), now)
        shaper.mean(now)
    assert len(shaper._asked) <= RAMP.time / SPACING + 2
