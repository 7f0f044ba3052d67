"""Random worlds for the proofs of motion: a mount, things to keep clear of, an arm behind a line.

What judges is here too, and shares nothing with what it judges but the texts: true distances are
measured by pinocchio and coal on the whole description, every pair at every posture.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from functools import cache
from xml.etree import ElementTree

import coal
import numpy as np
import pinocchio as pin
from collision_rig import texts

from reach_alpha5_motion.bodies import ArmBodies
from reach_alpha5_motion.collision import Collision, CollisionConfig
from reach_alpha5_motion.model import ArmModel
from reach_alpha5_motion.obstacles import (
    Box,
    Cylinder,
    Mesh,
    Obstacle,
    Plane,
    Scene,
    Sphere,
    payload,
)

MOUNTS = ((0.0, 0.0, 0.0), (math.pi, 0.0, 0.0), (0.4, -0.7, 1.9), (math.pi / 2.0, 0.0, -2.5))
SENTINEL = "0.125 0.25 0.375"
"""Mount of the text in which other mounts are put: to expand a description takes long."""

ARM_JOINTS = ("axis_e", "axis_d", "axis_c", "axis_b", "axis_a")
HULL_SIZE, HULL_PLACE = (0.46, 0.34, 0.16), (-0.09, 0.0, -0.02)

REACH = np.array([0.7, 0.7, 0.7, 0.7, 8.0])
"""How far a body can come nearer to another by each joint [m/rad, m/m]: more than any does."""

NEAR = 0.005
"""m before the inner distance: what is nearer counts as near."""

PERIOD = 1.0 / 77.0
"""s between two positions of one joint."""
TOLD_AFTER = (0.005, 0.020)
"""s until a position is told of."""
OBEYED_AFTER = (0.004, 0.010)
"""s until rates are obeyed."""
NOISE = np.array([5e-4, 5e-4, 5e-4, 5e-4, 5e-7])
"""Standard deviation of a position [rad, m]: that of a poor encoder."""


def description(mount: tuple[float, ...], hull: bool) -> tuple[str, str]:
    """URDF and SRDF; with a hull, base_link has a collision shape, which link_e may touch."""
    urdf, srdf = texts(SENTINEL)
    assert urdf.count(SENTINEL) == 1
    urdf = urdf.replace(SENTINEL, " ".join(map(repr, mount)))
    if hull:
        size, place = (" ".join(map(str, each)) for each in (HULL_SIZE, HULL_PLACE))
        shape = f'<collision><origin xyz="{place}"/><geometry><box size="{size}"/></geometry>'
        urdf = urdf.replace(
            '<link name="base_link"/>', f'<link name="base_link">{shape}</collision></link>'
        )
        touches = '<disable_collisions link1="base_link" link2="link_e" reason="Adjacent"/>'
        srdf = srdf.replace("</robot>", f"{touches}</robot>")
        assert "<collision><origin" in urdf
        assert touches in srdf
    return urdf, srdf


@cache
def wedge() -> tuple[bytes, np.ndarray]:
    """A solid of six corners [mm] as an ASCII STL file, and its triangles, (8, 3, 3)."""
    corners = np.array(
        [[0, 0, 0], [90, 0, 0], [90, 60, 0], [0, 60, 0], [0, 10, 50], [0, 50, 50]], dtype=float
    ) - (30.0, 30.0, 20.0)
    faces = "021 032 045 053 014 352 125 154"
    triangles = corners[np.array([[int(corner) for corner in face] for face in faces.split()])]
    lines = [
        "facet normal 0 0 0\nouter loop\n"
        + "\n".join("vertex " + " ".join(map(repr, point.tolist())) for point in triangle)
        + "\nendloop\nendfacet"
        for triangle in triangles
    ]
    return ("solid wedge\n" + "\n".join(lines) + "\nendsolid\n").encode(), triangles


def random_scene(rng: np.random.Generator, count: int) -> Scene:
    """Obstacles about the arm, on the drone and on the upper arm, and perhaps a payload."""
    obstacles = []
    for number in range(count):
        kind = int(rng.integers(5))
        way = rng.normal(size=3)
        way *= rng.uniform(0.12, 0.45) / np.linalg.norm(way)
        turn = tuple(rng.uniform(-math.pi, math.pi, 3).tolist())
        size = tuple(rng.uniform(0.02, 0.15, 3).tolist())
        shape = (
            Box(size),
            Cylinder(size[0] / 2.0, 3.0 * size[1]),
            Sphere(size[0]),
            Mesh("wedge.stl", 0.001 * float(rng.uniform(0.7, 1.8))),
            Plane(),
        )[kind]
        if isinstance(shape, Plane):  # all that is behind it, seen from the arm
            z = -way / np.linalg.norm(way)
            turn = (0.0, math.acos(z[2]), math.atan2(z[1], z[0]))
        obstacles.append(Obstacle(f"thing{number}", "arm_base", shape, tuple(way.tolist()), turn))
    if rng.random() < 0.2:
        bumper = Obstacle("bumper", "link_d", Sphere(0.03), (0.06, 0.0, -0.07), allow=("link_c",))
        obstacles.append(bumper)
    if rng.random() < 0.4:
        held = (Cylinder(0.015, 0.08), Box((0.1, 0.08, 0.02)), Sphere(0.03))[int(rng.integers(3))]
        obstacles.append(payload("load", held, (0.0, 0.0, 0.01)))
    return Scene(tuple(obstacles))


def _judged(shape: object) -> coal.CollisionGeometry:
    """The shape as the judge has it: of a mesh its own triangles, not a hull."""
    if isinstance(shape, Box):
        return coal.Box(*shape.size)
    if isinstance(shape, Cylinder):
        return coal.Cylinder(shape.radius, shape.length)
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, Plane):
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    assert isinstance(shape, Mesh)
    triangles = wedge()[1] * shape.scale
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(triangles), 3 * len(triangles))
    for triangle in triangles:
        model.addTriangle(*triangle)
    model.endModel()
    return model


class TrueDistances:
    """The distance of every pair of the description and of a scene, straight from coal."""

    def __init__(self, urdf: str, srdf: str, scene: Scene) -> None:
        self._model = pin.buildModelFromXML(urdf)
        self._data = self._model.createData()
        self._geometry = pin.buildGeomFromUrdfString(self._model, urdf, pin.GeometryType.COLLISION)
        links = [
            self._model.frames[each.parentFrame].name for each in self._geometry.geometryObjects
        ]
        own = len(links)
        self._geometry.addAllCollisionPairs()
        pin.removeCollisionPairsFromXML(self._model, self._geometry, srdf)
        for obstacle in scene.obstacles:
            frame = self._model.frames[self._model.getBodyId(obstacle.frame)]
            pose = pin.SE3(pin.rpy.rpyToMatrix(*obstacle.orientation), np.array(obstacle.position))
            number = self._geometry.addGeometryObject(
                pin.GeometryObject(
                    obstacle.name,
                    frame.parentJoint,
                    frame.placement * pose,
                    _judged(obstacle.shape),
                )
            )
            links.append(obstacle.name)
            for other in range(number):
                if (
                    self._geometry.geometryObjects[other].parentJoint != frame.parentJoint
                    and links[other] not in obstacle.allow
                ):
                    self._geometry.addCollisionPair(pin.CollisionPair(other, number))
        pairs = [(pair.first, pair.second) for pair in self._geometry.collisionPairs]
        self.names = [f"{links[one]} {links[other]}" for one, other in pairs]
        self.inner = np.array(
            [
                CONFIG.self_inner
                if max(pair) < own and "base_link" not in (links[pair[0]], links[pair[1]])
                else CONFIG.inner
                for pair in pairs
            ]
        )
        self._places = self._geometry.createData()
        self._rows = [
            (self._model.joints[self._model.getJointId(name)].idx_q, ARM_JOINTS.index(axis), ratio)
            for name, axis, ratio in _driven(urdf)
        ]

        self._known = np.full(len(pairs), -math.inf)
        self._known_at = np.zeros((len(pairs), 5))

    def __call__(self, q: np.ndarray) -> np.ndarray:
        """Distances [m], in the order of `names`, at joint positions (5,)."""
        return self.at_least(q, np.full(len(self.names), math.inf))

    def at_least(self, q: np.ndarray, floors: np.ndarray) -> np.ndarray:
        """Distances [m]; those that must be above their floor are a bound from below of it.

        No point of the arm is farther than `REACH` from any axis, so what was measured once tells
        how near a pair can be by now.
        """
        bound = self._known - np.abs(self._known_at - q) @ REACH
        near = np.flatnonzero(bound <= floors)
        if near.size:
            whole = np.zeros(self._model.nq)
            for place, axis, ratio in self._rows:
                whole[place] = ratio * q[axis]
            pin.updateGeometryPlacements(
                self._model, self._data, self._geometry, self._places, whole
            )
            for pair in near.tolist():
                result = pin.computeDistance(self._geometry, self._places, pair)
                bound[pair] = self._known[pair] = result.min_distance
            self._known_at[near] = q
        return bound


def _driven(urdf: str) -> list[tuple[str, str, float]]:
    """Each joint with the axis that drives it, and how many times as far."""
    driven = [(axis, axis, 1.0) for axis in ARM_JOINTS]
    for joint in ElementTree.fromstring(urdf).iter("joint"):
        mimic = joint.find("mimic")
        if mimic is not None:
            ratio = float(mimic.get("multiplier", "1"))
            driven.append((joint.get("name", ""), mimic.get("joint", ""), ratio))
    return driven


CONFIG = CollisionConfig()


@dataclass(slots=True)
class World:
    """One arm on one mount among some things."""

    arm: ArmModel
    keep_out: Collision
    true: TrueDistances
    scene: Scene
    mount: tuple[float, ...]
    texts: tuple[str, str]

    @classmethod
    def random(cls, rng: np.random.Generator, things: int = 4) -> World:
        """Every fourth mount is an ordinary one; one world in four has no things but the hull."""
        mount = tuple(rng.uniform(-math.pi, math.pi, 3).tolist())
        if rng.random() < 0.25:
            mount = MOUNTS[int(rng.integers(len(MOUNTS)))]
        both = description(mount, bool(rng.random() < 0.4))
        many = int(rng.integers(1, things + 1)) if things and rng.random() < 0.75 else 0
        scene = random_scene(rng, many)
        return cls.of(both, scene, mount)

    @classmethod
    def bare(cls, rng: np.random.Generator) -> World:
        """A random mount, and nothing but the arm."""
        mount = tuple(rng.uniform(-math.pi, math.pi, 3).tolist())
        return cls.of(description(mount, hull=False), Scene(), mount)

    @classmethod
    def of(cls, both: tuple[str, str], scene: Scene, mount: tuple[float, ...]) -> World:
        arm = ArmModel.from_urdf(both[0])
        return cls(arm, keep_out_of(both, scene), TrueDistances(*both, scene), scene, mount, both)

    def room(self, q: np.ndarray) -> float:
        """How far the nearest pair is above its inner distance [m]; a bound if above NEAR."""
        inner = self.true.inner
        return float((self.true.at_least(q, inner + NEAR) - inner).min())


def keep_out_of(both: tuple[str, str], scene: Scene) -> Collision:
    return Collision(ArmBodies(*both), scene, CONFIG, {"wedge.stl": wedge()[0]})


class TelemetryArm:
    """An arm that does what it is told a little late, and whose positions come late and noisy.

    Each joint has its own times, as over a serial line that asks one after the other.
    """

    def __init__(self, q: np.ndarray, rng: np.random.Generator, noise: bool = True) -> None:
        self.q = np.array(q, dtype=float)
        self._rng = rng
        self._noise = NOISE if noise else np.zeros(5)
        self._rates = np.zeros(5)
        self._queue: deque[tuple[float, np.ndarray]] = deque()
        self._told: list[deque[tuple[float, float]]] = [deque() for _ in range(5)]
        self._next = (PERIOD * np.arange(5) / 5.0).tolist()
        self.now = 0.0
        self.measured = self.q + self._noise * rng.normal(size=5)
        self.measured_at = [0.0] * 5

    @property
    def is_still(self) -> bool:
        return not self._rates.any() and not any(rates.any() for _, rates in self._queue)

    def send(self, rates: np.ndarray) -> None:
        at = self.now + float(self._rng.uniform(*OBEYED_AFTER))
        self._queue.append((max(at, self._queue[-1][0]) if self._queue else at, rates))

    def stop(self) -> None:
        """A stop is the next thing on the wire: nothing of what was sent is obeyed any more."""
        self._queue.clear()
        self.send(np.zeros(5))

    def advance(self, until: float) -> None:
        while True:
            joint = min(range(5), key=self._next.__getitem__)
            obeys = self._queue[0][0] if self._queue else math.inf
            at = min(self._next[joint], obeys)
            if at > until:
                break
            self.q = self.q + self._rates * (at - self.now)
            self.now = at
            if obeys <= self._next[joint]:
                self._rates = self._queue.popleft()[1]
            else:
                value = self.q[joint] + self._noise[joint] * self._rng.normal()
                told = at + float(self._rng.uniform(*TOLD_AFTER))
                if self._told[joint]:
                    told = max(told, self._told[joint][-1][0])
                self._told[joint].append((told, float(value)))
                self._next[joint] += PERIOD
        self.q = self.q + self._rates * (until - self.now)
        self.now = until
        for joint, told in enumerate(self._told):
            while told and told[0][0] <= until:
                self.measured_at[joint], self.measured[joint] = told.popleft()
