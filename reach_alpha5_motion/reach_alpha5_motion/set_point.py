"""What a set-point asks of the joints, or why it is refused: nothing of it is clamped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reach_alpha5_common.command import JointCommand
from reach_alpha5_common.refusal import Problem
from reach_alpha5_motion.limits import Room

_ROUNDING = 1e-6
"""Share of a speed limit, and of a margin, by which a number may be beyond it: rounding."""


class SetPoint(NamedTuple):
    """Where some joints shall be when it is taken, and how fast they go on from there."""

    joints: tuple[int, ...]
    """Which joints: their places in chain order."""
    positions: tuple[float, ...]
    """One for each of them [rad, m]."""
    velocities: tuple[float, ...]
    """One for each of them [rad/s, m/s]."""


def read(
    command: JointCommand,
    names: Sequence[str],
    rooms: Sequence[Room],
    margins: Sequence[float],
    speed: Sequence[float],
) -> SetPoint | Problem:
    """Return the set-point of a command, or why it is refused whole.

    Args:
        command: what somebody wants; it names a joint at least.
        names: of the five joints, chain order.
        rooms: where they may be.
        margins: how far before its limits each stops [rad, m]: a set-point may be there.
        speed: limits in force of the five joints [rad/s, m/s].
    """
    problem = command.problem()
    if problem is not None:
        return problem
    unknown = [name for name in command.joint_names if name not in names]
    if unknown:
        return Problem(
            "unknown_joint", f"no joint {', '.join(unknown)}; there are {', '.join(names)}"
        )
    joints = tuple([names.index(name) for name in command.joint_names])
    point = SetPoint(joints, command.positions, command.velocities)
    return next(_problems(point, names, rooms, margins, speed), point)


def _problems(
    point: SetPoint,
    names: Sequence[str],
    rooms: Sequence[Room],
    margins: Sequence[float],
    speed: Sequence[float],
) -> Iterator[Problem]:
    for joint, position, velocity in zip(*point, strict=True):
        low, high = rooms[joint].low - margins[joint], rooms[joint].high + margins[joint]
        rounding = _ROUNDING * margins[joint]
        if not low - rounding <= position <= high + rounding:
            yield Problem(
                "beyond_limit",
                f"{names[joint]} at {position:g} is beyond its limits; they are {low:g} to "
                f"{high:g}",
            )
        if abs(velocity) > speed[joint] * (1.0 + _ROUNDING):
            yield Problem(
                "too_fast",
                f"{names[joint]} at {velocity:g} is faster than it may go; its limit is "
                f"{speed[joint]:g}",
            )
