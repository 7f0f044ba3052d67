"""A long dive that never was, at the rates of a real one: a bag for the benchmark of the report.

The arm moves through a cycle of a minute. What is said in it is made once and written again and
again with the stamps of its time, so that writing it takes no longer than reading it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from mcap.writer import CompressionType, Writer
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState, Joy

from reach_alpha5_bags.definitions import definition
from reach_alpha5_msgs import msg

BEGIN = 1_780_000_000 * 10**9
CYCLE = 60.0
"""Time [s] after which the arm does the same again."""
MOVES = 40.0
"""Of it, the time [s] in which it moves, from the begin on."""
JOINTS = ("axis_e", "axis_d", "axis_c", "axis_b", "axis_a")
LATENCIES = (0.0006, 0.0011, 0.0008, 0.0043, 0.0009)
"""From stamp to receipt [s], in turns."""
CHUNK_SIZE = 768 * 1024
"""Bytes: the default of rosbag2's storage plugin."""


def _wave(at: float) -> float:
    return 0.5 * math.sin(2 * math.pi * at / 20.0)


def _joint_states(at: float) -> JointState:
    moves = at < MOVES
    angle = _wave(at if moves else MOVES)
    speed = 0.5 * 2 * math.pi / 20.0 * math.cos(2 * math.pi * at / 20.0) if moves else 0.0
    return JointState(
        name=list(JOINTS),
        position=[1.5 + angle * (1 - 0.1 * k) for k in range(4)] + [0.005],
        velocity=[speed * (1 - 0.1 * k) for k in range(4)] + [0.0],
    )


def _health(number: int, at: float) -> msg.JointHealth:
    return msg.JointHealth(
        name=JOINTS[number], device_id=5 - number, mode=2, position=_wave(at), velocity=0.0,
        current=0.2 + 0.1 * abs(_wave(at + number)), temperature=24.0 + number, humidity=20.0,
        voltage=23.8, age=0.01, mode_age=1.0, velocity_age=0.01, current_age=0.01,
        device=msg.DeviceInfo(
            identified=True, serial_number=4711.0, model_number=5.0, firmware="3.2.1",
            position_upper=3.2, velocity_upper=0.5, current_upper=2.0,
        ),
    )  # fmt: skip


def _arm_state(at: float) -> msg.ArmState:
    moves = at < MOVES
    return msg.ArmState(
        state=3 if moves else 2, powered=True, active=True, identified=True, plannable=True,
        clearance=0.2 + 0.1 * _wave(at), collision_pair="link_b hull",
        blocked_by=["limit axis_d"] if 10.0 < at < 12.0 else [],
        link=msg.LinkCounters(
            connected=True, port="/dev/ttyUSB0", telemetry_rate=76.0, telemetry_planned=76.8
        ),
        joints=[_health(number, at) for number in range(len(JOINTS))],
    )  # fmt: skip


def _arbiter_state(at: float) -> msg.ArbiterState:
    moves = at < MOVES
    state = msg.ArbiterState(
        owner="teleop" if moves else "", activity=1 if moves else 0, driver_connected=True,
        last_stop_cause="no_input", stops=10 + (at >= MOVES),
        sources=[
            msg.SourceStatus(
                name=name, alive=True, present=True, heartbeat_age=0.1, client_id=f"{name}-1"
            )
            for name in ("teleop", "console", "app", "planner")
        ],
    )  # fmt: skip
    state.last_refusal = msg.Refusal(
        code="not_owner", reason="teleop has the arm", source="app", count=5 + (at > 20.0)
    )
    return state


def _gripper_tel(at: float) -> msg.GripperTel:
    telemetry = msg.GripperTel()
    end = telemetry.gripper.end_position
    angle = _wave(min(at, MOVES))
    end.x, end.y, end.z = 0.4 + 0.2 * math.cos(angle), 0.4 * math.sin(angle), 0.1 + 0.1 * angle
    return telemetry


def _driver_command(at: float) -> msg.DriverCommand:
    command = msg.DriverCommand(kind=1 if at < MOVES else 0)
    command.input.arm_input = 2 if at < MOVES else 0
    command.input.cartesian.x = 0.5 if at < MOVES else 0.0
    return command


def _joy(at: float) -> Joy:
    return Joy(axes=[0.0, 0.5 if at < MOVES else 0.0, 0.0, 0.0, 0.0, 0.0], buttons=[0] * 21)


def _journal(at: float) -> msg.ArbiterJournal:
    entry = '{"at":1234.567891,"event":"command","source":"teleop","input":[0.5,0.0,0.0]}'
    return msg.ArbiterJournal(session=1, entries=[entry] * 12)


def _diagnostics(at: float) -> DiagnosticArray:
    values = [KeyValue(key=f"value {k}", value="1.0") for k in range(12)]
    return DiagnosticArray(
        status=[DiagnosticStatus(name=f"/alpha5/driver: {n}", values=values) for n in JOINTS]
    )


@dataclass(frozen=True, slots=True)
class Said:
    """One topic of the dive."""

    rate: float
    """[Hz]"""
    kind: Any
    make: Callable[[float], Any]
    """What it says at a time of the cycle [s]."""


TOPICS: Mapping[str, Said] = {
    "/alpha5/joint_states": Said(77.0, JointState, _joint_states),
    "/alpha5/joy": Said(50.0, Joy, _joy),
    "/alpha5/driver_command": Said(20.0, msg.DriverCommand, _driver_command),
    "/alpha5/arm_state": Said(20.0, msg.ArmState, _arm_state),
    "/alpha5/gripper_tel": Said(20.0, msg.GripperTel, _gripper_tel),
    "/alpha5/arbiter_state": Said(11.0, msg.ArbiterState, _arbiter_state),
    "/alpha5/arbiter_journal": Said(10.0, msg.ArbiterJournal, _journal),
    "/diagnostics": Said(2.0, DiagnosticArray, _diagnostics),
}


def write(path: Path, seconds: float) -> int:
    """Write the bag as one MCAP file and return its number of messages."""
    pools: dict[str, Sequence[bytes]] = {
        topic: [
            serialize_message(said.make(number / said.rate))
            for number in range(round(said.rate * CYCLE))
        ]
        for topic, said in TOPICS.items()
    }
    count = 0
    with path.open("wb") as file:
        writer = Writer(file, CHUNK_SIZE, CompressionType.ZSTD)
        writer.start("ros2")
        channels = {}
        for topic, said in TOPICS.items():
            name = f"{said.kind.__module__.split('.')[0]}/msg/{said.kind.__name__}"
            schema = writer.register_schema(name, "ros2msg", definition(name).encode())
            channels[topic] = writer.register_channel(topic, "cdr", schema)
        # One second after the other, each in the order of time, as a recorder writes it.
        for second in range(math.ceil(seconds)):
            due = sorted(
                (number / said.rate, topic, number)
                for topic, said in TOPICS.items()
                for number in range(
                    math.ceil(second * said.rate), math.ceil((second + 1) * said.rate)
                )
            )
            for at, topic, number in due:
                pool = pools[topic]
                receipt = BEGIN + round(at * 1e9)
                stamp = receipt - round(LATENCIES[number % len(LATENCIES)] * 1e9)
                data = bytearray(pool[number % len(pool)])
                struct.pack_into("<iI", data, 4, *divmod(stamp, 10**9))
                writer.add_message(channels[topic], receipt, bytes(data), receipt)
            count += len(due)
        writer.finish()
    return count
