"""From the axes of an arm input to what they ask of the tip (B3, B4)."""

from __future__ import annotations

from dataclasses import dataclass

from reach_alpha5_common.command import ArmInput, GripperCommand
from reach_alpha5_motion.model import ArmPosture, Vector
from reach_alpha5_motion.singularity import inward_share, radial_side
from reach_alpha5_motion.speed import MotionConfig


@dataclass(frozen=True, slots=True)
class AxisDemand:
    """What one axis of an input asks."""

    velocity: Vector = (0.0, 0.0, 0.0)
    """Of the tip [m/s]: front, across, up of `ArmPosture`."""
    turn: float = 0.0
    """Of the base about its axis [rad/s], beside that of the velocity: an azimuth is asked as an
    angle, so that it needs no radius and is never singular."""
    share: float = 1.0
    """How much of what was commanded this is, in [0, 1]."""


Demand = tuple[AxisDemand, AxisDemand, AxisDemand]


def cartesian(command: GripperCommand, posture: ArmPosture, config: MotionConfig) -> Demand:
    """Forward, right, down of `base_link_frd`."""
    speed = config.linear_speed * config.speed_fraction(command.speed_modifier)
    asked = command.cartesian
    return (
        AxisDemand(posture.in_basis((asked.x * speed, 0.0, 0.0))),
        AxisDemand(posture.in_basis((0.0, asked.y * speed, 0.0))),
        AxisDemand(posture.in_basis((0.0, 0.0, asked.z * speed))),
    )


def cylindrical(command: GripperCommand, posture: ArmPosture, config: MotionConfig) -> Demand:
    """Out from the base axis, down along it, and clockwise as seen from its plus end."""
    fraction = config.speed_fraction(command.speed_modifier)
    speed = config.linear_speed * fraction
    asked = command.cylindrical
    share = inward_share(posture.reach, asked.radial * speed, config.brake_gain)
    outward = radial_side(posture.reach) * asked.radial * speed * share
    return (
        AxisDemand((outward, 0.0, 0.0), share=share),
        AxisDemand((0.0, 0.0, -asked.vertical * speed)),
        AxisDemand(turn=-asked.azimuth * config.azimuth_speed * fraction),
    )


READERS = {ArmInput.CARTESIAN: cartesian, ArmInput.CYLINDRICAL: cylindrical}
"""How to read the inputs that ask for a velocity of the tip."""
