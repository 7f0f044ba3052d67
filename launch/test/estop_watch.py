"""An e-stop endpoint as a process: `NAME`. Its owner's loop can be made to hang or to object.

SIGUSR1: the loop hangs, and the ROS thread lives on. SIGUSR2: it objects at level CUT. SIGTERM: it
ends in order.
"""

import signal
import sys
import threading
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from reach_alpha5_arbiter.estop_client.node import EStopClient
from reach_alpha5_common.command import StopLevel


def main():
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = Node(f"watch_{sys.argv[1]}", namespace="alpha5")
    client = EStopClient(node, sys.argv[1])
    told = []
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM):
        signal.signal(number, lambda number, _: told.append(number))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    done = Future()
    spin = threading.Thread(target=executor.spin_until_future_complete, args=(done,), daemon=True)
    spin.start()
    while signal.SIGTERM not in told:
        client.feed()
        if signal.SIGUSR1 in told:
            threading.Event().wait()
        if signal.SIGUSR2 in told and client.level is StopLevel.NONE:
            client.press(StopLevel.CUT, "something is wrong")
        time.sleep(0.05)
    done.set_result(None)
    spin.join()
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
