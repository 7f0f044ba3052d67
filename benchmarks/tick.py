"""What one tick of the motion costs with everything on, and pink solving the same step.

Jogs, twists and pose runs in virtual time: the shipped description with its own pairs, and around
it a hull, a tether, a buoy, a post, a floor and a load in the jaws. Positions come late and with
noise, as from the arm. Only `MotionGenerator.step` is timed; what the arm meets there tells to
which series a tick belongs.
"""

from __future__ import annotations

import math
import random
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import xacro

from benchmarks.results import Bar, Result, result
from benchmarks.series import Series, number
from benchmarks.session import Session
from benchmarks.straightness import DESCRIPTION, LateArm, cartesian, reported_limits
from benchmarks.tick_pink import PinkStep
from reach_alpha5_common.command import (
    STILL,
    ArmInput,
    GripperCommand,
    GripperVelocities,
    KnownPose,
    MotionCommand,
    Pose,
    TwistCommand,
)
from reach_alpha5_motion.bodies import ArmBodies
from reach_alpha5_motion.collision import Collision, CollisionConfig
from reach_alpha5_motion.generator import MotionGenerator
from reach_alpha5_motion.keep_out import ApproachLimit
from reach_alpha5_motion.model import TOOL, ArmModel
from reach_alpha5_motion.obstacles import (
    Box,
    Cylinder,
    Mesh,
    Obstacle,
    Scene,
    Sphere,
    floor,
    payload,
)
from reach_alpha5_motion.pairing import placed
from reach_alpha5_motion.speed import MotionConfig

SEMANTICS = DESCRIPTION.parents[1] / "srdf" / "drone.srdf.xacro"

EACH = Bar("p50", "<=", 200.0)
"""Of each of our series [µs]."""

ALL = Bar("p99", "<=", 1000.0)
"""Of all our ticks together [µs]."""

CONFIG = MotionConfig()

PERIOD = 0.02
"""s that the rates of a step hold: the driver's default."""

SERVO_PERIOD = 34e3
"""What moveit_servo has for a step [µs]: the default of its `publish_period`."""

ASKED = 1.2
"""s that an input lasts; a jog gets to what is in its way meanwhile."""

FADING = 0.4
"""s that are timed after it: the motion fades, then rest."""

ALWAYS = 6
"""Bounds from collision up to which a jog is free: the upper arm is always near the base, and near
the hull under it."""

SEVERAL = 10
"""Bounds from which on it is near things."""

POST = Mesh("post.stl")
SCENE = Scene(
    (
        Obstacle(
            "hull", "base_link", Box((0.5, 0.3, 0.1)), (-0.05, 0.0, -0.19), allow=("link_e",)
        ),
        Obstacle("tether", "base_link", Cylinder(0.02, 1.0), (0.08, 0.1, 0.3), (0.2, 0.0, 0.0)),
        Obstacle("buoy", "base_link", Sphere(0.06), (0.45, 0.1, 0.0)),
        Obstacle("post", "base_link", POST, (0.35, -0.2, -0.1)),
        floor(-0.30),
        payload("can", Cylinder(0.02, 0.08)),
    )
)

IDLE, FREE, NEAR, PRESSED, POSE, TWIST = SERIES = (
    "tick_idle",
    "tick_free",
    "tick_near",
    "tick_pressed",
    "tick_pose",
    "tick_twist",
)
JOGS = (FREE, NEAR, PRESSED)


@dataclass(frozen=True, slots=True)
class Tick:
    """One step as it went."""

    taken: float
    """By the step [µs]."""
    asked: MotionCommand
    q: tuple[float, ...]
    """Measured joint positions (5,) [rad, m]."""
    bounds: int
    """From collision."""
    pressed: bool
    """Collision held back what was asked."""


class WatchedCollision:
    """A keep-out that remembers how many bounds it gave last."""

    def __init__(self, collision: Collision) -> None:
        self._collision = collision
        self.bounds = 0

    def constraints(self, q: Sequence[float]) -> Sequence[ApproachLimit]:
        """Return what the collision says."""
        limits = self._collision.constraints(q)
        self.bounds = len(limits)
        return limits


class Rig:
    """The arm among things: ours, and the same for pink."""

    def __init__(self, seed: int) -> None:
        """Take the seed of everything that is drawn."""
        urdf = str(xacro.process_file(str(DESCRIPTION)).toxml())
        arm = ArmBodies(urdf, str(xacro.process_file(str(SEMANTICS)).toxml()))
        meshes = {POST.file: post(radius=0.05, height=0.2)}
        self.random = random.Random(seed)
        self._model = ArmModel.from_urdf(urdf)
        self._limits = reported_limits()
        self._free = Collision(arm, SCENE, CollisionConfig(), meshes)
        self._watched = WatchedCollision(Collision(arm, SCENE, CollisionConfig(), meshes))
        self._generator = MotionGenerator(self._model, CONFIG, self._watched)
        self.pink = {
            "tick_pink": PinkStep(arm),
            "tick_pink_collision": PinkStep(arm, SCENE, placed(arm, SCENE, meshes)),
        }

    def ticks(self, command: MotionCommand) -> Iterator[Tick]:
        """Move from a posture in which nothing touches anything, then let the motion fade."""
        self._generator.halt()
        arm = LateArm(self._start(), self.random.randrange(1 << 30))
        begin = now = 0.1
        arm.advance(now)
        while now < begin + ASKED + FADING:
            asked = command if now < begin + ASKED else STILL
            since = time.perf_counter_ns()
            done = self._generator.step(asked, arm.measured, arm.measured_at, now, self._limits)
            taken = (time.perf_counter_ns() - since) / 1e3
            pressed = any(name.startswith("collision") for name in done.blocked_by)
            yield Tick(taken, asked, tuple(arm.measured), self._watched.bounds, pressed)
            arm.send(done.joint_velocities.tolist(), now)
            now += arm.tick()
            arm.advance(now)

    def _start(self) -> list[float]:
        limits = self._model.limits
        while True:
            q = [
                low + (high - low) * self.random.uniform(0.05, 0.95)
                for low, high in zip(limits.lower.tolist(), limits.upper.tolist(), strict=True)
            ]
            if all(limit.rate > 0.0 for limit in self._free.constraints(q)):
                return q


