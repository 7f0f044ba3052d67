"""What the topics say, as the values that the scene is drawn from."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence

from builtin_interfaces.msg import Time

from reach_alpha5_common.messages import NANO, nanoseconds
from reach_alpha5_motion.obstacles import Box, Cylinder, Mesh, Plane, Sphere
from reach_alpha5_motion.obstacles import Shape as Body
from reach_alpha5_msgs import msg
from reach_alpha5_view.scene.geometry import finite
from reach_alpha5_view.scene.states import (
    ArbiterStatus,
    ArmStatus,
    JointStatus,
    Obstacle,
    Refused,
    Telemetry,
)

MOST_OBSTACLES = 64
"""That are drawn. Ours: twice as many as a driver has."""

MOST_CODES = 32
"""Of one list. Ours: a list of the driver has a few."""

_UNIT = 1e-3
"""How far from 1 the length of a quaternion may be."""

_STATES = {
    value: name
    for name in ("NONE", "IDLE", "ENABLED", "EXECUTING", "MAJOR_FAULT", "MINOR_FAULT")
    for value in [getattr(msg.ArmState, name)]
}
_ACTIVITIES = {
    value: name
    for name in ("STILL", "JOGGING", "TRAJECTORY", "ENDING")
    for value in [getattr(msg.ArbiterState, name)]
}
_LEVELS = {
    msg.EStop.NONE: "",
    msg.EStop.SETTLE_THEN_CUT: "SETTLE_THEN_CUT",
    msg.EStop.CUT: "CUT",
}


def arm_status(message: msg.ArmState) -> ArmStatus:
    """Return the value of an `ArmState`."""
    return ArmStatus(
        state=_STATES.get(message.state, f"STATE {message.state}"),
        connected=message.link.connected,
        powered=message.powered,
        emo=message.emo,
        active=message.active,
        service_mode=message.service_mode,
        blocked_by=_codes(message.blocked_by),
        collision_pair=message.collision_pair,
        clearance=message.clearance,
        holds=_codes(message.holds),
        warnings=_codes(message.warnings),
        fault_causes=_codes(message.fault_causes),
        last_refusal=_refused(message.last_refusal, message.header.stamp),
        joints=tuple(
            JointStatus(joint.name, joint.stale, _codes(joint.status_flags))
            for joint in message.joints[:MOST_CODES]
        ),
    )


def telemetry(message: msg.GripperTel) -> Telemetry:
    """Return the value of a `GripperTel`."""
    gripper = message.gripper
    tip = gripper.end_position
    return Telemetry(
        positions=tuple(map(float, gripper.joint_positions)),
        tip=(tip.x, tip.y, tip.z),
        joint_fault=tuple(map(bool, gripper.joint_fault)),
        holding=gripper.holding,
    )


def arbiter_status(message: msg.ArbiterState) -> ArbiterStatus:
    """Return the value of an `ArbiterState`."""
    stamp = message.header.stamp
    owner = next((s for s in message.sources if s.name == message.owner), None)
    return ArbiterStatus(
        owner=message.owner,
        activity=_ACTIVITIES.get(message.activity, f"ACTIVITY {message.activity}"),
        neutral_required=owner is not None and owner.neutral_required,
        estop_latched=message.estop_latched,
        estop_level=_LEVELS.get(message.estop_level, "CUT"),
        estop_source=message.estop_source,
        estop_reason=message.estop_reason,
        fault_latched=message.fault_latched,
        fault_causes=_codes(message.fault_causes),
        driver_connected=message.driver_connected,
        upstream_lost=message.upstream_lost,
        last_stop_cause=message.last_stop_cause,
        last_stop_age=_age(message.last_stop_stamp, stamp),
        last_refusal=_refused(message.last_refusal, stamp),
    )


def obstacles(messages: Iterable[msg.Obstacle]) -> tuple[tuple[Obstacle, ...], tuple[str, ...]]:
    """Return the obstacles that can be drawn, and of each other one why it cannot."""
    read = [_obstacle(message) for message in itertools.islice(messages, MOST_OBSTACLES)]
    drawn = tuple(value for value in read if isinstance(value, Obstacle))
    return drawn, tuple(value for value in read if isinstance(value, str))


def _obstacle(message: msg.Obstacle) -> Obstacle | str:
    """Return the value of a message, or why it has none."""
    count, body = _BODIES.get(message.type, (0, None))
    dimensions = list(map(float, message.dimensions))
    p, q = message.pose.position, message.pose.orientation
    if body is None:
        return f"{message.name}: type {message.type} is unknown"
    if len(dimensions) != count or not all(0.0 < size < math.inf for size in dimensions):
        return f"{message.name}: {dimensions} are no dimensions of its type"
    if not finite((p.x, p.y, p.z)) or not abs(math.hypot(q.x, q.y, q.z, q.w) - 1.0) <= _UNIT:
        return f"{message.name}: its pose is none"
    return Obstacle(
        message.name,
        message.frame_id,
        body(dimensions, message.mesh_file),
        (p.x, p.y, p.z),
        (q.x, q.y, q.z, q.w),
        _codes(message.allow),
    )


_BODIES: dict[int, tuple[int, Callable[[Sequence[float], str], Body]]] = {
    msg.Obstacle.BOX: (3, lambda d, _: Box((d[0], d[1], d[2]))),
    msg.Obstacle.SPHERE: (1, lambda d, _: Sphere(d[0])),
    msg.Obstacle.CYLINDER: (2, lambda d, _: Cylinder(radius=d[1], length=d[0])),
    msg.Obstacle.MESH: (1, lambda d, file: Mesh(file, d[0])),
    msg.Obstacle.PLANE: (0, lambda _, __: Plane()),
}
"""Of each type: how many dimensions it has, and its body."""


def _refused(refusal: msg.Refusal, stamp: Time) -> Refused:
    return Refused(refusal.code, refusal.reason, refusal.source, _age(refusal.stamp, stamp))


def _age(then: Time, now: Time) -> float:
    """Return seconds between two stamps of one clock; NaN = there was no first one."""
    before = nanoseconds(then)
    return (nanoseconds(now) - before) / NANO if before else math.nan


def _codes(codes: Sequence[str]) -> tuple[str, ...]:
    return tuple(codes[:MOST_CODES])
