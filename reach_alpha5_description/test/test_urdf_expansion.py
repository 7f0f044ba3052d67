"""The xacro expands to a sound URDF in every way that it is meant to be called."""

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

LINKS = (
    "arm_base", "link_e", "link_d", "link_c", "link_b", "jaw_base",
    "link_a", "finger_left", "finger_right", "tool",
)  # fmt: skip
JOINTS = {
    "axis_e": "revolute", "axis_d": "revolute", "axis_c": "revolute", "axis_b": "revolute",
    "axis_a": "prismatic", "finger_left_joint": "revolute", "finger_right_joint": "revolute",
    "mount": "fixed", "jaw_base_joint": "fixed", "tool_joint": "fixed",
}  # fmt: skip
MOUNTS = {
    "default": {},
    "prefixed": {"prefix": "left_"},
    "tilted": {"mount_xyz": "0.2 0.05 0.1", "mount_rpy": "0.3 -0.4 1.2"},
    "inverted": {"prefix": "b_", "mount_xyz": "0 0 0.3", "mount_rpy": "3.141592653589793 0 0"},
}
TWO_ARMS = """<robot name="two_arms" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:include filename="{package}/urdf/reach_alpha5.urdf.xacro"/>
  <link name="hull"/>
  <link name="rail"/>
  <joint name="rail_joint" type="fixed">
    <parent link="hull"/> <child link="rail"/> <origin xyz="1 0 0"/>
  </joint>
  <xacro:reach_alpha5 prefix="left_" parent="hull"><origin xyz="0 0.2 0"/></xacro:reach_alpha5>
  <xacro:reach_alpha5 prefix="right_" parent="rail">
    <origin xyz="0 -0.2 0" rpy="0 0 1.5"/>
  </xacro:reach_alpha5>
</robot>
"""


def names(xml: str, tag: str) -> list[str]:
    return [element.attrib["name"] for element in ET.fromstring(xml).findall(tag)]


def check_urdf(xml: str, folder: Path) -> subprocess.CompletedProcess[str]:
    # Comes with urdfdom: as a system tool, or beside the interpreter with pinocchio's wheels.
    beside = os.pathsep.join([os.environ.get("PATH", ""), str(Path(sys.executable).parent)])
    program = shutil.which("check_urdf", path=beside)
    assert program, "check_urdf is missing: install liburdfdom-tools"
    file = folder / "checked.urdf"
    file.write_text(xml)
    return subprocess.run([program, str(file)], capture_output=True, text=True, check=False)


@pytest.fixture
def two_arms(package, tmp_path) -> str:
    file = tmp_path / "two_arms.urdf.xacro"
    file.write_text(TWO_ARMS.format(package=package))
    return run_xacro(file)


def run_xacro(file: Path, *arguments: str) -> str:
    """Expand in a process of its own, away from the file's folder, as a launch file does."""
    done = subprocess.run(
        [sys.executable, "-c", "import xacro; xacro.main()", str(file), *arguments],
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # xacro tells of deprecated or ambiguous use here
    return done.stdout


@pytest.mark.parametrize("arguments", MOUNTS.values(), ids=MOUNTS.keys())
def test_expands_alike_in_a_process_and_by_library(package, expand, arguments):
    by_library = ET.canonicalize(expand(**arguments), strip_text=True)
    printed = run_xacro(
        package / "urdf/drone.urdf.xacro", *(f"{k}:={v}" for k, v in arguments.items())
    )
    assert ET.canonicalize(printed, strip_text=True) == by_library


@pytest.mark.parametrize("arguments", MOUNTS.values(), ids=MOUNTS.keys())
def test_has_exactly_the_links_and_joints_of_the_contract(expand, arguments):
    xml, prefix = expand(**arguments), arguments.get("prefix", "")
    expected = ["base_link", "base_link_frd", *(prefix + link for link in LINKS)]
    assert sorted(names(xml, "link")) == sorted(expected)
    kinds = {j.attrib["name"]: j.attrib["type"] for j in ET.fromstring(xml).findall("joint")}
    assert kinds == {
        "base_link_frd_joint": "fixed",
        **{prefix + name: kind for name, kind in JOINTS.items()},
    }


@pytest.mark.parametrize("arguments", MOUNTS.values(), ids=MOUNTS.keys())
def test_check_urdf_accepts_it(expand, tmp_path, arguments):
    done = check_urdf(expand(**arguments), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "root Link: base_link has 2 child(ren)" in done.stdout


def test_check_urdf_refuses_a_broken_one(urdf, tmp_path):
    broken = urdf.replace('<parent link="link_e"/>', '<parent link="link_nowhere"/>')
    assert check_urdf(broken, tmp_path).returncode != 0


@pytest.mark.parametrize("arguments", MOUNTS.values(), ids=MOUNTS.keys())
def test_the_mount_pose_is_where_the_arm_sits(expand, posed_arm, arguments):
    arm = posed_arm(expand(**arguments), arguments.get("prefix", ""))
    xyz = [float(v) for v in arguments.get("mount_xyz", "0.18 0 -0.12").split()]
    rpy = [float(v) for v in arguments.get("mount_rpy", "0 0 0").split()]
    mount = arm.frame("base_link").inverse() * arm.frame("arm_base")
    np.testing.assert_allclose(mount.translation, xyz, atol=1e-12)
    np.testing.assert_allclose(mount.rotation, pin.rpy.rpyToMatrix(*rpy), atol=1e-12)


@pytest.mark.parametrize("arguments", MOUNTS.values(), ids=MOUNTS.keys())
def test_base_link_frd_is_base_link_turned_by_pi_about_x(expand, posed_arm, arguments):
    arm = posed_arm(expand(**arguments), arguments.get("prefix", ""))
    frd = arm.frame("base_link").inverse() * arm.frame("base_link_frd")
    np.testing.assert_allclose(frd.translation, 0.0, atol=1e-15)
    np.testing.assert_allclose(frd.rotation, np.diag([1.0, -1.0, -1.0]), atol=1e-15)


def test_two_arms_live_in_one_robot(two_arms, tmp_path, posed_arm):
    done = check_urdf(two_arms, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(set(names(two_arms, "link"))) == 2 + 2 * len(LINKS)
    assert len(set(names(two_arms, "joint"))) == 1 + 2 * len(JOINTS)
    left, right = posed_arm(two_arms, "left_"), posed_arm(two_arms, "right_")
    assert left.model.nq == 10
    posture = {"axis_e": 0.7, "axis_d": 1.2, "axis_c": 2.0}
    left.pose_at(posture)
    right.pose_at(posture)
    np.testing.assert_allclose(
        left.in_arm_base("tool").homogeneous, right.in_arm_base("tool").homogeneous, atol=1e-12
    )


def test_an_arm_hangs_on_the_parent_it_is_given(two_arms, posed_arm):
    right = posed_arm(two_arms, "right_")
    np.testing.assert_allclose(right.frame("arm_base").translation, [1.0, -0.2, 0.0], atol=1e-12)
    mount = next(
        j for j in ET.fromstring(two_arms).findall("joint") if j.attrib["name"] == "right_mount"
    )
    assert mount.find("parent").attrib["link"] == "rail"


def test_it_needs_no_file_beside_itself(urdf):
    assert not list(ET.fromstring(urdf).iter("mesh"))
    assert "package://" not in urdf
