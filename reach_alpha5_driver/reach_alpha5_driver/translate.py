"""Pictures of the core as messages. Nothing is judged here."""

from __future__ import annotations

import math
from collections.abc import Callable

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import Point
from std_msgs.msg import Header

from reach_alpha5_common.command import StopLevel
from reach_alpha5_common.messages import known_pose, refusal_message
from reach_alpha5_driver.identity import DeviceIdentity
from reach_alpha5_driver.snapshot import ArmPicture, Clearance, JointPicture
from reach_alpha5_driver.states import State
from reach_alpha5_msgs.msg import (
    ArmState,
    DeviceInfo,
    Gripper,
    GripperTel,
    JointHealth,
    LinkCounters,
)

TIP_FRAME = "base_link_frd"

Stamp = Callable[[float], Time]
"""Translates monotonic seconds to ROS time."""


def arm_state(
    picture: ArmPicture, clearance: Clearance, prefix: str, port: str, stamp: Stamp
) -> ArmState:
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
        blocked_by=list(picture.blocked_by),
        collision=picture.collides,
        collision_pair=clearance.pair,
        clearance=clearance.distance,
        active=picture.active,
        identified=picture.identified,
        service_mode=picture.service_mode,
        holds=list(picture.holds),
        mismatches=list(picture.mismatches),
        plannable=picture.plannable,
        warnings=list(picture.warnings),
        fault_causes=list(picture.fault_causes),
        last_stop_cause=picture.last_stop_cause,
        stops=picture.stops,
        last_refusal=refusal_message(refusal, stamp(refusal.at) if refusal else Time()),
        link=LinkCounters(
            connected=picture.link.connected,
            port=port,
            telemetry_rate=picture.link.telemetry_rate,
            telemetry_planned=picture.link.telemetry_planned,
            latency_timer=picture.link.latency_timer,
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
            collision=picture.collides,
            holding=picture.holding,
            joint_fault=[joint.suspect for joint in picture.joints],
            moving_to=known_pose(picture.moving_to),
        ),
    )


def diagnostics(picture: ArmPicture, name: str, port: str) -> list[DiagnosticStatus]:
    """Return one status of the driver with its line, and one of each joint."""
    return [
        _driver_status(picture, name, port),
        *(_joint_status(picture, joint, name, port) for joint in picture.joints),
    ]


def _joint_health(joint: JointPicture, prefix: str) -> JointHealth:
    return JointHealth(
        name=prefix + joint.axis,
        device_id=joint.device_id,
        stale=joint.stale,
        mode=JointHealth.MODE_UNKNOWN if joint.mode is None else joint.mode,
        position=joint.position,
        status_flags=list(joint.status_flags),
        age=joint.ages["position"],
        **joint.values,
        **{f"{name}_age": age for name, age in joint.ages.items() if name != "position"},
        device=_device_info(joint.identity),
    )


def _device_info(identity: DeviceIdentity) -> DeviceInfo:
    names = DeviceInfo.get_fields_and_field_types()
    return DeviceInfo(**{name: getattr(identity, name) for name in names})


def _driver_status(picture: ArmPicture, name: str, port: str) -> DiagnosticStatus:
    level, text = _driver_level(picture, port)
    values = {
        "telemetry_rate": f"{picture.link.telemetry_rate:.1f}",
        "telemetry_planned": f"{picture.link.telemetry_planned:.1f}",
        "latency_timer_ms": picture.link.latency_timer,
        "stops": picture.stops,
        "last_stop_cause": picture.last_stop_cause,
        "holds": ", ".join(picture.holds),
        "mismatches": ", ".join(picture.mismatches),
        **picture.link.counters,
    }
    return _status(level, f"{name}: driver", text, port, values)


def _driver_level(picture: ArmPicture, port: str) -> tuple[bytes, str]:
    """Return how bad it is, and the worst of it in words."""
    causes = ", ".join(picture.fault_causes)
    for applies, level, text in (
        (picture.state is State.MAJOR_FAULT, DiagnosticStatus.ERROR, f"fault: {causes}"),
        (picture.state is State.MINOR_FAULT, DiagnosticStatus.ERROR, f"minor fault: {causes}"),
        (
            picture.estop_level is not StopLevel.NONE,
            DiagnosticStatus.WARN,
            f"e-stop {picture.estop_level.name} is latched",
        ),
        (not picture.active, DiagnosticStatus.OK, "inactive"),
        (not picture.link.connected, DiagnosticStatus.ERROR, f"{port} is not open"),
        (picture.state is State.NONE, DiagnosticStatus.ERROR, "the arm does not answer"),
        (bool(picture.holds), DiagnosticStatus.WARN, f"held: {', '.join(picture.holds)}"),
        (picture.service_mode, DiagnosticStatus.WARN, "SERVICE MODE: ordinary input is refused"),
        (
            bool(picture.mismatches),
            DiagnosticStatus.WARN,
            f"not as described: {', '.join(picture.mismatches)}",
        ),
        (bool(picture.warnings), DiagnosticStatus.WARN, ", ".join(picture.warnings)),
    ):
        if applies:
            return level, text
    return DiagnosticStatus.OK, picture.state.name.lower()


def _joint_status(
    picture: ArmPicture, joint: JointPicture, name: str, port: str
) -> DiagnosticStatus:
    level, text = _joint_level(picture, joint)
    identity = joint.identity
    values = {
        "mode": "unknown" if joint.mode is None else f"0x{joint.mode:02x}",
        "position": joint.position,
        **joint.values,
        "age": joint.ages["position"],
        "serial_number": identity.serial_number,
        "model_number": identity.model_number,
        "firmware": identity.firmware,
        "position_limits": f"{identity.position_lower:g} to {identity.position_upper:g}",
        "velocity_limits": f"{identity.velocity_lower:g} to {identity.velocity_upper:g}",
        "current_limits": f"{identity.current_lower:g} to {identity.current_upper:g}",
    }
    hardware = f"{port} device {joint.device_id}"
    return _status(level, f"{name}: {joint.axis}", text, hardware, values)


def _joint_level(picture: ArmPicture, joint: JointPicture) -> tuple[bytes, str]:
    """Return how bad it is, and all that is wrong with the joint in words."""

    def own(codes: tuple[str, ...]) -> list[str]:
        return [code.split()[0] for code in codes if code.endswith(f" {joint.axis}")]

    if joint.stale:
        return DiagnosticStatus.STALE, "no fresh position"
    faults = own(picture.fault_causes)
    wrong = [*faults, *own(picture.warnings), *own(picture.mismatches), *joint.status_flags]
    if not wrong:
        return DiagnosticStatus.OK, "answers"
    level = DiagnosticStatus.ERROR if faults else DiagnosticStatus.WARN
    return level, ", ".join(wrong)


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
