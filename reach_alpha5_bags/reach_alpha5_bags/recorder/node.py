"""The recorder's node: it finds the topics, subscribes, and hands every message to the tape.

It only listens: it publishes nothing and offers no service.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo

from reach_alpha5_bags.definitions import UnknownMessage, definition, message_class
from reach_alpha5_bags.profile import Entry, Selection
from reach_alpha5_bags.recorder.metadata import TopicFacts
from reach_alpha5_bags.recorder.qos import Offer, Request, request
from reach_alpha5_bags.recorder.tape import Status, Tape

DISCOVERY_PERIOD = 0.1
"""Time [s] between two looks for topics that are new."""
LOOKS = 10
"""One in so many of them is for the publishers of known topics, too: that takes longer."""
DEPTH = 1000
"""Messages of a topic that may wait for this node: memory is taken for those that do wait."""
STATUS_PERIOD = 1.0
"""Time [s] between two updates of the status line."""


@dataclass(slots=True)
class _Heard:
    """A topic that is subscribed to."""

    facts: TopicFacts
    request: Request
    subscription: Subscription[Any]


class RecorderNode(Node):
    """Records the topics of a selection.

    Args:
        selection: which.
        tape: what becomes of their messages.
        say: is given what a person must know, a sentence each.
    """

    def __init__(
        self, selection: Selection, tape: Tape, where: str, say: Callable[[str], None]
    ) -> None:
        super().__init__("alpha5_recorder", enable_rosout=False, start_parameter_services=False)
        self._selection = selection
        self._tape = tape
        self._where = where
        self._say = say
        self._heard: dict[str, _Heard] = {}
        self._refused: set[str] = set()
        self._told = Status(0, 0, 0, 0, "")
        self._is_seen = sys.stderr.isatty()
        self._looks = itertools.cycle(range(LOOKS))
        self.create_timer(DISCOVERY_PERIOD, self._discover)
        self.create_timer(STATUS_PERIOD, self._tell)
        self._discover()

    def close(self) -> None:
        """End the bag."""
        self._tape.close()
        self._tell()

    # ---- topics --------------------------------------------------------------------------------

    def _discover(self) -> None:
        is_for_new = next(self._looks) != 0
        for topic, kinds in self.get_topic_names_and_types():
            entry = self._selection.find(topic)
            if entry is None or topic in self._refused:
                continue
            if is_for_new and topic in self._heard:
                continue
            publishers = self.get_publishers_info_by_topic(topic)
            if not publishers:
                continue  # Nobody says what it offers. Who heard a topic goes on hearing it.
            if len(kinds) > 1:
                self._refuse(topic, f"it has several types: {', '.join(kinds)}")
                continue
            try:
                self._hear(topic, kinds[0], entry, publishers)
            except UnknownMessage as error:
                self._refuse(topic, str(error))

    def _hear(
        self, topic: str, kind: str, entry: Entry, publishers: list[TopicEndpointInfo]
    ) -> None:
        offers = tuple(offer_of(publisher) for publisher in publishers)
        wanted = request(offers)
        heard = self._heard.get(topic)
        if heard is not None and heard.request == wanted:
            return
        definition(kind)  # whether there is one, before a message has to be written
        if heard is not None:
            self.destroy_subscription(heard.subscription)
        facts = TopicFacts(topic, kind, hash_of(publishers[0]), offers)
        subscription = self.create_subscription(
            message_class(kind),
            topic,
            partial(self._record, facts),
            QoSProfile(
                depth=max(entry.depth, DEPTH),
                reliability=ReliabilityPolicy.RELIABLE
                if wanted.is_reliable
                else ReliabilityPolicy.BEST_EFFORT,
                durability=DurabilityPolicy.TRANSIENT_LOCAL
                if wanted.is_latched
                else DurabilityPolicy.VOLATILE,
            ),
            raw=True,
            event_callbacks=SubscriptionEventCallbacks(message_lost=self._lose),
        )
        self._heard[topic] = _Heard(facts, wanted, subscription)
        if heard is None and not self._is_seen:
            self._say(f"records {topic} [{kind}]")

    def _refuse(self, topic: str, why: str) -> None:
        self._refused.add(topic)
        self._say(f"does NOT record {topic}: {why}")

    def _record(self, facts: TopicFacts, data: Any, info: Any) -> None:
        received = time.time_ns()
        sent = info["source_timestamp"]
        # A sender whose clock is wrong may say anything; a bag has no times before 1970.
        self._tape.put(facts, bytes(data), received, sent if sent > 0 else received)

    def _lose(self, lost: Any) -> None:
        """Count what the middleware had to drop before this node came to it."""
        self._tape.miss(lost.total_count_change)

    # ---- what people see -----------------------------------------------------------------------

    def _tell(self) -> None:
        if self._tape.broken is not None:
            raise RuntimeError("the bag cannot be written") from self._tape.broken
        status, told = self._tape.status(), self._told
        self._told = status
        if status.trouble and status.trouble != told.trouble:
            self._say(f"NOT RECORDING: {status.trouble}")
        elif told.trouble and not status.trouble:
            self._say("recording again")
        if status.dropped > told.dropped:
            self._say(
                f"too slow: {status.dropped - told.dropped} messages dropped, "
                f"{status.dropped} in all"
            )
        if self._is_seen:
            print(f"\r\033[K{self._line(status)}", end="", file=sys.stderr, flush=True)

    def _line(self, status: Status) -> str:
        return (
            f"{self._where}: {len(self._heard)} topics, {status.written} messages, "
            f"{status.bytes / 1e6:.1f} MB, {status.missing} missing"
        )


def offer_of(publisher: TopicEndpointInfo) -> Offer:
    """Return what a publisher offers."""
    qos = publisher.qos_profile
    return Offer(
        history=qos.history.name.lower(),
        depth=qos.depth,
        reliability=qos.reliability.name.lower(),
        durability=qos.durability.name.lower(),
        deadline=qos.deadline.nanoseconds,
        lifespan=qos.lifespan.nanoseconds,
        liveliness=qos.liveliness.name.lower(),
        liveliness_lease_duration=qos.liveliness_lease_duration.nanoseconds,
        avoid_ros_namespace_conventions=qos.avoid_ros_namespace_conventions,
    )


def hash_of(publisher: TopicEndpointInfo) -> str:
    """Return the hash of the type that a publisher has, as bags write it; empty if unknown."""
    text = str(publisher.topic_type_hash)
    return text if text.startswith("RIHS") else ""
