"""Read topics out of a bag, in the order of time, as far as the bag goes.

A bag is a folder as `ros2 bag record` makes it, or one `.mcap` or `.db3` file of it. Of a
recording that was cut off, the index is missing, and the last part of the file: what is whole of
an `.mcap` file is read nevertheless. Messages are read by the definitions that the bag carries, so
that a bag of an older version of them is read, too.

However long the bag is, only some chunks of it are in memory:

    with Bag(Path("dive")) as bag:
        namespace = bag.namespace("reach_alpha5_msgs/msg/ArbiterState")
        for recorded in bag.read([resolve(namespace, "arbiter_state")]):
            state = bag.message(recorded)
            ...                         # recorded.at / bag.duration is done
        print("; ".join(bag.damage))    # what could not be read, and how far it went
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from reach_alpha5_bags.cut_file import CutFile
from reach_alpha5_bags.names import Topic, resolve

if TYPE_CHECKING:
    from rosbags.highlevel import AnyReader
    from rosbags.interfaces import Connection

__all__ = ["Bag", "BagError", "Recorded", "Topic", "resolve"]

STORAGES = (".mcap", ".db3")
METADATA = "metadata.yaml"

REORDERING = 1.0
"""Time [s] within which a file's messages are put in order: a recorder writes as they arrive."""
MOST_WAITING = 20_000
"""Messages that wait for that, at most: a recorder whose clock stood still gave all one time."""

LATCHED = "TRANSIENT_LOCAL"
"""The durability of what is kept for whoever comes late."""

PADDING = 4
"""Bytes by which rclpy may reckon a message too long that it serialises."""

Entry = tuple[int, int, "Recorded"]
"""Arrival [ns], place in the source, message."""


class BagError(Exception):
    """The bag cannot be read, or lacks what is asked; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A message of the bag, as it was recorded; `Bag.message` makes sense of it."""

    topic: str
    """With its namespace."""
    type: str
    stamp: int
    """When the recorder received it [ns since the epoch], by its clock."""
    at: float
    """The same [s] since the bag's begin."""
    data: bytes
    """Serialised (CDR)."""
    source: int
    """Which of the bag's files."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A file of the bag, or the whole of it, open."""

    name: str
    reader: AnyReader
    is_whole: bool
    """It has its index, or had no need of one."""


