"""Out of every place where the arm came to rest although it was asked to move."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from motion_drive import Drive, Outcome, starts
from motion_judge import RuleBroken
from motion_pilot import (
    CONFIG,
    FOLDED,
    ON_AXIS,
    STRAIGHT,
    inputs,
    random_command,
    random_posture,
    towards,
)
from motion_world import World

from reach_alpha5_common.command import (
    ArmInput,
    Cartesian,
    Cylindrical,
    GripperCommand,
    MotionCommand,
)
from reach_alpha5_motion.generator import LINE_BEND
from reach_alpha5_motion.model import ArmModel, B, C, D

PRESSES, PRESSED = 4, 4.0
"""Inputs that follow each other from one start, and s that each is held until it is blocked."""
STILL = 2e-3
"""rad/s, m/s x 100: what moves slower is at rest."""
TRIED = 0.8
"""s that an input is tried for."""
LEFT = np.array([0.015, 0.015, 0.015, 0.015, 2e-4])
"""rad, m: a joint has left its limit."""
APART = 0.001
"""m: two bodies have come apart."""
SLIPPED = 0.0008
"""m that another blocked pair may come nearer meanwhile: noise."""
MOVED = 0.02
"""m that the tip must move where neither a limit nor a body is in the way."""
TURNED = 0.1
"""rad of axis_d or axis_c, instead: near a straight arm the tip is slow at first."""
DEEPEST = 0.015
"""m: how deep an obstacle that was put where the arm is may be in it."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """Where the arm rests, and what holds it there by the true posture."""

    q: np.ndarray
    pairs: np.ndarray
    """Pairs at or below their inner distance."""
    joints: list[tuple[int, float]]
    """Joints at a limit, and the way back, +1 or -1."""

    @classmethod
    def at(cls, world: World, q: np.ndarray) -> Blocked:
        room = world.true(q) - world.true.inner
        low, high = world.arm.limits.lower, world.arm.limits.upper
        near = np.array(CONFIG.margins) + LEFT / 3.0
        joints = [(joint, 1.0) for joint in range(5) if q[joint] - low[joint] < near[joint]]
        joints += [(joint, -1.0) for joint in range(5) if high[joint] - q[joint] < near[joint]]
        return cls(q, np.flatnonzero(room < 0.0005), joints)

    @property
    def cause(self) -> str:
        """What it is counted as."""
        causes = [name for name, found in (("pairs", len(self.pairs)), ("limits", self.joints))
                  if found]  # fmt: skip
        return f"held by {' and '.join(causes) or 'a singularity'}"

    def left(self, world: World, q: np.ndarray) -> bool:
        """Whether `q` is farther from something that held, and nearer to nothing that did."""
        now, before = (world.true(each)[self.pairs] for each in (q, self.q))
        if self.pairs.size and before.min() < 0.0:  # the ways out of two can contradict each other
            return bool(now.min() > before.min() + APART)
        if (now < before - SLIPPED).any():
            return False
        apart = bool((now > before + APART).any())
        joints = any(way * (q[joint] - self.q[joint]) > LEFT[joint] for joint, way in self.joints)
        moved = float(np.linalg.norm(world.arm.tip(q) - world.arm.tip(self.q)))
        turned = bool((np.abs(q - self.q)[D:B] > TURNED).any())
        free = not self.joints and not self.pairs.size
        return apart or joints or (free and (moved > MOVED or turned))


def escape(seed: int, states: int = 10) -> Outcome:
    """Press the arm into things, limits and singularities, and find a way out of each."""
    rng, outcome = np.random.default_rng(seed), Outcome(seed)
    while sum(outcome.counts[name] for name in ("came to rest", "overlapped")) < states:
        world = World.random(rng)
        try:
            for q in starts(rng, world):
                for at in _pressed(world, q, rng):
                    outcome.counts["came to rest"] += 1
                    _find_way(world, Blocked.at(world, at), rng, outcome)
            for _ in range(20):
                q = random_posture(rng, world.arm)
                if _is_overlapped(world, q):
                    outcome.counts["overlapped"] += 1
                    _find_way(world, Blocked.at(world, q), rng, outcome)
                    break
        except RuleBroken as broken:
            outcome.broken.append(str(broken))
            break
    return outcome


def _pressed(world: World, q: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield where one input after the other brought the arm to rest."""
    driven = Drive(world, q, rng)
    for _ in range(PRESSES):
        command = _insistent(rng, world, driven.body.q)
        end, still = driven.now + PRESSED, 0
        while driven.now < end and still < 15:
            driven.tick(command)
            rates = np.abs(driven.last.joint_velocities) * (1.0, 1.0, 1.0, 1.0, 100.0)
            still = still + 1 if rates.max() < STILL else 0
        if still == 15 and (driven.last.blocked_by or not _is_pose(command)):
            yield driven.body.q


def _insistent(rng: np.random.Generator, world: World, q: np.ndarray) -> MotionCommand:
    """One axis, one pose, or straight at a thing, at full speed."""
    ahead = towards(rng, world, q)
    if ahead is not None and rng.random() < 0.4:
        way = ahead / np.abs(ahead).max()
        return GripperCommand(
            arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(*way.tolist()), speed_modifier=1.0
        )
    ways = inputs()
    return replace(ways[int(rng.integers(len(ways)))], speed_modifier=1.0)


