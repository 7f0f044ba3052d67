"""Packets that a device only answers with: what it measures and what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, TypeVar

from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.ids import PacketId
from reach_alpha5_driver.protocol.packet import (
    OneIdPacket,
    Packet,
    PacketError,
    check_byte,
    check_finite,
    check_joint,
    check_size,
    pack_floats,
    unpack_floats,
)
from reach_alpha5_driver.protocol.status import STATUS_BYTES, flag_bytes, flag_names

_R = TypeVar("_R", bound="Reading")

PASCAL_PER_BAR: Final = 1e5


@dataclass(frozen=True, slots=True)
class Reading(OneIdPacket):
    """One number, in the unit of the class."""

    value: float

    def __post_init__(self) -> None:
        check_joint(self.device)
        check_finite(self.value)

    def payload(self) -> bytes:
        """Return the number as a float32."""
        return pack_floats(self.value)

    @classmethod
    def from_frame(cls: type[_R], frame: Frame) -> _R:
        """Return the packet."""
        return cls(frame.device_id, *unpack_floats(frame.payload, 1))


@dataclass(frozen=True, slots=True)
class SerialNumber(Reading):
    """The device's serial number."""

    ID = PacketId.SERIAL_NUMBER


@dataclass(frozen=True, slots=True)
class ModelNumber(Reading):
    """The device's model number."""

    ID = PacketId.MODEL_NUMBER


@dataclass(frozen=True, slots=True)
class Humidity(Reading):
    """Relative humidity inside the device [%]."""

    ID = PacketId.HUMIDITY


@dataclass(frozen=True, slots=True)
class Temperature(Reading):
    """Temperature inside the device [°C]."""

    ID = PacketId.TEMPERATURE


@dataclass(frozen=True, slots=True)
class Voltage(Reading):
    """Supply voltage at the device [V]."""

    ID = PacketId.VOLTAGE


@dataclass(frozen=True, slots=True)
class FactoryClimate(OneIdPacket):
    """The air that was sealed in: temperature [°C], pressure [Pa], relative humidity [%]."""

    ID = PacketId.FACTORY_CLIMATE

    temperature: float
    pressure: float
    humidity: float

    def __post_init__(self) -> None:
        check_joint(self.device)
        check_finite(self.temperature, self.pressure, self.humidity)

    def payload(self) -> bytes:
        """Return the three numbers, the pressure in bar."""
        return pack_floats(self.temperature, self.pressure / PASCAL_PER_BAR, self.humidity)

    @classmethod
    def from_frame(cls, frame: Frame) -> FactoryClimate:
        """Return the packet, the pressure in pascals."""
        temperature, pressure, humidity = unpack_floats(frame.payload, 3)
        return cls(frame.device_id, temperature, pressure * PASCAL_PER_BAR, humidity)


@dataclass(frozen=True, slots=True)
class FirmwareClimate(Packet):
    """Packets 0x67 and 0x6E: a temperature or a humidity, which one depends on the firmware.

    Only the length tells what the payload is, so no unit is claimed for it.
    """

    FLOAT_SIZE: ClassVar[int] = 4
    """Size of a payload that is one float32; a shorter one is made of single bytes [bytes]."""

    packet_id: PacketId
    raw: bytes

    def __post_init__(self) -> None:
        check_joint(self.device)
        check_byte("payload size", len(self.raw), 1, self.FLOAT_SIZE)
        check_finite(*self.values)

    @property
    def values(self) -> tuple[float, ...]:
        """The float32 of a payload of four bytes; the bytes of a shorter one."""
        return unpack_floats(self.raw, 1) if len(self.raw) == self.FLOAT_SIZE else tuple(self.raw)

    def to_frame(self) -> Frame:
        """Return the packet as a frame."""
        return Frame(self.device, self.packet_id, self.raw)

    @classmethod
    def from_frame(cls, frame: Frame) -> FirmwareClimate:
        """Return the packet."""
        return cls(frame.device_id, PacketId(frame.packet_id), frame.payload)


@dataclass(frozen=True, slots=True)
class HardwareStatus(OneIdPacket):
    """The faults that a device reports, by the names in `status.STATUS_BITS`, in their order."""

    ID = PacketId.HARDWARE_STATUS

    flags: tuple[str, ...]

    def __post_init__(self) -> None:
        check_joint(self.device)

    def payload(self) -> bytes:
        """Return the four status bytes; an unknown name is `bad_payload`."""
        try:
            return flag_bytes(self.flags)
        except KeyError as error:
            raise PacketError("bad_payload", f"{error} is no status flag") from None

    @classmethod
    def from_frame(cls, frame: Frame) -> HardwareStatus:
        """Return the packet."""
        check_size(frame.payload, STATUS_BYTES)
        return cls(frame.device_id, flag_names(frame.payload))


@dataclass(frozen=True, slots=True)
class SoftwareVersion(OneIdPacket):
    """The firmware of a device: three numbers of 0..255."""

    ID = PacketId.SOFTWARE_VERSION

    major: int
    minor: int
    patch: int

    def __post_init__(self) -> None:
        check_joint(self.device)
        for number in (self.major, self.minor, self.patch):
            check_byte("version number", number)

    def payload(self) -> bytes:
        """Return the three bytes."""
        return bytes((self.major, self.minor, self.patch))

    @classmethod
    def from_frame(cls, frame: Frame) -> SoftwareVersion:
        """Return the packet."""
        check_size(frame.payload, 3)
        return cls(frame.device_id, *frame.payload)
