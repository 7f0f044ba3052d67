"""A live run of the arbiter's core, and the bag that a recorder would have made of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from arbiter_bench import APP, BOT, CONFIG, FORWARD, NONSENSE, PAD, POSE, RIGHT, TWIST
from arbiter_goals import AWAY, EXECUTING, HOME, JOINTS, READY, goal, grip, hold

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.core import MotionArbiter
from reach_alpha5_arbiter.driver import ArmCondition
from reach_alpha5_arbiter.endpoint import EndpointConfig, answer_to
from reach_alpha5_arbiter.journal import Journal
from reach_alpha5_arbiter.replay.core import Replay
from reach_alpha5_arbiter.replay.wire import WIRE
from reach_alpha5_arbiter.snapshot import Snapshot
from reach_alpha5_arbiter.trajectory import Posture
from reach_alpha5_common.command import (
    STILL,
    CommandKind,
    DriverCommand,
    JointCommand,
    MotionCommand,
    StopLevel,
)

DECK = "deck"
CONFIGURED = replace(
    CONFIG, goal_source=BOT, endpoints=(EndpointConfig(DECK),), upstream_timeout=1.0
)
PERIOD = 0.02
"""Time [s] between two ticks."""
START = 1_760_000_000.0
"""Wall-clock time [s since the epoch] of monotonic time 0."""

Entries = tuple[int, int, list[str], float]
"""A message of the journal: session, number of the first entry, entries, stamp [s]."""
Said = DriverCommand | Snapshot | Entries
Bag = list[tuple[float, Said]]
"""(monotonic time, what was published), in order."""


class Day:
    """What an arbiter hears on a bad day at sea, from people, apps, a planner and an arm."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self.now = 0.0
        self.steps = 0
        self.talk = 0.3
        """How often somebody sends a command: a goal needs some peace."""
        self.executing = False
        self.posture = dict(zip(JOINTS, HOME, strict=True))
        self.answers: list[events.Event] = []
        self.deaf_until = dict.fromkeys((PAD, APP, BOT, DECK, "upstream", "driver"), 0.0)
        self.report = READY

    def step(self) -> list[events.Event]:
        """Let some time pass, and return what happens then."""
        self.now += PERIOD * self.pick.choice([0.5, 1.0, 1.0, 1.5])
        self.steps += 1
        if self.steps % 200 == 0:
            self.talk = self.pick.choice([0.0, 0.02, 0.3])
        heard: list[events.Event] = []
        if self.steps % 5 == 0:
            heard += self.regulars()
        if self.pick.random() < self.talk:
            heard.append(self.command())
        if self.pick.random() < 0.04:
            heard.append(self.wish())
        if self.pick.random() < 0.006:
            heard.append(self.accident())
        answers, self.answers = self.answers, []
        return [*heard, *answers, events.Tick()]

    def hears(self, outputs: list[events.Output]) -> None:
        """Let the arm and the e-stop endpoint hear what the arbiter says."""
        for output in outputs:
            if isinstance(output, events.Send):
                joint = output.command.joint
                self.posture |= dict(zip(joint.joint_names, joint.positions, strict=True))
                self.executing = not output.command.motion.is_neutral
            elif isinstance(output, events.Challenge) and self.is_heard(DECK):
                asked = output.challenge
                self.answers.append(events.CheckIn(DECK, asked, answer_to(asked), 0, "all well"))

    def is_heard(self, name: str) -> bool:
        return self.now >= self.deaf_until[name]

    def regulars(self) -> list[events.Event]:
        """Heartbeats and feedback."""
        heard: list[events.Event] = [
            events.Heartbeat(name, "a", present=True)
            for name in (PAD, APP, BOT)
            if self.is_heard(name)
        ]
        if self.is_heard("upstream"):
            heard.append(events.UpstreamBeat(present=True))
        if self.is_heard("driver"):
            ready = self.report is READY and self.executing
            heard.append(EXECUTING if ready else self.report)
            heard.append(events.JointFeedback(not self.executing))
            positions = tuple(self.posture.values())
            speeds = tuple(self.pick.choice([0.0, -0.0, 0.01]) for _ in positions)
            heard.append(events.PostureSeen(Posture(JOINTS, positions, speeds, self.now)))
        return heard

    def command(self) -> events.Event:
        pick = self.pick
        asked: MotionCommand = pick.choice(
            [STILL, STILL, FORWARD, FORWARD, RIGHT, POSE, TWIST, NONSENSE, *[self.joints()] * 3]
        )
        stamp = wall = round((START + self.now) * 1e9)
        stamp += pick.choice([0] * 20 + [10**12, -(10**12)])
        topic = type(asked).__name__
        name = pick.choice([PAD, PAD, PAD, APP, BOT])
        return events.Command(name, asked, stamp, wall, topic, f"{name}-1", pick.choice([0, 1]))

    def joints(self) -> JointCommand:
        names = JOINTS[:2]
        moved = tuple(self.posture[name] + self.pick.gauss(0.0, 0.01) for name in names)
        return JointCommand(names, moved, (0.0, 0.0), 0.1)

    def wish(self) -> events.Event:
        """Something that is asked for now and then."""
        pick = self.pick
        name = pick.choice([PAD, APP, BOT])
        self.report = READY
        wanted = goal(f"goal {self.steps}", AWAY if pick.random() < 0.5 else HOME[:4], 0.6)
        return pick.choice(
            [
                *[events.Reset()] * 3,
                *[events.GoalAsked(wanted)] * 4,
                events.GoalAsked(hold(f"hold {self.steps}")),
                events.GoalAsked(grip(pick.uniform(0.001, 0.009), f"grip {self.steps}")),
                events.GoalCancelled(f"goal {self.steps - pick.randrange(60)}"),
                events.Acquire(name, pick.choice("aax"), take=pick.random() < 0.5),
                events.Return(name, "a"),
                events.OpenStream(name, "a", pick.choice([1, 1, 2, 7]), 0.5),
                events.CloseStream(name, "a"),
            ]
        )

    def accident(self) -> events.Event:
        """Something that nobody wants."""
        pick = self.pick
        who = pick.choice(list(self.deaf_until))
        self.deaf_until[who] = self.now + pick.choice([0.3, 0.8, 2.0])
        fault = replace(READY, state=ArmCondition.MAJOR_FAULT, fault_causes=("link",))
        self.report = pick.choice([READY, READY, READY, fault, replace(READY, holds=("cold",))])
        return pick.choice(
            [
                self.report,
                events.EStopPress(pick.choice([1, 2, 77]), "diver", "tangled"),
                events.SourceGone(pick.choice([PAD, APP, BOT])),
                events.Heartbeat(pick.choice([PAD, APP]), pick.choice(["b", ""]), present=True),
                events.Heartbeat(pick.choice([PAD, APP]), "a", present=False),
                events.CheckIn(DECK, 0, 0, StopLevel.CUT, "a line is foul"),
                events.EndpointGone(DECK),
                events.UpstreamGone(),
                events.Command("nobody", FORWARD, 0, 0),
            ]
        )


