"""What the arm keeps out of, as values: shapes, where each is fixed, and the scene they make.

The drone's hull, its tether, the floor under its skids, a tool rack, and what the jaws carry are
all the same kind of thing: a shape that is fixed to a link of the description. A link that the arm
moves may carry one as well: that is a payload or a bumper, and it is kept clear of all the rest.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from reach_alpha5_motion.model import TOOL, Vector

LARGEST = 100.0
"""m: no size and no place is larger; a number above it is taken for millimetres."""

GRIPPER = ("jaw_base", "link_a", "finger_left", "finger_right")
"""Links that a payload may touch, without prefix."""

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class ObstacleError(ValueError):
    """A scene that cannot be used; one problem a line, each naming its obstacle."""


@dataclass(frozen=True, slots=True)
class Box:
    """A box about its own origin."""

    KIND: ClassVar[str] = "box"
    size: Vector
    """Whole lengths along x, y, z [m]."""


@dataclass(frozen=True, slots=True)
class Cylinder:
    """A cylinder about its own origin, along z."""

    KIND: ClassVar[str] = "cylinder"
    radius: float
    """m."""
    length: float
    """Whole length [m]."""


@dataclass(frozen=True, slots=True)
class Sphere:
    """A ball about its own origin."""

    KIND: ClassVar[str] = "sphere"
    radius: float
    """m."""


@dataclass(frozen=True, slots=True)
class Mesh:
    """The convex hull of the vertices of an STL file: what is inside of it counts as solid.

    A hollow or winding body is several obstacles, one for each convex piece.
    """

    KIND: ClassVar[str] = "mesh"
    file: str
    """Name of the file, as whoever loads it finds it."""
    scale: float = 1.0
    """Metres in a unit of the file."""


@dataclass(frozen=True, slots=True)
class Plane:
    """All that is below the plane z = 0 of its own frame: a floor, or a wall when it is turned."""

    KIND: ClassVar[str] = "plane"


Shape = Box | Cylinder | Sphere | Mesh | Plane


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One thing to keep out of."""

    name: str
    """Letters, digits, `_`, `.` and `-`; at most 64. Not that of a link."""
    frame: str
    """Link of the description that it is fixed to."""
    shape: Shape
    position: Vector = (0.0, 0.0, 0.0)
    """Of the shape in the frame [m]."""
    orientation: Vector = (0.0, 0.0, 0.0)
    """Roll, pitch, yaw of the shape in the frame [rad]: as an `rpy` of the URDF."""
    allow: tuple[str, ...] = field(default=())
    """Links and other obstacles that may touch it. Those that cannot move against it need not be
    listed: an arm's base may always stand in the hull."""

    def problems(self) -> Iterator[str]:
        """Yield what is wrong with the numbers and names."""
        if not _NAME.fullmatch(self.name):
            yield "name must be 1 to 64 letters, digits, or any of _ . -"
        for key, vector in (("position", self.position), ("orientation", self.orientation)):
            if not all(math.isfinite(value) and abs(value) <= LARGEST for value in vector):
                yield f"{key} is {list(vector)}; each must be within {LARGEST:g} of zero"
        for key, size in self._sizes():
            if not 0.0 < size <= LARGEST:
                yield f"{key} is {size:g}; it must be above 0 and at most {LARGEST:g}"
        if isinstance(self.shape, Mesh) and not self.shape.file:
            yield "mesh.file is empty; name an STL file"

    def _sizes(self) -> Iterator[tuple[str, float]]:
        match self.shape:
            case Box(size=size):
                for axis, value in zip("xyz", size, strict=True):
                    yield f"box.size {axis}", value
            case Cylinder(radius=radius, length=length):
                yield "cylinder.radius", radius
                yield "cylinder.length", length
            case Sphere(radius=radius):
                yield "sphere.radius", radius
            case Mesh(scale=scale):
                yield "mesh.scale", scale
            case Plane():
                pass


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that is configured to be kept out of. Names are unique.

    Raises:
        ObstacleError: an obstacle is not in order, or two have one name.
    """

    obstacles: tuple[Obstacle, ...] = ()

    def __post_init__(self) -> None:
        """Check every obstacle."""
        problems = [problem for _, problem in scene_problems(self.obstacles)]
        if problems:
            raise ObstacleError("\n".join(problems))

    def __getitem__(self, name: str) -> Obstacle:
        """Return the obstacle of a name.

        Raises:
            ObstacleError: there is none.
        """
        for obstacle in self.obstacles:
            if obstacle.name == name:
                return obstacle
        known = ", ".join(obstacle.name for obstacle in self.obstacles) or "none"
        raise ObstacleError(f"{name}: there is no such obstacle; there are: {known}")

    @property
    def mesh_files(self) -> tuple[str, ...]:
        """The files that the scene needs, each once."""
        files = [o.shape.file for o in self.obstacles if isinstance(o.shape, Mesh)]
        return tuple(dict.fromkeys(files))


def scene_problems(obstacles: Sequence[Obstacle]) -> Iterator[tuple[int, str]]:
    """Yield what keeps obstacles from being one scene: the index of one, and what is wrong."""
    names: set[str] = set()
    for index, obstacle in enumerate(obstacles):
        if obstacle.name in names:
            yield index, f"{obstacle.name}: there is another obstacle of this name"
        names.add(obstacle.name)
        for problem in obstacle.problems():
            yield index, f"{obstacle.name}: {problem}"


def floor(height: float, frame: str = "base_link", name: str = "floor") -> Obstacle:
    """Return the floor at a height [m] of a frame that is z up.

    It is fixed to the drone, because nothing here knows where the drone is in the world: it is the
    ground under its skids while it stands.
    """
    return Obstacle(name, frame, Plane(), (0.0, 0.0, height))


def jaws(prefix: str = "") -> tuple[str, ...]:
    """Return the links of the jaws, which touch what they hold."""
    return tuple(prefix + link for link in GRIPPER)


def payload(
    name: str,
    shape: Shape,
    position: Vector = (0.0, 0.0, 0.0),
    orientation: Vector = (0.0, 0.0, 0.0),
    prefix: str = "",
    *,
    frame: str = "",
    allow: Sequence[str] = (),
) -> Obstacle:
    """Return what the jaws hold: an obstacle that goes with them, and that they may touch.

    Args:
        name: of the obstacle.
        shape: its shape.
        position: of the shape in the frame [m].
        orientation: roll, pitch, yaw of the shape in the frame [rad].
        prefix: of the arm's links.
        frame: link that it is fixed to; empty: the tool.
        allow: what else may touch it.
    """
    links = [link for link in jaws(prefix) if link not in allow]
    return Obstacle(name, frame or prefix + TOOL, shape, position, orientation, (*allow, *links))
