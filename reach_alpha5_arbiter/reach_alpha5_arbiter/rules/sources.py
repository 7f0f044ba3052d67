"""Sources: their heartbeats, their end, and the commands that they send."""

from __future__ import annotations

import math
from dataclasses import replace

from reach_alpha5_arbiter import admission, events
from reach_alpha5_arbiter.codes import RefusalCode, StopCause
from reach_alpha5_arbiter.errand import Ending, GoalOutcome, Waiting
from reach_alpha5_arbiter.machine import Machine
from reach_alpha5_arbiter.source import MAX_CLIENT_ID
from reach_alpha5_arbiter.tables import (
    GOAL_PHASES,
    MOVING,
    ActivityEvent,
    ArmingEvent,
    LeaseEvent,
    Liveness,
    LivenessEvent,
)
from reach_alpha5_common.command import JointCommand


def on_heartbeat(m: Machine, event: events.Heartbeat) -> None:
    """Take that a client of a source is there, or says that it is not."""
    source = m.known(event.source)
    if source is None:
        return
    if not 0 < len(event.client_id) <= MAX_CLIENT_ID:
        m.refuse(RefusalCode.BAD_CLIENT_ID.problem(), event.source)
        return
    heard = source.heard(event.client_id, event.present, m.state.now)
    m.state.sources[event.source] = heard
    if len(heard.clients) > max(1, len(source.clients)):
        m.refuse(RefusalCode.TWO_CLIENTS.problem(event.client_id), event.source)
        expel(m, event.source, StopCause.TWO_CLIENTS)
    elif source.liveness is Liveness.LIVE and not event.present:
        expel(m, event.source, StopCause.SOURCE_GONE)


def on_source_gone(m: Machine, event: events.SourceGone) -> None:
    """Take that nobody publishes a source's heartbeat any more."""
    if m.known(event.source) is not None:
        silence(m, event.source, LivenessEvent.LOST, StopCause.SOURCE_GONE)


def silence(m: Machine, name: str, event: LivenessEvent, cause: StopCause) -> None:
    """Take that a source is not heard any more."""
    m.state.sources[name] = m.state.sources[name].silenced(event)
    expel(m, name, cause)


def expel(m: Machine, name: str, cause: StopCause) -> None:
    """Take from a source that is not live any more all that it had."""
    state = m.state
    state.sources[name] = replace(state.sources[name], newest=None)
    m.disarm(name, ArmingEvent.NOT_LIVE)
    if state.errand is not None and state.errand.goal.source == name:
        m.act(ActivityEvent.HALT, cause)
    if state.lease.owner == name:
        m.act(ActivityEvent.HALT, cause)
        m.change_owner(LeaseEvent.LOST, None)


def on_command(m: Machine, event: events.Command) -> None:
    """Take a command: refuse it, let it end motion, or move the arm by it."""
    known = m.known(event.source)
    if known is None:
        return
    source = known.written(event.topic, event.writer, m.state.now)
    problem = admission.against_command(event, source, admission.Situation(m.state, m.config))
    m.state.sources[event.source] = replace(
        source,
        commands=source.commands + 1,
        refusals=source.refusals + (problem is not None),
        command_at=m.state.now,
        newest=admission.order_after(event, source, problem),
    )
    if problem is not None:
        m.refuse(problem, event.source)
        m.disarm(event.source, ArmingEvent.REFUSED)
        if source.voices > max(1, known.voices):
            expel(m, event.source, StopCause.TWO_CLIENTS)
        m.halt_owner(event.source, ActivityEvent.HALT, StopCause.COMMAND_REFUSED)
        return
    if m.state.stream.is_open_for(event.source) and m.state.stream.has(event.command):
        m.state.stream = m.state.stream.heard(m.state.now)
    if event.command.is_neutral:
        _rest(m, event.source)
    else:
        _move(m, event)


def on_replayed(m: Machine, event: events.Replayed) -> None:
    """Refuse what was said again: it is no sign of life, and at most stops its source."""
    m.refuse(event.problem, event.source)
    source = m.state.sources.get(event.source)
    if source is None:
        return
    m.state.sources[event.source] = replace(source, refusals=source.refusals + 1)
    if event.stops:
        m.disarm(event.source, ArmingEvent.REFUSED)
        m.halt_owner(event.source, ActivityEvent.HALT, StopCause.COMMAND_REFUSED)


def _rest(m: Machine, name: str) -> None:
    """Take a neutral command."""
    state = m.state
    state.sources[name] = state.sources[name].armed_by(ArmingEvent.NEUTRAL)
    if state.waiting is not None and state.waiting.source == name:
        m.drop_waiting(StopCause.NEUTRAL)
    m.halt_owner(name, ActivityEvent.EASE, StopCause.NEUTRAL)


def _move(m: Machine, event: events.Command) -> None:
    """Take a moving command that nothing stands against: at once, or when a goal has ended."""
    state, name, command = m.state, event.source, event.command
    owner = state.lease.owner
    preempts = owner not in (None, name)
    if owner is None:
        m.change_owner(LeaseEvent.FIRST_MOVE, name)
    elif preempts:
        m.disarm(owner, ArmingEvent.OUSTED)
        m.change_owner(LeaseEvent.PREEMPT, name)
    m.drop_waiting(StopCause.REPLACED)
    ends_at = state.now + (command.lifetime or math.inf)
    if state.motion.activity in GOAL_PHASES:
        cause = StopCause.PREEMPTED if preempts else StopCause.REPLACED
        m.act(ActivityEvent.SLOW, cause, Ending.of(GoalOutcome.ABORTED, cause))
        state.waiting = Waiting(name, command, ends_at=ends_at)
    else:
        m.move(command, ends_at)


def let_time_pass(m: Machine) -> None:
    """Let watchdogs of sources lapse, and lifetimes of commands end."""
    state = m.state
    for name, source in state.sources.items():
        stands = state.lease.owner == name and state.motion.command is not None
        state.sources[name] = source.aged(state.now, stands)
        if source.liveness is not Liveness.SILENT and state.now >= source.lapses_at():
            silence(m, name, LivenessEvent.LAPSE, StopCause.SOURCE_SILENT)
    lapsed_at = state.motion.said_at + m.config.command_lifetime
    if state.motion.activity in MOVING and state.now >= lapsed_at:
        # Whoever is held up for so long has not heard a release yet either.
        m.disarm(_asker(m), ArmingEvent.LAPSED)
        m.act(ActivityEvent.HALT, StopCause.LAPSED)
    if state.now >= state.motion.ends_at:
        m.act(ActivityEvent.HALT, StopCause.LIFETIME_ENDED)


def doubt_what_waits(m: Machine) -> None:
    """Drop a command that waits after the arbiter was held up: a release may lie unheard."""
    waiting = m.state.waiting
    if waiting is not None and waiting.goal is None:
        m.disarm(waiting.source, ArmingEvent.LAPSED)


def _asker(m: Machine) -> str:
    """Return whose motion the driver was told of last."""
    errand, owner = m.state.errand, m.state.lease.owner
    name = owner if errand is None else errand.goal.source
    assert name is not None
    return name


def repeat(m: Machine) -> None:
    """Say the standing command again, if it is due.

    A set-point is where the joints shall be at one time: said later it would be a wrong one.
    """
    motion = m.state.motion
    if motion.command is None or isinstance(motion.command, JointCommand):
        return
    # Half a period: a tick that comes a little early must not wait for the next one.
    if m.state.now - motion.said_at >= m.config.repeat_period / 2:
        m.move(motion.command, motion.ends_at)
