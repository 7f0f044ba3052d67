"""The electronics of one joint: what it does with a frame, and what it answers.

Wrong, unknown or impossible frames get no answer at all: the protocol has neither ack nor nak.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.sim.ids import Mode, Packet
from reach_alpha5_driver.sim.joint import Joint
from reach_alpha5_driver.sim.joint_spec import FULL_TURN, Range
from reach_alpha5_driver.sim.payloads import (
    PayloadError,
    maximum_first,
    packed,
    read_byte,
    read_float,
    read_floats,
    read_limits,
    read_limits_about_zero,
)

MAX_REQUESTED = 10
"""Most ids of one REQUEST, and of the heartbeat list."""

STATUS_PERIOD = 1.0
"""Between two HARDWARE_STATUS that nobody asked for, while a flag is set [s]."""

TOO_HOT = 70.0
"""Motor temperature that raises `TEMPERATURE_FLAG` [°C]. A guess."""

TEMPERATURE_FLAG = 0x20
"""In the first byte of HARDWARE_STATUS."""

NO_FLAGS = bytes(4)

SUPPLY = 24.0
"""[V]"""

CABLE_RESISTANCE = 0.5
"""Makes the supply sag with the motor current [Ω]. A guess."""

HUMIDITY = 18.0
"""Inside the housing [%]."""

CLIMATE = (21.0, 0.92, 11.0)
"""Factory climate: [°C], [bar], [%]."""

NOISE = {Packet.POSITION: 5e-4, Packet.VELOCITY: 5e-3, Packet.CURRENT: 3.0}
"""Standard deviation of telemetry at a noise setting of 1: [rad|mm], [rad/s|mm/s], [mA]."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a device says it is."""

    serial: float
    model: float = 5.0
    firmware: tuple[int, int, int] = (2, 3, 1)


@dataclass(slots=True)
class Settings:
    """What a device keeps in flash."""

    position_limits: Range
    velocity_limits: Range
    current_limits: Range
    heartbeat_frequency: int = 0


class Extension(Protocol):
    """More that a device can do besides turning its joint."""

    @property
    def settings(self) -> Mapping[int, Callable[[bytes, float], None]]:
        """What obeys a frame: payload and time [s], by packet id. May raise `PayloadError`."""

    @property
    def reports(self) -> Mapping[int, Callable[[], bytes]]:
        """What answers a request, by packet id."""

    def save(self) -> None:
        """Put what is set into flash."""

    def restore(self) -> None:
        """Take what is set from flash, as after a loss of supply."""


