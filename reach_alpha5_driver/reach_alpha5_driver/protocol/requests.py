"""Packets that ask: for a report, for reports by themselves, to save."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from reach_alpha5_driver.devices import BROADCAST
from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.ids import NEVER_SEND, PacketId
from reach_alpha5_driver.protocol.packet import (
    OneIdPacket,
    PacketError,
    check_byte,
    check_joint,
    check_size,
)

MAX_IDS: Final = 10
"""Packet ids in one request or heartbeat list."""


def _check_ids(packet_ids: tuple[int, ...]) -> None:
    for packet_id in packet_ids:
        check_byte("packet id", packet_id, 1, 255)
        if packet_id in NEVER_SEND:
            raise PacketError("bad_payload", f"packet 0x{packet_id:02x} is never to be sent")


@dataclass(frozen=True, slots=True)
class Request(OneIdPacket):
    """Ask one device for one report per packet id. Never all: their answers would collide.

    There is no sequence number, acknowledgement or refusal: an answer is known by its packet id.
    """

    ID = PacketId.REQUEST

    packet_ids: tuple[int, ...]
    """1 to 10 ids, none of them zero."""

    def __post_init__(self) -> None:
        check_joint(self.device)
        check_byte("number of packet ids", len(self.packet_ids), 1, MAX_IDS)
        _check_ids(self.packet_ids)

    def payload(self) -> bytes:
        """Return the ids, without padding."""
        return bytes(self.packet_ids)

    @classmethod
    def from_frame(cls, frame: Frame) -> Request:
        """Return the packet; a list padded with zeros is `bad_payload`."""
        return cls(frame.device_id, tuple(frame.payload))


@dataclass(frozen=True, slots=True)
class HeartbeatPackets(OneIdPacket):
    """What one device reports by itself, at the heartbeat frequency; none: nothing.

    The arm forgets the list at power-off, but not the frequency: set both at start.
    """

    ID = PacketId.HEARTBEAT_PACKETS

    packet_ids: tuple[int, ...]
    """0 to 10 ids, none of them zero."""

    def __post_init__(self) -> None:
        check_joint(self.device)
        check_byte("number of packet ids", len(self.packet_ids), 0, MAX_IDS)
        _check_ids(self.packet_ids)

    def payload(self) -> bytes:
        """Return the ids, filled up with zeros to ten."""
        return bytes(self.packet_ids).ljust(MAX_IDS, b"\0")

    @classmethod
    def from_frame(cls, frame: Frame) -> HeartbeatPackets:
        """Return the packet; the list may be shorter than ten."""
        check_byte("payload size", len(frame.payload), 1, MAX_IDS)
        return cls(frame.device_id, tuple(frame.payload.rstrip(b"\0")))


@dataclass(frozen=True, slots=True)
class HeartbeatFrequency(OneIdPacket):
    """How often a device reports by itself [Hz]; zero turns it off, and may go to all.

    The arm saves it, so that it survives a crashed session: set zero on exit.
    """

    ID = PacketId.HEARTBEAT_FREQUENCY

    frequency: int
    """0..255."""

    def __post_init__(self) -> None:
        check_byte("frequency", self.frequency)
        if self.device != BROADCAST or self.frequency:
            check_joint(self.device)

    def payload(self) -> bytes:
        """Return the one byte."""
        return bytes((self.frequency,))

    @classmethod
    def from_frame(cls, frame: Frame) -> HeartbeatFrequency:
        """Return the packet."""
        check_size(frame.payload, 1)
        return cls(frame.device_id, frame.payload[0])


@dataclass(frozen=True, slots=True)
class Save(OneIdPacket):
    """Keep the settings of one device over power-off."""

    ID = PacketId.SAVE

    def __post_init__(self) -> None:
        check_joint(self.device)

    def payload(self) -> bytes:
        """Return the one zero that the packet carries."""
        return b"\0"

    @classmethod
    def from_frame(cls, frame: Frame) -> Save:
        """Return the packet."""
        if frame.payload != b"\0":
            raise PacketError("bad_payload", f"payload {frame.payload.hex()}; SAVE carries 00")
        return cls(frame.device_id)
