"""Known poses over time: hold-to-run, and blocked by anything; interrupted: test_motion_proofs."""

import numpy as np
import pytest

from reach_alpha5_common.command import STILL, ArmInput, GripperCommand, KnownPose, Pose
from reach_alpha5_motion.generator import MotionGenerator
from reach_alpha5_motion.model import E, JointLimits
from reach_alpha5_motion.speed import MotionConfig

CONFIG = MotionConfig()
GOALS = {Pose.STOWED: np.array(CONFIG.stowed), Pose.DEPLOYED: np.array(CONFIG.deployed)}
LIFT = np.array(CONFIG.lift)
TICK = 0.03
INNER = 0.01


def towards(pose, velocity=1.0):
    return GripperCommand(
        arm_input=ArmInput.KNOWN_POSE, known_pose=KnownPose(pose, velocity), speed_modifier=1.0
    )


class Drive:
    def __init__(self, arm, body, keep_out=None):
        self.generator, self.body = MotionGenerator(arm, CONFIG, keep_out), body
        self.now, self.track, self.last = 0.0, [], None

    def run(self, command, ticks, until_still=False, limits=None):
        for _ in range(ticks):
            self.body.advance(self.now, self.now + TICK)
            self.now += TICK
            self.last = self.generator.step(command, self.body.q, self.now, self.now, limits)
            self.body.send(self.last.joint_velocities, self.now)
            self.track.append(self.body.q[:3].copy())
            if until_still and not self.last.joint_velocities.any():
                break


@pytest.fixture
def drive(arm, obedient_arm):
    def start(q, keep_out=None):
        return Drive(arm, obedient_arm([*q, 2.0, 0.007], CONFIG.latency), keep_out)

    return start


def swings_only_when_upright(track, goal):
    """Check the order of the legs: the base turns upright, or when it is as good as there."""
    swung = np.abs(np.diff(track[:, E], prepend=track[0, E])) > 1e-9
    away = np.abs(track[:, E] - goal[E]) > CONFIG.leg_tolerance + 0.01
    upright = np.abs(track[:, 1:] - LIFT).max(axis=1) <= CONFIG.leg_tolerance + 0.03
    assert not (swung & away & ~upright).any()


@pytest.mark.parametrize("pose", GOALS)
def test_B5_it_ends_at_the_pose_and_is_then_exactly_still(drive, pose):
    going = drive(GOALS[Pose.DEPLOYED if pose == Pose.STOWED else Pose.STOWED])
    going.run(towards(pose), 1)
    assert going.last.moving_to == pose
    going.run(towards(pose), 1500, until_still=True)
    going.run(towards(pose), 10)
    assert np.abs(going.body.q[:3] - GOALS[pose]).max() <= CONFIG.pose_tolerance
    assert going.last.moving_to == Pose.UNSPECIFIED
    assert going.last.moving_to_name == ""
    assert not going.last.joint_velocities.any()
    swings_only_when_upright(np.array(going.track), GOALS[pose])


def test_B5_it_moves_only_while_it_is_held(drive):
    going = drive(GOALS[Pose.DEPLOYED])
    going.run(towards(Pose.STOWED), 30)
    for let_go in (STILL, towards(Pose.STOWED, 0.0)):
        going.run(towards(Pose.STOWED), 20)
        going.run(let_go, 1)
        assert going.last.moving_to == Pose.STOWED, "it is still coming to rest"
        going.run(let_go, 9)
        assert going.last.moving_to == Pose.UNSPECIFIED
        assert going.generator.at_rest


def test_B5_blocked_by_a_limit_it_stops_and_says_so(drive):
    nothing = np.full(5, np.nan)
    reported = JointLimits(nothing, np.array([np.nan, 2.0, *[np.nan] * 3]), nothing)
    going = drive([1.0, 1.5, 1.3])
    going.run(towards(Pose.DEPLOYED), 400, limits=reported)
    assert going.last.blocked_by == ("limit axis_d",)
    assert np.abs(going.last.joint_velocities).max() < 1e-3
    assert going.body.q[1] < 2.0
    going.run(towards(Pose.DEPLOYED), 900)
    assert np.abs(going.body.q[:3] - GOALS[Pose.DEPLOYED]).max() <= CONFIG.pose_tolerance


@pytest.mark.parametrize("leg", range(3))
def test_B5_blocked_by_what_is_in_the_way_it_stops_before_it_and_says_what(
    drive, arm, tip_wall, leg
):
    # A wall across the way, met on the leg that lifts, that swings, and that lowers.
    start, pose = GOALS[Pose.STOWED], Pose.DEPLOYED
    free = drive(start)
    free.run(towards(pose), 1500, until_still=True)
    track = np.array(free.track)
    upright = np.flatnonzero(np.abs(track[:, 1:] - LIFT).max(axis=1) < 0.1)
    ahead = (len(track[: upright[0]]) // 2, (upright[0] + upright[-1]) // 2, len(track) - 60)[leg]
    here = np.array([*track[ahead], 2.0, 0.007])
    before = np.array([*track[ahead - 5], 2.0, 0.007])
    normal = arm.tip(before) - arm.tip(here)
    wall = tip_wall(arm, normal / np.linalg.norm(normal), arm.tip(here), INNER)
    going = drive(track[ahead - 40], wall)
    assert wall.distance(going.body.q) > INNER
    nearest = np.inf
    for _ in range(60):
        going.run(towards(pose), 5)
        nearest = min(nearest, wall.distance(going.body.q))
    assert nearest >= INNER - 2e-4
    assert going.last.blocked_by == ("collision tool wall",)
    assert np.abs(going.last.joint_velocities).max() < 0.01
