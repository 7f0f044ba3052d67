"""A relay in the arm's supply, driven by `motion_permitted`: its coil and contact are printed.

A software stop. Not safety-rated. Put your outputs and inputs into `PrintedRelay`; the rest stays.
The arbiter must have the endpoint `relay`: see docs/estop.md.
"""

from __future__ import annotations

import signal
import threading
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from std_msgs.msg import Bool

from reach_alpha5_arbiter.estop_client.node import EStopClient
from reach_alpha5_arbiter.estop_client.relay import Relay
from reach_alpha5_common.command import StopLevel

NAMESPACE = "alpha5"
PERIOD = 0.05


class PrintedRelay:
    """A coil that prints, and a contact that follows it."""

    def __init__(self) -> None:
        """Begin open."""
        self._closed = False

    def drive(self, closed: bool) -> None:
        """Give the coil its power, or take it."""
        if closed is not self._closed:
            print("relay:", "CLOSED" if closed else "OPEN", flush=True)
        self._closed = closed

    def is_closed(self) -> bool:
        """Read the feedback contact."""
        return self._closed


def main() -> None:
    """Drive the relay until SIGINT or SIGTERM; then it opens."""
    leave = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: leave.set())
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = Node("estop_relay", namespace=NAMESPACE)
    client = EStopClient(node, "relay")
    relay, hardware = Relay(), PrintedRelay()
    node.create_subscription(
        Bool,
        "motion_permitted",
        lambda message: relay.heard(message.data, time.monotonic()),
        QoSProfile(depth=1),
    )
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    done: Future[None] = Future()
    spin = threading.Thread(target=executor.spin_until_future_complete, args=(done,), daemon=True)
    spin.start()
    try:
        # This loop has the coil in its hand, so it is this loop that must not hang.
        while not leave.wait(PERIOD):
            client.feed()
            now = time.monotonic()
            hardware.drive(relay.may_close(now))
            objection = relay.objection(hardware.is_closed(), now)
            if objection and client.level is StopLevel.NONE:
                client.press(StopLevel.CUT, objection)
            elif not objection:
                client.release()
    finally:
        hardware.drive(False)
        client.press(StopLevel.CUT, "the relay's node left")
        done.set_result(None)
        spin.join()
        client.close()
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
