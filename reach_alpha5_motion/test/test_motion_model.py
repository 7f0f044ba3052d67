"""The arm as the description tells it."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from reach_alpha5_motion.model import ArmModel, JointLimits, ModelError

MOUNTS = ["0 0 0", "3.141592653589793 0 0", "0.4 -0.7 1.9"]


def postures(arm, count, seed=1):
    low, high = arm.limits.lower, arm.limits.upper
    return low + (high - low) * np.random.default_rng(seed).random((count, 5))


@pytest.mark.parametrize("mount", MOUNTS)
def test_tip_equals_the_golden_vectors(arm_on, golden_file, mount):
    arm = arm_on(mount)
    points = json.loads(golden_file.read_text())["points"]
    assert len(points) >= 40
    for point in points:
        tip = arm.tip([*point["q_edc"], 1.0, 0.005])
        in_base = arm.base_rotation.T @ (tip - arm.base_position)
        assert np.abs(in_base - point["tip_m"]).max() < 1e-6


def test_default_mount_is_right_way_up_in_the_body_frame(arm):
    # base_link is z up, the body frame z down: an arm that points up has a negative z.
    tip = arm.tip([0.0, np.pi, np.pi, 0.0, 0.0])
    assert tip == pytest.approx([0.18, 0.0, 0.12 - 0.3723], abs=1e-6)


@pytest.mark.parametrize("mount", MOUNTS)
def test_jacobian_is_the_derivative_of_the_tip(arm_on, mount):
    arm = arm_on(mount)
    step = 1e-6
    for q in postures(arm, 50):
        numeric = np.column_stack(
            [
                (arm.tip(q + step * axis) - arm.tip(q - step * axis)) / (2.0 * step)
                for axis in np.eye(5)[:3]
            ]
        )
        assert np.abs(arm.jacobian(q) - numeric).max() < 1e-8


@pytest.mark.parametrize("mount", MOUNTS)
def test_posture_is_the_jacobian_in_the_plane_of_the_arm(arm_on, mount):
    arm = arm_on(mount)
    up = arm.base_rotation[:, 2]
    for q in postures(arm, 50):
        posture = arm.posture(q)
        basis = np.column_stack((posture.front, posture.across, posture.up))
        assert basis.T @ basis == pytest.approx(np.eye(3), abs=1e-12)
        assert basis[:, 2] == pytest.approx(up, abs=1e-12)
        (a, b), (c, d) = posture.planar
        split = np.array([[0.0, a, b], [posture.reach, 0.0, 0.0], [0.0, c, d]])
        assert basis @ split == pytest.approx(arm.jacobian(q), abs=1e-12)
        offset = arm.tip(q) - arm.base_position
        radius = np.linalg.norm(offset - (offset @ up) * up)
        assert abs(posture.reach) == pytest.approx(radius, abs=1e-9)


def test_tip_is_known_while_wrist_and_jaws_are_not(arm):
    q = np.array([1.0, 2.0, 1.0, np.nan, np.nan])
    assert (arm.tip(q) == arm.tip([1.0, 2.0, 1.0, 3.0, 0.01])).all()
    assert np.isnan(arm.tip([np.nan, 2.0, 1.0, 3.0, 0.01])).any()


def test_the_straight_arm_is_found(arm):
    inside = [s for s in arm.elbow_singularities if 0.0 <= s.angle <= 3.5]
    assert len(inside) == 1
    straight = inside[0]
    assert straight.roomier == -1
    tips = {
        bend: np.linalg.norm(
            arm.tip([0.0, 1.0, straight.angle + bend, 0.0, 0.0])
            - arm.tip([0.0, 1.0, straight.angle, 0.0, 0.0])
        )
        for bend in (-0.02, 0.02)
    }
    assert max(tips.values()) < 0.004
    (a, b), (c, d) = arm.posture([0.0, 1.0, straight.angle, 0.0, 0.0]).planar
    assert abs(a * d - b * c) < 1e-12


def test_prefix_and_a_second_arm_are_kept_apart(urdf):
    arm = ArmModel.from_urdf(urdf(prefix="left_"), "left_")
    assert arm.joint_names == (
        "left_axis_e", "left_axis_d", "left_axis_c", "left_axis_b", "left_axis_a",
    )  # fmt: skip
    with pytest.raises(ModelError, match=r"lacks joint axis_e.*prefix ''"):
        ArmModel.from_urdf(urdf(prefix="left_"))


def test_limits_are_those_of_the_description(arm, urdf):
    for joint in ElementTree.fromstring(urdf()).iter("joint"):
        if joint.get("name") in arm.joint_names:
            i = arm.joint_names.index(joint.get("name"))
            limit = joint.find("limit")
            assert arm.limits.lower[i] == float(limit.get("lower"))
            assert arm.limits.upper[i] == float(limit.get("upper"))
            assert arm.limits.velocity[i] == float(limit.get("velocity"))


def test_limits_of_the_arm_only_narrow(arm):
    nothing = np.full(5, np.nan)
    wide = JointLimits(np.full(5, -9.0), np.full(5, 9.0), np.full(5, 9.0))
    narrow = JointLimits(np.array([1.0, np.nan, 0.1, 0.1, 0.001]), nothing, nothing)
    for other in (wide, JointLimits(nothing, nothing, nothing), None):
        within = arm.limits.within(other)
        assert (within.lower == arm.limits.lower).all()
        assert (within.upper == arm.limits.upper).all()
        assert (within.velocity == arm.limits.velocity).all()
    assert arm.limits.within(narrow).lower.tolist() == [1.0, 0.0, 0.1, 0.1, 0.001]


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        ("base_link_frd", "body", "lacks link base_link_frd"),
        ('name="axis_d" type="revolute"', 'name="axis_d" type="continuous"', "axis_d must be"),
        ('name="axis_d" type="revolute"', 'name="axis_d" type="fixed"', "lacks joint axis_d"),
        ("<robot", "<robt", "not a valid URDF"),
    ],
)
def test_a_description_that_cannot_be_moved_is_refused(urdf, pattern, replacement, message):
    broken = re.sub(pattern, replacement, urdf())
    assert broken != urdf()
    with pytest.raises(ModelError, match=message):
        ArmModel.from_urdf(broken)


def change(xml, joint, tag, attribute, value):
    root = ElementTree.fromstring(xml)
    element = next(j for j in root.iter("joint") if j.get("name") == joint).find(tag)
    element.set(attribute, value)
    return ElementTree.tostring(root, encoding="unicode")


@pytest.mark.parametrize(
    ("joint", "tag", "attribute", "value", "message"),
    [
        ("axis_c", "axis", "xyz", "1 0 0", "in one plane"),
        ("axis_b", "axis", "xyz", "0 1 0", "must lie on the axis of axis_b"),
        ("axis_d", "limit", "upper", "-1", "lower < upper"),
        ("axis_d", "limit", "velocity", "0", "velocity > 0"),
    ],
)
def test_another_chain_is_refused(urdf, joint, tag, attribute, value, message):
    with pytest.raises(ModelError, match=message):
        ArmModel.from_urdf(change(urdf(), joint, tag, attribute, value))
