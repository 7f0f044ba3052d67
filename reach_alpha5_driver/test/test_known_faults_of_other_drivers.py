"""Faults that other drivers of this arm are known for, each put to the test at the far end.

The driver's core and the simulated arm share a virtual clock. What is judged is what a fault would
spoil: the frames that reach the arm, its true motion, and what the driver tells of it.
"""

from __future__ import annotations

import math
import random
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest
from driver_rig import BOUNDS, DESCRIPTION, FORWARD, PlainMover

from reach_alpha5_common.command import CommandKind, DriverCommand, StopLevel
from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_driver.budget import line_problem, planned_rate
from reach_alpha5_driver.cli.compose import RECIPES
from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.configuration import core_config
from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.devices import BASE_UNIT, BROADCAST, BY_ID, DEVICES
from reach_alpha5_driver.frame_sizes import DEMAND_BYTES
from reach_alpha5_driver.identification import QUESTIONS
from reach_alpha5_driver.parameters import PARAMETERS
from reach_alpha5_driver.protocol.codec import Frame, encode
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.protocol.packets import Mode, PacketId
from reach_alpha5_driver.reporting import arm_picture
from reach_alpha5_driver.schedule import (
    FAST,
    HEARTBEAT,
    RS485,
    SLOW,
    WIRINGS,
    ScheduleConfig,
)
from reach_alpha5_driver.sim.arm import ArmConfig
from reach_alpha5_driver.sim.line import UART_FIFO
from reach_alpha5_driver.sim.simulation import FIRST_SERIAL_NUMBER, SimConfig, Simulation
from reach_alpha5_driver.snapshot import ArmPicture, JointPicture
from reach_alpha5_driver.states import State

POSTURE = {5: 3.0, 4: 1.7, 3: 1.7, 2: 3.0, 1: 0.007}
"""Far from all limits [rad, m]."""

RATES = (0.2, -0.1, 0.1, 0.3, 0.001)
"""All joints move [rad/s, m/s]."""

REPEAT = 0.05
"""Time between two commands while the stick is held [s]."""

LIFETIME = 0.25
"""[s]"""

READ_SPACING = 0.006
"""Least time between two reads, as in the control loop [s]."""

TURN = 0.0002
"""What one turn of the loop takes at the least [s]: so a busy loop is one that turns as often."""

STILL = 0.01
"""True speed of a joint at rest [rad/s; jaws mm/s]."""

BRAKING = 0.2
"""Time that a joint takes to come to rest once it was told to [s]."""

STOP_FRAME = 11
"""Bytes of the first frame of a stop, and of the terminator before it."""

OVERDUE = 0.015
"""Time in which any device has begun to answer, and has ended it [s]."""


