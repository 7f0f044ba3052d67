"""The driver's node: translates between ROS and the control loop, and decides nothing.

Three threads. The executor's takes commands in; the control thread (`control_loop`) owns the line
and the arm; the publishing thread (`publishing`) tells what the arm reports. The arm is as safe
with the first and the last hanging as without them: demands end by themselves in the second. A
guard process (`guard`) stops the arm when all of this dies or hangs.

It is a managed node. Unconfigured: the port is closed. Inactive: the arm is identified and
reports, and no motion is accepted. Active: motion is accepted. The latches live as long as the
process: no transition clears an e-stop.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from control_msgs.msg import JointJog
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.subscription import MessageInfo
from std_msgs.msg import UInt8
from std_srvs.srv import SetBool

from reach_alpha5_common.messages import NANO, driver_command
from reach_alpha5_common.node_life import declare, run
from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_common.refusal import Problem
from reach_alpha5_driver.belief import joint_bounds
from reach_alpha5_driver.configuration import (
    Values,
    backoff,
    core_config,
    guard_config,
    motion_config,
)
from reach_alpha5_driver.control_loop import LAST_WORD, ControlLoop
from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.guard.client import Guard
from reach_alpha5_driver.identity import JointRanges
from reach_alpha5_driver.parameters import PARAMETERS
from reach_alpha5_driver.protocol.packets import Mode
from reach_alpha5_driver.publishing import RELIABLE, Publisher
from reach_alpha5_driver.snapshot import ArmPicture
from reach_alpha5_driver.transport.serial import open_serial
from reach_alpha5_motion.model import ArmModel, ModelError
from reach_alpha5_motion.resolver import MotionConfigError, VelocityResolver
from reach_alpha5_msgs.msg import DriverCommand, EStop

SWITCH_INTERVAL = 0.0005
"""Seconds. The control thread shares the interpreter with the others: when it wakes up it waits
for the interpreter about this long at most, instead of the usual 5 ms."""

IDENTIFY_TIMEOUT = 5.0
"""Seconds that `configure` waits for the arm to say what it is, unless the node starts itself."""

ANSWER_TIMEOUT = 10.0
"""Seconds to wait for the control thread. It answers in milliseconds, but while it has no line it
may be starting the guard's process, which takes seconds on a busy machine."""

POWER_TIMEOUT = 1.5
"""Seconds that the service `power` waits until the arm reports what was asked."""

NO_ANSWER = Problem("no_answer", "the driver's control thread does not answer; restart the driver")

_T = TypeVar("_T")

NO_DESCRIPTION = (
    "robot_description is empty: pass the expanded URDF, for instance\n"
    '  driver_node --ros-args -p robot_description:="$(xacro drone.urdf.xacro)"\n'
    "or start the node through `ros2 launch reach_alpha5_bringup alpha5.launch.xml`"
)


