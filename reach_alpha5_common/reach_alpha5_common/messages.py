"""Translate between the messages on the wire and the values of the cores.

Nothing is judged here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Twist, Vector3
from rclpy.subscription import MessageInfo
from std_msgs.msg import Header

from reach_alpha5_common.command import (
    Cartesian,
    CommandKind,
    Cylindrical,
    DriverCommand,
    GripperCommand,
    GripperVelocities,
    JointCommand,
    KnownPose,
    StopLevel,
    TwistCommand,
    Vector,
)
from reach_alpha5_common.freshness import Freshness
from reach_alpha5_common.refusal import Problem, Refusal
from reach_alpha5_msgs import msg

NANO = 1_000_000_000


def seconds(value: Duration | Time) -> float:
    """Return a duration or a time in seconds."""
    return float(value.sec) + value.nanosec / NANO


def nanoseconds(value: Duration | Time) -> int:
    """Return a duration or a time in whole nanoseconds: exact, for comparing stamps."""
    return int(value.sec) * NANO + int(value.nanosec)


def replayed(freshness: Freshness, message: Any, info: MessageInfo) -> Problem | None:
    """Return why a stamped message is not one of now, or None."""
    return freshness.problem(nanoseconds(message.header.stamp), info["source_timestamp"])


def duration(value: float) -> Duration:
    """Return a duration message for `value` seconds."""
    sec, nanosec = divmod(round(value * NANO), NANO)
    return Duration(sec=sec, nanosec=nanosec)


def time_message(nanosec: int) -> Time:
    """Return a time message for whole nanoseconds since the epoch."""
    whole, rest = divmod(nanosec, NANO)
    return Time(sec=whole, nanosec=rest)


def gripper_command(message: msg.GripperCtrl) -> GripperCommand:
    """Return the value of a `GripperCtrl`; its header is the caller's to read."""
    v, c, y, k = (
        message.gripper_velocities,
        message.cartesian,
        message.cylindrical,
        message.known_pose,
    )
    return GripperCommand(
        GripperVelocities(v.grip_velocity, v.rotate_velocity),
        message.arm_input,
        Cartesian(c.x, c.y, c.z),
        Cylindrical(y.radial, y.vertical, y.azimuth),
        KnownPose(k.pose, k.velocity, k.name, k.while_holding),
        message.speed_modifier,
        seconds(message.lifetime),
    )


def gripper_ctrl(command: GripperCommand) -> msg.GripperCtrl:
    """Return the message of a command, its header empty.

    Numbers are made floats: the converter of a message ends the process on a whole number.
    """
    v, c, y = command.gripper_velocities, command.cartesian, command.cylindrical
    return msg.GripperCtrl(
        gripper_velocities=msg.GripperVelocities(
            grip_velocity=float(v.grip), rotate_velocity=float(v.rotate)
        ),
        arm_input=int(command.arm_input),
        cartesian=msg.CartesianInput(x=float(c.x), y=float(c.y), z=float(c.z)),
        cylindrical=msg.CylindricalInput(
            radial=float(y.radial), vertical=float(y.vertical), azimuth=float(y.azimuth)
        ),
        known_pose=known_pose(command.known_pose),
        speed_modifier=float(command.speed_modifier),
        lifetime=duration(command.lifetime),
    )


def known_pose(pose: KnownPose) -> msg.KnownPose:
    """Return the message of a known pose."""
    return msg.KnownPose(
        pose=int(pose.pose),
        velocity=float(pose.velocity),
        name=pose.name,
        while_holding=pose.while_holding,
    )


def twist_command(message: msg.TwistCtrl) -> TwistCommand:
    """Return the value of a `TwistCtrl`; the stamp of its header is the caller's to read."""
    return replace(
        stamped_twist_command(message.header.frame_id, message.twist),
        grip=message.grip_velocity,
        maximum_acceleration=message.maximum_acceleration,
        lifetime=seconds(message.lifetime),
    )


def stamped_twist_command(frame: str, twist: Twist, lifetime: float = 0.0) -> TwistCommand:
    """Return the command of a twist in the axes of `frame` that ends after `lifetime` [s]."""
    linear, angular = twist.linear, twist.angular
    return TwistCommand(
        frame,
        (linear.x, linear.y, linear.z),
        (angular.x, angular.y, angular.z),
        lifetime=lifetime,
    )


def twist_ctrl(command: TwistCommand) -> msg.TwistCtrl:
    """Return the message of a twist, the stamp of its header empty."""
    return msg.TwistCtrl(
        header=Header(frame_id=command.frame),
        twist=Twist(linear=_vector3(command.linear), angular=_vector3(command.angular)),
        grip_velocity=float(command.grip),
        maximum_acceleration=float(command.maximum_acceleration),
        lifetime=duration(command.lifetime),
    )


def _vector3(vector: Vector) -> Vector3:
    x, y, z = map(float, vector)
    return Vector3(x=x, y=y, z=z)


def joint_command(message: msg.JointCtrl) -> JointCommand:
    """Return the value of a `JointCtrl`; its header and stream are the caller's to read."""
    return joint_setpoint_command(message.setpoint, seconds(message.lifetime))


def joint_setpoint_command(message: msg.JointSetpoint, lifetime: float = 0.0) -> JointCommand:
    """Return the command of a set-point that ends after `lifetime` [s]."""
    return JointCommand(
        tuple(message.joint_names), tuple(message.positions), tuple(message.velocities), lifetime
    )


def joint_setpoint(command: JointCommand) -> msg.JointSetpoint:
    """Return the message of a set-point."""
    return msg.JointSetpoint(
        joint_names=list(command.joint_names),
        positions=[float(position) for position in command.positions],
        velocities=[float(velocity) for velocity in command.velocities],
    )


def driver_command(message: msg.DriverCommand) -> DriverCommand:
    """Return the value of a `DriverCommand`; an undefined kind reads as STOP, a level as CUT."""
    return DriverCommand(
        kind=CommandKind.of(message.kind),
        sequence=message.sequence,
        stop_level=StopLevel.of(message.stop_level),
        estop_epoch=message.estop_epoch,
        input=gripper_command(message.input),
        twist=twist_command(message.twist),
        joint=joint_setpoint_command(message.joint),
        lifetime=seconds(message.lifetime),
    )


def driver_command_message(command: DriverCommand) -> msg.DriverCommand:
    """Return the message of a driver command, its header empty."""
    return msg.DriverCommand(
        sequence=command.sequence,
        kind=int(command.kind),
        stop_level=int(command.stop_level),
        estop_epoch=command.estop_epoch,
        input=gripper_ctrl(command.input),
        twist=twist_ctrl(command.twist),
        joint=joint_setpoint(command.joint),
        lifetime=duration(command.lifetime),
    )


def refusal_message(refusal: Refusal | None, stamp: Time) -> msg.Refusal:
    """Return the message of a refusal stamped `stamp`, or the empty one for None."""
    if refusal is None:
        return msg.Refusal()
    return msg.Refusal(
        stamp=stamp,
        code=refusal.code,
        reason=refusal.reason,
        source=refusal.source,
        count=refusal.count,
    )
