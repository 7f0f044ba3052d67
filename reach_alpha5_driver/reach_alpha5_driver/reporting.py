"""Pictures of the core for those who publish them."""

from __future__ import annotations

import math

from reach_alpha5_common.command import Pose
from reach_alpha5_driver.belief import JointBelief
from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.devices import DEVICES, Device
from reach_alpha5_driver.protocol.codec import Damage
from reach_alpha5_driver.protocol.packets import Mode
from reach_alpha5_driver.snapshot import ArmPicture, JointPicture, LinkPicture
from reach_alpha5_driver.states import State

NO_LIMITS = (False,) * len(DEVICES)

NOT_DRIVEN = (None, Mode.DISABLE, Mode.PASSIVE)
"""Modes in which a device ignores every demand; None = not known."""

PACKET_ERRORS = ("unknown_device", "unknown_packet", "bad_payload")


def arm_picture(core: DriverCore, now: float) -> ArmPicture:
    """Return the driver and its arm as of `now`."""
    gate, belief, resolution = core.gate, core.telemetry.belief, core.resolution
    moving_to = Pose.UNSPECIFIED if resolution is None else resolution.moving_to
    demand = gate.demand
    posing = demand is not None and moving_to is not Pose.UNSPECIFIED
    return ArmPicture(
        at=now,
        state=gate.state,
        powered=core.connected
        and belief.answers(now)
        and all(joint.mode not in NOT_DRIVEN for joint in belief.joints),
        estop_level=gate.estop_level,
        estop_epoch=gate.estop_epoch,
        stream_open=demand is not None and gate.state is State.EXECUTING,
        fault_causes=tuple(gate.fault_causes),
        last_stop_cause=gate.last_stop_cause,
        stops=gate.stops,
        last_refusal=core.desk.refusals.last,
        link=_link_picture(core),
        joints=tuple(
            _joint_picture(device, joint, velocity, belief.stale(device.index, now), now)
            for device, joint, velocity in zip(
                DEVICES, belief.joints, belief.velocities(now), strict=True
            )
        ),
        posture_at=belief.newest(),
        control_mode=core.desk.control_mode,
        at_limit=NO_LIMITS if resolution is None else resolution.at_limit,
        moving_to=moving_to,
        pose_velocity=demand.command.known_pose.velocity if demand is not None and posing else 0.0,
    )


def _joint_picture(
    device: Device, joint: JointBelief, velocity: float, stale: bool, now: float
) -> JointPicture:
    return JointPicture(
        axis=device.joint,
        device_id=device.id,
        stale=stale,
        mode=joint.mode,
        position=joint.position,
        velocity=velocity,
        current=joint.current,
        temperature=joint.temperature,
        humidity=joint.humidity,
        voltage=joint.voltage,
        status_flags=joint.status_flags,
        age=now - joint.heard_at if math.isfinite(joint.heard_at) else math.nan,
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
    }
    counters |= {damage.value: getattr(decoded, damage.value) for damage in Damage}
    counters |= {code: telemetry.packet_errors[code] for code in PACKET_ERRORS}
    return LinkPicture(core.connected, counters, telemetry.rate)
