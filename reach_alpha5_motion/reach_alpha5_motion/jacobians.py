"""How fast the tip moves in each set of coordinates, per rate of axis_e, axis_d, axis_c.

Three sets: the drone's body, the arm's base, and cylinders about the base axis, each with the axes
that inputs and telemetry have there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reach_alpha5_motion.model import ArmModel, FloatArray
from reach_alpha5_motion.singularity import radial_side


def body(model: ArmModel, q: npt.ArrayLike) -> FloatArray:
    """Return d(x forward, y right, z down of `base_link_frd`) / d(E, D, C) [m/rad], (3, 3)."""
    return model.jacobian(q)


def base(model: ArmModel, q: npt.ArrayLike) -> FloatArray:
    """Return d(x, y, z of the arm's base frame) / d(E, D, C) [m/rad], shape (3, 3)."""
    return np.asarray(model.base_rotation.T @ model.jacobian(q), dtype=np.float64)


def cylindrical(model: ArmModel, q: npt.ArrayLike) -> FloatArray:
    """Return d(radius, depth, azimuth) / d(E, D, C), shape (3, 3) [m/rad, m/rad, 1].

    The axes of cylindrical input: out from the base axis, down along it, clockwise as seen from
    its plus end. Shoulder and elbow keep the tip in a plane that the base turns one to one: the
    azimuth needs no radius and is singular nowhere. On the axis, where the radius has a kink, out
    is to the front.
    """
    posture = model.posture(q)
    (out_d, out_c), (up_d, up_c) = posture.planar
    side = radial_side(posture.reach)
    return np.array(
        [[0.0, side * out_d, side * out_c], [0.0, -up_d, -up_c], [-1.0, 0.0, 0.0]],
    )
