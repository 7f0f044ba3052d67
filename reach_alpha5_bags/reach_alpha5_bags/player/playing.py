"""Publish the messages of a bag at the times of the recording."""

from __future__ import annotations

import argparse
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosgraph_msgs.msg import Clock

from reach_alpha5_bags.definitions import UnknownMessage, definition, message_class
from reach_alpha5_bags.player.choice import Played
from reach_alpha5_bags.reading import Bag, BagError, Recorded

DEPTH = 100
LISTENING = 1.0
"""Time [s] to listen for others that publish the same, before the first message."""
LOOK_PERIOD = 1.0
"""Time [s] between two looks for them while it plays."""
LOOP_PAUSE = 0.1
"""Time [s] between the end of a bag and its begin when it is played again and again."""
CLOCK_PERIOD = 0.01
"""Shortest time [s] between two messages on /clock."""
NANO = 1_000_000_000


class LiveError(RuntimeError):
    """Somebody else publishes what was to be played."""


def play(
    bag: Bag,
    played: Sequence[Played],
    options: argparse.Namespace,
    arguments: Sequence[str],
    say: Callable[[str], None],
) -> None:
    """Play a bag to its end, or until a signal comes.

    Args:
        bag: open.
        played: its topics that are played.
        options: of the command.
        arguments: of the command, for ROS.
        say: is given what a person must know.

    Raises:
        BagError: the messages of none of them can be published.
        LiveError: see there.
    """
    with _signals() as leave, _node(arguments) as node:
        publishers = _publishers(bag, played, node, say)
        watch = _Watch(node, {p.topic_name for p in publishers.values()}, options.beside)
        if leave.wait(LISTENING):
            return
        watch.look()
        say(f"plays {len(publishers)} topics, {bag.duration:.1f} s")
        clock = node.create_publisher(Clock, "/clock", 10) if options.clock else None
        while not leave.is_set():
            _latched(bag, publishers, options.begin)
            _once(bag, publishers, options, clock, watch, leave)
            # A bag that is over at once is not played as fast as the machine can.
            if not options.loop or leave.wait(LOOP_PAUSE):
                break
            watch.look()
        # So that the last messages are out before the publishers are gone.
        for publisher in publishers.values():
            publisher.wait_for_all_acked(rclpy.duration.Duration(seconds=1))


def _once(
    bag: Bag,
    publishers: dict[str, Publisher[Any]],
    options: argparse.Namespace,
    clock: Publisher[Any] | None,
    watch: _Watch,
    leave: threading.Event,
) -> None:
    began, ticked = time.monotonic(), float("-inf")
    for recorded in bag.read(publishers, options.begin):
        due = began + (recorded.at - options.begin) / options.rate
        while (ahead := due - time.monotonic()) > 0:
            if leave.wait(min(ahead, LOOK_PERIOD)):
                return
            watch.look()
        if leave.is_set():
            return
        watch.look()
        if clock is not None and due - ticked >= CLOCK_PERIOD:
            ticked = due
            message = Clock()
            message.clock.sec, message.clock.nanosec = divmod(recorded.stamp, NANO)
            clock.publish(message)
        publishers[recorded.topic].publish(recorded.data)


def _latched(bag: Bag, publishers: dict[str, Publisher[Any]], until: float) -> None:
    """Publish what had been kept for whoever came late, up to where the play begins."""
    latched = [name for name in publishers if bag.topics[name].is_latched]
    if until <= 0.0 or not latched:
        return
    for recorded in _up_to(bag.read(latched), until):
        publishers[recorded.topic].publish(recorded.data)


def _up_to(recorded: Iterator[Recorded], until: float) -> Iterator[Recorded]:
    for each in recorded:
        if each.at >= until:
            return
        yield each


def _publishers(
    bag: Bag, played: Sequence[Played], node: Node, say: Callable[[str], None]
) -> dict[str, Publisher[Any]]:
    """Return the publishers by the names that the topics have in the bag."""
    publishers = {}
    for each in played:
        kind = each.topic.type
        try:
            # Serialised messages are published as they are: no other definition may read them.
            if installed_hash(kind) != bag.hash(kind):
                raise UnknownMessage(f"{kind} was another one when this was recorded")
            message = message_class(kind)
            kept = DurabilityPolicy.TRANSIENT_LOCAL
            durability = kept if each.topic.is_latched else DurabilityPolicy.VOLATILE
            qos = QoSProfile(depth=DEPTH, durability=durability)
            publishers[each.topic.name] = node.create_publisher(message, each.name, qos)
        except (UnknownMessage, NameValidationException) as error:
            why = str(error).partition("\n")[0]
            say(f"not played: {each.topic.name}: {why}")
    if not publishers:
        raise BagError("nothing of it can be published here")
    return publishers


def installed_hash(kind: str) -> str:
    """Return the hash of a type as it is installed (RIHS01_...).

    Raises:
        UnknownMessage: it is not installed.
    """
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(definition(kind), kind))
    return str(store.hash_rihs01(kind))


class _Watch:
    """Looks for others that publish the same."""

    def __init__(self, node: Node, topics: set[str], is_allowed: bool) -> None:
        self._node = node
        # Whatever tells of something of its own on them is no arm.
        self._topics = sorted(topics - {"/diagnostics", "/tf", "/tf_static"})
        self._is_allowed = is_allowed
        self._next = 0.0

    def look(self) -> None:
        """Raise LiveError if there is one; does so some times a minute at most."""
        if self._is_allowed or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + LOOK_PERIOD
        for topic in self._topics:
            if self._node.count_publishers(topic) > 1:
                raise LiveError(
                    f"somebody else publishes {topic}: is an arm running? End that, choose "
                    "another ROS_DOMAIN_ID or --to another namespace, or say --beside"
                )


@contextmanager
def _signals() -> Iterator[threading.Event]:
    """Have SIGINT and SIGTERM end the play."""
    leave = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: leave.set()) for number in numbers]
    try:
        yield leave
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def _node(arguments: Sequence[str]) -> Iterator[Node]:
    rclpy.init(args=list(arguments), signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = Node("alpha5_player", enable_rosout=False, start_parameter_services=False)
        yield node
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
