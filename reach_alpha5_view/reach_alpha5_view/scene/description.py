"""The links of the robot description: what they collide with, and which joint turns where.

Only what the scene draws about: names, collision bodies and joint axes. Where a link is, tf knows.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass

from reach_alpha5_motion.model import ModelError
from reach_alpha5_view.scene.geometry import finite, from_rpy
from reach_alpha5_view.scene.shapes import Kind, Point, Quaternion


@dataclass(frozen=True, slots=True)
class LinkBody:
    """One collision body of a link, in the frame of the link; sizes as those of `Shape`."""

    kind: Kind
    position: Point
    orientation: Quaternion
    size: Point
    mesh_file: str = ""


@dataclass(frozen=True, slots=True)
class JointPlace:
    """Where a joint is: in the origin of its child link, about or along an axis of that."""

    link: str
    axis: Point


@dataclass(frozen=True, slots=True)
class Description:
    """What of an expanded URDF is drawn."""

    bodies: dict[str, tuple[LinkBody, ...]]
    """By the name of the link; every link has an entry."""
    joints: dict[str, JointPlace]

    @classmethod
    def from_urdf(cls, xml: str) -> Description:
        """Read the text of an expanded URDF.

        Raises:
            ModelError: it is no XML, or a number in it is none.
        """
        try:
            root = ET.fromstring(xml)
            bodies = {
                link.attrib["name"]: tuple(map(_body, link.findall("collision")))
                for link in root.findall("link")
            }
            joints = {joint.attrib["name"]: _joint(joint) for joint in root.findall("joint")}
        except (ET.ParseError, KeyError, ValueError, AttributeError) as error:
            raise ModelError(f"the robot description is not a valid URDF: {error}") from error
        return cls(bodies, joints)


def _body(collision: ET.Element) -> LinkBody:
    origin = collision.find("origin")
    place = origin.attrib if origin is not None else {}
    position = _point(place.get("xyz", "0 0 0"))
    orientation = from_rpy(*_point(place.get("rpy", "0 0 0")))
    geometry = collision.find("geometry/*")
    if geometry is None:
        raise ValueError("a collision without geometry")
    given = geometry.attrib
    if geometry.tag == "box":
        return LinkBody(Kind.BOX, position, orientation, _point(given["size"]))
    if geometry.tag == "sphere":
        size = 2.0 * float(given["radius"])
        return LinkBody(Kind.SPHERE, position, orientation, (size, size, size))
    if geometry.tag == "cylinder":
        size = 2.0 * float(given["radius"])
        return LinkBody(Kind.CYLINDER, position, orientation, (size, size, float(given["length"])))
    if geometry.tag == "mesh":
        scale = _point(given.get("scale", "1 1 1"))
        return LinkBody(Kind.MESH, position, orientation, scale, given["filename"])
    raise ValueError(f"a collision of the unknown kind {geometry.tag}")


def _joint(joint: ET.Element) -> JointPlace:
    child, axis = joint.find("child"), joint.find("axis")
    if child is None:
        raise ValueError("a joint without child")
    along = _point(axis.attrib["xyz"]) if axis is not None else (1.0, 0.0, 0.0)
    return JointPlace(child.attrib["link"], along if any(along) else (0.0, 0.0, 1.0))


def _point(text: str) -> Point:
    x, y, z = map(float, text.split())
    if not finite((x, y, z)):
        raise ValueError(f"{text} is no place")
    return x, y, z


NOWHERE = Description({}, {})
"""Before a description was heard."""
