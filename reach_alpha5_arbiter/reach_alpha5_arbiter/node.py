"""The arbiter's node: translates between ROS and `MotionArbiter`, and owns the clocks.

One executor runs all callbacks one after the other. That is enough here: the driver bounds every
demand by its lifetime, so that an arbiter that hangs stops the arm.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TwistStamped
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.event_handler import (
    QoSLivelinessChangedInfo,
    QoSSubscriptionMatchedInfo,
    SubscriptionEventCallbacks,
)
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_srvs.srv import Trigger

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.core import MotionArbiter
from reach_alpha5_arbiter.parameters import (
    PARAMETERS,
    check_names,
    config_from,
    source_parameters,
)
from reach_alpha5_arbiter.state import Snapshot
from reach_alpha5_arbiter.translate import (
    arbiter_state,
    arm_report,
    diagnostics,
    joint_feedback,
)
from reach_alpha5_common.command import MotionCommand
from reach_alpha5_common.messages import (
    driver_command_message,
    gripper_command,
    nanoseconds,
    stamped_twist_command,
    time_message,
    twist_command,
)
from reach_alpha5_common.node_life import declare, run
from reach_alpha5_msgs.msg import (
    ArbiterState,
    ArmState,
    ClientHeartbeat,
    DriverCommand,
    EStop,
    GripperCtrl,
    TwistCtrl,
)
from reach_alpha5_msgs.srv import AcquireLease, ReturnLease

COMMANDS = QoSProfile(depth=10)
"""Reliable, volatile: a command that nobody was there to hear is not said later."""
LATEST = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

STATE_PERIOD = 0.09
"""Least time [s] between two periodic states: at the default tick of 0.05 s, every second tick."""
DIAGNOSTICS_PERIOD = 1.0
LOG_PERIOD = 5.0
"""Time [s] after which the same refusal of the same source is logged again."""
LEAVE_TIMEOUT = 1.0
"""Longest wait [s] on exit for the driver to acknowledge the last stop."""


class ArbiterNode(Node):
    """The arbiter on ROS.

    Raises:
        ParameterError: a parameter is wrong.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__("arbiter", **options)
        values = declare(self, PARAMETERS, more_follow=True)
        names = values["sources"]
        check_names(names)
        values |= declare(self, [entry for name in names for entry in source_parameters(name)])
        config = config_from(values)
        self._rest = values["rest_velocity"], values["rest_jaw_velocity"]
        self._twist_lifetime = values["twist_lifetime"]
        self._arbiter = MotionArbiter(config)
        self._logged: dict[tuple[str, str], float] = {}

        self._commands = self.create_publisher(DriverCommand, "driver_command", COMMANDS)
        self._states = self.create_publisher(ArbiterState, "arbiter_state", LATEST)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)

        self.create_subscription(EStop, "estop", self._on_estop, COMMANDS)
        self.create_subscription(ArmState, "arm_state", self._on_arm_state, COMMANDS)
        for name in values["sources"]:
            self._listen_to(name)

        self.create_service(Trigger, "estop", self._serve_estop)
        self.create_service(Trigger, "reset", self._serve_reset)
        self.create_service(AcquireLease, "acquire_lease", self._serve_acquire)
        self.create_service(ReturnLease, "return_lease", self._serve_return)

        self._next_state = self._next_diagnostics = -math.inf
        # Steady, so that neither a clock that is set nor simulated time holds a watchdog up.
        # One timer for all: waking up costs more than what is done then.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(config.repeat_period, self._tick, clock=steady)
        self._publish_state()

    def close(self) -> None:
        """Send the last stop and wait until the driver has it."""
        self._handle(events.Shutdown())
        self._publish_state()
        self._commands.wait_for_all_acked(Duration(seconds=LEAVE_TIMEOUT))

    # ---- in ------------------------------------------------------------------------------------

    def _listen_to(self, name: str) -> None:
        for topic, message, read in (
            ("gripper_ctrl", GripperCtrl, gripper_command),
            ("twist", TwistStamped, self._read_twist),
            ("twist_ctrl", TwistCtrl, twist_command),
        ):
            heard = partial(self._on_command, name, topic, read)
            self.create_subscription(message, f"{name}/{topic}", heard, COMMANDS)
        # The heartbeat alone says who is there, for all topics of commands: a source may use any
        # of them, and begin and cease to use one, without being gone.
        self.create_subscription(
            ClientHeartbeat,
            f"{name}/heartbeat",
            partial(self._on_heartbeat, name),
            COMMANDS,
            event_callbacks=SubscriptionEventCallbacks(
                matched=partial(self._on_matched, name),
                liveliness=partial(self._on_liveliness, name),
            ),
        )

    def _read_twist(self, message: TwistStamped) -> MotionCommand:
        return stamped_twist_command(message.header.frame_id, message.twist, self._twist_lifetime)

    def _on_command(
        self, name: str, topic: str, read: Callable[[Any], MotionCommand], message: Any
    ) -> None:
        self._handle(
            events.Command(
                name,
                read(message),
                stamp=nanoseconds(message.header.stamp),
                wall=time.time_ns(),
                topic=topic,
            )
        )

    def _on_heartbeat(self, name: str, message: ClientHeartbeat) -> None:
        self._handle(events.Heartbeat(name, message.client_id, message.present))

    def _on_matched(self, name: str, info: QoSSubscriptionMatchedInfo) -> None:
        # Only when nobody is left: of two publishers, the one that went may be the remains of a
        # process killed long ago, and the watchdog sees soon enough whether it was the other.
        if info.current_count == 0 and info.current_count_change < 0:
            self._handle(events.SourceGone(name))

    def _on_liveliness(self, name: str, info: QoSLivelinessChangedInfo) -> None:
        if info.alive_count == 0 and info.alive_count_change < 0:
            self._handle(events.SourceGone(name))

    def _on_estop(self, message: EStop) -> None:
        self._handle(events.EStopPress(message.level, message.source, message.reason))

    def _on_arm_state(self, message: ArmState) -> None:
        # The joints' velocities are read here and not from `joint_states`: that comes five times
        # as often, and waking up for a message costs more than all that is done with it.
        self._handle(arm_report(message))
        self._handle(joint_feedback(message, *self._rest))

    def _serve_estop(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        self._handle(events.EStopPress(EStop.CUT, "service", "the estop service was called"))
        response.success = True
        response.message = "latched; call `reset` to clear it"
        return response

    def _serve_reset(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        reply = self._ask(events.Reset())
        response.success, response.message = reply.success, reply.message
        return response

    def _serve_acquire(
        self, request: AcquireLease.Request, response: AcquireLease.Response
    ) -> Any:
        reply = self._ask(events.Acquire(request.source, request.client_id, request.take))
        state = self._snapshot()
        response.success, response.code, response.message = (
            reply.success,
            reply.code,
            reply.message,
        )
        response.lease_epoch, response.owner = state.lease_epoch, state.owner
        return response

    def _serve_return(self, request: ReturnLease.Request, response: ReturnLease.Response) -> Any:
        reply = self._ask(events.Return(request.source, request.client_id, request.lease_epoch))
        response.success, response.code, response.message = (
            reply.success,
            reply.code,
            reply.message,
        )
        return response

    def _tick(self) -> None:
        self._handle(events.Tick())
        now = time.monotonic()
        if now >= self._next_state:
            self._next_state = now + STATE_PERIOD
            self._publish_state()
        if now >= self._next_diagnostics:
            self._next_diagnostics = now + DIAGNOSTICS_PERIOD
            self._publish_diagnostics()

    # ---- out -----------------------------------------------------------------------------------

    def _ask(self, event: events.Event) -> events.Reply:
        replies = [out for out in self._handle(event) if isinstance(out, events.Reply)]
        return replies[0]

    def _handle(self, event: events.Event) -> list[events.Output]:
        outputs = self._arbiter.handle(event, time.monotonic())
        # What goes to the driver goes first.
        for output in outputs:
            if isinstance(output, events.Send):
                message = driver_command_message(output.command)
                message.header.stamp = self._stamp(time.monotonic())
                self._commands.publish(message)
        for output in outputs:
            if isinstance(output, events.StateChanged):
                self._states.publish(self._state_message(output.snapshot))
            elif isinstance(output, events.Refused):
                self._log(output)
        return outputs

    def _log(self, refused: events.Refused) -> None:
        refusal = refused.refusal
        key = (refusal.code, refusal.source)
        if refusal.at - self._logged.get(key, -LOG_PERIOD) >= LOG_PERIOD:
            self._logged[key] = refusal.at
            self.get_logger().warning(
                f"{refusal.source}: {refusal.code} (x{refusal.count}): {refusal.reason}"
            )

    def _snapshot(self) -> Snapshot:
        return self._arbiter.snapshot(time.monotonic())

    def _publish_state(self) -> None:
        self._states.publish(self._state_message(self._snapshot()))

    def _state_message(self, snapshot: Snapshot) -> ArbiterState:
        return arbiter_state(snapshot, self._stamp(time.monotonic()), self._stamp)

    def _publish_diagnostics(self) -> None:
        self._diagnostics.publish(
            diagnostics(
                self._snapshot(),
                self._arbiter.refusals.counts(),
                self.get_fully_qualified_name(),
                self._stamp(time.monotonic()),
            )
        )

    def _stamp(self, at: float) -> Time:
        """Return the wall-clock time of the monotonic time `at` [s]."""
        ago = round((time.monotonic() - at) * 1e9)
        return time_message(time.time_ns() - ago)


def main() -> int:
    """Run the node until it is told to leave."""
    return run(ArbiterNode)


if __name__ == "__main__":
    raise SystemExit(main())
