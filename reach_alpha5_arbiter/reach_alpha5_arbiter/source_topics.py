"""What the sources and the upstream link publish, as events for the core."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from geometry_msgs.msg import TwistStamped
from rclpy.event_handler import (
    QoSLivelinessChangedInfo,
    QoSSubscriptionMatchedInfo,
    SubscriptionEventCallbacks,
)
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import MessageInfo

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.target_check import TargetCheck
from reach_alpha5_common.command import JointCommand, MotionCommand
from reach_alpha5_common.messages import (
    gripper_command,
    joint_command,
    nanoseconds,
    stamped_twist_command,
    twist_command,
)
from reach_alpha5_msgs.msg import ClientHeartbeat, GripperCtrl, JointCtrl, TwistCtrl

COMMANDS = QoSProfile(depth=10)
"""Reliable, volatile: a command that nobody was there to hear is not said later."""

Handle = Callable[[events.Event], object]


class SourceTopics:
    """The topics of all sources: commands and heartbeats."""

    def __init__(
        self,
        node: Node,
        names: Iterable[str],
        twist_lifetime: float,
        check: TargetCheck,
        handle: Handle,
    ) -> None:
        """Listen on `node`.

        Args:
            node: whose subscriptions they are.
            names: of the sources.
            twist_lifetime: of a stamped twist, which has none of its own [s].
            check: of joint targets.
            handle: takes the events.
        """
        self._twist_lifetime = twist_lifetime
        self._check = check
        self._handle = handle
        for name in names:
            for topic, message, read in (
                ("gripper_ctrl", GripperCtrl, gripper_command),
                ("twist", TwistStamped, self._read_twist),
                ("twist_ctrl", TwistCtrl, twist_command),
                ("joint_ctrl", JointCtrl, joint_command),
            ):
                heard = partial(self._on_command, name, topic, read)

                # The middleware's callback is told who wrote it if it names two arguments.
                def listen(message: Any, info: MessageInfo, heard: Any = heard) -> None:
                    heard(message, info)

                node.create_subscription(message, f"{name}/{topic}", listen, COMMANDS)
            # The heartbeat alone says who is there, for all topics of commands: a source may use
            # any of them, and begin and cease to use one, without being gone.
            listen_to_heartbeat(
                node,
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
        command = read(message)
        is_joint = isinstance(command, JointCommand)
        self._handle(
            events.Command(
                name,
                command,
                stamp=nanoseconds(message.header.stamp),
                wall=time.time_ns(),
                topic=topic,
                writer=_writer(info),
                stream_id=message.stream_id if is_joint else 0,
                veto=self._check.of_command(command) if is_joint else None,
            )
        )

    def _on_heartbeat(self, name: str, message: ClientHeartbeat) -> None:
        self._handle(events.Heartbeat(name, message.client_id, message.present))


class UpstreamTopic:
    """The heartbeat of the upstream link."""

    def __init__(self, node: Node, handle: Handle) -> None:
        """Listen on `node`; `handle` takes the events."""
        listen_to_heartbeat(
            node,
            "upstream/heartbeat",
            lambda message: handle(events.UpstreamBeat(message.present)),
            partial(handle, events.UpstreamGone()),
        )


def listen_to_heartbeat(
    node: Node,
    topic: str,
    on_beat: Callable[[ClientHeartbeat], object],
    on_gone: Callable[[], object],
) -> None:
    """Listen to a heartbeat, and to the end of its last publisher."""

    def on_matched(info: QoSSubscriptionMatchedInfo) -> None:
        # Only when nobody is left: of two publishers, the one that went may be the remains of a
        # process killed long ago, and the watchdog sees soon enough whether it was the other.
        if info.current_count == 0 and info.current_count_change < 0:
            on_gone()

    def on_liveliness(info: QoSLivelinessChangedInfo) -> None:
        if info.alive_count == 0 and info.alive_count_change < 0:
            on_gone()

    node.create_subscription(
        ClientHeartbeat,
        topic,
        on_beat,
        COMMANDS,
        event_callbacks=SubscriptionEventCallbacks(matched=on_matched, liveliness=on_liveliness),
    )


def _writer(info: MessageInfo) -> str:
    """Return who wrote a message; empty = the middleware does not tell."""
    gid = info.get("publisher_gid")
    return "" if gid is None else bytes(gid["data"]).hex()
