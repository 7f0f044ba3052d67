"""Write bags as a recorder does, with the definitions of the messages inside."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from ament_index_python.packages import get_package_share_directory
from rclpy.serialization import serialize_message
from replay_live import START, Bag
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from reach_alpha5_arbiter.snapshot import Snapshot
from reach_alpha5_arbiter.translate import arbiter_state
from reach_alpha5_common.command import DriverCommand
from reach_alpha5_common.messages import driver_command_message, time_message
from reach_alpha5_msgs import msg

TYPES = {
    "arbiter_journal": msg.ArbiterJournal,
    "driver_command": msg.DriverCommand,
    "arbiter_state": msg.ArbiterState,
}
NANO = 1_000_000_000


def definitions() -> Any:
    """Return a store of the stock messages of ROS and of ours."""
    store = get_typestore(Stores.ROS2_JAZZY)
    folder = Path(get_package_share_directory("reach_alpha5_msgs"), "msg")
    ours: dict[str, Any] = {}
    for file in folder.glob("*.msg"):
        ours |= get_types_from_msg(file.read_text(), f"reach_alpha5_msgs/msg/{file.stem}")
    store.register(ours)
    return store


class Recorder:
    """A bag that is being written. Leave it by an exception, and it is cut off.

    Args:
        folder: where; must not exist.
        namespace: of the topics.
        topics: which of `TYPES`.
        storage: how.
    """

    def __init__(
        self,
        folder: Path,
        namespace: str = "/alpha5",
        topics: Iterable[str] = TYPES,
        storage: StoragePlugin = StoragePlugin.MCAP,
    ) -> None:
        self._writer = Writer(folder, version=9, storage_plugin=storage)
        self._namespaces = [namespace]
        self._topics = list(topics)

    def __enter__(self) -> Recorder:
        self._writer.open()
        store = definitions()
        self._connections = {
            topic: self._writer.add_connection(
                f"{namespace}/{topic}", f"reach_alpha5_msgs/msg/{TYPES[topic].__name__}",
                typestore=store,
            )
            for namespace in self._namespaces
            for topic in self._topics
        }  # fmt: skip
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.close()

    def write(self, topic: str, data: bytes, at: int) -> None:
        """Write a serialised message that arrived `at` [ns since the epoch]."""
        if topic in self._connections:
            self._writer.write(self._connections[topic], at, data)


def messages(bag: Bag) -> Iterable[tuple[str, Any, int]]:
    """Yield topic, message and time of arrival [ns] of what a live run published."""
    for now, said in bag:
        at = round((START + now) * NANO)
        stamp = time_message(at)
        if isinstance(said, DriverCommand):
            command = driver_command_message(said)
            command.header.stamp = stamp
            yield "driver_command", command, at
        elif isinstance(said, Snapshot):
            yield "arbiter_state", arbiter_state(said, now, lambda at, stamp=stamp: stamp), at
        else:
            session, first, entries, _ = said
            journal = msg.ArbiterJournal(session=session, first=first, entries=entries)
            journal.header.stamp = stamp
            yield "arbiter_journal", journal, at


def write(bag: Bag, folder: Path, **options: Any) -> Path:
    """Write what a live run published; returns the folder."""
    with Recorder(folder, **options) as recorder:
        for topic, message, at in messages(bag):
            recorder.write(topic, serialize_message(message), at)
    return folder
