"""How near the arm is to itself, to the drone and to what is configured, and what follows from it.

Signed distances, nearest points and normals come from coal. With the normal n from a body A to a
body B and its line of action through the nearest points, the distance changes as

    d' = n · (v_B - v_A) = - (w · (J_A - J_B)) q',    w = (n, p x n)

where J_A, J_B are the world Jacobians of the joints that carry the bodies: what moves both
of them alike drops out. The arm may come nearer at

    gain x (distance - inner), never below 0

as soon as a pair is nearer than its outer distance. Nothing bounds motion that makes the distance
larger.

Where two bodies overlap, the distance is below zero and the normal still leads out. No motion
comes there: an obstacle was put where the arm is. The ways out of several overlaps can contradict
each other, so only the deepest one may not deepen.

Few pairs are near at a time. No point of a body moves faster than its mobility times the joint
rates, so that a distance measured once bounds the distance from below until the joints have moved
that far: only pairs that may be near are measured again. What is told is the same as if all were.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import coal
import numpy as np
import pinocchio as pin

from reach_alpha5_motion.bodies import ArmBodies, Body
from reach_alpha5_motion.footprint import Footprint, Nearest
from reach_alpha5_motion.keep_out import ApproachLimit
from reach_alpha5_motion.model import FloatArray
from reach_alpha5_motion.obstacles import Scene
from reach_alpha5_motion.pairing import Pair, pairs, placed
from reach_alpha5_motion.stopping import Stopping


class CollisionConfigError(ValueError):
    """A configuration that keeps nothing apart; one problem a line."""


@dataclass(frozen=True, slots=True)
class CollisionConfig:
    """Distances at which the arm slows and stops. Every default is ours.

    Raises:
        CollisionConfigError: a number is out of its range.
    """

    inner: float = 0.010
    """m: nothing comes nearer to an obstacle or to the drone than this."""
    outer: float = 0.060
    """m: nearer than this, the approach is slowed."""
    self_inner: float = 0.003
    """m: no part of the arm comes nearer to another than this. The description's shapes are up to
    1 mm larger than the housings, and the stowed arm has 7.7 mm between them."""
    self_outer: float = 0.025
    """m: nearer than this, the approach of the arm to itself is slowed."""
    brake_gain: float = 4.0
    """1/s: speed of approach per distance left to the inner one; as that of position limits."""

    def __post_init__(self) -> None:
        """Check every number."""
        problems = [
            f"{inner} and {outer} are {getattr(self, inner):g} and {getattr(self, outer):g}; they "
            f"must be above 0, the second the larger one and at most 1 m"
            for inner, outer in (("inner", "outer"), ("self_inner", "self_outer"))
            if not 0.0 < getattr(self, inner) < getattr(self, outer) <= 1.0
        ]
        if not 0.0 < self.brake_gain <= 10.0:
            problems.append(
                f"brake_gain is {self.brake_gain:g}; it must be above 0 and at most 10 1/s"
            )
        if problems:
            raise CollisionConfigError("\n".join(problems))


_TOLERANCE = 1e-8
"""m: of distances between bodies that are apart, so that the normals are good to 1e-4."""

_ROCKING = 0.002
"""m before the inner distance: from here on all places where two bodies will touch are bounded."""

_SANE = 1e3
"""m: the library gives a distance beyond this where it finds none."""


def _held(pair: str) -> tuple[ApproachLimit, ...]:
    """Return bounds in which no joint may move at all: what is not known is not risked."""
    return tuple(
        ApproachLimit((row[0], row[1], row[2], row[3], row[4]), 0.0, math.nan, pair)
        for row in np.concatenate((np.eye(5), -np.eye(5))).tolist()
    )


class Collision:
    """A `KeepOut` of bodies. Not thread-safe (pinocchio works in place): one a thread.

    A scene that changes is a new `Collision`: nothing is ever half changed.
    """

    def __init__(
        self,
        arm: ArmBodies,
        scene: Scene,
        config: CollisionConfig,
        meshes: Mapping[str, bytes] | None = None,
        stopping: Stopping | None = None,
    ) -> None:
        """Put the obstacles of a scene beside the arm.

        Args:
            arm: the bodies of the description.
            scene: what is configured.
            config: the distances.
            meshes: the content of each of `scene.mesh_files`.
            stopping: where an obstacle reaches so far out, or moves so fast with the arm, that it
                needs more room to stop than there is from the outer to the inner distance, it is
                slowed from farther away.

        Raises:
            ObstacleError: an obstacle does not fit to the description, or its mesh is missing or
                broken; one problem a line.
        """
        self._arm = arm
        self._gain = config.brake_gain
        obstacles = placed(arm, scene, meshes or {})
        bodies = [*arm.bodies, *obstacles]
        self._apart = apart = tuple(pairs(arm, obstacles, scene))
        self._names = [f"{bodies[pair.first].name} {bodies[pair.second].name}" for pair in apart]
        margins = {
            True: (config.self_inner, config.self_outer),
            False: (config.inner, config.outer),
        }
        self._margins = [margins[pair.within_arm] for pair in apart]
        sizes = np.array(self._margins).reshape(-1, 2)
        self._inner, self._outer = sizes.T.copy()
        self._geometry = pin.GeometryModel()
        for i, body in enumerate(bodies):
            self._geometry.addGeometryObject(
                pin.GeometryObject(f"{i} {body.name}", body.joint, body.placement, body.shape)
            )
        for pair in apart:
            self._geometry.addCollisionPair(pin.CollisionPair(pair.first, pair.second))
        self._footprints = [
            Footprint(bodies[pair.first].shape, bodies[pair.second].shape, _TOLERANCE)
            for pair in apart
        ]
        self._relative, self._mobility = _motion(arm, bodies, apart)
        if stopping is not None:
            self._widen(stopping)
        self._data = arm.model.createData()
        self._places = self._geometry.createData()
        # Requests of our own: those of pinocchio begin from the last result, so that the last
        # digits would depend on the past.
        request = coal.DistanceRequest()
        request.gjk_tolerance = _TOLERANCE
        for i in range(len(apart)):
            self._places.distanceRequests[i] = request
        self._least: FloatArray = np.full(len(apart), -math.inf)
        """m: what each distance cannot be below of at `_least_at`."""
        self._least_at: FloatArray = np.zeros(5)

    def _widen(self, stopping: Stopping) -> None:
        """Give every pair with an obstacle the room that it needs to stop in."""
        for i, (inner, outer) in enumerate(self._margins):
            if not self._apart[i].within_arm:
                way = stopping.time * stopping.speed(self._mobility[i].tolist())
                self._margins[i] = inner, max(outer, inner + way)
        self._outer = np.array([outer for _, outer in self._margins])

    def constraints(self, q: Sequence[float]) -> tuple[ApproachLimit, ...]:
        """Return the bounds that count at the joint positions `q`, chain order, five [rad, m].

        Pairs that are not nearer than their outer distance are left out. Where a position is not
        known (NaN) nothing can be told, and every joint is held.
        """
        if not all(map(math.isfinite, q)):
            return _held("unknown posture")
        positions = np.array(q, dtype=np.float64)
        self._least = least = self._at_least(positions)
        self._least_at = positions
        near = (least < self._outer).nonzero()[0]
        if not near.size:
            return ()
        self._place(positions)
        distances: list[float] = []
        found: list[tuple[int, Nearest]] = []
        touching = False
        geometry, places, margins = self._geometry, self._places, self._margins
        for pair in near.tolist():
            result = pin.computeDistance(geometry, places, pair)
            distance = result.min_distance
            if not -_SANE < distance < _SANE:
                return _held(self._names[pair])
            distances.append(distance)
            inner, outer = margins[pair]
            if distance < outer:
                found.append((pair, (distance, result.normal, result.getNearestPoint1())))
                touching = touching or distance < inner + _ROCKING
        least[near] = distances
        further = self._further(found) if touching else []
        if min(distances) < 0.0:
            deepest = min(found, key=lambda place: place[1][0])
            found = [place for place in found if place[1][0] >= 0.0 or place is deepest]
        return self._limits([*found, *further])

    def clearance(self, q: Sequence[float]) -> tuple[float, str]:
        """Return the distance [m] and the name of the pair that most holds the arm back at `q`.

        That is the one that has the least part of the way from its outer to its inner distance
        left. NaN: nothing is watched, a position is not known, or coal finds no distance.
        """
        positions = np.array(q, dtype=np.float64)
        if not self._names or not np.isfinite(positions).all():
            return math.nan, ""
        self._least, self._least_at = self._at_least(positions), positions
        least = (self._least - self._inner) / (self._outer - self._inner)
        self._place(positions)
        best, nearest = math.inf, 0
        for pair in np.argsort(least, kind="stable").tolist():
            if least[pair] >= best:
                break
            distance = pin.computeDistance(self._geometry, self._places, pair).min_distance
            if not abs(distance) < _SANE:
                return math.nan, self._names[pair]
            self._least[pair] = distance
            left = (distance - self._inner[pair]) / (self._outer[pair] - self._inner[pair])
            if (left, pair) < (best, nearest):
                best, nearest = left, pair
        return float(self._least[nearest]), self._names[nearest]

    def _further(self, found: Sequence[tuple[int, Nearest]]) -> list[tuple[int, Nearest]]:
        """Return where else the bodies will touch that are about to, by the names of the pairs."""
        closest: dict[str, tuple[int, Nearest]] = {}
        for place in found:
            name = self._names[place[0]]
            if name not in closest or place[1][0] < closest[name][1][0]:
                closest[name] = place
        further = []
        for pair, nearest in closest.values():
            inner, _ = self._margins[pair]
            if inner / 2.0 < nearest[0] < inner + _ROCKING:
                apart = self._apart[pair]
                first, second = self._places.oMg[apart.first], self._places.oMg[apart.second]
                others = self._footprints[pair].others(first, second, nearest)
                further += [(pair, other) for other in others]
        return further

    def _limits(self, found: Sequence[tuple[int, Nearest]]) -> tuple[ApproachLimit, ...]:
        """Return the bound for each place where two bodies are near."""
        if not found:
            return ()
        wrenches = []
        for _, (_, normal, point) in found:
            (x, y, z), (a, b, c) = normal.tolist(), point.tolist()
            wrenches.append((x, y, z, b * z - c * y, c * x - a * z, a * y - b * x))
        carried = self._relative.take([pair for pair, _ in found], axis=0)
        rows = (np.array(wrenches) @ self._data.J * carried @ self._arm.coupling).tolist()
        return tuple(
            [
                ApproachLimit(
                    (e, d, c, b, a),
                    self._gain * max(distance - self._margins[pair][0], 0.0),
                    distance,
                    self._names[pair],
                )
                for (pair, (distance, _, _)), (e, d, c, b, a) in zip(found, rows, strict=True)
            ]
        )

    def _place(self, positions: FloatArray) -> None:
        """Put all bodies where the joints have them, and get the joints' world Jacobian."""
        pin.computeJointJacobians(self._arm.model, self._data, self._arm.positions(positions))
        pin.updateGeometryPlacements(self._arm.model, self._data, self._geometry, self._places)

    def _at_least(self, positions: FloatArray) -> FloatArray:
        """Return what each pair's distance [m] cannot be below of, from when it was measured."""
        return np.asarray(self._least - self._mobility @ np.abs(positions - self._least_at))


def _motion(
    arm: ArmBodies, bodies: Sequence[Body], apart: Sequence[Pair]
) -> tuple[FloatArray, FloatArray]:
    """Return how the joints move the bodies of each pair against each other.

    Returns:
        +1 where a velocity of the model moves the first body alone, -1 where it moves the second
        alone, else 0, shape (pairs, nv); and a bound on the change of the distance by each of the
        five joints [m/rad; m/m], shape (pairs, 5).
    """
    carried = arm.supports[[body.joint for body in bodies]]
    mobility = np.array([arm.mobility(body) for body in bodies]).reshape(-1, arm.model.nv)
    first = np.array([pair.first for pair in apart], dtype=np.intp)
    second = np.array([pair.second for pair in apart], dtype=np.intp)
    relative = carried[first] - carried[second]
    widest = np.where(relative > 0.0, mobility[first], 0.0)
    widest += np.where(relative < 0.0, mobility[second], 0.0)
    return relative, widest @ np.abs(arm.coupling)
