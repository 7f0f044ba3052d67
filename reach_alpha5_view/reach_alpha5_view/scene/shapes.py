"""The shapes that a picture of the arm is made of, as values.

What draws them (rviz by way of markers, the browser page) knows nothing else of the scene.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

Point = tuple[float, float, float]
"""m, in the frame of the shape, or in that of its position."""

Quaternion = tuple[float, float, float, float]
"""x, y, z, w; of unit length."""

Colour = tuple[float, float, float, float]
"""Red, green, blue, opacity, each in [0, 1]."""

ORIGIN: Point = (0.0, 0.0, 0.0)
UNTURNED: Quaternion = (0.0, 0.0, 0.0, 1.0)


class Kind(enum.Enum):
    """What a shape is, and how its `size` and `points` are read."""

    BOX = "box"
    """`size`: whole lengths along x, y, z."""
    SPHERE = "sphere"
    """`size`: diameters along x, y, z."""
    CYLINDER = "cylinder"
    """Along z; `size`: diameters along x and y, whole length."""
    ARROW = "arrow"
    """From the first of two `points` to the second; `size`: diameter of shaft and of head, length
    of head."""
    LINE_STRIP = "line strip"
    """Through all `points`; `size` x: width."""
    LINE_LIST = "line list"
    """One line for each two `points`; `size` x: width."""
    TRIANGLES = "triangles"
    """One triangle for each three `points`, to be seen from both sides; `size`: factors."""
    TEXT = "text"
    """`text`, turned to whoever looks; `size` z: height of a capital letter."""
    MESH = "mesh"
    """`mesh_file`; `size`: factors along x, y, z."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One thing to draw. `namespace` and `number` name it: a newer one replaces it."""

    namespace: str
    number: int
    frame: str
    """Link of the robot description that it is fixed to; one that the arm moves carries it."""
    kind: Kind
    position: Point = ORIGIN
    """Of the shape in its frame [m]."""
    orientation: Quaternion = UNTURNED
    """Of the shape in its frame."""
    size: Point = (1.0, 1.0, 1.0)
    """m, or factors: see `kind`. As `scale` of a `visualization_msgs/Marker`."""
    colour: Colour = (1.0, 1.0, 1.0, 1.0)
    points: tuple[Point, ...] = ()
    """m, as seen from `position` and `orientation`."""
    text: str = ""
    """Lines, each ended by a line feed but the last."""
    mesh_file: str = ""
    """URI of a mesh: `package://` or `file://`."""
    lifetime: float = 0.0
    """Seconds after which it vanishes unless it is drawn again; 0 = it stands until replaced."""
