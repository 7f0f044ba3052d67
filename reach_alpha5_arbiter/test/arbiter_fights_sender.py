"""A source as a process of its own, which speaks as it is told. `NAMESPACE SOURCE`.

Lines come in: `beat CLIENT PRESENT`, with 0 or 1, and `command X LIFETIME`. What is said has a
stamp of this process's clock when it is said.
"""

from __future__ import annotations

import sys

import rclpy
from rclpy.duration import Duration

from reach_alpha5_msgs.msg import ClientHeartbeat, GripperCtrl


def main() -> None:
    namespace, source = sys.argv[1:3]
    rclpy.init()
    node = rclpy.create_node("sender", namespace=namespace)
    heartbeats = node.create_publisher(ClientHeartbeat, f"{source}/heartbeat", 10)
    commands = node.create_publisher(GripperCtrl, f"{source}/gripper_ctrl", 10)
    print("ready", flush=True)
    for line in sys.stdin:
        now = node.get_clock().now().to_msg()
        match line.split():
            case ["beat", client, present]:
                beat = ClientHeartbeat(client_id=client, present=present == "1")
                beat.header.stamp = now
                heartbeats.publish(beat)
            case ["command", x, lifetime]:
                command = GripperCtrl(lifetime=Duration(seconds=float(lifetime)).to_msg())
                command.header.stamp = now
                if float(x):
                    command.arm_input = GripperCtrl.ARM_INPUT_CARTESIAN
                    command.cartesian.x = float(x)
                commands.publish(command)
            case other:
                raise ValueError(other)


if __name__ == "__main__":
    main()
