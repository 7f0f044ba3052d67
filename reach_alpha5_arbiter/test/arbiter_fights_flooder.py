"""Says one thing as fast as it can, on being told to. `NAMESPACE RATE TOPIC TYPE`.

Lines come in: `go` and `pause`; after each pause a line goes out: how many were sent, and in how
many seconds. What is sent is the same and made once for a batch, so that sending it costs little.
"""

from __future__ import annotations

import sys
import threading
import time

import rclpy
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message

from reach_alpha5_msgs.msg import ClientHeartbeat, GripperCtrl

MESSAGES = {
    "command": GripperCtrl(arm_input=GripperCtrl.ARM_INPUT_CARTESIAN),
    "heartbeat": ClientHeartbeat(client_id="app-1", present=True),
}
MESSAGES["command"].cartesian.x = -1.0
BATCH = 10
"""Messages that are sent in a row, between two looks at the clock."""


def main() -> None:
    namespace, rate, topic, kind = sys.argv[1:5]
    rclpy.init()
    node = rclpy.create_node("flooder", namespace=namespace)
    message = MESSAGES[kind]
    publisher = node.create_publisher(type(message), topic, QoSProfile(depth=10))
    going = threading.Event()

    def listen() -> None:
        for line in sys.stdin:
            if line.strip() == "go":
                going.set()
            else:
                going.clear()
        rclpy.try_shutdown()

    threading.Thread(target=listen, daemon=True).start()
    print("ready", flush=True)
    while rclpy.ok():
        if not going.wait(0.1):
            continue
        began, sent = time.monotonic(), 0
        while going.is_set():
            message.header.stamp = node.get_clock().now().to_msg()
            raw = serialize_message(message)
            for _ in range(BATCH):
                publisher.publish(raw)
            sent += BATCH
            ahead = began + sent / float(rate) - time.monotonic()
            if ahead > 0.0:
                time.sleep(ahead)
        print(sent, time.monotonic() - began, flush=True)


if __name__ == "__main__":
    main()
