"""From the velocity asked of the tip to the rates of the three joints that carry it."""

from __future__ import annotations

from dataclasses import dataclass

from reach_alpha5_common.command import ArmInput, GripperCommand
from reach_alpha5_motion import coordinates
from reach_alpha5_motion.axis_scaling import scales
from reach_alpha5_motion.coordinates import AxisDemand
from reach_alpha5_motion.limits import RateBounds, with_elbow
from reach_alpha5_motion.model import ArmModel, ArmPosture, B, C, D, E, Vector
from reach_alpha5_motion.singularity import (
    AXIS_ZONE,
    elbow_side,
    regular_elbow,
    turn_per_across,
)
from reach_alpha5_motion.speed import MotionConfig


@dataclass(frozen=True, slots=True)
class ArmRates:
    """Rates of axis_e, axis_d, axis_c [rad/s]; default-constructed: still."""

    asked: Vector = (0.0, 0.0, 0.0)
    """What the input asks, within the speed limits but for all that position limits say."""
    granted: Vector = (0.0, 0.0, 0.0)
    """What it gets; within all bounds."""
    axis_scales: Vector = (0.0, 0.0, 0.0)
    """What each axis of the input gets of what it asks; 0 for one that was not asked."""


def jog(
    command: GripperCommand,
    positions: list[float],
    bounds: RateBounds,
    speed: list[float],
    model: ArmModel,
    config: MotionConfig,
) -> ArmRates:
    """Resolve a cartesian or cylindrical input.

    Args:
        command: the input.
        positions: of the five joints; those of axis_e, axis_d, axis_c are known.
        bounds: of axis_e, axis_d, axis_c, from their position limits [rad/s].
        speed: speed limit of the joints [rad/s].
        model: the arm.
        config: speeds and gain.
    """
    elbow = positions[C]
    regular = list(positions)
    for singularity in model.elbow_singularities:
        side = elbow_side(elbow, singularity)
        bounds = with_elbow(bounds, elbow, side, singularity, config.brake_gain)
        regular[C] = regular_elbow(regular[C], side, singularity)
    posture = model.posture(regular)
    demand = coordinates.READERS[ArmInput(command.arm_input)](command, posture, config)
    asked = [k for k in range(3) if demand[k].turn != 0.0 or any(demand[k].velocity)]
    if not asked:
        return ArmRates()

    columns = _columns([demand[k] for k in asked], posture)
    fastest = (speed[E], speed[D], speed[C], speed[E])
    granted = scales(
        columns, RateBounds((*bounds.lower, -speed[E]), (*bounds.upper, speed[E])), fastest
    )
    axis_scales = [0.0, 0.0, 0.0]
    for k, scale in zip(asked, granted, strict=True):
        axis_scales[k] = scale * demand[k].share
    total = _combine(columns, [1.0] * len(asked))
    share = RateBounds(tuple(-value for value in fastest), fastest).share(total)
    rate_e, rate_d, rate_c = bounds.clip(_combine(columns, granted)[:B])
    return ArmRates(
        (total[0] * share, total[1] * share, total[2] * share),
        (rate_e, rate_d, rate_c),
        (axis_scales[0], axis_scales[1], axis_scales[2]),
    )


_Column = tuple[float, float, float, float]


def _columns(demand: list[AxisDemand], posture: ArmPosture) -> list[_Column]:
    """Return the rates that each asked axis needs of axis_e, axis_d, axis_c, and one row more.

    The last row is no joint: it slows the whole motion inside the zone about the base axis as the
    turn at the edge of the zone would, so that nothing rushes past the axis.
    """
    turn = turn_per_across(
        posture.reach,
        sum(axis.velocity[0] for axis in demand),
        sum(axis.velocity[1] for axis in demand),
    )
    radius = max(abs(posture.reach), AXIS_ZONE)
    columns = []
    for axis in demand:
        front, across, up = axis.velocity
        rate_d, rate_c = posture.planar_rates(front, up)
        columns.append((turn * across + axis.turn, rate_d, rate_c, across / radius))
    return columns


def _combine(columns: list[_Column], shares: list[float]) -> list[float]:
    """Return the sum of the columns, each times its share."""
    return [sum(map(float.__mul__, row, shares)) for row in zip(*columns, strict=True)]
