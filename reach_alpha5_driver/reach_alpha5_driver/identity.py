"""What the five devices of the arm say of themselves, and the limits that follow from it.

All values are SI; joints stand in chain order. NaN = the device has not said, an infinity = it has
no limit (it reports [0, 0], which never means that it may not move).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from reach_alpha5_driver.devices import DEVICES, Device
from reach_alpha5_driver.protocol.packets import (
    CurrentLimits,
    FactoryClimate,
    HardwareStatus,
    Humidity,
    Limits,
    Mode,
    ModelNumber,
    Packet,
    Position,
    PositionLimits,
    SerialNumber,
    SetMode,
    SoftwareVersion,
    Temperature,
    VelocityLimits,
    Voltage,
)


@dataclass(frozen=True, slots=True)
class DeviceIdentity:
    """What one device said of itself; the first ten fields are those of `DeviceInfo`."""

    identified: bool = False
    """All that must be known before its joint may move is known."""
    serial_number: float = math.nan
    model_number: float = math.nan
    firmware: str = ""
    """`major.minor.patch`; empty = it has not said."""
    position_lower: float = math.nan
    position_upper: float = math.nan
    velocity_lower: float = math.nan
    velocity_upper: float = math.nan
    current_lower: float = math.nan
    current_upper: float = math.nan
    mode: Mode | None = None
    position: float = math.nan
    """Where its joint stood, if that was asked [rad, m]."""
    temperature: float = math.nan
    """[°C]"""
    humidity: float = math.nan
    """[%]"""
    voltage: float = math.nan
    """[V]"""
    flags: tuple[str, ...] | None = None
    """HARDWARE_STATUS bits that are set; None = it has not said."""
    sealed_temperature: float = math.nan
    """Of the air that was sealed in at the factory [°C]."""
    sealed_pressure: float = math.nan
    """[Pa]"""
    sealed_humidity: float = math.nan
    """[%]"""
    unanswered: tuple[str, ...] = ()
    """Names of what it was asked often enough and has not told."""
    unreadable: tuple[tuple[str, str], ...] = ()
    """Name and reason of what it answered in a way that makes no sense."""

    @classmethod
    def of(
        cls,
        packets: Iterable[Packet],
        *,
        identified: bool,
        unanswered: tuple[str, ...],
        unreadable: tuple[tuple[str, str], ...],
    ) -> DeviceIdentity:
        """Return what the packets of one device say together."""
        said: dict[str, Any] = {}
        for packet in packets:
            said |= _said(packet)
        return cls(identified=identified, unanswered=unanswered, unreadable=unreadable, **said)

    @property
    def speed(self) -> float:
        """Fastest that its joint may go both ways [rad/s, m/s]; NaN = not said."""
        fastest = min(-self.velocity_lower, self.velocity_upper)
        return fastest if math.isnan(fastest) else max(0.0, fastest)


NOBODY: Final = DeviceIdentity()
"""A device that has said nothing."""


@dataclass(frozen=True, slots=True)
class ArmIdentity:
    """What the five devices said of themselves, chain order."""

    devices: tuple[DeviceIdentity, ...] = (NOBODY,) * len(DEVICES)

    def joints(self) -> Iterable[tuple[Device, DeviceIdentity]]:
        """Return each device with what it said."""
        return zip(DEVICES, self.devices, strict=True)


@dataclass(frozen=True, slots=True)
class JointRanges:
    """Limits of the five joints, chain order [rad, m; rad/s, m/s]."""

    lower: Sequence[float]
    upper: Sequence[float]
    velocity: Sequence[float]


def effective_limits(identity: ArmIdentity, description: JointRanges) -> JointRanges:
    """Return what motion must keep to: the narrower of the arm's limits and the description's.

    A joint that is not identified, or whose two ranges have nothing in common, gets the velocity
    0: there is no place that it may go to.
    """
    lower, upper, velocity = [], [], []
    for device, said in identity.joints():
        # What is not known does not narrow: max and min keep their first argument against a NaN.
        low = max(description.lower[device.index], said.position_lower)
        high = min(description.upper[device.index], said.position_upper)
        fastest = min(description.velocity[device.index], said.speed)
        lower.append(low)
        upper.append(high)
        velocity.append(fastest if said.identified and low < high else 0.0)
    return JointRanges(tuple(lower), tuple(upper), tuple(velocity))


def _said(packet: Packet) -> dict[str, Any]:
    """Return the fields of `DeviceIdentity` that a packet fills."""
    match packet:
        case SerialNumber(value=value):
            return {"serial_number": value}
        case ModelNumber(value=value):
            return {"model_number": value}
        case SoftwareVersion(major=major, minor=minor, patch=patch):
            return {"firmware": f"{major}.{minor}.{patch}"}
        case SetMode(mode=mode):
            return {"mode": mode}
        case PositionLimits():
            return _ends("position", packet)
        case VelocityLimits():
            return _ends("velocity", packet)
        case CurrentLimits():
            return _ends("current", packet)
        case Position(value=value):
            return {"position": value}
        case Temperature(value=value):
            return {"temperature": value}
        case Humidity(value=value):
            return {"humidity": value}
        case Voltage(value=value):
            return {"voltage": value}
        case HardwareStatus(flags=flags):
            return {"flags": flags}
        case FactoryClimate(temperature=temperature, pressure=pressure, humidity=humidity):
            return {
                "sealed_temperature": temperature,
                "sealed_pressure": pressure,
                "sealed_humidity": humidity,
            }
    raise TypeError(packet)


def _ends(name: str, packet: Limits) -> dict[str, float]:
    return {
        f"{name}_lower": -math.inf if packet.lower is None else packet.lower,
        f"{name}_upper": math.inf if packet.upper is None else packet.upper,
    }
