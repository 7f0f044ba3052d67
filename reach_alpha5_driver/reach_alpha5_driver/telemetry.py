"""The receiving side: bytes to frames to packets to beliefs, and the account of what was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from reach_alpha5_driver.belief import Belief, JointBounds
from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.devices import BY_ID, DEVICES
from reach_alpha5_driver.poller import Poller
from reach_alpha5_driver.protocol import packets
from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.schedule import FAST
from reach_alpha5_driver.snapshot import PostureSample

RATE_SPAN = 1.0
"""Seconds over which the telemetry rate is taken."""

_FULL_SET = (1 << 2 * len(DEVICES)) - 1
"""A position and a velocity of every joint, one bit each."""


class Telemetry:
    """Reads what the arm sends. Nothing that it is fed raises or makes it grow.

    Times are monotonic seconds.
    """

    def __init__(self, bounds: Sequence[JointBounds], config: CoreConfig, poller: Poller) -> None:
        """Believe within `bounds`; keep the account of `poller`."""
        self.belief = Belief(bounds, config.stale_after, config.health.slow_stale_after)
        self.poller = poller
        self.decoder = StreamDecoder()
        self.packet_errors: Counter[str] = Counter()
        self.rate = 0.0
        """Position reports per joint and second, over the last `RATE_SPAN`."""
        self.sample: PostureSample | None = None
        """The last full set of positions and velocities, each reported since the set before."""
        self.on_packet: Callable[[int, packets.Packet, float], object] = _ignore
        """Called with the place in chain order, each packet of a device but the fast telemetry,
        and the time."""
        self.on_refused: Callable[[int, int, str, float], object] = _ignore
        """Called with the place in chain order, the id of a packet that makes no sense, why, and
        the time."""
        self._seen = 0
        self._rate_from = 0.0
        self._rate_reports = 0
        self._readers: dict[type[packets.Packet], Callable[[int, Any, float], None]] = {
            packets.Position: self._on_position,
            packets.Velocity: self._on_velocity,
            packets.Current: self._on_current,
            packets.SetMode: self._on_mode,
            packets.Temperature: self._on_temperature,
            packets.Humidity: self._on_humidity,
            packets.Voltage: self._on_voltage,
            packets.HardwareStatus: self._on_status,
        }

    def receive(self, data: bytes, now: float) -> None:
        """Take bytes as they came, in chunks of any size."""
        for event in self.decoder.receive(data):
            if isinstance(event, Frame):
                self._on_frame(event, now)

    def tick(self, now: float) -> None:
        """Give up on requests whose time is over, and take the rate."""
        self.poller.expire(now)
        span = now - self._rate_from
        if span >= RATE_SPAN:
            reports = sum(joint.reports for joint in self.belief.joints)
            self.rate = (reports - self._rate_reports) / span / len(DEVICES)
            self._rate_from, self._rate_reports = now, reports

    def next_time(self, now: float) -> float:
        """Return the time at which a request or a value grows too old next; inf = never."""
        belief = self.belief
        times = [self.poller.next_time(now)]
        if belief.fresh(now):
            times.append(belief.stale_at())
        elif belief.answers(now):
            times.append(belief.silent_at())
        return min(times)

    def line_opened(self, now: float) -> None:
        """Begin with a line that was just opened."""
        self.poller.start(now)

    def line_closed(self) -> None:
        """Trust nothing any more, and end the frame that was cut off."""
        self.decoder.receive(b"\0")
        self.belief.forget()
        self.poller.forget()
        self._seen = 0

    def _on_frame(self, frame: Frame, now: float) -> None:
        try:
            packet = packets.parse(frame)
        except packets.PacketError as error:
            self.packet_errors[error.code] += 1
            device = BY_ID.get(frame.device_id)
            if device is not None:
                self.poller.on_reply(device.id, frame.packet_id, now)
                self.on_refused(device.index, frame.packet_id, error.reason, now)
            return
        device = BY_ID.get(packet.device)
        if device is None:  # a broadcast is nobody's report
            self.packet_errors["unknown_device"] += 1
            return
        self.poller.on_reply(device.id, frame.packet_id, now)
        reader = self._readers.get(type(packet))
        if reader is not None:
            reader(device.index, packet, now)
        if frame.packet_id not in FAST:
            self.on_packet(device.index, packet, now)

    def _on_position(self, joint: int, packet: packets.Position, now: float) -> None:
        if self.belief.on_position(joint, packet.value, now):
            self._seen |= 1 << joint

    def _on_velocity(self, joint: int, packet: packets.Velocity, now: float) -> None:
        if self.belief.on_velocity(joint, packet.value, now):
            self._seen |= 1 << joint + len(DEVICES)
            if self._seen == _FULL_SET:
                self._seen = 0
                belief = self.belief
                if belief.fresh(now):
                    self.sample = PostureSample(now, belief.positions(), belief.velocities(now))

    def _on_current(self, joint: int, packet: packets.Current, now: float) -> None:
        self.belief.on_quantity(joint, "current", packet.value, now)

    def _on_temperature(self, joint: int, packet: packets.Temperature, now: float) -> None:
        self.belief.on_quantity(joint, "temperature", packet.value, now)

    def _on_humidity(self, joint: int, packet: packets.Humidity, now: float) -> None:
        self.belief.on_quantity(joint, "humidity", packet.value, now)

    def _on_voltage(self, joint: int, packet: packets.Voltage, now: float) -> None:
        self.belief.on_quantity(joint, "voltage", packet.value, now)

    def _on_mode(self, joint: int, packet: packets.SetMode, now: float) -> None:
        self.belief.on_mode(joint, packet.mode, now)

    def _on_status(self, joint: int, packet: packets.HardwareStatus, now: float) -> None:
        self.belief.on_status(joint, packet.flags, now)


def _ignore(*_: object) -> None:
    """Take what nobody asked for."""
