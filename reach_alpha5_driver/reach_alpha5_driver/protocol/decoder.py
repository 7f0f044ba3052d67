"""A byte stream to frames, whatever the stream holds and however it is cut into chunks.

A *run* is what stands between two terminators (0x00). Every byte received ends in exactly one
event, so a log of the events can rebuild the stream; only empty runs (two terminators in a row,
or one at the start) vanish: they carry nothing, and a sender may use them to wake or flush a line.

Two repairs are known:

* **Glued frames.** A lost or flipped terminator makes one run of two frames. Stuffing keeps
  LENGTH, which is never zero, at its place: the last byte but one of the run. The last LENGTH + 1
  bytes are then taken as a frame of their own, and pass only if stuffing, CRC and LENGTH agree.
  What stands before is lost, and told as `Damaged`. It must be as long as the shortest frame:
  else a damaged frame could be read as a shorter one inside it, as the CRC lets 1 in 256 through.
* **A run longer than two frames** is given away from its start as `TOO_LONG`, piece by piece. What
  is kept always holds the longest frame, so a frame at the end of the run can still be recovered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from reach_alpha5_driver.protocol.codec import (
    MAX_STUFFED,
    MIN_STUFFED,
    Damage,
    Frame,
    FrameError,
    decode,
)

MAX_RUN: Final = 2 * MAX_STUFFED + 1
"""Longest run that is kept [bytes]: two frames, and a flipped terminator between them."""

_SPILL: Final = MAX_STUFFED + 1


@dataclass(frozen=True, slots=True)
class Damaged:
    """Received bytes that gave no frame."""

    damage: Damage
    reason: str
    raw: bytes
    """As received, with the terminator if there was one."""


@dataclass(slots=True)
class DecoderCounters:
    """What a decoder has seen since it was made. All only grow."""

    bytes: int = 0
    frames: int = 0
    """Whole, valid frames."""
    recovered: int = 0
    """Of `frames`: cut from the end of a run that held more."""
    bad_crc: int = 0
    bad_length: int = 0
    bad_cobs: int = 0
    bad_version: int = 0
    too_long: int = 0
    too_short: int = 0

    @property
    def damaged(self) -> int:
        """Number of `Damaged` events."""
        return sum(getattr(self, damage.value) for damage in Damage)


class StreamDecoder:
    """Turns received bytes into `Frame` and `Damaged` events, in their order.

    The events depend on the bytes only, never on how they are chunked. It keeps at most `MAX_RUN`
    bytes, and raises nothing, whatever it is fed.
    """

    def __init__(self) -> None:
        self.counters = DecoderCounters()
        self._run = bytearray()
        self._spilled = False

    def receive(self, data: bytes) -> list[Frame | Damaged]:
        """Take the next bytes of the stream and return the events that they complete."""
        self.counters.bytes += len(data)
        events: list[Frame | Damaged] = []
        *ends, rest = data.split(b"\0")
        for end in ends:
            if self._run or len(end) > MAX_RUN:
                self._extend(end, events)
                end = bytes(self._run)
                self._run.clear()
            if end:
                self._finish(end, events)
            self._spilled = False
        if rest:
            self._extend(rest, events)
        return events

    def _extend(self, data: bytes, events: list[Frame | Damaged]) -> None:
        """Add to the run, and give its start away when it is longer than two frames."""
        run = self._run
        run += data
        at = 0
        while len(run) - at > MAX_RUN:
            self._lose(Damage.TOO_LONG, _TOO_LONG, bytes(run[at : at + _SPILL]), events)
            at += _SPILL
            self._spilled = True
        del run[:at]

    def _finish(self, run: bytes, events: list[Frame | Damaged]) -> None:
        """Judge a run whose terminator has come."""
        if not self._spilled:
            try:
                frame = decode(run)
            except FrameError as error:
                failure = error
            else:
                self.counters.frames += 1
                events.append(frame)
                return
        else:
            failure = FrameError(Damage.TOO_LONG, _TOO_LONG)
        cut = self._recover(run)
        if cut is None:
            self._lose(failure.damage, failure.reason, run + b"\0", events)
            return
        frame, head = cut
        damage = Damage.TOO_LONG if self._spilled else Damage.LENGTH
        self._lose(damage, _GLUED, head, events)
        self.counters.frames += 1
        self.counters.recovered += 1
        events.append(frame)

    def _recover(self, run: bytes) -> tuple[Frame, bytes] | None:
        """Return the frame at the end of a run that holds more, and what stands before it."""
        if len(run) < 2 * MIN_STUFFED:
            return None
        start = len(run) - (run[-2] + 1)
        # Of a spilled run more than a frame has gone before.
        if start < (1 if self._spilled else MIN_STUFFED):
            return None
        try:
            return decode(run[start:]), run[:start]
        except FrameError:
            return None

    def _lose(
        self, damage: Damage, reason: str, raw: bytes, events: list[Frame | Damaged]
    ) -> None:
        setattr(self.counters, damage.value, getattr(self.counters, damage.value) + 1)
        events.append(Damaged(damage, reason, raw))


_TOO_LONG: Final = f"more than {MAX_RUN} bytes without a terminator"
_GLUED: Final = "its terminator was lost; the frame glued to its end was recovered"
