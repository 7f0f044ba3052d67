"""Random walks over the real core with a fake clock: no order of events moves the arm wrongly."""

from __future__ import annotations

import pytest
from arbiter_bench import BOT, CONFIG, DAY, FORWARD, PAD, TWIST, WALL, report
from arbiter_judge import Judge
from arbiter_material import BAD_COMMANDS, BAD_REPORTS, GOOD_COMMANDS, GOOD_REPORTS, NAMES, TOPICS
from arbiter_walker import SEEDS, STEPS, walk
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.core import MotionArbiter
from reach_alpha5_common.command import STILL, CommandKind, MotionCommand

MUST_HAPPEN = (
    *(f"STOP {cause}" for cause in ("neutral", "estop", "source_silent", "lease_taken")),
    *(f"STOP {cause}" for cause in ("goal_reached", "goal_canceled", "path_left", "preempted")),
    *(kind.name for kind in (CommandKind.INPUT, CommandKind.TWIST, CommandKind.JOINT)),
    *("goal succeeded", "goal aborted", "goal canceled"),
)
"""A walk without them would prove little."""


@pytest.mark.parametrize("seed", range(1, SEEDS + 1))
def test_no_random_order_of_events_moves_the_arm_when_it_must_not(
    seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = walk(seed, STEPS // SEEDS)
    with capsys.disabled():
        print(f"\nseed {seed}: {outcome.steps:,} events, {outcome.motions:,} said to move the arm")
    assert outcome.unsafe is None, f"seed {seed}: {outcome.unsafe}\n{outcome.told}"
    assert outcome.steps >= STEPS // SEEDS
    assert not [name for name in MUST_HAPPEN if not outcome.counts[name]]


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
        command=st.sampled_from([*GOOD_COMMANDS, *BAD_COMMANDS]),
        offset=st.sampled_from([0, 0, 0, -DAY, DAY]),
        topic=st.sampled_from(TOPICS),
    )
    def command(self, name: str, command: MotionCommand, offset: int, topic: str) -> None:
        wall = WALL + round(self.now * 1e9)
        self.hear(events.Command(name, command, wall + offset, wall, topic))

    @rule(what=st.sampled_from([*GOOD_REPORTS, *BAD_REPORTS]))
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
