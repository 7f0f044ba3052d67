"""The lease and the streams under it: acquired, taken, returned, opened, closed, released."""

from __future__ import annotations

from reach_alpha5_arbiter import admission, events
from reach_alpha5_arbiter.codes import Code, StopCause
from reach_alpha5_arbiter.machine import Machine
from reach_alpha5_arbiter.snapshot import Asked
from reach_alpha5_arbiter.stream import StreamEnd, StreamKind
from reach_alpha5_arbiter.tables import (
    Activity,
    ActivityEvent,
    ArmingEvent,
    LeaseEvent,
    StreamEvent,
)


def on_acquire(m: Machine, event: events.Acquire) -> None:
    """Take a request for the lease."""
    name, owner = event.source, m.state.lease.owner
    source = m.state.sources.get(name)
    allowed = m.allows(admission.against_acquire(event, source, owner), name)
    if source is not None:
        m.state.asked = Asked(name, allowed, m.state.now)
    if not allowed:
        return
    if owner == name:
        m.out.append(events.Reply(True, "", "it is yours already"))
        return
    if owner is not None:
        m.act(ActivityEvent.HALT, StopCause.LEASE_TAKEN)
        m.disarm(owner, ArmingEvent.OUSTED)
    m.change_owner(LeaseEvent.TAKE if owner else LeaseEvent.ACQUIRE, name)
    m.disarm(name, ArmingEvent.GRANT)
    m.out.append(events.Reply(True, "", "granted; motion needs a neutral command first"))


def on_return(m: Machine, event: events.Return) -> None:
    """Take that the owner gives the lease back."""
    name = event.source
    source = m.state.sources.get(name)
    if m.allows(admission.against_return(event, source, m.state.lease), name):
        m.act(ActivityEvent.HALT, StopCause.LEASE_RETURNED)
        m.disarm(name, ArmingEvent.OUSTED)
        m.change_owner(LeaseEvent.RETURN, None)
        m.out.append(events.Reply(True, "", "returned"))


def on_open_stream(m: Machine, event: events.OpenStream) -> None:
    """Open a stream, and acquire the lease for it."""
    state, name = m.state, event.source
    source = state.sources.get(name)
    situation = admission.Situation(state, m.config)
    if not m.allows(admission.against_open(event, source, situation), name):
        return
    m.halt_owner(name, ActivityEvent.HALT, StopCause.REPLACED)
    if state.lease.owner is None:
        m.change_owner(LeaseEvent.STREAM, name)
    m.disarm(name, ArmingEvent.GRANT)
    timeout = event.idle_timeout or m.config.stream_idle_timeout
    state.stream = state.stream.opened(StreamKind(event.kind), name, timeout, state.now)
    m.out.append(events.Reply(True, "", "open; motion needs a neutral command first"))


def on_close_stream(m: Machine, event: events.CloseStream) -> None:
    """Close the stream of a source, and return the lease."""
    name = event.source
    source = m.state.sources.get(name)
    if m.allows(admission.against_close(event, source, m.state.stream), name):
        _close(m, StreamEvent.CLOSE, StreamEnd.CLOSED, StopCause.STREAM_CLOSED)
        m.out.append(events.Reply(True, "", "closed"))


def _close(m: Machine, event: StreamEvent, because: Code, cause: StopCause) -> None:
    state = m.state
    name = state.stream.source
    state.stream = state.stream.closed(event, because)
    m.halt_owner(name, ActivityEvent.HALT, cause)
    m.disarm(name, ArmingEvent.OUSTED)
    if state.lease.owner == name:
        m.change_owner(LeaseEvent.RETURN, None)


def let_time_pass(m: Machine) -> None:
    """Close an idle stream, and release the lease of an idle owner."""
    state, now = m.state, m.state.now
    if now >= state.stream.idles_at:
        _close(m, StreamEvent.IDLE, StreamEnd.IDLE, StopCause.STREAM_IDLE)
    owner = state.lease.owner
    if owner is None or now - state.lease.idle_since < state.sources[owner].config.idle_release:
        return
    # While its motion fades it stays the owner: whatever ends that at once looks for it there.
    # What waits for the arm to rest, and an open stream, have time-outs of their own.
    fades = state.motion.activity is Activity.EASING
    waits = state.waiting is not None and state.waiting.source == owner
    if not (fades or waits or state.stream.is_open_for(owner)):
        m.change_owner(LeaseEvent.IDLE, None)
