"""Write a bag: a folder of MCAP files with the definitions of the messages, as rosbag2 has it.

All of it is done by one thread. A file that is whole ends in an index; whatever happens before
that, what was flushed is read up to there. A disk that has no room is no reason to end: the
present file is ended, what comes meanwhile is counted as lost, and a new file is begun as soon as
there is room again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from mcap.writer import CompressionType
from mcap.writer import Writer as McapWriter

from reach_alpha5_bags.definitions import definition
from reach_alpha5_bags.recorder.metadata import FileFacts, TopicFacts, beside, information, inside

NANO = 1_000_000_000
RETRY = 2 * NANO
"""Time [ns] after which a disk without room is looked at again."""

COMPRESSIONS = {
    "None": CompressionType.NONE,
    "Lz4": CompressionType.LZ4,
    "Zstd": CompressionType.ZSTD,
}
"""By their names in the options of rosbag2's storage plugin."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a bag is written."""

    max_file_size: int
    """[bytes]"""
    max_file_duration: float
    """[s]"""
    flush_period: float
    """[s]"""
    keep_free: int
    """[bytes]"""
    chunk_size: int
    """[bytes]"""
    compression: CompressionType
    distribution: str
    """Of ROS, for the record."""


class _File:
    """One MCAP file, being written."""

    def __init__(self, path: Path, layout: Layout, now: int) -> None:
        self.path = path
        self.stream: IO[bytes] = path.open("xb")
        self.mcap = McapWriter(self.stream, layout.chunk_size, layout.compression)
        self.schemas: dict[str, int] = {}
        self.channels: dict[str, int] = {}
        self.counts: dict[str, int] = {}
        self.begin = self.end = 0
        self.pending = 0
        """Messages since the last flush."""
        self.flushed = now
        self.mcap.start(profile="ros2")
        self.mcap.flush()  # type: ignore[no-untyped-call]
        self.good = self.stream.tell()
        """Bytes up to the end of the last flush."""

    def write(self, topic: TopicFacts, data: bytes, received: int, sent: int) -> None:
        if topic.name not in self.channels:
            if topic.type not in self.schemas:
                self.schemas[topic.type] = self.mcap.register_schema(
                    topic.type, "ros2msg", definition(topic.type).encode()
                )
            self.channels[topic.name] = self.mcap.register_channel(
                topic.name,
                "cdr",
                self.schemas[topic.type],
                {"offered_qos_profiles": topic.qos(), "topic_type_hash": topic.hash},
            )
        self.mcap.add_message(self.channels[topic.name], received, data, sent)
        self.begin = min(self.begin or received, received)
        self.end = max(self.end, received)
        self.counts[topic.name] = self.counts.get(topic.name, 0) + 1
        self.pending += 1

    def flush(self, now: int) -> None:
        self.mcap.flush()  # type: ignore[no-untyped-call]
        self.good = self.stream.tell()
        self.flushed = now
        self.pending = 0

    def facts(self) -> FileFacts:
        return FileFacts(self.path.name, self.begin, self.end, dict(self.counts))

    def finish(self, text: str) -> None:
        self.mcap.flush()  # type: ignore[no-untyped-call]
        self.mcap.add_metadata("rosbag2", {"serialized_metadata": text})
        self.mcap.finish()  # type: ignore[no-untyped-call]
        self.stream.close()

    def abandon(self) -> None:
        """Leave what is good of it."""
        with suppress(OSError):
            self.stream.raw.close()  # type: ignore[attr-defined]
        with suppress(OSError):
            os.truncate(self.path, self.good)


class BagWriter:
    """A bag that is being written.

    Args:
        folder: where; is made, and must not exist.
        layout: how.

    Raises:
        OSError: the folder cannot be made.
    """

    def __init__(self, folder: Path, layout: Layout) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.trouble = ""
        """Why nothing is written at present; empty: it is."""
        self.lost = 0
        """Messages that could not be written."""
        self.written = 0
        self.size = 0
        """Bytes of the files that are ended."""
        self._layout = layout
        self._file: _File | None = None
        self._finished: list[FileFacts] = []
        self._topics: dict[str, TopicFacts] = {}
        self._number = 0
        self._retry = 0

    @property
    def taken(self) -> int:
        """Bytes written so far."""
        return self.size + (self._file.good if self._file else 0)

    def write(self, topic: TopicFacts, data: bytes, received: int, sent: int, now: int) -> None:
        """Write a message, if the disk has room.

        Args:
            topic: what its first message in the bag brings is what the bag says of it.
            data: serialised.
            received: when it arrived [ns since the epoch].
            sent: when it was published, likewise.
            now: monotonic [ns].
        """
        known = self._topics.setdefault(topic.name, topic)
        try:
            file = self._open(received, now)
            if file is None:
                self.lost += 1
                return
            file.write(known, data, received, sent)
        except OSError as error:
            self._fail(error, now)
            self.lost += 1
            return
        self.written += 1

    def tick(self, now: int) -> None:
        """Flush what has waited for long; call it some times a second."""
        if self._file is None or now - self._file.flushed < self._layout.flush_period * NANO:
            return
        try:
            self._file.flush(now)
            self._look_for_room(now)
        except OSError as error:
            self._fail(error, now)

    def close(self) -> None:
        """End the bag. It says in `trouble` what could not be written."""
        self._end_file(0)

    def _open(self, received: int, now: int) -> _File | None:
        """Return the file to write to; None while there is no room."""
        if self.trouble and now < self._retry:
            return None
        file = self._file
        if file is not None and file.counts:
            is_long = received - file.begin >= self._layout.max_file_duration * NANO
            if is_long or file.stream.tell() >= self._layout.max_file_size:
                self._end_file(now)
        if self._file is None:
            self._look_for_room(now)
            if self.trouble:
                return None
            path = self.folder / f"{self.folder.name}_{self._number}.mcap"
            try:
                self._file = _File(path, self._layout, now)
            except OSError:
                # Else each try on a broken disk leaves an empty file.
                path.unlink(missing_ok=True)
                raise
            self._number += 1
        return self._file

    def _look_for_room(self, now: int) -> None:
        disk = os.statvfs(self.folder)
        free = disk.f_bavail * disk.f_frsize
        self.trouble = ""
        if free < self._layout.keep_free:
            self._end_file(now)
            self.trouble = self.trouble or f"the disk is full: {free >> 20} MiB are free"
            self._retry = now + RETRY

    def _end_file(self, now: int) -> None:
        file, self._file = self._file, None
        if file is None:
            return
        files = [*self._finished, file.facts()]
        told = information(self._topics.values(), files, self._layout.distribution)
        try:
            file.finish(inside(told))
            self._finished = files
            self.size += file.path.stat().st_size
            draft = self.folder / "metadata.yaml.part"
            draft.write_text(beside(told))
            draft.replace(self.folder / "metadata.yaml")
        except OSError as error:
            self._file = None if file.stream.closed else file
            self._fail(error, now)

    def _fail(self, error: OSError, now: int) -> None:
        """Leave the present file as far as it is good, and wait for room."""
        self.trouble = f"{error.strerror or error}: {self.folder}"
        self._retry = now + RETRY
        file, self._file = self._file, None
        if file is not None:
            file.abandon()
            self.size += file.good
            self.written -= file.pending
            self.lost += file.pending
