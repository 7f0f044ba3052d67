"""The services that change what the arm keeps out of, and the topic that tells it.

A change is checked and built first, then saved, then handed over, then told: what fails on the way
leaves everything as it was. That holds for faults of the driver as well: an exception that left a
callback would end the driver.
"""

from __future__ import annotations

import secrets
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

from reach_alpha5_common.refusal import Problem, RefusalLog
from reach_alpha5_driver.scene.desk import (
    SceneCode,
    added,
    attached,
    check_number,
    detached,
    problem_of,
    removed,
)
from reach_alpha5_driver.scene.messages import obstacle, obstacles, obstacles_message
from reach_alpha5_driver.scene.store import LoadedScene, ObstacleStore
from reach_alpha5_motion.obstacles import ObstacleError, Scene
from reach_alpha5_msgs.msg import Obstacles
from reach_alpha5_msgs.srv import AddObstacles, AttachPayload, DetachPayload, RemoveObstacle

LATEST = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Whoever comes later hears the scene that stands."""

_FIRST_REVISION_BITS = 31
"""Leaves room for as many changes within 32 bits."""

_Built = TypeVar("_Built")


class SceneService(Generic[_Built]):
    """Takes changes of the scene on a node, in the thread of its executor."""

    def __init__(
        self,
        node: Node,
        prefix: str,
        store: ObstacleStore,
        loaded: LoadedScene,
        build: Callable[[Scene, Mapping[str, bytes]], _Built] | None,
        apply: Callable[[_Built], Problem | None],
    ) -> None:
        """Offer the services, and tell the scene that stands.

        Args:
            node: the driver's.
            prefix: of the arm's links.
            store: where scenes are saved; its scene is loaded.
            loaded: the one that stands.
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
        self._standing = LoadedScene() if build is None else loaded
        self._build = build
        self._apply = apply
        # Nobody's revision of an earlier run is to be taken for one of this run. Chance does that
        # without a clock that is right.
        self._revision = secrets.randbits(_FIRST_REVISION_BITS)
        self._refusals = RefusalLog()
        self._told = node.create_publisher(Obstacles, "obstacles", LATEST)
        node.create_service(AddObstacles, "add_obstacles", self._on_add)
        node.create_service(RemoveObstacle, "remove_obstacle", self._on_remove)
        node.create_service(AttachPayload, "attach_payload", self._on_attach)
        node.create_service(DetachPayload, "detach_payload", self._on_detach)
        if build is None:
            self._logger.warning("COLLISION IS OFF: the arm keeps clear of nothing, not of itself")
        elif not loaded.scene.obstacles:
            self._logger.warning(
                "no obstacles are configured: beside what its description has, the arm knows "
                "neither hull nor tether, and keeps clear of neither; see docs/obstacles.md"
            )
        self._tell()

    # -- what is asked

    def _on_add(
        self, request: AddObstacles.Request, response: AddObstacles.Response
    ) -> AddObstacles.Response:
        def change(scene: Scene) -> Scene:
            check_number(len(request.obstacles))
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
            loaded = self._store.loaded(change(self._standing.scene), self._standing)
            built = self._build(loaded.scene, loaded.meshes)
            self._store.save(loaded.scene)
        except ObstacleError as error:
            return problem_of(error)
        except Exception as error:
            return self._fault(error)
        try:
            problem = self._apply(built)
        except Exception as error:
            problem = self._fault(error)
        if problem is not None:
            return self._undone(problem)
        self._standing = loaded
        self._revision += 1
        self._tell()
        return None

    def _undone(self, problem: Problem) -> Problem:
        try:
            self._store.undo()
        except Exception as error:
            return Problem(
                problem.code,
                f"{problem.reason}; the change is in the file all the same: {error}",
            )
        return problem

    def _fault(self, error: Exception) -> Problem:
        self._logger.error("".join(traceback.format_exception(error)))
        return Problem(
            SceneCode.INTERNAL_ERROR.code,
            f"a fault in the driver, {type(error).__name__}: {error}; please report it with the "
            "driver's log",
        )

    def _tell(self) -> None:
        scene = self._standing.scene
        names = ", ".join(value.name for value in scene.obstacles) or "none"
        self._logger.info(f"obstacles, revision {self._revision}: {names}")
        self._told.publish(
            obstacles_message(
                scene,
                self._revision,
                self._store.path is not None,
                self._node.get_clock().now().to_msg(),
            )
        )