class Bag:
    """An open bag.

    Args:
        path: the bag.

    Raises:
        BagError: nothing of it can be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damage: list[str] = []
        """What could not be read, for people. It grows while the bag is read."""
        self._undecoded: set[str] = set()
        self._stack = ExitStack()
        cuts: dict[str, CutFile] = {}
        try:
            self._sources = self._open(path, cuts)
        except BaseException:
            self.close()
            raise
        filled = [source.reader for source in self._sources if source.reader.message_count]
        self.begin = min((reader.start_time for reader in filled), default=0)
        """Arrival of the first message [ns since the epoch]."""
        self.end = max((reader.end_time for reader in filled), default=0)
        """The end of the last one, likewise."""
        self.duration = (self.end - self.begin) * 1e-9
        """[s]"""
        for source in self._sources:
            if cut := cuts.get(source.name):
                self._note_cut(source, cut)
        self.topics = self._topics()
        """By their full names, sorted."""

    def close(self) -> None:
        """Close all files."""
        self._stack.close()

    def __enter__(self) -> Bag:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ---- what it has ---------------------------------------------------------------------------

    def of_type(self, kind: str) -> list[str]:
        """Return the full names of the topics of a type."""
        return [topic.name for topic in self.topics.values() if topic.type == kind]

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return those of the full names of which the bag has no message."""
        return [name for name in names if name not in self.topics or not self.topics[name].count]

    def namespaces(self, kind: str) -> list[str]:
        """Return the namespaces in which there is a topic of a type, as `/alpha5` or `/`."""
        return sorted({name.rpartition("/")[0] or "/" for name in self.of_type(kind)})

    def namespace(self, kind: str, asked: str | None = None, what: str = "arm") -> str:
        """Return the namespace of a topic of a type.

        Args:
            kind: of the topic by which one of ours is known.
            asked: by a person, with or without slashes; None = the only one that is there.
            what: it is that has such a topic, for people.

        Raises:
            BagError: there is none, or not this one, or there are several and none was asked.
        """
        found = self.namespaces(kind)
        if not found:
            raise BagError(f"there is no topic of the type {kind} in it")
        if asked is None and len(found) > 1:
            raise BagError(f"it has several {what}s: choose --namespace of {', '.join(found)}")
        namespace = found[0] if asked is None else f"/{asked.strip('/')}"
        if namespace not in found:
            raise BagError(f"there is no {what} in {namespace}, but in {', '.join(found)}")
        return namespace

    def hash(self, kind: str) -> str:
        """Return the hash of a type as the bag defines it (RIHS01_...); empty if it does not."""
        for source in self._sources:
            if any(c.msgtype == kind for c in source.reader.connections):
                return str(source.reader.typestore.hash_rihs01(kind))
        return ""

    # ---- messages ------------------------------------------------------------------------------

    def read(self, names: Collection[str], begin: float = 0.0) -> Iterator[Recorded]:
        """Yield the messages of some topics in the order of their arrival.

        Args:
            names: full names of topics. What the bag has not is left out: see `missing`.
            begin: from when on [s since the bag's begin].
        """
        files = [self._file(place, names, begin) for place in range(len(self._sources))]
        for _, _, recorded in heapq.merge(*files, key=lambda entry: entry[0]):
            if recorded is not None:
                yield recorded

    def message(self, recorded: Recorded) -> Any:
        """Return what a message says, with the fields of its definition; None if it is damaged.

        The first damage of each topic is told in `damage`.
        """
        reader = self._sources[recorded.source].reader
        try:
            return reader.deserialize(recorded.data, recorded.type)
        except Exception:
            try:
                # What a tool serialised by itself may end in bytes of no meaning.
                return reader.deserialize(recorded.data[:-PADDING], recorded.type)
            # A damaged message raises whatever its decoder stumbles over.
            except Exception as error:
                if recorded.topic not in self._undecoded:
                    self._undecoded.add(recorded.topic)
                    self.damage.append(
                        f"damaged {recorded.at:.1f} s after its begin: a message of "
                        f"{recorded.topic} says nothing ({error}), and perhaps more of them"
                    )
                return None

    def _file(
        self, place: int, names: Collection[str], begin: float
    ) -> Iterator[tuple[int, int, Recorded | None]]:
        """Yield a source's messages, the first of all after a word of when they begin.

        So that none of its chunks is in memory before its time has come.
        """
        source = self._sources[place]
        wanted = [c for c in source.reader.connections if c.topic in names]
        start = self.begin + round(begin * 1e9)
        if not wanted or source.reader.end_time <= start:
            return
        yield max(start, source.reader.start_time), 0, None
        waiting: list[Entry] = []
        at = begin
        try:
            for count, (connection, stamp, data) in enumerate(_messages(source, wanted, start)):
                at = (stamp - self.begin) * 1e-9
                one = Recorded(connection.topic, connection.msgtype, stamp, at, data, place)
                heapq.heappush(waiting, (stamp, count, one))
                while stamp - waiting[0][0] > REORDERING * 1e9 or len(waiting) > MOST_WAITING:
                    yield heapq.heappop(waiting)
        # A damaged file raises whatever its decoder or its decompression raises.
        except Exception as error:
            self.damage.append(
                f"{source.name} is damaged {at:.1f} s after its begin, read until there: {error}"
            )
        while waiting:
            yield heapq.heappop(waiting)

    # ---- files ---------------------------------------------------------------------------------

    def _topics(self) -> dict[str, Topic]:
        topics: dict[str, Topic] = {}
        for source in self._sources:
            for c in source.reader.connections:
                count = c.msgcount + (topics[c.topic].count if c.topic in topics else 0)
                offers: Any = getattr(c.ext, "offered_qos_profiles", ())
                is_latched = any(offer.durability.name == LATCHED for offer in offers)
                topics[c.topic] = Topic(c.topic, c.msgtype, count, is_latched)
        return dict(sorted(topics.items()))

    def _note_cut(self, source: _Source, cut: CutFile) -> None:
        until = (source.reader.end_time - self.begin) * 1e-9 if source.reader.message_count else 0
        self.damage.append(
            f"{source.name} was cut off: {cut.size} of its {cut.path.stat().st_size} bytes are "
            f"whole, up to {until:.1f} s after the bag's begin"
        )

    def _open(self, path: Path, cuts: dict[str, CutFile]) -> list[_Source]:
        """Open each file of the bag as far as it goes."""
        try:
            from rosbags.highlevel import AnyReader
        except ImportError as error:
            raise BagError(
                f"the Python package rosbags is needed to read bags ({error}); install it with "
                "`rosdep install` or `pip install rosbags`"
            ) from None
        if not path.exists():
            raise BagError("there is no such file or folder")

        def opened(what: Any) -> AnyReader:
            return self._stack.enter_context(AnyReader([what]))

        files = [path] if path.is_file() else self._files(path)
        sources = []
        for file in files:
            try:
                sources.append(_Source(file.name, opened(file), True))
                continue
            except Exception as error:
                why = str(error)
            if file.suffix == ".mcap" and file.is_file() and file.stat().st_size:
                # The second time, chunks that are damaged are looked for: that takes a while.
                for is_checked in (False, True):
                    cut = CutFile(file, is_checked=is_checked)
                    try:
                        sources.append(_Source(file.name, opened(cut), False))
                        cuts[file.name] = cut
                        break
                    except Exception as error:
                        why = f"{why}; {error}"
            if file.name not in cuts:
                self.damage.append(f"{file.name} cannot be read: {why}")
        if not sources:
            raise BagError("; ".join(self.damage) or f"there is no {' or '.join(STORAGES)} in it")
        return sources

    def _files(self, folder: Path) -> list[Path]:
        """Return what to open of a folder: its files, or itself where they are compressed."""
        files = [file for file in folder.iterdir() if file.suffix in STORAGES]
        try:
            found = yaml.safe_load((folder / METADATA).read_text())["rosbag2_bagfile_information"]
            listed = [folder / Path(name).name for name in found["relative_file_paths"]]
            is_compressed = str(found.get("compression_mode", "")).lower() in ("file", "message")
        except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError):
            listed, is_compressed = [], False
        if is_compressed:
            return [folder]
        self.damage += [f"{file.name} is missing" for file in listed if file not in files]
        return sorted(files, key=lambda file: [int(n) for n in re.findall(r"\d+", file.stem)][-1:])


def _messages(
    source: _Source, wanted: list[Connection], start: int
) -> Iterator[tuple[Connection, int, bytes]]:
    if source.is_whole:
        return source.reader.messages(wanted, start=start)
    # Without an index messages come in the order of the file, and `messages` takes none that is
    # not in the order of time. Here it need not be.
    file: Any = source.reader.readers[0]
    scanned: Iterator[tuple[Connection, int, bytes]] = file.storage.messages_scan(wanted, start)
    return scanned
