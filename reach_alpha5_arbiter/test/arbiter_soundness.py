"""What the judge takes for a well-formed command: rule 10 in other words than the core's."""

from __future__ import annotations

import math
from collections.abc import Iterable

from reach_alpha5_common.command import GripperCommand, JointCommand, MotionCommand, TwistCommand


def is_sound(command: MotionCommand) -> bool:
    """Say whether all numbers are finite and in range, and no second input is there."""
    if isinstance(command, TwistCommand):
        positive = command.maximum_acceleration, command.lifetime
        free = *command.linear, *command.angular
        return all(map(math.isfinite, free)) and _in_range((command.grip,), positive)
    if isinstance(command, JointCommand):
        free = *command.positions, *command.velocities
        sizes = {len(command.joint_names), len(command.positions), len(command.velocities)}
        alone = len(set(command.joint_names)) == len(command.joint_names)
        return all(map(math.isfinite, free)) and len(sizes) == 1 and alone
    return _is_sound_input(command)


def _is_sound_input(command: GripperCommand) -> bool:
    cartesian, cylindrical, pose = command.cartesian, command.cylindrical, command.known_pose
    inputs = {
        2: (cartesian.x, cartesian.y, cartesian.z),
        3: (cylindrical.radial, cylindrical.vertical, cylindrical.azimuth),
        5: (pose.pose, pose.velocity),
    }
    beside = (v for case, values in inputs.items() if case != command.arm_input for v in values)
    if any(beside) or command.arm_input not in (0, *inputs):
        return False
    gripper = command.gripper_velocities
    bounded = *inputs[2], *inputs[3], gripper.grip, gripper.rotate, command.speed_modifier
    return _in_range((*bounded, pose.velocity), (pose.velocity, command.lifetime))


def _in_range(bounded: Iterable[float], positive: Iterable[float]) -> bool:
    # Not a number is not in any range.
    return all(-1.0 <= v <= 1.0 for v in bounded) and all(0.0 <= v < math.inf for v in positive)
