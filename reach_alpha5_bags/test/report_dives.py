"""Bags of dives that never were, message by message, for the tests of the report."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from mcap.writer import CompressionType, Writer
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState, Joy

from reach_alpha5_bags.definitions import definition
from reach_alpha5_msgs import msg

BEGIN = 1_780_000_000 * 10**9
"""Of each dive [ns since the epoch]: 2026-05-28 20:26:40 UTC."""

LATENCY = 0.004
"""From stamp to receipt [s]."""

HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>"
"""What a bag may say in the hope that a page runs it."""

JOINTS = ("axis_e", "axis_d", "axis_c", "axis_b", "axis_a")

KINDS: Mapping[str, Any] = {
    "arbiter_state": msg.ArbiterState,
    "arm_state": msg.ArmState,
    "gripper_tel": msg.GripperTel,
    "driver_command": msg.DriverCommand,
    "arbiter_journal": msg.ArbiterJournal,
    "estop": msg.EStop,
    "joint_states": JointState,
    "joy": Joy,
    "/diagnostics": DiagnosticArray,
}


class Tape:
    """A bag that is being written, as one MCAP file."""

    def __init__(self, path: Path, namespace: str = "/alpha5", chunk_size: int = 20_000) -> None:
        self.path = path
        self.namespace = namespace
        """Of what is written from now on."""
        self._stream = path.open("wb")
        self._writer = Writer(self._stream, chunk_size, CompressionType.ZSTD)
        self._channels: dict[str, int] = {}

    def __enter__(self) -> Tape:
        self._writer.start("ros2")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.finish()
        self._stream.close()

    def write(self, topic: str, message: Any, at: float, latency: float = LATENCY) -> None:
        """Write a message that was received `at` [s since the begin], stamped `latency` before."""
        received = BEGIN + round(at * 1e9)
        stamp = received - round(latency * 1e9)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        self.raw(topic, serialize_message(message), at)

    def raw(self, topic: str, data: bytes, at: float) -> None:
        """Write the bytes of a message."""
        received = BEGIN + round(at * 1e9)
        self._writer.add_message(self._channel(topic), received, data, received)

    def _channel(self, topic: str) -> int:
        full = topic if topic.startswith("/") else f"{self.namespace}/{topic}"
        if full not in self._channels:
            kind = KINDS[topic]
            name = f"{kind.__module__.split('.')[0]}/msg/{kind.__name__}"
            schema = self._writer.register_schema(name, "ros2msg", definition(name).encode())
            self._channels[full] = self._writer.register_channel(full, "cdr", schema)
        return self._channels[full]


def arbiter(**fields: Any) -> msg.ArbiterState:
    """Return a state of the arbiter with a driver that it hears."""
    return msg.ArbiterState(driver_connected=True, **fields)


def refusal(code: str, count: int, source: str = "app", reason: str = "") -> msg.Refusal:
    """Return a refusal."""
    return msg.Refusal(code=code, count=count, source=source, reason=reason)


def arm(**fields: Any) -> msg.ArmState:
    """Return a state of a connected arm that rests."""
    link = {"connected": True, "port": "/dev/ttyUSB0", "telemetry_rate": 76.0}
    link |= fields.pop("link", {})
    health = [
        msg.JointHealth(
            name=name,
            device_id=5 - number,
            current=0.1 + 0.05 * number,
            temperature=24.0 + number,
            voltage=23.9,
            humidity=18.0,
            device=msg.DeviceInfo(
                identified=True,
                serial_number=4711.0 + number,
                model_number=5.0,
                firmware="3.2.1",
                position_lower=0.0,
                position_upper=3.0,
            ),
        )
        for number, name in enumerate(JOINTS)
    ]
    values = {"state": msg.ArmState.ENABLED, "clearance": math.nan, "joints": health} | fields
    return msg.ArmState(link=msg.LinkCounters(**link), **values)


def joints(positions: Any, velocities: Any) -> JointState:
    """Return what the joints do."""
    return JointState(name=list(JOINTS), position=list(positions), velocity=list(velocities))


def tip(x: float, y: float, z: float) -> msg.GripperTel:
    """Return telemetry with the tip there [m]."""
    telemetry = msg.GripperTel()
    point = telemetry.gripper.end_position
    point.x, point.y, point.z = x, y, z
    return telemetry


def jog(x: float) -> msg.DriverCommand:
    """Return a command that moves along x, or for 0 asks for nothing."""
    command = msg.DriverCommand(kind=msg.DriverCommand.INPUT)
    command.input.arm_input = msg.GripperCtrl.ARM_INPUT_CARTESIAN
    command.input.cartesian.x = x
    return command


def write_story(tape: Tape, seconds: float = 60.0) -> None:
    """Write a dive in which something of everything happens.

    The pilot jogs from 5 to 15 s; an app is refused three times at 8 s; a fault latches at 20 s
    and is cleared at 24 s; the link is lost from 30 to 33 s; an e-stop is pressed at 40 s and
    cleared at 45 s. Things happen on whole seconds.
    """
    ticks = round(seconds * 50)
    for tick in range(ticks + 1):
        at = tick / 50
        jogs = 5.0 <= at < 15.0
        speed = 0.4 * math.cos(at) if 5.06 <= at < 15.08 else 0.0
        angle = 1.0 + 0.4 * math.sin(min(max(at, 5.0), 15.0))
        tape.write("joy", Joy(axes=[0.0] * 6, buttons=[0] * 15), at)
        tape.write("joint_states", joints([angle] * 4 + [0.005], [speed] * 4 + [0.0]), at)
        if tick % 5:
            continue
        told = arbiter(
            owner="teleop" if jogs else "",
            activity=1 if jogs else 0,
            stops=3 + (at >= 15.0) + (at >= 40.0),
            last_stop_cause="estop" if at >= 40.0 else "no_input",
            fault_latched=20.0 <= at < 24.0,
            fault_causes=["stop_unconfirmed"] if 20.0 <= at < 24.0 else [],
            estop_latched=40.0 <= at < 45.0,
            estop_level=1 if 40.0 <= at < 45.0 else 0,
            estop_source="console" if 40.0 <= at < 45.0 else "",
            estop_reason="diver in the water" if 40.0 <= at < 45.0 else "",
        )
        if at >= 8.0:
            told.last_refusal = refusal("not_owner", 3, reason="teleop has the arm")
        told.sources = [
            msg.SourceStatus(name="teleop", alive=True, heartbeat_age=0.1 + 0.01 * (tick % 7))
        ]
        tape.write("arbiter_state", told, at)
        lost = 30.0 <= at < 33.0
        state = 0 if lost else 3 if jogs else 2
        garbled = 2 + (at >= 30.0) * 9
        link = {"connected": not lost, "bad_crc": garbled, "reconnects": int(at >= 33.0)}
        tape.write("arm_state", arm(state=state, link=link), at)
        tape.write("gripper_tel", tip(0.4 + 0.2 * math.cos(angle), 0.2 * angle, 0.1), at)
        tape.write("driver_command", jog(0.5 if jogs else 0.0), at, latency=0.002)
        if at == 40.0:
            tape.write(
                "estop", msg.EStop(level=1, source="console", reason="diver in the water"), at
            )
