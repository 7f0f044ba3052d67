"""The driver's node: translates between ROS and the control loop, and decides nothing.

Four threads. The executor's takes commands in; the e-stop's (`estop_listener`) waits for nothing
else; the control thread (`control_loop`) owns the line and the arm; the publishing thread
(`publishing`) tells what the arm reports. Demands end by themselves in the control thread, with
all others hanging. A guard process (`guard`) stops the arm when all of this dies or hangs.

It is a managed node. Unconfigured: the port is closed. Inactive: the arm is identified and
reports, and no motion is accepted. Active: motion is accepted. The latches live as long as the
process: no transition clears an e-stop.
"""

from __future__ import annotations

import math
import sys
import textwrap
import time
from collections.abc import Callable
from concurrent import futures
from functools import partial
from typing import Any, TypeVar

from control_msgs.msg import JointJog
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.subscription import MessageInfo
from std_msgs.msg import UInt8
from std_srvs.srv import SetBool

from reach_alpha5_common.freshness import Freshness
from reach_alpha5_common.messages import NANO, driver_command, replayed
from reach_alpha5_common.node_life import declare, run
from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_common.refusal import Problem
from reach_alpha5_driver.assembly import (
    CollisionBuilder,
    Collisions,
    collision_builder,
    make_core,
    read_model,
)
from reach_alpha5_driver.commands import SERVICE, SOURCE
from reach_alpha5_driver.configuration import backoff, guard_config
from reach_alpha5_driver.control_loop import LAST_WORD, ControlLoop
from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.estop_listener import RELIABLE, EstopListener
from reach_alpha5_driver.guard.client import Guard
from reach_alpha5_driver.outcomes import (
    is_released,
    is_switched_off,
    is_switched_on,
    restless,
    why_unidentified,
)
from reach_alpha5_driver.parameters import PARAMETERS
from reach_alpha5_driver.publishing import Publisher
from reach_alpha5_driver.scene.service import SceneService
from reach_alpha5_driver.scene.store import LoadedScene, ObstacleStore
from reach_alpha5_driver.snapshot import ArmPicture
from reach_alpha5_driver.transport.serial import open_serial
from reach_alpha5_motion.obstacles import ObstacleError
from reach_alpha5_msgs.msg import DriverCommand

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

REST_TIMEOUT = 2.0
"""Seconds that a transition waits until a stopped arm is measured at rest: enough for the stop to
be repeated, and for what is done beyond it, should the arm go on moving."""

NO_STOP = -1
"""Instead of the number of a stop: there is no line to write one to."""

NO_ANSWER = Problem("no_answer", "the driver's control thread does not answer; restart the driver")

