"""The closed forms against pinocchio's numbers: the inverse, and the Jacobians."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from motion_drive import Outcome
from motion_world import description

from reach_alpha5_motion import jacobians
from reach_alpha5_motion.inverse import InverseKinematics
from reach_alpha5_motion.model import ArmModel, C

REACHED = 1e-12
"""m that a solution may miss its point."""
SAME = 1e-6
"""rad that a posture may differ from the solution of its branch: at full stretch, half the digits
are lost."""
REGULAR = 1e-9
"""The same, more than 0.05 rad from the straight arm."""
TURNED = 1e-9
"""m/rad, and 1: by how much the entry of a Jacobian may differ."""


class Reference:
    """Places and Jacobians straight from pinocchio's model of the whole description."""

    def __init__(self, urdf: str) -> None:
        self._model = pin.buildModelFromXML(urdf)
        self._data = self._model.createData()
        self._places = [
            self._model.joints[self._model.getJointId(name)].idx_q
            for name in ("axis_e", "axis_d", "axis_c")
        ]
        pin.framesForwardKinematics(self._model, self._data, pin.neutral(self._model))
        frames = ("base_link_frd", "arm_base", "tool")
        self._body, self._base = (
            self._data.oMf[self._model.getFrameId(frame)].copy() for frame in frames[:2]
        )
        self._tool = self._model.getFrameId("tool")

    def tip(self, angles: np.ndarray) -> np.ndarray:
        """In `base_link_frd` [m]."""
        q = np.zeros(self._model.nq)
        q[self._places] = angles
        pin.forwardKinematics(self._model, self._data, q)
        place = pin.updateFramePlacement(self._model, self._data, self._tool)
        return self._body.actInv(place.translation)

    def jacobians(self, angles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """In body, base and cylindrical coordinates, each (3, 3)."""
        q = np.zeros(self._model.nq)
        q[self._places] = angles
        world = pin.computeFrameJacobian(
            self._model, self._data, q, self._tool, pin.LOCAL_WORLD_ALIGNED
        )[:3, self._places]
        place = pin.updateFramePlacement(self._model, self._data, self._tool)
        x, y, _ = self._base.actInv(place.translation)
        base = self._base.rotation.T @ world
        radius = math.hypot(x, y)
        about = np.array([[x, y, 0.0], [0.0, 0.0, -radius], [y / radius, -x / radius, 0.0]])
        return self._body.rotation.T @ world, base, about @ base / radius


def compare(seed: int, count: int = 10000) -> Outcome:
    """Solve random postures of one random mount, and compare with pinocchio."""
    rng, outcome = np.random.default_rng(seed), Outcome(seed)
    urdf, _ = description(tuple(rng.uniform(-math.pi, math.pi, 3).tolist()), hull=False)
    arm, reference = ArmModel.from_urdf(urdf), Reference(urdf)
    inverse = InverseKinematics(arm)
    low, high = arm.limits.lower, arm.limits.upper
    miss = lost = turned = 0.0
    for q in low + (high - low) * rng.random((count, 5)):
        point = reference.tip(q[:3])
        solutions = inverse.solutions(point)
        own = inverse.branch(q)
        outcome.counts[f"with {len(solutions)} branches"] += 1
        for each in solutions:
            miss = max(miss, np.abs(reference.tip(np.array(each.angles)) - point).max())
        again = [s for s in solutions if (s.facing, s.elbow) == own]
        bend = min(abs(q[C] - singularity.angle) for singularity in arm.elbow_singularities)
        found = [np.abs(np.array(a) - q[:3]).max() for s in again for a in inverse.within(s)]
        error = min(found, default=math.inf)
        if bend > 0.05:
            lost = max(lost, error)
        if error > (REGULAR if bend > 0.05 else SAME):
            outcome.broken.append(f"not found again: {q.tolist()} {error}")
        if abs(arm.posture(q).reach) > 0.02:
            outcome.counts["Jacobians"] += 1
            told = (
                jacobians.body(arm, q),
                jacobians.base(arm, q),
                jacobians.cylindrical(arm, q),
            )
            for one, other in zip(told, reference.jacobians(q[:3]), strict=True):
                turned = max(turned, np.abs(one - other).max())
    outcome.counts["postures"] += count
    outcome.most("m that a solution misses its point", miss)
    outcome.most("rad from the posture to its own solution", lost)
    outcome.most("m/rad between two Jacobians", turned)
    if miss > REACHED:
        outcome.broken.append(f"a solution misses its point by {miss} m")
    if turned > TURNED:
        outcome.broken.append(f"a Jacobian differs by {turned}")
    return outcome
