"""Rotations and vectors, as few as the scene needs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from reach_alpha5_view.scene.shapes import Point, Quaternion


def finite(values: Sequence[float]) -> bool:
    """Whether every number is one."""
    return all(map(math.isfinite, values))


def from_rpy(roll: float, pitch: float, yaw: float) -> Quaternion:
    """Return the rotation of an `rpy` of the URDF [rad]: about fixed x, then y, then z."""
    x, y, z, w = pin.Quaternion(pin.rpy.rpyToMatrix(roll, pitch, yaw)).coeffs().tolist()
    return x, y, z, w


def turning_z_to(axis: Point) -> Quaternion:
    """Return the rotation that turns z into a direction, which need not have unit length."""
    z = np.array((0.0, 0.0, 1.0))
    x, y, z, w = pin.Quaternion.FromTwoVectors(z, np.array(axis)).coeffs().tolist()
    return x, y, z, w


def rotated(rotation: Quaternion, vector: Point) -> Point:
    """Return a vector, turned."""
    x, y, z, w = rotation
    turned = pin.Quaternion(w, x, y, z).normalized().matrix() @ np.array(vector)
    return point(turned)


def moved(start: Point, direction: Sequence[float], length: float) -> Point:
    """Return where `length` times a direction leads from a point."""
    x, y, z = (a + length * b for a, b in zip(start, direction, strict=True))
    return x, y, z


def point(values: Sequence[float]) -> Point:
    """Return three numbers as a point."""
    x, y, z = map(float, values)
    return x, y, z
