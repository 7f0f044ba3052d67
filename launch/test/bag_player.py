"""Plays a bag as `ros2 bag play` does: the bytes as they were recorded, with old stamps. `BAG`.

Line by line: it says `ready`, plays the bag for each line that comes in, and says `played`.
"""

import sys
import time
from importlib import import_module

import rclpy
from rclpy.qos import QoSProfile
from rosbags.rosbag2 import Reader

NANO = 1_000_000_000


def message_type(name):
    """Return the type with a name as in a bag."""
    module, kind = name.rsplit("/", 1)
    return getattr(import_module(module.replace("/", ".")), kind)


def main():
    rclpy.init()
    node = rclpy.create_node("bag_player")
    with Reader(sys.argv[1]) as reader:
        publishers = {
            each.topic: node.create_publisher(
                message_type(each.msgtype), each.topic, QoSProfile(depth=100)
            )
            for each in reader.connections
        }
        recorded = [(at, each.topic, bytes(data)) for each, at, data in reader.messages()]
    driver = next(each for topic, each in publishers.items() if topic.endswith("driver_command"))
    while not driver.get_subscription_count():
        time.sleep(0.01)
    print("ready", flush=True)
    for _ in sys.stdin:
        began, first = time.monotonic(), recorded[0][0]
        for at, topic, data in recorded:
            time.sleep(max(0.0, began + (at - first) / NANO - time.monotonic()))
            publishers[topic].publish(data)
        print("played", flush=True)


if __name__ == "__main__":
    main()
