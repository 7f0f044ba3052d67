"""What keeps the arm still: e-stops, endpoints, faults, the driver, the link; and the reset."""

from __future__ import annotations

from dataclasses import replace

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import FaultCause, RefusalCode, StopCause
from reach_alpha5_arbiter.driver import BLOCKS, Standing
from reach_alpha5_arbiter.endpoint import Endpoint
from reach_alpha5_arbiter.machine import Machine
from reach_alpha5_arbiter.tables import (
    MOVING,
    UNCONFIRMED,
    Activity,
    ActivityEvent,
    ArmingEvent,
    LivenessEvent,
)
from reach_alpha5_arbiter.upstream import Upstream
from reach_alpha5_common.command import CommandKind, DriverCommand, StopLevel

# ---- e-stops -----------------------------------------------------------------------------------


def on_estop(m: Machine, event: events.EStopPress) -> None:
    """Latch an e-stop of anybody."""
    level = StopLevel.of(event.level)
    if level is not StopLevel.NONE:
        press(m, level, event.source, event.reason)


def press(m: Machine, level: StopLevel, source: str, reason: str) -> None:
    """Latch an e-stop, and say it to the driver."""
    m.state.latches = m.state.latches.pressed(level, source, reason)
    m.disarm_all(ArmingEvent.LATCH)
    # Said at each press, and not on the edge alone: a press is never too often.
    m.act(ActivityEvent.INSIST, StopCause.ESTOP)


def on_check_in(m: Machine, event: events.CheckIn) -> None:
    """Take what an e-stop endpoint says."""
    endpoint = m.state.endpoints.get(event.endpoint)
    if endpoint is None:
        m.refuse(RefusalCode.UNKNOWN_ENDPOINT.problem(), event.endpoint)
        return
    then, problem = endpoint.checked_in(
        event.challenge, event.response, event.level, event.reason, m.state.now
    )
    if problem is not None:
        m.refuse(problem, event.endpoint)
    _take(m, endpoint, then)


def on_endpoint_gone(m: Machine, event: events.EndpointGone) -> None:
    """Take that nobody publishes the check-ins of an endpoint any more."""
    endpoint = m.state.endpoints.get(event.endpoint)
    if endpoint is None:
        m.refuse(RefusalCode.UNKNOWN_ENDPOINT.problem(), event.endpoint)
    else:
        _take(m, endpoint, endpoint.lost())


def _take(m: Machine, before: Endpoint, then: Endpoint) -> None:
    """Keep an endpoint; press the e-stop when it comes to stand for more than before."""
    name = then.config.name
    m.state.endpoints[name] = then
    if then.stands_for > before.stands_for or (before.is_clear and not then.is_clear):
        press(m, then.stands_for, f"endpoint {name}", then.why)


def on_reset(m: Machine, event: events.Reset) -> None:
    """Clear the latches, ours and the driver's, if no endpoint stands against it."""
    state = m.state
    unclear = [e.config.name for e in state.endpoints.values() if not e.is_clear]
    against = RefusalCode.ENDPOINT_NOT_CLEAR.problem(", ".join(unclear)) if unclear else None
    if not m.allows(against, unclear[0] if unclear else ""):
        return
    m.act(ActivityEvent.HALT, StopCause.RESET)
    state.latches = state.latches.reset()
    m.disarm_all(ArmingEvent.RESET)
    report = state.driver.report
    epoch = report.estop_epoch if report else 0
    state.driver = state.driver.reset()
    m.say(DriverCommand(CommandKind.RESET, estop_epoch=epoch))
    message = "latches cleared; motion needs a neutral command first"
    if report is None:
        message += "; the driver is not heard, so that its own latch may stand"
    m.out.append(events.Reply(True, "", message))


# ---- the driver --------------------------------------------------------------------------------


