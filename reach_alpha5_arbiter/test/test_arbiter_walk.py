"""Random walks over the real core with a fake clock: no order of events moves the arm wrongly."""

from __future__ import annotations

import os
import random
from dataclasses import replace

import pytest
from arbiter_bench import (
    BOT,
    CONFIG,
    DAY,
    FORWARD,
    JAWS_ONLY,
    NONSENSE,
    PAD,
    POSE,
    RIGHT,
    TWIST,
    TWIST_HELD,
    WALL,
    report,
)
from arbiter_judge import Judge
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.core import MotionArbiter
from reach_alpha5_arbiter.driver import ArmCondition
from reach_alpha5_common.command import STILL, CommandKind, MotionCommand

STEPS = int(os.environ.get("ARBITER_STEPS", "50000"))
"""Steps of the walk of each seed; the environment raises it."""

NAMES = [source.name for source in CONFIG.sources]
BRIEF = replace(FORWARD, lifetime=0.04)
COMMANDS = [
    *(STILL, STILL, STILL, FORWARD, FORWARD, BRIEF, RIGHT, JAWS_ONLY, POSE, NONSENSE),
    *(TWIST_HELD, TWIST, TWIST, replace(TWIST, lifetime=60.0)),
    *(replace(TWIST, lifetime=0.0), replace(TWIST, grip=2.0)),
]
TOPICS = ["gripper_ctrl", "gripper_ctrl", "twist"]
REPORTS = [
    *[report(ArmCondition.ENABLED)] * 12,
    *[report(ArmCondition.EXECUTING)] * 12,
    report(ArmCondition.MINOR_FAULT),
    report(ArmCondition.NONE),
    report(ArmCondition.MAJOR_FAULT, causes=("link",)),
    report(emo=True, epoch=1),
    report(emo=True, epoch=2),
    report(powered=False),
    report(ArmCondition.IDLE, active=False, holds=("inactive",)),
    report(holds=("not_identified",)),
    report(service_mode=True),
    report(99),
]
DELAYS = [0.0, 0.001, 0.01, 0.03, 0.05]
PAUSES = [0.2, 0.5, 1.0, 1.5, 2.0, 3.0]


