"""An `.mcap` file of a recorder that was killed, read up to its last whole record.

The format is the published one (mcap.dev/spec): a magic, records of a kind, a length and a
content, and at the end an index, a footer and the magic again. Of a file that was cut off the end
is missing; a footer that promises no index makes of it a file that is complete.
"""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

MAGIC = b"\x89MCAP0\r\n"
RECORD_HEADER = 9
"""Bytes of a record's kind and length."""
ENDS = (0x00, 0x02, 0x0F)
"""What is no record, and the kinds of the records at which a file's data end."""
CHUNK = 0x06
FOOTER = b"\x02" + (20).to_bytes(8, "little") + bytes(20) + MAGIC
"""The end of a file that has no index."""


class CutFile:
    """A path to an `.mcap` file that was cut off, which reads as one that ends there on purpose.

    It has the part of `pathlib.Path` that `rosbags` asks of a path.
    """

    def __init__(self, path: Path, *, is_checked: bool = False) -> None:
        self.path = path
        self.suffix = path.suffix
        self.size = whole_bytes(path, is_checked=is_checked)
        """Bytes of the file up to the end of its last whole record."""

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


def whole_bytes(path: Path, *, is_checked: bool = False) -> int:
    """Return how many bytes of a file are whole records of its data.

    Args:
        path: of the file.
        is_checked: end at the first chunk of which the content is not what was written, as when
            the power failed before the disk had it.
    """
    size, at = path.stat().st_size, len(MAGIC)
    with path.open("rb") as file:
        while True:
            file.seek(at)
            header = file.read(RECORD_HEADER)
            if len(header) < RECORD_HEADER or header[0] in ENDS:
                return at
            end = at + RECORD_HEADER + int.from_bytes(header[1:], "little")
            if end > size:
                return at
            if is_checked and header[0] == CHUNK and not _is_sound(file.read(end - file.tell())):
                return at
            at = end


def _is_sound(chunk: bytes) -> bool:
    """Say whether a chunk's content has its length and its checksum."""
    from rosbags.rosbag2.storage_mcap import decompress

    try:
        size, crc, length = struct.unpack_from("<QII", chunk, 16)
        decompress(chunk[40 + length :], chunk[32 : 32 + length].decode(), size, crc)
    # What is damaged raises whatever its decompression raises.
    except Exception:
        return False
    return True