class DriverNode(LifecycleNode):
    """The driver on ROS.

    Raises:
        ParameterError: a parameter is wrong, or the robot description does not describe the arm.
    """

    def __init__(self, **options: Any) -> None:
        """Make everything but the line; with `autostart`, configure and activate at once."""
        super().__init__("driver", **options)
        values = declare(self, PARAMETERS)
        self._prefix: str = values["prefix"]
        self._autostart: bool = values["autostart"]
        port: str = values["serial_port"]
        # Two models, since two threads use them.
        core = make_core(values, read_model(values))
        self._publisher = Publisher(self, read_model(values), self._prefix, port)
        self._loop = ControlLoop(
            core,
            partial(open_serial, port, values["baud_rate"]),
            Guard(LAST_WORD, guard_config(values)),
            backoff(values),
            self._publisher.wake.set,
            1.0 / values["state_rate"],
        )
        self.create_subscription(EStop, "estop", self._on_estop, RELIABLE)
        self.create_subscription(
            DriverCommand, "driver_command", self._on_driver_command, RELIABLE
        )
        self.create_service(SetBool, "power", self._on_power)
        if values["service_mode"]:
            self._serve_joints()
        self._publisher.start(self._loop)
        self._loop.start()
        if self._autostart:
            self.trigger_configure()
            self.trigger_activate()

    def close(self) -> None:
        """Write the last stop, release the port, and tell about it."""
        if not self._loop.close():
            self.get_logger().error("the control thread hangs; the guard stops the arm")
        self._publisher.close()

    # -- the life of a managed node

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Open the port and identify the arm."""
        loop = self._loop
        loop.open_line()
        if self._autostart:  # whatever is missing is waited for
            return TransitionCallbackReturn.SUCCESS
        loop.wait_until(
            lambda picture: picture.link.connected or bool(loop.open_problem), ANSWER_TIMEOUT
        )
        loop.wait_until(
            lambda picture: picture.identified or not picture.link.connected, IDENTIFY_TIMEOUT
        )
        if loop.picture.identified:
            return TransitionCallbackReturn.SUCCESS
        self.get_logger().error(
            f"cannot configure: {loop.open_problem or _unidentified(loop.picture)}"
        )
        self._close_line()
        return TransitionCallbackReturn.FAILURE

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Accept motion."""
        return self._set_active(True)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the arm, and accept no motion any more."""
        return self._set_active(False)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the arm and release the port."""
        return self._close_line()

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the arm and release the port, for good."""
        self._set_active(False)
        return self._close_line()

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the arm and release the port; the node can be configured again."""
        self._set_active(False)
        return self._close_line()

    def _set_active(self, active: bool) -> TransitionCallbackReturn:
        def act(core: DriverCore, now: float) -> TransitionCallbackReturn:
            core.set_active(active, now)
            return TransitionCallbackReturn.SUCCESS

        return self._answer(act, TransitionCallbackReturn.ERROR)

    def _close_line(self) -> TransitionCallbackReturn:
        self._loop.close_line()
        if self._loop.wait_until(_is_released, ANSWER_TIMEOUT):
            return TransitionCallbackReturn.SUCCESS
        self.get_logger().error("the port was not released")
        return TransitionCallbackReturn.ERROR

    # -- what comes in

    def _on_estop(self, message: EStop) -> None:
        self._loop.inbox.estop(message.level, message.source, message.reason)

    def _on_driver_command(self, message: DriverCommand, info: MessageInfo) -> None:
        self._loop.inbox.command(driver_command(message), _received(info))

    def _on_power(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        """Switch the motors, and answer when the arm has reported it.

        Commands wait meanwhile, and so does what they could move: nothing moves while a motor is
        off.
        """
        on: bool = request.data
        problem = self._answer(lambda core, now: core.on_power(on, now), NO_ANSWER)
        if problem is None and not self._loop.wait_until(_is_on if on else _is_off, POWER_TIMEOUT):
            problem = Problem("not_confirmed", "the arm has not reported it; look at arm_state")
        response.success = problem is None
        response.message = "" if problem is None else f"{problem.code}: {problem.reason}"
        return response

    def _answer(self, action: Callable[[DriverCore, float], _T], otherwise: _T) -> _T:
        """Return what the control thread answers, or `otherwise` if it does not."""
        try:
            return self._loop.inbox.call(action).result(ANSWER_TIMEOUT)
        except TimeoutError:
            self.get_logger().error("the control thread does not answer")
            return otherwise

    # -- service mode

    def _serve_joints(self) -> None:
        self.get_logger().warning(
            "SERVICE MODE: joints are moved one by one through `joint_jog` and `preset`, nobody "
            "arbitrates, and ordinary input is refused. Never dive with it."
        )
        self.create_subscription(JointJog, "joint_jog", self._on_joint_jog, RELIABLE)
        self.create_subscription(UInt8, "preset", self._on_preset, RELIABLE)

    def _on_joint_jog(self, message: JointJog, info: MessageInfo) -> None:
        received = _received(info)
        jog = (
            list(message.joint_names),
            list(message.displacements),
            list(message.velocities),
            message.duration,
            received,
        )
        self._loop.inbox.call(lambda core, now: core.service.on_joint_jog(*jog, now, self._prefix))

    def _on_preset(self, message: UInt8, info: MessageInfo) -> None:
        received, slot = _received(info), int(message.data)
        self._loop.inbox.call(lambda core, now: core.service.on_preset(slot, received, now))


def time_waited(received: int, now: int) -> float:
    """Return how long [s] a message lay in the queue of this process: that counts into its age.

    Both times are wall-clock nanoseconds. A clock that was set back in between leaves the age
    unknown: such a message is too old for anything. Some middlewares do not tell `received` and
    give 0: then the age counts from now.
    """
    if received == 0:
        return 0.0
    return (now - received) / NANO if now >= received else math.inf


def read_model(values: Values) -> ArmModel:
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


def make_core(values: Values, model: ArmModel) -> DriverCore:
    """Build the core from parameter values; it uses `model` alone from now on.

    Raises:
        ParameterError: the settings contradict each other, or do not fit the arm or the line.
    """
    limits = model.limits
    description = JointRanges(
        limits.lower.tolist(), limits.upper.tolist(), limits.velocity.tolist()
    )
    try:
        resolver = VelocityResolver(model, motion_config(values))
    except MotionConfigError as error:
        raise ParameterError(str(error)) from error
    return DriverCore(
        core_config(values),
        joint_bounds(description.lower, description.upper, description.velocity),
        description,
        resolver,
    )


def _received(info: MessageInfo) -> float:
    """Return the monotonic time at which a message arrived in this process."""
    return time.monotonic() - time_waited(info["received_timestamp"], time.time_ns())


def _unidentified(picture: ArmPicture) -> str:
    """Say which devices are not known, and what to do."""
    if not picture.link.connected:
        return "the line was lost again; see above"
    silent = ", ".join(joint.axis for joint in picture.joints if not joint.identity.identified)
    return f"{silent} did not say what it is; check the arm's power, the cable and the wiring"


def _is_released(picture: ArmPicture) -> bool:
    return not picture.link.connected


def _is_on(picture: ArmPicture) -> bool:
    return picture.powered


def _is_off(picture: ArmPicture) -> bool:
    return all(joint.mode == Mode.DISABLE for joint in picture.joints)


def main() -> int:
    """Run the node."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    return run(DriverNode)


if __name__ == "__main__":
    sys.exit(main())
