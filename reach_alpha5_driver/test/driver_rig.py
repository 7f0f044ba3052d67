"""A driver core on a fake clock, and an arm that answers in memory: for tests of pure parts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reach_alpha5_common.command import (
    ArmInput,
    Cartesian,
    CommandKind,
    DriverCommand,
    GripperCommand,
    GripperVelocities,
    StopLevel,
    TwistCommand,
)
from reach_alpha5_driver.belief import JointBounds
from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.devices import BROADCAST, BY_ID, DEVICES
from reach_alpha5_driver.identity import JointRanges
from reach_alpha5_driver.power import OFF_MODES
from reach_alpha5_driver.protocol import packets
from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.schedule import ScheduleConfig
from reach_alpha5_motion.resolver import Resolution
from reach_alpha5_motion.speeds import Speed

BOUNDS = tuple(
    JointBounds(0.0, 6.3, 1.0, 0.1)
    if device.unit == "rad"
    else JointBounds(0.0, 0.015, 0.006, 0.001)
    for device in DEVICES
)
RATE_LIMITS = (0.5, 0.5, 0.5, 0.9, 0.003)
DESCRIPTION = JointRanges(
    tuple(bounds.lower for bounds in BOUNDS), tuple(bounds.upper for bounds in BOUNDS), RATE_LIMITS
)
SCHEDULE = ScheduleConfig.__dataclass_fields__.keys()
LIFETIME = 0.25
STEP = 0.005
BYTE_TIME = 10.0 / 115200.0
"""Of the line [s]."""
FORWARD = GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(x=1.0))
JAWS = GripperCommand(GripperVelocities(grip=1.0))


class PlainMover:
    """Arm input turns axis_e at 0.2 rad/s; wrist and jaws go as asked, at once. May fail."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.rates: tuple[float, ...] | None = None
        self.at_rest = True

    def speeds(self, limits=None):
        return (Speed("linear", "m/s", 0.025, 0.05, 0.1, "configuration"),)

    def keep_out_of(self, keep_out) -> None:
        raise AssertionError("nothing is near")

    def halt(self) -> None:
        self.at_rest = True

    def resolve_joints(self, rates, q, limits=None) -> Resolution:
        return Resolution(np.array(rates))

    def step(self, command, q, q_at, now, limits=None, holding=False, asked_at=None) -> Resolution:
        if self.error is not None:
            raise self.error
        rates = self.rates
        if rates is None or command.is_neutral:
            gripper = command.gripper_velocities
            moves = 0.2 * command.moves_arm
            rates = (moves, 0.0, 0.0, 0.5 * gripper.rotate, 0.003 * gripper.grip)
        self.at_rest = not any(rates)
        return Resolution(np.array(rates))


