"""Translate between the arbiter's messages and the values of its core. Nothing is judged here."""

from __future__ import annotations

import math
from collections.abc import Callable

from builtin_interfaces.msg import Duration, Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from reach_alpha5_arbiter.estop_endpoints import endpoint_status
from reach_alpha5_arbiter.events import ArmReport, JointFeedback
from reach_alpha5_arbiter.snapshot import Snapshot, SourceSnapshot
from reach_alpha5_arbiter.stream import Stream
from reach_alpha5_arbiter.tables import Activity
from reach_alpha5_arbiter.trajectory import JAWS
from reach_alpha5_common.messages import duration, refusal_message
from reach_alpha5_msgs import msg

ACTIVITIES = {
    Activity.STILL: msg.ArbiterState.STILL,
    Activity.JOGGING: msg.ArbiterState.JOGGING,
    Activity.TRAJECTORY: msg.ArbiterState.TRAJECTORY,
    Activity.SLOWING: msg.ArbiterState.TRAJECTORY,
    # To others a stop is a stop: it was sent, and is not confirmed yet.
    Activity.CONCLUDING: msg.ArbiterState.ENDING,
    Activity.EASING: msg.ArbiterState.ENDING,
    Activity.ENDING: msg.ArbiterState.ENDING,
}

Stamp = Callable[[float], Time]
"""Gives the wall-clock time of a monotonic time."""


def arm_report(message: msg.ArmState) -> ArmReport:
    """Return what decides of an `ArmState`."""
    return ArmReport(
        state=message.state,
        powered=message.powered,
        emo=message.emo,
        emo_level=message.emo_level,
        estop_epoch=message.estop_epoch,
        active=message.active,
        fault_causes=tuple(message.fault_causes),
        holds=tuple(message.holds),
        service_mode=message.service_mode,
        joint_names=tuple(joint.name for joint in message.joints),
    )


def joint_feedback(
    message: msg.ArmState, rest_velocity: float, rest_jaw_velocity: float
) -> JointFeedback:
    """Say whether all joints of an `ArmState` rest; limits in rad/s, and m/s for the jaws.

    A joint that is stale, or whose velocity is NaN, does not say so.
    """
    return JointFeedback(
        at_rest=len(message.joints) > 0
        and all(
            not joint.stale
            and abs(joint.velocity)
            <= (rest_jaw_velocity if joint.name.endswith(JAWS) else rest_velocity)
            for joint in message.joints
        )
    )


def arbiter_state(snapshot: Snapshot, now: float, stamp: Stamp) -> msg.ArbiterState:
    """Return the message of a snapshot taken at monotonic time `now` [s]."""
    cause, asked, goal = snapshot.last_stop_cause, snapshot.asked, snapshot.goal
    refusals = [refusal_message(refusal, stamp(refusal.at)) for refusal in snapshot.refusals]
    message = msg.ArbiterState(
        owner=snapshot.owner,
        lease_epoch=snapshot.lease_epoch,
        lease_age=_duration(snapshot.lease_age),
        activity=ACTIVITIES[snapshot.activity],
        estop_latched=snapshot.estop_latched,
        estop_level=int(snapshot.estop_level),
        estop_source=snapshot.estop_source,
        estop_reason=snapshot.estop_reason,
        fault_latched=snapshot.fault_latched,
        fault_causes=list(snapshot.fault_causes),
        driver_connected=snapshot.driver_connected,
        stops=snapshot.stops,
        last_refusal=refusals[0] if refusals else msg.Refusal(),
        earlier_refusals=refusals[1:],
        sources=[_source_status(source) for source in snapshot.sources],
        asked_by=asked.source,
        asked_granted=asked.granted,
        stream=_stream_status(snapshot.stream, now),
        goal=msg.GoalStatus(
            id=goal.id,
            action=goal.action,
            source=goal.source,
            state=int(goal.phase),
            elapsed=goal.elapsed,
            duration=goal.duration,
            code=goal.code,
        ),
        estop_endpoints=[endpoint_status(endpoint, now) for endpoint in snapshot.endpoints],
        upstream_lost=snapshot.upstream_lost,
    )
    message.header.stamp = stamp(now)
    if asked.source:
        message.asked_stamp = stamp(asked.at)
    if cause is not None:
        message.last_stop_cause = cause.code
        message.last_stop_stamp = stamp(snapshot.last_stop_at)
    return message


def _stream_status(stream: Stream, now: float) -> msg.StreamStatus:
    return msg.StreamStatus(
        open=stream.is_open,
        kind=int(stream.kind),
        source=stream.source,
        stream_id=stream.id,
        commands=stream.commands,
        idle_age=now - stream.heard_at if stream.is_open else math.nan,
        closed_because=stream.closed_because,
    )


def diagnostics(
    snapshot: Snapshot, counts: dict[tuple[str, str], int], name: str, now: Time
) -> DiagnosticArray:
    """Return the diagnostics: one status with the refusals counted by source and code."""
    level, text = _verdict(snapshot)
    values = {
        "owner": snapshot.owner or "nobody",
        "activity": snapshot.activity.name,
        "stops": snapshot.stops,
        "last_stop_cause": snapshot.last_stop_cause.code if snapshot.last_stop_cause else "",
        "driver_connected": snapshot.driver_connected,
        "driver": snapshot.unready or "ready",
        "goal": f"{snapshot.goal.action} {snapshot.goal.phase.name} {snapshot.goal.code}".strip(),
        "stream": f"{snapshot.stream.source} {snapshot.stream.state.name}".strip(),
        "upstream_lost": snapshot.upstream_lost,
    }
    for endpoint in snapshot.endpoints:
        values[f"endpoint {endpoint.config.name}"] = endpoint.state.name
    for source in snapshot.sources:
        values[f"{source.name} alive"] = source.alive
        values[f"{source.name} clients"] = source.clients
        values[f"{source.name} commands"] = source.commands
    for (code, source_name), count in sorted(counts.items()):
        values[f"refused {source_name} {code}"] = count
    status = DiagnosticStatus(
        level=level,
        name=f"{name}: arbiter",
        message=text,
        hardware_id="reach_alpha5",
        values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
    )
    message = DiagnosticArray(status=[status])
    message.header.stamp = now
    return message


def _verdict(snapshot: Snapshot) -> tuple[bytes, str]:
    if snapshot.estop_latched:
        return DiagnosticStatus.ERROR, f"e-stop latched by {snapshot.estop_source}"
    if snapshot.fault_latched:
        return DiagnosticStatus.ERROR, f"fault latched: {', '.join(snapshot.fault_causes)}"
    if snapshot.upstream_lost:
        return DiagnosticStatus.WARN, "the upstream link is lost"
    if snapshot.unready:
        return DiagnosticStatus.WARN, f"the driver cannot move the arm: {snapshot.unready}"
    crowded = [source.name for source in snapshot.sources if source.clients > 1]
    if crowded:
        return DiagnosticStatus.WARN, f"more than one client on {', '.join(crowded)}"
    return DiagnosticStatus.OK, snapshot.activity.name.lower()


def _source_status(source: SourceSnapshot) -> msg.SourceStatus:
    return msg.SourceStatus(
        name=source.name,
        person=source.person,
        present=source.present,
        alive=source.alive,
        neutral_required=source.neutral_required,
        heartbeat_age=source.heartbeat_age,
        command_age=source.command_age,
        client_id=source.client_id,
        clients=source.clients,
        commands=source.commands,
        refusals=source.refusals,
    )


def _duration(value: float) -> Duration:
    return Duration() if math.isnan(value) else duration(value)
