"""From a place of the tip to the base, shoulder and elbow angles that put it there: a closed form.

Seen from the base axis the arm is two links in a plane: an upper arm from the shoulder to the
elbow and a forearm from the elbow to the tip. The base turns the plane to the point, with its
front or with its back; in the plane the law of cosines gives the elbow, over or under the line
from the shoulder to the tip. That is all: at most four branches.

All lengths and angles are measured on the model: the centre of the circle on which one joint moves
the tip is half way between two places half a turn apart. No number of the chain is repeated here.
"""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reach_alpha5_motion.model import ArmModel, B, C, D, E, FloatArray, JointLimits

_ROUNDING = 1e-9
"""m and rad: what counts as rounding at the end of the reach, on the base axis, and at a limit."""

Angles = tuple[float, float, float]
"""axis_e, axis_d, axis_c [rad]."""


class Facing(enum.Enum):
    """Which side of the arm's plane is turned to the tip."""

    FRONT = 1
    BACK = -1


class Elbow(enum.Enum):
    """On which side of the line from the shoulder to the tip the elbow is.

    OVER is the upper side while the tip is to the side of the shoulder that faces it. On each
    facing the elbow changes nowhere but at a straight or a folded arm: a motion that keeps both is
    smooth.
    """

    OVER = 1
    UNDER = -1


@dataclass(frozen=True, slots=True)
class Solution:
    """One way to have the tip at a point, whatever the limits of the joints."""

    facing: Facing
    elbow: Elbow
    angles: Angles
    """Each in (-pi, pi]; every whole turn more or less is the same posture."""


@dataclass(frozen=True, slots=True)
class _Planar:
    """The arm in the plane of its base axis: coordinates out to the front and up [m]."""

    shoulder: tuple[float, float]
    upper_arm: float
    """From the shoulder to the elbow [m]."""
    forearm: float
    """From the elbow to the tip [m]."""
    turn_d: float
    """+1 where axis_d turns from front to up, else -1; axis_c alike."""
    turn_c: float
    shoulder_zero: float
    """Direction of the upper arm at axis_d = 0 [rad from front to up]."""
    elbow_zero: float
    """Angle from the upper arm to the forearm at axis_c = 0 [rad]."""