@dataclass
class Arm:
    """Obeys velocities at once and answers requests at once, by device id."""

    positions: dict[int, float] = field(
        default_factory=lambda: {1: 0.005, 2: 3.0, 3: 1.5, 4: 1.5, 5: 3.0}
    )
    velocities: dict[int, float] = field(default_factory=lambda: dict.fromkeys(range(1, 6), 0.0))
    modes: dict[int, packets.Mode] = field(
        default_factory=lambda: dict.fromkeys(range(1, 6), packets.Mode.STANDBY)
    )
    flags: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """HARDWARE_STATUS flags that are set."""
    position_limits: dict[int, tuple[float | None, float | None]] = field(
        default_factory=lambda: {
            device.id: (0.0, 6.2) if device.unit == "rad" else (0.0, 0.014) for device in DEVICES
        }
    )
    current_limits: dict[int, tuple[float, float]] = field(
        default_factory=lambda: dict.fromkeys(range(1, 6), (-0.6, 0.6))
    )
    deaf: set[int] = field(default_factory=set)
    """Devices that do not answer."""
    stuck: bool = False
    """Velocities are heard and not obeyed: the arm goes on as it did."""
    obeys_from: packets.Mode | None = None
    """Where it is stuck, the mode that ends it; None = none does."""
    torn: bool = False
    """Frames may come torn: the line takes parts of writes."""
    decoder: StreamDecoder = field(default_factory=StreamDecoder)
    heard: list[packets.Packet] = field(default_factory=list)

    def advance(self, seconds: float) -> None:
        for device, velocity in self.velocities.items():
            self.positions[device] += velocity * seconds

    def hear(self, data: bytes) -> bytes:
        replies = b""
        for frame in self.decoder.receive(data):
            if not isinstance(frame, Frame):
                assert self.torn, f"the driver sent a broken frame: {frame}"
                continue
            packet = packets.parse(frame)
            self.heard.append(packet)
            if isinstance(packet, packets.Velocity) and not self.stuck:
                for device in self.meant(packet):
                    if self.modes[device] not in OFF_MODES:
                        self.velocities[device] = packet.value
                        self.modes[device] = packets.Mode.VELOCITY
            if isinstance(packet, packets.SetMode):
                for device in self.meant(packet):
                    self.set_mode(device, packet.mode)
            if isinstance(packet, packets.CurrentLimits):
                self.current_limits[packet.device] = (packet.lower, packet.upper)
            if isinstance(packet, packets.Request) and packet.device not in self.deaf:
                replies += b"".join(
                    self.answer(packet.device, packet_id) for packet_id in packet.packet_ids
                )
        return replies

    @staticmethod
    def meant(packet: packets.Packet) -> tuple[int, ...]:
        """Return the devices that a packet is for."""
        return tuple(BY_ID) if packet.device == BROADCAST else (packet.device,)

    def set_mode(self, device: int, mode: packets.Mode) -> None:
        if self.stuck and mode is not self.obeys_from:
            return
        if self.modes[device] in OFF_MODES and mode not in (*OFF_MODES, packets.Mode.STANDBY):
            return
        self.modes[device] = mode
        self.velocities[device] = 0.0

    def answer(self, device: int, packet_id: int) -> bytes:
        return packets.encode(self.report(device, packets.PacketId(packet_id)))

    def report(self, device: int, packet_id: packets.PacketId) -> packets.Packet:
        ids = packets.PacketId
        match packet_id:
            case ids.MODE:
                return packets.SetMode(device, self.modes[device])
            case ids.HARDWARE_STATUS:
                return packets.HardwareStatus(device, self.flags.get(device, ()))
            case ids.POSITION_LIMITS:
                return packets.PositionLimits(device, *self.position_limits[device])
            case ids.VELOCITY_LIMITS:
                limit = RATE_LIMITS[BY_ID[device].index]
                return packets.VelocityLimits(device, -limit, limit)
            case ids.CURRENT_LIMITS:
                return packets.CurrentLimits(device, *self.current_limits[device])
            case ids.SOFTWARE_VERSION:
                return packets.SoftwareVersion(device, 2, 3, 1)
            case ids.FACTORY_CLIMATE:
                return packets.FactoryClimate(device, 20.0, 1e5, 10.0)
        value = {
            ids.POSITION: self.positions[device],
            ids.VELOCITY: self.velocities[device],
            ids.SERIAL_NUMBER: 5100.0 + device,
            ids.VOLTAGE: 24.0,
            ids.TEMPERATURE: 20.0,
            ids.HUMIDITY: 10.0,
        }.get(packet_id, 0.0)
        return packets.PACKETS[packet_id](device, value)


