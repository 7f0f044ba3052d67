"""The simulated arm in virtual time, told rates and polled for its posture: for the watches."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence

from reach_alpha5_driver.belief import Belief, joint_bounds
from reach_alpha5_driver.devices import BY_ID, DEVICES
from reach_alpha5_driver.protocol import packets
from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.protocol.packets import PacketId, Request, encode
from reach_alpha5_driver.sim.simulation import SimConfig, Simulation

LOWER, UPPER = (0.0,) * 5, (6.3, 3.5, 3.5, 6.2, 0.015)
SPEEDS = (0.5235, 0.5235, 0.5235, 0.8726, 0.003)
ARM_LOWER, ARM_UPPER = (0.01745, 0.01745, 0.01745, -math.inf, 0.0013), (
    6.143, 3.4034, 3.4034, math.inf, 0.0133,
)  # fmt: skip
"""What the simulated arm keeps to."""

POLL = 0.014
"""Between two requests for the whole posture [s]: what the line carries."""
COMMAND = 0.02
STEP = 0.005
FAST = (PacketId.POSITION, PacketId.VELOCITY, PacketId.CURRENT)


class SimRig:
    """Time goes on in `run`, which yields after each step in which the driver may look."""

    def __init__(self, latency: float = 0.0, **config) -> None:
        self.now = 1000.0
        self.sim = Simulation(SimConfig(**config), self.now)
        self.belief = Belief(joint_bounds(LOWER, UPPER, SPEEDS), 0.25)
        self.belief.set_turning(3, True)
        self.rates: Sequence[float] | None = None
        """Told each `COMMAND`; None = nothing is told, and the last word stands."""
        self.released_at = -math.inf
        self._latency = latency
        self._under_way: deque[tuple[float, bytes]] = deque()
        self._decoder = StreamDecoder()
        self._poll_at = self._command_at = self.now

    def stop(self) -> None:
        """Write a stop."""
        self.rates = None
        self.sim.receive(packets.STOP_FRAMES, self.now)

    def write(self, packet: packets.Packet) -> None:
        self.sim.receive(encode(packet), self.now)

    def run(self, seconds: float) -> Iterator[bool]:
        """Let time pass; yield whether rates were just written."""
        end = self.now + seconds
        while self.now < end:
            self.now += STEP
            released = self.rates is not None and self.now >= self._command_at
            if released:
                self._command_at = self.now + COMMAND
                for device, rate in zip(DEVICES, self.rates, strict=True):
                    self.write(packets.Velocity(device.id, rate))
            if self.now >= self._poll_at:
                self._poll_at = self.now + POLL
                for device in DEVICES:
                    self.write(Request(device.id, FAST))
            data = b"".join(chunk.data for chunk in self.sim.advance(self.now).to_driver)
            if data:
                self._under_way.append((self.now + self._latency, data))
            while self._under_way and self._under_way[0][0] <= self.now:
                self._receive(self._under_way.popleft()[1])
            yield released

    def _receive(self, data: bytes) -> None:
        belief, now = self.belief, self.now
        for event in self._decoder.receive(data):
            try:
                packet = packets.parse(event) if isinstance(event, Frame) else None
            except packets.PacketError:
                packet = None
            if packet is None or packet.device not in BY_ID:
                continue
            joint = BY_ID[packet.device].index
            if isinstance(packet, packets.Position):
                belief.on_position(joint, packet.value, now)
            elif isinstance(packet, packets.Velocity):
                belief.on_velocity(joint, packet.value, now)
            elif isinstance(packet, packets.Current):
                belief.on_quantity(joint, "current", packet.value, now)
            elif isinstance(packet, packets.SetMode):
                belief.on_mode(joint, packet.mode, now)
