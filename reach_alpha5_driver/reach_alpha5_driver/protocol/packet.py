"""What all typed packets share: the refusal, the checks, and float32s on the wire."""

from __future__ import annotations

import math
import struct
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final, TypeVar

from reach_alpha5_driver.devices import BASE_UNIT, BROADCAST, BY_ID
from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.ids import PacketId

MAX_FLOATS: Final = 8
_FLOATS: Final = tuple(struct.Struct(f"<{count}f") for count in range(MAX_FLOATS + 1))

_P = TypeVar("_P", bound="Packet")


class PacketError(ValueError):
    """A frame that is no packet of the protocol, or a packet that must not become a frame.

    `code` is `unknown_device`, `unknown_packet` or `bad_payload`: the counter in `LinkCounters`.
    """

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Packet(ABC):
    """A typed packet, in SI units. Making one checks it, whether it came off the wire or not.

    Raises:
        PacketError: when made, with a device or value that the packet cannot have; by `to_frame`,
            when a number does not fit a float32.
    """

    device: int
    """Device id on the bus: `reach_alpha5_driver.devices`."""

    @abstractmethod
    def to_frame(self) -> Frame:
        """Return the packet as a frame, in device units."""

    @classmethod
    @abstractmethod
    def from_frame(cls: type[_P], frame: Frame) -> _P:
        """Return the packet in `frame`, whose packet id is one of this class."""


@dataclass(frozen=True, slots=True)
class OneIdPacket(Packet):
    """A packet that has one packet id to itself, as nearly all have."""

    ID: ClassVar[PacketId]

    def to_frame(self) -> Frame:
        """Return the packet as a frame, in device units."""
        return Frame(self.device, self.ID, self.payload())

    @abstractmethod
    def payload(self) -> bytes:
        """Return the payload of the frame, in device units."""


def check_joint(device: int) -> None:
    """Refuse all but the five devices.

    Raises:
        PacketError: `unknown_device`.
    """
    if device not in BY_ID:
        if device == BROADCAST:
            raise PacketError("unknown_device", "this packet must name one device, not all")
        raise PacketError("unknown_device", f"device 0x{device:02x} is not on the arm: 1..5 are")


def check_joint_or_all(device: int) -> None:
    """Refuse all but the five devices and the broadcast.

    Raises:
        PacketError: `unknown_device`.
    """
    if device != BROADCAST:
        check_joint(device)


def check_base_unit(device: int) -> None:
    """Refuse all but the base unit.

    Raises:
        PacketError: `unknown_device`.
    """
    if device != BASE_UNIT:
        raise PacketError(
            "unknown_device",
            f"only the base unit, device {BASE_UNIT}, has this packet, not 0x{device:02x}",
        )


def check_finite(*values: float) -> None:
    """Refuse a NaN and infinities.

    Raises:
        PacketError: `bad_payload`.
    """
    if not all(map(math.isfinite, values)):
        raise PacketError("bad_payload", f"{values} must be finite numbers")


def check_byte(name: str, value: int, lowest: int = 0, highest: int = 255) -> None:
    """Refuse a number outside `lowest..highest`.

    Raises:
        PacketError: `bad_payload`.
    """
    if not lowest <= value <= highest:
        raise PacketError("bad_payload", f"{name} {value} is not in {lowest}..{highest}")


def check_size(payload: bytes, size: int) -> None:
    """Refuse a payload that has not exactly `size` bytes.

    Raises:
        PacketError: `bad_payload`.
    """
    if len(payload) != size:
        raise PacketError(
            "bad_payload", f"payload of {len(payload)} bytes; this packet has {size}"
        )


def pack_floats(*values: float) -> bytes:
    """Return `values` as little-endian float32s.

    Raises:
        PacketError: `bad_payload`, when one is too large for a float32.
    """
    try:
        return _FLOATS[len(values)].pack(*values)
    except OverflowError:
        raise PacketError("bad_payload", f"{max(values, key=abs)} overflows a float32") from None


def unpack_floats(payload: bytes, count: int) -> tuple[float, ...]:
    """Return the `count` little-endian float32s that are the whole payload.

    Raises:
        PacketError: `bad_payload`, when the size is another.
    """
    layout = _FLOATS[count]
    if len(payload) != layout.size:
        check_size(payload, layout.size)
    values: tuple[float, ...] = layout.unpack(payload)
    return values
