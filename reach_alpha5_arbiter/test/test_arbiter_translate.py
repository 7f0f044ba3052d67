"""What the arbiter reads out of the driver's state."""

from __future__ import annotations

import math

import pytest

from reach_alpha5_arbiter.translate import joint_feedback
from reach_alpha5_msgs.msg import ArmState, JointHealth

JOINTS = ("axis_e", "axis_d", "axis_c", "axis_b", "axis_a")
REST, JAW_REST = 0.03, 0.0003


def rests(**joint: object) -> bool:
    """Judge an arm at rest of which one joint has these fields."""
    joints = [JointHealth(name=f"left_{name}") for name in JOINTS]
    number = joint.pop("number", 0)
    for field, value in joint.items():
        setattr(joints[number], field, value)
    return joint_feedback(ArmState(joints=joints), REST, JAW_REST).at_rest


def test_an_arm_whose_joints_all_rest_rests():
    assert rests()
    assert rests(velocity=-REST)
    assert rests(number=4, velocity=JAW_REST)


@pytest.mark.parametrize(
    "joint",
    [
        {"velocity": 1.01 * REST},
        {"velocity": -1.01 * REST},
        {"velocity": math.nan},
        {"velocity": math.inf},
        {"number": 4, "velocity": 1.01 * JAW_REST},
        {"stale": True},
    ],
)
def test_rule_9_a_joint_that_moves_or_is_not_known_to_rest_confirms_no_stop(joint):
    assert not rests(**joint)


def test_an_arm_without_joints_confirms_no_stop():
    assert not joint_feedback(ArmState(), REST, JAW_REST).at_rest
