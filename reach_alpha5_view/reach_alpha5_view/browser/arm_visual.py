"""The arm itself: the visual bodies of the robot description, and where its links are.

What `robot_state_publisher` and rviz's robot model do elsewhere: from joint positions to places.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import coal
import pinocchio as pin

from reach_alpha5_motion.model import ModelError
from reach_alpha5_view.scene.geometry import point
from reach_alpha5_view.scene.palette import GREY
from reach_alpha5_view.scene.shapes import Kind, Point, Quaternion, Shape

ARM = "arm"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a link is, in the frame of the description's root link."""

    position: Point
    """m."""
    orientation: Quaternion


class ArmVisual:
    """What an expanded URDF looks like. Not thread-safe: pinocchio works in place."""

    def __init__(self, model: Any, shapes: tuple[Shape, ...], meshes: int) -> None:
        """Take a pinocchio model with its bodies; use `from_urdf`."""
        self._model = model
        self._data = model.createData()
        self._joints = {
            name: joint.idx_q
            for name, joint in zip(model.names, model.joints, strict=True)
            if joint.nq == 1
        }
        self._positions = pin.neutral(model)
        self._links = [
            (index, frame.name)
            for index, frame in enumerate(model.frames)
            if frame.type == pin.FrameType.BODY
        ]
        self.shapes = shapes
        """Every visual body, in the frame of its link."""
        self.meshes = meshes
        """Visual bodies that are meshes; they are not among the shapes."""

    @classmethod
    def from_urdf(cls, xml: str) -> ArmVisual:
        """Read the text of an expanded URDF.

        Raises:
            ModelError: it is not valid.
        """
        try:
            root = ET.fromstring(xml)
            meshes = 0
            for link in root.iter("link"):
                for visual in link.findall("visual"):
                    if visual.find("geometry/mesh") is not None:
                        link.remove(visual)
                        meshes += 1
            text = ET.tostring(root, encoding="unicode")
            model = pin.buildModelFromXML(text, mimic=True)
            bodies = pin.buildGeomFromUrdfString(model, text, pin.GeometryType.VISUAL)
        except (ET.ParseError, ValueError, RuntimeError) as error:
            raise ModelError(f"the robot description is not a valid URDF: {error}") from error
        shapes = tuple(
            _shape(model, number, body) for number, body in enumerate(bodies.geometryObjects)
        )
        return cls(model, shapes, meshes)

    def places(self, positions: Mapping[str, float]) -> dict[str, Place]:
        """Return where each link is.

        Args:
            positions: of joints [rad, m]. One that is not named or not finite stays where it was,
                at first at 0; names that the description has not are left out.
        """
        for name, value in positions.items():
            index = self._joints.get(name)
            if index is not None and math.isfinite(value):
                self._positions[index] = value
        pin.framesForwardKinematics(self._model, self._data, self._positions)
        return {
            name: Place(
                point(self._data.oMf[index].translation), _orientation(self._data.oMf[index])
            )
            for index, name in self._links
        }


def _shape(model: Any, number: int, body: Any) -> Shape:
    frame = model.frames[body.parentFrame]
    place = frame.placement.inverse() * body.placement
    red, green, blue, opacity = map(float, body.meshColor)
    kind, size = _form(body.geometry)
    return Shape(
        ARM,
        number,
        frame.name,
        kind,
        point(place.translation),
        _orientation(place),
        size,
        (red, green, blue, opacity) if opacity > 0.0 else GREY,
    )


def _form(geometry: Any) -> tuple[Kind, Point]:
    if isinstance(geometry, coal.Box):
        return Kind.BOX, point((2.0 * geometry.halfSide).tolist())
    if isinstance(geometry, coal.Cylinder):
        width = 2.0 * geometry.radius
        return Kind.CYLINDER, (width, width, 2.0 * geometry.halfLength)
    if isinstance(geometry, coal.Sphere):
        width = 2.0 * geometry.radius
        return Kind.SPHERE, (width, width, width)
    raise ModelError(
        f"the robot description has a visual body that is a {type(geometry).__name__}"
    )


def _orientation(place: Any) -> Quaternion:
    x, y, z, w = pin.Quaternion(place.rotation).coeffs().tolist()
    return x, y, z, w
