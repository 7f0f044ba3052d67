"""What the configured speeds come to."""

import math

import numpy as np
import pytest

from reach_alpha5_common.command import ArmInput, Cylindrical, GripperCommand, GripperVelocities
from reach_alpha5_motion.model import B, JointLimits
from reach_alpha5_motion.resolver import VelocityResolver
from reach_alpha5_motion.speed import MotionConfig
from reach_alpha5_motion.speeds import effective_speeds, joint_limits, table

NOTHING = np.full(5, math.nan)


def speeds(arm, config, velocity=None):
    reported = None if velocity is None else JointLimits(NOTHING, NOTHING, np.array(velocity))
    return {
        each.name: each for each in effective_speeds(arm.limits, reported, config, arm.joint_names)
    }


def test_each_speed_is_the_narrowest_and_says_whose_it_is(arm):
    config = MotionConfig(wrist_speed=2.0, jaw_speed=0.002)
    found = speeds(arm, config, [0.3, math.nan, 0.6, math.nan, 0.0025])
    assert (found["azimuth"].maximum, found["azimuth"].decided_by) == (0.3, "arm")
    assert found["wrist"].maximum == pytest.approx(math.radians(50.0))
    assert found["wrist"].decided_by == "description"
    assert (found["jaws"].maximum, found["jaws"].decided_by) == (0.002, "configuration")
    assert (found["linear"].maximum, found["linear"].decided_by) == (0.1, "configuration")
    assert found["axis_e"].maximum == 0.3


def test_B6_the_curve_is_for_the_arm_alone(arm):
    config = MotionConfig(slow_fraction=0.2, default_fraction=0.4)
    found = speeds(arm, config)
    assert (found["linear"].slow, found["linear"].default) == pytest.approx((0.02, 0.04))
    assert found["wrist"].slow == found["wrist"].maximum
    assert found["jaws"].slow == found["jaws"].maximum


def test_what_is_printed_is_what_the_arm_does(arm):
    config = MotionConfig(azimuth_speed=2.0)
    q = np.array([3.0, 1.6, 1.5, 3.0, 0.007])
    command = GripperCommand(
        gripper_velocities=GripperVelocities(1.0, 1.0),
        arm_input=ArmInput.CYLINDRICAL,
        cylindrical=Cylindrical(azimuth=1.0),
        speed_modifier=1.0,
    )
    rates = VelocityResolver(arm, config).resolve(command, q).joint_velocities
    found = speeds(arm, config)
    assert abs(rates[0]) == pytest.approx(found["azimuth"].maximum)
    assert rates[3] == pytest.approx(found["wrist"].maximum)
    assert rates[4] == pytest.approx(found["jaws"].maximum)


def test_C10_one_setting_narrows_the_joints_of_the_arm(arm):
    limits = joint_limits(arm.limits, None, MotionConfig(joint_speed=0.2))
    assert limits.velocity[:B].tolist() == [0.2] * 3
    assert limits.velocity[B:].tolist() == arm.limits.velocity[B:].tolist()
    wide = joint_limits(arm.limits, None, MotionConfig(joint_speed=5.0))
    assert wide.velocity.tolist() == arm.limits.velocity.tolist()


def test_the_table_is_for_people(arm):
    config = MotionConfig()
    text = table(effective_speeds(arm.limits, None, config, arm.joint_names))
    lines = text.splitlines()
    assert len(lines) == 8
    assert lines[0].split() == ["speed", "slow", "default", "maximum", "unit", "decided", "by"]
    assert lines[1].split() == ["linear", "0.025", "0.05", "0.1", "m/s", "configuration"]
    assert max(map(len, lines)) < 80
