"""The driver's node: translates between ROS and the control loop, and decides nothing.

Three threads. The executor's takes commands in; the control thread (`control_loop`) owns the line
and the arm; the publishing thread (`publishing`) tells what the arm reports. The arm is as safe
with the first and the last hanging as without them: demands end by themselves in the second.
"""

from __future__ import annotations

import math
import sys
import time
from functools import partial
from typing import Any

from rclpy.node import Node
from rclpy.subscription import MessageInfo

from reach_alpha5_common.messages import NANO, driver_command
from reach_alpha5_common.node_life import declare, run
from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_driver.belief import joint_bounds
from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.control_loop import ControlLoop
from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.parameters import PARAMETERS
from reach_alpha5_driver.publishing import RELIABLE, Publisher
from reach_alpha5_driver.transport.serial import open_serial
from reach_alpha5_motion.model import ArmModel, ModelError
from reach_alpha5_motion.resolver import MotionConfig, MotionConfigError, VelocityResolver
from reach_alpha5_msgs.msg import DriverCommand, EStop

SWITCH_INTERVAL = 0.0005
"""Seconds. The control thread shares the interpreter with the others: when it wakes up it waits
for the interpreter about this long at most, instead of the usual 5 ms."""

NO_DESCRIPTION = (
    "robot_description is empty: pass the expanded URDF, for instance\n"
    '  driver_node --ros-args -p robot_description:="$(xacro drone.urdf.xacro)"\n'
    "or start the node through `ros2 launch reach_alpha5_bringup alpha5.launch.xml`"
)


class DriverNode(Node):
    """The driver on ROS.

    Raises:
        ParameterError: a parameter is wrong, or the robot description does not describe the arm.
    """

    def __init__(self, **options: Any) -> None:
        """Start driving at once: open the port, publish what the arm reports, obey commands."""
        super().__init__("driver", **options)
        values = declare(self, PARAMETERS)
        port: str = values["serial_port"]
        # Two models, since two threads use them.
        core = make_core(values, read_model(values))
        self._publisher = Publisher(self, read_model(values), values["prefix"], port)
        self._loop = ControlLoop(
            core,
            partial(open_serial, port, values["baud_rate"]),
            self._publisher.wake.set,
            values["reconnect_period"],
            1.0 / values["state_rate"],
        )
        self.create_subscription(EStop, "estop", self._on_estop, RELIABLE)
        self.create_subscription(
            DriverCommand, "driver_command", self._on_driver_command, RELIABLE
        )
        self._publisher.start(self._loop)
        self._loop.start()

    def close(self) -> None:
        """Write the last stop, release the port, and tell about it."""
        self._loop.close()
        self._publisher.close()

    def _on_estop(self, message: EStop) -> None:
        self._loop.estop(message.level, message.source, message.reason)

    def _on_driver_command(self, message: DriverCommand, info: MessageInfo) -> None:
        waited = time_waited(info["received_timestamp"], time.time_ns())
        self._loop.command(driver_command(message), time.monotonic() - waited)


def time_waited(received: int, now: int) -> float:
    """Return how long [s] a message lay in the queue of this process: that counts into its age.

    Both times are wall-clock nanoseconds. A clock that was set back in between leaves the age
    unknown: such a message is too old for anything. Some middlewares do not tell `received` and
    give 0: then the age counts from now.
    """
    if received == 0:
        return 0.0
    return (now - received) / NANO if now >= received else math.inf


def read_model(values: dict[str, Any]) -> ArmModel:
    """Build the arm's model from parameter values.

    Raises:
        ParameterError: there is no description, or it does not describe the arm.
    """
    if not values["robot_description"].strip():
        raise ParameterError(NO_DESCRIPTION)
    try:
        return ArmModel.from_urdf(values["robot_description"], values["prefix"])
    except ModelError as error:
        raise ParameterError(str(error)) from error


def make_core(values: dict[str, Any], model: ArmModel) -> DriverCore:
    """Build the core from parameter values; it uses `model` alone from now on.

    Raises:
        ParameterError: the motion settings do not fit the arm.
    """
    try:
        motion = MotionConfig(
            linear_speed=values["max_linear_speed"],
            azimuth_speed=values["max_azimuth_speed"],
            wrist_speed=values["max_wrist_speed"],
            jaw_speed=values["max_jaw_speed"],
            slow_fraction=values["slow_fraction"],
            default_fraction=values["default_fraction"],
            stowed=tuple(values["pose_stowed"]),
            deployed=tuple(values["pose_deployed"]),
            lift=tuple(values["pose_lift"]),
        )
        resolver = VelocityResolver(model, motion)
    except MotionConfigError as error:
        raise ParameterError(str(error)) from error
    limits = model.limits
    return DriverCore(
        CoreConfig(**{field: values[field] for field in CoreConfig.__dataclass_fields__}),
        joint_bounds(limits.lower.tolist(), limits.upper.tolist(), limits.velocity.tolist()),
        limits.velocity.tolist(),
        resolver,
    )


def main() -> int:
    """Run the node."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    return run(DriverNode)


if __name__ == "__main__":
    sys.exit(main())
