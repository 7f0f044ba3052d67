"""The verbs node: ROS messages and services in and out of `core.VerbsCore`, nothing more."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable
from functools import partial

from geometry_msgs.msg import TwistStamped
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.event_handler import QoSSubscriptionMatchedInfo, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.subscription import MessageInfo
from rclpy.task import Future
from std_srvs.srv import Trigger

from reach_alpha5_common import messages
from reach_alpha5_common.freshness import Freshness
from reach_alpha5_common.node_life import declare, run
from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_msgs.msg import ArbiterState, ArmState, GripperTel
from reach_alpha5_teleop.verbs import core
from reach_alpha5_teleop.verbs.parameters import PARAMETERS
from reach_alpha5_teleop.verbs.progress import ArmView
from reach_alpha5_teleop.verbs.table import VERBS
from reach_alpha5_teleop.voice import LATCHED, RELIABLE, Voice

JAWS_PLACE = 4
"""Of the jaws among the joints."""


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
        if values["heartbeat_period"] > values["command_lifetime"] / 3.0:
            raise ParameterError(
                "heartbeat_period must be a third of command_lifetime at most: what a verb says "
                "is said again before it ends"
            )
        self._voice = Voice(self, self._source, twists=True)
        self._core = core.VerbsCore(
            core.VerbsConfig(
                source=self._source,
                twist_ttl=values["twist_ttl"],
                command_lifetime=values["command_lifetime"],
                verb_timeout=values["verb_timeout"],
            )
        )
        self._freshness = Freshness(values["max_stamp_age"])
        self._numbers = itertools.count(1)
        self._calls: dict[int, Future[core.Answer]] = {}
        self._arm = ArmState()

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
        self._voice.beat(False)
        self._voice.await_heard()

    def _do(self, outputs: Iterable[core.Output]) -> None:
        for output in outputs:
            if isinstance(output, core.Say):
                self._voice.say(output.command)
            elif isinstance(output, core.Answer):
                self._calls.pop(output.number).set_result(output)
            else:
                self._voice.tell(output.refusal)

    # ---- in ------------------------------------------------------------------------------------

    def _on_twist(self, message: TwistStamped, info: MessageInfo) -> None:
        objection = messages.replayed(self._freshness, message, info)
        twist = messages.stamped_twist_command(message.header.frame_id, message.twist)
        stamp = messages.nanoseconds(message.header.stamp)
        self._do(self._core.on_twist(twist, stamp, time.monotonic(), objection))

    def _on_twists_matched(self, info: QoSSubscriptionMatchedInfo) -> None:
        # Of two, nobody knows which one moved the arm.
        if info.current_count_change < 0:
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

    # What comes out of a bag says nothing of the arm of now; the arbiter tells of such.

    def _on_arbiter_state(self, message: ArbiterState, info: MessageInfo) -> None:
        if messages.replayed(self._freshness, message, info) is not None:
            return
        if (ours := self._voice.seen_in(message)) is None:
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

    def _on_arm_state(self, message: ArmState, info: MessageInfo) -> None:
        if messages.replayed(self._freshness, message, info) is None:
            self._arm = message

    def _on_telemetry(self, message: GripperTel, info: MessageInfo) -> None:
        if messages.replayed(self._freshness, message, info) is not None:
            return
        # The driver publishes it right behind the `arm_state` of the same moment.
        arm, gripper = self._arm, message.gripper
        jaws = arm.joints[JAWS_PLACE].velocity if len(arm.joints) > JAWS_PLACE else float("nan")
        view = ArmView(
            obeys=arm.stream_open,
            moving_to=gripper.moving_to.pose,
            held_back_by=tuple(arm.blocked_by),
            holding=gripper.holding,
            jaws_at_limit=bool(gripper.joint_at_limit[JAWS_PLACE]),
            jaw_speed=abs(jaws),
        )
        self._do(self._core.on_arm(view, time.monotonic()))

    def _on_tick(self) -> None:
        self._voice.beat(True)
        called = [
            name
            for name, service in self._verbs.items()
            if self.count_clients(service.service_name)
        ]
        self._do(self._core.tick(time.monotonic(), called))


def _answered(response: Trigger.Response, answer: core.Answer | None) -> Trigger.Response:
    assert answer is not None  # it is set before it is awaited for
    response.success, response.message = answer.success, answer.message
    return response


def main() -> int:
    """Run the node until it is told to leave."""
    return run(VerbsNode, before_others=True)


if __name__ == "__main__":
    raise SystemExit(main())
