"""Pictures of the core as messages. Nothing is judged here."""

from __future__ import annotations

import math
from collections.abc import Callable

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import Point
from std_msgs.msg import Header

from reach_alpha5_common.messages import refusal_message
from reach_alpha5_driver.snapshot import ArmPicture, JointPicture
from reach_alpha5_driver.states import State
from reach_alpha5_msgs.msg import (
    ArmState,
    Gripper,
    GripperTel,
    JointHealth,
    KnownPose,
    LinkCounters,
)

TIP_FRAME = "base_link_frd"

Stamp = Callable[[float], Time]
"""Translates monotonic seconds to ROS time."""


def arm_state(picture: ArmPicture, prefix: str, port: str, stamp: Stamp) -> ArmState:
    """Return the message of a picture."""
    refusal = picture.last_refusal
    return ArmState(
        header=Header(stamp=stamp(picture.at)),
        state=int(picture.state),
        powered=picture.powered,
        emo=bool(picture.estop_level),
        emo_level=int(picture.estop_level),
        estop_epoch=picture.estop_epoch,
        stream_open=picture.stream_open,
        fault_causes=list(picture.fault_causes),
        last_stop_cause=picture.last_stop_cause,
        stops=picture.stops,
        last_refusal=refusal_message(refusal, stamp(refusal.at) if refusal else Time()),
        link=LinkCounters(
            connected=picture.link.connected,
            port=port,
            telemetry_rate=picture.link.telemetry_rate,
            **picture.link.counters,
        ),
        joints=[_joint_health(joint, prefix) for joint in picture.joints],
    )


def gripper_tel(picture: ArmPicture, tip: tuple[float, ...], stamp: Stamp) -> GripperTel:
    """Return the telemetry of a picture; `tip` in `base_link_frd` [m], NaN = unknown."""
    newest = picture.posture_at
    return GripperTel(
        header=Header(
            stamp=stamp(newest) if math.isfinite(newest) else Time(), frame_id=TIP_FRAME
        ),
        gripper=Gripper(
            control_mode=picture.control_mode,
            joint_positions=[joint.position for joint in picture.joints],
            end_position=Point(x=tip[0], y=tip[1], z=tip[2]),
            joint_at_limit=list(picture.at_limit),
            joint_fault=[_suspect(joint) for joint in picture.joints],
            moving_to=KnownPose(pose=int(picture.moving_to), velocity=picture.pose_velocity),
        ),
    )


def diagnostics(picture: ArmPicture, name: str, port: str) -> list[DiagnosticStatus]:
    """Return one status of the driver with its line, and one of each joint."""
    return [
        _driver_status(picture, name, port),
        *(_joint_status(joint, name, port) for joint in picture.joints),
    ]


def _joint_health(joint: JointPicture, prefix: str) -> JointHealth:
    return JointHealth(
        name=prefix + joint.axis,
        device_id=joint.device_id,
        stale=joint.stale,
        mode=JointHealth.MODE_UNKNOWN if joint.mode is None else joint.mode,
        position=joint.position,
        velocity=joint.velocity,
        current=joint.current,
        temperature=joint.temperature,
        humidity=joint.humidity,
        voltage=joint.voltage,
        status_flags=list(joint.status_flags),
        age=joint.age,
    )


def _suspect(joint: JointPicture) -> bool:
    return joint.stale or bool(joint.status_flags)


def _driver_status(picture: ArmPicture, name: str, port: str) -> DiagnosticStatus:
    level, text = DiagnosticStatus.OK, picture.state.name.lower()
    if picture.state is State.MAJOR_FAULT:
        level, text = DiagnosticStatus.ERROR, f"fault: {', '.join(picture.fault_causes)}"
    elif not picture.link.connected:
        level, text = DiagnosticStatus.ERROR, f"{port} is not open"
    elif picture.state is State.NONE:
        level, text = DiagnosticStatus.ERROR, "the arm does not answer"
    elif picture.estop_level:
        level, text = DiagnosticStatus.WARN, f"e-stop {picture.estop_level.name} is latched"
    values = {
        "telemetry_rate": f"{picture.link.telemetry_rate:.1f}",
        "stops": picture.stops,
        "last_stop_cause": picture.last_stop_cause,
        **picture.link.counters,
    }
    return _status(level, f"{name}: driver", text, port, values)


def _joint_status(joint: JointPicture, name: str, port: str) -> DiagnosticStatus:
    level, text = DiagnosticStatus.OK, "answers"
    if joint.stale:
        level, text = DiagnosticStatus.STALE, "no fresh position"
    elif joint.status_flags:
        level, text = DiagnosticStatus.WARN, ", ".join(joint.status_flags)
    values = {
        "mode": "unknown" if joint.mode is None else f"0x{joint.mode:02x}",
        "position": joint.position,
        "velocity": joint.velocity,
        "current": joint.current,
        "temperature": joint.temperature,
        "humidity": joint.humidity,
        "voltage": joint.voltage,
        "age": joint.age,
    }
    hardware = f"{port} device {joint.device_id}"
    return _status(level, f"{name}: {joint.axis}", text, hardware, values)


def _status(
    level: bytes, name: str, text: str, hardware: str, values: dict[str, object]
) -> DiagnosticStatus:
    return DiagnosticStatus(
        level=level,
        name=name,
        message=text,
        hardware_id=hardware,
        values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
    )
