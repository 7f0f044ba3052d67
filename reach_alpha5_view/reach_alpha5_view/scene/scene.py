"""The scene: what was heard last, and the shapes that it makes now.

The `update_...` methods take what the topics say, with the monotonic time [s] at which it was
heard. `shapes` draws. A state that is older than `stale_after` draws nothing but words that say
so: what a dead driver said last must not look alive.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from reach_alpha5_common.command import DriverCommand
from reach_alpha5_motion.model import ArmModel
from reach_alpha5_view.scene.blocked import BLOCKED, FAULTS, NEAREST, Marks
from reach_alpha5_view.scene.config import LIFETIMES, SceneConfig
from reach_alpha5_view.scene.description import NOWHERE, Description
from reach_alpha5_view.scene.direction import COMMANDED, FRD, commanded
from reach_alpha5_view.scene.geometry import finite
from reach_alpha5_view.scene.obstacles import NAMES, OBSTACLES, obstacle_shapes
from reach_alpha5_view.scene.palette import CYAN, GREY, WHITE, faded
from reach_alpha5_view.scene.shapes import Kind, Shape
from reach_alpha5_view.scene.states import ArbiterStatus, ArmStatus, Hull, Obstacle, Telemetry
from reach_alpha5_view.scene.trail import Trail
from reach_alpha5_view.scene.words import STATUS, Heard, overlay
from reach_alpha5_view.scene.workspace import Workspace, workspace

TIP = "tip"
TRAIL = "trail"
SECTION = "workspace"
ENVELOPE = "workspace envelope"

_TIP_SIZE = (0.012, 0.012, 0.012)
_THIN, _THICK = 0.0015, 0.003
"""m: widths of lines."""


class Layer(enum.Enum):
    """How often something is drawn anew."""

    MOVING = "moving"
    """What moves with the arm, and what is asked of it."""
    WORDS = "words"
    """Texts, and where the tip went."""
    STANDING = "standing"
    """What stands: obstacles and the workspace."""


NAMESPACES: dict[Layer, tuple[str, ...]] = {
    Layer.MOVING: (TIP, COMMANDED, BLOCKED, NEAREST, FAULTS),
    Layer.WORDS: (STATUS, TRAIL),
    Layer.STANDING: (OBSTACLES, NAMES, SECTION, ENVELOPE),
}
"""Every namespace that there is, by how often it is drawn."""

T = TypeVar("T")


@dataclass(slots=True)
class _Newest(Generic[T]):
    """The newest of one kind of state."""

    value: T
    at: float = -math.inf

    def set(self, value: T, now: float) -> None:
        self.value, self.at = value, now

    def age(self, now: float) -> float:
        return now - self.at


class Scene:
    """What there is to be seen of one arm. Not thread-safe."""

    def __init__(self, config: SceneConfig | None = None) -> None:
        """Begin with nothing heard."""
        self._config = config or SceneConfig()
        self._arm = _Newest(ArmStatus())
        self._telemetry = _Newest(Telemetry())
        self._arbiter = _Newest(ArbiterStatus())
        self._command = _Newest(DriverCommand())
        self._trail = Trail(
            self._config.trail_duration, self._config.trail_points, self._config.trail_spacing
        )
        self._model: ArmModel | None = None
        self._workspace = Workspace((), ())
        self._description = NOWHERE
        self._obstacles: tuple[Obstacle, ...] = ()
        self._hulls: dict[str, Hull] = {}
        self._marks = Marks(NOWHERE, (), {}, self._config)
        self._layers: dict[Layer, Callable[[float], Iterator[Shape]]] = {
            Layer.MOVING: self._moving,
            Layer.WORDS: self._words,
            Layer.STANDING: self._standing,
        }

    @property
    def has_description(self) -> bool:
        """Whether it is known what the arm is."""
        return self._description is not NOWHERE

    def set_description(self, xml: str) -> None:
        """Take the text of an expanded URDF.

        Raises:
            ModelError: it is not that of this arm; the scene keeps what it had.
        """
        description = Description.from_urdf(xml)
        model = ArmModel.from_urdf(xml, self._config.prefix)
        self._workspace = workspace(model)
        self._description, self._model = description, model
        self._mark()

    def update_obstacles(
        self, obstacles: Iterable[Obstacle], hulls: Mapping[str, Hull] | None = None
    ) -> None:
        """Take all obstacles that stand.

        Args:
            obstacles: all of them.
            hulls: of those that are meshes, by name; one that is missing is not drawn.
        """
        self._obstacles, self._hulls = tuple(obstacles), dict(hulls or {})
        self._mark()

    def update_arm(self, arm: ArmStatus, now: float) -> None:
        """Take what the driver says."""
        self._arm.set(arm, now)

    def update_telemetry(self, telemetry: Telemetry, now: float) -> None:
        """Take where the arm is."""
        self._telemetry.set(telemetry, now)
        self._trail.add(telemetry.tip, now)

    def update_arbiter(self, arbiter: ArbiterStatus, now: float) -> None:
        """Take what the arbiter says."""
        self._arbiter.set(arbiter, now)

    def update_command(self, command: DriverCommand, now: float) -> None:
        """Take what goes to the driver."""
        self._command.set(command, now)

    def shapes(self, now: float, layers: Sequence[Layer] = tuple(Layer)) -> tuple[Shape, ...]:
        """Return what some layers show at `now`. No two shapes have one namespace and number.

        A shape with a number that is none is left out: nothing is drawn where nothing is known.
        """
        drawn = (shape for layer in layers for shape in self._layers[layer](now))
        return tuple(shape for shape in drawn if _is_finite(shape))

    def _fresh(self, newest: _Newest[T], now: float) -> bool:
        return newest.age(now) <= self._config.stale_after

    def _mark(self) -> None:
        self._marks = Marks(self._description, self._obstacles, self._hulls, self._config)

    def _moving(self, now: float) -> Iterator[Shape]:
        telemetry = self._telemetry.value if self._fresh(self._telemetry, now) else None
        if telemetry is not None:
            yield from self._tip(telemetry)
            command = self._command.value
            if self._command.age(now) <= min(command.lifetime, self._config.stale_after):
                yield from commanded(command, telemetry, self._model, self._config)
        if self._fresh(self._arm, now):
            arm = self._arm.value
            yield from self._marks.blocked(arm)
            yield from self._marks.nearest(arm)
            yield from self._marks.faults(arm, telemetry)

    def _tip(self, telemetry: Telemetry) -> Iterator[Shape]:
        if finite(telemetry.tip):
            yield Shape(
                TIP,
                0,
                FRD,
                Kind.SPHERE,
                telemetry.tip,
                size=_TIP_SIZE,
                colour=CYAN,
                lifetime=LIFETIMES * self._config.moving_period,
            )

    def _words(self, now: float) -> Iterator[Shape]:
        heard = Heard(
            self._arm.value,
            self._arm.age(now),
            self._telemetry.value,
            self._telemetry.age(now),
            self._arbiter.value,
            self._arbiter.age(now),
        )
        yield overlay(heard, self._config)
        if line := self._trail.lines(now):
            fresh = self._fresh(self._telemetry, now) and finite(self._telemetry.value.tip)
            yield Shape(
                TRAIL,
                0,
                FRD,
                Kind.LINE_LIST,
                size=(_THICK, 0.0, 0.0),
                colour=faded(CYAN if fresh else GREY, 0.8),
                points=line,
                lifetime=LIFETIMES * self._config.words_period,
            )

    def _standing(self, now: float) -> Iterator[Shape]:
        yield from obstacle_shapes(self._obstacles, self._hulls, self._config)
        lifetime = LIFETIMES * self._config.standing_period
        if self._workspace.lines:
            yield Shape(
                SECTION,
                0,
                FRD,
                Kind.LINE_LIST,
                size=(_THIN, 0.0, 0.0),
                colour=faded(WHITE, 0.5),
                points=self._workspace.lines,
                lifetime=lifetime,
            )
            yield Shape(
                ENVELOPE,
                0,
                FRD,
                Kind.TRIANGLES,
                colour=faded(CYAN, 0.08),
                points=self._workspace.triangles,
                lifetime=lifetime,
            )


def _is_finite(shape: Shape) -> bool:
    place = (*shape.position, *shape.orientation, *shape.size)
    return finite(place) and all(map(finite, shape.points))
