"""Set-points of random trajectories among random things, judged at each tick: one seed, one story.

Whoever sends them knows nothing of what is around: trajectories lead through obstacles, set-points
jump, come late or not at all. Where a trajectory was let through, the way back along the same
places is free, and must be gone to its end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from motion_drive import Drive, Outcome, starts
from motion_judge import LONGEST_LIFETIME, RuleBroken
from motion_pilot import CONFIG, random_command, random_limits
from motion_world import ARM_JOINTS, World

from reach_alpha5_common.command import JointCommand
from reach_alpha5_motion.model import JointLimits

SPACING = 0.02
"""s between two set-points."""
ARRIVED = np.array([0.01, 0.01, 0.01, 0.01, 2.5e-4])
"""rad, m from where a trajectory ends: half of what the arbiter asks for by default."""
SETTLING = 2.0
"""s for which the last set-point stands."""
CLEAR = 0.003
"""m above the inner distance from which on a place is free, noise and all."""
STORIES = 3
"""Trajectories from one start."""

Reference = Callable[[float], tuple[np.ndarray, np.ndarray]]
"""Positions and velocities (5,) at a time [s]."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Where some joints shall be over time."""

    joints: np.ndarray
    """Those that are named, by their place."""
    seconds: float
    at: Reference

    def set_point(self, seconds: float) -> JointCommand:
        """The set-point of this time; at its end it rests."""
        positions, velocities = self.at(min(seconds, self.seconds))
        if seconds >= self.seconds:
            velocities = np.zeros(5)
        return JointCommand(
            tuple(ARM_JOINTS[joint] for joint in self.joints),
            tuple(positions[self.joints].tolist()),
            tuple(velocities[self.joints].tolist()),
        )


@dataclass(frozen=True, slots=True)
class Within:
    """Where and how fast the joints may go."""

    low: np.ndarray
    high: np.ndarray
    speed: np.ndarray

    @classmethod
    def of(cls, world: World, limits: JointLimits | None) -> Within:
        within = world.arm.limits.within(limits)
        most = [CONFIG.joint_speed] * 3 + [CONFIG.wrist_speed, CONFIG.jaw_speed]
        return cls(within.lower, within.upper, np.minimum(within.velocity, most))


def random_trajectory(rng: np.random.Generator, q: np.ndarray, within: Within) -> Trajectory:
    """A cubic spline from `q` through random places, at some share of the speed limits."""
    joints = np.sort(rng.permutation(5)[: int(rng.integers(1, 6))])
    if rng.random() < 0.5:
        joints = np.arange(5)
    first = np.clip(q, within.low, within.high)
    others = within.low + (within.high - within.low) * rng.random((int(rng.integers(1, 4)), 5))
    others = first + (others - first) * rng.uniform(0.1, 1.0)
    places = np.vstack([first, others])
    share = rng.uniform(0.1, 0.95)
    return _spline(joints, places, share * within.speed, within)


def _spline(
    joints: np.ndarray, places: np.ndarray, speed: np.ndarray, within: Within
) -> Trajectory:
    """Cubic pieces between places, at rest at both ends, nowhere faster than `speed`."""
    count = len(places) - 1
    slopes = np.zeros_like(places)
    slopes[1:-1] = (places[2:] - places[:-2]) / 2.0
    grid = np.linspace(0.0, 1.0, 30)
    fastest = max(
        float((np.abs(_piece(places, slopes, k, u)[1]) / speed).max())
        for k in range(count)
        for u in grid
    )
    duration = max(1.02 * fastest, 0.05)
    """s for each piece."""

    def at(seconds: float) -> tuple[np.ndarray, np.ndarray]:
        piece = min(int(seconds / duration), count - 1)
        position, velocity = _piece(places, slopes, piece, seconds / duration - piece)
        inside = np.clip(position, within.low, within.high)
        return inside, np.where(inside == position, velocity / duration, 0.0)

    return Trajectory(joints, count * duration, at)


def _piece(
    places: np.ndarray, slopes: np.ndarray, piece: int, u: float
) -> tuple[np.ndarray, np.ndarray]:
    """Place and velocity at a share of a piece."""
    a, b, c, d = places[piece], slopes[piece], places[piece + 1], slopes[piece + 1]
    third, second = 2.0 * a + b - 2.0 * c + d, -3.0 * a - 2.0 * b + 3.0 * c - d
    return (
        ((third * u + second) * u + b) * u + a,
        (3.0 * third * u + 2.0 * second) * u + b,
    )


def backwards(places: list[np.ndarray], times: list[float]) -> Trajectory:
    """The way that was gone, from its end to its start."""
    gone, since = np.array(places), np.array(times) - times[0]
    seconds = float(since[-1])
    bend = 0.03

    def place(at: float) -> np.ndarray:
        return np.array([np.interp(seconds - at, since, gone[:, joint]) for joint in range(5)])

    def at(moment: float) -> tuple[np.ndarray, np.ndarray]:
        early, late = max(moment - bend, 0.0), min(moment + bend, seconds)
        return place(moment), (place(late) - place(early)) / (late - early)

    return Trajectory(np.arange(5), seconds, at)