class World:
    """Core and arm; `wire` keeps every frame that reached the arm, with the time of its end."""

    def __init__(self, arm: ArmConfig | None = None, **schedule) -> None:
        config = ScheduleConfig(**schedule)
        arm = arm or ArmConfig(posture=POSTURE)
        self.now = 0.0
        self.sim = Simulation(
            SimConfig(arm=arm, baud=config.baud_rate, half_duplex=config.half_duplex), self.now
        )
        self.mover = PlainMover()
        self.mover.rates = RATES
        self.core = DriverCore(CoreConfig(schedule=config), BOUNDS, DESCRIPTION, self.mover)
        self.core.set_active(True, self.now)
        self.core.on_guard(True, self.now)
        self.core.on_connected(self.now)
        self.wire: list[tuple[float, Frame]] = []
        self.turns = 0
        self.most_queued = 0
        self._decoder = StreamDecoder()
        self._inbox: list[bytes] = []
        self._next_read = 0.0
        self._sequence = 0

    # -- time, as the control loop spends it

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, max(self.now + TURN, self._due()))
            self.turn()

    def run_until(self, condition: Callable[[], bool]) -> None:
        end = self.now + 1.0
        while not condition():
            assert self.now < end
            self.run(TURN)

    def turn(self) -> None:
        self.turns += 1
        self._advance()
        prompt = self.core.outbox.prompt_reads
        if self._inbox and (prompt or self.now >= self._next_read):
            self._next_read = self.now + READ_SPACING
            for data in self._inbox:
                self.core.receive_data(data, self.now)
            self._inbox.clear()
        self.core.tick(self.now)
        self.write()

    def write(self) -> None:
        if self.core.outbox.wants_queued:
            self.core.data_sent(0, self.now, self.sim.line.to_arm.backlog())
        outgoing = self.core.data_to_send(self.now)
        if outgoing.purge:
            self.sim.purge(self.now)
        if outgoing.data:
            self.sim.receive(outgoing.data, self.now)
            self.core.data_sent(len(outgoing.data), self.now)
        self.most_queued = max(self.most_queued, self.sim.line.to_arm.backlog())

    def _due(self) -> float:
        arrival = self.sim.due()
        arrival = math.inf if arrival is None else arrival
        if not self.core.outbox.prompt_reads:
            arrival = max(arrival, self._next_read)
        return min(self.core.next_wakeup(self.now), arrival)

    def _advance(self) -> None:
        passed = self.sim.advance(self.now)
        for chunk in passed.to_arm:
            for event in self._decoder.receive(chunk.data):
                if isinstance(event, Frame):
                    self.wire.append((chunk.end, event))
        self._inbox += [chunk.data for chunk in passed.to_driver]

    def say(self, data: bytes) -> None:
        """Let somebody else say something on the line to the driver."""
        self.sim.line.send_to_driver(BASE_UNIT, self.now, data)

    # -- what others want

    def settle(self) -> World:
        """Let the driver learn what the arm is, slow values and all."""
        end = self.now + 10.0
        while not self._knows_all():
            assert self.now < end
            self.run(0.1)
        return self

    def _knows_all(self) -> bool:
        picture = self.picture
        values = [value for joint in picture.joints for value in joint.values.values()]
        return picture.identified and not picture.holds and not any(map(math.isnan, values))

    def hold(self, seconds: float) -> None:
        """Hold the stick."""
        for _ in range(round(seconds / REPEAT)):
            self._command(CommandKind.INPUT, input=FORWARD, lifetime=LIFETIME)
            self.run(REPEAT)

    def reset(self) -> None:
        self._command(CommandKind.STOP)
        self._command(CommandKind.RESET, estop_epoch=self.core.gate.estop_epoch)

    def estop(self, level: StopLevel) -> float:
        """Press it, let the core write at once, and return the time."""
        self.core.on_estop(level, "diver", "a test", self.now)
        self.turn()
        return self.now

    def _command(self, kind: CommandKind, **fields) -> None:
        self._sequence += 1
        command = DriverCommand(kind, self._sequence, **fields)
        self.core.on_command(command, self.now, self.now)
        self.turn()

    # -- what came of it

    @property
    def picture(self) -> ArmPicture:
        return arm_picture(self.core, self.now)

    @property
    def moving(self) -> list[int]:
        """Devices whose joints move, in truth."""
        joints = self.sim.arm.joints.items()
        return sorted(device for device, joint in joints if abs(joint.velocity) > STILL)

    def frames(self, packet_id: int, since: float = 0.0) -> list[tuple[float, Frame]]:
        """Return the frames with this packet that reached the arm."""
        return [
            (at, frame) for at, frame in self.wire if frame.packet_id == packet_id and at >= since
        ]

    def motion(self, since: float) -> list[tuple[float, Frame]]:
        """Return the frames that asked a joint to move."""
        found = self.frames(PacketId.VELOCITY, since)
        return [(at, frame) for at, frame in found if any(frame.payload)]


