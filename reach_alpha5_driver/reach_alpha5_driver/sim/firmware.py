"""The electronics of one joint: what it does with a frame, and what it answers.

Wrong, unknown or impossible frames get no answer at all: the protocol has neither ack nor nak.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass

from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.sim.ids import Mode, Packet
from reach_alpha5_driver.sim.joint import Joint, Range, clamp

MAX_REQUESTED = 10
"""Most ids of one REQUEST, and of the heartbeat list."""

STATUS_PERIOD = 1.0
"""Between two HARDWARE_STATUS that nobody asked for, while a flag is set [s]."""

TOO_HOT = 70.0
"""Motor temperature that raises `TEMPERATURE_FLAG` [°C]. A guess."""

TEMPERATURE_FLAG = 0x20
"""In the first byte of HARDWARE_STATUS."""

SUPPLY = 24.0
"""[V]"""

CABLE_RESISTANCE = 0.5
"""Makes the supply sag with the motor current [Ω]. A guess."""

HUMIDITY = 18.0
"""Inside the housing [%]."""

CLIMATE = (21.0, 0.92, 11.0)
"""Factory climate: [°C], [bar], [%]."""

SOFTWARE_VERSION = bytes((2, 3, 1))
MODEL_NUMBER = 5.0
FIRST_SERIAL_NUMBER = 5100.0

NOISE = {Packet.POSITION: 5e-4, Packet.VELOCITY: 5e-3, Packet.CURRENT: 3.0}
"""Standard deviation of telemetry at a noise setting of 1: [rad|mm], [rad/s|mm/s], [mA]."""

FLOAT32 = (-3.4028234663852886e38, 3.4028234663852886e38)
"""What a float32 can hold."""


@dataclass(slots=True)
class Settings:
    """What a device keeps in flash."""

    position_limits: Range
    velocity_limits: Range
    current_limits: Range
    heartbeat_frequency: int = 0


class Device:
    """One joint's electronics. `now` is monotonic time [s]; it never goes back."""

    def __init__(self, device_id: int, joint: Joint, now: float, seed: int) -> None:
        self.device_id = device_id
        self.joint = joint
        self.deaf = False
        """Neither hears nor answers; the motor goes on with what it was told."""
        self.powered = True
        self.status = bytearray(4)
        """Flags set from outside; a hot motor sets its own."""
        self.noise = 0.0
        self._flash = Settings(joint.position_limits, joint.velocity_limits, joint.current_limits)
        self._heartbeat_packets: bytes = b""
        self._next_heartbeat = now
        self._next_status = now + STATUS_PERIOD
        self._random = random.Random(f"{seed}/{device_id}")
        self._demands: dict[int, Callable[[bytes], object]] = {
            Packet.MODE: self._set_mode,
            Packet.VELOCITY: lambda data: joint.demand_velocity(_float(data)),
            Packet.POSITION: lambda data: joint.demand_position(_float(data)),
            Packet.CURRENT: lambda data: joint.demand_current(_float(data)),
            Packet.POSITION_VELOCITY: self._set_position_velocity,
            Packet.RELATIVE_POSITION: lambda data: joint.demand_relative(_float(data)),
            Packet.INDEXED_RELATIVE_POSITION: lambda data: joint.demand_indexed(_float(data)),
            Packet.POSITION_LIMITS: lambda data: setattr(joint, "position_limits", _limits(data)),
            Packet.VELOCITY_LIMITS: lambda data: setattr(
                joint, "velocity_limits", _about_zero(data)
            ),
            Packet.CURRENT_LIMITS: lambda data: setattr(
                joint, "current_limits", _about_zero(data)
            ),
            Packet.SAVE: self._save,
        }
        self._settings: dict[int, Callable[[bytes, float], None]] = {
            Packet.HEARTBEAT_PACKETS: self._set_heartbeat_packets,
            Packet.HEARTBEAT_FREQUENCY: self._set_heartbeat_frequency,
        }
        self._reports: dict[int, Callable[[], bytes]] = {
            Packet.MODE: lambda: bytes((joint.mode,)),
            Packet.VELOCITY: lambda: self._noisy(Packet.VELOCITY, joint.velocity),
            Packet.POSITION: lambda: self._noisy(Packet.POSITION, joint.reported_position),
            Packet.CURRENT: lambda: self._noisy(Packet.CURRENT, joint.current),
            Packet.POSITION_LIMITS: lambda: _maximum_first(joint.position_limits),
            Packet.VELOCITY_LIMITS: lambda: _maximum_first(joint.velocity_limits),
            Packet.CURRENT_LIMITS: lambda: _maximum_first(joint.current_limits),
            Packet.FACTORY_CLIMATE: lambda: _packed(*CLIMATE),
            Packet.SERIAL_NUMBER: lambda: _packed(FIRST_SERIAL_NUMBER + device_id),
            Packet.MODEL_NUMBER: lambda: _packed(MODEL_NUMBER),
            Packet.SOFTWARE_VERSION: lambda: SOFTWARE_VERSION,
            Packet.HUMIDITY: lambda: _packed(HUMIDITY),
            Packet.TEMPERATURE: lambda: _packed(joint.temperature),
            Packet.VOLTAGE: lambda: _packed(self._voltage()),
            Packet.HARDWARE_STATUS: self._flags,
            Packet.HEARTBEAT_PACKETS: lambda: self._heartbeat_packets.ljust(MAX_REQUESTED, b"\0"),
            Packet.HEARTBEAT_FREQUENCY: lambda: bytes((self._flash.heartbeat_frequency,)),
        }

    @property
    def answers(self) -> bool:
        """Whether anything passes between this device and the line."""
        return self.powered and not self.deaf

    def receive(self, packet_id: int, payload: bytes, now: float) -> list[Frame]:
        """Obey one frame that is meant for this device, and return the answers in their order."""
        if not self.answers:
            return []
        self.joint.advance(now)
        if packet_id == Packet.REQUEST:
            return self._answer(payload) if 1 <= len(payload) <= MAX_REQUESTED else []
        try:
            if (demand := self._demands.get(packet_id)) is not None:
                demand(payload)
            elif (setting := self._settings.get(packet_id)) is not None:
                setting(payload, now)
        except PayloadError:
            pass  # as the arm does: no answer tells of it
        return []

    def due(self) -> float | None:
        """Return when this device next speaks unasked."""
        if not self.answers:
            return None
        heartbeat = self._next_heartbeat if self._beats() else math.inf
        status = self._next_status if self._flagged() else math.inf
        due = min(heartbeat, status)
        return None if due == math.inf else due

    def speak(self, now: float) -> list[Frame]:
        """Return what is due unasked by `now`: heartbeat, and HARDWARE_STATUS at 1 Hz."""
        self.joint.advance(now)
        frames: list[Frame] = []
        if self._beats() and now >= self._next_heartbeat:
            frames += self._answer(self._heartbeat_packets)
            period = 1.0 / self._flash.heartbeat_frequency
            self._next_heartbeat = _next(self._next_heartbeat, period, now)
        if now >= self._next_status:
            if self._flagged():
                frames += self._answer(bytes((Packet.HARDWARE_STATUS,)))
            self._next_status = _next(self._next_status, STATUS_PERIOD, now)
        return frames

    def power_off(self) -> None:
        """Cut the supply: the motor rests, and what is not in flash is lost."""
        self.powered = False
        self._heartbeat_packets = b""
        self.joint.power_off()
        self.joint.position_limits = self._flash.position_limits
        self.joint.velocity_limits = self._flash.velocity_limits
        self.joint.current_limits = self._flash.current_limits

    def power_on(self, now: float) -> None:
        """Start the electronics, in standby."""
        self.powered = True
        self._next_heartbeat = now
        self._next_status = now + STATUS_PERIOD

    def _answer(self, packet_ids: bytes) -> list[Frame]:
        """One frame for each id that this firmware knows."""
        return [
            Frame(self.device_id, packet_id, report())
            for packet_id in packet_ids
            if (report := self._reports.get(packet_id)) is not None
        ]

    def _set_mode(self, data: bytes) -> None:
        try:
            self.joint.set_mode(Mode(_byte(data)))
        except ValueError:
            raise PayloadError from None

    def _set_position_velocity(self, data: bytes) -> None:
        position, speed = _floats(data, 2)
        self.joint.demand_position(position, Mode.POSITION_VELOCITY, speed)

    def _save(self, data: bytes) -> None:
        if _byte(data) == 0:
            self._flash.position_limits = self.joint.position_limits
            self._flash.velocity_limits = self.joint.velocity_limits
            self._flash.current_limits = self.joint.current_limits

    def _set_heartbeat_packets(self, data: bytes, now: float) -> None:
        if not 1 <= len(data) <= MAX_REQUESTED:
            raise PayloadError
        self._heartbeat_packets = data.rstrip(b"\0")
        self._next_heartbeat = now

    def _set_heartbeat_frequency(self, data: bytes, now: float) -> None:
        self._flash.heartbeat_frequency = _byte(data)
        self._next_heartbeat = now

    def _beats(self) -> bool:
        return self._flash.heartbeat_frequency > 0 and bool(self._heartbeat_packets)

    def _flagged(self) -> bool:
        return any(self.status) or self.joint.temperature > TOO_HOT

    def _flags(self) -> bytes:
        hot = TEMPERATURE_FLAG if self.joint.temperature > TOO_HOT else 0
        return bytes((self.status[0] | hot, *self.status[1:]))

    def _voltage(self) -> float:
        return SUPPLY - CABLE_RESISTANCE * abs(self.joint.current) / 1000.0

    def _noisy(self, packet: Packet, value: float) -> bytes:
        if self.noise:
            value += self._random.gauss(0.0, self.noise * NOISE[packet])
        return _packed(value)


