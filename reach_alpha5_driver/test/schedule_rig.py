"""The schedule on a virtual clock, against the simulated arm: wake-ups come late, at random."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass, field

from reach_alpha5_driver.gate import Gate, Release
from reach_alpha5_driver.outbox import Outbox
from reach_alpha5_driver.poller import Poller
from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.protocol.packets import STOP_FRAMES, PacketId, Velocity, encode
from reach_alpha5_driver.schedule import ScheduleConfig
from reach_alpha5_driver.sim.line import Chunk
from reach_alpha5_driver.sim.simulation import SimConfig, Simulation

LATENESS = 0.003
"""Longest time [s] by which a wake-up is late."""

READ_SPACING = 0.006
"""Least time [s] between two reads, where they need not be prompt."""

MOTION = b"".join(encode(Velocity(device, 0.001 * device)) for device in range(5, 0, -1))


class OpenGate(Gate):
    """Lets out what is staged, and owes a stop when told: what may pass is not tested here."""

    def __init__(self) -> None:
        super().__init__((1.0,) * 5, 0.1)
        self.motion = b""
        self.owed = True

    @property
    def stop_owed(self) -> bool:
        return self.owed

    def check(self, now: float, posture_fresh: bool) -> None:
        pass

    def release(self, now: float, posture_fresh: bool) -> Release:
        if self.owed:
            self.owed, self.motion = False, b""
            return Release(True, STOP_FRAMES)
        motion, self.motion = self.motion, b""
        return Release(False, motion)


@dataclass
class Heard:
    """What came from the arm in a stretch of time."""

    frames: Counter = field(default_factory=Counter)
    broken: int = 0


class ScheduleRig:
    """Poller and outbox as the control loop runs them. Times are in seconds."""

    def __init__(
        self,
        config: ScheduleConfig,
        seed: int = 0,
        *,
        demands: bool = True,
        earlier: bytes = b"",
    ) -> None:
        """Open the line; `earlier` is what an earlier session has said to the arm."""
        self.config = config
        self.now = 100.0
        self.random = random.Random(seed)
        self.sim = Simulation(
            SimConfig(baud=config.baud_rate, half_duplex=config.half_duplex, seed=seed), self.now
        )
        self.gate = OpenGate()
        self.poller = Poller(config)
        self.outbox = Outbox(self.gate, self.poller, config)
        self.decoder = StreamDecoder()
        self.heard = Heard()
        self.wakeups = 0
        self.demands = demands
        self.next_demand = self.now
        self.stop_at = math.inf
        self.next_read = -math.inf
        self.inbox: list[bytes] = []
        self.wire: list[tuple[float, bytes]] = []
        """Frames that passed to the arm, with the time at which they were whole."""
        self._half = bytearray()
        self.clock = self.now
        self.sim.receive(earlier, self.now)
        self.now += 0.1
        self._pass(self.now)
        self.outbox.line_opened()
        self.poller.start(self.now)
        self._step()

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while (at := self._wakeup()) < end:
            self.now = at
            self._step()
        self._pass(end)
        self.now = end

    def rate(self, seconds: float) -> float:
        """Return reports of position, velocity and current per joint and second: the fewest."""
        self.heard = Heard()
        self.run(seconds)
        fast = (PacketId.POSITION, PacketId.VELOCITY, PacketId.CURRENT)
        return (
            min(self.heard.frames[device, packet] for device in range(1, 6) for packet in fast)
            / seconds
        )

    def wait(self, seconds: float) -> bytes:
        """Let time pass without the driver, and return what the arm says meanwhile."""
        self.inbox.clear()
        self.now += seconds
        self._pass(self.now)
        return b"".join(self.inbox)

    @property
    def collisions(self) -> int:
        return self.sim.line.collisions

    def stop(self, at: float) -> float:
        """Let a stop be owed at a time, and return how long until its first frame was out."""
        self.run(at - self.now)
        before = len(self.wire)
        self.gate.owed = True
        self._step()
        self.run(0.05)
        first = STOP_FRAMES[: STOP_FRAMES.index(0) + 1]
        return next(end for end, data in self.wire[before:] if data == first) - at

    def _wakeup(self) -> float:
        """Return when the loop wakes up next, and let pass what passes the line until it must."""
        times = [self.poller.next_time(self.now), self.outbox.room_at() or math.inf]
        if self.demands:
            times.append(self.next_demand)
        while not self.inbox and (due := self._due()) < min(times):
            self._pass(due)
        if self.inbox:
            times.append(self.clock if self.outbox.prompt_reads else self.next_read)
        return max(self.now, min(times)) + self.random.uniform(0.0, LATENESS)

    def _due(self) -> float:
        """Return when something happens next at the arm or on the line."""
        due = self.sim.due()
        return math.inf if due is None else max(due, self.clock + 1e-6)

    def _pass(self, until: float) -> None:
        """Let the arm and the line go on until a time, step by step."""
        while self.clock < until:
            self.clock = min(until, self._due())
            passed = self.sim.advance(self.clock)
            self.inbox += [chunk.data for chunk in passed.to_driver]
            for chunk in passed.to_arm:
                self._note(chunk)

    def _step(self) -> None:
        self.wakeups += 1
        self._pass(self.now)
        if self.outbox.prompt_reads or self.now >= self.next_read:
            if self.inbox:
                self.next_read = self.now + READ_SPACING
            for data in self.inbox:
                self._read(data)
            self.inbox.clear()
        self.poller.expire(self.now)
        if self.demands and self.now >= self.next_demand:
            self.next_demand += 1.0 / self.config.control_rate
            self.gate.motion = MOTION
        if self.outbox.wants_queued:
            self.outbox.sent(0, self.now, self._queued())
        outgoing = self.outbox.take(self.now, True)
        if outgoing.purge:
            self.sim.purge(self.now)
        if outgoing.data:
            self.sim.receive(outgoing.data, self.now)
            self.outbox.sent(len(outgoing.data), self.now)

    def _note(self, chunk: Chunk) -> None:
        for place, byte in enumerate(chunk.data, start=1):
            self._half.append(byte)
            if byte == 0:
                end = chunk.start + place * self.sim.line.byte_time
                self.wire.append((end, bytes(self._half)))
                self._half.clear()

    def _queued(self) -> int:
        return self.sim.line.to_arm.backlog()

    def _read(self, data: bytes) -> None:
        for event in self.decoder.receive(data):
            if isinstance(event, Frame):
                self.heard.frames[event.device_id, event.packet_id] += 1
                if 1 <= event.device_id <= 5:
                    self.poller.on_reply(event.device_id, event.packet_id, self.now)
            else:
                self.heard.broken += 1
