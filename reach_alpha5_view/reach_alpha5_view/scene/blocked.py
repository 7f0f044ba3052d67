"""What holds the arm back, and what is broken, drawn where it is.

A joint is a disc across its axis, a body of a pair is drawn over itself, a little larger. All of
it is in the frames of links, so that it is where they are seen, whatever the posture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reach_alpha5_view.scene.config import LIFETIMES, SceneConfig
from reach_alpha5_view.scene.description import Description
from reach_alpha5_view.scene.geometry import turning_z_to
from reach_alpha5_view.scene.obstacles import obstacle_body
from reach_alpha5_view.scene.palette import ORANGE, RED, YELLOW, faded
from reach_alpha5_view.scene.shapes import ORIGIN, UNTURNED, Colour, Kind, Point, Shape
from reach_alpha5_view.scene.states import ArmStatus, Hull, Obstacle, Telemetry
from reach_alpha5_view.scene.words import plain

BLOCKED = "blocked"
NEAREST = "nearest"
FAULTS = "joint faults"

MOST = 64
"""Shapes of one namespace. Ours: what the driver says is a handful."""

_DISC: Point = (0.09, 0.09, 0.006)
_BALL: Point = (0.06, 0.06, 0.06)
_INFLATED = 0.004
"""m, on each side: else a body could not be told from what is drawn over it."""


class Marks:
    """Draws marks on joints, links and obstacles."""

    def __init__(
        self,
        description: Description,
        obstacles: Sequence[Obstacle],
        hulls: Mapping[str, Hull],
        config: SceneConfig,
    ) -> None:
        """Know what there is to be marked."""
        self._description = description
        self._obstacles = {obstacle.name: obstacle for obstacle in obstacles}
        self._hulls = hulls
        self._config = config

    def blocked(self, arm: ArmStatus) -> Iterator[Shape]:
        """Yield what holds back what is asked: limits in orange, collisions in red."""
        namer = _Namer(BLOCKED, self._config)
        for reason in arm.blocked_by:
            match reason.split():
                case ["limit", joint]:
                    yield from self._joint(namer, joint, ORANGE, f"{joint} at its limit")
                case ["collision", *names] if len(names) == 2:
                    for name in names:
                        yield from self._body(namer, name, RED)
                    yield from self._label(namer, names, RED, f"blocked: {' and '.join(names)}")
                case _:
                    pass  # the overlay says it all the same

    def nearest(self, arm: ArmStatus) -> Iterator[Shape]:
        """Yield what is nearest to what, when it is near and holds nothing back yet."""
        names = arm.collision_pair.split()
        blocked = f"collision {arm.collision_pair}" in arm.blocked_by
        if len(names) != 2 or blocked or not arm.clearance < self._config.clearance_shown:
            return
        namer = _Namer(NEAREST, self._config)
        for name in names:
            yield from self._body(namer, name, YELLOW)
        text = f"{names[0]} and {names[1]}: {1000.0 * arm.clearance:.0f} mm"
        yield from self._label(namer, names, YELLOW, text)

    def faults(self, arm: ArmStatus, telemetry: Telemetry | None) -> Iterator[Shape]:
        """Yield the joints that have a fault, each with what its electronics say."""
        namer = _Namer(FAULTS, self._config)
        broken = telemetry.joint_fault if telemetry is not None else ()
        for i, joint in enumerate(arm.joints):
            causes = [cause for cause in arm.fault_causes if _is_of(cause, joint.name)]
            if not (causes or joint.stale or (i < len(broken) and broken[i])):
                continue
            words = [*causes, *joint.flags, *(["no fresh position"] if joint.stale else [])]
            text = "\n".join([joint.name, *words])
            yield from self._joint(namer, joint.name, RED, text, ball=True)

    def _joint(
        self, namer: _Namer, name: str, colour: Colour, text: str, *, ball: bool = False
    ) -> Iterator[Shape]:
        place = self._description.joints.get(name) or self._description.joints.get(
            self._config.prefix + name
        )
        if place is None:
            return
        if ball:
            yield from namer(place.link, Kind.SPHERE, _BALL, colour)
        else:
            turned = turning_z_to(place.axis)
            yield from namer(place.link, Kind.CYLINDER, _DISC, colour, orientation=turned)
        height = (0.0, 0.0, self._config.text_height)
        yield from namer(place.link, Kind.TEXT, height, colour, text=text)

    def _body(self, namer: _Namer, name: str, colour: Colour) -> Iterator[Shape]:
        if name in self._obstacles:
            obstacle = self._obstacles[name]
            body = obstacle_body(obstacle, self._hulls.get(name), self._config)
            if body is not None:
                kind, position, size, points = body
                yield from namer(
                    obstacle.frame,
                    kind,
                    _inflated(kind, size),
                    colour,
                    position,
                    obstacle.orientation,
                    points,
                )
            return
        link = self._link(name)
        for part in self._description.bodies.get(link, ()):
            yield from namer(
                link,
                part.kind,
                _inflated(part.kind, part.size),
                colour,
                part.position,
                part.orientation,
                mesh_file=part.mesh_file,
            )

    def _label(
        self, namer: _Namer, names: Sequence[str], colour: Colour, text: str
    ) -> Iterator[Shape]:
        """Write beside the first of some bodies that is known."""
        height = (0.0, 0.0, self._config.text_height)
        for name in names:
            if name in self._obstacles:
                obstacle = self._obstacles[name]
                frame, position = obstacle.frame, obstacle.position
            elif self._link(name) in self._description.bodies:
                frame, position = self._link(name), ORIGIN
            else:
                continue
            yield from namer(frame, Kind.TEXT, height, colour, position, text=text)
            return

    def _link(self, name: str) -> str:
        """Return the link of a name that may lack its prefix."""
        bodies = self._description.bodies
        return name if name in bodies else self._config.prefix + name


class _Namer:
    """Numbers the shapes of one namespace."""

    def __init__(self, namespace: str, config: SceneConfig) -> None:
        self._namespace = namespace
        self._lifetime = LIFETIMES * config.moving_period
        self._number = 0

    def __call__(
        self,
        frame: str,
        kind: Kind,
        size: Point,
        colour: Colour,
        position: Point = ORIGIN,
        orientation: tuple[float, float, float, float] = UNTURNED,
        points: tuple[Point, ...] = (),
        text: str = "",
        mesh_file: str = "",
    ) -> Iterator[Shape]:
        if self._number >= MOST:
            return
        yield Shape(
            self._namespace,
            self._number,
            frame,
            kind,
            position,
            orientation,
            size,
            colour if kind is Kind.TEXT else faded(colour, 0.6),
            points,
            plain(text),
            mesh_file,
            self._lifetime,
        )
        self._number += 1


def _inflated(kind: Kind, size: Point) -> Point:
    if kind in (Kind.TRIANGLES, Kind.MESH):
        return size
    x, y, z = (extent + 2.0 * _INFLATED for extent in size)
    return x, y, z


def _is_of(cause: str, joint: str) -> bool:
    """Whether a cause names a joint, with its prefix or without."""
    named = cause.rpartition(" ")[2]
    return named == joint or (named.startswith("axis_") and joint.endswith(named))