def requests(world: World, since: float = 0.0) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield device and ids of every request that reached the arm."""
    for _, frame in world.frames(PacketId.REQUEST, since):
        yield frame.device_id, tuple(frame.payload)


# -- integer period of zero (busy loop)


@pytest.mark.parametrize(
    ("schedule", "rate"),
    [
        ({"telemetry_rate": 0.4}, 0.4),
        ({"telemetry_rate": 1.5}, 1.5),
        ({"telemetry_rate": 60.0}, 60.0),
        ({"telemetry_rate": 12.5, "wiring": RS485}, 12.5),
        ({"telemetry_rate": 150.0, "baud_rate": 1_000_000}, 150.0),
        ({"telemetry_rate": 50.0, "telemetry": HEARTBEAT}, 50.0),
    ],
)
def test_known_fault_integer_period_of_zero(schedule, rate):
    world = World(**schedule)
    world.run(3.0)
    began, turns, seconds = world.now, world.turns, 4.0
    world.hold(seconds)
    assert (world.turns - turns) / seconds < 0.4 / TURN, "the loop sleeps"
    asked = Counter(ids for _, ids in requests(world, began))[FAST] / len(DEVICES) / seconds
    if schedule.get("telemetry") == HEARTBEAT:
        beats = {frame.payload[0] for _, frame in world.frames(PacketId.HEARTBEAT_FREQUENCY)}
        assert beats == {0, round(rate)}, "quiet first, then as asked"
        assert asked == 0.0
    else:
        assert asked == pytest.approx(rate, abs=0.5)


@pytest.mark.parametrize("control_rate", [10.0, 50.0, 100.0])
def test_known_fault_integer_period_of_zero_between_two_demands(control_rate):
    world = World(control_rate=control_rate).settle()
    world.hold(0.5)
    began, seconds = world.now, 2.0
    world.hold(seconds)
    demands = Counter(frame.device_id for _, frame in world.motion(began))
    assert demands.keys() == BY_ID.keys()
    for count in demands.values():
        assert count == pytest.approx(seconds * control_rate, rel=0.1, abs=2)


# -- request lists padded with zero ids


@pytest.mark.parametrize("wiring", WIRINGS)
def test_known_fault_request_lists_padded_with_zero_ids(wiring):
    world = World(wiring=wiring).settle()
    world.hold(0.5)
    world.sim.devices[3].power_off()
    world.run(2.0)
    world.sim.devices[3].power_on(world.now)
    world.run(2.0)
    asked = set()
    for device, ids in requests(world):
        assert device in BY_ID
        assert 1 <= len(ids) <= 10
        assert len(set(ids)) == len(ids)
        asked |= set(ids)
    assert asked == {*FAST, *SLOW, *(question.packet_id for question in QUESTIONS)}


# -- limits sent min-first


def test_known_fault_limits_sent_min_first():
    world = World().settle()
    ((_, frame),) = world.frames(PacketId.CURRENT_LIMITS)
    most, least = struct.unpack("<ff", frame.payload)
    grip = 1000.0 * world.core.config.grip.grip_current
    assert (frame.device_id, most, least) == (1, grip, -grip)
    assert world.sim.arm.joints[1].current_limits == (-grip, grip)


@pytest.mark.parametrize(
    ("recipe", "kind"), [("position-limits", "position"), ("velocity-limits", "velocity")]
)
def test_known_fault_limits_sent_min_first_from_the_desk(recipe, kind):
    world = World()
    world.sim.receive(RECIPES[recipe].make(5, ["-0.4", "0.5"]), world.now)
    world.run(0.1)
    limits = getattr(world.sim.arm.joints[5], f"{kind}_limits")
    assert limits == pytest.approx((-0.4, 0.5))


def test_known_fault_limits_taken_min_first():
    world = World(ArmConfig(posture=POSTURE, position_limits={5: (1.0, 5.5)})).settle()
    joint = BY_ID[5].index
    limits = world.core.supervisor.joint_limits
    assert (limits.lower[joint], limits.upper[joint]) == pytest.approx((1.0, 5.5))
    assert not [label for label in world.picture.mismatches if "_limits" in label]


# -- a stop held in a half-duplex buffer


def test_known_fault_a_stop_held_in_a_half_duplex_buffer():
    world = World(wiring=RS485).settle()
    for device in BY_ID:
        world.hold(0.3)
        assert world.moving == sorted(BY_ID)
        world.sim.devices[device].deaf = True  # its answer never comes, and its motor goes on
        world.run_until(partial(awaits_in_vain, world, device))
        pressed = world.estop(StopLevel.SETTLE_THEN_CUT)
        world.run(0.05)
        at, frame = world.frames(PacketId.VELOCITY, pressed)[0]
        assert (frame.device_id, frame.payload) == (BROADCAST, bytes(4))
        assert at - pressed <= (UART_FIFO + STOP_FRAME + 1) * world.sim.line.byte_time
        world.sim.devices[device].deaf = False
        world.run(1.5)
        assert not world.moving
        world.reset()
        world.run(0.5)


def test_known_fault_a_stop_held_in_a_half_duplex_buffer_while_the_arm_answers():
    world = World(wiring=RS485).settle()
    phase, into_answers = random.Random(5), 0
    for _ in range(12):
        world.hold(0.2)
        world.run(phase.uniform(0.0, 0.05))
        assert world.moving == sorted(BY_ID)
        collisions = world.sim.line.collisions
        world.estop(StopLevel.SETTLE_THEN_CUT)
        world.run(BRAKING)
        into_answers += world.sim.line.collisions > collisions
        assert not world.moving
        world.run(1.0)
        world.reset()
        world.run(0.5)
    assert into_answers > 3


def awaits_in_vain(world: World, device: int) -> bool:
    """Say whether the driver waits for an answer of `device` that would be here by now."""
    at, frame = world.frames(PacketId.REQUEST)[-1]
    overdue = world.now > at + OVERDUE
    return overdue and frame.device_id == device and world.core.telemetry.poller.awaiting


# -- device id used as an unchecked index


def test_known_fault_device_id_used_as_an_unchecked_index():
    world = World().settle()
    world.hold(0.5)
    strangers = [number for number in range(256) if number not in BY_ID]
    refused = world.core.telemetry.packet_errors
    assert not refused
    told = 0
    for start in range(0, len(strangers), 10):
        for number in strangers[start : start + 10]:
            for packet_id, payload in STRANGE.items():
                world.say(encode(Frame(number, packet_id, payload)))
                told += 1
        world.hold(2 * REPEAT)
        for device in DEVICES:
            joint = world.picture.joints[device.index]
            assert near_truth(world, joint)
            assert joint.identity.serial_number == FIRST_SERIAL_NUMBER + device.id
            assert not joint.status_flags
    assert world.moving == sorted(BY_ID)
    world.run(READ_SPACING)
    assert refused.total() == told
    assert refused["unknown_device"] >= told - len(STRANGE)  # to all, only zero can be said


def test_known_fault_device_id_used_as_an_unchecked_index_of_another_joint():
    world = World().settle()
    for device in DEVICES:
        joint = world.sim.arm.joints[device.id]
        joint.place(joint.position * 1.01)
        world.run(0.2)
        assert all(near_truth(world, each) for each in world.picture.joints)


STRANGE = {
    PacketId.POSITION: struct.pack("<f", 2.0),
    PacketId.VELOCITY: struct.pack("<f", 0.1),
    PacketId.MODE: bytes((Mode.DISABLE,)),
    PacketId.SERIAL_NUMBER: struct.pack("<f", 1.0),
    PacketId.HARDWARE_STATUS: b"\xff\xff\xff\xff",
    PacketId.POSITION_LIMITS: struct.pack("<ff", 1.0, 0.9),
}
"""What a device that the arm has not may say."""


def near_truth(world: World, joint: JointPicture) -> bool:
    """Say whether the joint is believed to be where it is, but for the way of a report."""
    device = BY_ID[joint.device_id]
    truth = world.sim.arm.joints[device.id].reported_position / device.wire_per_si
    return abs(joint.position - truth) <= {"rad": 0.05, "m": 0.0005}[device.unit]


# -- last value returned for ever with no age


@pytest.mark.parametrize("device", BY_ID)
def test_known_fault_last_value_returned_for_ever_with_no_age(device):
    world = World().settle()
    world.hold(1.0)
    world.sim.devices[device].deaf = True
    world.run(0.1)
    index = BY_ID[device].index
    for silence in (1.0, 8.0):
        before = world.picture.joints[index]
        sample = world.core.telemetry.sample
        world.run(silence)
        joint = world.picture.joints[index]
        for name, age in joint.ages.items():
            assert age == pytest.approx(before.ages[name] + silence), name
        assert joint.stale and joint.suspect
        assert math.isnan(joint.values["velocity"]) and math.isnan(joint.values["current"])
        assert world.core.telemetry.sample is sample, "no joint state is told anew"
    assert all(map(math.isnan, joint.values.values())), "the slow values are too old as well"
    assert joint.mode is None
    assert [each.device_id for each in world.picture.joints if each.stale] == [device]


def test_known_fault_last_value_returned_for_ever_with_no_age_moves_nothing():
    world = World().settle()
    world.hold(1.0)
    world.sim.devices[3].deaf = True
    deaf_from = world.now
    world.hold(3.0)
    assert world.motion(deaf_from), "nobody knows at once"
    assert not world.motion(deaf_from + world.core.config.stale_after + REPEAT)
    assert set(world.moving) <= {3}
    assert world.picture.state is State.IDLE


# -- last command repeated for ever


@pytest.mark.parametrize("wiring", WIRINGS)
def test_known_fault_last_command_repeated_for_ever(wiring):
    world = World(wiring=wiring).settle()
    world.hold(1.0)
    last_said = world.now - REPEAT
    assert world.moving == sorted(BY_ID)
    world.run(0.5)
    ends = last_said + LIFETIME
    assert not world.motion(ends + 0.02)
    at, _ = world.frames(PacketId.VELOCITY, ends)[0]
    assert at <= ends + 0.02
    assert not world.moving
    rested = world.now
    world.run(5.0)
    assert not world.frames(PacketId.VELOCITY, rested), "no stream of zeroes either"
    assert not world.moving


@pytest.mark.parametrize("wiring", WIRINGS)
def test_known_fault_last_command_repeated_for_ever_instead_of_the_newer_one(wiring):
    world = World(wiring=wiring, control_rate=1.0 / REPEAT).settle()  # both in step
    world.hold(0.5)
    world.mover.rates = slower = tuple(rate / 2.0 for rate in RATES)
    world.hold(0.5)
    heard = {frame.device_id: frame.payload for _, frame in world.motion(0.0)}
    for device, rate in zip(DEVICES, slower, strict=True):
        (told,) = struct.unpack("<f", heard[device.id])
        assert told == pytest.approx(rate * device.wire_per_si)


def test_known_fault_last_command_repeated_for_ever_after_the_line_was_lost():
    world = World().settle()
    world.hold(1.0)
    world.core.on_disconnected("unplugged", world.now)
    world.run(0.05)
    back = world.now
    world.core.on_connected(world.now)
    world.hold(3.0)  # the stick was never let go
    assert world.picture.identified
    assert not world.motion(back)
    assert not world.moving


# -- an emergency stop that sends standby instead


@pytest.mark.parametrize("level", [StopLevel.SETTLE_THEN_CUT, StopLevel.CUT])
@pytest.mark.parametrize("wiring", WIRINGS)
def test_known_fault_an_emergency_stop_that_sends_standby_instead(wiring, level):
    world = World(wiring=wiring).settle()
    world.hold(1.0)
    world.run_until(lambda: not world.core.telemetry.poller.awaiting or wiring != RS485)
    pressed = world.estop(level)
    world.hold(2.0)
    # A frame that lacks nothing but its terminator gets the one that leads the stop.
    beyond_recall = pressed + (UART_FIFO + 1) * world.sim.line.byte_time
    after = [f for at, f in world.wire if at > pressed and f.packet_id in TELLS]
    told = [(frame.packet_id, frame.device_id, frame.payload) for frame in after]
    zeroes = [(PacketId.VELOCITY, each, bytes(4)) for each in (BROADCAST, *sorted(BY_ID))]
    first = told.index(zeroes[0])
    assert first <= 2, "no more than what was in the UART goes before it"
    assert told[first : first + len(zeroes)] == zeroes
    modes = {payload for packet_id, _, payload in told if packet_id == PacketId.MODE}
    assert modes == {bytes((Mode.DISABLE,))}, "the power goes, and standby is never said"
    assert not world.motion(beyond_recall), "the stick cannot drive through it"
    assert not world.moving
    assert all(joint.mode == Mode.DISABLE for joint in world.sim.arm.joints.values())


TELLS = frozenset({PacketId.MODE, PacketId.VELOCITY, PacketId.POSITION, PacketId.CURRENT})
"""What moves or stops a joint, or takes its power."""


# -- a rate that the line cannot carry

LINES = [
    {},
    {"wiring": RS485},
    {"telemetry": HEARTBEAT},
    {"baud_rate": 57600},
    {"baud_rate": 38400, "control_rate": 20.0},
    {"wiring": RS485, "control_rate": 25.0},
]


@pytest.mark.parametrize("line", LINES)
def test_known_fault_a_rate_that_the_line_cannot_carry(line):
    config = ScheduleConfig(**line)
    planned = planned_rate(config)
    problem = line_problem(replace(config, telemetry_rate=math.floor(planned) + 1.0))
    assert problem is not None
    assert problem.code == "line_overloaded"
    assert f"the line has {config.bytes_per_second:.0f}" in problem.reason or (
        config.telemetry == HEARTBEAT
    )
    world = World(**line).settle()
    world.hold(1.0)
    lost, collisions = world.sim.replies_lost, world.sim.line.collisions
    reports = [joint.reports for joint in world.core.telemetry.belief.joints]
    began, seconds = world.now, 3.0
    world.hold(seconds)
    joints = world.core.telemetry.belief.joints
    for joint, before in zip(joints, reports, strict=True):
        assert (joint.reports - before) / seconds >= 0.95 * planned
    assert (world.sim.replies_lost, world.sim.line.collisions) == (lost, collisions)
    demands = Counter(frame.device_id for _, frame in world.motion(began))
    assert demands.keys() == BY_ID.keys()
    assert min(demands.values()) >= 0.9 * seconds * config.control_rate
    cycle = config.bytes_per_second / config.control_rate
    assert world.most_queued <= 2 * cycle + DEMAND_BYTES


@pytest.mark.parametrize(
    "line",
    [
        {"telemetry_rate": 100.0},
        {"telemetry_rate": 40.0, "wiring": RS485},
        {"telemetry_rate": 75.0, "telemetry": HEARTBEAT},
        {"baud_rate": 19200},
        {"wiring": RS485, "control_rate": 100.0, "baud_rate": 38400},
    ],
)
def test_known_fault_a_rate_that_the_line_cannot_carry_is_refused_at_start(line):
    values = {entry.name: entry.default for entry in PARAMETERS} | line
    with pytest.raises(ParameterError, match=r"bytes/s.* the line has \d+"):
        core_config(values)
