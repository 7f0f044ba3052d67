"""The axes of the description's links, as seen from the body: for velocities in any frame (D8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

Vector = tuple[float, float, float]

Axes = tuple[Vector, Vector, Vector]
"""Unit vectors along x, y, z of a frame, in `base_link_frd`."""


def links_moved_by(whole: Any, joints: Sequence[str]) -> frozenset[str]:
    """Return the names of all links that no other joints than these move.

    Args:
        whole: pinocchio model of the description.
        joints: their names.
    """
    ours = {0, *(whole.getJointId(name) for name in joints)}
    return frozenset(
        frame.name
        for frame in whole.frames
        if frame.type == pin.FrameType.BODY and ours.issuperset(whole.supports[frame.parentJoint])
    )


class DescriptionFrames:
    """Where the axes of each link point. Not thread-safe, as pinocchio."""

    def __init__(self, five: Any, links: frozenset[str], body: str, wrist: str) -> None:
        """Take a pinocchio model of the five joints.

        Args:
            five: the model.
            links: that no other joint moves.
            body: link in whose axes all vectors are given; it must not move.
            wrist: joint that rolls the tool.
        """
        self._model = five
        self._data = five.createData()
        self._links = {name: five.getFrameId(name) for name in links}
        self._body = np.array(five.frames[five.getFrameId(body)].placement.rotation).T
        self._wrist = five.getJointId(wrist)
        self._wrist_axis = np.array(
            pin.computeJointJacobian(five, self._data, pin.neutral(five), self._wrist)[3:, -2]
        )
        """Of the wrist, in its own joint frame."""
        self._at: tuple[float, ...] = ()
        """Where the joints are in `_data`."""
        self._told: dict[str, Axes] = {}
        """What `axes` told there, by links: one tick asks it more than once."""

    def __contains__(self, link: str) -> bool:
        """Whether the axes of the link can be told."""
        return link in self._links

    def axes(self, link: str, q: Sequence[float]) -> Axes:
        """Return the axes of a link at the joint positions `q`, shape (5,); NaN in, NaN out."""
        self._place(q)
        if link not in self._told:
            place = pin.updateFramePlacement(self._model, self._data, self._links[link])
            x, y, z = (self._body @ place.rotation).T.tolist()
            self._told[link] = (x[0], x[1], x[2]), (y[0], y[1], y[2]), (z[0], z[1], z[2])
        return self._told[link]

    def roll_axis(self, q: Sequence[float]) -> Vector:
        """Return the axis about which a plus turn of the wrist rolls the tool, at `q` (5,)."""
        self._place(q)
        x, y, z = (self._body @ self._data.oMi[self._wrist].rotation @ self._wrist_axis).tolist()
        return x, y, z

    def _place(self, q: Sequence[float]) -> None:
        at = tuple(q)
        if at != self._at:
            pin.forwardKinematics(self._model, self._data, np.array(at, dtype=np.float64))
            self._at = at
            self._told.clear()
