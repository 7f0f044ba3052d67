"""The arbiter's node: translates between ROS and `MotionArbiter`, and owns the clocks.

One executor runs all callbacks one after the other. That is enough here: the driver bounds every
demand by its lifetime, so that an arbiter that hangs stops the arm.
"""

from __future__ import annotations

import math
import secrets
import time
from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks, QoSPublisherMatchedInfo
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.subscription import MessageInfo
from std_msgs.msg import Header

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.actions import GoalServers
from reach_alpha5_arbiter.core import MotionArbiter
from reach_alpha5_arbiter.estop_endpoints import EndpointShell, MotionPermit
from reach_alpha5_arbiter.journal import Journal
from reach_alpha5_arbiter.latches import MAX_TEXT
from reach_alpha5_arbiter.machine import ARM_STATE
from reach_alpha5_arbiter.parameters import (
    PARAMETERS,
    check_names,
    config_from,
    endpoint_names,
    endpoint_parameters,
    source_parameters,
)
from reach_alpha5_arbiter.presence import RELIABLE
from reach_alpha5_arbiter.services import Services
from reach_alpha5_arbiter.snapshot import Snapshot
from reach_alpha5_arbiter.source_topics import SourceTopics, listen_upstream
from reach_alpha5_arbiter.tables import FOLLOWING
from reach_alpha5_arbiter.target_check import TargetCheck
from reach_alpha5_arbiter.translate import (
    arbiter_state,
    arm_report,
    diagnostics,
    joint_feedback,
)
from reach_alpha5_common.command import DriverCommand
from reach_alpha5_common.freshness import Freshness
from reach_alpha5_common.messages import driver_command_message, replayed, time_message
from reach_alpha5_common.node_life import declare, run
from reach_alpha5_msgs.msg import ArbiterJournal, ArbiterState, ArmState, EStop
from reach_alpha5_msgs.msg import DriverCommand as DriverCommandMessage

LATEST = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
JOURNAL = QoSProfile(depth=100)
"""Reliable, volatile; deep enough for a recorder that is busy with its disk."""

