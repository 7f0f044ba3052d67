"""Hears e-stops on a node and in a thread of its own.

The driver's executor makes one callback after the other, and some of them wait: for the arm to say
what it is, for the motors, for the port. An e-stop must not wait behind them.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable

from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future

from reach_alpha5_common.command import StopLevel
from reach_alpha5_msgs.msg import EStop

RELIABLE = QoSProfile(depth=10)

PAUSE_AFTER_BUG = 0.1
"""Seconds; an error that comes back at once must not take the whole processor."""

LEAVE_TIME = 1.0
"""Longest time to wait for the end of the thread [s]."""


class EstopListener:
    """Hands every e-stop over, whatever the driver's executor does."""

    def __init__(self, node: Node, hear: Callable[[int, str, str], None]) -> None:
        """Listen on the topic that `estop` is to the driver's `node`; its name plus `_estop`.

        Args:
            node: the driver's; not used by the thread but for its logger.
            hear: called in the thread with level, source and reason; must return at once.
        """
        self._hear = hear
        self._logger = node.get_logger()
        # Arguments of the process that rename the driver would give this node the same name, and
        # those that remap a topic of the driver may name the driver: so what they made of the
        # driver's names is taken over, and they are not applied here.
        self._node = Node(
            f"{node.get_name()}_estop",
            context=node.context,
            namespace=node.get_namespace(),
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._node.create_subscription(
            EStop, node.resolve_topic_name("estop"), self._on_estop, RELIABLE
        )
        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(self._node)
        self._leave: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="arm-estop", daemon=True)

    def start(self) -> None:
        """Begin to hand over; what came before is handed over too."""
        self._thread.start()

    def close(self) -> bool:
        """Listen no more; return whether the thread has ended. If it has not, it hangs."""
        self._leave.set_result(None)
        self._thread.join(LEAVE_TIME)
        if self._thread.is_alive():
            return False
        self._executor.shutdown()
        self._node.destroy_node()
        return True

    def _run(self) -> None:
        while not self._leave.done() and self._node.context.ok():
            try:
                self._executor.spin_until_future_complete(self._leave)
            except ExternalShutdownException:
                return
            except Exception:
                # Whoever cannot hear an e-stop must take it that there is one.
                self._logger.error(f"cannot hear e-stops: {traceback.format_exc()}")
                self._hear(StopLevel.CUT, self._node.get_name(), "cannot hear e-stops")
                time.sleep(PAUSE_AFTER_BUG)

    def _on_estop(self, message: EStop) -> None:
        self._hear(message.level, message.source, message.reason)
