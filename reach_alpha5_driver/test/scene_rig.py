"""A node that hosts the services of the scene, and somebody who calls them over DDS."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import rclpy
from arm_description import PREFIX, description
from driver_node_rig import TIMEOUT
from geometry_msgs.msg import Point, Pose
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile

from reach_alpha5_common.refusal import Problem
from reach_alpha5_driver.scene.service import SceneService
from reach_alpha5_driver.scene.store import LoadedScene, ObstacleStore
from reach_alpha5_motion.bodies import ArmBodies
from reach_alpha5_motion.collision import Collision, CollisionConfig
from reach_alpha5_motion.obstacles import Scene
from reach_alpha5_msgs.msg import Obstacle, Obstacles
from reach_alpha5_msgs.srv import AddObstacles, AttachPayload, DetachPayload, RemoveObstacle

NO_OBSTACLES = "version: 1\nobstacles: []\n"
LATEST = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@cache
def bodies() -> ArmBodies:
    texts = description()
    return ArmBodies(texts["robot_description"], texts["robot_description_semantic"], PREFIX)


def box(name: str, **fields: Any) -> Obstacle:
    """A box well away from the arm, unless the fields say otherwise."""
    return Obstacle(
        **{
            "name": name,
            "frame_id": "base_link",
            "pose": Pose(position=Point(x=2.0)),
            "type": Obstacle.BOX,
            "dimensions": [0.1, 0.2, 0.3],
            **fields,
        }
    )


class SceneHost:
    """The services on a node of their own."""

    def __init__(self, path: str, watches: bool = True) -> None:
        """Begin with what is in a file; one that is not there is made first."""
        if path and not Path(path).exists():
            Path(path).write_text(NO_OBSTACLES)
        self.context = Context()
        rclpy.init(context=self.context, domain_id=random.randrange(1, 100))
        namespace = f"/test_{random.randrange(1 << 30)}"
        self.host = rclpy.create_node("host", namespace=namespace, context=self.context)
        self.caller = rclpy.create_node("caller", namespace=namespace, context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.host)
        self.executor.add_node(self.caller)
        self.applied: list[Collision] = []
        """What was handed over, newest last."""
        self.stands_in_the_way: Problem | None = None
        """What handing over ends in."""
        self.faults: list[str] = []
        """Steps on the way that end in a fault of the driver."""
        store = ObstacleStore(path)
        loaded = store.loaded(store.load(), LoadedScene())
        build = self.build if watches else None
        SceneService(self.host, PREFIX, store, loaded, build, self.apply)
        self.told = Obstacles()
        self.tellings = 0
        self.caller.create_subscription(Obstacles, "obstacles", self._on_obstacles, LATEST)
        self.until(lambda: self.tellings == 1)
        self.first = self.told.revision

    def revised(self, times: int) -> Callable[[], bool]:
        """Return whether the scene is told that stands after so many changes."""
        return lambda: self.told.revision == self.first + times

    def build(self, scene: Scene, meshes: Any) -> Collision:
        if "build" in self.faults:
            raise RuntimeError("a fault in build")
        return Collision(bodies(), scene, CollisionConfig(), meshes)

    def apply(self, collision: Collision) -> Problem | None:
        if "apply" in self.faults:
            raise RuntimeError("a fault in apply")
        if self.stands_in_the_way is None:
            self.applied.append(collision)
        return self.stands_in_the_way

    def _on_obstacles(self, message: Obstacles) -> None:
        self.told = message
        self.tellings += 1

    def until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            assert time.monotonic() < deadline, "did not happen in time"
            self.executor.spin_once(timeout_sec=0.1)

    def ask(self, kind: Any, name: str, request: Any) -> Any:
        client = self.caller.create_client(kind, name)
        self.until(client.service_is_ready)
        future = client.call_async(request)
        self.until(future.done)
        self.caller.destroy_client(client)
        return future.result()

    def add(self, *obstacles: Obstacle, replace: bool = False) -> AddObstacles.Response:
        request = AddObstacles.Request(obstacles=list(obstacles), replace=replace)
        return self.ask(AddObstacles, "add_obstacles", request)

    def remove(self, name: str) -> RemoveObstacle.Response:
        return self.ask(RemoveObstacle, "remove_obstacle", RemoveObstacle.Request(name=name))

    def attach(self, payload: Obstacle) -> AttachPayload.Response:
        return self.ask(AttachPayload, "attach_payload", AttachPayload.Request(payload=payload))

    def detach(self, name: str = "") -> DetachPayload.Response:
        return self.ask(DetachPayload, "detach_payload", DetachPayload.Request(name=name))

    def names(self) -> list[str]:
        """Names of what is told to stand."""
        return [obstacle.name for obstacle in self.told.obstacles]

    def close(self) -> None:
        self.executor.shutdown()
        self.host.destroy_node()
        self.caller.destroy_node()
        rclpy.shutdown(context=self.context)
