"""What stands against a command or a request: every check, in order, and nothing but checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reach_alpha5_arbiter.codes import RefusalCode
from reach_alpha5_arbiter.config import ArbiterConfig
from reach_alpha5_arbiter.driver import BLOCKS
from reach_alpha5_arbiter.events import (
    Acquire,
    CloseStream,
    Command,
    GoalAsked,
    OpenStream,
    Return,
)
from reach_alpha5_arbiter.motion import Lease
from reach_alpha5_arbiter.source import Place, Source
from reach_alpha5_arbiter.state import State
from reach_alpha5_arbiter.stream import KINDS, Stream
from reach_alpha5_arbiter.tables import Activity, Liveness
from reach_alpha5_arbiter.trajectory import ErrorCode, Failure, goal_problem
from reach_alpha5_common.command import JointCommand, MotionCommand, StopLevel, TwistCommand
from reach_alpha5_common.refusal import Problem

NANO = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Situation:
    """What a command, a goal or a request meets."""

    state: State
    config: ArbiterConfig

    @property
    def owner(self) -> str | None:
        """Who holds the lease."""
        return self.state.lease.owner

    @property
    def has_goal(self) -> bool:
        """Whether a goal owns the arm, or waits for it."""
        waiting = self.state.waiting
        return self.state.errand is not None or (waiting is not None and waiting.goal is not None)

    @property
    def may_be_preempted(self) -> bool:
        """Whether a person takes the arm by moving it: from goals, also between two of them."""
        if self.owner is None or self.owner != self.config.goal_source:
            return False
        still = self.state.motion.activity is Activity.STILL
        return self.has_goal or (still and not self.state.stream.is_open_for(self.owner))


def against_command(event: Command, source: Source, situation: Situation) -> Problem | None:
    """Return the first thing that stands against the command, or None."""
    malformed = event.command.problem() or _against_lifetime(event.command, situation.config)
    if malformed is not None:
        return malformed
    for code in _against(event, source, situation):
        return code.problem()
    return None if event.command.is_neutral else event.veto


def order_after(event: Command, source: Source, problem: Problem | None) -> Place | None:
    """Return the place that those of later commands are compared with; None = any is in order.

    A neutral command that is too old restarts the order: were it not so, a sender whose clock was
    set back would be locked out, and the arm could not be steered by it.
    """
    stale = problem is not None and problem.code == RefusalCode.STALE_STAMP.code
    obeyed = problem is None or (stale and event.command.is_neutral)
    return Place(event.stamp, event.topic) if obeyed else source.newest


def against_acquire(event: Acquire, source: Source | None, owner: str | None) -> Problem | None:
    """Return the first thing that stands against acquiring or taking the lease, or None."""
    problem = _against_client(source, event.client_id)
    if source is None or problem is not None or owner in (None, event.source):
        return problem
    if not event.take:
        return RefusalCode.LEASE_HELD.problem(f"owner: {owner}")
    return None if source.config.person else RefusalCode.NOT_A_PERSON.problem()


def against_return(event: Return, source: Source | None, lease: Lease) -> Problem | None:
    """Return the first thing that stands against returning the lease, or None."""
    problem = _against_client(source, event.client_id)
    if problem is not None:
        return problem
    if lease.owner != event.source:
        return RefusalCode.NOT_OWNER.problem(f"owner: {lease.owner or 'nobody'}")
    if event.lease_epoch not in (0, lease.epoch):
        return RefusalCode.WRONG_EPOCH.problem(f"present epoch: {lease.epoch}")
    return None


def against_open(event: OpenStream, source: Source | None, situation: Situation) -> Problem | None:
    """Return the first thing that stands against opening a stream, or None."""
    problem = _against_client(source, event.client_id)
    if problem is not None:
        return problem
    longest = situation.config.stream_idle_timeout
    if event.kind not in KINDS:
        return RefusalCode.BAD_STREAM.problem(f"kind {event.kind}")
    if not 0.0 <= event.idle_timeout <= longest:
        return RefusalCode.BAD_STREAM.problem(
            f"idle_timeout is {event.idle_timeout:g} s, the longest {longest:g} s"
        )
    for code in _against_motion(situation):
        return code.problem()
    if situation.owner not in (None, event.source):
        return RefusalCode.NOT_OWNER.problem(f"owner: {situation.owner}")
    if situation.has_goal:
        return RefusalCode.GOAL_ACTIVE.problem()
    return RefusalCode.STREAM_OPEN.problem() if situation.state.stream.is_open else None


def against_close(event: CloseStream, source: Source | None, stream: Stream) -> Problem | None:
    """Return the first thing that stands against closing a stream, or None."""
    problem = _against_client(source, event.client_id)
    if problem is None and not (
        stream.is_open_for(event.source) and event.stream_id in (0, stream.id)
    ):
        return RefusalCode.NO_STREAM.problem()
    return problem


def against_goal(event: GoalAsked, situation: Situation) -> Failure | None:
    """Return the first thing that stands against a goal, or None. A hold needs a live source."""
    goal, state = event.goal, situation.state
    source = state.sources.get(goal.source)
    if source is None or goal.source != situation.config.goal_source:
        return RefusalCode.NOT_GOAL_SOURCE.problem(), ErrorCode.INVALID_GOAL
    for code in _against_presence(source):
        return code.problem(), ErrorCode.INVALID_GOAL
    report = state.driver.report
    if goal.is_hold:
        return None
    for code in _against_goal(source, situation):
        return code.problem(), ErrorCode.INVALID_GOAL
    names = report.joint_names if report is not None else ()
    malformed = goal_problem(goal, names, situation.config.goals)
    if malformed is not None or event.veto is None:
        return malformed
    return event.veto, ErrorCode.INVALID_GOAL


def _against(event: Command, source: Source, situation: Situation) -> Iterator[RefusalCode]:
    yield from _against_presence(source)
    if event.stamp - event.wall > situation.config.max_future * NANO:
        yield RefusalCode.FUTURE_STAMP
    place = Place(event.stamp, event.topic)
    if source.newest is not None and place.is_before(source.newest):
        yield RefusalCode.STALE_STAMP
    if event.command.is_neutral:
        return
    if source.newest is not None and place.is_ambiguous_with(source.newest):
        yield RefusalCode.STALE_STAMP
    yield from _against_motion(situation)
    preempts = source.config.person and situation.may_be_preempted
    if situation.owner not in (None, event.source) and not preempts:
        yield RefusalCode.NOT_OWNER
    yield from _against_stream(event, situation.state.stream)
    if not source.is_armed:
        yield RefusalCode.NEUTRAL_REQUIRED


def _against_motion(situation: Situation) -> Iterator[RefusalCode]:
    """Yield what keeps the arm still, whoever asks."""
    state = situation.state
    if state.latches.estop is not StopLevel.NONE:
        yield RefusalCode.ESTOP_LATCHED
    if state.latches.is_faulted:
        yield RefusalCode.FAULT_LATCHED
    if state.upstream.is_lost:
        yield RefusalCode.UPSTREAM_LOST
    block = BLOCKS.get(state.driver.standing)
    if block is not None:
        yield block[0]


def _against_stream(event: Command, stream: Stream) -> Iterator[RefusalCode]:
    is_open = stream.is_open_for(event.source)
    if isinstance(event.command, JointCommand):
        if not (is_open and stream.has(event.command) and event.stream_id == stream.id):
            yield RefusalCode.NO_STREAM
    elif is_open and not stream.has(event.command):
        yield RefusalCode.STREAM_OPEN


def _against_goal(source: Source, situation: Situation) -> Iterator[RefusalCode]:
    yield from _against_motion(situation)
    name = source.config.name
    if situation.owner not in (None, name):
        yield RefusalCode.LEASE_HELD
    if situation.state.stream.is_open_for(name):
        yield RefusalCode.STREAM_OPEN
    if not source.is_armed:
        yield RefusalCode.NEUTRAL_REQUIRED


def _against_lifetime(command: MotionCommand, config: ArbiterConfig) -> Problem | None:
    """Say why a twist or a set-point could run away: its lifetime is none, or too long [s]."""
    bounds = {
        TwistCommand: (config.max_twist_lifetime, RefusalCode.BAD_LIFETIME),
        JointCommand: (config.command_lifetime, RefusalCode.BAD_SETPOINT_LIFETIME),
    }
    bound = bounds.get(type(command))
    if bound is None or command.is_neutral:
        return None
    longest, code = bound
    if 0.0 < command.lifetime <= longest:
        return None
    return code.problem(f"lifetime is {command.lifetime:g} s, the longest {longest:g} s")


def _against_presence(source: Source) -> Iterator[RefusalCode]:
    if source.liveness is not Liveness.LIVE:
        yield RefusalCode.SOURCE_NOT_ALIVE
    if source.voices > 1:
        yield RefusalCode.TWO_CLIENTS


def _against_client(source: Source | None, client_id: str) -> Problem | None:
    if source is None:
        return RefusalCode.UNKNOWN_SOURCE.problem()
    for code in _against_presence(source):
        return code.problem()
    if client_id != source.client_id:
        return RefusalCode.WRONG_CLIENT.problem(client_id[:40])
    return None
