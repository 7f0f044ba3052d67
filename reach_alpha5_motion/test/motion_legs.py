"""Known poses, interrupted anywhere and blocked by anything, with the real keep-out."""

from __future__ import annotations

import math

import numpy as np
from motion_drive import Drive, Outcome
from motion_judge import NEARER, RuleBroken, fades_in
from motion_pilot import CONFIG, to_pose
from motion_world import World

from reach_alpha5_common.command import (
    STILL,
    ArmInput,
    Cylindrical,
    GripperCommand,
    GripperVelocities,
)
from reach_alpha5_motion.obstacles import Obstacle, Scene, Sphere

LEGS = ("lift", "swing", "lower")
LIFT = np.array(CONFIG.lift)
LONGEST = 40.0
"""s that a way may take, interruptions apart."""
SLOW = 2e-3
"""rad/s: what is slower is held by something."""
AT_REST = 50
"""Ticks that it must be held for to count as at rest."""
BACK = 0.012
"""rad that the arm may be farther from the end of its leg than it was: noise, legs that blend."""
AHEAD, STEADY = 0.04, 1e-6
"""rad before its end from which a leg may blend into the next, and that the base may turn before:
the generator is as far ahead of the true posture as the arm moves until it obeys."""
SAME_WAY = 0.06
"""rad that a joint may have moved more or less than on the way without interruptions."""


class Way:
    """A way to a pose, checked at each tick: its legs in their order, each only once."""

    def __init__(self, driven: Drive, name: str, speed: float = 1.0) -> None:
        self.driven, self.command = driven, to_pose(name, 1.0, speed)
        self.goal = np.array(CONFIG.poses[name])
        self.track = [driven.body.q[:3].copy()]
        self.legs: list[str] = []
        self._left = dict.fromkeys(LEGS, math.inf)

    @property
    def is_there(self) -> bool:
        """By what is measured, as the generator sees it, and with that much noise."""
        error = np.abs(self.driven.body.q[:3] - self.goal).max()
        return bool(error <= CONFIG.pose_tolerance + BACK / 4.0)

    def go(self, seconds: float, settled: bool = False) -> None:
        """Hold the pose's button; `settled`: whatever moved the arm before has come to rest."""
        end = self.driven.now + seconds
        since = self.driven.now - (fades_in(STILL) if settled else 0.0)
        still = 0
        while self.driven.now < end and not self.is_there and still < AT_REST:
            self.driven.tick(self.command)
            still = still + 1 if np.abs(self.driven.last.joint_velocities).max() < SLOW else 0
            self.track.append(self.driven.body.q[:3].copy())
            if self.driven.now - since > fades_in(STILL):
                self._judge()

    def forget(self) -> None:
        """Something else moved the arm: its legs begin anew from where it is."""
        self._left = dict.fromkeys(LEGS, math.inf)
        self.legs = []

    def length(self) -> np.ndarray:
        """How far each joint has moved in all [rad], noise of a moment apart."""
        coarse = np.array(self.track[::5] + self.track[-1:])
        return np.abs(np.diff(coarse, axis=0)).sum(axis=0)

    def _judge(self) -> None:
        q = self.track[-1]
        leg, left = leg_of(q, self.goal)
        if not self.legs or self.legs[-1] != leg:
            self.legs.append(leg)
        done = sorted(self.legs, key=LEGS.index)
        if self.legs != done or len(set(done)) != len(done):
            raise RuleBroken("legs", (self.legs, q.tolist(), self.goal.tolist()))
        turned = abs(q[0] - self.track[-2][0])
        if leg == "lift" and left > CONFIG.leg_tolerance + AHEAD and turned > STEADY:
            raise RuleBroken("swings while it lifts", (turned, q.tolist(), self.goal.tolist()))
        if left > self._left[leg] + BACK:
            raise RuleBroken("leg repeated", (leg, left, self._left[leg], q.tolist()))
        self._left[leg] = min(left, self._left[leg])


def leg_of(q: np.ndarray, goal: np.ndarray) -> tuple[str, float]:
    """The leg on which the arm is, and how far it is from the end of it [rad]."""
    tolerance = CONFIG.leg_tolerance
    left = float(abs(q[0] - goal[0]))
    if left <= tolerance / 4.0:
        return "lower", float(np.abs(q - goal).max())
    away = float(np.abs(q[1:3] - LIFT).max())
    if left <= tolerance + BACK or away <= tolerance + BACK:  # one leg goes over into the next
        return "swing", left
    return "lift", away


def _ends(rng: np.random.Generator, world: World) -> tuple[np.ndarray, str]:
    """Return where a way begins, jaws half open, and the pose that it goes to."""
    low, high = world.arm.limits.lower + 0.03, world.arm.limits.upper - 0.03
    q = np.array([*(low + (high - low) * rng.random(5))[:4], 0.007])
    return q, str(rng.choice(list(CONFIG.poses)))


