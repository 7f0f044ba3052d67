"""The byte log of the line, and how to read it: what really passed, and when.

One line of text for bytes that followed each other: `<nanoseconds> <way> <hex>`. The way is `>`
for bytes from the driver to the arm and `<` for bytes to the driver. The time is that of
CLOCK_MONOTONIC when the first byte's start bit was on the line; each further byte follows one byte
time later. The log shows the driver's end of the line: `>` before any injected damage, `<` after.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.sim.ids import ALL_DEVICES, AXES, CONTROL, Packet
from reach_alpha5_driver.sim.line import BITS_PER_BYTE, Chunk

Direction = Literal[">", "<"]

TO_ARM: Direction = ">"
TO_DRIVER: Direction = "<"

OVERHEAD = 6
"""Bytes of a frame on the wire besides its payload."""

MOTION = CONTROL | {Packet.PRESET_GO}
"""Packets that can make a joint move."""

_JOINED = 1e-6
"""Chunks with less than this between them are one line of the log [s]."""


class LogWriter:
    """Appends to the log. Each call is on its way to the disk when it returns.

    Raises:
        OSError: the file cannot be opened, or takes no more; it names the file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115 (lives as long as the writer)

    def write(self, to_arm: list[Chunk], to_driver: list[Chunk]) -> None:
        """Log what has passed, in the order of time."""
        lines = [(run.start, TO_ARM, run.data) for run in _runs(to_arm)]
        lines += [(run.start, TO_DRIVER, run.data) for run in _runs(to_driver)]
        if lines:
            text = "".join(
                f"{round(start * 1e9)} {way} {data.hex()}\n" for start, way, data in sorted(lines)
            )
            try:
                self._file.write(text.encode())
            except OSError as error:
                raise OSError(error.errno, error.strerror, self._file.name) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _runs(chunks: list[Chunk]) -> Iterator[Chunk]:
    """Join chunks that followed each other without a gap."""
    run: list[Chunk] = []
    for chunk in chunks:
        if run and chunk.start - run[-1].end > _JOINED:
            yield Chunk(run[0].start, run[-1].end, b"".join(part.data for part in run))
            run = []
        run.append(chunk)
    if run:
        yield Chunk(run[0].start, run[-1].end, b"".join(part.data for part in run))


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the log."""

    time_ns: int
    """Start of the first byte, CLOCK_MONOTONIC."""
    direction: Direction
    data: bytes


@dataclass(frozen=True, slots=True)
class LoggedFrame:
    """A whole, valid frame that was on the line."""

    start_ns: int
    """Start of its first byte."""
    end_ns: int
    """When its last byte was whole: only now can anyone obey it."""
    device_id: int
    packet_id: int
    payload: bytes

    def floats(self) -> tuple[float, ...]:
        """Return the payload as little-endian float32s, in device units."""
        return struct.unpack(f"<{len(self.payload) // 4}f", self.payload)


@dataclass(frozen=True, slots=True)
class LoggedVelocity:
    """A velocity demand that the arm has got."""

    time_ns: int
    """When the whole frame was at the arm."""
    device_id: int
    """`ids.ALL_DEVICES` for a broadcast."""
    value: float
    """Device units: rad/s, for the jaws mm/s."""


@dataclass(frozen=True, slots=True)
class WireLog:
    """A log that has been read."""

    entries: tuple[Entry, ...]
    byte_time_ns: float

    def data(self, direction: Direction) -> bytes:
        """Return all bytes of one direction."""
        return b"".join(entry.data for entry in self.entries if entry.direction == direction)

    def frames(self, direction: Direction) -> list[LoggedFrame]:
        """Return the valid frames of one direction with their times; damaged bytes are skipped."""
        decoder = StreamDecoder()
        frames: list[LoggedFrame] = []
        run: list[Entry] = []
        for piece in self._pieces(direction):
            run.append(piece)
            if not piece.data.endswith(b"\0"):
                continue
            end_ns = self._time_of(piece, len(piece.data))
            for event in decoder.receive(b"".join(part.data for part in run)):
                if isinstance(event, Frame):
                    start_ns = self._start(run, len(event.payload) + OVERHEAD)
                    frames.append(
                        LoggedFrame(
                            start_ns, end_ns, event.device_id, event.packet_id, event.payload
                        )
                    )
            run.clear()
        return frames

    def velocities(self) -> list[LoggedVelocity]:
        """Return all velocity demands that the driver has sent, stops included."""
        return [
            LoggedVelocity(frame.end_ns, frame.device_id, frame.floats()[0])
            for frame in self.frames(TO_ARM)
            if frame.packet_id == Packet.VELOCITY and len(frame.payload) == 4
        ]

    def stops(self) -> list[LoggedVelocity]:
        """Return the velocity demands of zero."""
        return [velocity for velocity in self.velocities() if velocity.value == 0.0]

    def motion_frames(self) -> list[LoggedFrame]:
        """Return the frames from the driver that can make a joint move: all demands but stops."""
        return [
            frame
            for frame in self.frames(TO_ARM)
            if frame.packet_id in MOTION
            and not (frame.packet_id == Packet.VELOCITY and frame.floats() == (0.0,))
        ]

    def demanded(self, until_ns: int | None = None) -> dict[int, float]:
        """Return the velocity that each joint was last told, by device id, broadcasts included.

        A joint that was never told any is left out. This is the demand that persists.
        """
        return demanded(self.velocities(), until_ns)

    def _pieces(self, direction: Direction) -> Iterator[Entry]:
        """Cut the entries of one direction behind every terminator."""
        for entry in self.entries:
            if entry.direction != direction:
                continue
            at = 0
            while at < len(entry.data):
                end = entry.data.find(0, at) + 1 or len(entry.data)
                yield Entry(self._time_of(entry, at), direction, entry.data[at:end])
                at = end

    def _start(self, run: list[Entry], size: int) -> int:
        """Return when the frame began that takes the last `size` bytes of the run."""
        for piece in reversed(run):
            if size <= len(piece.data):
                return self._time_of(piece, len(piece.data) - size)
            size -= len(piece.data)
        return run[0].time_ns

    def _time_of(self, entry: Entry, index: int) -> int:
        return entry.time_ns + round(index * self.byte_time_ns)


def demanded(
    velocities: Iterable[LoggedVelocity], until_ns: int | None = None
) -> dict[int, float]:
    """Return what each joint was last told by `velocities`, as `WireLog.demanded` does."""
    demands: dict[int, float] = {}
    for velocity in velocities:
        if until_ns is not None and velocity.time_ns > until_ns:
            break
        told = AXES if velocity.device_id == ALL_DEVICES else (velocity.device_id,)
        demands.update(dict.fromkeys(told, velocity.value))
    return demands


def read_log(path: str | os.PathLike[str], baud: int = 115200, offset: int = 0) -> WireLog:
    """Read a log that may still grow; a last line that is not whole yet is left out.

    Args:
        path: the log.
        baud: of the line that was logged.
        offset: bytes of the file to skip: its size at an earlier moment, to read the lines that
            were begun since.

    Raises:
        ValueError: a line that is not of a log.
    """
    with open(path, "rb") as file:
        file.seek(max(0, offset - 1))
        written = file.read()
    # The size may have been seen in the middle of a write: the line that was begun is no news.
    text = (written.partition(b"\n")[2] if offset else written).decode()
    entries = []
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        match line.split():
            case [time, ">" | "<" as direction, data]:
                entries.append(Entry(int(time), direction, bytes.fromhex(data)))
            case _:
                raise ValueError(
                    f"{path}: line {number} after byte {offset} is not of a byte log: {line!r}"
                )
    entries.sort(key=lambda entry: entry.time_ns)
    return WireLog(tuple(entries), BITS_PER_BYTE / baud * 1e9)
