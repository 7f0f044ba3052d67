"""Coming back to the line."""

import numpy as np
import pytest

from reach_alpha5_motion.line import FAR, SAMPLES, Line

SLACK = 0.0002
AHEAD = (0.1, 0.0, 0.0)


def started(line=None, place=(0.0, 0.0, 0.0)):
    """A line along x through `place`."""
    line = Line(0.03, SLACK, 0.05) if line is None else line
    for number in range(SAMPLES):
        x, y, z = place
        assert line.tilt(AHEAD, (x + 0.002 * number, y, z)) is None
    return line


def test_on_the_line_there_is_nothing_to_correct():
    assert started().tilt(AHEAD, (0.1, 0.0, 0.0)) is None
    assert started().tilt(AHEAD, (0.1, 0.9 * SLACK, 0.0)) is None


def test_a_deviation_is_taken_back_across_the_line_in_proportion_to_the_speed():
    back = started().tilt(AHEAD, (0.1, 0.0003 + SLACK, 0.0))
    assert back == pytest.approx((0.0, -0.001, 0.0))
    slow = started().tilt((0.01, 0.0, 0.0), (0.1, 0.0003 + SLACK, 0.0))
    assert slow == pytest.approx((0.0, -0.0001, 0.0))


def test_the_tilt_is_bounded():
    back = started().tilt(AHEAD, (0.1, 0.0, -0.9 * FAR))
    assert back == pytest.approx((0.0, 0.0, 0.005))


def test_U17_what_was_moved_far_off_is_not_drawn_back():
    line = started()
    assert line.tilt(AHEAD, (0.1, 1.1 * FAR, 0.0)) is None
    started(line, (0.1, 0.02, 0.0))
    assert line.tilt(AHEAD, (0.2, 0.02, 0.0)) is None
    assert line.tilt(AHEAD, (0.2, 0.02, 0.001)) is not None, "it has a line again"


def test_U17_a_pause_ends_the_line():
    line = started()
    assert line.tilt((0.0, 0.0, 0.0), (0.1, 0.0, 0.0)) is None
    started(line, (0.1, 0.001, 0.0))
    assert line.tilt(AHEAD, (0.2, 0.001, 0.0)) is None
    assert line.tilt(AHEAD, (0.2, 0.002, 0.0)) is not None


@pytest.mark.parametrize("turned", [(0.1, 0.0001, 0.0), (-0.1, 0.0, 0.0), (0.0, 0.1, 0.0)])
def test_another_direction_begins_another_line(turned):
    line = started()
    assert line.tilt(turned, (0.1, 0.001, 0.0)) is None


def test_another_speed_along_it_does_not():
    assert started().tilt((0.02, 0.0, 0.0), (0.1, 0.0005, 0.0)) is not None


def test_noise_at_the_start_is_averaged_out():
    rng = np.random.default_rng(1)
    places = []
    for _ in range(200):
        line = Line(0.03, SLACK, 0.05)
        for number in range(SAMPLES):
            y, z = rng.normal(0.0, 3e-4, 2).tolist()
            line.tilt(AHEAD, (0.002 * number, y, z))
        back = line.tilt(AHEAD, (0.1, 0.001, 0.0))  # 1 mm off where the line should be
        places.append(-back[1] * 0.03 / 0.1 + SLACK)
    assert np.std(places) < 1.3 * 3e-4 / np.sqrt(SAMPLES)
    assert np.mean(places) == pytest.approx(0.001, abs=5e-5)
