"""The teleop node: ROS messages in and out of `core.TeleopCore`, nothing more."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.event_handler import QoSSubscriptionMatchedInfo, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.subscription import MessageInfo
from rclpy.task import Future
from sensor_msgs.msg import Joy, JoyFeedback, JoyFeedbackArray
from std_srvs.srv import Trigger

from reach_alpha5_common import messages
from reach_alpha5_common.command import StopLevel
from reach_alpha5_common.freshness import Freshness
from reach_alpha5_common.node_life import declare, run
from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_msgs.msg import ArbiterState, ArmState, EStop
from reach_alpha5_teleop import core, outputs, profiles
from reach_alpha5_teleop.auto import AutoTeleop
from reach_alpha5_teleop.feedback import Rumble
from reach_alpha5_teleop.modes import MEANINGS
from reach_alpha5_teleop.pad import JoyFrame
from reach_alpha5_teleop.parameters import PARAMETERS
from reach_alpha5_teleop.profile import ProfileError
from reach_alpha5_teleop.voice import FAREWELL, LATCHED, LOG_PERIOD, RELIABLE, Voice, stamped

RESET_TIMEOUT = 2.0
"""Time [s] after which a reset that nobody answered is reported; a later answer counts still."""

RUMBLE_PERIOD = 0.05
"""Time [s] after which a pattern that plays is looked at again."""


class TeleopNode(Node):
    """A pad on `joy` becomes commands on `<source>/gripper_ctrl`."""

    def __init__(self) -> None:
        """Read parameters and profile, and open all topics.

        Raises:
            ParameterError: a parameter or the profile is not in order.
        """
        super().__init__("teleop")
        values = declare(self, PARAMETERS)
        self._source: str = values["source"]
        self._voice = Voice(self, self._source)
        self._estop_level = StopLevel[values["estop_level"].upper()]
        config = core.TeleopConfig(
            source=self._source,
            joy_ttl=values["joy_ttl"],
            command_lifetime=values["command_lifetime"],
        )
        try:
            self._core, known = _core(values["profile"], config)
        except ProfileError as error:
            raise ParameterError(f"profile: {error}") from error
        self._freshness = Freshness(values["max_stamp_age"])
        self._estops = self.create_publisher(EStop, "estop", RELIABLE)
        self._reset = self.create_client(Trigger, "reset")
        self._reset_call: Future | None = None
        self._reset_deadline = math.inf
        self._actions = {
            outputs.Publish: lambda output: self._voice.say(output.command),
            outputs.Heartbeat: lambda output: self._voice.beat(output.present),
            outputs.EStopPressed: self._estop,
            outputs.ResetPressed: self._call_reset,
            outputs.ModeChanged: self._tell_mode,
            outputs.PadFound: self._tell_pad,
            outputs.Refused: lambda output: self._voice.tell(output.refusal),
            outputs.Feel: self._feel,
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
        self._rumble = Rumble(values["rumble"])
        if values["rumble"] > 0.0:
            self._open_feedback(steady)
        if known is not None:
            self._tell_pad(known)

    def _open_feedback(self, steady: Clock) -> None:
        self._feedback = self.create_publisher(JoyFeedback, "joy/set_feedback", RELIABLE)
        self._feedback_arrays = self.create_publisher(
            JoyFeedbackArray, "joy/set_feedback_array", RELIABLE
        )
        self.create_subscription(ArmState, "arm_state", self._on_arm_state, RELIABLE)
        self._rumble_timer = self.create_timer(
            RUMBLE_PERIOD, self._on_rumble, clock=steady, autostart=False
        )

    def close(self) -> None:
        """Say neutral and absent, and wait until that is out."""
        self._do(self._core.close(time.monotonic()))
        self._say_rumble(self._rumble.stop())
        self._voice.await_heard()
        self._estops.wait_for_all_acked(Duration(seconds=FAREWELL))

    def _do(self, outputs: Iterable[outputs.Output]) -> None:
        for output in outputs:
            self._actions[type(output)](output)

    # What comes in.

    def _on_joy(self, message: Joy, info: MessageInfo) -> None:
        stamp = messages.nanoseconds(message.header.stamp)
        frame = JoyFrame(message.axes, message.buttons, stamp)
        replayed = messages.replayed(self._freshness, message, info)
        self._do(self._core.on_joy(frame, time.monotonic(), replayed))

    def _on_joy_matched(self, info: QoSSubscriptionMatchedInfo) -> None:
        # Which of two publishers left is not known: the pad is taken for gone, and one that is
        # still there is found anew.
        if info.current_count == 0 or info.current_count_change < 0:
            self._do(self._core.on_pad_gone(time.monotonic()))

    def _is_replayed(
        self, message: ArbiterState | ArmState, topic: str, info: MessageInfo
    ) -> bool:
        problem = messages.replayed(self._freshness, message, info)
        if problem is not None:
            self._do(self._core.refuse(problem, time.monotonic(), topic))
        return problem is not None

    def _on_arbiter_state(self, message: ArbiterState, info: MessageInfo) -> None:
        # One out of a bag knows of no e-stop of now.
        if self._is_replayed(message, "arbiter_state", info):
            return
        ours = self._voice.seen_in(message)
        view = core.ArbiterView(
            owner=message.owner,
            estop=message.estop_latched,
            fault=message.fault_latched,
            neutral_required=ours is not None and ours.neutral_required,
        )
        self._do(self._core.on_arbiter(view, time.monotonic()))

    def _on_arm_state(self, message: ArmState, info: MessageInfo) -> None:
        if not self._is_replayed(message, "arm_state", info):
            self._do(self._core.on_arm(bool(message.blocked_by)))

    def _on_tick(self) -> None:
        now = time.monotonic()
        self._do(self._core.tick(now))
        if now >= self._reset_deadline:
            self._reset_deadline = math.inf
            self.get_logger().error(
                f"reset was not answered in {RESET_TIMEOUT:g} s: see whether the arbiter runs, "
                "then press reset again"
            )

    # What goes out.

    def _estop(self, output: outputs.EStopPressed) -> None:
        message = EStop(
            level=int(self._estop_level), source=self._source, reason="e-stop button of the pad"
        )
        stamped(self._estops, message)
        if output.again:
            self.get_logger().error(
                "the arbiter has not said that the e-stop latched: it is told again; see whether "
                "the arbiter runs, and in this namespace",
                throttle_duration_sec=LOG_PERIOD,
            )
        else:
            self.get_logger().warning("e-stop pressed")

    def _call_reset(self, _: outputs.ResetPressed) -> None:
        if not self._reset.service_is_ready():
            self.get_logger().error(
                "nobody offers the service `reset`: see whether the arbiter runs, and in this "
                "namespace, then press reset again"
            )
            return
        self._reset_call = self._reset.call_async(Trigger.Request())
        self._reset_deadline = time.monotonic() + RESET_TIMEOUT
        self._reset_call.add_done_callback(self._on_reset_answer)

    def _on_reset_answer(self, future: Future) -> None:
        answer = future.result()
        # Of an older press, or late, too: whatever it cleared is cleared.
        if answer.success:
            self._do(self._core.on_reset_done(time.monotonic()))
        if future is not self._reset_call:
            return
        self._reset_call = None
        self._reset_deadline = math.inf
        if answer.success:
            self.get_logger().info(f"reset: {answer.message or 'done'}")
        else:
            self.get_logger().error(f"reset was refused: {answer.message}")

    def _tell_pad(self, output: outputs.PadFound) -> None:
        self.get_logger().info(f"pad profile {output.profile}; {MEANINGS[output.mode]}")

    def _tell_mode(self, output: outputs.ModeChanged) -> None:
        self.get_logger().info(f"{MEANINGS[output.mode]}; let go of everything once to go on")

    def _feel(self, output: outputs.Feel) -> None:
        if self._rumble.start(output.cause, time.monotonic()):
            self._on_rumble()
            self._rumble_timer.reset()

    def _on_rumble(self) -> None:
        self._say_rumble(self._rumble.change(time.monotonic()))
        if not self._rumble.playing:
            self._rumble_timer.cancel()

    def _say_rumble(self, intensity: float | None) -> None:
        if intensity is None:
            return
        feedback = JoyFeedback(type=JoyFeedback.TYPE_RUMBLE, id=0, intensity=intensity)
        self._feedback.publish(feedback)
        self._feedback_arrays.publish(JoyFeedbackArray(array=[feedback]))


def _core(
    profile: str, config: core.TeleopConfig
) -> tuple[core.TeleopCore | AutoTeleop, outputs.PadFound | None]:
    """Return a core for the parameter `profile`, and what is known of the pad already."""
    if profile == profiles.AUTO:
        return AutoTeleop(profiles.shipped(), config), None
    found = profiles.find(profile)
    return core.TeleopCore(found, config), outputs.PadFound(found.name, found.modes[0])


def main() -> int:
    """Run the node until it is told to leave."""
    return run(TeleopNode, before_others=True)


if __name__ == "__main__":
    raise SystemExit(main())
