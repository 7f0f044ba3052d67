"""What the driver tells ROS, published by a thread of its own.

Publishing from the control thread would let ROS hold up the arm. Publishing from the executor
would wake it up a hundred times a second, and each wake-up builds its wait set anew: that costs
more than all messages together.
"""

from __future__ import annotations

import math
import os
import threading
import time
import traceback
from collections.abc import Sequence

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from reach_alpha5_common.messages import NANO, time_message
from reach_alpha5_driver.control_loop import ControlLoop
from reach_alpha5_driver.snapshot import ArmPicture, Clearance, Note, PostureSample
from reach_alpha5_driver.translate import Stamp, arm_state, diagnostics, gripper_tel
from reach_alpha5_motion.collision import Collision
from reach_alpha5_motion.model import ArmModel
from reach_alpha5_msgs.msg import ArmState, GripperTel

RELIABLE = QoSProfile(depth=10)

DIAGNOSTICS_PERIOD = 1.0

LAST_WORDS = 1.0
"""Longest time to wait for what is published last [s]."""

ONE_LOOK = 100_000
"""Nanoseconds that looking at two clocks takes at most, if nothing comes in between."""

MOST_LOOKS = 5

UNKNOWN_TIP = (math.nan, math.nan, math.nan)


class Wake:
    """Wakes one thread up from any other. Setting it never blocks."""

    def __init__(self) -> None:
        """Make one that is not set."""
        self._fd = os.eventfd(0, os.EFD_CLOEXEC)

    def set(self) -> None:
        """Let the waiting thread go on."""
        os.eventfd_write(self._fd, 1)

    def wait(self) -> None:
        """Wait until it was set since the last wait."""
        os.eventfd_read(self._fd)


class Publisher:
    """Publishes the pictures of a control loop whenever `wake` is set."""

    def __init__(self, node: Node, model: ArmModel, prefix: str, port: str) -> None:
        """Advertise the topics on `node`; `model` is used by this publisher alone from now on."""
        self.wake = Wake()
        self._node = node
        self._logger = node.get_logger()
        self._model = model
        self._prefix = prefix
        self._port = port
        self._joint_states = node.create_publisher(JointState, "joint_states", RELIABLE)
        self._gripper_tels = node.create_publisher(GripperTel, "gripper_tel", RELIABLE)
        self._arm_states = node.create_publisher(ArmState, "arm_state", RELIABLE)
        self._diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", RELIABLE)
        self._joint_state = JointState(name=list(model.joint_names))
        self.collision: Collision | None = None
        """What the arm keeps clear of, for telling how near it is; may be replaced at any time."""
        self._picture: ArmPicture | None = None
        self._sample: PostureSample | None = None
        self._next_diagnostics = -math.inf
        self._leaving = False
        self._thread: threading.Thread | None = None

    def start(self, loop: ControlLoop) -> None:
        """Begin to publish what `loop` reports."""
        self._thread = threading.Thread(
            target=self._run, args=(loop,), name="arm-publish", daemon=True
        )
        self._thread.start()

    def close(self) -> bool:
        """Publish what is new for the last time; return whether the thread has ended.

        If it has not, it hangs.
        """
        self._leaving = True
        self.wake.set()
        if self._thread is None:
            return True
        self._thread.join(LAST_WORDS)
        return not self._thread.is_alive()

    def _run(self, loop: ControlLoop) -> None:
        leaving = False
        while not leaving:
            self.wake.wait()
            leaving = self._leaving
            try:
                while loop.notes:
                    self._log(loop.notes.popleft())
                self._publish(loop.sample, loop.picture)
            except Exception:
                # A driver that has fallen silent is stopped by the arbiter; one that can still
                # speak shall go on doing so.
                self._logger.error(f"cannot publish: {traceback.format_exc()}")

    def _publish(self, sample: PostureSample | None, picture: ArmPicture) -> None:
        stamp = self._stamp()
        if sample is not None and sample is not self._sample:
            self._sample = sample
            message = self._joint_state
            message.header.stamp = stamp(sample.at)
            message.position = sample.positions
            message.velocity = sample.velocities
            self._joint_states.publish(message)
        if picture is self._picture:
            return
        self._picture = picture
        posture = _posture(picture)
        near = self._clearance(posture)
        self._arm_states.publish(arm_state(picture, near, self._prefix, self._port, stamp))
        self._gripper_tels.publish(gripper_tel(picture, self._tip(posture), stamp))
        if picture.at >= self._next_diagnostics:
            self._next_diagnostics = picture.at + DIAGNOSTICS_PERIOD
            name = self._node.get_fully_qualified_name()
            array = DiagnosticArray(status=diagnostics(picture, name, self._port))
            array.header.stamp = stamp(picture.at)
            self._diagnostics.publish(array)

    def _log(self, note: Note) -> None:
        # One line each: rclpy ties a severity to the line that it is called from.
        if note.severity == "info":
            self._logger.info(note.text)
        elif note.severity == "warn":
            self._logger.warning(note.text)
        else:
            self._logger.error(note.text)

    def _tip(self, posture: Sequence[float] | None) -> tuple[float, float, float]:
        if posture is None:
            return UNKNOWN_TIP
        x, y, z = self._model.tip(posture).tolist()
        return x, y, z

    def _clearance(self, posture: Sequence[float] | None) -> Clearance:
        collision = self.collision
        if posture is None or collision is None:
            return Clearance()
        return Clearance(*collision.clearance(posture))

    def _stamp(self) -> Stamp:
        """Return a function from monotonic seconds to ROS time, good for this moment.

        A thread that is held up between looking at one clock and at the other would make stamps
        jump, so it looks again.
        """
        for _ in range(MOST_LOOKS):
            before = time.monotonic_ns()
            wall = self._node.get_clock().now().nanoseconds
            after = time.monotonic_ns()
            if after - before <= ONE_LOOK:
                break
        offset = wall - (before + after) // 2

        def stamp(monotonic: float) -> Time:
            return time_message(max(0, round(monotonic * NANO) + offset))

        return stamp


def _posture(picture: ArmPicture) -> list[float] | None:
    """Return the joint positions of a picture, chain order [rad, m]; None = not all are known."""
    if any(joint.stale for joint in picture.joints):
        return None
    return [joint.position for joint in picture.joints]
