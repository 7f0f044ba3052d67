"""A node as ours are, for test_node_life: says that it is up, and says goodbye on its way out."""

import gc
import os
import sys

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from reach_alpha5_common.node_life import declare, run
from reach_alpha5_common.parameters import Parameter

PARAMETERS = (
    Parameter("speed", 0.5, "Largest speed.", "m/s", range=(0.0, 1.0)),
    Parameter("count", 3, "How many.", range=(1, 5)),
    Parameter("mode", "slow", "How to go.", choices=("slow", "fast")),
    Parameter("pose", [0.1, 0.2], "Where to go.", "rad", range=(0.0, 3.5)),
)


class Program(Node):
    """Publishes `up` once, and `down` when it is closed; fails when it is told to."""

    def __init__(self) -> None:
        super().__init__("program")
        self.values = declare(self, PARAMETERS)
        latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.said = self.create_publisher(String, "said", latched)
        self.create_subscription(String, "told", self.on_told, 10)
        self.said.publish(String(data=f"up {self.values['speed']}"))

    def on_told(self, message: String) -> None:
        """Fail, as a callback with a fault does."""
        raise RuntimeError(f"told to {message.data}")

    def close(self) -> None:
        """Say goodbye, and wait until whoever listens has it."""
        print(f"spared {gc.get_freeze_count()}", file=sys.stderr)
        print(f"priority {os.getpriority(os.PRIO_PROCESS, 0)}", file=sys.stderr)
        self.said.publish(String(data="down"))
        self.said.wait_for_all_acked()


if __name__ == "__main__":
    sys.exit(run(Program, before_others=True))