class InverseKinematics:
    """The closed-form inverse of one arm. Points are in `base_link_frd` [m]."""

    def __init__(self, model: ArmModel) -> None:
        """Measure the arm."""
        self._limits = model.limits
        origin = np.zeros(5)
        self._centre: FloatArray = (model.tip(origin) + model.tip(_turned(origin, E))) / 2.0
        posture = model.posture(origin)
        self._front = np.array(posture.front)
        self._up = np.array(posture.up)
        # With up, front and side are right-handed: axis_e turns plus from front to side.
        self._side = np.cross(self._up, self._front)
        self._planar = self._measure(model)

    def outside(self, point: npt.ArrayLike) -> float:
        """Return how far a point, shape (3,), is from what the tip can reach [m].

        Exact, for an arm without joint limits. Below zero: reached, that deep inside.
        """
        radius, height, _ = self._cylindrical(point)
        return min(self._beyond(radius, height), self._beyond(-radius, height))

    def solutions(self, point: npt.ArrayLike, base: float = 0.0) -> tuple[Solution, ...]:
        """Return every branch that has the tip at a point, shape (3,); none: out of reach.

        Front before back, over before under. On the base axis, where every base angle is right,
        that is `base` [rad], and front and back are one.
        """
        radius, height, azimuth = self._cylindrical(point)
        if radius <= _ROUNDING:
            turns = [(Facing.FRONT, base)]
        else:
            turns = [(Facing.FRONT, azimuth), (Facing.BACK, azimuth + math.pi)]
        return tuple(
            Solution(facing, elbow, (_wrapped(turn), *angles))
            for facing, turn in turns
            for elbow, angles in self._planar_solutions(facing, facing.value * radius, height)
        )

    def branch(self, q: Sequence[float]) -> tuple[Facing, Elbow]:
        """Return the branch of a posture: its joints (3,) or more, [rad]."""
        planar = self._planar
        bend = planar.elbow_zero + planar.turn_c * q[C]
        out = (
            planar.shoulder[0]
            + planar.upper_arm * math.cos(planar.shoulder_zero + planar.turn_d * q[D])
            + planar.forearm * math.cos(planar.shoulder_zero + planar.turn_d * q[D] + bend)
        )
        facing = Facing.FRONT if out >= 0.0 else Facing.BACK
        return facing, Elbow.OVER if facing.value * math.sin(bend) <= 0.0 else Elbow.UNDER

    def within(self, solution: Solution, limits: JointLimits | None = None) -> Iterator[Angles]:
        """Yield the joint angles of a solution that are within the limits, lowest first.

        A joint with more than a turn of room, as axis_e, may have two angles for one posture.

        Args:
            solution: a branch.
            limits: as reported by the arm; they only narrow those of the description.
        """
        narrowed = self._limits.within(limits)
        yield from itertools.product(
            *(
                tuple(_equivalents(angle, low, high))
                for angle, low, high in zip(
                    solution.angles,
                    narrowed.lower[:B].tolist(),
                    narrowed.upper[:B].tolist(),
                    strict=True,
                )
            )
        )

    def nearest(
        self, point: npt.ArrayLike, q: Sequence[float], limits: JointLimits | None = None
    ) -> tuple[Solution, Angles] | None:
        """Return the way to have the tip at a point that takes the least time from a posture.

        The time is that of the joint that takes longest at its speed limit.

        Args:
            point: shape (3,).
            q: the posture, its joints (3,) or more [rad].
            limits: as reported by the arm; they only narrow those of the description.

        Returns:
            The branch and the joint angles; None: out of reach or out of the limits.
        """
        velocity: list[float] = self._limits.within(limits).velocity[:B].tolist()

        def time_to(way: tuple[Solution, Angles]) -> float:
            return max(
                abs(angle - now) / fastest
                for angle, now, fastest in zip(way[1], q, velocity, strict=False)
            )

        ways = [
            (solution, angles)
            for solution in self.solutions(point, q[E])
            for angles in self.within(solution, limits)
        ]
        return min(ways, key=time_to, default=None)

    def _cylindrical(self, point: npt.ArrayLike) -> tuple[float, float, float]:
        """Return the radius and the height of a point [m], and its azimuth [rad].

        The azimuth is the angle of axis_e that has the front of the plane there.
        """
        offset = np.asarray(point, dtype=np.float64) - self._centre
        x, y = float(offset @ self._front), float(offset @ self._side)
        return math.hypot(x, y), float(offset @ self._up), math.atan2(y, x)

    def _beyond(self, out: float, height: float) -> float:
        """Return how far a place in the plane is outside the ring of the two links [m]."""
        planar = self._planar
        distance = math.hypot(out - planar.shoulder[0], height - planar.shoulder[1])
        return max(
            distance - (planar.upper_arm + planar.forearm),
            abs(planar.upper_arm - planar.forearm) - distance,
        )

    def _planar_solutions(
        self, facing: Facing, out: float, height: float
    ) -> Iterator[tuple[Elbow, tuple[float, float]]]:
        """Yield axis_d and axis_c [rad] of each elbow for a place in the plane [m]."""
        if self._beyond(out, height) > _ROUNDING:
            return
        planar = self._planar
        x, y = out - planar.shoulder[0], height - planar.shoulder[1]
        one, two = planar.upper_arm, planar.forearm
        cosine = (x * x + y * y - one * one - two * two) / (2.0 * one * two)
        size = math.acos(min(max(cosine, -1.0), 1.0))
        for elbow in Elbow:
            bend = -facing.value * elbow.value * size
            direction = math.atan2(y, x) - math.atan2(
                two * math.sin(bend), one + two * math.cos(bend)
            )
            yield (
                elbow,
                (
                    _wrapped(planar.turn_d * (direction - planar.shoulder_zero)),
                    _wrapped(planar.turn_c * (bend - planar.elbow_zero)),
                ),
            )

    def _measure(self, model: ArmModel) -> _Planar:
        """Measure the two links at the origin of all joints."""
        origin = np.zeros(5)

        def place(q: FloatArray) -> complex:
            offset = model.tip(q) - self._centre
            return complex(offset @ self._front, offset @ self._up)

        tip = place(origin)
        shoulder = (tip + place(_turned(origin, D))) / 2.0
        elbow = (tip + place(_turned(origin, C))) / 2.0
        upper_arm, forearm = elbow - shoulder, tip - elbow
        quarter_d = (place(_turned(origin, D, 0.5)) - shoulder) / (tip - shoulder)
        quarter_c = (place(_turned(origin, C, 0.5)) - elbow) / forearm
        return _Planar(
            (shoulder.real, shoulder.imag),
            abs(upper_arm),
            abs(forearm),
            math.copysign(1.0, quarter_d.imag),
            math.copysign(1.0, quarter_c.imag),
            math.atan2(upper_arm.imag, upper_arm.real),
            math.atan2((forearm / upper_arm).imag, (forearm / upper_arm).real),
        )


def _turned(q: FloatArray, joint: int, half_turns: float = 1.0) -> FloatArray:
    """Return a posture with one joint turned on."""
    turned: FloatArray = q.copy()
    turned[joint] += half_turns * math.pi
    return turned


def _wrapped(angle: float) -> float:
    """Return an angle in (-pi, pi]."""
    return math.pi - (math.pi - angle) % math.tau


def _equivalents(angle: float, low: float, high: float) -> Iterator[float]:
    """Yield the angles between the limits that are whole turns from `angle`, lowest first."""
    turned = angle + math.tau * math.ceil((low - _ROUNDING - angle) / math.tau)
    while turned <= high + _ROUNDING:
        yield min(max(turned, low), high)
        turned += math.tau