def _is_pose(command: MotionCommand) -> bool:
    return isinstance(command, GripperCommand) and command.arm_input == ArmInput.KNOWN_POSE


def _is_overlapped(world: World, q: np.ndarray) -> bool:
    """Whether one thing is in the arm at `q`, not deeper than it may be, and nothing else near.

    An arm that is wedged between two things may have no way out, since theirs contradict each
    other, nor may a straight one that lies in a thing: inward is into it, outward there is none.
    """
    low, high = world.arm.limits.lower, world.arm.limits.upper
    straight = abs(q[C] - STRAIGHT) < LINE_BEND
    if straight or not ((q >= low) & (q <= high)).all():
        return False
    distances = world.true(q)
    near = {world.true.names[pair] for pair in np.flatnonzero(distances < world.true.inner)}
    things = {thing for name in near for thing in THINGS & set(name.split())}
    alone = all(THINGS & set(name.split()) for name in near)
    if not (alone and len(things) == 1 and -DEEPEST < distances.min() < 0.0):
        return False
    # A scene in which no joint makes it better has no way out that an input could find.
    steps = 0.1 * np.concatenate((np.eye(5)[:4], -np.eye(5)[:4]))
    return any(world.true(q + step).min() > distances.min() + APART for step in steps)


THINGS = {"base_link", *(f"thing{number}" for number in range(5))}


def _find_way(world: World, blocked: Blocked, rng: np.random.Generator, outcome: Outcome) -> None:
    """Try inputs until one leads out."""
    outcome.counts[blocked.cause] += 1
    for number, command in enumerate(_ways(rng)):
        trial = Drive(world, blocked.q, rng)
        while trial.now < TRIED:
            for _ in range(10):
                trial.tick(command)
            if blocked.left(world, trial.body.q):
                outcome.most("inputs tried until one led out", number + 1)
                return
    held = [world.true.names[pair] for pair in blocked.pairs]
    outcome.broken.append(
        f"no way out: {blocked.q.tolist()} {held} {blocked.joints} {world.mount} {world.scene}"
    )


def _ways(rng: np.random.Generator) -> Iterator[MotionCommand]:
    """Single axes in a random order, and then anything."""
    singles = inputs()
    for place in rng.permutation(len(singles)):
        yield singles[int(place)]
    for _ in range(80):
        command = random_command(rng)
        if not command.is_neutral:
            yield command


# Singular postures


def unfold(seed: int, count: int = 12) -> Outcome:
    """From full stretch, the base axis and folded: 2 cm inward within 2 s, at default speed."""
    rng, outcome = np.random.default_rng(seed), Outcome(seed)
    world = World.bare(rng)
    while outcome.counts["singular starts"] < count and not outcome.broken:
        name = ("full stretch", "base axis", "folded")[outcome.counts["singular starts"] % 3]
        q = _singular(name, rng)
        if world.room(q) <= 0.0:
            continue
        outcome.counts["singular starts"] += 1
        command = inward(name, world.arm, q)
        driven = Drive(world, q, rng)
        start, began, moved = world.arm.tip(q), driven.now, 0.0
        try:
            while moved < MOVED and driven.now - began < 2.0:
                driven.tick(command)
                moved = float(np.linalg.norm(world.arm.tip(driven.body.q) - start))
        except RuleBroken as broken:
            outcome.broken.append(str(broken))
            break
        if moved < MOVED and driven.last.blocked_by:
            outcome.counts[f"{name}: the arm itself in the way"] += 1
        elif moved < MOVED:
            outcome.broken.append(f"{name}: {moved:.4f} m in 2 s: {q.tolist()}")
        else:
            outcome.counts[f"from {name}"] += 1
            outcome.most(f"s for 2 cm from {name}", driven.now - began)
    return outcome


def _singular(name: str, rng: np.random.Generator) -> np.ndarray:
    base, wrist = rng.uniform(0.3, 6.0), rng.uniform(0.1, 6.1)
    if name == "base axis":
        shoulder, elbow = ON_AXIS[0], ON_AXIS[1] + rng.uniform(-0.003, 0.003)
    else:
        shoulder = rng.uniform(0.6, 2.8)
        straight = STRAIGHT + rng.uniform(-0.05, 0.05)
        elbow = straight if name == "full stretch" else FOLDED + rng.uniform(0.0, 0.02)
    return np.array([base, shoulder, elbow, wrist, 0.007])


def inward(name: str, arm: ArmModel, q: np.ndarray) -> GripperCommand:
    """The input that leads into the workspace: to the shoulder, or away from it when folded.

    From the base axis that is out along the plane in which the arm is.
    """
    if name == "base axis":
        return GripperCommand(
            arm_input=ArmInput.CYLINDRICAL, cylindrical=Cylindrical(1.0, 0.0, 0.0)
        )
    shoulder = (arm.tip(q) + arm.tip(q + np.array([0.0, math.pi, 0.0, 0.0, 0.0]))) / 2.0
    way = (shoulder - arm.tip(q)) * (1.0 if name == "full stretch" else -1.0)
    posture = arm.posture(q)
    out = float(np.dot(way, posture.front)) * math.copysign(1.0, posture.reach)
    down = -float(np.dot(way, posture.up))
    size = max(abs(out), abs(down))
    return GripperCommand(
        arm_input=ArmInput.CYLINDRICAL, cylindrical=Cylindrical(out / size, down / size, 0.0)
    )
