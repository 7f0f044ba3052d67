"""Where the tip goes, and which way each axis moves it."""

import json

import numpy as np
import pytest

HOME = {"axis_e": np.pi, "axis_d": 1.57, "axis_c": 1.57}
MOUNTS = {
    "default": {},
    "tilted": {"prefix": "x_", "mount_xyz": "0.2 0.05 0.1", "mount_rpy": "0.3 -0.4 1.2"},
    "inverted": {"mount_rpy": "3.141592653589793 0 0"},
}


def golden_points(package):
    points = json.loads((package / "test/kinematics_golden.json").read_text())["points"]
    assert len(points) >= 20
    return points


@pytest.mark.parametrize("arguments", MOUNTS.values(), ids=MOUNTS.keys())
def test_the_tip_is_where_the_golden_points_say(package, expand, posed_arm, arguments):
    arm = posed_arm(expand(**arguments), arguments.get("prefix", ""))
    for point in golden_points(package):
        e, d, c = point["q_edc"]
        arm.pose_at({"axis_e": e, "axis_d": d, "axis_c": c})
        tip = arm.in_arm_base("tool").translation
        np.testing.assert_allclose(tip, point["tip_m"], rtol=0, atol=1e-6)


def test_the_wrist_and_the_jaws_do_not_move_the_tip(urdf, posed_arm):
    arm = posed_arm(urdf)
    arm.pose_at(HOME)
    still = arm.in_arm_base("tool").translation.copy()
    arm.pose_at({**HOME, "axis_b": 2.5, "axis_a": 0.01})
    np.testing.assert_allclose(arm.in_arm_base("tool").translation, still, atol=1e-12)


def test_the_tip_lies_on_the_wrist_axis_beyond_the_jaw_base(urdf, posed_arm):
    arm = posed_arm(urdf)
    tool = arm.frame("link_b").inverse() * arm.frame("tool")
    np.testing.assert_allclose(tool.translation, [0, 0, 0.147], atol=1e-12)
    jaw = arm.frame("link_b").inverse() * arm.frame("jaw_base")
    np.testing.assert_allclose(jaw.translation, [0, 0, 0.09975], atol=1e-12)


@pytest.mark.parametrize("travel", [0.001, 0.005, 0.0098, 0.015])
def test_plus_on_the_push_rod_opens_both_fingers_at_51_rad_per_metre(urdf, posed_arm, travel):
    arm = posed_arm(urdf)
    pad = np.array([0.0, 0.0, 0.040])  # a point near the finger's end, in its own frame
    for link, outward in (("finger_left", 1.0), ("finger_right", -1.0)):
        arm.pose_at({"axis_a": travel})
        finger = arm.frame("jaw_base").inverse() * arm.frame(link)
        np.testing.assert_allclose(finger.translation, [0, outward * 0.0155, 0.0069], atol=1e-12)
        moved = finger.rotation @ pad
        angle = 51.0 * travel
        expected = 0.040 * np.array([0.0, outward * np.sin(angle), np.cos(angle)])
        np.testing.assert_allclose(moved, expected, atol=1e-9)


def test_the_push_rod_moves_outward_by_its_own_metres(urdf, posed_arm):
    arm = posed_arm(urdf)
    arm.pose_at({"axis_a": 0.012})
    rod = arm.frame("jaw_base").inverse() * arm.frame("link_a")
    np.testing.assert_allclose(rod.translation, [0, 0, 0.009 + 0.012], atol=1e-12)
