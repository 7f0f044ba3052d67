"""The heartbeats of a source on ROS."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import rclpy
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

from reach_alpha5_msgs.msg import ClientHeartbeat

FAREWELL = 0.5
"""Longest time [s] that leaving waits for the last heartbeat to be acknowledged."""


def without_ros(words: Sequence[str]) -> list[str]:
    """Return the words that are not for ROS.

    Raises:
        RuntimeError: ROS cannot read those that are.
    """
    return list(remove_ros_args(words))


@contextmanager
def ros(words: Sequence[str]) -> Iterator[None]:
    """Be a participant, with what some words say to ROS; the signals stay the caller's.

    Raises:
        RuntimeError: ROS cannot read them, or cannot start.
    """
    rclpy.init(args=list(words), signal_handler_options=SignalHandlerOptions.NO)
    try:
        yield
    finally:
        rclpy.try_shutdown()


class Heart:
    """The publisher of the heartbeats of a source."""

    def __init__(self, source: str, namespace: str, client_id: str) -> None:
        """Begin to be heard of; an empty `client_id` is made up."""
        # It has nothing that others could ask of it: the keys of the source are enough for it.
        self._node = Node(
            f"{source}_heartbeat",
            namespace=namespace,
            enable_rosout=False,
            start_parameter_services=False,
            parameter_overrides=[Parameter("start_type_description_service", value=False)],
        )
        self._client_id = client_id or f"{source}-{uuid.uuid4()}"
        self._heartbeats = self._node.create_publisher(
            ClientHeartbeat, f"{source}/heartbeat", QoSProfile(depth=10)
        )

    def say(self, present: bool) -> None:
        """Publish one."""
        message = ClientHeartbeat(client_id=self._client_id, present=present)
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._heartbeats.publish(message)

    def close(self) -> None:
        """Be gone; what was said last is out before."""
        self._heartbeats.wait_for_all_acked(Duration(seconds=FAREWELL))
        self._node.destroy_node()
