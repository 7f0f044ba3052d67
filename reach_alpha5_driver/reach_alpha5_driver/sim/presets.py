"""Presets: postures that the base unit keeps, and goes to for as long as it is told to.

Eight numbers a preset, in device units. The protocol does not tell whose they are. A guess: those
of the devices 1 to 5 in this order, then zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from reach_alpha5_driver.sim.firmware import Device
from reach_alpha5_driver.sim.ids import Packet
from reach_alpha5_driver.sim.payloads import PayloadError, packed, read_byte, read_floats

SLOTS = 4
VALUES = 8
NAME_SIZE = 8

GO_LIFETIME = 0.1
"""A go that is not repeated within this has ended: the protocol asks for more than 10 Hz [s]."""


@dataclass(slots=True)
class Preset:
    """One posture, in device units, and its name as it travels."""

    values: tuple[float, ...] = (0.0,) * VALUES
    name: bytes = bytes(NAME_SIZE)


class Presets:
    """What the base unit does besides turning its joint: an `Extension` of its device."""

    def __init__(self, devices: Mapping[int, Device]) -> None:
        self.slots = [Preset() for _ in range(SLOTS)]
        self._devices = devices
        self.save()

    @property
    def settings(self) -> Mapping[int, Callable[[bytes, float], None]]:
        """See `Extension`."""
        table: dict[int, Callable[[bytes, float], None]] = {
            Packet.PRESET_GO: self._go,
            Packet.PRESET_CAPTURE: self._capture,
        }
        for slot, preset in enumerate(self.slots):
            table[Packet.PRESET_VALUES_0 + slot] = partial(_set_values, preset)
            table[Packet.PRESET_NAME_0 + slot] = partial(_set_name, preset)
        return table

    @property
    def reports(self) -> Mapping[int, Callable[[], bytes]]:
        """See `Extension`."""
        table: dict[int, Callable[[], bytes]] = {}
        for slot, preset in enumerate(self.slots):
            table[Packet.PRESET_VALUES_0 + slot] = partial(_values, preset)
            table[Packet.PRESET_NAME_0 + slot] = partial(_name, preset)
        return table

    def save(self) -> None:
        """See `Extension`."""
        self._flash = [(preset.values, preset.name) for preset in self.slots]

    def restore(self) -> None:
        """See `Extension`."""
        for preset, (values, name) in zip(self.slots, self._flash, strict=True):
            preset.values, preset.name = values, name

    def _go(self, data: bytes, now: float) -> None:
        """Let each joint go to its value; each ignores one that is outside its limits."""
        values = self._slot(data).values
        for device_id, device in self._devices.items():
            if device.answers:
                device.joint.advance(now)
                device.joint.demand_preset(values[device_id - 1], now + GO_LIFETIME)

    def _capture(self, data: bytes, now: float) -> None:
        values = [0.0] * VALUES
        for device_id, device in self._devices.items():
            device.joint.advance(now)
            values[device_id - 1] = device.joint.reported_position
        self._slot(data).values = tuple(values)

    def _slot(self, data: bytes) -> Preset:
        slot = read_byte(data)
        if slot >= SLOTS:
            raise PayloadError
        return self.slots[slot]


def _values(preset: Preset) -> bytes:
    return packed(*preset.values)


def _name(preset: Preset) -> bytes:
    return preset.name


def _set_values(preset: Preset, data: bytes, now: float) -> None:
    preset.values = read_floats(data, VALUES)


def _set_name(preset: Preset, data: bytes, now: float) -> None:
    if len(data) != NAME_SIZE:
        raise PayloadError
    preset.name = data
