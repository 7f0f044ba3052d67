"""The arbiter's side of its e-stop endpoints on ROS: topics, events, the word for a relay.

A software stop. Not safety-rated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial

from builtin_interfaces.msg import Time
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import Bool, Header

from reach_alpha5_arbiter import events, presence
from reach_alpha5_arbiter.endpoint import Endpoint
from reach_alpha5_arbiter.latches import MAX_TEXT
from reach_alpha5_msgs.msg import EStopChallenge, EStopCheckIn, EStopEndpointStatus

CHALLENGES = QoSProfile(depth=1)
"""Reliable, volatile: only the newest challenge counts, and none to who was not there."""
PERMITS = QoSProfile(depth=1)

PERMIT_PERIOD = 0.09
"""Least time [s] between two words to a relay that say the same: at the default tick of 0.05 s,
every second tick."""


class EndpointShell:
    """The topics of all endpoints: `estop/<name>/challenge` out, `estop/<name>/check_in` in."""

    def __init__(
        self, node: Node, names: Iterable[str], handle: Callable[[events.Event], object]
    ) -> None:
        """Open the topics on `node`; `handle` takes what comes in."""
        self._handle = handle
        self._challenges = {}
        for name in names:
            topic = f"estop/{name}"
            self._challenges[name] = node.create_publisher(
                EStopChallenge, f"{topic}/challenge", CHALLENGES
            )
            presence.listen(
                node,
                EStopCheckIn,
                f"{topic}/check_in",
                partial(self._on_check_in, name),
                partial(handle, events.EndpointGone(name)),
            )

    def publish(self, challenge: events.Challenge, stamp: Time) -> None:
        """Give an endpoint its challenge."""
        self._challenges[challenge.endpoint].publish(
            EStopChallenge(header=Header(stamp=stamp), challenge=challenge.challenge)
        )

    def _on_check_in(self, name: str, message: EStopCheckIn) -> None:
        self._handle(
            events.CheckIn(
                name,
                message.challenge,
                message.response,
                message.level,
                message.reason[:MAX_TEXT],
            )
        )


class MotionPermit:
    """The topic `motion_permitted`: true = a relay in the arm's supply may be closed."""

    def __init__(self, node: Node) -> None:
        self._permits = node.create_publisher(Bool, "motion_permitted", PERMITS)
        self._said: bool | None = None
        self._said_at = -math.inf

    def say(self, permitted: bool, now: float) -> None:
        """Say it, if it is another word than before or the last one is old; at each tick."""
        if permitted is not self._said or now - self._said_at >= PERMIT_PERIOD:
            self._said, self._said_at = permitted, now
            self._permits.publish(Bool(data=permitted))


def endpoint_status(endpoint: Endpoint, now: float) -> EStopEndpointStatus:
    """Return the message of an endpoint at monotonic time `now` [s]."""
    return EStopEndpointStatus(
        name=endpoint.config.name,
        state=endpoint.state,
        level=endpoint.stands_for,
        check_in_age=endpoint.check_in_age(now),
        reason=endpoint.reason,
        check_ins=endpoint.check_ins,
        refusals=endpoint.refusals,
    )