class Walker:
    """Makes up events as a bad day would, with enough good ones that the arm does move."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = 0.0
        self.latest: events.ArmReport = REPORTS[0]

    def step(self) -> list[events.Event]:
        """Return the next events, all at `self.now`."""
        pick = self.random
        self.now += pick.choice(DELAYS) if pick.random() < 0.995 else pick.choice(PAUSES)
        kind = pick.random()
        if kind < 0.30:
            return [events.Tick()]
        if kind < 0.45:
            return [self.heartbeat()]
        if kind < 0.85:
            return [self.command()]
        if kind < 0.95:
            if pick.random() < 0.2:
                self.latest = pick.choice(REPORTS)
            return [self.latest, events.JointFeedback(pick.random() < 0.7)]
        return [self.rarity()]

    def heartbeat(self) -> events.Heartbeat:
        pick = self.random
        name = pick.choice(NAMES)
        client = "a" if pick.random() < 0.995 else pick.choice(["", "b", "c"])
        return events.Heartbeat(name, client, present=pick.random() < 0.995)

    def command(self) -> events.Command:
        pick = self.random
        # The pad speaks most, so that there is motion to be stopped.
        name = PAD if pick.random() < 0.8 else pick.choice(NAMES)
        command = pick.choice(COMMANDS)
        stamp = wall = WALL + round(self.now * 1e9)
        if pick.random() < 0.02:
            stamp += pick.choice([DAY, -DAY, -1, 2_000_000_000, -wall])
        return events.Command(name, command, stamp, wall, pick.choice(TOPICS))

    def rarity(self) -> events.Event:
        pick = self.random
        name = pick.choice(NAMES)
        return pick.choice(
            [
                events.Reset(),
                events.Reset(),
                events.Reset(),
                events.EStopPress(pick.choice([0, 1, 2, 77]), "walk", "at random"),
                events.Acquire(name, pick.choice(["a", "x"]), take=pick.random() < 0.5),
                events.Return(name, "a", pick.choice([0, 0, 3])),
                events.SourceGone(name),
                events.Command("nobody", FORWARD, 0, 0),
                events.Heartbeat("nobody", "a", True),
            ]
        )


@pytest.mark.parametrize("seed", [1, 2])
def test_no_random_order_of_events_moves_the_arm_when_it_must_not(seed: int) -> None:
    arbiter, walker = MotionArbiter(CONFIG), Walker(seed)
    judge = Judge(CONFIG, arbiter.snapshot(walker.now))
    history: list[tuple[float, events.Event]] = []
    motions = dict.fromkeys((CommandKind.INPUT, CommandKind.TWIST), 0)
    for _ in range(STEPS):
        for event in walker.step():
            history.append((walker.now, event))
            outputs = arbiter.handle(event, walker.now)
            for out in outputs:
                if isinstance(out, events.Send) and out.command.kind in motions:
                    motions[out.command.kind] += 1
            try:
                judge.observe(event, walker.now, outputs)
            except AssertionError as error:
                tail = "\n".join(f"{at:.3f} {what}" for at, what in history[-30:])
                raise AssertionError(
                    f"seed {seed}, event {len(history)}: {error}\n{tail}"
                ) from error
        del history[:-60]
    # A walk on which nothing ever moves would prove nothing.
    assert min(motions.values()) > STEPS / 400


class AnyOrder(RuleBasedStateMachine):
    """Hypothesis makes up the order, and shrinks what breaks a rule."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.arbiter = MotionArbiter(CONFIG)
        self.judge = Judge(CONFIG, self.arbiter.snapshot(self.now))
        self.hear(report())

    def hear(self, event: events.Event) -> None:
        self.judge.observe(event, self.now, self.arbiter.handle(event, self.now))

    @rule(delay=st.floats(0, 4), report_first=st.booleans())
    def time_passes(self, delay: float, report_first: bool) -> None:
        self.now += delay
        self.hear(report() if report_first else events.Tick())

    @rule(name=st.sampled_from(NAMES), client=st.sampled_from("aab"), present=st.booleans())
    def heartbeat(self, name: str, client: str, present: bool) -> None:
        self.hear(events.Heartbeat(name, client, present))

    @rule(name=st.sampled_from([PAD, BOT]), command=st.sampled_from([FORWARD, TWIST]))
    def neutral_then_motion(self, name: str, command: MotionCommand) -> None:
        self.hear(events.Heartbeat(name, "a", True))
        for asked in (STILL, command):
            stamp = WALL + round(self.now * 1e9)
            self.hear(events.Command(name, asked, stamp, stamp))

    @rule(
        name=st.sampled_from(NAMES),
        command=st.sampled_from(COMMANDS),
        offset=st.sampled_from([0, 0, 0, -DAY, DAY]),
        topic=st.sampled_from(TOPICS),
    )
    def command(self, name: str, command: MotionCommand, offset: int, topic: str) -> None:
        wall = WALL + round(self.now * 1e9)
        self.hear(events.Command(name, command, wall + offset, wall, topic))

    @rule(what=st.sampled_from(REPORTS))
    def driver_reports(self, what: events.ArmReport) -> None:
        self.hear(what)

    @rule(at_rest=st.booleans())
    def joints_report(self, at_rest: bool) -> None:
        self.hear(events.JointFeedback(at_rest))

    @rule(level=st.integers(0, 255))
    def estop(self, level: int) -> None:
        self.hear(events.EStopPress(level, "somebody", "for some reason"))

    @rule()
    def reset(self) -> None:
        self.hear(events.Reset())

    @rule(name=st.sampled_from(NAMES), take=st.booleans())
    def acquire(self, name: str, take: bool) -> None:
        self.hear(events.Acquire(name, "a", take))

    @rule(name=st.sampled_from(NAMES), epoch=st.integers(0, 3))
    def give_back(self, name: str, epoch: int) -> None:
        self.hear(events.Return(name, "a", epoch))

    @rule(name=st.sampled_from(NAMES))
    def gone(self, name: str) -> None:
        self.hear(events.SourceGone(name))


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(
    max_examples=60,
    stateful_step_count=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
