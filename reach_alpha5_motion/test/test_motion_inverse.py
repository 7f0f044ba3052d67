"""The closed-form inverse: every way to a point, and no other."""

import json
import math

import numpy as np
import pytest

from reach_alpha5_motion.inverse import Elbow, Facing, InverseKinematics
from reach_alpha5_motion.model import JointLimits

MOUNTS = ["0 0 0", "3.141592653589793 0 0", "0.4 -0.7 1.9"]
UNKNOWN = np.full(5, np.nan)


def postures(arm, count, seed=1):
    low, high = arm.limits.lower, arm.limits.upper
    return low + (high - low) * np.random.default_rng(seed).random((count, 5))


def reached_by(arm, angles):
    return arm.tip([*angles, 0.0, 0.0])


@pytest.fixture(scope="module")
def inverse(arm):
    return InverseKinematics(arm)


@pytest.mark.parametrize("mount", MOUNTS)
def test_every_posture_is_found_again_and_every_solution_reaches_the_point(arm_on, mount):
    arm = arm_on(mount)
    inverse = InverseKinematics(arm)
    branches = set()
    for q in postures(arm, 1000):
        point = arm.tip(q)
        solutions = inverse.solutions(point)
        own = inverse.branch(q)
        branches.add(own)
        assert len(solutions) in (2, 4)
        assert len({(s.facing, s.elbow) for s in solutions}) == len(solutions)
        for solution in solutions:
            assert np.abs(reached_by(arm, solution.angles) - point).max() < 1e-12
            assert inverse.branch(solution.angles) == (solution.facing, solution.elbow)
        (again,) = [s for s in solutions if (s.facing, s.elbow) == own]
        assert min(np.abs(np.array(a) - q[:3]).max() for a in inverse.within(again)) < 1e-6
    assert branches == {(facing, elbow) for facing in Facing for elbow in Elbow}


def test_golden_postures_are_found_from_their_tips(arm, inverse, golden_file):
    for point in json.loads(golden_file.read_text())["points"]:
        tip = arm.base_position + arm.base_rotation @ point["tip_m"]
        found = [a for s in inverse.solutions(tip, point["q_edc"][0]) for a in inverse.within(s)]
        tips = [np.abs(reached_by(arm, angles) - tip).max() for angles in found]
        assert found
        assert max(tips) < 1e-8
        misses = [np.abs(np.array(angles) - point["q_edc"]).max() for angles in found]
        # The golden tips have nine digits, and at full stretch the elbow is the root of that.
        straight = min(abs(point["q_edc"][2] - s.angle) for s in arm.elbow_singularities)
        assert min(misses) < (1e-5 if straight > 1e-2 else 1e-3)


def test_over_arm_has_the_elbow_above_the_line_from_the_shoulder_to_the_tip(arm, inverse):
    up = np.array(arm.posture(np.zeros(5)).up)
    half_turn = math.pi * np.eye(5)
    told = set()
    for q in postures(arm, 3000, seed=8):
        facing, elbow = inverse.branch(q)
        tip, shoulder = arm.tip(q), (arm.tip(q) + arm.tip(q + half_turn[1])) / 2.0
        if np.linalg.norm((tip - shoulder) - (tip - shoulder) @ up * up) < 0.15:
            continue  # the line is steep: above it is no side
        joint = (tip + arm.tip(q + half_turn[2])) / 2.0
        along = (joint - shoulder) @ (tip - shoulder) / ((tip - shoulder) @ (tip - shoulder))
        above = (joint - shoulder - along * (tip - shoulder)) @ up
        assert (above > 0.0) == (elbow is Elbow.OVER)
        told.add((facing, elbow))
    assert len(told) == 4


def test_outside_is_the_distance_to_the_nearest_place_that_can_be_reached(arm, inverse):
    # All places in one half plane, from all angles of shoulder and elbow, limits or not.
    angles = np.linspace(-math.pi, math.pi, 240, endpoint=False)
    places = []
    for c in angles:
        for q in ((0.0, 0.0, c), (0.0, 1.0, c)):
            places.append(arm.tip([*q, 0.0, 0.0]))
    posture = arm.posture(np.zeros(5))
    up, front = np.array(posture.up), np.array(posture.front)
    centre = (arm.tip(np.zeros(5)) + arm.tip([math.pi, 0, 0, 0, 0])) / 2.0
    flat = np.array([[(p - centre) @ front, (p - centre) @ up] for p in places])
    middle = (arm.tip(np.zeros(5)) + arm.tip([0, math.pi, 0, 0, 0])) / 2.0 - centre
    shoulder = np.array([middle @ front, middle @ up])
    radii = np.linalg.norm(flat - shoulder, axis=1)
    rng = np.random.default_rng(2)
    outside = inside = 0
    for _ in range(300):
        out, height = rng.uniform(-0.6, 0.6, 2)
        point = centre + out * front + height * up
        # The base turns front or back to it: the shoulder is on either side of the axis.
        distance = min(
            max(d - radii.max(), radii.min() - d)
            for d in (np.hypot(side * out - shoulder[0], height - shoulder[1]) for side in (1, -1))
        )
        assert inverse.outside(point) == pytest.approx(distance, abs=2e-4)
        outside += (inverse.outside(point) > 0.0) and not inverse.solutions(point)
        inside += (inverse.outside(point) <= 0.0) and bool(inverse.solutions(point))
    assert outside + inside == 300
    assert min(outside, inside) > 50


