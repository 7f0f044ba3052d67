"""Random pilots on random arms among random things, judged at each tick: one seed, one story."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from motion_judge import Judge, RuleBroken
from motion_pilot import CONFIG, random_command, random_limits, random_posture, towards
from motion_world import TelemetryArm, World

from reach_alpha5_common.command import STILL, MotionCommand
from reach_alpha5_motion.generator import MotionGenerator
from reach_alpha5_motion.model import JointLimits

STARTS = 6
"""Arms that are driven in one world."""


@dataclass(slots=True)
class Outcome:
    """What a seed came to."""

    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    """How often what was looked at was seen."""
    extremes: dict[str, float] = field(default_factory=dict)
    """The most that was seen of what must not be large."""
    broken: list[str] = field(default_factory=list)

    def most(self, name: str, value: float) -> None:
        self.extremes[name] = max(self.extremes.get(name, -math.inf), value)


class Drive:
    """A generator that moves an arm, under a judge."""

    def __init__(
        self,
        world: World,
        q: np.ndarray,
        rng: np.random.Generator,
        limits: JointLimits | None = None,
        noise: bool = True,
    ) -> None:
        self.generator = MotionGenerator(world.arm, CONFIG, world.keep_out)
        self.body = TelemetryArm(q, rng, noise)
        self.judge = Judge(world, q, limits)
        self.rng, self.limits = rng, limits
        self.last = None
        self._elapsed = 0.01
        self.body.advance(0.03)

    @property
    def now(self) -> float:
        return self.body.now

    def tick(
        self, command: MotionCommand, lost: int | None = None, asked_at: float | None = None
    ) -> None:
        """Ask once, and let the arm go on until the next step."""
        measured = np.array(self.body.measured)
        if lost is not None:
            measured[lost] = math.nan
        self.last = self.generator.step(
            command,
            measured,
            list(self.body.measured_at),
            self.now,
            self.limits,
            asked_at=asked_at,
        )
        self.judge.tick(
            command, self.last, self.generator, self.body.q, measured, self.now, self._elapsed
        )
        self.body.send(self.last.joint_velocities)
        self._elapsed = float(self.rng.uniform(0.01, 0.03))
        if self.rng.random() < 0.01:
            self._elapsed = float(self.rng.uniform(0.03, 0.09))
        self.body.advance(self.now + self._elapsed)

    def run(self, command: MotionCommand, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.tick(command)

    def halt(self, pause: float) -> None:
        """Stop at once, as an e-stop or a lapse does, and do nothing for some seconds."""
        self.generator.halt()
        self.judge.halted()
        self.body.stop()
        self.body.advance(self.now + pause)
        self._elapsed = 0.01  # the first step after a pause counts as that

    def fade(self) -> None:
        """Let go, until all is still."""
        self.run(STILL, CONFIG.ramp_time + 0.1)
        self.judge.at_end(self.generator)


def drive(seed: int, ticks: int = 10000, noise: bool = True) -> Outcome:
    """Drive for some ticks at least, and tell what was seen; the first broken rule ends it."""
    rng, outcome = np.random.default_rng(seed), Outcome(seed)
    while outcome.counts["ticks"] < ticks and not outcome.broken:
        world = World.random(rng)
        outcome.counts["worlds"] += 1
        for q in starts(rng, world):
            driven = Drive(world, q, rng, random_limits(rng, world.arm), noise)
            try:
                _story(driven, world)
            except RuleBroken as broken:
                outcome.broken.append(str(broken))
            outcome.counts.update(driven.judge.counts)
            outcome.most("mm nearer than the inner distance", -1e3 * driven.judge.least)
            if outcome.broken:
                break
    return outcome


def starts(rng: np.random.Generator, world: World) -> list[np.ndarray]:
    """Postures that are clear of all, and one in eight nearer than the inner distance."""
    found: list[np.ndarray] = []
    for _ in range(60 * STARTS):
        q = random_posture(rng, world.arm)
        room = world.room(q)
        near = rng.random() < 0.125
        if (room > 0.0 and not near) or (near and -0.002 < room <= 0.0):
            found.append(q)
            if len(found) == STARTS:
                break
    return found


def _story(driven: Drive, world: World) -> None:
    rng = driven.rng
    for _ in range(8):
        ahead = towards(rng, world, driven.body.q) if rng.random() < 0.7 else None
        command = random_command(rng, ahead)
        driven.run(command, float(rng.uniform(0.1, 2.2)))
        event = rng.random()
        if event < 0.1:
            driven.halt(float(rng.uniform(0.012, 0.6)))
        elif event < 0.13:
            joint = int(rng.integers(5))
            for _ in range(int(rng.integers(1, 20))):
                driven.tick(command, lost=joint)
    driven.fade()
