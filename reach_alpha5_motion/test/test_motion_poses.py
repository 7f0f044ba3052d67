"""Known poses: legs in order, together, resumable, and still at the end."""

import numpy as np
import pytest

from reach_alpha5_common.command import ArmInput, GripperCommand, KnownPose, Pose
from reach_alpha5_motion.model import C, D, E
from reach_alpha5_motion.poses import path_rates
from reach_alpha5_motion.resolver import MotionConfig, VelocityResolver

CONFIG = MotionConfig()
GOALS = {Pose.STOWED: np.array(CONFIG.stowed), Pose.DEPLOYED: np.array(CONFIG.deployed)}
LIFT = np.array(CONFIG.lift)
LONGEST = 4000
"""Ticks: more than any way takes at the speed of these tests."""


@pytest.fixture(scope="module")
def resolver(arm):
    return VelocityResolver(arm, CONFIG)


def towards(pose, velocity=1.0):
    return GripperCommand(
        arm_input=ArmInput.KNOWN_POSE, known_pose=KnownPose(pose, velocity), speed_modifier=1.0
    )


def run(resolver, body, command, ticks=LONGEST):
    """Go until still or for `ticks`; return positions and rates of E, D, C, a row a tick."""
    track, rates = [], []
    for _ in range(ticks):
        resolution = resolver.resolve(command, body.measured())
        track.append(body.q[:3].copy())
        rates.append(resolution.joint_velocities)
        body.tick(resolution.joint_velocities)
        if body.is_still:
            break
    return np.array(track), np.array(rates)


def from_posture(e, d, c):
    return np.array([e, d, c, 2.0, 0.007])


def lifts(track, goal):
    """Count how often the base begins to swing from upright, and check that it only does there."""
    away = np.abs(track[:, 0] - goal[0]) > CONFIG.leg_tolerance
    upright = np.abs(track[:, 1:] - LIFT).max(axis=1) <= CONFIG.leg_tolerance + 0.02
    swinging = np.abs(np.diff(track[:, 0], prepend=track[0, 0])) > 1e-9
    assert not (away & swinging & ~upright).any(), "the base swings while the arm is not upright"
    return bool((away & swinging).any())


@pytest.mark.parametrize("pose", GOALS)
def test_B5_lifts_swings_and_lowers(resolver, late_arm, pose):
    start = GOALS[Pose.DEPLOYED if pose == Pose.STOWED else Pose.STOWED]
    body = late_arm(from_posture(*start))
    track, rates = run(resolver, body, towards(pose))
    goal = GOALS[pose]
    assert lifts(track, goal)
    assert np.abs(body.q[:3] - goal).max() <= CONFIG.pose_tolerance
    assert (rates[:, 3:] == 0.0).all(), "wrist and jaws are left alone"
    # In order: no base motion in the first leg, no lowering before the base is nearly there.
    first = np.flatnonzero(np.abs(rates[:, E]) > 0.0)[0]
    assert np.abs(track[first, 1:] - LIFT).max() <= CONFIG.leg_tolerance + 0.02
    left = np.flatnonzero(np.abs(track[:, 1:] - LIFT).max(axis=1) < 0.03)[-1]
    assert abs(track[left, 0] - goal[0]) <= CONFIG.leg_tolerance


def test_B5_joints_of_a_leg_arrive_together(resolver, late_arm):
    body = late_arm(from_posture(3.0, 0.6, 0.4))
    track, _ = run(resolver, body, towards(Pose.STOWED), 600)
    lifting = track[np.abs(track[:, 0] - 3.0) < 1e-9][:, 1:]
    share = (lifting - lifting[0]) / (LIFT - lifting[0])
    assert share[-1].min() > 0.9
    assert np.abs(share[:, 0] - share[:, 1]).max() < 1e-6
    # Lowering from upright at the heading of the goal, with a little of the base left to turn.
    body = late_arm(from_posture(0.12, *LIFT))
    track, _ = run(resolver, body, towards(Pose.STOWED))
    share = (track - track[0]) / (GOALS[Pose.STOWED] - track[0])
    assert np.abs(share - share[:, :1]).max() < 1e-6


def test_B5_velocity_scales_along_the_same_path(resolver, late_arm):
    start = from_posture(2.0, 1.0, 1.0)
    full, _ = run(resolver, late_arm(start), towards(Pose.STOWED, 1.0), 100)
    half, rates = run(resolver, late_arm(start), towards(Pose.STOWED, 0.5), 196)
    assert half[-1] == pytest.approx(full[-1], abs=1e-9)
    assert np.abs(rates[:, :3]).max() == pytest.approx(0.5 * np.pi / 6.0)


