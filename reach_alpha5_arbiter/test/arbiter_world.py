"""A world for random walks: pilots, a planner, an arm and its driver, endpoints, bad days."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from arbiter_bench import (
    AGAIN,
    BOT,
    FORWARD,
    JOINTS,
    PAD,
    WALL,
)
from arbiter_material import (
    ALL_ONES,
    BAD_COMMANDS,
    BAD_REPORTS,
    BAD_STREAMED,
    CLIENT,
    CLOCK_SETS,
    DELAYS,
    GOOD_COMMANDS,
    GOOD_REPORTS,
    NAMES,
    PAUSES,
    SAID_AGAIN,
    STAMP_ERRORS,
    STREAMED,
    TOPICS,
    TROUBLES,
    VETO,
)

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.config import ArbiterConfig
from reach_alpha5_arbiter.trajectory import Goal, GoalKind, Point, Posture
from reach_alpha5_common.command import STILL, CommandKind, JointCommand, MotionCommand


class Plot(NamedTuple):
    """How often what happens: each is the share of it and of all before it."""

    tick: float
    heartbeat: float
    command: float
    goal: float
    stream: float
    lease: float
    feedback: float


PLOTS = {
    "sticks": Plot(0.30, 0.34, 0.70, 0.71, 0.72, 0.73, 0.95),
    "people": Plot(0.30, 0.34, 0.65, 0.67, 0.69, 0.74, 0.95),
    "goals": Plot(0.40, 0.42, 0.47, 0.50, 0.51, 0.52, 0.96),
    "streams": Plot(0.25, 0.29, 0.38, 0.39, 0.76, 0.77, 0.95),
}

HUSHED = (*NAMES, "link", "box", "driver")
UPKEEP_PERIOD = 0.15
"""Seconds after which sources, driver and endpoints let hear of themselves, on good days."""


class World:
    """Makes up events as bad days would, and better ones, on which the arm does move."""

    def __init__(self, seed: int, config: ArbiterConfig) -> None:
        self.random = random.Random(seed)
        self.bag = random.Random(seed)
        """Of its own, so that a bag that is played beside changes nothing else."""
        self.config = config
        self.now = 0.0
        self.wall = WALL
        """The arbiter's clock at `now` 0 [ns]; somebody sets it now and then."""
        self.trouble = 0.2
        """How much goes wrong at present: 1 = all that can."""
        self.plot = "sticks"
        """What is tried at present."""
        self.upkeep_at = 0.0
        self.hushed = ""
        """Who or what is not heard at present."""
        self.latched = False
        self.owner = ""
        self.busy = PAD
        """Who tries it: speaks most, so that there is motion to be stopped."""
        self.latest: events.ArmReport = GOOD_REPORTS[0]
        self.positions = (0.5, 0.5, 0.5, 0.5, 0.005)
        self.velocities = (0.0,) * len(JOINTS)
        self.held = False
        """Whether something holds the arm where it is."""
        self.challenges: dict[str, int] = {}
        self.goals = 0
        self.streams = 0

    def hear(self, outputs: Iterable[events.Output]) -> None:
        """Take what the arbiter said: the arm follows set-points, endpoints are challenged."""
        for out in outputs:
            if isinstance(out, events.Send):
                command = out.command
                if command.kind is CommandKind.JOINT and not self.held:
                    self._follow(command.joint)
                elif command.kind is CommandKind.STOP:
                    self.velocities = (0.0,) * len(JOINTS)
            elif isinstance(out, events.Challenge):
                self.challenges[out.endpoint] = out.challenge
            elif isinstance(out, events.StateChanged):
                self.streams, self.owner = out.snapshot.stream.id, out.snapshot.owner
                self.latched = out.snapshot.estop_latched or out.snapshot.fault_latched

    def _follow(self, joint: JointCommand) -> None:
        where = dict(zip(JOINTS, self.positions, strict=True))
        speed = dict(zip(JOINTS, self.velocities, strict=True))
        where |= zip(joint.joint_names, joint.positions, strict=True)
        speed |= zip(joint.joint_names, joint.velocities, strict=True)
        self.positions, self.velocities = tuple(where.values()), tuple(speed.values())

    def step(self) -> list[events.Event]:
        """Return the next events, all at `self.now`."""
        pick = self.random
        if pick.random() < 0.003:
            self.trouble = pick.choice(TROUBLES)
            self.plot = pick.choice(tuple(PLOTS))
            self.held = self.goes_wrong(0.5)
            self.busy = BOT if self.plot == "goals" else pick.choice(NAMES)
        self.now += pick.choice(PAUSES if self.goes_wrong(0.01) else DELAYS)
        return [*self.upkeep(), *self.said_again(), *self.happening()]

    def said_again(self) -> list[events.Event]:
        """Return what a bag says that somebody plays, on bad days."""
        pick = self.bag
        if pick.random() >= 0.01 * self.trouble:
            return []
        return [events.Replayed(pick.choice(SAID_AGAIN), AGAIN, stops=pick.random() < 0.5)]

    def upkeep(self) -> list[events.Event]:
        """Return what keeps things going, now and then."""
        if self.now < self.upkeep_at:
            return []
        self.upkeep_at = self.now + UPKEEP_PERIOD
        pick = self.random
        if self.goes_wrong(0.2):
            self.hushed = pick.choice((self.busy, *HUSHED))
        elif pick.random() < 0.1:
            self.hushed = ""
        out: list[events.Event] = [
            events.Heartbeat(name, CLIENT, True) for name in NAMES if name != self.hushed
        ]
        if self.config.endpoints:
            out += self.signs_of_life()
        if self.hushed != "driver":
            out.append(self.latest)
        if self.latched and pick.random() < 0.3:
            out.append(events.Reset())
        if self.owner not in ("", self.busy) and pick.random() < 0.3:
            out.append(events.Return(self.owner, CLIENT))
        return out

    def happening(self) -> list[events.Event]:
        """Return one thing that happens, which may be more than one event."""
        pick = self.random
        kind, plot = pick.random(), PLOTS[self.plot]
        if kind < plot.tick:
            return [events.Tick()]
        if kind < plot.heartbeat:
            return [self.heartbeat()]
        if kind < plot.command:
            return [self.command()]
        if kind < plot.goal:
            return [self.goal()]
        if kind < plot.stream:
            return [self.stream()]
        if kind < plot.lease:
            return [self.lease()]
        if kind < plot.feedback:
            return self.feedback()
        if self.goes_wrong(1.0):
            return [self.rarity()]
        return [events.Tick()]

    def goes_wrong(self, chance: float) -> bool:
        """Say whether something goes wrong that does so with `chance` on the worst day."""
        return self.random.random() < chance * self.trouble

    def name(self) -> str:
        """Return whose turn it is."""
        busy = 0.5 if self.plot == "people" else 0.8
        return self.busy if self.random.random() < busy else self.random.choice(NAMES)

    def heartbeat(self) -> events.Event:
        name = self.name()
        if name == self.hushed:
            return events.Tick()
        client = self.random.choice(["", "b", "c"]) if self.goes_wrong(0.1) else CLIENT
        return events.Heartbeat(name, client, present=not self.goes_wrong(0.1))

    def signs_of_life(self) -> list[events.Event]:
        """Return those of the link and of each endpoint that has got a challenge."""
        beat = events.UpstreamBeat(present=not self.goes_wrong(0.01))
        answers = [self.check_in(name) for name in list(self.challenges) if name != self.hushed]
        return answers if self.hushed == "link" else [beat, *answers]

    def check_in(self, name: str) -> events.Event:
        pick = self.random
        challenge = self.challenges[name]
        if not self.goes_wrong(0.01):
            del self.challenges[name]  # answered once
        if self.goes_wrong(0.01):
            challenge += 1
        level = pick.choice([1, 2, 9]) if self.goes_wrong(0.01) else 0
        response = challenge if self.goes_wrong(0.01) else challenge ^ ALL_ONES
        return events.CheckIn(name, challenge, response, level, "at random")

    def command(self) -> events.Command:
        pick = self.random
        if self.plot == "goals" and pick.random() < 0.5:
            return self.spoken(STILL, TOPICS[0])  # else no goal would begin
        command = pick.choice(BAD_COMMANDS if self.goes_wrong(0.3) else GOOD_COMMANDS)
        topic = pick.choice(TOPICS) if self.goes_wrong(0.5) else TOPICS[0]
        return self.spoken(command, topic)

    def spoken(self, command: MotionCommand, topic: str, stream_id: int = 0) -> events.Command:
        pick = self.random
        if self.goes_wrong(0.005):
            self.wall += pick.choice(CLOCK_SETS)
        stamp = wall = self.wall + round(self.now * 1e9)
        if self.goes_wrong(0.05):
            stamp += pick.choice(STAMP_ERRORS)
        writer = "w" if self.goes_wrong(0.005) else "v"
        veto = VETO if stream_id and self.goes_wrong(0.1) else None
        return events.Command(self.name(), command, stamp, wall, topic, writer, stream_id, veto)

    def stream(self) -> events.Event:
        pick = self.random
        kind = pick.random()
        if kind < 0.15:
            timeout = (
                pick.choice([0.0, 0.3, 60.0]) if self.goes_wrong(0.5) else pick.choice([0.1, 0.3])
            )
            return events.OpenStream(self.name(), CLIENT, pick.choice([1, 1, 2]), timeout)
        if kind < 0.18:
            return events.CloseStream(self.name(), CLIENT)
        command = pick.choice(BAD_STREAMED if self.goes_wrong(0.3) else STREAMED)
        stream_id = self.streams - self.goes_wrong(0.1)
        return self.spoken(command, "joint_ctrl", stream_id)

    def goal(self) -> events.Event:
        pick = self.random
        if pick.random() < 0.2:
            return events.GoalCancelled(str(self.goals - self.goes_wrong(0.3)))
        self.goals += 1
        names, points = JOINTS[:4], ()
        kind = pick.choice([GoalKind.TRAJECTORY, GoalKind.TRAJECTORY, GoalKind.GRIPPER])
        if kind is GoalKind.GRIPPER:
            names, points = (), (Point(0.0, (pick.choice([0.002, 0.006]),)),)
        elif pick.random() < 0.8:
            target = tuple(pick.choice([0.3, 0.4, 0.5, 0.6]) for _ in names)
            points = (Point(pick.choice([0.1, 0.3, 1.0]), target),)
        joints = len(names) or 1
        starts_in = pick.choice([-1.0, 0.1, 2.0, 100.0]) if self.goes_wrong(0.3) else 0.0
        source = self.name() if self.goes_wrong(0.1) else BOT
        goal = Goal(
            *(str(self.goals), kind, source, names, points, (0.2,) * joints, (0.02,) * joints),
            *(0.5, starts_in),
        )
        if self.goes_wrong(0.1):
            goal = replace(goal, joint_names=("axis_x",))
        return events.GoalAsked(goal, VETO if self.goes_wrong(0.05) else None)

    def feedback(self) -> list[events.Event]:
        """Return what the driver says, and what is measured."""
        pick = self.random
        if pick.random() < 0.2:
            bad = self.goes_wrong(0.4)
            self.latest = pick.choice(BAD_REPORTS if bad else GOOD_REPORTS)
        rests = events.JointFeedback(pick.random() < 0.7)
        positions = self.positions
        if self.goes_wrong(0.05):
            positions = (positions[0] + pick.choice([0.05, 0.5, 5.0]), *positions[1:])
        if self.goes_wrong(0.1):
            return [self.latest, rests]
        at = self.now - (pick.choice([0.1, 1.0]) if self.goes_wrong(0.05) else 0.0)
        posture = Posture(JOINTS, positions, self.velocities, at)
        return [self.latest, rests, events.PostureSeen(posture)]

    def lease(self) -> events.Event:
        pick, name = self.random, self.name()
        client = "x" if self.goes_wrong(0.2) else CLIENT
        if pick.random() < 0.6:
            return events.Acquire(name, client, take=pick.random() < 0.7)
        return events.Return(name, client, 3 if self.goes_wrong(0.2) else 0)

    def rarity(self) -> events.Event:
        pick = self.random
        if pick.random() < 0.01:
            return events.Shutdown()
        return pick.choice(
            [
                events.EStopPress(pick.choice([0, 1, 2, 77]), "walk", "at random"),
                events.SourceGone(self.name()),
                events.SourceGone(self.name()),
                events.Command("nobody", FORWARD, 0, 0),
                events.Heartbeat("nobody", CLIENT, True),
                events.EndpointGone(pick.choice(["box", "nobody"])),
                events.UpstreamGone(),
                events.Reset(),
            ]
        )