class Device:
    """One joint's electronics. `now` is monotonic time [s]; it never goes back."""

    def __init__(
        self, device_id: int, joint: Joint, now: float, seed: int, identity: Identity
    ) -> None:
        self.device_id = device_id
        self.joint = joint
        self.identity = identity
        self.deaf = False
        """Neither hears nor answers; the motor goes on with what it was told."""
        self.powered = True
        self.latency = 0.0
        """From the end of a frame to the first bit of its answer, besides what all take [s]."""
        self.unknown: frozenset[int] = frozenset()
        """Packet ids that this firmware does not know."""
        self.status = bytearray(4)
        """Flags set from outside; a hot motor sets its own."""
        self.humidity = HUMIDITY
        """[%]"""
        self.supply = SUPPLY
        """Voltage without load [V]."""
        self.noise = 0.0
        """Of telemetry; see `NOISE`."""
        self.heartbeat_packets = b""
        """Packet ids that are sent unasked; lost at power-off."""
        self.flash = Settings(joint.position_limits, joint.velocity_limits, joint.current_limits)
        self._extensions: list[Extension] = []
        self._next_heartbeat = now
        self._next_status = now + STATUS_PERIOD
        self._random = random.Random(f"{seed}/{device_id}")
        self._demands: dict[int, Callable[[bytes], object]] = {
            Packet.MODE: self._set_mode,
            Packet.VELOCITY: lambda data: joint.demand_velocity(read_float(data)),
            Packet.POSITION: lambda data: joint.demand_position(read_float(data)),
            Packet.CURRENT: lambda data: joint.demand_current(read_float(data)),
            Packet.POSITION_VELOCITY: self._set_position_velocity,
            Packet.RELATIVE_POSITION: lambda data: joint.demand_relative(read_float(data)),
            Packet.INDEXED_RELATIVE_POSITION: lambda data: joint.demand_indexed(read_float(data)),
            Packet.POSITION_LIMITS: lambda data: setattr(
                joint, "position_limits", read_limits(data)
            ),
            Packet.VELOCITY_LIMITS: lambda data: setattr(
                joint, "velocity_limits", read_limits_about_zero(data)
            ),
            Packet.CURRENT_LIMITS: lambda data: setattr(
                joint, "current_limits", read_limits_about_zero(data)
            ),
            Packet.SAVE: self._save,
        }
        self._settings: dict[int, Callable[[bytes, float], None]] = {
            Packet.HEARTBEAT_PACKETS: self._set_heartbeat_packets,
            Packet.HEARTBEAT_FREQUENCY: self._set_heartbeat_frequency,
        }
        self._reports: dict[int, Callable[[], bytes]] = {
            Packet.MODE: lambda: bytes((joint.mode,)),
            Packet.VELOCITY: lambda: packed(self._noisy(Packet.VELOCITY, joint.velocity)),
            Packet.POSITION: self._position,
            Packet.CURRENT: lambda: packed(self._noisy(Packet.CURRENT, joint.current)),
            Packet.POSITION_LIMITS: lambda: maximum_first(joint.position_limits),
            Packet.VELOCITY_LIMITS: lambda: maximum_first(joint.velocity_limits),
            Packet.CURRENT_LIMITS: lambda: maximum_first(joint.current_limits),
            Packet.FACTORY_CLIMATE: lambda: packed(*CLIMATE),
            Packet.SERIAL_NUMBER: lambda: packed(self.identity.serial),
            Packet.MODEL_NUMBER: lambda: packed(self.identity.model),
            Packet.SOFTWARE_VERSION: lambda: bytes(self.identity.firmware),
            Packet.HUMIDITY: lambda: packed(self.humidity),
            Packet.TEMPERATURE: lambda: packed(joint.temperature),
            Packet.VOLTAGE: lambda: packed(self._voltage()),
            Packet.HARDWARE_STATUS: self._flags,
            Packet.HEARTBEAT_PACKETS: lambda: self.heartbeat_packets.ljust(MAX_REQUESTED, b"\0"),
            Packet.HEARTBEAT_FREQUENCY: lambda: bytes((self.flash.heartbeat_frequency,)),
        }

    def extend(self, extension: Extension) -> None:
        """Let this device do more."""
        self._extensions.append(extension)
        self._settings.update(extension.settings)
        self._reports.update(extension.reports)

    @property
    def answers(self) -> bool:
        """Whether anything passes between this device and the line."""
        return self.powered and not self.deaf

    def receive(self, packet_id: int, payload: bytes, now: float) -> list[Frame]:
        """Obey one frame that is meant for this device, and return the answers in their order."""
        if not self.answers:
            return []
        self.joint.advance(now)
        if packet_id in self.unknown:
            return []
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
        beats = self.flash.heartbeat_frequency and self.heartbeat_packets
        flagged = self.status != NO_FLAGS or self.joint.temperature > TOO_HOT
        if not (beats or flagged) or not self.answers:
            return None
        heartbeat = self._next_heartbeat if beats else math.inf
        status = self._next_status if flagged else math.inf
        return min(heartbeat, status)

    def speak(self, now: float) -> list[Frame]:
        """Return what is due unasked by `now`: heartbeat, and HARDWARE_STATUS at 1 Hz."""
        self.joint.advance(now)
        frames: list[Frame] = []
        frequency = self.flash.heartbeat_frequency
        if frequency and self.heartbeat_packets and now >= self._next_heartbeat:
            frames += self._answer(self.heartbeat_packets)
            self._next_heartbeat = _next(self._next_heartbeat, 1.0 / frequency, now)
        if now >= self._next_status:
            if any(self._flags()):
                frames += self._answer(bytes((Packet.HARDWARE_STATUS,)))
            self._next_status = _next(self._next_status, STATUS_PERIOD, now)
        return frames

    def install_limits(self, kind: str, limits: Range) -> None:
        """Set limits of "position", "velocity" or "current" in device units, in flash too."""
        name = f"{kind}_limits"
        setattr(self.joint, name, limits)
        setattr(self.flash, name, limits)

    def power_off(self) -> None:
        """Cut the supply: the motor rests, and what is not in flash is lost."""
        self.powered = False
        self.heartbeat_packets = b""
        self.joint.power_off()
        self.joint.position_limits = self.flash.position_limits
        self.joint.velocity_limits = self.flash.velocity_limits
        self.joint.current_limits = self.flash.current_limits
        for extension in self._extensions:
            extension.restore()

    def power_on(self, now: float) -> None:
        """Start the electronics, in the mode that `Joint.power_off` has left."""
        self.powered = True
        self._next_heartbeat = now
        self._next_status = now + STATUS_PERIOD

    def _answer(self, packet_ids: bytes) -> list[Frame]:
        """One frame for each id that this firmware knows."""
        return [
            Frame(self.device_id, packet_id, report())
            for packet_id in packet_ids
            if packet_id not in self.unknown
            and (report := self._reports.get(packet_id)) is not None
        ]

    def _set_mode(self, data: bytes) -> None:
        try:
            mode = Mode(read_byte(data))
        except ValueError:
            raise PayloadError from None
        self.joint.set_mode(mode)

    def _set_position_velocity(self, data: bytes) -> None:
        position, speed = read_floats(data, 2)
        self.joint.demand_position(position, Mode.POSITION_VELOCITY, speed)

    def _save(self, data: bytes) -> None:
        if read_byte(data) == 0:
            self.flash.position_limits = self.joint.position_limits
            self.flash.velocity_limits = self.joint.velocity_limits
            self.flash.current_limits = self.joint.current_limits
            for extension in self._extensions:
                extension.save()

    def _set_heartbeat_packets(self, data: bytes, now: float) -> None:
        if not 1 <= len(data) <= MAX_REQUESTED:
            raise PayloadError
        self.heartbeat_packets = data.rstrip(b"\0")
        self._next_heartbeat = now

    def _set_heartbeat_frequency(self, data: bytes, now: float) -> None:
        self.flash.heartbeat_frequency = read_byte(data)
        self._next_heartbeat = now

    def _flags(self) -> bytes:
        hot = TEMPERATURE_FLAG if self.joint.temperature > TOO_HOT else 0
        return bytes((self.status[0] | hot, *self.status[1:]))

    def _voltage(self) -> float:
        return self.supply - CABLE_RESISTANCE * abs(self.joint.current) / 1000.0

    def _position(self) -> bytes:
        position = self._noisy(Packet.POSITION, self.joint.reported_position)
        if self.joint.spec.stops is None:  # noise does not lead out of the encoder's one turn
            position %= FULL_TURN
        return packed(position)

    def _noisy(self, packet: Packet, value: float) -> float:
        if self.noise:
            value += self._random.gauss(0.0, self.noise * NOISE[packet])
        return value


def _next(due: float, period: float, now: float) -> float:
    """Return the first time after `now` on the beat of `due`: what was missed is not made up."""
    return due + period * (math.floor((now - due) / period) + 1)
