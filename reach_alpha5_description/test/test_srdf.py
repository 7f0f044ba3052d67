"""The SRDF fits the URDF, and takes no pair out of the check that can really collide."""

import itertools
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest

SRDF = "srdf/drone.srdf.xacro"

# Everything else must stay in the check.
ADJACENT = {
    frozenset(pair)
    for pair in (
        ("arm_base", "link_e"),
        ("link_e", "link_d"),
        ("link_d", "link_c"),
        ("link_c", "link_b"),
        ("link_c", "jaw_base"),  # the jaw base is fixed to link_b
        ("link_b", "jaw_base"),
        *itertools.product(("link_b", "jaw_base"), ("link_a", "finger_left", "finger_right")),
    )
}
JAW_MECHANISM = {
    frozenset(p) for p in itertools.combinations(("finger_left", "finger_right", "link_a"), 2)
}
NEVER = {
    frozenset(pair)
    for pair in (
        ("link_c", "link_e"),
        ("link_c", "link_a"),
        ("link_c", "finger_left"),
        ("link_c", "finger_right"),
        ("link_b", "link_e"),
        ("link_a", "link_d"),
    )
}
GUARDED_BY_LIMIT = {frozenset(("link_b", "link_d"))}


def disabled(srdf: str) -> list[frozenset[str]]:
    return [
        frozenset((entry.attrib["link1"], entry.attrib["link2"]))
        for entry in ET.fromstring(srdf).iter("disable_collisions")
    ]


def load(urdf: str, srdf: str) -> tuple[pin.Model, pin.GeometryModel]:
    """The model with the pairs of links left that the SRDF has checked."""
    model = pin.buildModelFromXML(urdf, mimic=True)
    shapes = pin.buildGeomFromUrdfString(model, urdf, pin.GeometryType.COLLISION)
    off = set(disabled(srdf))
    links = [model.frames[shape.parentFrame].name for shape in shapes.geometryObjects]
    for i, j in itertools.combinations(range(len(links)), 2):
        if links[i] != links[j] and frozenset((links[i], links[j])) not in off:
            shapes.addCollisionPair(pin.CollisionPair(i, j))
    return model, shapes


def named_pose(srdf: str, model: pin.Model, name: str) -> np.ndarray:
    state = next(s for s in ET.fromstring(srdf).iter("group_state") if s.attrib["name"] == name)
    q = pin.neutral(model)
    for joint in state.iter("joint"):
        q[model.joints[model.getJointId(joint.attrib["name"])].idx_q] = float(
            joint.attrib["value"]
        )
    return q


@pytest.mark.parametrize("prefix", ["", "left_"])
def test_every_name_exists_in_the_urdf(expand, prefix):
    robot = ET.fromstring(expand(prefix=prefix))
    srdf = ET.fromstring(expand(SRDF, prefix=prefix))
    links = {link.attrib["name"] for link in robot.findall("link")}
    joints = {joint.attrib["name"] for joint in robot.findall("joint")}
    groups = {group.attrib["name"] for group in srdf.findall("group")}
    assert srdf.attrib["name"] == robot.attrib["name"]
    for entry in srdf.iter():
        attributes = entry.attrib
        for key in ("link1", "link2", "base_link", "tip_link", "parent_link"):
            assert attributes.get(key) in links | {None}
        for key in ("group", "parent_group"):
            assert attributes.get(key) in groups | {None}
        if entry.tag in ("joint", "passive_joint"):
            assert attributes["name"] in joints
        if entry.tag == "link":
            assert attributes["name"] in links


def test_the_pairs_out_of_the_check_are_the_justified_ones_each_once(expand):
    pairs = disabled(expand(SRDF))
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == ADJACENT | JAW_MECHANISM | NEVER | GUARDED_BY_LIMIT


def test_samples_support_every_pair_out_of_the_check(package):
    done = subprocess.run(
        [sys.executable, str(package / "tools/sample_collisions.py"), "--samples", "1000"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_upper_arm_and_the_wrist_stay_apart_over_all_of_axis_c(urdf, expand):
    model = pin.buildModelFromXML(urdf, mimic=True)
    shapes = pin.buildGeomFromUrdfString(model, urdf, pin.GeometryType.COLLISION)
    links = [model.frames[shape.parentFrame].name for shape in shapes.geometryObjects]
    for i, j in itertools.product(range(len(links)), repeat=2):
        if (links[i], links[j]) == ("link_b", "link_d"):
            shapes.addCollisionPair(pin.CollisionPair(i, j))
    assert len(shapes.collisionPairs) > 0
    data, shape_data = model.createData(), shapes.createData()
    axis_c = model.joints[model.getJointId("axis_c")].idx_q
    for angle in np.linspace(0.0, 3.5, 500):
        q = pin.neutral(model)
        q[axis_c] = angle
        assert not pin.computeCollisions(model, data, shapes, shape_data, q, True)


@pytest.mark.parametrize("pose", ["stowed", "deployed"])
def test_named_poses_are_inside_of_the_limits_and_free_of_collision(urdf, expand, pose):
    srdf = expand(SRDF)
    model, shapes = load(urdf, srdf)
    q = named_pose(srdf, model, pose)
    assert np.all(q >= model.lowerPositionLimit)
    assert np.all(q <= model.upperPositionLimit)
    axis_a = model.joints[model.getJointId("axis_a")].idx_q
    axis_b = model.joints[model.getJointId("axis_b")].idx_q
    for q[axis_b] in np.linspace(0.0, 6.2, 12):
        for q[axis_a] in (0.0, 0.0075, 0.015):
            assert not pin.computeCollisions(
                model, model.createData(), shapes, shapes.createData(), q, True
            )


def test_an_arm_driven_into_its_own_base_is_in_collision(urdf, expand):
    model, shapes = load(urdf, expand(SRDF))
    q = pin.neutral(model)  # the arm folded down onto the housing behind its base
    assert pin.computeCollisions(model, model.createData(), shapes, shapes.createData(), q, True)


def test_pinocchio_reads_the_srdf(urdf, expand, tmp_path):
    model = pin.buildModelFromXML(urdf)
    shapes = pin.buildGeomFromUrdfString(model, urdf, pin.GeometryType.COLLISION)
    shapes.addAllCollisionPairs()
    before = len(shapes.collisionPairs)
    file = tmp_path / "drone.srdf"
    file.write_text(expand(SRDF))
    pin.removeCollisionPairs(model, shapes, str(file))
    assert 0 < len(shapes.collisionPairs) < before