class PayloadError(ValueError):
    """A payload of the wrong size, or with a value that no device can obey."""


def _byte(data: bytes) -> int:
    if len(data) != 1:
        raise PayloadError
    return data[0]


def _float(data: bytes) -> float:
    return _floats(data, 1)[0]


def _floats(data: bytes, count: int) -> tuple[float, ...]:
    if len(data) != 4 * count:
        raise PayloadError
    values: tuple[float, ...] = struct.unpack(f"<{count}f", data)
    if not all(math.isfinite(value) for value in values):
        raise PayloadError
    return values


def _limits(data: bytes) -> Range:
    high, low = _floats(data, 2)
    if low > high:
        raise PayloadError
    return low, high


def _about_zero(data: bytes) -> Range:
    """Limits of a speed or a current: they must leave room for none."""
    low, high = _limits(data)
    if not low <= 0.0 <= high:
        raise PayloadError
    return low, high


def _maximum_first(limits: Range) -> bytes:
    return _packed(limits[1], limits[0])


def _packed(*values: float) -> bytes:
    """Return float32s. Absurd settings make absurd values: what does not fit is cut."""
    return struct.pack(f"<{len(values)}f", *(clamp(value, FLOAT32) for value in values))


def _next(due: float, period: float, now: float) -> float:
    """Return the first time after `now` on the beat of `due`: what was missed is not made up."""
    return due + period * (math.floor((now - due) / period) + 1)
