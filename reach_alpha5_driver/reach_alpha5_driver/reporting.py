"""Pictures of the core for those who publish them."""

from __future__ import annotations

from reach_alpha5_common.command import GripperCommand, KnownPose, Pose
from reach_alpha5_driver.belief import REPORTED
from reach_alpha5_driver.budget import planned_rate
from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.demand import Demand
from reach_alpha5_driver.devices import DEVICES, Device
from reach_alpha5_driver.fault_table import Severity
from reach_alpha5_driver.holds import Hold
from reach_alpha5_driver.protocol.codec import Damage
from reach_alpha5_driver.quantities import QUANTITIES
from reach_alpha5_driver.snapshot import ArmPicture, JointPicture, LinkPicture
from reach_alpha5_driver.states import State
from reach_alpha5_motion.resolver import Resolution

NO_LIMITS = (False,) * len(DEVICES)

PACKET_ERRORS = ("unknown_device", "unknown_packet", "bad_payload")


def arm_picture(core: DriverCore, now: float) -> ArmPicture:
    """Return the driver and its arm as of `now`."""
    gate, belief, resolution = core.gate, core.telemetry.belief, core.motion.resolution
    supervisor = core.supervisor
    demand = gate.demand
    wrong = {
        joint
        for finding in supervisor.findings
        if finding.severity is not Severity.WARN
        for joint in finding.code.split()[1:]
    }
    return ArmPicture(
        at=now,
        state=gate.state,
        powered=core.connected and belief.answers(now) and Hold.UNPOWERED not in gate.holds,
        estop_level=gate.estop_level,
        estop_epoch=gate.estop_epoch,
        stream_open=demand is not None and gate.state is State.EXECUTING,
        fault_causes=tuple(gate.fault_causes),
        last_stop_cause=gate.last_stop_cause,
        stops=gate.stops,
        last_refusal=core.desk.refusals.last,
        link=_link_picture(core),
        joints=tuple(
            _joint_picture(core, device, now, wrong=device.joint in wrong) for device in DEVICES
        ),
        posture_at=belief.newest(),
        control_mode=core.desk.control_mode,
        active=Hold.INACTIVE not in gate.holds,
        identified=supervisor.identification.complete,
        service_mode=core.config.service_mode,
        holding=supervisor.grip.holding,
        holds=tuple(hold.code for hold in gate.holds),
        mismatches=tuple(mismatch.label for mismatch in supervisor.mismatches),
        plannable=supervisor.plannable,
        warnings=tuple(
            finding.code for finding in supervisor.findings if finding.severity is Severity.WARN
        ),
        at_limit=NO_LIMITS if resolution is None else resolution.at_limit,
        blocked_by=() if resolution is None else resolution.blocked_by,
        moving_to=_moving_to(resolution, demand),
    )


def _moving_to(resolution: Resolution | None, demand: Demand | None) -> KnownPose:
    """Return the pose that the arm moves towards, and how fast it is asked to."""
    if resolution is None or demand is None or resolution.moving_to is Pose.UNSPECIFIED:
        return KnownPose()
    command, name = demand.command, resolution.moving_to_name
    return KnownPose(
        resolution.moving_to,
        command.known_pose.velocity if isinstance(command, GripperCommand) else 0.0,
        name if resolution.moving_to is Pose.NAMED else "",
    )


def _joint_picture(core: DriverCore, device: Device, now: float, *, wrong: bool) -> JointPicture:
    belief, index = core.telemetry.belief, device.index
    stale = belief.stale(index, now)
    values = {quantity.name: belief.value(index, quantity.name, now) for quantity in QUANTITIES}
    return JointPicture(
        axis=device.joint,
        device_id=device.id,
        stale=stale,
        mode=belief.mode(index, now),
        position=belief.joints[index].position,
        values={"velocity": belief.velocities(now)[index], **values},
        status_flags=belief.status_flags(index, now),
        ages={name: belief.age(index, name, now) for name in REPORTED},
        identity=core.supervisor.identification.identity.devices[index],
        suspect=stale or wrong,
    )


def _link_picture(core: DriverCore) -> LinkPicture:
    telemetry = core.telemetry
    decoded = telemetry.decoder.counters
    counters = {
        "bytes_received": decoded.bytes,
        "bytes_sent": core.outbox.bytes_sent,
        "frames_received": decoded.frames,
        "frames_sent": core.outbox.frames_sent,
        "frames_recovered": decoded.recovered,
        "implausible": telemetry.belief.implausible,
        "requests_unanswered": telemetry.poller.unanswered,
        "reconnects": max(0, core.connections - 1),
        "guard_trips": core.guard_trips,
    }
    counters |= {damage.value: getattr(decoded, damage.value) for damage in Damage}
    counters |= {code: telemetry.packet_errors[code] for code in PACKET_ERRORS}
    return LinkPicture(
        core.connected,
        counters,
        telemetry.rate,
        planned_rate(core.config.schedule),
        core.latency_timer,
    )
