"""Breadth-first search over the real core: every event in every state that can be reached.

Time is cut into steps and ages are compared as whole steps, which makes the states finitely many;
all time-outs are two steps. Two searches share the work: one source with everything that the
driver and the latches can do, and two sources under a driver that is always ready.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import replace

from arbiter_bench import BOT, FORWARD, NONSENSE, PAD, TWIST, WALL, report
from arbiter_judge import Judge

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.config import ArbiterConfig, SourceConfig
from reach_alpha5_arbiter.core import MotionArbiter
from reach_alpha5_arbiter.driver import ArmCondition
from reach_alpha5_common.command import STILL, MotionCommand

STEP = 1.0
BRIEF = replace(TWIST, lifetime=1.5 * STEP)
NEW, OLD = WALL, WALL - 1


def config(*people: tuple[str, bool]) -> ArbiterConfig:
    """Return a configuration with all time-outs of two steps."""
    sources = tuple(SourceConfig(name, person, 2 * STEP, 2 * STEP) for name, person in people)
    return ArbiterConfig(sources, driver_timeout=2 * STEP, stop_confirm_timeout=2 * STEP)


def command(name: str, asked: MotionCommand, stamp: int = NEW) -> events.Command:
    return events.Command(name, asked, stamp, WALL)


def abstract(arbiter: MotionArbiter, now: float) -> Hashable:
    """Return all that decides what the arbiter does next, with times as whole steps from now."""

    def steps(at: float) -> float:
        return round((at - now) / STEP, 3) if math.isfinite(at) else math.inf

    a = arbiter
    if a._closed:
        return "closed"
    return (
        a._latches.estop,
        a._latches.fault,
        a._lease.owner,
        steps(a._lease.idle_since),
        a._motion.activity,
        a._motion.command,
        steps(a._motion.ends_at),
        steps(a._motion.overdue_at),
        a._motion.joints_rest,
        a._motion.arm_rests,
        a._motion.command and a._motion.said_at == now,
        a._driver.report,
        a._driver.report and steps(a._driver.heard_at),
        a._motion.command and steps(a._driver.idle_since),
        a._driver.reset_epoch,
        tuple(
            (
                s.liveness,
                s.arming,
                tuple((client, steps(at)) for client, at in s.clients),
                s.newest,
                s.clients and steps(s.heartbeat_at),
            )
            for s in a._sources.values()
        ),
    )


def search(
    settings: ArbiterConfig, now_events: Sequence[events.Event], later: Sequence[events.Event]
) -> tuple[int, int, int]:
    """Visit every state; `later` are the events that a step of time brings.

    Returns:
        The numbers of states, of transitions, and of states in which the arm moves.
    """
    start = MotionArbiter(settings)
    todo = deque([(start, Judge(settings, start.snapshot(0.0)), 0.0)])
    seen = {abstract(start, 0.0)}
    transitions = moving = 0
    while todo:
        arbiter, judge, now = todo.popleft()
        moving += judge.moving is not None
        choices = [((event,), now) for event in now_events] + [(tuple(later), now + STEP)]
        for batch, at in choices:
            twin, watcher = arbiter.fork(), judge.fork()
            for event in batch:
                watcher.observe(event, at, twin.handle(event, at))
            transitions += 1
            key = abstract(twin, at)
            if key not in seen:
                seen.add(key)
                todo.append((twin, watcher, at))
    return len(seen), transitions, moving


def test_every_event_in_every_state_of_one_source_keeps_all_invariants() -> None:
    states, transitions, moving = search(
        config((PAD, True)),
        [
            events.Heartbeat(PAD, "a", True),
            events.Heartbeat(PAD, "a", False),
            events.SourceGone(PAD),
            command(PAD, STILL),
            command(PAD, FORWARD),
            command(PAD, BRIEF),
            command(PAD, NONSENSE),
            events.EStopPress(2, "x", ""),
            events.Reset(),
            events.Acquire(PAD, "a"),
            report(ArmCondition.IDLE),
            report(ArmCondition.ENABLED),
            report(ArmCondition.EXECUTING),
            report(ArmCondition.MAJOR_FAULT),
            report(ArmCondition.NONE),
            report(emo=True, epoch=1),
            events.JointFeedback(True),
            events.Tick(),
            events.Shutdown(),
        ],
        [events.Tick()],
    )
    # A change of these numbers is a change of behaviour: look at it before they are written anew.
    assert (states, transitions, moving) == (9357, 187140, 156)


def test_every_event_in_every_state_of_two_sources_keeps_all_invariants() -> None:
    both = [
        event
        for name in (PAD, BOT)
        for event in (
            events.Heartbeat(name, "a", True),
            events.SourceGone(name),
            command(name, STILL),
            command(name, FORWARD),
            events.Acquire(name, "a", take=True),
            events.Return(name, "a"),
        )
    ]
    states, transitions, moving = search(
        config((PAD, True), (BOT, False)),
        [
            *both,
            events.Heartbeat(PAD, "b", True),
            command(PAD, FORWARD, OLD),
            command(PAD, STILL, OLD),
            events.Command(PAD, BRIEF, NEW, WALL, topic="twist"),
            events.EStopPress(1, "x", ""),
            events.Reset(),
        ],
        [report(), events.JointFeedback(True), events.Tick()],
    )
    assert (states, transitions, moving) == (6922, 131518, 364)
