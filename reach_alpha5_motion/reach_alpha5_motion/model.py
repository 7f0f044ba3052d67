"""The arm as the robot description tells it: joints, limits, and where its tip is.

All numbers come from the URDF through pinocchio; none is repeated here. What is required of the
chain is its layout: a base that turns about an axis, and a shoulder and an elbow that move the tip
in one plane through that axis. A description without that layout is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from reach_alpha5_motion.frames import DescriptionFrames, links_moved_by
from reach_alpha5_motion.frames import Vector as Vector

FloatArray = npt.NDArray[np.float64]

AXES = ("axis_e", "axis_d", "axis_c", "axis_b", "axis_a")
"""Joint names without prefix, in chain order: base, shoulder, elbow, wrist, jaws."""

E, D, C, B, A = range(5)
"""Where each joint stands in every array of five."""

BODY_FRAME = "base_link_frd"
ARM_BASE = "arm_base"
TOOL = "tool"

_LAYOUT_TOLERANCE = 1e-6
"""m, and m/rad: how far the description may be from the required layout."""


class ModelError(ValueError):
    """A robot description that this library cannot move; says what is missing or wrong."""


@dataclass(frozen=True, slots=True)
class JointLimits:
    """Limits of the five joints: E, D, C, B in rad and rad/s, A in m and m/s; each shape (5,).

    An infinite entry is no limit, a NaN entry is a limit that is not known (yet).
    """

    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray

    def within(self, other: JointLimits | None) -> JointLimits:
        """Return the narrower of both, joint by joint; what is not known does not narrow."""
        if other is None:
            return self
        return JointLimits(
            np.fmax(self.lower, other.lower),
            np.fmin(self.upper, other.upper),
            np.fmin(self.velocity, other.velocity),
        )


class ArmPosture(NamedTuple):
    """How the three joints that carry the tip move it, in the basis of the arm's plane.

    The basis is front, across, up: unit vectors in `base_link_frd`. Up is along the base axis to
    its plus end. Front is in the arm's plane, away from that axis on the side where the tip
    usually is; it is fixed to the arm, so the tip can be behind the axis. Across is where a tip in
    front goes as axis_e turns plus.
    """

    front: Vector
    across: Vector
    up: Vector
    reach: float
    """Signed distance of the tip from the base axis, along front [m]."""
    planar: tuple[tuple[float, float], tuple[float, float]]
    """d(front, up) / d(axis_d, axis_c) [m/rad], rows front and up."""
    tip: Vector
    """Origin of the tool frame in `base_link_frd` [m]."""

    def in_basis(self, vector: Vector) -> Vector:
        """Return a vector of `base_link_frd` as front, across, up."""
        return dot(self.front, vector), dot(self.across, vector), dot(self.up, vector)

    def in_body(self, front: float, across: float, up: float) -> Vector:
        """Return a velocity in the basis as one in `base_link_frd`."""
        f, a, u = self.front, self.across, self.up
        return (
            f[0] * front + a[0] * across + u[0] * up,
            f[1] * front + a[1] * across + u[1] * up,
            f[2] * front + a[2] * across + u[2] * up,
        )

    def planar_rates(self, front: float, up: float) -> tuple[float, float]:
        """Return the rates of axis_d, axis_c [rad/s] that move the tip in its plane [m/s]."""
        (a, b), (c, d) = self.planar
        determinant = a * d - b * c
        return (d * front - b * up) / determinant, (a * up - c * front) / determinant


@dataclass(frozen=True, slots=True)
class ElbowSingularity:
    """An angle of axis_c at which the arm is straight or folded: the tip cannot move along it."""

    angle: float
    """Angle of axis_c [rad]."""
    roomier: int
    """-1 or +1: the side of it on which axis_c has the longer way to its limit."""


class ArmModel:
    """Kinematics of one arm. Not thread-safe (pinocchio works in place): one model a thread."""

    def __init__(self, five: Any, prefix: str, links: frozenset[str]) -> None:
        """Take a pinocchio model of just the five joints; use `from_urdf`.

        `links` are those that no other joint moves.
        """
        self.frames = DescriptionFrames(five, links, BODY_FRAME, five.names[1 + B])
        """The axes of all links that only these five joints move."""
        self.joint_names: tuple[str, ...] = tuple(five.names[1:])
        _check_wrist(five, prefix)
        # Wrist and jaws do not move the tool: without them it has a place while they are unknown.
        model = pin.buildReducedModel(five, [1 + B, 1 + A], pin.neutral(five))
        self._model = model
        self._data = model.createData()
        self._tool = model.getFrameId(prefix + TOOL)
        body, base = (
            model.frames[model.getFrameId(name)] for name in (BODY_FRAME, prefix + ARM_BASE)
        )
        for frame in (body, base):
            if frame.parentJoint != 0:
                raise ModelError(f"link {frame.name} must not move with any joint")
        from_root = body.placement.inverse()
        mount = from_root * base.placement
        self.base_rotation: FloatArray = np.array(mount.rotation)
        """Rotation of the arm's base frame in `base_link_frd`, shape (3, 3)."""
        self.base_position: FloatArray = np.array(mount.translation)
        """Origin of the arm's base frame in `base_link_frd` [m], shape (3,)."""
        self.limits = JointLimits(
            np.array(five.lowerPositionLimit),
            np.array(five.upperPositionLimit),
            np.array(five.velocityLimit),
        )
        # From here on the root of the model is the body: what pinocchio tells is in its axes.
        model.jointPlacements[1] = from_root * model.jointPlacements[1]
        self._check_limits()
        middle = (self.limits.lower + self.limits.upper) / 2.0
        self._front = 1.0
        self._front = math.copysign(1.0, self.posture(middle).reach)
        self._check_layout()
        self.elbow_singularities = self._find_elbow_singularities(middle)

    @classmethod
    def from_urdf(cls, xml: str, prefix: str = "") -> ArmModel:
        """Build from the text of an expanded URDF; `prefix` is that of the arm's joints and links.

        Every other joint (fingers, a second arm) is locked at zero.

        Raises:
            ModelError: the text is no URDF, a joint or link is missing, or the chain is another.
        """
        try:
            whole = pin.buildModelFromXML(xml)
        except (ValueError, RuntimeError) as error:
            raise ModelError(f"the robot description is not a valid URDF: {error}") from error
        names = [prefix + axis for axis in AXES]
        links = [BODY_FRAME, prefix + ARM_BASE, prefix + TOOL]
        missing = [f"joint {name}" for name in names if not whole.existJointName(name)]
        missing += [f"link {name}" for name in links if not whole.existBodyName(name)]
        if missing:
            raise ModelError(
                f"the robot description lacks {', '.join(missing)}; "
                f"is the prefix {prefix!r} right?"
            )
        for name in names:
            if whole.joints[whole.getJointId(name)].nq != 1:
                raise ModelError(f"joint {name} must be revolute or prismatic, with limits")
        others = [i for i in range(1, whole.njoints) if whole.names[i] not in names]
        five = pin.buildReducedModel(whole, others, pin.neutral(whole))
        if list(five.names[1:]) != names or list(five.parents[1:]) != list(range(5)):
            raise ModelError(f"{', '.join(names)} must follow each other in one chain")
        return cls(five, prefix, links_moved_by(whole, names))

    def tip(self, q: npt.ArrayLike) -> FloatArray:
        """Return the origin of the tool frame in `base_link_frd` [m], shape (3,).

        Like all kinematics here it takes all joints, shape (5,), and needs only the first three.
        """
        pin.forwardKinematics(self._model, self._data, np.asarray(q, dtype=np.float64)[:B])
        place = pin.updateFramePlacement(self._model, self._data, self._tool)
        return np.array(place.translation)

    def jacobian(self, q: npt.ArrayLike) -> FloatArray:
        """Return d(tip) / d(E, D, C) in `base_link_frd` [m/rad], shape (3, 3), at `q` (5,)."""
        return self._tool_jacobian(q)[:3]

    def posture(self, q: npt.ArrayLike) -> ArmPosture:
        """Split the Jacobian at `q` (5,) into the turn of the base and the motion in the plane."""
        (*by_e, up_x, up_y, up_z), (*by_d, across_x, across_y, across_z), (*by_c, _, _, _) = (
            self._tool_jacobian(q).T.tolist()
        )
        sign = self._front
        up, across = (up_x, up_y, up_z), (sign * across_x, sign * across_y, sign * across_z)
        place = pin.updateFramePlacement(self._model, self._data, self._tool)
        x, y, z = place.translation.tolist()
        front = (
            across[1] * up[2] - across[2] * up[1],
            across[2] * up[0] - across[0] * up[2],
            across[0] * up[1] - across[1] * up[0],
        )
        return ArmPosture(
            front,
            across,
            up,
            dot(across, by_e),
            ((dot(front, by_d), dot(front, by_c)), (dot(up, by_d), dot(up, by_c))),
            (x, y, z),
        )

    def _tool_jacobian(self, q: npt.ArrayLike) -> FloatArray:
        """Return the Jacobian of the tool in `base_link_frd`, shape (6, 3): linear, angular."""
        jacobian = pin.computeFrameJacobian(
            self._model,
            self._data,
            np.asarray(q, dtype=np.float64)[:B],
            self._tool,
            pin.LOCAL_WORLD_ALIGNED,
        )
        return np.asarray(jacobian, dtype=np.float64)

    def _check_limits(self) -> None:
        limits = self.limits
        for i, name in enumerate(self.joint_names):
            if not (
                math.isfinite(limits.lower[i])
                and math.isfinite(limits.upper[i])
                and limits.lower[i] < limits.upper[i]
                and limits.velocity[i] > 0.0
            ):
                raise ModelError(
                    f"joint {name} needs finite limits, lower < upper and velocity > 0; the robot "
                    f"description says {limits.lower[i]:g}..{limits.upper[i]:g}, "
                    f"{limits.velocity[i]:g}"
                )

    def _check_layout(self) -> None:
        """Refuse a chain that is not a turn of the base and a plane through its axis."""
        low, span = self.limits.lower, self.limits.upper - self.limits.lower
        for share in (0.2, 0.5, 0.9):
            posture = self.posture(low + share * span)
            basis = np.column_stack((posture.front, posture.across, posture.up))
            linear = basis.T @ self.jacobian(low + share * span)
            (a, b), (c, d) = posture.planar
            expected = np.array([[0.0, a, b], [posture.reach, 0.0, 0.0], [0.0, c, d]])
            wrong = max(
                np.abs(linear - expected).max(),
                np.abs(basis.T @ basis - np.eye(3)).max(),
            )
            if wrong > _LAYOUT_TOLERANCE:
                raise ModelError(
                    "axis_d and axis_c must move the tool in one plane through the axis of "
                    "axis_e; check the chain in the robot description"
                )

    def _find_elbow_singularities(self, q: FloatArray) -> tuple[ElbowSingularity, ...]:
        """Find where the planar Jacobian is singular, from a quarter turn outside axis_c's limits.

        Its determinant is the product of upper arm and forearm times the sine of the angle between
        them, and axis_c turns that angle one to one: two values a quarter turn apart give its
        zeros.
        """

        def determinant(angle: float) -> float:
            bent = q.copy()
            bent[C] = angle
            (a, b), (c, d) = self.posture(bent).planar
            return a * d - b * c

        low, high = float(self.limits.lower[C]), float(self.limits.upper[C])
        zero = low - math.atan2(determinant(low), determinant(low + math.pi / 2.0))
        angles = [zero + k * math.pi for k in range(-2, math.ceil((high - low) / math.pi) + 3)]
        return tuple(
            ElbowSingularity(angle, -1 if angle - low >= high - angle else 1)
            for angle in angles
            if low - math.pi / 2.0 <= angle <= high + math.pi / 2.0
        )


def _check_wrist(five: Any, prefix: str) -> None:
    """Refuse a chain whose wrist or jaws move the tool."""
    jacobian = pin.computeFrameJacobian(
        five,
        five.createData(),
        pin.neutral(five),
        five.getFrameId(prefix + TOOL),
        pin.LOCAL_WORLD_ALIGNED,
    )
    if np.abs(jacobian[:3, B:]).max() > _LAYOUT_TOLERANCE:
        raise ModelError(
            f"link {prefix}{TOOL} must lie on the axis of {prefix}axis_b and not move with the "
            "jaws; check the chain in the robot description"
        )


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the inner product of two vectors of three."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
