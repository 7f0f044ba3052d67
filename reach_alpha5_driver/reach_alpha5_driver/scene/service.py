"""The services that change what the arm keeps out of, and the topic that tells it.

A change is checked and built first, then saved, then handed over, then told: what fails on the way
leaves everything as it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

from reach_alpha5_common.refusal import Problem, RefusalLog
from reach_alpha5_driver.scene.desk import (
    SceneCode,
    SceneError,
    added,
    attached,
    detached,
    problem_of,
    removed,
)
from reach_alpha5_driver.scene.messages import obstacle, obstacles, obstacles_message
from reach_alpha5_driver.scene.store import ObstacleStore
from reach_alpha5_motion.obstacles import ObstacleError, Scene
from reach_alpha5_msgs.msg import Obstacles
from reach_alpha5_msgs.srv import AddObstacles, AttachPayload, DetachPayload, RemoveObstacle

LATEST = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Whoever comes later hears the scene that stands."""

_Built = TypeVar("_Built")


class SceneService(Generic[_Built]):
    """Takes changes of the scene on a node, in the thread of its executor."""

    def __init__(
        self,
        node: Node,
        prefix: str,
        store: ObstacleStore,
        scene: Scene,
        build: Callable[[Scene, Mapping[str, bytes]], _Built] | None,
        apply: Callable[[_Built], Problem | None],
    ) -> None:
        """Offer the services, and tell the scene that stands.

        Args:
            node: the driver's.
            prefix: of the arm's links.
            store: where scenes are saved; its scene is loaded.
            scene: the one that stands.
            build: makes of a scene and the content of its meshes what `apply` hands over; raises
                ObstacleError if the scene does not fit the description. None: nothing is kept
                clear of, and every request is refused.
            apply: makes it what the arm keeps clear of from now on, or returns why that has not
                happened and will not.
        """
        self._node = node
        self._logger = node.get_logger()
        self._prefix = prefix
        self._store = store
        self._scene = Scene() if build is None else scene
        self._build = build
        self._apply = apply
        self._revision = 0
        self._refusals = RefusalLog()
        self._told = node.create_publisher(Obstacles, "obstacles", LATEST)
        node.create_service(AddObstacles, "add_obstacles", self._on_add)
        node.create_service(RemoveObstacle, "remove_obstacle", self._on_remove)
        node.create_service(AttachPayload, "attach_payload", self._on_attach)
        node.create_service(DetachPayload, "detach_payload", self._on_detach)
        if build is None:
            self._logger.warning("COLLISION IS OFF: the arm keeps clear of nothing, not of itself")
        elif store.is_missing:
            self._logger.warning(
                f"there is no {store.path}: no obstacles; the first one that is added makes it"
            )
        self._tell()

    # -- what is asked

    def _on_add(
        self, request: AddObstacles.Request, response: AddObstacles.Response
    ) -> AddObstacles.Response:
        def change(scene: Scene) -> Scene:
            return added(scene, obstacles(request.obstacles), request.replace)

        return self._answer("add_obstacles", change, response)

    def _on_remove(
        self, request: RemoveObstacle.Request, response: RemoveObstacle.Response
    ) -> RemoveObstacle.Response:
        return self._answer(
            "remove_obstacle", lambda scene: removed(scene, request.name), response
        )

    def _on_attach(
        self, request: AttachPayload.Request, response: AttachPayload.Response
    ) -> AttachPayload.Response:
        def change(scene: Scene) -> Scene:
            return attached(scene, obstacle(request.payload), self._prefix)

        return self._answer("attach_payload", change, response)

    def _on_detach(
        self, request: DetachPayload.Request, response: DetachPayload.Response
    ) -> DetachPayload.Response:
        def change(scene: Scene) -> Scene:
            return detached(scene, request.name, self._prefix)

        return self._answer("detach_payload", change, response)

    # -- what becomes of it

    def _answer(self, service: str, change: Callable[[Scene], Scene], response: Any) -> Any:
        problem = self._change(change)
        response.success = problem is None
        response.revision = self._revision
        if problem is not None:
            refusal = self._refusals.refuse(problem, service, time.monotonic())
            response.code, response.message = problem.code, problem.reason
            self._logger.warning(
                f"{service} refused ({refusal.count}): {problem.code}: {problem.reason}"
            )
        elif self._store.path is None:
            response.message = "not saved: without obstacle_file it does not outlive the driver"
        return response

    def _change(self, change: Callable[[Scene], Scene]) -> Problem | None:
        """Make a change, or nothing of it."""
        if self._build is None:
            return Problem(
                SceneCode.NO_COLLISION.code,
                "the arm keeps clear of nothing; start the driver with the parameter collision on",
            )
        try:
            scene = change(self._scene)
            built = self._build(scene, self._store.meshes(scene))
            self._store.save(scene)
        except ObstacleError as error:
            return problem_of(error)
        problem = self._apply(built)
        if problem is not None:
            return self._undone(problem)
        self._scene = scene
        self._revision += 1
        self._tell()
        return None

    def _undone(self, problem: Problem) -> Problem:
        try:
            self._store.undo()
        except SceneError as error:
            return Problem(
                problem.code,
                f"{problem.reason}; the change is in the file all the same: {error}",
            )
        return problem

    def _tell(self) -> None:
        names = ", ".join(value.name for value in self._scene.obstacles) or "none"
        self._logger.info(f"obstacles, revision {self._revision}: {names}")
        self._told.publish(
            obstacles_message(
                self._scene,
                self._revision,
                self._store.path is not None,
                self._node.get_clock().now().to_msg(),
            )
        )