def test_a_base_with_more_than_a_turn_has_two_angles_for_one_posture(arm, inverse):
    q = (0.01, 2.0, 1.0)
    (own,) = [
        s
        for s in inverse.solutions(reached_by(arm, q))
        if (s.facing, s.elbow) == inverse.branch(q)
    ]
    angles = list(inverse.within(own))
    assert angles == [pytest.approx(q), pytest.approx((0.01 + math.tau, 2.0, 1.0))]


def test_limits_of_the_arm_leave_out_ways_that_geometry_allows(arm, inverse):
    q = (2.0, 2.0, 1.0)
    point = reached_by(arm, q)
    everywhere = [a for s in inverse.solutions(point) for a in inverse.within(s)]
    narrow = JointLimits(np.array([1.9, 1.9, 0.9, np.nan, np.nan]),
                         np.array([2.1, 2.1, 1.1, np.nan, np.nan]), UNKNOWN)  # fmt: skip
    within = [a for s in inverse.solutions(point) for a in inverse.within(s, narrow)]
    assert within == [pytest.approx(q)]
    assert len(everywhere) > 1
    none = JointLimits(np.array([2.1, 0.0, 0.0, 0.0, 0.0]), UNKNOWN, UNKNOWN)
    assert [a for s in inverse.solutions(point) for a in inverse.within(s, none)] != within
    assert inverse.nearest(point, q, narrow)[1] == pytest.approx(q)


def test_an_angle_that_rounding_puts_beyond_a_limit_counts_as_on_it(arm, inverse):
    q = (float(arm.limits.lower[0]), float(arm.limits.upper[1]), float(arm.limits.lower[2]))
    found = [a for s in inverse.solutions(reached_by(arm, q)) for a in inverse.within(s)]
    assert min(np.abs(np.array(a) - q).max() for a in found) < 1e-9
    for angles in found:
        assert (np.array(angles) >= arm.limits.lower[:3]).all()
        assert (np.array(angles) <= arm.limits.upper[:3]).all()


def test_the_nearest_way_to_where_the_arm_is_is_to_stay(arm, inverse):
    for q in postures(arm, 500, seed=3):
        solution, angles = inverse.nearest(arm.tip(q), q.tolist())
        assert angles == pytest.approx(q[:3], abs=1e-6)
        assert (solution.facing, solution.elbow) == inverse.branch(q)


def test_a_small_step_of_the_tip_is_a_small_step_of_the_joints(arm, inverse):
    rng = np.random.default_rng(4)
    straight = next(s.angle for s in arm.elbow_singularities if s.angle > 0.0)
    steps = 0
    for q in postures(arm, 500, seed=5):
        regular = abs(q[2] - straight) > 0.2 and abs(arm.posture(q).reach) > 0.05
        if not regular or ((q[:3] < 0.2) | (q[:3] > arm.limits.upper[:3] - 0.2)).any():
            continue
        step = rng.normal(size=3)
        point = arm.tip(q) + 0.001 * step / np.linalg.norm(step)
        solution, angles = inverse.nearest(point, q.tolist())
        assert np.abs(np.array(angles) - q[:3]).max() < 0.1
        assert (solution.facing, solution.elbow) == inverse.branch(q)
        steps += 1
    assert steps > 100


def test_nothing_is_nearest_to_a_point_out_of_reach(arm, inverse):
    assert inverse.nearest(arm.base_position + 5.0, [1.0] * 5) is None


def test_on_the_base_axis_the_base_stays_as_it_is(arm, inverse):
    # (pi, pi, pi) is on the axis in the facts of the arm.
    point = reached_by(arm, (math.pi, math.pi, math.pi))
    for base in (0.3, 2.0, 5.9):
        solutions = inverse.solutions(point, base)
        assert len(solutions) == 2
        for solution in solutions:
            assert np.abs(reached_by(arm, solution.angles) - point).max() < 1e-12
        _, angles = inverse.nearest(point, (base, 2.0, 2.0))
        assert angles[0] == pytest.approx(base)


def test_at_full_stretch_the_elbows_meet(arm, inverse):
    straight = next(s.angle for s in arm.elbow_singularities if s.angle > 0.0)
    q = (1.0, 1.0, straight)
    point = reached_by(arm, q)
    assert inverse.outside(point) == pytest.approx(0.0, abs=1e-12)
    front = [s for s in inverse.solutions(point) if s.facing is Facing.FRONT]
    assert [s.elbow for s in front] == [Elbow.OVER, Elbow.UNDER]
    for solution in front:
        assert solution.angles == pytest.approx(q, abs=1e-6)
