"""What `alpha5-wire info` found, as tables for people and as JSON: units are in the key names."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reach_alpha5_driver.comparison import Mismatch, Severity
from reach_alpha5_driver.devices import Device
from reach_alpha5_driver.identity import ArmIdentity, DeviceIdentity

UNKNOWN = "?"
"""Stands for what a device has not said."""

NO_LIMIT = "none"

CONSEQUENCES = {
    Severity.HOLD: "the driver will not move it",
    Severity.NO_PLANS: "the driver will refuse planned motion",
    Severity.WARNING: "note",
}
"""What follows from a mismatch, for people."""

_WHO = ("joint", "id", "model", "serial", "firmware", "mode", "position", "flags")
_LIMITS = ("joint", "position limits", "velocity limits", "current limits")
_INSIDE = ("joint", "supply", "temperature", "humidity", "sealed at the factory")


def as_text(identity: ArmIdentity, found: Sequence[Mismatch]) -> str:
    """Return three tables with a row for each device, then what is not as it should be."""
    parts = [
        _table([_WHO, *(_who(*joint) for joint in identity.joints())]),
        _table([_LIMITS, *(_limits(*joint) for joint in identity.joints())]),
        _table([_INSIDE, *(_inside(*joint) for joint in identity.joints())]),
    ]
    if found:
        parts.append("\n".join(_line(mismatch) for mismatch in found))
    return "\n\n".join(parts)


def as_json(identity: ArmIdentity, found: Sequence[Mismatch]) -> dict[str, object]:
    """Return the same for programs; null = the device has not said, "none" = no limit."""
    return {
        "devices": [_device(*joint) for joint in identity.joints()],
        "mismatches": [
            {
                "code": each.code,
                "joint": each.joint or None,
                "severity": each.severity.name.lower(),
                "reason": each.reason,
            }
            for each in found
        ],
    }


def _who(device: Device, said: DeviceIdentity) -> tuple[str, ...]:
    flags = UNKNOWN if said.flags is None else ", ".join(said.flags) or "-"
    return (
        device.joint,
        str(device.id),
        _number(said.model_number),
        _number(said.serial_number),
        said.firmware or UNKNOWN,
        UNKNOWN if said.mode is None else said.mode.name.lower(),
        _number(said.position, device.unit),
        flags,
    )


def _limits(device: Device, said: DeviceIdentity) -> tuple[str, ...]:
    return (
        device.joint,
        _range(said.position_lower, said.position_upper, device.unit),
        _range(said.velocity_lower, said.velocity_upper, f"{device.unit}/s"),
        _range(said.current_lower, said.current_upper, "A"),
    )


def _inside(device: Device, said: DeviceIdentity) -> tuple[str, ...]:
    sealed = (
        _number(said.sealed_temperature, "°C"),
        _number(said.sealed_pressure, "Pa"),
        _number(said.sealed_humidity, "%"),
    )
    return (
        device.joint,
        _number(said.voltage, "V"),
        _number(said.temperature, "°C"),
        _number(said.humidity, "%"),
        UNKNOWN if math.isnan(said.sealed_pressure) else ", ".join(sealed),
    )


def _device(device: Device, said: DeviceIdentity) -> dict[str, object]:
    unit = device.unit
    return {
        "joint": device.joint,
        "device": device.id,
        "identified": said.identified,
        "model_number": _value(said.model_number),
        "serial_number": _value(said.serial_number),
        "firmware": said.firmware or None,
        "mode": None if said.mode is None else said.mode.name.lower(),
        f"position_{unit}": _value(said.position),
        f"position_limits_{unit}": _ends(said.position_lower, said.position_upper),
        f"velocity_limits_{unit}_s": _ends(said.velocity_lower, said.velocity_upper),
        "current_limits_a": _ends(said.current_lower, said.current_upper),
        "voltage_v": _value(said.voltage),
        "temperature_c": _value(said.temperature),
        "humidity_percent": _value(said.humidity),
        "sealed_temperature_c": _value(said.sealed_temperature),
        "sealed_pressure_pa": _value(said.sealed_pressure),
        "sealed_humidity_percent": _value(said.sealed_humidity),
        "flags": None if said.flags is None else list(said.flags),
    }


def _line(mismatch: Mismatch) -> str:
    return f"{CONSEQUENCES[mismatch.severity]}: {mismatch.label}: {mismatch.reason}"


def _number(value: float, unit: str = "") -> str:
    return UNKNOWN if math.isnan(value) else f"{value:.7g} {unit}".rstrip()


def _range(lower: float, upper: float, unit: str) -> str:
    if math.isnan(lower):
        return UNKNOWN
    if math.isinf(lower):
        return NO_LIMIT
    return f"{lower:.4g} to {upper:.4g} {unit}"


def _value(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.7g}")


def _ends(lower: float, upper: float) -> list[float] | str | None:
    if math.isnan(lower):
        return None
    return NO_LIMIT if math.isinf(lower) else [float(f"{end:.7g}") for end in (lower, upper)]


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
