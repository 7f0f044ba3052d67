"""A source of commands as a process of its own: jogs until it is killed. `NAMESPACE SOURCE`."""

from __future__ import annotations

import sys

import rclpy

from reach_alpha5_msgs.msg import ClientHeartbeat, GripperCtrl


def main() -> None:
    rclpy.init()
    node = rclpy.create_node("source", namespace=sys.argv[1])
    heartbeat = node.create_publisher(ClientHeartbeat, f"{sys.argv[2]}/heartbeat", 10)
    commands = node.create_publisher(GripperCtrl, f"{sys.argv[2]}/gripper_ctrl", 10)
    beats = 0

    def speak() -> None:
        nonlocal beats
        beats += 1
        now = node.get_clock().now().to_msg()
        beat = ClientHeartbeat(client_id="process", present=True)
        message = GripperCtrl()
        beat.header.stamp = message.header.stamp = now
        heartbeat.publish(beat)
        # Neutral now and then, so that it is armed whenever the arbiter starts to hear it.
        if beats % 10:
            message.arm_input = GripperCtrl.ARM_INPUT_CARTESIAN
            message.cartesian.x = 1.0
        commands.publish(message)

    node.create_timer(0.05, speak)
    rclpy.spin(node)


if __name__ == "__main__":
    main()
