"""Read the arbiter's topics out of a bag, as far as the bag goes.

A bag is a folder as `ros2 bag record` makes it, or one `.mcap` or `.db3` file of it. Of a
recording that was cut off, the index is missing, and the last part of the file: what is whole of
an `.mcap` file is read nevertheless.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosbags.highlevel import AnyReader
    from rosbags.interfaces import Connection

JOURNAL, COMMANDS, STATES = "arbiter_journal", "driver_command", "arbiter_state"
TOPICS = (JOURNAL, COMMANDS, STATES)
JOURNAL_TYPE = "reach_alpha5_msgs/msg/ArbiterJournal"

MAGIC = b"\x89MCAP0\r\n"
RECORD_HEADER = 9
"""Bytes of a record's kind and length (mcap.dev/spec)."""
DATA_RECORDS = range(0x01, 0x0F)
"""Kinds of the records before the end of a file's data."""
FOOTER = b"\x02" + (20).to_bytes(8, "little") + bytes(20) + MAGIC
"""The end of a file that has no index."""

PADDING = 4
"""Bytes by which rclpy may reckon a message too long that it serialises."""


class BagError(Exception):
    """The bag cannot be read, or has nothing to replay; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A message of the bag."""

    topic: str
    """Without the namespace."""
    at: float
    """Seconds since the bag's begin."""
    message: Any


class Bag:
    """The topics of one arbiter in an open bag.

    Args:
        path: the bag.
        namespace: of the arbiter; None = the only one that is there.

    Raises:
        BagError: see there.
    """

    def __init__(self, path: Path, namespace: str | None = None) -> None:
        self.damage: list[str] = []
        """What could not be read, for people."""
        self._stack = ExitStack()
        try:
            self._readers = self._open(path)
            self.namespace = self._namespace(namespace)
        except BaseException:
            self.close()
            raise
        begins = [r.start_time for r, _ in self._readers if r.message_count]
        self._begin = min(begins, default=0)
        end = max((r.end_time for r, _ in self._readers if r.message_count), default=0)
        self.duration = (end - self._begin) * 1e-9
        """[s]"""

    def close(self) -> None:
        """Close all files."""
        self._stack.close()

    def __enter__(self) -> Bag:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def has(self, topic: str) -> bool:
        """Say whether the bag has a topic of the arbiter's."""
        return any(c.topic == self._full(topic) for r, _ in self._readers for c in r.connections)

    def read(self, begin: float = 0.0) -> Iterator[Recorded]:
        """Yield the messages from `begin` [s] after the bag's begin on."""
        names = {self._full(topic): topic for topic in TOPICS}
        start = self._begin + round(begin * 1e9)
        for reader, is_whole in self._readers:
            wanted = [c for c in reader.connections if c.topic in names]
            if not wanted:
                continue
            at = begin
            try:
                for connection, stamp, data in _messages(reader, is_whole, wanted, start):
                    at = (stamp - self._begin) * 1e-9
                    message = _message(reader, data, connection.msgtype)
                    yield Recorded(names[connection.topic], at, message)
            # A damaged file raises whatever its decoder or its decompression raises.
            except Exception as error:
                self.damage.append(
                    f"damaged {at:.1f} s after its begin, read until there: {error}"
                )

    def _full(self, topic: str) -> str:
        return f"{self.namespace.rstrip('/')}/{topic}"

    def _namespace(self, asked: str | None) -> str:
        found = sorted(
            {
                connection.topic.rpartition("/")[0] or "/"
                for reader, _ in self._readers
                for connection in reader.connections
                if connection.msgtype == JOURNAL_TYPE
            }
        )
        if not found:
            raise BagError(
                f"there is no topic of the type {JOURNAL_TYPE} in it. Record the arbiter's "
                f"journal and its decisions, for example\n  "
                f"ros2 bag record {' '.join(f'/alpha5/{topic}' for topic in TOPICS)}"
            )
        if asked is None and len(found) > 1:
            raise BagError(f"it has several arbiters: choose --namespace of {', '.join(found)}")
        namespace = found[0] if asked is None else f"/{asked.strip('/')}"
        if namespace not in found:
            raise BagError(f"there is no arbiter in {namespace}, but in {', '.join(found)}")
        return namespace

    # ---- files ---------------------------------------------------------------------------------

    def _open(self, path: Path) -> list[tuple[AnyReader, bool]]:
        """Open the bag as a whole or, where that fails, each of its files as far as it goes."""
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

        if path.is_file() or (path / "metadata.yaml").exists():
            try:
                return [(opened(path), True)]
            except Exception as error:
                whole = str(error)
        else:
            whole = "it has no metadata.yaml"
        readers = []
        for file in [path] if path.is_file() else _storage_files(path):
            try:
                readers.append((opened(file), True))
            except Exception as error:
                if file.suffix != ".mcap":
                    self.damage.append(f"{file.name} cannot be read: {error}")
                    continue
                cut = CutFile(file)
                self.damage.append(f"{file.name} was cut off: {cut.size} bytes of it are whole")
                try:
                    readers.append((opened(cut), False))
                except Exception as worse:
                    self.damage.append(f"{file.name} cannot be read: {worse}")
        if not readers:
            raise BagError("; ".join([whole, *self.damage]))
        return readers


