"""From the speeds of an input to what they ask of the tip (B3, B4, D8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from reach_alpha5_motion.demand import ArmPart, Kind
from reach_alpha5_motion.model import ArmModel, ArmPosture, Vector
from reach_alpha5_motion.singularity import inward_share, radial_side


class AxisDemand(NamedTuple):
    """What one axis of an input asks."""

    velocity: Vector = (0.0, 0.0, 0.0)
    """Of the tip [m/s]: front, across, up of `ArmPosture`."""
    turn: float = 0.0
    """Of the base about its axis [rad/s], beside that of the velocity: an azimuth is asked as an
    angle, so that it needs no radius and is never singular."""
    share: float = 1.0
    """How much of what was asked this is, in [0, 1]."""


_NOTHING = AxisDemand()

Three = tuple[AxisDemand, AxisDemand, AxisDemand]


def along(axes: Iterable[Vector], speeds: Sequence[float]) -> Three:
    """Return what speeds [m/s] along three axes, unit vectors front, across, up, ask."""
    x, y, z = [
        AxisDemand((front * speed, across * speed, up * speed)) if speed != 0.0 else _NOTHING
        for (front, across, up), speed in zip(axes, speeds, strict=True)
    ]
    return x, y, z


def cylindrical(speeds: Sequence[float], posture: ArmPosture, gain: float) -> Three:
    """Return what is asked by speeds about the base axis.

    Args:
        speeds: out from the base axis and down along it [m/s], and clockwise as seen from its plus
            end [rad/s].
        posture: of the arm.
        gain: how inward motion slows down on its way to the axis [1/s].
    """
    radial, vertical, azimuth = speeds
    share = inward_share(posture.reach, radial, gain)
    outward = radial_side(posture.reach) * radial * share
    return (
        AxisDemand((outward, 0.0, 0.0), share=share),
        AxisDemand((0.0, 0.0, -vertical)),
        AxisDemand(turn=-azimuth),
    )


Reader = Callable[[ArmPart, ArmPosture, Sequence[float], ArmModel, float], Three]

READERS: dict[Kind, Reader] = {
    Kind.CARTESIAN: lambda part, posture, q, model, gain: along(
        zip(posture.front, posture.across, posture.up, strict=True), part.speeds
    ),
    Kind.TWIST: lambda part, posture, q, model, gain: along(
        map(posture.in_basis, model.frames.axes(part.name, q)), part.speeds
    ),
    Kind.CYLINDRICAL: lambda part, posture, q, model, gain: cylindrical(
        part.speeds, posture, gain
    ),
}
"""How to read the inputs that ask for a velocity of the tip: the part, the arm's posture, its
joint positions (5,), its model, and the gain [1/s] with which motion slows down."""
