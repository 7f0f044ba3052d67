"""The links carry the data sheet's masses, at the places where its own chain puts them.

The data sheet's DH chain is written out here a second time, from its table, so that a wrong fixed
transform in the xacro shows.
"""

import xml.etree.ElementTree as ET
from dataclasses import dataclass

import coal
import numpy as np
import pinocchio as pin
import pytest

CHAIN_ABOVE_DH = np.array([0.0, 0.0, 0.0008])  # m: shoulder at 14 + 33 mm, DH has 46.2 mm
TC = np.arctan2(40.0, 145.3)


@dataclass(frozen=True)
class Body:
    """One row of the data sheet: kg; m in the body's DH frame; kg.m^2 about the centre of mass."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray


def body(mass: float, com_mm: tuple, inertia_kg_mm2: tuple) -> Body:
    return Body(mass, np.array(com_mm) / 1e3, np.diag(inertia_kg_mm2) / 1e6)


BODIES = (
    body(0.234, (-52.4, -7.1, 0.0), (45.0, 393.9, 398.0)),
    body(0.161, (7.7, 0.1, 25.0), (109.5, 122.4, 44.0)),
    body(0.380, (73.6, -0.1, -0.7), (82.7, 847.1, 868.5)),
    body(0.142, (11.2, -16.7, 0.1), (63.6, 40.7, 75.2)),
    body(0.355, (0.0, -1.5, -100.9), (615.9, 625.3, 62.6)),
)
# Which links make up each body; the jaws are counted with the wrist.
LINKS_OF_BODY = (
    ("arm_base",),
    ("link_e",),
    ("link_d",),
    ("link_c",),
    ("link_b", "link_a", "finger_left", "finger_right"),
)


def turn(angle: float) -> pin.SE3:
    return pin.SE3(pin.utils.rotate("z", angle), np.zeros(3))


def dh_body_frames(e: float, d: float, c: float, b: float) -> list[pin.SE3]:
    """Frame of each body in DH frame 0: at its own joint, turned with it."""
    rows = (  # d, theta, a, alpha
        (0.0462, e + np.pi, 0.020, np.pi / 2),
        (0.0, d + TC - np.pi / 2, 0.15071, np.pi),
        (0.0, c + TC - np.pi / 2, 0.020, -np.pi / 2),
        (-0.180, b + np.pi / 2, 0.0, np.pi / 2),
    )
    frames, at = [pin.SE3.Identity()], pin.SE3.Identity()
    for offset, theta, a, alpha in rows:
        at = at * turn(theta)
        frames.append(at.copy())
        at = at * pin.SE3(pin.utils.rotate("x", alpha), np.array([a, 0.0, offset]))
    return frames


def link_inertias(xml: str) -> dict[str, pin.Inertia]:
    """Inertia of each link that has one, in the link's frame."""
    found = {}
    for link in ET.fromstring(xml).findall("link"):
        inertial = link.find("inertial")
        if inertial is None:
            continue
        origin = inertial.find("origin").attrib
        rotation = pin.rpy.rpyToMatrix(*map(float, origin["rpy"].split()))
        i = {k: float(v) for k, v in inertial.find("inertia").attrib.items()}
        tensor = np.array(
            [
                [i["ixx"], i["ixy"], i["ixz"]],
                [i["ixy"], i["iyy"], i["iyz"]],
                [i["ixz"], i["iyz"], i["izz"]],
            ]
        )
        found[link.attrib["name"]] = pin.Inertia(
            float(inertial.find("mass").attrib["value"]),
            np.array([float(v) for v in origin["xyz"].split()]),
            rotation @ tensor @ rotation.T,
        )
    return found


@pytest.fixture(scope="module")
def inertias(urdf) -> dict[str, pin.Inertia]:
    return link_inertias(urdf)


def test_masses_are_the_data_sheets(inertias):
    for links, row in zip(LINKS_OF_BODY, BODIES, strict=True):
        assert sum(inertias[link].mass for link in links) == pytest.approx(row.mass, abs=1e-9)
    assert sum(inertia.mass for inertia in inertias.values()) == pytest.approx(1.272, abs=1e-9)


def test_every_moving_link_has_mass(urdf, inertias):
    moving = {
        joint.find("child").attrib["link"]
        for joint in ET.fromstring(urdf).findall("joint")
        if joint.attrib["type"] != "fixed"
    }
    assert moving <= set(inertias)


def test_inertias_are_physical(inertias):
    for link, inertia in inertias.items():
        moments = np.linalg.eigvalsh(inertia.inertia)
        assert moments[0] > 0.0, f"{link}: not positive definite"
        assert moments[0] + moments[1] >= moments[2], f"{link}: breaks the triangle inequality"


def test_both_chains_put_every_body_at_the_same_place_and_the_same_way_round(
    urdf, inertias, posed_arm
):
    arm = posed_arm(urdf)
    draws = np.random.default_rng(5)
    for _ in range(200):
        e, d, c, b = draws.uniform(0.0, [6.3, 3.5, 3.5, 6.2])
        arm.pose_at({"axis_e": e, "axis_d": d, "axis_c": c, "axis_b": b})
        frames = dh_body_frames(e, d, c, b)
        for frame, row, links in zip(frames, BODIES, LINKS_OF_BODY, strict=True):
            ours = pin.Inertia.Zero()
            for link in links:
                ours += arm.in_arm_base(link).act(inertias[link])
            centre = frame.act(row.com)
            # 1e-5 m: DH rounds the upper arm, hypot(40, 145.3) = 150.7053 mm, to 150.71
            np.testing.assert_allclose(ours.lever - CHAIN_ABOVE_DH, centre, rtol=0, atol=1e-5)
            tensor = frame.rotation @ row.inertia @ frame.rotation.T
            np.testing.assert_allclose(ours.inertia, tensor, rtol=0, atol=1e-9)


def test_every_centre_of_mass_lies_inside_of_its_own_link(urdf, inertias, posed_arm):
    arm = posed_arm(urdf)
    shapes = pin.buildGeomFromUrdfString(arm.model, urdf, pin.GeometryType.COLLISION)
    shape_data = shapes.createData()
    pin.updateGeometryPlacements(arm.model, arm.data, shapes, shape_data, arm.q)
    for link in ("arm_base", "link_e", "link_d", "link_c", "link_b"):
        centre = coal.Transform3s(np.eye(3), arm.frame(link).act(inertias[link].lever))
        own = [
            (shape.geometry, coal.Transform3s(place.rotation, place.translation))
            for shape, place in zip(shapes.geometryObjects, shape_data.oMg, strict=True)
            if arm.model.frames[shape.parentFrame].name == link
        ]
        assert any(
            coal.distance(coal.Sphere(1e-4), centre, geometry, place, coal.DistanceRequest(),
                          coal.DistanceResult()) < 0.0
            for geometry, place in own
        ), f"{link}: centre of mass outside of the housing"  # fmt: skip
