"""Jacobians in the coordinates of the body, of the base, and about its axis."""

import numpy as np
import pytest

from reach_alpha5_motion import jacobians

MOUNTS = ["0 0 0", "3.141592653589793 0 0", "0.4 -0.7 1.9"]
STEP = 1e-6


def in_base(arm, tip):
    return arm.base_rotation.T @ (tip - arm.base_position)


def about_axis(arm, tip):
    """Radius, depth and azimuth of a tip; clockwise from above, as the input has it."""
    x, y, z = in_base(arm, tip)
    return np.array([np.hypot(x, y), -z, -np.arctan2(y, x)])


def derivative(arm, q, coordinates):
    columns = []
    for axis in np.eye(5)[:3]:
        change = coordinates(arm.tip(q + STEP * axis)) - coordinates(arm.tip(q - STEP * axis))
        if len(change) == 3 and abs(change[2]) > np.pi:  # across the cut of the azimuth
            change[2] -= np.sign(change[2]) * 2.0 * np.pi
        columns.append(change / (2.0 * STEP))
    return np.column_stack(columns)


@pytest.mark.parametrize("mount", MOUNTS)
def test_B4_each_jacobian_is_the_derivative_of_its_coordinates(arm_on, mount):
    arm = arm_on(mount)
    rng = np.random.default_rng(6)
    low, high = arm.limits.lower, arm.limits.upper
    for _ in range(200):
        q = low + (high - low) * rng.random(5)
        assert np.allclose(jacobians.body(arm, q), derivative(arm, q, lambda p: p), atol=1e-8)
        numeric = derivative(arm, q, lambda p: in_base(arm, p))
        assert np.allclose(jacobians.base(arm, q), numeric, atol=1e-8)
        if abs(arm.posture(q).reach) > 0.02:
            numeric = derivative(arm, q, lambda p: about_axis(arm, p))
            assert np.allclose(jacobians.cylindrical(arm, q), numeric, atol=1e-6)


def test_the_azimuth_is_regular_on_the_base_axis(arm):
    on_axis = jacobians.cylindrical(arm, [np.pi, np.pi, np.pi, 0.0, 0.0])
    assert on_axis[2].tolist() == [-1.0, 0.0, 0.0]
    assert abs(np.linalg.det(on_axis)) > 1e-4
