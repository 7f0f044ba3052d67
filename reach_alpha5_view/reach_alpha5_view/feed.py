"""Brings to a scene what the topics say. It listens, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from reach_alpha5_common.messages import driver_command
from reach_alpha5_motion.model import ModelError
from reach_alpha5_msgs.msg import ArbiterState, ArmState, DriverCommand, GripperTel, Obstacles
from reach_alpha5_view import translate
from reach_alpha5_view.meshes import HullStore
from reach_alpha5_view.scene.scene import Scene

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Of what comes again at once: whoever looks need not make anybody send it twice."""

STANDING = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Of what is said once, and has to be had late."""


class Feed:
    """The subscriptions of one scene."""

    def __init__(
        self,
        node: Node,
        scene: Scene,
        description: str = "",
        mesh_folder: str = "",
        on_standing: Callable[[], None] = lambda: None,
        on_arm: Callable[[ArmState], None] = lambda _: None,
    ) -> None:
        """Subscribe on `node`.

        Args:
            node: whose executor calls `scene`.
            scene: what is fed.
            description: text of the robot description; empty: it is taken from the topic
                `robot_description`.
            mesh_folder: where mesh files with a relative path are; empty: nowhere.
            on_standing: is called when the description or the obstacles have changed.
            on_arm: is called with each `arm_state`, for what the scene does not show.

        Raises:
            ModelError: the description that was given is not that of this arm.
        """
        self._logger = node.get_logger()
        self._scene = scene
        self._hulls = HullStore(mesh_folder)
        self._on_standing = on_standing
        self._also_on_arm = on_arm
        if description:
            scene.set_description(description)
        else:
            node.create_subscription(String, "robot_description", self._on_description, STANDING)
        node.create_subscription(Obstacles, "obstacles", self._on_obstacles, STANDING)
        node.create_subscription(ArbiterState, "arbiter_state", self._on_arbiter, STANDING)
        node.create_subscription(ArmState, "arm_state", self._on_arm, NEWEST)
        node.create_subscription(GripperTel, "gripper_tel", self._on_telemetry, NEWEST)
        node.create_subscription(DriverCommand, "driver_command", self._on_command, NEWEST)

    def _on_description(self, message: String) -> None:
        try:
            self._scene.set_description(message.data)
        except ModelError as error:
            self._logger.error(f"robot_description is not used: {error}")
            return
        self._on_standing()

    def _on_obstacles(self, message: Obstacles) -> None:
        read, problems = translate.obstacles(message.obstacles)
        hulls, unread = self._hulls.read(read)
        for problem in (*problems, *unread):
            self._logger.warning(f"not drawn: obstacle {problem}")
        self._scene.update_obstacles(read, hulls)
        self._on_standing()

    def _on_arbiter(self, message: ArbiterState) -> None:
        self._scene.update_arbiter(translate.arbiter_status(message), time.monotonic())

    def _on_arm(self, message: ArmState) -> None:
        self._scene.update_arm(translate.arm_status(message), time.monotonic())
        self._also_on_arm(message)

    def _on_telemetry(self, message: GripperTel) -> None:
        self._scene.update_telemetry(translate.telemetry(message), time.monotonic())

    def _on_command(self, message: DriverCommand) -> None:
        self._scene.update_command(driver_command(message), time.monotonic())
