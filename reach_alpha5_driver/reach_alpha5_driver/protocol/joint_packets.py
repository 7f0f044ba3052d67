"""Packets about a joint's motion: mode, values and limits. Radians or metres, and amperes.

The same packet goes both ways: sent it is a demand, received it is a report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, TypeVar

from reach_alpha5_driver.devices import BROADCAST, DEVICES
from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.ids import Mode, PacketId
from reach_alpha5_driver.protocol.packet import (
    OneIdPacket,
    PacketError,
    check_finite,
    check_joint,
    check_joint_or_all,
    check_size,
    pack_floats,
    unpack_floats,
)

_V = TypeVar("_V", bound="JointValue")
_L = TypeVar("_L", bound="Limits")

_LENGTH_OR_ANGLE: Final[Mapping[int, float]] = {d.id: d.wire_per_si for d in DEVICES}
_CURRENT: Final[Mapping[int, float]] = {d.id: 1000.0 for d in DEVICES}
"""Wire units in one SI unit, by device: rad or mm, and mA."""


@dataclass(frozen=True, slots=True)
class SetMode(OneIdPacket):
    """The mode that a device, or all, shall take; received: the mode that a device has."""

    ID = PacketId.MODE

    mode: Mode

    def __post_init__(self) -> None:
        check_joint_or_all(self.device)

    def payload(self) -> bytes:
        """Return the mode byte."""
        return bytes((self.mode,))

    @classmethod
    def from_frame(cls, frame: Frame) -> SetMode:
        """Return the packet; a mode that the protocol does not list is `bad_payload`."""
        check_size(frame.payload, 1)
        try:
            mode = Mode(frame.payload[0])
        except ValueError:
            raise PacketError(
                "bad_payload", f"mode 0x{frame.payload[0]:02x} is not known"
            ) from None
        return cls(frame.device_id, mode)


@dataclass(frozen=True, slots=True)
class JointValue(OneIdPacket):
    """One number of a joint, in units that differ by device.

    No other number than zero can be meant for all devices at once: a broadcast of 3 is 3 rad/s for
    four of them and 3 mm/s for the jaws.
    """

    FOR_ALL: ClassVar[bool] = False
    """Whether zero may go to all devices."""
    WIRE_PER_SI: ClassVar[Mapping[int, float]] = _LENGTH_OR_ANGLE
    """Wire units in one SI unit, by device."""

    value: float
    """In the unit of the class, of rad or m by device."""

    def __post_init__(self) -> None:
        check_finite(self.value)
        if self.device in self.WIRE_PER_SI:
            return
        if self.device != BROADCAST or not self.FOR_ALL:
            check_joint(self.device)
        elif self.value != 0:
            raise PacketError(
                "bad_payload", "only zero may go to all devices at once: their units differ"
            )

    def payload(self) -> bytes:
        """Return the value in device units."""
        return pack_floats(self.value * self.WIRE_PER_SI.get(self.device, 1.0))

    @classmethod
    def from_frame(cls: type[_V], frame: Frame) -> _V:
        """Return the packet, in SI units."""
        (value,) = unpack_floats(frame.payload, 1)
        device = frame.device_id
        return cls(device, value / cls.WIRE_PER_SI.get(device, 1.0))


@dataclass(frozen=True, slots=True)
class Velocity(JointValue):
    """Joint velocity [rad/s, m/s]. A demand stands until the next one: the arm has no watchdog."""

    ID = PacketId.VELOCITY
    FOR_ALL = True


@dataclass(frozen=True, slots=True)
class Position(JointValue):
    """Joint position [rad, m]. Never for all: position zero is a motion, not a stop."""

    ID = PacketId.POSITION


@dataclass(frozen=True, slots=True)
class Current(JointValue):
    """Motor current [A]."""

    ID = PacketId.CURRENT
    FOR_ALL = True
    WIRE_PER_SI = _CURRENT


@dataclass(frozen=True, slots=True)
class IndexedRelativePosition(JointValue):
    """A position relative to where the index was set [rad, m]."""

    ID = PacketId.INDEXED_RELATIVE_POSITION


@dataclass(frozen=True, slots=True)
class RelativePosition(JointValue):
    """A position relative to the present one [rad, m]; the old form."""

    ID = PacketId.RELATIVE_POSITION


@dataclass(frozen=True, slots=True)
class PositionVelocity(OneIdPacket):
    """Go to a position [rad, m] at a velocity [rad/s, m/s]."""

    ID = PacketId.POSITION_VELOCITY

    position: float
    velocity: float

    def __post_init__(self) -> None:
        check_joint(self.device)
        check_finite(self.position, self.velocity)

    def payload(self) -> bytes:
        """Return position and velocity in device units."""
        scale = _LENGTH_OR_ANGLE[self.device]
        return pack_floats(self.position * scale, self.velocity * scale)

    @classmethod
    def from_frame(cls, frame: Frame) -> PositionVelocity:
        """Return the packet, in SI units."""
        check_joint(frame.device_id)
        scale = _LENGTH_OR_ANGLE[frame.device_id]
        position, velocity = unpack_floats(frame.payload, 2)
        return cls(frame.device_id, position / scale, velocity / scale)


@dataclass(frozen=True, slots=True)
class Limits(OneIdPacket):
    """The range that a device keeps to. On the wire the maximum comes first.

    A device that has no limit of its own reports [0, 0]. That never means that it may not move:
    both ends are None then.
    """

    WIRE_PER_SI: ClassVar[Mapping[int, float]] = _LENGTH_OR_ANGLE
    """Wire units in one SI unit, by device."""

    lower: float | None
    upper: float | None

    def __post_init__(self) -> None:
        check_joint(self.device)
        if self.lower is None and self.upper is None:
            return
        if self.lower is None or self.upper is None:
            raise PacketError("bad_payload", "a limit has two ends or none")
        check_finite(self.lower, self.upper)
        if self.lower > self.upper:
            raise PacketError(
                "bad_payload", f"lower limit {self.lower} is above the upper one, {self.upper}"
            )
        if self.lower == self.upper == 0:
            raise PacketError("bad_payload", "[0, 0] means no limit: give none for both ends")

    def payload(self) -> bytes:
        """Return maximum and minimum in device units."""
        if self.lower is None or self.upper is None:
            return pack_floats(0.0, 0.0)
        scale = self.WIRE_PER_SI[self.device]
        payload = pack_floats(self.upper * scale, self.lower * scale)
        if unpack_floats(payload, 2) == (0.0, 0.0):
            raise PacketError(
                "bad_payload", "the range is so narrow that a float32 makes it [0, 0]: no limit"
            )
        return payload

    @classmethod
    def from_frame(cls: type[_L], frame: Frame) -> _L:
        """Return the packet, in SI units."""
        check_joint(frame.device_id)
        upper, lower = unpack_floats(frame.payload, 2)
        if lower == upper == 0:
            return cls(frame.device_id, None, None)
        scale = cls.WIRE_PER_SI[frame.device_id]
        return cls(frame.device_id, lower / scale, upper / scale)


@dataclass(frozen=True, slots=True)
class PositionLimits(Limits):
    """Range of positions [rad, m]."""

    ID = PacketId.POSITION_LIMITS


@dataclass(frozen=True, slots=True)
class VelocityLimits(Limits):
    """Range of velocities [rad/s, m/s]."""

    ID = PacketId.VELOCITY_LIMITS


@dataclass(frozen=True, slots=True)
class CurrentLimits(Limits):
    """Range of motor currents [A]."""

    ID = PacketId.CURRENT_LIMITS
    WIRE_PER_SI = _CURRENT