class Rig:
    """Core, arm and clock. `wire` keeps all that was written, with its time.

    Answers take as long as the line takes to carry them, or no time at all with `at_once`.
    """

    def __init__(self, mover: Any = None, at_once: bool = False, **settings) -> None:
        self.now = 1000.0
        self.arm = Arm()
        self.mover = PlainMover() if mover is None else mover
        schedule = {name: settings.pop(name) for name in SCHEDULE & settings.keys()}
        config = CoreConfig(schedule=ScheduleConfig(**schedule), **settings)
        self.core = DriverCore(config, BOUNDS, DESCRIPTION, self.mover)
        self.core.set_active(True, self.now)
        self.core.on_guard(True, self.now)
        self.wire: list[tuple[float, bytes]] = []
        self.purges: list[float] = []
        self._answers: deque[tuple[float, bytes]] = deque()
        """On their way, each with the time at which it is there."""
        self._answered_at = self.now
        self._byte_time = 0.0 if at_once else BYTE_TIME
        self.sequence = 0
        self.room = 1 << 30
        """Bytes that the line still takes."""

    def connect(self) -> Rig:
        """Open the line and let the driver learn all about the arm."""
        self.core.on_connected(self.now)
        self.run(1.0)
        return self

    def step(self) -> None:
        """Let one step of time pass and everything due happen."""
        self.now += STEP
        self.arm.advance(STEP)
        self._receive()
        self.core.tick(self.now)
        self.flush()

    def flush(self) -> None:
        """Write what the core wants to write now, and let the arm answer."""
        outgoing = self.core.data_to_send(self.now)
        if outgoing.purge:
            self.purges.append(self.now)
        taken = outgoing.data[: self.room]
        self.room -= len(taken)
        if taken:
            self.wire.append((self.now, taken))
            self.core.data_sent(len(taken), self.now)
            answer = self.arm.hear(taken)
            if answer:
                begins_at = max(self.now, self._answered_at)
                self._answered_at = begins_at + len(answer) * self._byte_time
                self._answers.append((self._answered_at, answer))
                self._receive()

    def _receive(self) -> None:
        """Hand over the answers that are there by now."""
        while self._answers and self._answers[0][0] <= self.now:
            self.core.receive_data(self._answers.popleft()[1], self.now)

    def run(self, seconds: float) -> None:
        """Let time pass."""
        for _ in range(round(seconds / STEP)):
            self.step()

    def send(
        self, command: GripperCommand = FORWARD, lifetime: float = LIFETIME, **fields
    ) -> None:
        """Send an INPUT, numbered in order unless told otherwise."""
        self.sequence += 1
        fields = {"sequence": self.sequence, "kind": CommandKind.INPUT, **fields}
        self.core.on_command(
            DriverCommand(input=command, lifetime=lifetime, **fields), self.now, self.now
        )

    def stop(self, level: StopLevel = StopLevel.NONE, lifetime: float = 0.0) -> None:
        """Send a STOP; one with a lifetime lets the motion fade."""
        self.sequence += 1
        command = DriverCommand(CommandKind.STOP, self.sequence, level, lifetime=lifetime)
        self.core.on_command(command, self.now, self.now)

    def twist(self, command: TwistCommand, lifetime: float = LIFETIME) -> None:
        """Send a TWIST."""
        self.sequence += 1
        self.core.on_command(
            DriverCommand(CommandKind.TWIST, self.sequence, twist=command, lifetime=lifetime),
            self.now,
            self.now,
        )

    def reset(self, epoch: int | None = None) -> None:
        """Send a RESET for `epoch`, by default the last one."""
        self.sequence += 1
        epoch = self.core.gate.estop_epoch if epoch is None else epoch
        self.core.on_command(
            DriverCommand(CommandKind.RESET, self.sequence, estop_epoch=epoch), self.now, self.now
        )

    def hold(self, seconds: float, command: GripperCommand = FORWARD) -> None:
        """Repeat an INPUT every 50 ms, as the arbiter does while a stick is held."""
        for _ in range(round(seconds / 0.05)):
            self.send(command)
            self.run(0.05)

    def start_moving(self) -> Rig:
        """Connect, and hold the stick until the arm moves."""
        self.connect()
        self.hold(0.2)
        assert self.moving
        return self

    @property
    def moving(self) -> bool:
        """Whether any joint of the arm moves, in truth."""
        return any(self.arm.velocities.values())

    def velocities(self, since: float) -> list[packets.Velocity]:
        """Return the velocity demands that were written from the time `since` on."""
        decoder = StreamDecoder()
        found = []
        for at, data in self.wire:
            for event in decoder.receive(data):
                if isinstance(event, Frame) and event.packet_id == packets.PacketId.VELOCITY:
                    packet = packets.parse(event)
                    assert isinstance(packet, packets.Velocity)
                    if at >= since:
                        found.append(packet)
        return found

    @property
    def refusal(self) -> str:
        """Return the code of the last refusal; empty = none."""
        last = self.core.desk.refusals.last
        return last.code if last else ""