_T = TypeVar("_T")


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
        self._freshness = Freshness(values["max_stamp_age"])
        self._autostart: bool = values["autostart"]
        port: str = values["serial_port"]
        # Two models, since two threads use them.
        model = read_model(values)
        core = make_core(values, model)
        self._publisher = Publisher(self, read_model(values), self._prefix, port)
        build = collision_builder(values, model.limits)
        store, scene, collisions = restored(values["obstacle_file"], build)
        if collisions is not None:
            core.motion.keep_out_of(collisions.control)
            self._publisher.collision = collisions.publishing
        self._loop = ControlLoop(
            core,
            partial(open_serial, port, values["baud_rate"]),
            Guard(LAST_WORD, guard_config(values)),
            backoff(values),
            self._publisher.wake.set,
            1.0 / values["state_rate"],
        )
        self._listener = EstopListener(self, self._loop.inbox.estop)
        self.create_subscription(
            DriverCommand, "driver_command", self._on_driver_command, RELIABLE
        )
        self.create_service(SetBool, "power", self._on_power)
        self._scene = SceneService(self, self._prefix, store, scene, build, self._keep_out_of)
        if values["service_mode"]:
            self._serve_joints()
        self._publisher.start(self._loop)
        self._loop.start()
        self._listener.start()
        if self._autostart:
            self.trigger_configure()
            self.trigger_activate()

    def close(self) -> None:
        """Write the last stop, release the port, and tell about it."""
        if not self._loop.close():
            self.get_logger().error("the control thread hangs; the guard stops the arm")
        if not self._listener.close():
            self.get_logger().error("the thread that hears e-stops hangs")
        if not self._publisher.close():
            self.get_logger().error("the publishing thread hangs; what is new is not published")

    # -- the life of a managed node

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Open the port and identify the arm."""
        loop = self._loop
        loop.open_line()
        if self._autostart:  # whatever is missing is waited for
            return TransitionCallbackReturn.SUCCESS
        self._wait(
            lambda picture: picture.link.connected or bool(loop.open_problem), ANSWER_TIMEOUT
        )
        self._wait(
            lambda picture: picture.identified or not picture.link.connected, IDENTIFY_TIMEOUT
        )
        if loop.picture.identified:
            return TransitionCallbackReturn.SUCCESS
        self.get_logger().error(
            f"cannot configure: {loop.open_problem or why_unidentified(loop.picture)}"
        )
        self._close_line()
        return TransitionCallbackReturn.FAILURE

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Accept motion."""

        def activate(core: DriverCore, now: float) -> TransitionCallbackReturn:
            core.set_active(True, now)
            return TransitionCallbackReturn.SUCCESS

        return self._answer(activate, TransitionCallbackReturn.ERROR)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the arm, and accept no motion any more."""
        return self._stop()

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the arm and release the port."""
        self._stop()
        return self._close_line()

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the arm and release the port, for good."""
        self._stop()
        return self._close_line()

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the arm and release the port; the node can be configured again."""
        self._stop()
        return self._close_line()

    def _stop(self) -> TransitionCallbackReturn:
        """Accept no motion any more, and wait until the arm is measured at rest.

        An arm that is not is told of in the log: nothing moves it all the same.
        """

        def stop(core: DriverCore, now: float) -> int | None:
            core.set_active(False, now)
            return core.gate.stops + core.gate.stop_owed if core.connected else NO_STOP

        stops = self._answer(stop, None)
        if stops is None:
            return TransitionCallbackReturn.ERROR
        if stops != NO_STOP and (problem := self._why_restless(stops)):
            self.get_logger().error(f"not at rest, as far as is known: {problem}")
        return TransitionCallbackReturn.SUCCESS

    def _why_restless(self, stops: int) -> str:
        """Wait until the stop of that number is out and has stopped the arm, or say why not."""
        written = self._wait(
            lambda picture: picture.stops >= stops or is_released(picture), REST_TIMEOUT
        )
        if not written:
            return "the stop was not written"
        stopped_at = self._loop.picture.at
        seen = self._wait(
            lambda picture: not restless(picture, stopped_at) or is_released(picture), REST_TIMEOUT
        )
        picture = self._loop.picture
        if is_released(picture):
            return "the line was lost"
        return "" if seen else ", ".join(restless(picture, stopped_at))

    def _close_line(self) -> TransitionCallbackReturn:
        self._loop.close_line()
        if self._wait(is_released, ANSWER_TIMEOUT):
            return TransitionCallbackReturn.SUCCESS
        self.get_logger().error("the port was not released")
        return TransitionCallbackReturn.ERROR

    def _wait(self, condition: Callable[[ArmPicture], bool], timeout: float) -> bool:
        """Wait until a picture that is made from now on fulfils `condition`.

        One that was made before tells nothing of what was asked for just now.
        """
        asked = time.monotonic()
        return self._loop.wait_until(
            lambda picture: picture.at > asked and condition(picture), timeout
        )

    # -- what comes in

    def _on_driver_command(self, message: DriverCommand, info: MessageInfo) -> None:
        command = driver_command(message)
        if (problem := replayed(self._freshness, message, info)) is None:
            self._loop.inbox.command(command, _received(info))
        else:
            self._loop.inbox.call(
                lambda core, now: core.desk.on_replayed(problem, SOURCE, now, command)
            )

    def _on_power(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        """Switch the motors, and answer when the arm has reported it.

        Commands wait meanwhile, and so does what they could move: nothing moves while a motor is
        off.
        """
        on: bool = request.data

        def switch(core: DriverCore, now: float) -> tuple[Problem | None, float]:
            return core.on_power(on, now), core.supervisor.power.counts_from

        no_answer: tuple[Problem | None, float] = NO_ANSWER, math.inf
        problem, counts_from = self._answer(switch, no_answer)
        done = is_switched_on if on else partial(is_switched_off, counts_from=counts_from)
        if problem is None and not self._wait(done, POWER_TIMEOUT):
            problem = Problem("not_confirmed", "the arm has not reported it; look at arm_state")
        response.success = problem is None
        response.message = "" if problem is None else f"{problem.code}: {problem.reason}"
        return response

    def _keep_out_of(self, collisions: Collisions) -> Problem | None:
        """Keep clear of this from now on, or, if it cannot be, never; return why it cannot be."""
        call = self._loop.inbox.call(lambda core, now: core.motion.keep_out_of(collisions.control))
        futures.wait([call], ANSWER_TIMEOUT)
        if call.cancel() or call.exception() is not None:
            return NO_ANSWER
        self._publisher.collision = collisions.publishing
        return None

    def _answer(self, action: Callable[[DriverCore, float], _T], otherwise: _T) -> _T:
        """Return what the control thread answers, or `otherwise` if it does not."""
        try:
            answer: _T = self._loop.inbox.call(action).result(ANSWER_TIMEOUT)
        # One and the same from Python 3.11 on.
        except (TimeoutError, futures.TimeoutError):
            self.get_logger().error("the control thread does not answer")
            return otherwise
        return answer

    # -- service mode

    def _serve_joints(self) -> None:
        self.get_logger().warning(
            "SERVICE MODE: joints are moved one by one through `joint_jog` and `preset`, nobody "
            "arbitrates, nothing keeps them clear of anything, and ordinary input is refused. "
            "Never dive with it."
        )
        self.create_subscription(JointJog, "joint_jog", self._on_joint_jog, RELIABLE)
        self.create_subscription(UInt8, "preset", self._on_preset, RELIABLE)

    def _on_joint_jog(self, message: JointJog, info: MessageInfo) -> None:
        if (problem := replayed(self._freshness, message, info)) is not None:
            self._loop.inbox.call(lambda core, now: core.desk.on_replayed(problem, SERVICE, now))
            return
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


def restored(
    file: str, build: CollisionBuilder | None
) -> tuple[ObstacleStore, LoadedScene, Collisions | None]:
    """Read the obstacles that were saved; None: nothing is kept clear of.

    Raises:
        ParameterError: whatever is wrong with them. One that is left out silently is one that the
            arm drives into.
    """
    try:
        store = ObstacleStore(file)
        loaded = store.loaded(store.load(), LoadedScene())
        return store, loaded, None if build is None else build(loaded.scene, loaded.meshes)
    except Exception as error:
        kind = "" if isinstance(error, ObstacleError) else f"{type(error).__name__}: "
        reasons = textwrap.indent(f"{kind}{error}", "  ")
        raise ParameterError(f"obstacle_file {file}:\n{reasons}") from error


def time_waited(received: int, now: int) -> float:
    """Return how long [s] a message lay in the queue of this process: that counts into its age.

    Both times are wall-clock nanoseconds. A clock that was set back in between leaves the age
    unknown: such a message is too old for anything. Some middlewares do not tell `received` and
    give 0: then the age counts from now.
    """
    if received == 0:
        return 0.0
    return (now - received) / NANO if now >= received else math.inf


def _received(info: MessageInfo) -> float:
    """Return the monotonic time at which a message arrived in this process."""
    return time.monotonic() - time_waited(info["received_timestamp"], time.time_ns())


def main() -> int:
    """Run the node."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    return run(DriverNode, before_others=True)


if __name__ == "__main__":
    sys.exit(main())