def run(session: Session) -> list[Result]:
    """Time our ticks until there are enough of each series, and pink's at those of the jogs."""
    rig = Rig(seed=1)
    enough = session.count(1000, 50)
    ours: dict[str, list[float]] = {name: [] for name in SERIES}
    pinks: dict[str, list[float]] = {name: [] for name in rig.pink}
    unsolved = 0
    while min(map(len, ours.values())) < enough:
        for draw, series_of in DRAWN:
            for tick in rig.ticks(draw(rig.random)):
                name = IDLE if tick.asked is STILL else series_of(tick)
                if name is None or len(ours[name]) >= enough:
                    continue
                ours[name].append(tick.taken)
                if isinstance(tick.asked, GripperCommand) and name in JOGS:
                    for way, step in rig.pink.items():
                        taken, found = _timed(step, tick.asked, tick.q)
                        pinks[way].append(taken)
                        unsolved += not found
    series = {name: _series(name, times) for name, times in {**ours, **pinks}.items()}
    for each in series.values():
        session.say(each.text())
    session.say(
        f"    pink found no solution in {unsolved} of {sum(map(len, pinks.values()))} steps"
    )
    everything = _series("tick", [taken for name in SERIES for taken in ours[name]])
    share = everything.p99 / SERVO_PERIOD
    session.say(f"    p99 of all our ticks is {number(100.0 * share)} % of moveit_servo's period")
    results = [result(everything, ALL, SERVO_PERIOD, share)]
    for name in SERIES:
        reference = series["tick_pink_collision"].p50 if name in JOGS else None
        ratio = None if reference is None else series[name].p50 / reference
        results.append(result(series[name], EACH, reference, ratio))
    return results + [result(series[name]) for name in pinks]


def _series(name: str, times: Sequence[float]) -> Series:
    return Series(name, "µs", tuple(times))


def _timed(step: PinkStep, command: GripperCommand, q: Sequence[float]) -> tuple[float, bool]:
    """Return how long pink took for the step [µs], and whether it found rates."""
    asked = command.cartesian
    speed = CONFIG.linear_speed * CONFIG.speed_fraction(command.speed_modifier)
    velocity = (asked.x * speed, asked.y * speed, asked.z * speed)
    since = time.perf_counter_ns()
    found = step.solve(q, velocity, PERIOD)
    return (time.perf_counter_ns() - since) / 1e3, found


def jog(draw: random.Random) -> GripperCommand:
    """Draw a straight jog, every other one with wrist and jaws."""
    axes = [draw.gauss(0.0, 1.0) for _ in range(3)]
    largest = max(map(abs, axes))
    return replace(
        cartesian([value / largest for value in axes], draw.uniform(-1.0, 1.0)),
        gripper_velocities=draw.choice(
            (GripperVelocities(), GripperVelocities(draw.uniform(-1, 1), draw.uniform(-1, 1)))
        ),
    )


def pose(draw: random.Random) -> GripperCommand:
    """Draw a run to a known pose."""
    goal = KnownPose(draw.choice((Pose.STOWED, Pose.DEPLOYED)), 1.0)
    return GripperCommand(arm_input=ArmInput.KNOWN_POSE, known_pose=goal)


def twist(draw: random.Random) -> TwistCommand:
    """Draw a twist in the tool's frame, with roll and jaws."""
    speed = CONFIG.linear_speed
    x, y, z = (draw.uniform(-speed, speed) for _ in range(3))
    return TwistCommand(TOOL, (x, y, z), (0.0, 0.0, draw.uniform(-0.8, 0.8)), draw.uniform(-1, 1))


def met(tick: Tick) -> str | None:
    """Return the series of a jog: what it meets; None: neither here nor there."""
    if tick.pressed:
        return PRESSED
    if tick.bounds <= ALWAYS:
        return FREE
    return NEAR if tick.bounds >= SEVERAL else None


DRAWN: Sequence[tuple[Callable[[random.Random], MotionCommand], Callable[[Tick], str | None]]] = (
    (jog, met),
    (pose, lambda tick: POSE),
    (twist, lambda tick: TWIST),
)
"""What is asked, and to which series its ticks count."""


def post(radius: float, height: float, sides: int = 12) -> bytes:
    """Return an upright prism about z as a binary STL file: the triangles of its two ends."""
    turns = [math.tau * side / sides for side in range(sides)]
    rim = [(radius * math.cos(turn), radius * math.sin(turn)) for turn in turns]
    triangles = [
        (*rim[0], z, *rim[side], z, *rim[side + 1], z)
        for z in (0.0, height)
        for side in range(1, sides - 1)
    ]
    content = struct.pack("<80xI", len(triangles))
    for corners in triangles:
        content += struct.pack("<12fH", 0.0, 0.0, 0.0, *corners, 0)
    return content
