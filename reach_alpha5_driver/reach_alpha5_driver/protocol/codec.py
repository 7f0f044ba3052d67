"""Frames to bytes and back.

A frame is, before stuffing, `payload[N] | packet id | device id | LENGTH = N + 4 | CRC-8`. It is
stuffed with COBS (consistent overhead byte stuffing), which takes every zero out of it, and ended
by one 0x00. Frames are far shorter than COBS's 254-byte blocks, so the overhead is exactly one
byte: a frame takes LENGTH + 2 bytes on the wire, and byte `i` of the frame sits at `i + 1` of the
stuffed bytes unless it is a zero. The stream decoder relies on both.

Pure functions; nothing here knows what a packet means.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

MAX_PAYLOAD: Final = 58
"""Longest payload that we send [bytes]."""

MAX_RECEIVED_PAYLOAD: Final = 60
"""Longest payload that we take [bytes]: the most that the protocol document allows."""

TRAILER: Final = 4
"""Packet id, device id, LENGTH and CRC [bytes]: LENGTH of a frame without payload."""

MAX_STUFFED: Final = MAX_RECEIVED_PAYLOAD + TRAILER + 1
"""Longest frame after stuffing, without the terminator [bytes]."""

MIN_STUFFED: Final = TRAILER + 1
"""Shortest frame after stuffing, without the terminator [bytes]."""

NEWER_VERSION_BIT: Final = 0x80
"""Set in LENGTH by a newer protocol version."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of the protocol, unstuffed and checked.

    `payload` is as it travels: little-endian float32s or single bytes, in device units.
    """

    device_id: int
    packet_id: int
    payload: bytes


class Damage(enum.Enum):
    """What is wrong with received bytes. The value is the name of the counter."""

    CRC = "bad_crc"
    LENGTH = "bad_length"
    COBS = "bad_cobs"
    VERSION = "bad_version"
    TOO_LONG = "too_long"
    TOO_SHORT = "too_short"


class FrameError(ValueError):
    """Received bytes are not one whole, valid frame."""

    def __init__(self, damage: Damage, reason: str) -> None:
        super().__init__(f"{damage.value}: {reason}")
        self.damage = damage
        self.reason = reason


class EncodeError(ValueError):
    """A frame that cannot be put on the wire."""


def _crc_table() -> tuple[int, ...]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0xB2 if value & 1 else 0)
        table.append(value)
    return tuple(table)


_CRC_TABLE: Final = _crc_table()
_BYTES: Final = tuple(bytes((value,)) for value in range(256))


def crc8(data: bytes | bytearray) -> int:
    """Return the frame check: CRC-8, polynomial 0x4D reflected (0xB2), init 0, xorout 0xFF."""
    crc = 0
    table = _CRC_TABLE
    for byte in data:
        crc = table[crc ^ byte]
    return crc ^ 0xFF


def encode(frame: Frame) -> bytes:
    """Return the wire bytes of `frame`, the terminating 0x00 included.

    Raises:
        EncodeError: an id is outside 0..255, or the payload is longer than `MAX_PAYLOAD`.
    """
    payload = frame.payload
    if len(payload) > MAX_PAYLOAD:
        raise EncodeError(f"payload of {len(payload)} bytes: at most {MAX_PAYLOAD} fit a frame")
    try:
        raw = payload + bytes((frame.packet_id, frame.device_id, len(payload) + TRAILER))
    except (ValueError, TypeError):
        raise EncodeError(
            f"device id {frame.device_id} and packet id {frame.packet_id}: must be 0..255"
        ) from None
    raw += _BYTES[crc8(raw)]
    # Each block between zeros is led by its size + 1, which is the distance to the next zero.
    return b"".join([_BYTES[len(block) + 1] + block for block in raw.split(b"\0")]) + b"\0"


def decode(wire: bytes) -> Frame:
    """Return the one frame in `wire`; the terminating 0x00 may be left out.

    The checks go from the outside in: stuffing, CRC, version, LENGTH. So a frame that noise has
    hit counts as `CRC` whatever the noise made of its LENGTH, while `VERSION` and `LENGTH` tell of
    a sender that speaks otherwise.

    Raises:
        FrameError: with the damage and a reason for people.
    """
    raw = bytearray(wire)
    if raw and raw[-1] == 0:
        raw.pop()
    size = len(raw)
    if size < MIN_STUFFED:
        raise FrameError(
            Damage.TOO_SHORT, f"{size} bytes; the shortest frame has {MIN_STUFFED} before its end"
        )
    if size > MAX_STUFFED:
        raise FrameError(
            Damage.TOO_LONG, f"{size} bytes; the longest frame has {MAX_STUFFED} before its end"
        )
    code_at = 0
    while code_at < size:
        distance = raw[code_at]
        if not distance:
            raise FrameError(Damage.COBS, f"0x00 inside the frame, at byte {code_at}")
        raw[code_at] = 0
        code_at += distance
    if code_at != size:
        raise FrameError(Damage.COBS, f"stuffing points {code_at - size} bytes past the end")
    # The leading code is a zero now, which the CRC does not see.
    crc = crc8(raw[:-1])
    if crc != raw[-1]:
        raise FrameError(Damage.CRC, f"CRC is 0x{raw[-1]:02x}, the bytes make 0x{crc:02x}")
    length = raw[-2]
    if length & NEWER_VERSION_BIT:
        raise FrameError(
            Damage.VERSION, f"LENGTH 0x{length:02x} has bit 7 set: a newer protocol version"
        )
    if length != size - 1:
        raise FrameError(Damage.LENGTH, f"LENGTH says {length} bytes, the frame has {size - 1}")
    return Frame(raw[-3], raw[-4], bytes(raw[1:-4]))
