"""A pad that is listened to. Shell: rclpy. Nothing is ever published."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import rclpy
from rclpy.context import Context
from rclpy.exceptions import InvalidNamespaceException, InvalidTopicNameException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import Joy

from reach_alpha5_common import messages
from reach_alpha5_teleop.pad import JoyFrame


class Ear:
    """Hears the frames of a `Joy` topic."""

    def __init__(self, node: Node, topic: str, executor: SingleThreadedExecutor) -> None:
        self._executor = executor
        self._frames: list[JoyFrame] = []
        # Best effort hears reliable publishers, too.
        node.create_subscription(Joy, topic, self._on_joy, qos_profile_sensor_data)

    def hear(self, seconds: float) -> list[JoyFrame]:
        """Return the frames that came in, after `seconds` [s] at most."""
        self._executor.spin_once(timeout_sec=seconds)
        heard, self._frames = self._frames, []
        return heard

    def _on_joy(self, message: Joy) -> None:
        stamp = messages.nanoseconds(message.header.stamp)
        self._frames.append(JoyFrame(tuple(message.axes), tuple(message.buttons), stamp))


@contextmanager
def listening(topic: str, namespace: str) -> Iterator[Ear]:
    """Listen to `topic` in `namespace` while the context lasts.

    Raises:
        ValueError: the names are not names.
    """
    context = Context()
    # The signals stay Python's: Ctrl-C is a KeyboardInterrupt.
    rclpy.init(args=[], context=context, signal_handler_options=SignalHandlerOptions.NO)
    try:
        try:
            # No parameters, no rosout: this node has no publisher that anybody could hear.
            node = Node(
                f"alpha5_pad_{os.getpid()}",
                namespace=namespace,
                context=context,
                enable_rosout=False,
                start_parameter_services=False,
            )
            executor = SingleThreadedExecutor(context=context)
            executor.add_node(node)
            ear = Ear(node, topic, executor)
        except (InvalidNamespaceException, InvalidTopicNameException) as error:
            raise ValueError(str(error)) from error
        yield ear
        executor.shutdown()
        node.destroy_node()
    finally:
        context.try_shutdown()