def _storage_files(folder: Path) -> list[Path]:
    """Return a folder's storage files in the order in which they were written."""
    files = [file for file in folder.iterdir() if file.suffix in (".mcap", ".db3")]
    return sorted(files, key=lambda file: [int(n) for n in re.findall(r"\d+", file.stem)][-1:])


def _messages(
    reader: AnyReader, is_whole: bool, wanted: list[Connection], start: int
) -> Iterator[tuple[Connection, int, bytes]]:
    if is_whole:
        return reader.messages(wanted, start=start)
    # Without an index messages come in the order of the file, and `messages` takes none that is
    # not in the order of time. Here it need not be.
    file: Any = reader.readers[0]
    scanned: Iterator[tuple[Connection, int, bytes]] = file.storage.messages_scan(wanted, start)
    return scanned


def _message(reader: AnyReader, data: bytes, kind: str) -> Any:
    try:
        return reader.deserialize(data, kind)
    except Exception:
        # What a tool serialised by itself may end in bytes of no meaning.
        return reader.deserialize(data[:-PADDING], kind)


class CutFile:
    """A path to an `.mcap` file that was cut off, which reads as one that ends there on purpose.

    It has the part of `pathlib.Path` that `rosbags` asks of a path.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.suffix = path.suffix
        self.size = _whole_bytes(path)
        """Bytes of the file up to its last whole record."""

    def exists(self) -> bool:
        """Say whether it is there."""
        return self.path.exists()

    def is_dir(self) -> bool:
        """Say whether it is a folder."""
        return False

    def open(self, mode: str = "rb") -> io.BufferedReader:
        """Open it for reading."""
        return io.BufferedReader(_Mended(self.path.open("rb"), self.size))


class _Mended(io.RawIOBase):
    """The first bytes of a file, and a footer."""

    def __init__(self, file: io.BufferedReader, size: int) -> None:
        self._file = file
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size + len(FOOTER)}
        self._at = base[whence] + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        if self._at < self._size:
            self._file.seek(self._at)
            data = self._file.read(min(len(buffer), self._size - self._at))
        else:
            data = FOOTER[self._at - self._size :][: len(buffer)]
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def _whole_bytes(path: Path) -> int:
    size, at = path.stat().st_size, len(MAGIC)
    with path.open("rb") as file:
        while True:
            file.seek(at)
            header = file.read(RECORD_HEADER)
            if len(header) < RECORD_HEADER or header[0] not in DATA_RECORDS:
                return at
            end = at + RECORD_HEADER + int.from_bytes(header[1:], "little")
            if end > size:
                return at
            at = end