def on_arm_report(m: Machine, event: events.ArmReport) -> None:
    """Take what the driver says of itself and its arm."""
    state = m.state
    before = state.driver
    state.driver = driver = before.heard(event, state.now)
    if before.latches_estop(event):
        latched = driver.pressed(state.latches)
        if latched is not state.latches:
            state.latches = latched
            m.disarm_all(ArmingEvent.LATCH)
            m.act(ActivityEvent.HALT, StopCause.ESTOP)
    if before.latches_fault(event):
        m.latch_fault(FaultCause.DRIVER_FAULT.code, *event.fault_causes)
    if before.report is None:
        m.act(ActivityEvent.INSIST, StopCause.DRIVER_HEARD)
    elif before.standing is Standing.READY and driver.standing in BLOCKS:
        m.disarm_all(ArmingEvent.NOT_READY)
        m.act(ActivityEvent.HALT, BLOCKS[driver.standing][1])
    if state.errand is not None and driver.is_executing:
        state.errand = replace(state.errand, is_obeyed=True)
    _confirm(m, arm_rests=not driver.is_executing)


def on_joint_feedback(m: Machine, event: events.JointFeedback) -> None:
    """Take whether the joints rest."""
    _confirm(m, joints_rest=event.at_rest)


def _confirm(m: Machine, joints_rest: bool | None = None, arm_rests: bool | None = None) -> None:
    if m.state.motion.activity in UNCONFIRMED:
        m.state.motion = m.state.motion.confirmed(joints_rest, arm_rests)
        if m.state.motion.is_confirmed:
            m.act(ActivityEvent.REST)


# ---- the upstream link -------------------------------------------------------------------------


def on_upstream_beat(m: Machine, event: events.UpstreamBeat) -> None:
    """Take a heartbeat of the upstream link."""
    _link(m, m.state.upstream.heard(event.present, m.state.now))


def on_upstream_gone(m: Machine, event: events.UpstreamGone) -> None:
    """Take that nobody publishes the upstream link's heartbeat any more."""
    _link(m, m.state.upstream.silenced(LivenessEvent.LOST))


def _link(m: Machine, then: Upstream) -> None:
    before, m.state.upstream = m.state.upstream, then
    if then.is_lost and not before.is_lost:
        m.disarm_all(ArmingEvent.NOT_READY)
        m.act(ActivityEvent.HALT, StopCause.UPSTREAM_LOST)


# ---- time --------------------------------------------------------------------------------------


def let_time_pass(m: Machine) -> None:
    """Let the driver, the endpoints and the link be lost, and stops be overdue."""
    state, now = m.state, m.state.now
    for endpoint in list(state.endpoints.values()):
        if now >= endpoint.lapses_at():
            _take(m, endpoint, endpoint.lapsed())
    if now >= state.upstream.lapses_at:
        _link(m, state.upstream.silenced(LivenessEvent.LAPSE))
    if state.driver.report and now - state.driver.heard_at >= m.config.driver_timeout:
        _lose_driver(m)
    asked = state.motion.activity in MOVING
    if asked and now - state.driver.idle_since >= m.config.driver_timeout:
        m.disarm_all(ArmingEvent.NOT_READY)
        m.act(ActivityEvent.HALT, StopCause.DRIVER_IDLE)


def _lose_driver(m: Machine) -> None:
    m.state.driver = m.state.driver.silenced()
    m.disarm_all(ArmingEvent.NOT_READY)
    if m.state.motion.activity is not Activity.STILL:
        m.act(ActivityEvent.HALT, StopCause.DRIVER_LOST)
        m.latch_fault(FaultCause.DRIVER_LOST.code)


def challenge(m: Machine) -> None:
    """Give the e-stop endpoints their next challenges."""
    for name, endpoint in m.state.endpoints.items():
        if m.state.now >= endpoint.challenge_at():
            then = endpoint.challenged(m.state.now)
            m.state.endpoints[name] = then
            assert then.challenge is not None
            m.out.append(events.Challenge(name, then.challenge))
