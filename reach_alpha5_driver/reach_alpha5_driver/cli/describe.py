"""Frames and damage as plain dictionaries, for people and for JSON: units are in the key names."""

from __future__ import annotations

from reach_alpha5_driver.devices import BROADCAST, BY_ID
from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.decoder import Damaged
from reach_alpha5_driver.protocol.packets import (
    BaseNumbers,
    Collision,
    Current,
    CurrentLimits,
    FactoryClimate,
    FirmwareClimate,
    HardwareStatus,
    HeartbeatFrequency,
    HeartbeatPackets,
    Humidity,
    JointValue,
    Limits,
    ModelNumber,
    Obstacle,
    Packet,
    PacketError,
    PacketId,
    PositionLimits,
    PositionVelocity,
    PresetCapture,
    PresetGo,
    PresetName,
    PresetValues,
    Request,
    SerialNumber,
    SetMode,
    SoftwareVersion,
    Temperature,
    Velocity,
    VelocityLimits,
    Voltage,
    parse,
)

Description = dict[str, object]


def describe(event: Frame | Damaged) -> Description:
    """Return what a frame says, or why it is refused (`refused`, `reason`)."""
    if isinstance(event, Damaged):
        return refusal(event.damage.value, event.reason) | {"raw": event.raw.hex()}
    head: Description = {
        "device": event.device_id,
        "joint": _joint(event.device_id),
        "packet": packet_name(event.packet_id),
    }
    try:
        return head | _values(parse(event))
    except PacketError as error:
        return head | refusal(error.code, error.reason) | {"payload": event.payload.hex()}


def refusal(code: str, reason: str) -> Description:
    """Return the two entries that each refused frame has."""
    return {"refused": code, "reason": reason}


def packet_name(packet_id: int) -> str:
    """Return the name of a packet id, or its number in hex."""
    try:
        return PacketId(packet_id).name.lower()
    except ValueError:
        return f"0x{packet_id:02x}"


def _joint(device: int) -> str | None:
    if device == BROADCAST:
        return "all"
    return BY_ID[device].joint if device in BY_ID else None


def _number(value: float) -> float:
    """Return `value` with the seven digits that a float32 is good for."""
    return float(f"{value:.7g}")


def _end(value: float | None) -> float | None:
    return None if value is None else _number(value)


def _key(name: str, device: int, *, rate: bool = False) -> str:
    """Return a key with the unit of a joint. Zero for all devices has none."""
    if device == BROADCAST:
        return name
    return f"{name}_{BY_ID[device].unit}" + ("_s" if rate else "")


def _limit_key(packet: Limits) -> str:
    match packet:
        case PositionLimits():
            return _key("{}_position", packet.device)
        case VelocityLimits():
            return _key("{}_velocity", packet.device, rate=True)
        case CurrentLimits():
            return "{}_current_a"
    raise TypeError(packet)


def _values(packet: Packet) -> Description:
    """Return the values of a packet."""
    match packet:
        case SetMode(mode=mode):
            return {"mode": mode.name.lower()}
        case Current(value=value):
            return {"current_a": _number(value)}
        case Velocity(device=device, value=value):
            return {_key("velocity", device, rate=True): _number(value)}
        case JointValue(device=device, value=value):
            return {_key("position", device): _number(value)}
        case PositionVelocity(device=device, position=position, velocity=velocity):
            return {
                _key("position", device): _number(position),
                _key("velocity", device, rate=True): _number(velocity),
            }
        case Limits(lower=lower, upper=upper):
            key = _limit_key(packet)
            return {key.format("lower"): _end(lower), key.format("upper"): _end(upper)}
        case Request(packet_ids=ids) | HeartbeatPackets(packet_ids=ids):
            return {"packets": [packet_name(packet_id) for packet_id in ids]}
        case HeartbeatFrequency(frequency=frequency):
            return {"frequency_hz": frequency}
        case SerialNumber(value=value):
            return {"serial_number": _number(value)}
        case ModelNumber(value=value):
            return {"model_number": _number(value)}
        case Humidity(value=value):
            return {"humidity_percent": _number(value)}
        case Temperature(value=value):
            return {"temperature_c": _number(value)}
        case Voltage(value=value):
            return {"voltage_v": _number(value)}
        case HardwareStatus(flags=flags):
            return {"flags": list(flags)}
        case SoftwareVersion(major=major, minor=minor, patch=patch):
            return {"version": f"{major}.{minor}.{patch}"}
        case FactoryClimate(temperature=temperature, pressure=pressure, humidity=humidity):
            return {
                "temperature_c": _number(temperature),
                "pressure_pa": _number(pressure),
                "humidity_percent": _number(humidity),
            }
        case FirmwareClimate(values=values):
            return {"values_unit_by_firmware": [_number(value) for value in values]}
        case PresetGo(slot=slot) | PresetCapture(slot=slot):
            return {"slot": slot}
        case PresetValues(slot=slot, values=values):
            return {"slot": slot, "values_device_units": [_number(value) for value in values]}
        case PresetName(slot=slot, name=name):
            return {"slot": slot, "name": name}
        case BaseNumbers(values=values):
            return {key: _number(value) for key, value in zip(packet.FIELDS, values, strict=True)}
        case Obstacle(slot=slot, values=values):
            return {"slot": slot, "values_m": [_number(value) for value in values]}
        case Collision(kind=kind, count=count, obstacle=obstacle):
            return {"collision": kind.name.lower(), "count": count, "obstacle": obstacle}
    return {}