STATE_PERIOD = 0.09
"""Least time [s] between two periodic states: at the default tick of 0.05 s, every second tick."""
DIAGNOSTICS_PERIOD = 1.0
JOURNAL_MOST = 200
"""Entries that are published at once, however soon."""
CHECKPOINT_PERIOD = 5.0
"""Time [s] between two checkpoints of the journal."""
CHECKPOINT_PATIENCE = 30.0
"""Time [s] that a checkpoint waits for the end of goals; a new reader's does not wait."""
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
        names, endpoints = values["sources"], endpoint_names(values)
        check_names("sources", names)
        check_names("estop_endpoints", endpoints)
        further = [entry for name in names for entry in source_parameters(name)]
        further += [entry for name in endpoints for entry in endpoint_parameters(name)]
        values |= declare(self, further)
        config = config_from(values)
        self._rest = values["rest_velocity"], values["rest_jaw_velocity"]
        self._session = secrets.randbits(64)
        self._arbiter = MotionArbiter(config, self._session)
        self._journal = Journal()
        self._logged: dict[tuple[str, str], float] = {}

        self._commands = self.create_publisher(DriverCommandMessage, "driver_command", RELIABLE)
        self._states = self.create_publisher(ArbiterState, "arbiter_state", LATEST)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._journals = self.create_publisher(
            ArbiterJournal,
            "arbiter_journal",
            JOURNAL,
            event_callbacks=PublisherEventCallbacks(matched=self._on_journal_matched),
        )
        self._permit = MotionPermit(self)

        check = TargetCheck.named(values["target_check"])
        self.create_subscription(EStop, "estop", self._on_estop, RELIABLE)
        self.create_subscription(ArmState, "arm_state", self._on_arm_state, RELIABLE)
        self._freshness = Freshness(values["max_stamp_age"])
        SourceTopics(
            self,
            names,
            values["twist_lifetime"],
            self._freshness,
            check,
            self._has_stream,
            self._handle,
        )
        if config.upstream_timeout > 0.0:
            listen_upstream(self, self._freshness, self._handle)
        Services(self, self._handle, self._snapshot)
        self._endpoints = EndpointShell(self, endpoints, self._handle)
        self._goals = GoalServers(
            self,
            config.goal_source,
            config.goals,
            check,
            self._freshness,
            self._handle,
            self._stamp,
        )

        self._next_state = self._next_diagnostics = self._next_checkpoint = -math.inf
        # Steady, so that neither a clock that is set nor simulated time holds a watchdog up.
        # One timer for all: waking up costs more than what is done then.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self.create_timer(config.repeat_period, self._tick, clock=steady)
        self._publish_state()

    def close(self) -> None:
        """Send the last stop and wait until the driver has it.

        Goals that are open are not answered any more: their clients see the server disappear.
        """
        self._permit.say(False, time.monotonic())
        try:
            self._handle(events.Shutdown())
        except Exception as error:  # the stop is out; what else was to be told is lost
            self.get_logger().error(f"the last stop was said by itself: {error!r}")
        self._publish_state()
        self._publish_journal()
        self._commands.wait_for_all_acked(Duration(seconds=LEAVE_TIMEOUT))
        self._journals.wait_for_all_acked(Duration(seconds=LEAVE_TIMEOUT))

    # ---- in ------------------------------------------------------------------------------------

    def _on_estop(self, message: EStop) -> None:
        source, reason = message.source[:MAX_TEXT], message.reason[:MAX_TEXT]
        self._handle(events.EStopPress(message.level, source, reason))

    def _on_arm_state(self, message: ArmState, info: MessageInfo) -> None:
        if (problem := replayed(self._freshness, message, info)) is not None:
            self._handle(events.Replayed(ARM_STATE, problem))
            return
        # The joints' velocities are read here and not from `joint_states`: that comes five times
        # as often, and waking up for a message costs more than all that is done with it.
        self._handle(arm_report(message))
        self._handle(joint_feedback(message, *self._rest))

    def _on_journal_matched(self, info: QoSPublisherMatchedInfo) -> None:
        self._journal.is_read = info.current_count > 0
        self._next_checkpoint = -math.inf

    def _tick(self) -> None:
        self._handle(events.Tick())
        now = time.monotonic()
        self._permit.say(self._arbiter.state.is_permitted, now)
        if now >= self._next_state:
            self._next_state = now + STATE_PERIOD
            self._publish_state()
            self._publish_journal()
        if now >= self._next_diagnostics:
            self._next_diagnostics = now + DIAGNOSTICS_PERIOD
            self._publish_diagnostics()

    # ---- out -----------------------------------------------------------------------------------

    def _handle(self, event: events.Event) -> list[events.Output]:
        now = time.monotonic()
        try:
            outputs = self._arbiter.handle(event, now)
        except Exception:
            # An error of ours ends the process. Whatever it would have said, this comes first.
            self._say(DriverCommand(sequence=self._arbiter.state.sequence + 1))
            raise
        # What goes to the driver goes first.
        for output in outputs:
            if isinstance(output, events.Send):
                self._say(output.command)
        self._journal.heard(event, now)
        if len(self._journal) >= JOURNAL_MOST:
            self._publish_journal()
        for output in outputs:
            if isinstance(output, events.StateChanged):
                self._on_change(output.snapshot)
            elif isinstance(output, events.Refused):
                self._log(output)
            elif isinstance(output, events.Challenge):
                self._endpoints.publish(output, self._stamp(now))
            elif isinstance(output, (events.GoalProgress, events.GoalEnded)):
                self._goals.publish(output)
        return outputs

    def _say(self, command: DriverCommand) -> None:
        message = driver_command_message(command)
        message.header.stamp = self._stamp(time.monotonic())
        self._commands.publish(message)

    def _on_change(self, snapshot: Snapshot) -> None:
        self._permit.say(snapshot.permitted, time.monotonic())
        self._states.publish(self._state_message(snapshot))
        config = self._arbiter.config
        if any(each.present for each in snapshot.sources if each.name == config.goal_source):
            self._goals.watch()
        # A goal's set-points follow each other faster than a standing command is repeated.
        follows = snapshot.activity in FOLLOWING
        period = round((config.setpoint_period if follows else config.repeat_period) * 1e9)
        if self._timer.timer_period_ns != period:
            self._timer.timer_period_ns = period

    def _log(self, refused: events.Refused) -> None:
        refusal = refused.refusal
        key = (refusal.code, refusal.source)
        if refusal.at - self._logged.get(key, -LOG_PERIOD) >= LOG_PERIOD:
            self._logged[key] = refusal.at
            self.get_logger().warning(
                f"{refusal.source}: {refusal.code} (x{refusal.count}): {refusal.reason}"
            )

    def _has_stream(self, name: str) -> bool:
        return self._arbiter.state.stream.is_open_for(name)

    def _snapshot(self) -> Snapshot:
        return self._arbiter.snapshot(time.monotonic())

    def _publish_state(self) -> None:
        self._states.publish(self._state_message(self._snapshot()))

    def _state_message(self, snapshot: Snapshot) -> ArbiterState:
        return arbiter_state(snapshot, time.monotonic(), self._stamp)

    def _publish_journal(self) -> None:
        """Publish what has gathered, and now and then how the core is."""
        now, state = time.monotonic(), self._arbiter.state
        # A goal has many points: writing them takes a time that set-points do not have.
        has_goal = state.errand is not None or state.waiting is not None
        late = now >= self._next_checkpoint + CHECKPOINT_PATIENCE
        if late or (now >= self._next_checkpoint and not has_goal):
            self._next_checkpoint = now + CHECKPOINT_PERIOD
            contents = self._arbiter.refusals.contents()
            self._journal.checkpoint(self._arbiter.config, state, contents)
        if len(self._journal):
            batch = self._journal.take()
            self._journals.publish(
                ArbiterJournal(
                    header=Header(stamp=self._stamp(now)),
                    session=self._session,
                    first=batch.first,
                    entries=batch.entries,
                )
            )

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
    return run(ArbiterNode, before_others=True)


if __name__ == "__main__":
    raise SystemExit(main())