def hold_to_run(seed: int, interruptions: int = 20) -> Outcome:
    """Run poses between random postures, interrupted in every way."""
    rng, outcome = np.random.default_rng(seed), Outcome(seed)
    while outcome.counts["interruptions"] < interruptions and not outcome.broken:
        world = World.random(rng, things=0)
        q, name = _ends(rng, world)
        if world.room(q) <= 0.001:
            continue
        whole = Way(Drive(world, q, rng), name)
        try:
            whole.go(LONGEST, settled=True)
            if not whole.is_there:
                if not whole.driven.last.blocked_by:
                    outcome.broken.append(f"never there: {name} {q.tolist()} {world.mount}")
                outcome.counts["ways that the arm itself or the hull blocks"] += 1
                continue
            outcome.counts["ways"] += 1
            broken = Way(Drive(world, q, rng), name)
            _interrupted(broken, whole, rng, outcome)
        except RuleBroken as broken_rule:
            outcome.broken.append(f"{name} {q.tolist()} {broken_rule}")
    return outcome


def _interrupted(way: Way, whole: Way, rng: np.random.Generator, outcome: Outcome) -> None:
    """Go the same way with interruptions; a jog in between ends the comparison of lengths."""
    moved = False
    ticks = 0
    while not way.is_there and ticks < 3000:
        settled = not way.driven.judge.moving
        way.go(float(rng.uniform(0.1, 1.5)), settled)
        ticks = way.driven.judge.counts["ticks"]
        if way.is_there:
            break
        kind = str(
            rng.choice(["let go", "other input", "halt", "pause"], p=[0.4, 0.15, 0.25, 0.2])
        )
        outcome.counts["interruptions"] += 1
        outcome.counts[f"by {kind}"] += 1
        if kind == "let go":
            way.driven.run(STILL, float(rng.uniform(0.02, 0.5)))
        elif kind == "halt":
            way.driven.halt(float(rng.uniform(0.012, 0.09)))
        elif kind == "pause":
            way.driven.halt(float(rng.uniform(0.2, 5.0)))
        else:
            command = _other(rng)
            moved = moved or command.moves_arm
            way.driven.run(command, float(rng.uniform(0.05, 0.4)))
            if command.moves_arm:
                way.driven.fade()
                way.forget()
        way.track.append(way.driven.body.q[:3].copy())
    if not way.is_there:
        raise RuleBroken("never there", (way.track[-1].tolist(), way.driven.last.blocked_by))
    if not moved:
        difference = float(np.abs(way.length() - whole.length()).max())
        outcome.most("rad that a joint went more or less than uninterrupted", difference)
        if difference > SAME_WAY:
            raise RuleBroken("another way", (way.length().tolist(), whole.length().tolist()))


def _other(rng: np.random.Generator) -> GripperCommand:
    """The wrist, the jaws, or a little jog."""
    if rng.random() < 0.5:
        return GripperCommand(
            gripper_velocities=GripperVelocities(*rng.uniform(-1.0, 1.0, 2).tolist())
        )
    return GripperCommand(
        arm_input=ArmInput.CYLINDRICAL,
        cylindrical=Cylindrical(*rng.uniform(-0.5, 0.5, 3).tolist()),
    )


def in_the_way(seed: int, count: int = 2) -> Outcome:
    """Put a thing on the way to a pose: the arm stops before it, and goes on when it is gone."""
    rng, outcome = np.random.default_rng(seed), Outcome(seed)
    while outcome.counts["things in the way"] < count and not outcome.broken:
        bare = World.bare(rng)
        q, name = _ends(rng, bare)
        if bare.room(q) <= 0.001:
            continue
        free = Way(Drive(bare, q, rng), name)
        try:
            free.go(LONGEST, settled=True)
            if free.is_there:
                _blocked(bare, q, name, free.track, rng, outcome)
        except RuleBroken as broken:
            outcome.broken.append(f"{name} {q.tolist()} {broken}")
    return outcome


def _blocked(
    bare: World,
    q: np.ndarray,
    name: str,
    track: list[np.ndarray],
    rng: np.random.Generator,
    outcome: Outcome,
) -> None:
    ahead = np.array([*track[int(len(track) * rng.uniform(0.3, 0.9))], q[3], q[4]])
    arm = bare.arm
    place = arm.base_rotation.T @ (arm.tip(ahead) - arm.base_position)
    ball = Obstacle("thing0", "arm_base", Sphere(float(rng.uniform(0.01, 0.03))), tuple(place))
    world = World.of(bare.texts, Scene((ball,)), bare.mount)
    end = np.array([*track[-1], q[3], q[4]])
    ball_pairs = np.array([name.endswith(" thing0") for name in world.true.names])
    if min(world.true(each)[ball_pairs].min() for each in (q, end)) < 0.03:
        return  # it must be on the way, not at its ends
    way = Way(Drive(world, q, rng), name)
    way.go(LONGEST / 2.0, settled=True)
    leg, _ = leg_of(way.track[-1], way.goal)
    outcome.counts["things in the way"] += 1
    outcome.counts[f"met on the leg {leg}"] += 1
    outcome.most("mm nearer than the inner distance", -1e3 * way.driven.judge.least)
    rates = np.abs(way.driven.last.joint_velocities).max()
    named = [each for each in way.driven.last.blocked_by if each.endswith(" thing0")]
    if way.is_there or rates > SLOW or not named or way.driven.judge.least < -NEARER:
        raise RuleBroken("in the way", (way.is_there, rates, way.driven.last.blocked_by, ball))
    way.driven.generator.keep_out_of(bare.keep_out)
    way.driven.judge.watch(bare)
    way.go(LONGEST)
    if not way.is_there:
        raise RuleBroken("does not go on", (way.track[-1].tolist(), way.driven.last.blocked_by))
