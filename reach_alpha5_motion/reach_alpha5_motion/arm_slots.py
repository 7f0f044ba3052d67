"""Which obstacles the arm can keep itself, in its own few slots.

The arm's base unit has slots for boxes and cylinders. What is written there is kept by the arm
through power-off and watched by its own firmware: a second line behind the driver's. A slot is
never larger or smaller than its obstacle: what it cannot hold exactly is left out, with a reason.

How the numbers of a slot are meant is our reading of the protocol, which only counts them: two
opposite corners of a box, the two ends of a cylinder's axis and its radius.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from reach_alpha5_motion.bodies import ArmBodies
from reach_alpha5_motion.obstacles import Box, Cylinder, Obstacle, Scene

SLOTS = 4
"""Of boxes, and of cylinders."""

_SKEW = 1e-6
"""Of the length of a side: how far a box may be turned and still count as along the axes."""


@dataclass(frozen=True, slots=True)
class ArmSlots:
    """What goes into the slots, in the order of the scene. All numbers in the arm's base [m]."""

    boxes: tuple[tuple[float, ...], ...]
    """x, y, z of the greatest corner, then of the least, each (6,)."""
    cylinders: tuple[tuple[float, ...], ...]
    """x, y, z of one end of the axis, of the other, and the radius, each (7,)."""
    left_out: tuple[tuple[str, str], ...]
    """Name of each obstacle that is in no slot, and why."""


def arm_slots(arm: ArmBodies, scene: Scene) -> ArmSlots:
    """Return how a scene fits into the arm's own slots."""
    boxes: list[tuple[float, ...]] = []
    cylinders: list[tuple[float, ...]] = []
    left_out = []
    for obstacle in scene.obstacles:
        kind = cylinders if isinstance(obstacle.shape, Cylinder) else boxes
        numbers = _numbers(arm, obstacle)
        if isinstance(numbers, str):
            left_out.append((obstacle.name, numbers))
        elif len(kind) == SLOTS:
            left_out.append((obstacle.name, f"all {SLOTS} slots of its kind are taken"))
        else:
            kind.append(numbers)
    return ArmSlots(tuple(boxes), tuple(cylinders), tuple(left_out))


def _numbers(arm: ArmBodies, obstacle: Obstacle) -> tuple[float, ...] | str:
    """Return the numbers of a slot, or why it cannot hold the obstacle."""
    place = arm.link(obstacle.frame)
    if place is None or place[0] != 0:
        return f"{obstacle.frame} does not stand still; slots are fixed to the arm's base"
    pose = pin.SE3(pin.rpy.rpyToMatrix(*obstacle.orientation), np.array(obstacle.position))
    in_base = arm.base.inverse() * place[1] * pose
    centre = in_base.translation
    match obstacle.shape:
        case Box(size=size):
            extents = in_base.rotation * size
            if np.count_nonzero(np.abs(extents) > _SKEW * max(size)) > 3:
                return "it is turned against the axes of the arm's base, and slots are not"
            half = np.abs(extents).sum(axis=1) / 2.0
            return (*(centre + half).tolist(), *(centre - half).tolist())
        case Cylinder(radius=radius, length=length):
            half = in_base.rotation[:, 2] * length / 2.0
            return (*(centre + half).tolist(), *(centre - half).tolist(), radius)
        case shape:
            return f"there are no slots for a {shape.KIND}"
