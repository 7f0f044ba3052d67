"""The teleop node: ROS messages in and out of `core.TeleopCore`, nothing more."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.event_handler import QoSSubscriptionMatchedInfo, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from sensor_msgs.msg import Joy
from std_srvs.srv import Trigger

from reach_alpha5_common import messages
from reach_alpha5_common.command import StopLevel
from reach_alpha5_common.node_life import declare, run
from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_msgs.msg import ArbiterState, ClientHeartbeat, EStop, GripperCtrl
from reach_alpha5_teleop import core, profiles
from reach_alpha5_teleop.parameters import PARAMETERS
from reach_alpha5_teleop.profile import ProfileError

RELIABLE = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

RESET_TIMEOUT = 2.0
"""Time [s] after which a reset that nobody answered is reported and given up."""

FAREWELL = 0.5
"""Longest time [s] that leaving waits for each topic's last message to be acknowledged."""

LOG_PERIOD = 1.0
"""Shortest time [s] between two lines about refused frames: a broken pad sends many."""


class TeleopNode(Node):
    """A pad on `joy` becomes commands on `<source>/gripper_ctrl`."""

    def __init__(self) -> None:
        """Read parameters and profile, and open all topics.

        Raises:
            ParameterError: a parameter or the profile is not in order.
        """
        super().__init__("teleop")
        values = declare(self, PARAMETERS)
        try:
            self._profile = profiles.find(values["profile"])
        except ProfileError as error:
            raise ParameterError(f"profile: {error}") from error
        self._source: str = values["source"]
        if not self._source.isidentifier():
            raise ParameterError(
                f"source is {self._source!r}; it must be a word that can be part of a topic"
            )
        self._estop_level = StopLevel[values["estop_level"].upper()]
        self._client_id = f"{self._source}-{uuid.uuid4()}"
        self._core = core.TeleopCore(
            self._profile,
            core.TeleopConfig(
                source=self._source,
                joy_ttl=values["joy_ttl"],
                command_lifetime=values["command_lifetime"],
            ),
        )
        self._commands = self.create_publisher(
            GripperCtrl, f"{self._source}/gripper_ctrl", RELIABLE
        )
        self._heartbeats = self.create_publisher(
            ClientHeartbeat, f"{self._source}/heartbeat", RELIABLE
        )
        self._estops = self.create_publisher(EStop, "estop", RELIABLE)
        self._reset = self.create_client(Trigger, "reset")
        self._reset_call: Future | None = None
        self._reset_deadline = 0.0
        self._actions = {
            core.Publish: self._publish,
            core.Heartbeat: self._beat,
            core.EStopPressed: self._estop,
            core.ResetPressed: self._call_reset,
            core.ModeChanged: self._tell_mode,
            core.Refused: self._tell_refusal,
        }
        self.create_subscription(
            Joy,
            "joy",
            self._on_joy,
            RELIABLE,
            event_callbacks=SubscriptionEventCallbacks(matched=self._on_joy_matched),
        )
        self.create_subscription(ArbiterState, "arbiter_state", self._on_arbiter_state, LATCHED)
        # Steady, so that neither a clock that is set nor simulated time holds a watchdog up.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(values["heartbeat_period"], self._on_tick, clock=steady)
        self.get_logger().info(
            f"pad profile {self._profile.name}, sticks move the arm in "
            f"{self._core.mode.value} coordinates"
        )

    def close(self) -> None:
        """Say neutral and absent, and wait until that is out."""
        self._do(self._core.close(time.monotonic()))
        for publisher in (self._commands, self._heartbeats, self._estops):
            publisher.wait_for_all_acked(Duration(seconds=FAREWELL))

    def _do(self, outputs: Iterable[core.Output]) -> None:
        for output in outputs:
            self._actions[type(output)](output)

    # What comes in.

    def _on_joy(self, message: Joy) -> None:
        stamp = messages.nanoseconds(message.header.stamp)
        frame = core.JoyFrame(message.axes, message.buttons, stamp)
        self._do(self._core.on_joy(frame, time.monotonic()))

    def _on_joy_matched(self, info: QoSSubscriptionMatchedInfo) -> None:
        if info.current_count == 0:
            self._do(self._core.on_pad_gone(time.monotonic()))

    def _on_arbiter_state(self, message: ArbiterState) -> None:
        ours = next((s for s in message.sources if s.name == self._source), None)
        if ours is None:
            self.get_logger().error(
                f"the arbiter does not know the source {self._source!r}: add it to the arbiter's "
                "parameter `sources`, or change ours",
                once=True,
            )
        view = core.ArbiterView(
            owner=message.owner,
            latched=message.estop_latched or message.fault_latched,
            neutral_required=ours is not None and ours.neutral_required,
        )
        self._do(self._core.on_arbiter(view, time.monotonic()))

    def _on_tick(self) -> None:
        now = time.monotonic()
        self._do(self._core.tick(now))
        if self._reset_call is not None and now >= self._reset_deadline:
            self._drop_reset_call()
            self.get_logger().error(
                f"reset was not answered in {RESET_TIMEOUT:g} s: see whether the arbiter runs, "
                "then press reset again"
            )

    # What goes out.

    def _publish(self, output: core.Publish) -> None:
        message = messages.gripper_ctrl(output.command)
        message.header.stamp = self.get_clock().now().to_msg()
        self._commands.publish(message)

    def _beat(self, output: core.Heartbeat) -> None:
        message = ClientHeartbeat(client_id=self._client_id, present=output.present)
        message.header.stamp = self.get_clock().now().to_msg()
        self._heartbeats.publish(message)

    def _estop(self, _: core.EStopPressed) -> None:
        message = EStop(
            level=int(self._estop_level), source=self._source, reason="e-stop button of the pad"
        )
        message.header.stamp = self.get_clock().now().to_msg()
        self._estops.publish(message)
        self.get_logger().warning("e-stop pressed")

    def _call_reset(self, _: core.ResetPressed) -> None:
        if not self._reset.service_is_ready():
            self.get_logger().error(
                "nobody offers the service `reset`: see whether the arbiter runs, and in this "
                "namespace, then press reset again"
            )
            return
        self._drop_reset_call()
        self._reset_call = self._reset.call_async(Trigger.Request())
        self._reset_deadline = time.monotonic() + RESET_TIMEOUT
        self._reset_call.add_done_callback(self._on_reset_answer)

    def _drop_reset_call(self) -> None:
        """Wait for the newest press only: an older answer says nothing about now."""
        if self._reset_call is not None:
            self._reset.remove_pending_request(self._reset_call)
            self._reset_call = None

    def _on_reset_answer(self, future: Future) -> None:
        if future is not self._reset_call:
            return
        self._reset_call = None
        answer = future.result()
        if answer.success:
            self.get_logger().info(f"reset: {answer.message or 'done'}")
        else:
            self.get_logger().error(f"reset was refused: {answer.message}")

    def _tell_mode(self, output: core.ModeChanged) -> None:
        self.get_logger().info(
            f"sticks move the arm in {output.mode.value} coordinates; let go of them once to go on"
        )

    def _tell_refusal(self, output: core.Refused) -> None:
        refusal = output.refusal
        self.get_logger().warning(
            f"{refusal.code}: {refusal.reason} (the {refusal.count}. of these)",
            throttle_duration_sec=LOG_PERIOD,
        )


def main() -> int:
    """Run the node until it is told to leave."""
    return run(TeleopNode)


if __name__ == "__main__":
    raise SystemExit(main())
