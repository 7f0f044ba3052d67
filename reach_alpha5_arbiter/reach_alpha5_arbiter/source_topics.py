"""What the sources and the upstream link publish, as events for the core."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from geometry_msgs.msg import TwistStamped
from rclpy.node import Node
from rclpy.subscription import MessageInfo

from reach_alpha5_arbiter import events, presence
from reach_alpha5_arbiter.machine import UPSTREAM
from reach_alpha5_arbiter.target_check import TargetCheck
from reach_alpha5_common.command import JointCommand, MotionCommand
from reach_alpha5_common.freshness import Freshness
from reach_alpha5_common.messages import (
    gripper_command,
    joint_command,
    nanoseconds,
    replayed,
    stamped_twist_command,
    twist_command,
)
from reach_alpha5_msgs.msg import ClientHeartbeat, GripperCtrl, JointCtrl, TwistCtrl

Handle = Callable[[events.Event], object]


class SourceTopics:
    """The topics of all sources: commands and heartbeats."""

    def __init__(
        self,
        node: Node,
        names: Iterable[str],
        twist_lifetime: float,
        freshness: Freshness,
        check: TargetCheck,
        has_stream: Callable[[str], bool],
        handle: Handle,
    ) -> None:
        """Listen on `node`.

        Args:
            node: whose subscriptions they are.
            names: of the sources.
            twist_lifetime: of a stamped twist, which has none of its own [s].
            freshness: tells what comes out of a bag.
            check: of joint targets.
            has_stream: says whether a source has a stream open: set-points of others are not worth
                a check, they are refused.
            handle: takes the events.
        """
        self._twist_lifetime = twist_lifetime
        self._freshness = freshness
        self._check = check
        self._has_stream = has_stream
        self._handle = handle
        for name in names:
            for topic, message, read in (
                ("gripper_ctrl", GripperCtrl, gripper_command),
                ("twist", TwistStamped, self._read_twist),
                ("twist_ctrl", TwistCtrl, twist_command),
                ("joint_ctrl", JointCtrl, joint_command),
            ):
                # A callback that takes a second argument is told who wrote the message.
                heard = partial(self._on_command, name, topic, read)
                node.create_subscription(message, f"{name}/{topic}", heard, presence.RELIABLE)
            # The heartbeat alone says who is there, for all topics of commands: a source may use
            # any of them, and begin and cease to use one, without being gone.
            presence.listen(
                node,
                ClientHeartbeat,
                f"{name}/heartbeat",
                partial(self._on_heartbeat, name),
                partial(handle, events.SourceGone(name)),
            )

    def _read_twist(self, message: TwistStamped) -> MotionCommand:
        return stamped_twist_command(message.header.frame_id, message.twist, self._twist_lifetime)

    def _on_command(
        self,
        name: str,
        topic: str,
        read: Callable[[Any], MotionCommand],
        message: Any,
        info: MessageInfo,
    ) -> None:
        if (problem := replayed(self._freshness, message, info)) is not None:
            self._handle(events.Replayed(name, problem, stops=True))
            return
        command, stream_id, veto = read(message), 0, None
        if isinstance(command, JointCommand):
            stream_id = message.stream_id
            veto = self._check.of_command(command) if self._has_stream(name) else None
        self._handle(
            events.Command(
                name,
                command,
                stamp=nanoseconds(message.header.stamp),
                wall=time.time_ns(),
                topic=topic,
                writer=_writer(info),
                stream_id=stream_id,
                veto=veto,
            )
        )

    def _on_heartbeat(self, name: str, message: ClientHeartbeat, info: MessageInfo) -> None:
        if (problem := replayed(self._freshness, message, info)) is not None:
            # That a client was gone is a reason to stop, but tells of no client that is here.
            self._handle(events.Replayed(name, problem, stops=not message.present))
        else:
            self._handle(events.Heartbeat(name, message.client_id, message.present))


def listen_upstream(node: Node, freshness: Freshness, handle: Handle) -> None:
    """Listen on `node` to the heartbeat of the upstream link; `handle` takes the events."""

    def on_heartbeat(message: ClientHeartbeat, info: MessageInfo) -> None:
        if (problem := replayed(freshness, message, info)) is not None:
            handle(events.Replayed(UPSTREAM, problem))
        if problem is None or not message.present:
            handle(events.UpstreamBeat(message.present))

    presence.listen(
        node,
        ClientHeartbeat,
        "upstream/heartbeat",
        on_heartbeat,
        partial(handle, events.UpstreamGone()),
    )


def _writer(info: MessageInfo) -> str:
    """Return who wrote a message; empty = the middleware does not tell."""
    gid = info.get("publisher_gid")
    return "" if gid is None else bytes(gid["data"]).hex()
