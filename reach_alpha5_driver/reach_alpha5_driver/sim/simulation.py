"""The whole arm behind its serial line, without I/O or a clock: bytes and times in and out."""

from __future__ import annotations

import itertools
from bisect import insort
from dataclasses import dataclass, field

from reach_alpha5_driver.protocol.codec import Frame, encode
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.sim.arm import Arm, ArmConfig
from reach_alpha5_driver.sim.faults import Faults
from reach_alpha5_driver.sim.firmware import Device, Identity
from reach_alpha5_driver.sim.ids import ALL_DEVICES, BASE_DEVICE, CONTROL
from reach_alpha5_driver.sim.line import DRIVER, Chunk, Line
from reach_alpha5_driver.sim.presets import Presets

REPLY_DELAY = 0.0003
"""From the end of a frame to the first bit of its answer [s]. A guess."""

TRANSMIT_BUFFER = 1024
"""Answers that find more bytes than this waiting in the arm are lost [bytes]. A guess."""

HOST_BUFFER = 4096
"""Bytes that the driver's machine queues for its UART, as Linux does."""

FIRST_SERIAL_NUMBER = 5100.0
"""Serial numbers of the devices follow it, by their ids."""

WEIGH_PERIOD = 0.01
"""Between two looks at how the joints weigh on each other [s]; each moves on its own between."""


@dataclass(frozen=True, slots=True)
class SimConfig:
    """What to simulate."""

    arm: ArmConfig = field(default_factory=ArmConfig)
    baud: int = 115200
    half_duplex: bool = False
    """RS-485: one pair of wires for both directions."""
    seed: int = 0
    noise: float = 0.0
    """Of telemetry; see `firmware.NOISE`."""


@dataclass(frozen=True, slots=True)
class Passed:
    """What has passed over the line, at the driver's end."""

    to_arm: list[Chunk]
    """From the driver, before any fault has touched it."""
    to_driver: list[Chunk]
    """For the driver, after all faults."""


class Simulation:
    """The simulated arm. All times are monotonic [s] and must not go back."""

    def __init__(self, config: SimConfig, now: float) -> None:
        self.arm = Arm(config.arm, now)
        self.line = Line(config.baud, config.half_duplex, config.seed)
        self.faults = {way: Faults(f"{config.seed}/{way}") for way in ("to-arm", "to-driver")}
        self.decoder = StreamDecoder()
        self.devices = {
            device_id: Device(
                device_id, joint, now, config.seed, Identity(FIRST_SERIAL_NUMBER + device_id)
            )
            for device_id, joint in self.arm.joints.items()
        }
        self.presets = Presets(self.devices)
        self.devices[BASE_DEVICE].extend(self.presets)
        self.crossed: dict[int, int] = {}
        """Whose joint obeys the control frames for a device, where it is not its own."""
        for device in self.devices.values():
            device.noise = config.noise
        self.replies_lost = 0
        """Answers that did not fit the arm's transmit buffer."""
        self.purged = 0
        """Bytes that the driver has called back before they were on the line."""
        self._heard: list[tuple[float, bytes]] = []
        self._held: list[tuple[float, int, Frame]] = []
        """Answers of slow devices: when they go out, in which order, and what."""
        self._order = itertools.count()
        self._spoken = now
        self._weighed = now

    def room(self) -> int:
        """Return how many bytes the driver's machine can still queue."""
        return max(0, HOST_BUFFER - self.line.to_arm.backlog())

    def receive(self, data: bytes, now: float) -> None:
        """Queue bytes that the driver has written at the time `now`."""
        self.line.send_to_arm(now, data)

    def purge(self, now: float) -> None:
        """Forget what the driver has written and what has not left its UART (`tcflush`)."""
        self.purged += self.line.to_arm.purge(DRIVER, now)

    def due(self) -> float | None:
        """Return when something next happens that nobody outside has caused."""
        times = [device.due() for device in self.devices.values()]
        times += [self.line.to_arm.due(), self.line.to_driver.due()]
        times += [at for at, _ in self._heard[:1]]
        times += [at for at, _, _ in self._held[:1]]
        return min((time for time in times if time is not None), default=None)

    def advance(self, now: float) -> Passed:
        """Let all happen that is due by `now`, in its order, and return what passed the line."""
        passed = Passed([], [])
        while True:
            whole = self.line.to_arm.due()
            self._speak(now if whole is None else min(now, whole))
            chunk = self.line.to_arm.take(now, frame_by_frame=True)
            if chunk is None:
                break
            passed.to_arm.append(chunk)
            self._hear(chunk)
            self._obey(chunk.end)
        self._obey(now)
        self._speak(now)
        if now >= self._weighed + WEIGH_PERIOD:
            self._weighed = now
            self.arm.advance(now)
        while (chunk := self.line.to_driver.take(now)) is not None:
            passed.to_driver.append(chunk)
        return passed

    def _hear(self, chunk: Chunk) -> None:
        """Let the line's faults at the bytes, and keep what is left until its time."""
        at = chunk.end
        if self._heard:
            at = max(at, self._heard[-1][0])
        for piece in self.faults["to-arm"].damage(chunk.data):
            at += piece.pause
            self._heard.append((at, piece.data))

    def _obey(self, now: float) -> None:
        """Let the devices have what they have heard by `now`, each thing at its time."""
        while self._heard and self._heard[0][0] <= now:
            at, data = self._heard.pop(0)
            for event in self.decoder.receive(data):
                if isinstance(event, Frame):
                    self._speak(at)
                    self._deliver(event, at)

    def _deliver(self, frame: Frame, at: float) -> None:
        device_id, packet_id = frame.device_id, frame.packet_id
        if packet_id in CONTROL:
            device_id = self.crossed.get(device_id, device_id)
        if device_id == ALL_DEVICES:
            addressed = list(self.devices.values())
        else:
            addressed = [self.devices[device_id]] if device_id in self.devices else []
        for device in addressed:
            for answer in device.receive(packet_id, frame.payload, at):
                if device.latency:
                    held = (at + REPLY_DELAY + device.latency, next(self._order), answer)
                    insort(self._held, held)
                else:
                    self._send(answer, at + REPLY_DELAY)

    def _speak(self, now: float) -> None:
        """Send what comes by `now` of itself: late answers, and what nobody asked for."""
        if now <= self._spoken:
            return
        while self._held and self._held[0][0] <= now:
            at, _, answer = self._held.pop(0)
            if self.devices[answer.device_id].answers:  # it may have lost its supply since
                self._send(answer, at)
        while (speaker := self._next_speaker(now)) is not None:
            due, device = speaker
            at = max(due, self._spoken)  # a flag that has just risen finds its beat long past
            for frame in device.speak(at):
                self._send(frame, at)
        self._spoken = now

    def _next_speaker(self, now: float) -> tuple[float, Device] | None:
        """Return who is the first to speak unasked by `now`, and when."""
        first: tuple[float, Device] | None = None
        for device in self.devices.values():
            due = device.due()
            if due is not None and due <= now and (first is None or due < first[0]):
                first = due, device
        return first

    def _send(self, frame: Frame, at: float) -> None:
        wire = encode(frame)
        if self.line.to_driver.backlog() + len(wire) > TRANSMIT_BUFFER:
            self.replies_lost += 1
            return
        for piece in self.faults["to-driver"].damage(wire):
            self.line.send_to_driver(frame.device_id, at + piece.pause, piece.data)
