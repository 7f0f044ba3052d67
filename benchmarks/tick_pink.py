"""The step of a jog as pink solves it with quadprog: what the tick is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pink
import pinocchio as pin
from pink.barriers import SelfCollisionBarrier
from pink.tasks import FrameTask

from reach_alpha5_motion.bodies import ArmBodies, Body
from reach_alpha5_motion.collision import CollisionConfig
from reach_alpha5_motion.model import BODY_FRAME, TOOL
from reach_alpha5_motion.obstacles import Scene
from reach_alpha5_motion.pairing import pairs

CLOSEST = 8
"""Pairs that pink bounds: the nearest ones. It measures the distance of all."""

DAMPING = 1e-6
"""Weight on all rates: those that do not move the tip would have no optimum without it."""


class PinkStep:
    """A frame task within position and velocity limits, and keeping apart what we keep apart."""

    def __init__(
        self, arm: ArmBodies, scene: Scene | None = None, obstacles: Sequence[Body] = ()
    ) -> None:
        """Take the arm, and a scene with its bodies; without one there are no collisions."""
        self._arm = arm
        geometry, self._barriers = None, []
        if scene is not None:
            geometry = _geometry(arm, scene, obstacles)
            margins = CollisionConfig()
            self._barriers = [
                SelfCollisionBarrier(CLOSEST, gain=margins.brake_gain, d_min=margins.self_inner)
            ]
        model = arm.model
        self._configuration = pink.Configuration(
            model, model.createData(), pin.neutral(model), collision_model=geometry
        )
        self._task = FrameTask(TOOL, position_cost=1.0, orientation_cost=0.0)
        self._body = self._configuration.get_transform_frame_to_world(BODY_FRAME).rotation

    def solve(self, q: Sequence[float], velocity: Sequence[float], period: float) -> bool:
        """Find joint rates for a velocity of the tip; return whether there were any.

        Args:
            q: joint positions (5,) [rad, m].
            velocity: of the tip in `base_link_frd` (3,) [m/s].
            period: how long the rates will hold [s].
        """
        limits = self._arm.model.lowerPositionLimit, self._arm.model.upperPositionLimit
        self._configuration.update(np.clip(self._arm.positions(np.array(q)), *limits))
        target = self._configuration.get_transform_frame_to_world(TOOL)
        target.translation = target.translation + self._body @ np.array(velocity) * period
        self._task.set_target(target)
        try:
            pink.solve_ik(
                self._configuration,
                [self._task],
                period,
                "quadprog",
                damping=DAMPING,
                barriers=self._barriers,
            )
        except pink.exceptions.NoSolutionFound:
            return False
        return True


def _geometry(arm: ArmBodies, scene: Scene, obstacles: Sequence[Body]) -> Any:
    """Return a pinocchio geometry model of the pairs that `Collision` keeps apart."""
    geometry = pin.GeometryModel()
    for number, body in enumerate((*arm.bodies, *obstacles)):
        name = f"{number} {body.name}"
        geometry.addGeometryObject(
            pin.GeometryObject(name, body.joint, body.placement, body.shape)
        )
    for pair in pairs(arm, obstacles, scene):
        geometry.addCollisionPair(pin.CollisionPair(pair.first, pair.second))
    return geometry
