"""Packets of the base unit: presets, the tip, and the obstacles that the arm keeps."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar, Final, TypeVar

from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.ids import PacketId
from reach_alpha5_driver.protocol.packet import (
    OneIdPacket,
    Packet,
    PacketError,
    check_base_unit,
    check_byte,
    check_finite,
    check_size,
    pack_floats,
    unpack_floats,
)

_S = TypeVar("_S", bound="PresetSlot")
_N = TypeVar("_N", bound="BaseNumbers")
_O = TypeVar("_O", bound="Obstacle")

SLOTS: Final = 4
"""Presets, boxes and cylinders that the arm keeps, of each."""

NAME_SIZE: Final = 8
PRESET_VALUES: Final = 8

MM: Final = 1000.0
"""Millimetres in a metre."""


@dataclass(frozen=True, slots=True)
class PresetSlot(OneIdPacket):
    """A preset, by its slot."""

    slot: int
    """0..3."""

    def __post_init__(self) -> None:
        check_base_unit(self.device)
        check_byte("slot", self.slot, 0, SLOTS - 1)

    def payload(self) -> bytes:
        """Return the slot."""
        return bytes((self.slot,))

    @classmethod
    def from_frame(cls: type[_S], frame: Frame) -> _S:
        """Return the packet."""
        check_size(frame.payload, 1)
        return cls(frame.device_id, frame.payload[0])


@dataclass(frozen=True, slots=True)
class PresetGo(PresetSlot):
    """Go to a preset. Must be repeated above 10 Hz."""

    ID = PacketId.PRESET_GO


@dataclass(frozen=True, slots=True)
class PresetCapture(PresetSlot):
    """Make the present posture a preset."""

    ID = PacketId.PRESET_CAPTURE


@dataclass(frozen=True, slots=True)
class PresetValues(Packet):
    """The eight numbers of a preset, in wire units: the protocol does not tell whose they are."""

    slot: int
    """0..3."""
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        check_base_unit(self.device)
        check_byte("slot", self.slot, 0, SLOTS - 1)
        check_byte("number of values", len(self.values), PRESET_VALUES, PRESET_VALUES)
        check_finite(*self.values)

    def to_frame(self) -> Frame:
        """Return the packet as a frame."""
        packet_id = PacketId.PRESET_VALUES_0 + self.slot
        return Frame(self.device, packet_id, pack_floats(*self.values))

    @classmethod
    def from_frame(cls, frame: Frame) -> PresetValues:
        """Return the packet."""
        slot = frame.packet_id - PacketId.PRESET_VALUES_0
        return cls(frame.device_id, slot, unpack_floats(frame.payload, PRESET_VALUES))


@dataclass(frozen=True, slots=True)
class PresetName(Packet):
    """The name of a preset."""

    slot: int
    """0..3."""
    name: str
    """At most eight characters of ASCII, without zeros at the end."""

    def __post_init__(self) -> None:
        check_base_unit(self.device)
        check_byte("slot", self.slot, 0, SLOTS - 1)
        check_byte("length of the name", len(self.name), 0, NAME_SIZE)
        if not self.name.isascii() or self.name.endswith("\0"):
            raise PacketError("bad_payload", f"name {self.name!r} is not plain ASCII")

    def to_frame(self) -> Frame:
        """Return the packet as a frame, filled up with zeros."""
        payload = self.name.encode("ascii").ljust(NAME_SIZE, b"\0")
        return Frame(self.device, PacketId.PRESET_NAME_0 + self.slot, payload)

    @classmethod
    def from_frame(cls, frame: Frame) -> PresetName:
        """Return the packet."""
        check_size(frame.payload, NAME_SIZE)
        # Latin-1 takes any byte; the check for ASCII is made once, above.
        name = frame.payload.rstrip(b"\0").decode("latin-1")
        return cls(frame.device_id, frame.packet_id - PacketId.PRESET_NAME_0, name)


@dataclass(frozen=True, slots=True)
class BaseNumbers(OneIdPacket):
    """Numbers of the base unit. Lengths are millimetres on the wire."""

    FIELDS: ClassVar[tuple[str, ...]]
    """Name and unit of each value."""
    WIRE_PER_SI: ClassVar[tuple[float, ...]]
    """Wire units in one SI unit, of each value."""

    values: tuple[float, ...]
    """As `FIELDS` lists them, in SI units."""

    def __post_init__(self) -> None:
        check_base_unit(self.device)
        check_byte("number of values", len(self.values), len(self.FIELDS), len(self.FIELDS))
        check_finite(*self.values)

    def payload(self) -> bytes:
        """Return the values in wire units."""
        return pack_floats(*(v * s for v, s in zip(self.values, self.WIRE_PER_SI, strict=True)))

    @classmethod
    def from_frame(cls: type[_N], frame: Frame) -> _N:
        """Return the packet, in SI units."""
        wire = unpack_floats(frame.payload, len(cls.FIELDS))
        values = tuple(v / s for v, s in zip(wire, cls.WIRE_PER_SI, strict=True))
        return cls(frame.device_id, values)


@dataclass(frozen=True, slots=True)
class EndPosition(BaseNumbers):
    """Where the tip is, or shall go; inverse kinematics is off in standard arms."""

    ID = PacketId.END_POSITION
    FIELDS = ("x_m", "y_m", "z_m", "yaw_rad", "pitch_rad", "roll_rad")
    WIRE_PER_SI = (MM, MM, MM, 1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class EndVelocity(BaseNumbers):
    """How the tip moves, or shall; inverse kinematics is off in standard arms."""

    ID = PacketId.END_VELOCITY
    FIELDS = ("x_m_s", "y_m_s", "z_m_s", "yaw_rad_s", "pitch_rad_s", "roll_rad_s")
    WIRE_PER_SI = (MM, MM, MM, 1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Coordinates(BaseNumbers):
    """A point that the arm reports [m]."""

    ID = PacketId.COORDINATES
    FIELDS = ("x_m", "y_m", "z_m")
    WIRE_PER_SI = (MM, MM, MM)


@dataclass(frozen=True, slots=True)
class Obstacle(Packet):
    """A volume that the arm keeps out of; the arm saves it. All numbers in metres."""

    FIRST: ClassVar[PacketId]
    """Packet id of slot 0."""
    COUNT: ClassVar[int]
    """Numbers that describe the volume."""

    slot: int
    """0..3."""
    values: tuple[float, ...]
    """In the order of the wire [m]."""

    def __post_init__(self) -> None:
        check_base_unit(self.device)
        check_byte("slot", self.slot, 0, SLOTS - 1)
        check_byte("number of values", len(self.values), self.COUNT, self.COUNT)
        check_finite(*self.values)

    def to_frame(self) -> Frame:
        """Return the packet as a frame, in millimetres."""
        payload = pack_floats(*(value * MM for value in self.values))
        return Frame(self.device, self.FIRST + self.slot, payload)

    @classmethod
    def from_frame(cls: type[_O], frame: Frame) -> _O:
        """Return the packet, in metres."""
        values = tuple(value / MM for value in unpack_floats(frame.payload, cls.COUNT))
        return cls(frame.device_id, frame.packet_id - cls.FIRST, values)


@dataclass(frozen=True, slots=True)
class BoxObstacle(Obstacle):
    """A box: six numbers."""

    FIRST = PacketId.BOX_0
    COUNT = 6


@dataclass(frozen=True, slots=True)
class CylinderObstacle(Obstacle):
    """A cylinder: seven numbers."""

    FIRST = PacketId.CYLINDER_0
    COUNT = 7


class CollisionKind(enum.IntEnum):
    """What the arm holds back from."""

    NONE = 0
    SIBLING = 1
    SELF = 2
    OBSTACLE = 3


@dataclass(frozen=True, slots=True)
class Collision(OneIdPacket):
    """What the arm's own collision check says."""

    ID = PacketId.COLLISION

    kind: CollisionKind
    count: int
    obstacle: int

    def __post_init__(self) -> None:
        check_base_unit(self.device)
        check_byte("count", self.count)
        check_byte("obstacle", self.obstacle)

    def payload(self) -> bytes:
        """Return the three bytes."""
        return bytes((self.kind, self.count, self.obstacle))

    @classmethod
    def from_frame(cls, frame: Frame) -> Collision:
        """Return the packet; a kind that the protocol does not list is `bad_payload`."""
        check_size(frame.payload, 3)
        kind, count, obstacle = frame.payload
        check_byte("collision type", kind, 0, max(CollisionKind))
        return cls(frame.device_id, CollisionKind(kind), count, obstacle)
