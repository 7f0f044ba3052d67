"""The driver's end of the simulated line, in virtual time: a transport, and who lies on it."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

from driver_rig import BOUNDS

from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.protocol.codec import Frame, encode
from reach_alpha5_driver.protocol.packets import PacketId
from reach_alpha5_driver.sim.simulation import Simulation

RECEIVE_BUFFER = 4096
"""What the driver's machine keeps of received bytes; more are lost."""


class VirtualPort:
    """A transport over the simulation; `clock` tells the virtual time [s]."""

    latency = None
    advice = ""

    def __init__(
        self, simulation: Simulation, clock: Callable[[], float], can_purge: bool, seed: int
    ) -> None:
        self.can_purge = can_purge
        self.forge = 0.0
        """Chance that a frame is followed by one that is right but for the position in it."""
        self.lies = 0
        self._simulation = simulation
        self._clock = clock
        self._random = random.Random(seed)
        self._waiting = bytearray()

    def fileno(self) -> int:
        raise NotImplementedError("virtual time needs no descriptor")

    def arrive(self, data: bytes) -> None:
        """Take what came over the wire."""
        self._waiting += data
        del self._waiting[RECEIVE_BUFFER:]

    def read(self) -> bytes:
        *ends, rest = bytes(self._waiting).split(b"\0")
        self._waiting.clear()
        return b"".join(end + b"\0" + self._lie() for end in ends) + rest

    def write(self, data: bytes) -> int:
        taken = data[: self._simulation.room()]
        self._simulation.receive(taken, self._clock())
        return len(taken)

    def purge_output(self) -> None:
        if self.can_purge:
            self._simulation.purge(self._clock())

    def queued(self) -> int:
        return self._simulation.line.to_arm.backlog()

    def close(self) -> None:
        """Lose what has not left yet, as an adapter does that is unplugged."""
        self._simulation.purge(self._clock())

    def _lie(self) -> bytes:
        if self._random.random() >= self.forge:
            return b""
        self.lies += 1
        device = self._random.choice(DEVICES)
        bounds = BOUNDS[device.index]
        position = self._random.uniform(bounds.lower, bounds.upper) * device.wire_per_si
        return encode(Frame(device.id, PacketId.POSITION, struct.pack("<f", position)))
