"""One bare rclpy process: passes messages on, or writes down when they arrive.

    python3 -m benchmarks.relay Joy /from /to    one hop of a chain
    python3 -m benchmarks.relay Joy /from        its end: prints `<stamp.sec> <CLOCK_MONOTONIC ns>`

This is the least that a node of ours could be: a subscription, a publisher, an executor.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import Joy

from reach_alpha5_msgs.msg import EStop

KINDS = {"Joy": Joy, "EStop": EStop}

DEPTH = 1000
"""Messages that wait: one that a stall of the machine holds up comes late, and is not lost."""


def main() -> int:
    """Relay until told to leave."""
    kind, source, *target = sys.argv[1:]
    rclpy.init()
    node = Node("relay")
    on_message: Callable[[Any], None] = _write_down
    if target:
        on_message = node.create_publisher(KINDS[kind], target[0], DEPTH).publish
    node.create_subscription(KINDS[kind], source, on_message, DEPTH)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        rclpy.try_shutdown()
    return 0


def _write_down(message: Any) -> None:
    arrived = time.monotonic_ns()
    print(message.header.stamp.sec, arrived, flush=True)


if __name__ == "__main__":
    sys.exit(main())
