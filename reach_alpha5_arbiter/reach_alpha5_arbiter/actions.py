"""The actions `follow_joint_trajectory` and `gripper_cmd`, and what is measured while they matter.

Every goal is accepted by the action, and what is wrong with it ends it at once: a rejection has no
room for a reason, the result has. Of a trajectory it carries the action's code, and ours with its
reason; of the gripper there is none to carry it in, so that `ArbiterState` and the log tell it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import MessageInfo, Subscription
from rclpy.task import Future
from sensor_msgs.msg import JointState

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.errand import GoalOutcome
from reach_alpha5_arbiter.goal_messages import (
    gripper_feedback,
    gripper_goal,
    gripper_result,
    posture,
    trajectory_feedback,
    trajectory_goal,
    trajectory_result,
)
from reach_alpha5_arbiter.machine import JOINT_STATES
from reach_alpha5_arbiter.target_check import TargetCheck
from reach_alpha5_arbiter.trajectory import Goal, GoalConfig, GoalKind
from reach_alpha5_common.freshness import Freshness
from reach_alpha5_common.messages import replayed

FEEDBACK_PERIOD = 0.09
"""Least time [s] between two feedbacks of an action: about 10 Hz."""

MEASUREMENTS = QoSProfile(depth=1)
"""Reliable, volatile: only the newest posture counts."""

FEEDBACKS: dict[GoalKind, Callable[..., Any]] = {
    GoalKind.TRAJECTORY: trajectory_feedback,
    GoalKind.GRIPPER: gripper_feedback,
}
RESULTS: dict[GoalKind, Callable[..., Any]] = {
    GoalKind.TRAJECTORY: trajectory_result,
    GoalKind.GRIPPER: gripper_result,
}


class Client(NamedTuple):
    """A goal that has not ended yet, as the action knows it."""

    handle: ServerGoalHandle[Any, Any, Any]
    end: Future[events.GoalEnded]


class GoalServers:
    """Both actions, in the executor of their node."""

    def __init__(
        self,
        node: Node,
        source: str,
        config: GoalConfig,
        check: TargetCheck,
        freshness: Freshness,
        handle: Callable[[events.Event], object],
        stamp: Callable[[float], Time],
    ) -> None:
        """Serve on `node`.

        Args:
            node: whose actions they are.
            source: whose goals they are.
            config: what a goal gets that does not say.
            check: of joint targets.
            freshness: tells what comes out of a bag.
            handle: takes the events. What comes of them is handed to `publish`, which may happen
                before it returns.
            stamp: gives the wall-clock time of a monotonic time [s].
        """
        self._node = node
        self._source = source
        self._config = config
        self._check = check
        self._freshness = freshness
        self._handle = handle
        self._stamp = stamp
        self._clients: dict[str, Client] = {}
        self._next_feedback = 0.0
        self._joint_states: Subscription[JointState] | None = None
        for kind, action in (
            (GoalKind.TRAJECTORY, FollowJointTrajectory),
            (GoalKind.GRIPPER, GripperCommand),
        ):
            ActionServer(
                node,
                action,
                kind.value,
                partial(self._execute, kind),
                handle_accepted_callback=partial(self._on_goal, kind),
                cancel_callback=partial(self._on_cancel, kind),
            )

    def watch(self) -> None:
        """Listen to `joint_states` from now on: before there is a planner, nobody needs it."""
        if self._joint_states is None:
            self._joint_states = self._node.create_subscription(
                JointState, "joint_states", self._on_joint_state, MEASUREMENTS
            )

    def publish(self, output: events.GoalProgress | events.GoalEnded) -> None:
        """Tell the client of a goal how it goes, or how it ended."""
        if isinstance(output, events.GoalProgress):
            self._tell_progress(output)
        elif (client := self._clients.get(output.goal_id)) is not None:
            client.end.set_result(output)

    def _on_goal(self, kind: GoalKind, handle: ServerGoalHandle[Any, Any, Any]) -> None:
        goal = self._read(kind, handle)
        self._clients[goal.id] = Client(handle, Future())
        veto = self._check.of_goal(goal) if kind is GoalKind.TRAJECTORY else None
        self._handle(events.GoalAsked(goal, veto))
        handle.execute()

    def _read(self, kind: GoalKind, handle: ServerGoalHandle[Any, Any, Any]) -> Goal:
        if kind is GoalKind.GRIPPER:
            return gripper_goal(handle.request, _id(kind, handle), self._source, self._config)
        return trajectory_goal(
            handle.request, _id(kind, handle), self._source, time.time_ns(), self._config
        )

    def _on_cancel(
        self, kind: GoalKind, handle: ServerGoalHandle[Any, Any, Any]
    ) -> CancelResponse:
        self._handle(events.GoalCancelled(_id(kind, handle)))
        return CancelResponse.ACCEPT

    async def _execute(self, kind: GoalKind, handle: ServerGoalHandle[Any, Any, Any]) -> Any:
        goal_id = _id(kind, handle)
        ended = await self._clients[goal_id].end
        assert ended is not None
        del self._clients[goal_id]
        if ended.ending.outcome is GoalOutcome.SUCCEEDED:
            handle.succeed()
        elif ended.ending.outcome is GoalOutcome.CANCELED and handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()  # an action is canceled by its client and by nobody else
        return RESULTS[kind](ended)

    def _on_joint_state(self, message: JointState, info: MessageInfo) -> None:
        if (problem := replayed(self._freshness, message, info)) is not None:
            self._handle(events.Replayed(JOINT_STATES, problem))
            return
        seen = posture(message, time.time_ns(), time.monotonic())
        if seen is not None:
            self._handle(events.PostureSeen(seen))

    def _tell_progress(self, progress: events.GoalProgress) -> None:
        now = time.monotonic()
        client = self._clients.get(progress.execution.goal.id)
        if client is None or now < self._next_feedback:
            return
        self._next_feedback = now + FEEDBACK_PERIOD
        feedback = FEEDBACKS[progress.execution.goal.kind]
        client.handle.publish_feedback(feedback(progress, self._stamp(progress.posture.at)))


def _id(kind: GoalKind, handle: ServerGoalHandle[Any, Any, Any]) -> str:
    """Return a name of a goal: a client may give the same number to goals of both actions."""
    return f"{kind.value}:{bytes(handle.goal_id.uuid).hex()}"