class Live:
    """An arbiter's core with its journal, publishing as the node does."""

    def __init__(self, seed: int = 1, session: int = 1) -> None:
        self.day = Day(seed)
        self.session = session
        self.arbiter = MotionArbiter(CONFIGURED, session)
        self.journal = Journal()
        self.journal.is_read = True
        self.bag: Bag = []
        self._publish_at = self._check_at = 0.0

    def run(self, steps: int) -> Live:
        """Let so many steps pass, the last one published."""
        for _ in range(steps):
            for event in self.day.step():
                self.hear(event)
        self.publish()
        return self

    def hear(self, event: events.Event) -> None:
        now = self.day.now
        outputs = self.arbiter.handle(event, now)
        self.day.hears(outputs)
        for output in outputs:
            if isinstance(output, events.Send):
                self.bag.append((now, output.command))
            elif isinstance(output, events.StateChanged):
                self.bag.append((now, output.snapshot))
        self.journal.heard(event, now)
        if now >= self._check_at:
            self._check_at = now + 3.0
            refusals = self.arbiter.refusals.contents()
            self.journal.checkpoint(self.arbiter.config, self.arbiter.state, refusals)
        if now >= self._publish_at:
            self._publish_at = now + 0.1
            self.publish()

    def publish(self) -> None:
        now = self.day.now
        self.bag.append((now, self.arbiter.snapshot(now)))
        batch = self.journal.take()
        self.bag.append((now, (self.session, batch.first, batch.entries, START + now)))


def replayed(bag: Bag, into: Replay | None = None) -> Replay:
    """Replay what was published."""
    replay = into or Replay(WIRE)
    for _, said in bag:
        if isinstance(said, DriverCommand):
            replay.sent(WIRE.command(said))
        elif isinstance(said, Snapshot):
            replay.shown(WIRE.state(said))
        else:
            replay.hear(*said)
    replay.finish()
    return replay


def changed(bag: Bag, kind: type, index: int, change: Callable[[Any], Any]) -> Bag:
    """Return the bag with the `index`th thing of a kind changed; None leaves it out."""
    places = [place for place, (_, said) in enumerate(bag) if isinstance(said, kind)]
    place = places[index]
    now, said = bag[place]
    new = change(said)
    return [*bag[:place], *([] if new is None else [(now, new)]), *bag[place + 1 :]]


def moving(bag: Bag, kind: CommandKind) -> Iterator[tuple[int, DriverCommand]]:
    """Yield place among the commands and command of each of a kind."""
    commands = [said for _, said in bag if isinstance(said, DriverCommand)]
    return ((n, command) for n, command in enumerate(commands) if command.kind is kind)
