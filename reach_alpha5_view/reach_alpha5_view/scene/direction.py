"""What is asked of the arm at this moment, drawn at its tip.

Drawn is what goes to the driver, which is what the arbiter let through, for as long as it stands
by its lifetime. Where the tip is not known, nothing is drawn: an arrow in a wrong place is worse
than none. All of it is in `base_link_frd`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import ClassVar

from reach_alpha5_common.command import (
    ArmInput,
    CommandKind,
    DriverCommand,
    GripperCommand,
    JointCommand,
    Pose,
    TwistCommand,
)
from reach_alpha5_motion.model import ArmModel, ArmPosture, B
from reach_alpha5_motion.singularity import radial_side
from reach_alpha5_view.scene.config import LIFETIMES, SceneConfig
from reach_alpha5_view.scene.geometry import finite, moved
from reach_alpha5_view.scene.palette import CYAN
from reach_alpha5_view.scene.shapes import Kind, Point, Shape
from reach_alpha5_view.scene.states import Telemetry
from reach_alpha5_view.scene.words import plain

COMMANDED = "commanded"

ARROW, ARC, GOAL, WORDS = range(4)
"""Numbers of the shapes."""

FRD = "base_link_frd"

_SHAFT, _HEAD, _POINT = 0.006, 0.014, 0.03
_LINE = 0.004
"""m: widths, and length of the head."""

_SHORTEST = 1e-3
"""m: an arrow below it has no direction that could be seen."""

_ARC_STEPS = 12
_ABOVE = 0.05
"""m: of the words above the tip."""


def commanded(
    command: DriverCommand, telemetry: Telemetry, model: ArmModel | None, config: SceneConfig
) -> Iterator[Shape]:
    """Yield what a command asks, at the tip that the telemetry tells."""
    if not finite(telemetry.tip):
        return
    pen = _Pen(telemetry, model, config)
    if command.kind is CommandKind.INPUT:
        yield from pen.input(command.input)
    elif command.kind is CommandKind.TWIST:
        yield from pen.twist(command.twist)
    elif command.kind is CommandKind.JOINT:
        yield from pen.joints(command.joint)


class _Pen:
    """Draws at the tip."""

    def __init__(self, telemetry: Telemetry, model: ArmModel | None, config: SceneConfig) -> None:
        self._tip = telemetry.tip
        self._positions = telemetry.positions
        self._model = model
        self._config = config
        self._lifetime = LIFETIMES * config.moving_period

    def input(self, command: GripperCommand) -> Iterator[Shape]:
        draw = self._INPUTS.get(command.arm_input)
        if draw is not None:
            yield from draw(self, command)
        velocities = command.gripper_velocities
        yield from self._words(
            *self._pose_words(command),
            *_signed("wrist", velocities.rotate, "plus", "minus"),
            *_signed("jaws", velocities.grip, "open", "close"),
        )

    def _cartesian(self, command: GripperCommand) -> Iterator[Shape]:
        asked = command.cartesian
        yield from self._arrow((asked.x, asked.y, asked.z), self._config.arrow_length)

    def _cylindrical(self, command: GripperCommand) -> Iterator[Shape]:
        posture = self._posture()
        if posture is None:
            return
        asked = command.cylindrical
        outward = radial_side(posture.reach) * asked.radial
        yield from self._arrow(
            posture.in_body(outward, 0.0, -asked.vertical), self._config.arrow_length
        )
        yield from self._arc(posture, asked.azimuth)

    _INPUTS: ClassVar[dict[int, Callable[[_Pen, GripperCommand], Iterator[Shape]]]] = {
        ArmInput.CARTESIAN: _cartesian,
        ArmInput.CYLINDRICAL: _cylindrical,
    }

    def twist(self, command: TwistCommand) -> Iterator[Shape]:
        model = self._model
        if model is not None and command.frame in model.frames and any(command.linear):
            axes = model.frames.axes(command.frame, self._positions)
            velocity: Point = (0.0, 0.0, 0.0)
            for axis, speed in zip(axes, command.linear, strict=True):
                velocity = moved(velocity, axis, speed)
            yield from self._arrow(velocity, self._config.arrow_time)
        turn = "turning" if any(command.angular) else ""
        yield from self._words(turn, *_signed("jaws", command.grip, "open", "close"))

    def joints(self, command: JointCommand) -> Iterator[Shape]:
        model = self._model
        if model is None:
            return
        positions = list(self._positions)
        for name, position in zip(command.joint_names, command.positions, strict=False):
            if name in model.joint_names:
                positions[model.joint_names.index(name)] = position
        if not finite(positions[:B]):
            return
        x, y, z = model.tip(positions).tolist()
        if math.dist((x, y, z), self._tip) < _SHORTEST:
            return
        yield self._shape(GOAL, Kind.SPHERE, (0.016, 0.016, 0.016), position=(x, y, z))
        yield self._shape(ARROW, Kind.LINE_STRIP, (_LINE, 0.0, 0.0), (self._tip, (x, y, z)))

    def _pose_words(self, command: GripperCommand) -> Iterator[str]:
        pose = command.known_pose
        if command.arm_input == ArmInput.KNOWN_POSE and pose.velocity > 0.0:
            known = Pose._value2member_map_.get(pose.pose)
            name = pose.name or (known.name.lower() if isinstance(known, Pose) else "?")
            yield f"to {name} at {pose.velocity:.0%}"

    def _posture(self) -> ArmPosture | None:
        if self._model is None or not finite(self._positions[:B]):
            return None
        return self._model.posture(self._positions)

    def _arrow(self, velocity: Point, length: float) -> Iterator[Shape]:
        end = moved(self._tip, velocity, length)
        if finite(end) and math.dist(end, self._tip) >= _SHORTEST:
            yield self._shape(ARROW, Kind.ARROW, (_SHAFT, _HEAD, _POINT), (self._tip, end))

    def _arc(self, posture: ArmPosture, azimuth: float) -> Iterator[Shape]:
        """Draw the way of the tip about the base axis, as long as an arrow would be."""
        reach = posture.reach
        if azimuth == 0.0 or abs(reach) < _SHORTEST:
            return
        # Clockwise from above is minus about the axis; a turn moves the tip across, times reach.
        turn = -azimuth * self._config.arrow_length / abs(reach)
        turn = math.copysign(min(abs(turn), math.pi), turn)
        on_axis = moved(posture.tip, posture.front, -reach)
        points = []
        for i in range(_ARC_STEPS + 1):
            angle = turn * i / _ARC_STEPS
            ahead = moved(on_axis, posture.front, reach * math.cos(angle))
            points.append(moved(ahead, posture.across, reach * math.sin(angle)))
        yield self._shape(ARC, Kind.LINE_STRIP, (_LINE, 0.0, 0.0), tuple(points))
        yield self._shape(GOAL, Kind.ARROW, (_LINE, _HEAD, _POINT), (points[-2], points[-1]))

    def _words(self, *words: str) -> Iterator[Shape]:
        said = ", ".join(word for word in words if word)
        if said:
            above = moved(self._tip, (0.0, 0.0, -1.0), _ABOVE)
            height = (0.0, 0.0, self._config.text_height)
            yield self._shape(WORDS, Kind.TEXT, height, position=above, text=plain(said))

    def _shape(
        self,
        number: int,
        kind: Kind,
        size: Point,
        points: tuple[Point, ...] = (),
        position: Point = (0.0, 0.0, 0.0),
        text: str = "",
    ) -> Shape:
        return Shape(
            COMMANDED,
            number,
            FRD,
            kind,
            position,
            size=size,
            colour=CYAN,
            points=points,
            text=text,
            lifetime=self._lifetime,
        )


def _signed(what: str, value: float, plus: str, minus: str) -> Iterator[str]:
    if value != 0.0 and math.isfinite(value):
        yield f"{what} {plus if value > 0.0 else minus}"
