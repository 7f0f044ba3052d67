"""Everything of the description that has a surface, and the joints that move it.

The arm's five joints and those that follow them (the fingers) move bodies; all else stands still
on the drone. What some other joint moves, as a second arm, has no known place here and is left
out: configure an obstacle where it works.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from reach_alpha5_motion.model import ARM_BASE, AXES, FloatArray, ModelError

_SPARE = 1.02
"""Bounds on motion are this much wider than the description's limits make them: a joint can be
measured a little outside."""


@dataclass(frozen=True, slots=True)
class Body:
    """One shape that is fixed to one link."""

    name: str
    """Of the link, or of the obstacle."""
    joint: int
    """The joint of `ArmBodies.model` that carries it; 0: it stands still on the drone."""
    placement: Any
    """Of the shape in the frame of that joint: a pinocchio SE3."""
    shape: Any
    """A coal shape."""

    @property
    def ball(self) -> tuple[FloatArray, float]:
        """A ball around all of it: centre in the frame of its joint, and radius [m]."""
        self.shape.computeLocalAABB()
        centre: FloatArray = self.placement.act(self.shape.aabb_center)
        return centre, float(self.shape.aabb_radius)


class ArmBodies:
    """The bodies of one arm and of the drone under it."""

    def __init__(self, urdf: str, srdf: str, prefix: str = "") -> None:
        """Read an expanded URDF with its collision shapes, and the SRDF that goes with it.

        Raises:
            ModelError: one of them cannot be read, or the arm of that prefix is not in it.
        """
        try:
            whole = pin.buildModelFromXML(urdf)
            shapes = pin.buildGeomFromUrdfString(whole, urdf, pin.GeometryType.COLLISION)
            tree, semantics = ElementTree.fromstring(urdf), ElementTree.fromstring(srdf)
        except (ValueError, RuntimeError, ElementTree.ParseError) as error:
            raise ModelError(
                f"the robot description cannot be read: {error}; a mesh among the collision "
                "shapes can be configured as an obstacle instead"
            ) from error
        axes = [prefix + axis for axis in AXES]
        self._base = prefix + ARM_BASE
        missing = [f"joint {axis}" for axis in axes if not whole.existJointName(axis)]
        missing += [f"link {self._base}"] if not whole.existBodyName(self._base) else []
        if missing:
            raise ModelError(
                f"the robot description lacks {', '.join(missing)}; is the prefix right?"
            )
        self._may_touch = frozenset(
            frozenset((entry.get("link1", ""), entry.get("link2", "")))
            for entry in semantics.iter("disable_collisions")
        )
        rows = _coupling_rows(tree, axes)
        others = [i for i in range(1, whole.njoints) if whole.names[i] not in rows]
        self._elsewhere = frozenset(
            frame.name
            for frame in whole.frames
            if not set(others).isdisjoint(whole.supports[frame.parentJoint])
        )
        self.model, self.bodies = self._kept(whole, shapes, others)
        self.coupling: FloatArray = np.zeros((self.model.nv, len(axes)))
        """d(positions of the model) / d(five joints), shape (nv, 5)."""
        self._offset: FloatArray = np.zeros(self.model.nv)
        for name, (axis, multiplier, constant) in rows.items():
            row = self.model.joints[self.model.getJointId(name)].idx_v
            self.coupling[row, axis], self._offset[row] = multiplier, constant
        self.supports: FloatArray = np.zeros((self.model.njoints, self.model.nv))
        """1 where a joint (row) is moved by a velocity of the model (column), else 0."""
        self._axes: FloatArray = np.zeros((self.model.njoints, 3))
        """Direction in its own frame about which each joint turns; zero for one that slides."""
        data = self.model.createData()
        for joint in range(1, self.model.njoints):
            column = self.model.joints[joint].idx_v
            jacobian = pin.computeJointJacobian(self.model, data, pin.neutral(self.model), joint)
            self._axes[joint] = jacobian[3:, column]
            for support in list(self.model.supports[joint])[1:]:
                self.supports[joint, self.model.joints[support].idx_v] = 1.0

    def _kept(self, whole: Any, shapes: Any, others: list[int]) -> tuple[Any, tuple[Body, ...]]:
        """Lock the other joints, and leave out what they move.

        Returns:
            A pinocchio model of the arm's five joints and their followers, and the bodies.
        """
        kept = pin.GeometryModel()
        names = []
        for shape in shapes.geometryObjects:
            name = whole.frames[shape.parentFrame].name
            if name not in self._elsewhere:
                kept.addGeometryObject(shape)
                names.append(name)
        model, kept = pin.buildReducedModel(whole, kept, others, pin.neutral(whole))
        return model, tuple(
            Body(name, shape.parentJoint, shape.placement, shape.geometry)
            for name, shape in zip(names, kept.geometryObjects, strict=True)
        )

    def positions(self, q: FloatArray) -> FloatArray:
        """Return the positions of the model, shape (nv,), for the five joints, shape (5,)."""
        return self.coupling @ q + self._offset

    def may_touch(self, one: str, other: str) -> bool:
        """Tell whether the SRDF takes two links out of the check."""
        return one == other or frozenset((one, other)) in self._may_touch

    def link(self, name: str) -> tuple[int, Any] | None:
        """Return the joint that carries a link, and the link's place in the frame of the joint.

        None: there is no such link, or a joint that is not the arm's moves it.
        """
        if name in self._elsewhere or not self.model.existBodyName(name):
            return None
        frame = self.model.frames[self.model.getBodyId(name)]
        return frame.parentJoint, frame.placement

    def is_own(self, body: Body) -> bool:
        """Tell whether a body is a part of the arm: one of its links, not an obstacle on one."""
        return any(body is own for own in self.bodies) and (
            body.joint != 0 or body.name == self._base
        )

    @property
    def base(self) -> Any:
        """Place of the arm's base on the drone, which no joint moves: a pinocchio SE3."""
        return self.model.frames[self.model.getBodyId(self._base)].placement

    @property
    def all_links(self) -> frozenset[str]:
        """Names of all links of the description."""
        return self._elsewhere.union(self.links)

    @property
    def links(self) -> tuple[str, ...]:
        """Names of all links that can carry an obstacle."""
        names = (frame.name for frame in self.model.frames if frame.type == pin.FrameType.BODY)
        return tuple(name for name in names if name not in self._elsewhere)

    def mobility(self, body: Body) -> FloatArray:
        """Return a bound on the speed of any point of a body per joint rate, shape (nv,).

        m/rad (1 for the push rod): a point of the body can be no farther from the axis of a joint
        than the next joint is, and all the links from there put in a line.
        """
        bound = np.zeros(self.model.nv)
        joint = body.joint
        near, beyond = body.ball
        while joint:
            column = self.model.joints[joint].idx_v
            axis = self._axes[joint]
            slides = not axis.any()
            lever = float(np.linalg.norm(np.cross(axis, near))) + beyond
            bound[column] = _SPARE * (1.0 if slides else lever)
            beyond += float(np.linalg.norm(near))
            if slides:
                limits = self.model.lowerPositionLimit, self.model.upperPositionLimit
                beyond += max(abs(float(limit[column])) for limit in limits)
            near = self.model.jointPlacements[joint].translation
            joint = self.model.parents[joint]
        return bound

    def levers(self, body: Body) -> FloatArray:
        """Return a bound on the speed of any point of a body per rate of each of the five joints.

        Shape (5,) [m/rad; m/m for the jaws].
        """
        return np.asarray(self.mobility(body) @ np.abs(self.coupling))


def _coupling_rows(
    tree: ElementTree.Element, axes: list[str]
) -> Mapping[str, tuple[int, float, float]]:
    """Return for each joint that the axes move: which axis, how many times, and from where."""
    rows = {axis: (i, 1.0, 0.0) for i, axis in enumerate(axes)}
    for joint in tree.iter("joint"):
        mimic = joint.find("mimic")
        if mimic is not None and mimic.get("joint") in axes:
            rows[joint.get("name", "")] = (
                axes.index(mimic.get("joint", "")),
                float(mimic.get("multiplier", "1")),
                float(mimic.get("offset", "0")),
            )
    return rows
