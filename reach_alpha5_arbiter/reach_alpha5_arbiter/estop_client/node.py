"""An e-stop endpoint on ROS, to be put on any node. A software stop. Not safety-rated."""

from __future__ import annotations

import threading
import time

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import Header

from reach_alpha5_arbiter.estop_client.core import CheckIn, EStopEndpoint
from reach_alpha5_common.command import StopLevel
from reach_alpha5_msgs.msg import EStop, EStopChallenge, EStopCheckIn

CHALLENGES = QoSProfile(depth=1)
CHECK_INS = QoSProfile(depth=10)

FAREWELL = 0.5
"""Longest time [s] that leaving waits for each topic's last message to be acknowledged."""


class EStopClient:
    """Checks in for an owner that calls `feed` often; may be called from any thread.

    Args:
        node: whose namespace is the arbiter's; the caller spins it.
        name: of the endpoint, as the arbiter's parameter `estop_endpoints` has it.
        fresh_for: how long [s] a `feed` counts. Call it from the loop that must not hang, and not
            from a callback or a timer of `node`.
    """

    def __init__(self, node: Node, name: str, fresh_for: float = 0.5) -> None:
        self._node = node
        self._name = name
        self._endpoint = EStopEndpoint(fresh_for)
        self._lock = threading.Lock()
        self._check_ins = node.create_publisher(EStopCheckIn, f"estop/{name}/check_in", CHECK_INS)
        # Straight to the driver as well: its latch needs no arbiter.
        self._estops = node.create_publisher(EStop, "estop", CHECK_INS)
        self._challenges = node.create_subscription(
            EStopChallenge, f"estop/{name}/challenge", self._on_challenge, CHALLENGES
        )

    @property
    def level(self) -> StopLevel:
        """Its objection; NONE = it has none."""
        return self._endpoint.level

    def feed(self) -> None:
        """Say that all is well, for as long as `fresh_for`."""
        with self._lock:
            self._endpoint.feed(time.monotonic())

    def press(self, level: StopLevel, reason: str) -> None:
        """Stop the arm, and object until `release`. Nothing here clears the latch that it sets."""
        stamp = self._header()
        self._estops.publish(EStop(header=stamp, level=level, source=self._name, reason=reason))
        with self._lock:
            self._say(self._endpoint.press(level, reason))

    def release(self) -> None:
        """Have no objection any more."""
        with self._lock:
            self._endpoint.release()

    def close(self) -> None:
        """Answer no more, and be gone; what was said last is out before."""
        self._node.destroy_subscription(self._challenges)
        for publisher in (self._estops, self._check_ins):
            publisher.wait_for_all_acked(Duration(seconds=FAREWELL))
            self._node.destroy_publisher(publisher)

    def _on_challenge(self, message: EStopChallenge) -> None:
        with self._lock:
            answer = self._endpoint.challenged(message.challenge, time.monotonic())
            if answer is not None:
                self._say(answer)

    def _say(self, check_in: CheckIn) -> None:
        # Under the lock: an answer made before an objection must not go out after it.
        self._check_ins.publish(
            EStopCheckIn(
                header=self._header(),
                challenge=check_in.challenge,
                response=check_in.response,
                level=check_in.level,
                reason=check_in.reason,
            )
        )

    def _header(self) -> Header:
        return Header(stamp=self._node.get_clock().now().to_msg())
