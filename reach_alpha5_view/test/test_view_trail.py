"""The trail: bounded in time and points, and never a line that the tip did not go."""

from __future__ import annotations

import math

from reach_alpha5_view.scene.trail import GAP, JUMP, Trail


def straight(trail: Trail, steps: int, step: float = 0.01, start: float = 0.0) -> float:
    """Let the tip go straight, ten times a second; return the time."""
    for i in range(steps):
        trail.add((i * step, 0.0, 0.0), start + 0.1 * i)
    return start + 0.1 * (steps - 1)


def test_a_trail_is_a_line_for_each_two_places():
    trail = Trail(60.0, 100, 0.003)
    straight(trail, 3)
    a, b, c = (0.0, 0.0, 0.0), (0.01, 0.0, 0.0), (0.02, 0.0, 0.0)
    assert trail.lines(0.3) == (a, b, b, c)


def test_a_trail_has_no_more_points_than_it_may():
    trail = Trail(1e9, 50, 0.003)
    straight(trail, 5000)
    assert len(trail.lines(600.0)) == 2 * 49


def test_a_trail_forgets_what_is_old():
    trail = Trail(1.0, 1000, 0.003)
    now = straight(trail, 100)
    assert len(trail.lines(now)) == 2 * 10
    assert trail.lines(now + 2.0) == ()


def test_a_tip_that_rests_adds_nothing():
    trail = Trail(60.0, 100, 0.003)
    straight(trail, 1000, step=1e-7)
    assert trail.lines(100.0) == ()


def test_no_line_over_a_gap_in_time():
    trail = Trail(60.0, 100, 0.003)
    trail.add((0.0, 0.0, 0.0), 0.0)
    trail.add((0.05, 0.0, 0.0), GAP + 0.1)
    assert trail.lines(2.0) == ()
    trail.add((0.06, 0.0, 0.0), GAP + 0.2)
    assert trail.lines(2.0) == ((0.05, 0.0, 0.0), (0.06, 0.0, 0.0))


def test_no_line_over_a_jump_nor_over_what_is_not_known():
    trail = Trail(60.0, 100, 0.003)
    trail.add((0.0, 0.0, 0.0), 0.0)
    trail.add((JUMP + 0.01, 0.0, 0.0), 0.1)
    trail.add((math.nan,) * 3, 0.2)
    trail.add((JUMP + 0.02, 0.0, 0.0), 0.3)
    assert trail.lines(0.3) == ()


def test_a_clock_that_went_back_joins_nothing():
    trail = Trail(60.0, 100, 0.003)
    trail.add((0.0, 0.0, 0.0), 10.0)
    trail.add((0.01, 0.0, 0.0), 5.0)
    assert trail.lines(10.0) == ()
