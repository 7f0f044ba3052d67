"""Shapes as markers for rviz.

A marker has no stamp: rviz then takes the newest transform there is, live and from a bag alike.
Those of few points are locked to their frame, and go with the arm between two messages. rviz
builds locked ones anew for each picture, so that the large ones are not; they stand on the drone.
"""

from __future__ import annotations

from collections.abc import Iterable

from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from reach_alpha5_common.messages import duration
from reach_alpha5_view.scene.shapes import Kind, Shape

TYPES: dict[Kind, int] = {
    Kind.BOX: Marker.CUBE,
    Kind.SPHERE: Marker.SPHERE,
    Kind.CYLINDER: Marker.CYLINDER,
    Kind.ARROW: Marker.ARROW,
    Kind.LINE_STRIP: Marker.LINE_STRIP,
    Kind.LINE_LIST: Marker.LINE_LIST,
    Kind.TRIANGLES: Marker.TRIANGLE_LIST,
    Kind.TEXT: Marker.TEXT_VIEW_FACING,
    Kind.MESH: Marker.MESH_RESOURCE,
}

MOST_LOCKED = 100
"""Points of a marker that is locked to its frame. Ours."""

Key = tuple[str, int]
"""Namespace and number of a marker."""


def marker(shape: Shape) -> Marker:
    """Return the marker of a shape."""
    r, g, b, a = shape.colour
    return Marker(
        header=Header(frame_id=shape.frame),
        ns=shape.namespace,
        id=shape.number,
        type=TYPES[shape.kind],
        action=Marker.ADD,
        pose=Pose(position=_point(shape.position), orientation=_quaternion(shape.orientation)),
        scale=_vector(shape.size),
        color=ColorRGBA(r=r, g=g, b=b, a=a),
        lifetime=duration(shape.lifetime),
        frame_locked=len(shape.points) <= MOST_LOCKED,
        points=[_point(point) for point in shape.points],
        text=shape.text,
        mesh_resource=shape.mesh_file,
    )


def deletion(key: Key) -> Marker:
    """Return the marker that takes another one away."""
    namespace, number = key
    return Marker(ns=namespace, id=number, action=Marker.DELETE)


def delete_all() -> MarkerArray:
    """Return what takes all markers away."""
    return MarkerArray(markers=[Marker(action=Marker.DELETEALL)])


def keys(shapes: Iterable[Shape]) -> frozenset[Key]:
    """Return the names of shapes."""
    return frozenset((shape.namespace, shape.number) for shape in shapes)


def _point(values: tuple[float, float, float]) -> Point:
    x, y, z = map(float, values)
    return Point(x=x, y=y, z=z)


def _vector(values: tuple[float, float, float]) -> Vector3:
    x, y, z = map(float, values)
    return Vector3(x=x, y=y, z=z)


def _quaternion(values: tuple[float, float, float, float]) -> Quaternion:
    x, y, z, w = map(float, values)
    return Quaternion(x=x, y=y, z=z, w=w)
