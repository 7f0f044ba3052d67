"""The verbs node: ROS messages and services in and out of `core.VerbsCore`, nothing more."""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Iterable
from functools import partial

from geometry_msgs.msg import TwistStamped
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.event_handler import QoSSubscriptionMatchedInfo, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.subscription import MessageInfo
from rclpy.task import Future
from std_srvs.srv import Trigger

from reach_alpha5_common import messages
from reach_alpha5_common.command import GripperCommand
from reach_alpha5_common.freshness import Freshness
from reach_alpha5_common.node_life import declare, run
from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_msgs.msg import (
    ArbiterState,
    ArmState,
    ClientHeartbeat,
    GripperCtrl,
    GripperTel,
    TwistCtrl,
)
from reach_alpha5_teleop.verbs import core
from reach_alpha5_teleop.verbs.parameters import PARAMETERS
from reach_alpha5_teleop.verbs.progress import ArmView
from reach_alpha5_teleop.verbs.table import VERBS

RELIABLE = QoSProfile(depth=10)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

FAREWELL = 0.5
"""Longest time [s] that leaving waits for each topic's last message to be acknowledged."""

LOG_PERIOD = 1.0
"""Shortest time [s] between two lines about refused twists."""

JAWS = 4
"""Place of the jaws among the joints."""