class Stream:
    """Sends a trajectory as over a line: about every 20 ms, now and then late, never or apart."""

    def __init__(self, driven: Drive, trajectory: Trajectory, within: Within, wild: bool) -> None:
        self._driven, self._trajectory, self._within = driven, trajectory, within
        self._wild = wild
        self.jumps = self.lapses = 0

    def run(self, seconds: float) -> Iterator[None]:
        """Send for some time; yields after each tick. Silence stops the arm at once."""
        driven, rng = self._driven, self._driven.rng
        begin, newest, taken = driven.now, None, -math.inf
        due, silent_until = begin, begin
        lifetime = LONGEST_LIFETIME
        jump = np.zeros(5)
        while driven.now < begin + seconds:
            now = driven.now
            if now >= due and now >= silent_until:
                newest = self._jumped(self._trajectory.set_point(now - begin), jump)
                taken = now - float(rng.uniform(0.0, 0.01))
                due = now + SPACING * float(rng.uniform(0.5, 1.5))
                if self._wild:
                    event = rng.random()
                    if event < 0.01:
                        silent_until = now + float(rng.uniform(0.05, 0.6))
                    elif event < 0.02:
                        self.jumps += 1
                        jump = rng.uniform(-0.5, 0.5, 5) * rng.integers(0, 2) * [1, 1, 1, 1, 0.01]
            if newest is None or now - taken >= lifetime:
                self.lapses += 1
                driven.halt(max(silent_until, due) - now + 0.001)
                newest = None
                continue
            driven.tick(newest, asked_at=taken)
            yield

    def _jumped(self, point: JointCommand, jump: np.ndarray) -> JointCommand:
        if not jump.any():
            return point
        joints = self._trajectory.joints
        places = np.clip(
            np.array(point.positions) + jump[joints],
            self._within.low[joints],
            self._within.high[joints],
        )
        return JointCommand(point.joint_names, tuple(places.tolist()), point.velocities)


def follow(seed: int, ticks: int = 10000) -> Outcome:
    """Send trajectories for some ticks at least; the first broken rule ends it."""
    rng, outcome = np.random.default_rng(seed), Outcome(seed)
    while outcome.counts["ticks"] < ticks and not outcome.broken:
        world = World.random(rng)
        outcome.counts["worlds"] += 1
        for q in starts(rng, world):
            limits = random_limits(rng, world.arm)
            driven = Drive(world, q, rng, limits)
            try:
                for _ in range(STORIES):
                    _story(driven, world, Within.of(world, limits), outcome)
            except RuleBroken as broken:
                outcome.broken.append(str(broken))
            outcome.counts.update(driven.judge.counts)
            outcome.most("mm nearer than the inner distance", -1e3 * driven.judge.least)
            if outcome.broken:
                break
    return outcome


def _story(driven: Drive, world: World, within: Within, outcome: Outcome) -> None:
    rng = driven.rng
    start = driven.body.q.copy()
    trajectory = random_trajectory(rng, start, within)
    wild = bool(rng.random() < 0.5)
    stream = Stream(driven, trajectory, within, wild)
    places, times = [start], [driven.now]
    for _ in stream.run(min(trajectory.seconds + SETTLING, 8.0)):
        places.append(driven.body.q.copy())
        times.append(driven.now)
    outcome.counts["jumps"] += stream.jumps
    outcome.counts["lapses"] += stream.lapses
    blocked = driven.last is not None and bool(driven.last.blocked_by)
    outcome.counts["blocked"] += blocked
    if rng.random() < 0.5:
        driven.fade()
    elif rng.random() < 0.5:
        driven.halt(float(rng.uniform(0.05, 0.3)))
    if wild or world.room(start) < CLEAR or not _inside(np.array(places), within):
        driven.run(random_command(rng), float(rng.uniform(0.1, 1.0)))
        if rng.random() < 0.2:
            driven.tick(trajectory.set_point(0.0), lost=int(rng.integers(5)))
        return
    back = Stream(driven, backwards(places, times), within, wild=False)
    for _ in back.run(times[-1] - times[0] + SETTLING):
        pass
    away = np.abs(driven.body.q - start)
    outcome.counts["ways back"] += 1
    outcome.most(
        "share of the distance to a goal at which it is reached", float((away / ARRIVED).max())
    )
    if (away > ARRIVED).any():
        case = (start.tolist(), driven.body.q.tolist(), driven.last, driven.limits)
        raise RuleBroken("back", (world.mount, world.scene, case))


def _inside(places: np.ndarray, within: Within) -> bool:
    """Whether a way is where set-points may be, by more than the margins of the limits."""
    margins = np.array(CONFIG.margins)
    low, high = within.low + 1.2 * margins, within.high - 1.2 * margins
    return bool(((places > low) & (places < high)).all())
