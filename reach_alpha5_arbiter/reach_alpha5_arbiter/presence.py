"""Listening to who says of itself that it is there, and hearing when nobody does any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.event_handler import (
    QoSLivelinessChangedInfo,
    QoSSubscriptionMatchedInfo,
    SubscriptionEventCallbacks,
)
from rclpy.node import Node
from rclpy.qos import QoSProfile

RELIABLE = QoSProfile(depth=10)
"""Reliable, volatile: what nobody was there to hear is not said later."""


def listen(
    node: Node,
    kind: type[Any],
    topic: str,
    on_message: Callable[[Any], object],
    on_gone: Callable[[], object],
) -> None:
    """Listen to a topic, and to the end of its last publisher.

    Args:
        node: whose subscription it is.
        kind: type of the messages.
        topic: its name.
        on_message: takes each message.
        on_gone: is called when nobody publishes it any more.
    """

    def on_matched(info: QoSSubscriptionMatchedInfo) -> None:
        # Only when nobody is left: of two publishers, the one that went may be the remains of a
        # process killed long ago, and a watchdog sees soon enough whether it was the other.
        if info.current_count == 0 and info.current_count_change < 0:
            on_gone()

    def on_liveliness(info: QoSLivelinessChangedInfo) -> None:
        if info.alive_count == 0 and info.alive_count_change < 0:
            on_gone()

    node.create_subscription(
        kind,
        topic,
        on_message,
        RELIABLE,
        event_callbacks=SubscriptionEventCallbacks(matched=on_matched, liveliness=on_liveliness),
    )
