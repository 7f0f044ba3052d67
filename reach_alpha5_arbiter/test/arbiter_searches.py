"""Breadth-first search over the real core: every event in every state that can be reached.

Time is cut into steps and ages are compared as whole steps, which makes the states finitely many;
the time-outs are two steps. Several searches share the work, each with a part of what can happen.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from arbiter_bench import AGAIN, BOT, FORWARD, JOINTS, NONSENSE, PAD, TWIST, WALL, report
from arbiter_judge import Judge

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.config import ArbiterConfig, SourceConfig
from reach_alpha5_arbiter.core import MotionArbiter
from reach_alpha5_arbiter.driver import ArmCondition
from reach_alpha5_arbiter.trajectory import Goal, GoalConfig, GoalKind, Point, Posture
from reach_alpha5_common.command import STILL, JointCommand, MotionCommand

STEP = 1.0
OLDEST = 3.0
"""Steps: what is older is so for all time-outs alike."""
BRIEF = replace(TWIST, lifetime=1.5 * STEP)
NEW, OLD = WALL, WALL - 1
HOME, AWAY = (0.5,) * 4 + (0.005,), (0.6,) * 4 + (0.005,)

Making = Callable[[MotionArbiter, float], events.Event | None]
"""What makes an event for an arbiter and the time at which it happens; None = it cannot now."""
Counts = tuple[int, int, int]


def config(*people: tuple[str, bool], **more: object) -> ArbiterConfig:
    """Return a configuration with all time-outs of two steps."""
    sources = tuple(SourceConfig(name, person, 2 * STEP, 2 * STEP) for name, person in people)
    times = {
        "driver_timeout": 2 * STEP,
        "stop_confirm_timeout": 2 * STEP,
        "command_lifetime": 2 * STEP,
        "repeat_period": STEP,
        **more,
    }
    return ArbiterConfig(sources, **times)  # type: ignore[arg-type]


def command(
    name: str, asked: MotionCommand, stamp: int = NEW, topic: str = "", stream: int = 0
) -> events.Command:
    """A command."""
    return events.Command(name, asked, stamp, WALL, topic, stream_id=stream)


def abstract(arbiter: MotionArbiter, now: float) -> Hashable:
    """Return all that decides what the arbiter does next, with times as whole steps from now.

    The one place that knows the inside of the core.
    """

    def steps(at: float) -> float:
        return max(-OLDEST, round((at - now) / STEP, 3)) if math.isfinite(at) else math.inf

    s = arbiter.state
    if s.closed:
        return "closed"
    motion, driver, errand, waiting = s.motion, s.driver, s.errand, s.waiting
    moving = motion.said_at == motion.said_at and motion.activity.name in MOVING_NAMES
    return (
        s.latches.estop,
        s.latches.fault,
        s.lease.owner,
        steps(s.lease.idle_since),
        motion.activity,
        motion.command,
        steps(motion.ends_at),
        steps(motion.overdue_at),
        motion.joints_rest,
        motion.arm_rests,
        moving and steps(motion.said_at),
        driver.report,
        driver.report and steps(driver.heard_at),
        moving and steps(driver.idle_since),
        driver.reset_epoch,
        tuple(
            (
                source.liveness,
                source.arming,
                tuple((heard.name, steps(heard.at)) for heard in source.clients),
                tuple((heard.name, steps(heard.at)) for heard in source.writers),
                source.newest,
                source.clients and steps(source.heartbeat_at),
            )
            for source in s.sources.values()
        ),
        s.stream.is_open
        and (s.stream.source, s.stream.kind, s.stream.idle_timeout, steps(s.stream.heard_at)),
        s.upstream.liveness,
        steps(s.upstream.lapses_at),
        errand
        and (
            errand.goal.id,
            errand.execution.setpoint(errand.execution.began_at).positions,
            steps(errand.execution.began_at),
            steps(errand.execution.slowed_at),
            errand.ending,
            errand.slowed_for,
            errand.is_obeyed,
        ),
        waiting
        and (
            waiting.source,
            waiting.goal.id if waiting.goal else waiting.what,
            steps(waiting.starts_at),
            steps(waiting.ends_at),
            steps(waiting.begins_by),
        ),
        s.posture and (s.posture.positions, steps(s.posture.at), s.posture.at >= s.rested_at),
        tuple(
            (
                each.state,
                each.level,
                each.challenge is not None,
                each.is_answered,
                steps(each.given_at),
                steps(each.lived_at),
                steps(each.contested_at),
            )
            for each in s.endpoints.values()
        ),
    )


MOVING_NAMES = {"JOGGING", "TRAJECTORY", "SLOWING"}


def search(settings: ArbiterConfig, now_: Sequence[Making], later: Sequence[Making]) -> Counts:
    """Visit every state; `later` are the events that a step of time brings.

    Returns:
        The numbers of states, of transitions, and of states in which the arm moves.

    Raises:
        Unsafe: an invariant is broken.
    """
    start = MotionArbiter(settings)
    todo = deque([(start, Judge(settings, start.snapshot(0.0)), 0.0)])
    seen = {abstract(start, 0.0)}
    transitions = moving = 0
    choices = [((make,), 0.0) for make in now_] + [(tuple(later), STEP)]
    while todo:
        arbiter, judge, now = todo.popleft()
        moving += judge.moves
        for batch, delay in choices:
            twin, watcher, at = arbiter.fork(), judge.fork(), now + delay
            for make in batch:
                event = make(twin, at)
                if event is not None:
                    watcher.observe(event, at, twin.handle(event, at))
            transitions += 1
            key = abstract(twin, at)
            if key not in seen:
                seen.add(key)
                todo.append((twin, watcher, at))
    return len(seen), transitions, moving


@dataclass(frozen=True, slots=True)
class Search:
    """One of the searches, and what it must count."""

    settings: ArbiterConfig
    now: tuple[events.Event | Making, ...]
    later: tuple[events.Event | Making, ...]
    counts: Counts

    def run(self) -> Counts:
        """Search."""
        return search(self.settings, _made(self.now), _made(self.later))


def _made(listed: Sequence[events.Event | Making]) -> list[Making]:
    return [each if callable(each) else (lambda *_, event=each: event) for each in listed]


def posture(positions: tuple[float, ...]) -> Making:
    """The joints are measured there, now, and rest."""
    rest = (0.0,) * len(JOINTS)
    return lambda _, now: events.PostureSeen(Posture(JOINTS, positions, rest, now))


def goal(name: str, positions: tuple[float, ...] = AWAY[:4]) -> Making:
    """A goal that takes a step and a half; asked for again when it has ended."""
    four = (1.0,) * 4
    points = (Point(1.5 * STEP, positions),)
    asked = Goal(name, GoalKind.TRAJECTORY, BOT, JOINTS[:4], points, four, four, 1.0, 0.0)

    def making(arbiter: MotionArbiter, _: float) -> events.Event | None:
        errand, waiting = arbiter.state.errand, arbiter.state.waiting
        busy = [each.goal for each in (errand, waiting) if each is not None]
        return None if asked in busy else events.GoalAsked(asked)

    return making


def setpoint(arbiter: MotionArbiter, _: float) -> events.Event:
    """A set-point on the stream that was opened last."""
    return command(PAD, SETPOINT, topic="j", stream=arbiter.state.stream.id)


SETPOINT = JointCommand(JOINTS[:1], (0.6,), (0.1,), 1.5 * STEP)

GOALS = config(
    (PAD, True),
    (BOT, False),
    goal_source=BOT,
    setpoint_period=STEP,
    goals=GoalConfig(stop_time=STEP, feedback_timeout=1.5 * STEP, start_blend=STEP),
)

SEARCHES = {
    "one source, its driver and the latches": Search(
        config((PAD, True)),
        (
            events.Heartbeat(PAD, "a", True),
            events.Heartbeat(PAD, "a", False),
            events.SourceGone(PAD),
            command(PAD, STILL),
            command(PAD, FORWARD),
            command(PAD, BRIEF),
            command(PAD, NONSENSE),
            events.Replayed(PAD, AGAIN),
            events.Replayed(PAD, AGAIN, stops=True),
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
        ),
        (events.Tick(),),
        (9_357, 205_854, 156),
    ),
    "two sources and the order of their commands": Search(
        config((PAD, True), (BOT, False)),
        (
            *(
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
            ),
            events.Heartbeat(PAD, "b", True),
            command(PAD, FORWARD, OLD),
            command(PAD, STILL, OLD),
            command(PAD, BRIEF, topic="twist"),
            events.Replayed(PAD, AGAIN, stops=True),
            events.EStopPress(1, "x", ""),
            events.Reset(),
        ),
        (report(), events.JointFeedback(True), events.Tick()),
        (6_922, 138_440, 364),
    ),
    "goals, and a person beside them": Search(
        GOALS,
        (
            command(PAD, STILL),
            command(PAD, FORWARD),
            events.SourceGone(BOT),
            command(BOT, STILL),
            goal("1"),
            events.GoalCancelled("1"),
            events.EStopPress(1, "x", ""),
            events.Reset(),
            posture(HOME),
            posture(AWAY),
        ),
        (
            events.Heartbeat(PAD, "a", True),
            events.Heartbeat(BOT, "a", True),
            report(),
            events.JointFeedback(True),
            events.Tick(),
        ),
        (8_148, 89_628, 734),
    ),
    "a stream of set-points": Search(
        config((PAD, True), (BOT, False), stream_idle_timeout=2 * STEP),
        (
            *(
                event
                for name in (PAD, BOT)
                for event in (
                    events.Heartbeat(name, "a", True),
                    command(name, JointCommand(), topic="j"),
                    events.OpenStream(name, "a", 1),
                    events.CloseStream(name, "a"),
                )
            ),
            setpoint,
            command(PAD, FORWARD),
            events.Replayed(PAD, AGAIN, stops=True),
            events.Acquire(PAD, "a", take=True),
            events.SourceGone(PAD),
            events.EStopPress(1, "x", ""),
            events.Reset(),
        ),
        (report(), events.JointFeedback(True), events.Tick()),
        (2_548, 40_768, 56),
    ),
}
