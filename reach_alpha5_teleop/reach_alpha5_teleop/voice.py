"""The voice of one source: what it says to the arbiter, and what the arbiter says of it. Shell."""

from __future__ import annotations

import time
import uuid
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile

from reach_alpha5_common import messages
from reach_alpha5_common.command import GripperCommand, TwistCommand
from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_common.refusal import Refusal
from reach_alpha5_msgs.msg import (
    ArbiterState,
    ClientHeartbeat,
    GripperCtrl,
    SourceStatus,
    TwistCtrl,
)

RELIABLE = QoSProfile(depth=10)
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Of the arbiter's state. Deep: a latch that was set and reset since is seen, too."""

FAREWELL = 0.5
"""Longest time [s] that leaving waits for each topic's last message to be acknowledged."""

LOG_PERIOD = 1.0
"""Shortest time [s] between two lines about refusals: a broken pad causes many."""


class Voice:
    """Speaks for a source on a node.

    Everything is stamped with the wall clock, also where time is simulated: by that the arbiter
    tells what is said now from what comes out of a bag.
    """

    def __init__(self, node: Node, source: str, *, twists: bool = False) -> None:
        """Open the topics of `source`; `twists`: also that of twists.

        Raises:
            ParameterError: the source's name cannot be part of a topic.
        """
        if not source.isidentifier():
            raise ParameterError(
                f"source is {source!r}; it must be a word that can be part of a topic"
            )
        self._logger = node.get_logger()
        self._source = source
        self._client_id = f"{source}-{uuid.uuid4()}"
        self._commands = node.create_publisher(GripperCtrl, f"{source}/gripper_ctrl", RELIABLE)
        self._heartbeats = node.create_publisher(ClientHeartbeat, f"{source}/heartbeat", RELIABLE)
        self._publishers: list[Publisher[Any]] = [self._commands, self._heartbeats]
        if twists:
            self._twists = node.create_publisher(TwistCtrl, f"{source}/twist_ctrl", RELIABLE)
            self._publishers.append(self._twists)

    def say(self, command: GripperCommand | TwistCommand) -> None:
        """Publish a command."""
        if isinstance(command, GripperCommand):
            stamped(self._commands, messages.gripper_ctrl(command))
        else:
            stamped(self._twists, messages.twist_ctrl(command))

    def beat(self, present: bool) -> None:
        """Publish a heartbeat."""
        stamped(self._heartbeats, ClientHeartbeat(client_id=self._client_id, present=present))

    def seen_in(self, state: ArbiterState) -> SourceStatus | None:
        """Return what the arbiter says of the source; None, and told once: it does not know it."""
        ours = next((each for each in state.sources if each.name == self._source), None)
        if ours is None:
            self._logger.error(
                f"the arbiter does not know the source {self._source!r}: add it to the arbiter's "
                "parameter `sources`, or change ours",
                once=True,
            )
        return ours

    def tell(self, refusal: Refusal) -> None:
        """Log what was not obeyed."""
        self._logger.warning(
            f"{refusal.source}: {refusal.code}: {refusal.reason} (the {refusal.count}. of these)",
            throttle_duration_sec=LOG_PERIOD,
        )

    def await_heard(self) -> None:
        """Wait until what was said last is out."""
        for publisher in self._publishers:
            publisher.wait_for_all_acked(Duration(seconds=FAREWELL))


def stamped(publisher: Publisher[Any], message: Any) -> None:
    """Publish a message with the stamp of now."""
    message.header.stamp = messages.time_message(time.time_ns())
    publisher.publish(message)