class VerbsNode(Node):
    """Stamped twists on `cmd_vel`, and verbs as services, become commands of one source."""

    def __init__(self) -> None:
        """Read parameters, and open all topics and services.

        Raises:
            ParameterError: a parameter is not in order.
        """
        super().__init__("verbs")
        values = declare(self, PARAMETERS)
        self._source: str = values["source"]
        if not self._source.isidentifier():
            raise ParameterError(
                f"source is {self._source!r}; it must be a word that can be part of a topic"
            )
        self._core = core.VerbsCore(
            core.VerbsConfig(
                source=self._source,
                twist_ttl=values["twist_ttl"],
                command_lifetime=values["command_lifetime"],
                verb_timeout=values["verb_timeout"],
            )
        )
        self._freshness = Freshness(values["max_stamp_age"])
        self._client_id = f"{self._source}-{uuid.uuid4()}"
        self._numbers = itertools.count(1)
        self._calls: dict[int, Future[core.Answer]] = {}
        self._arm = ArmState()

        self._commands = self.create_publisher(
            GripperCtrl, f"{self._source}/gripper_ctrl", RELIABLE
        )
        self._twists = self.create_publisher(TwistCtrl, f"{self._source}/twist_ctrl", RELIABLE)
        self._heartbeats = self.create_publisher(
            ClientHeartbeat, f"{self._source}/heartbeat", RELIABLE
        )
        self.create_subscription(
            TwistStamped,
            "cmd_vel",
            self._on_twist,
            RELIABLE,
            event_callbacks=SubscriptionEventCallbacks(matched=self._on_twists_matched),
        )
        self.create_subscription(ArbiterState, "arbiter_state", self._on_arbiter_state, LATCHED)
        self.create_subscription(ArmState, "arm_state", self._on_arm_state, RELIABLE)
        self.create_subscription(GripperTel, "gripper_tel", self._on_telemetry, RELIABLE)
        # A call waits for its end; in the group of all others it would keep them from running.
        calls = ReentrantCallbackGroup()
        self._verbs = {
            name: self.create_service(
                Trigger, f"~/{name}", partial(self._on_call, name), callback_group=calls
            )
            for name in VERBS
        }
        self.create_service(Trigger, "~/stop", self._on_stop, callback_group=calls)
        # Steady, so that neither a clock that is set nor simulated time holds a watchdog up.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(values["heartbeat_period"], self._on_tick, clock=steady)
        self.get_logger().info(
            f"source {self._source}: twists on {self.resolve_topic_name('cmd_vel')}, verbs "
            + ", ".join([*VERBS, "stop"])
        )

    def close(self) -> None:
        """End what runs, say that we are gone, and wait until that is out."""
        self._do(self._core.close())
        self._beat(present=False)
        for publisher in (self._commands, self._twists, self._heartbeats):
            publisher.wait_for_all_acked(Duration(seconds=FAREWELL))

    def _do(self, outputs: Iterable[core.Output]) -> None:
        for output in outputs:
            if isinstance(output, core.Say):
                self._say(output)
            elif isinstance(output, core.Answer):
                self._calls.pop(output.number).set_result(output)
            else:
                self.get_logger().warning(
                    f"{output.refusal.code}: {output.refusal.reason} "
                    f"(the {output.refusal.count}. of these)",
                    throttle_duration_sec=LOG_PERIOD,
                )

    # ---- in ------------------------------------------------------------------------------------

    def _on_twist(self, message: TwistStamped, info: MessageInfo) -> None:
        objection = messages.replayed(self._freshness, message, info)
        twist = messages.stamped_twist_command(message.header.frame_id, message.twist)
        stamp = messages.nanoseconds(message.header.stamp)
        self._do(self._core.on_twist(twist, stamp, time.monotonic(), objection))

    def _on_twists_matched(self, info: QoSSubscriptionMatchedInfo) -> None:
        if info.current_count == 0:
            self._do(self._core.on_twists_gone())

    async def _on_call(
        self, name: str, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        number = next(self._numbers)
        done: Future[core.Answer] = Future()
        self._calls[number] = done
        self._do(self._core.call(number, name, time.monotonic()))
        return _answered(response, await done)

    async def _on_stop(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        number = next(self._numbers)
        done: Future[core.Answer] = Future()
        self._calls[number] = done
        self._do(self._core.stop(number))
        return _answered(response, await done)

    def _on_arbiter_state(self, message: ArbiterState) -> None:
        ours = next((s for s in message.sources if s.name == self._source), None)
        if ours is None:
            self.get_logger().error(
                f"the arbiter does not know the source {self._source!r}: add it to the arbiter's "
                "parameter `sources`, or change ours",
                once=True,
            )
            return
        refusals = (message.last_refusal, *message.earlier_refusals)
        last = next((r for r in refusals if r.source == self._source), None)
        latched = [f"e-stop of {message.estop_source}"] if message.estop_latched else []
        latched += [f"fault {', '.join(message.fault_causes)}"] if message.fault_latched else []
        alive = ours.alive and ours.present
        view = core.ArbiterView(
            owner=message.owner,
            latched=" and ".join(latched),
            listens=alive and not ours.neutral_required,
            waits_for_neutral=alive and ours.neutral_required,
            refusals=ours.refusals,
            reason="" if last is None else f"{last.code}: {last.reason}",
        )
        self._do(self._core.on_arbiter(view, time.monotonic()))

    def _on_arm_state(self, message: ArmState) -> None:
        self._arm = message

    def _on_telemetry(self, message: GripperTel) -> None:
        # The driver publishes it right behind the `arm_state` of the same moment.
        arm, gripper = self._arm, message.gripper
        jaws = arm.joints[JAWS].velocity if len(arm.joints) > JAWS else float("nan")
        view = ArmView(
            obeys=arm.stream_open,
            moving_to=gripper.moving_to.pose,
            held_back_by=tuple(arm.blocked_by),
            holding=gripper.holding,
            jaws_at_limit=bool(gripper.joint_at_limit[JAWS]),
            jaw_speed=abs(jaws),
        )
        self._do(self._core.on_arm(view, time.monotonic()))

    def _on_tick(self) -> None:
        self._beat(present=True)
        called = [
            name
            for name, service in self._verbs.items()
            if self.count_clients(service.service_name)
        ]
        self._do(self._core.tick(time.monotonic(), called))

    # ---- out -----------------------------------------------------------------------------------

    def _say(self, output: core.Say) -> None:
        command = output.command
        if isinstance(command, GripperCommand):
            message, publisher = messages.gripper_ctrl(command), self._commands
        else:
            message, publisher = messages.twist_ctrl(command), self._twists
        message.header.stamp = self.get_clock().now().to_msg()
        publisher.publish(message)

    def _beat(self, *, present: bool) -> None:
        message = ClientHeartbeat(client_id=self._client_id, present=present)
        message.header.stamp = self.get_clock().now().to_msg()
        self._heartbeats.publish(message)


def _answered(response: Trigger.Response, answer: core.Answer | None) -> Trigger.Response:
    assert answer is not None  # it is set before it is awaited for
    response.success, response.message = answer.success, answer.message
    return response


def main() -> int:
    """Run the node until it is told to leave."""
    return run(VerbsNode)


if __name__ == "__main__":
    raise SystemExit(main())