def test_B5_reaches_both_poses_from_anywhere_without_overshoot_and_then_is_still(
    arm, resolver, late_arm
):
    rng = np.random.default_rng(3)
    low, high = arm.limits.lower[:3] + 0.02, arm.limits.upper[:3] - 0.02
    for trial in range(10):
        pose = (Pose.STOWED, Pose.DEPLOYED)[trial % 2]
        goal = GOALS[pose]
        start = low + (high - low) * rng.random(3)
        body = late_arm(from_posture(*start))
        track, rates = run(resolver, body, towards(pose))
        assert len(track) < LONGEST
        assert np.abs(track[-1] - goal).max() <= CONFIG.pose_tolerance
        lifts(track, goal)
        before, after = np.sign(goal - track)[:-1], np.sign(goal - track)[1:]
        assert ((before == after) | (np.abs(track[1:] - goal) < 1e-3))[:, E].all(), (
            "base overshoots"
        )
        changes = np.abs(np.diff(rates[1:, :3], axis=0)).max()
        assert changes < 0.06, "no step in the rates between legs"
        resolution = resolver.resolve(towards(pose), body.q)
        assert (resolution.joint_velocities == 0.0).all()


def test_B5_interrupted_anywhere_it_resumes_and_repeats_no_leg(arm, resolver, late_arm):
    rng = np.random.default_rng(11)
    low, high = arm.limits.lower[:3] + 0.02, arm.limits.upper[:3] - 0.02
    for trial in range(4):
        pose = (Pose.STOWED, Pose.DEPLOYED)[trial % 2]
        goal = GOALS[pose]
        start = from_posture(*(low + (high - low) * rng.random(3)))
        whole, _ = run(resolver, late_arm(start), towards(pose))
        body = late_arm(start, noise=1e-3, seed=trial)
        pieces = []
        for _ in range(200):
            piece, _ = run(resolver, body, towards(pose), int(rng.integers(5, 200)))
            pieces.append(piece)
            for _ in range(3):  # let go: what is still under way ends
                body.tick(np.zeros(5))
            if np.abs(body.q[:3] - goal).max() < CONFIG.pose_tolerance:
                break
        broken = np.vstack(pieces)
        lifts(broken, goal)
        assert np.abs(broken[-1] - goal).max() <= CONFIG.pose_tolerance + 1e-3
        # The same way, whatever the stops: as long as without, for each joint.
        travel = np.abs(np.diff(broken, axis=0)).sum(axis=0)
        assert travel == pytest.approx(np.abs(np.diff(whole, axis=0)).sum(axis=0), abs=0.05)


@pytest.mark.parametrize("offset", [0.0, 0.02, 0.06, 0.11])
def test_B5_a_base_that_is_there_is_not_lifted_again(resolver, late_arm, offset):
    goal = GOALS[Pose.STOWED]
    body = late_arm(from_posture(goal[0] + offset, 1.9, 1.0), noise=1e-3)
    track, _ = run(resolver, body, towards(Pose.STOWED))
    assert np.abs(body.q[:3] - goal).max() <= CONFIG.pose_tolerance + 1e-3
    assert track[:, 1].max() < 2.3 + (0.2 if offset > 0.1 else 0.0)


def test_B5_half_swung_it_goes_on_swinging(resolver):
    rates = resolver.resolve(towards(Pose.STOWED), from_posture(1.5, *LIFT)).joint_velocities
    assert rates[E] < -0.5
    assert rates[[D, C]].tolist() == [0.0, 0.0]


def test_B5_a_swing_of_more_than_the_tolerance_is_not_made_without_a_lift(resolver):
    low = from_posture(CONFIG.stowed[0] + CONFIG.leg_tolerance + 0.001, 1.5, 0.1)
    rates = resolver.resolve(towards(Pose.STOWED), low).joint_velocities
    assert rates[E] == 0.0
    assert rates[D] > 0.0
    assert rates[C] > 0.0


def test_B5_rates_are_continuous_in_the_posture():
    rng = np.random.default_rng(5)
    speed = (0.5,) * 3
    steepest = 0.0
    for _ in range(3000):
        goal = np.array([3.0, 1.5, 1.0])
        q = goal + rng.uniform(-0.2, 0.2, 3)
        if rng.random() < 0.5:
            q[1:] = LIFT + rng.uniform(-0.2, 0.2, 2)
        step = 1e-5 * rng.normal(size=3)
        one, other = (
            np.array(path_rates(tuple(p), tuple(goal), CONFIG.lift, speed, 4.0, (0.12, 0.005)))
            for p in (q, q + step)
        )
        if np.abs(goal - q).max() > 0.0051:
            steepest = max(steepest, np.abs(one - other).max() / np.abs(step).max())
    assert steepest < 30.0
