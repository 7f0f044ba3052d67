"""A simulated arm with a clock of its own, for its tests."""

import json
import struct
from typing import Any

from reach_alpha5_driver.protocol.codec import Frame, encode
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.sim.commands import OK, Commands
from reach_alpha5_driver.sim.ids import Packet
from reach_alpha5_driver.sim.line import Chunk
from reach_alpha5_driver.sim.simulation import SimConfig, Simulation


class Bench:
    """What a driver could do with the line, step by step."""

    def __init__(self, config: SimConfig | None = None) -> None:
        self.now = 100.0
        self.simulation = Simulation(config or SimConfig(), self.now)
        self.decoder = StreamDecoder()
        self.chunks: list[Chunk] = []
        self._commands = Commands(self.simulation)

    def send(self, device_id: int, packet_id: int, payload: bytes) -> None:
        self.simulation.receive(encode(Frame(device_id, packet_id, payload)), self.now)

    def velocity(self, device_id: int, value: float) -> None:
        self.send(device_id, Packet.VELOCITY, struct.pack("<f", value))

    def wait(self, duration: float) -> list[Frame]:
        """Let time pass, and return the frames that came."""
        self.now += duration
        chunks = self.simulation.advance(self.now).to_driver
        self.chunks += chunks
        events = [event for chunk in chunks for event in self.decoder.receive(chunk.data)]
        return [event for event in events if isinstance(event, Frame)]

    def ask(self, device_id: int, *packet_ids: int) -> list[Frame]:
        self.send(device_id, Packet.REQUEST, bytes(packet_ids))
        return self.wait(0.05)

    def value(self, device_id: int, packet_id: int) -> float:
        (frame,) = self.ask(device_id, packet_id)
        return float(struct.unpack("<f", frame.payload)[0])

    def values(self, device_id: int, packet_id: int) -> tuple[float, ...]:
        """Ask for a packet of several numbers."""
        (frame,) = self.ask(device_id, packet_id)
        return struct.unpack(f"<{len(frame.payload) // 4}f", frame.payload)

    def do(self, command: str) -> None:
        """Let a command of the console be obeyed."""
        assert self._commands.execute(command, self.now) == OK

    def state(self) -> dict[str, Any]:
        """The truth, as the console tells it."""
        state: dict[str, Any] = json.loads(self._commands.execute("state", self.now))
        return state

    def speed(self, axis: str) -> float:
        """The true velocity of a joint [SI]."""
        return float(self.state()["joints"][axis]["velocity"])

    def mode(self, device_id: int) -> int:
        (frame,) = self.ask(device_id, Packet.MODE)
        return frame.payload[0]
