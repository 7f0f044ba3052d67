"""The real node over real DDS against the simulated arm, judged by the byte log of the line."""

from __future__ import annotations

import itertools
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import rclpy
import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from xacro import process_file

from reach_alpha5_common.command import (
    STILL,
    ArmInput,
    Cartesian,
    CommandKind,
    Cylindrical,
    GripperCommand,
    GripperVelocities,
)
from reach_alpha5_common.command import DriverCommand as Command
from reach_alpha5_common.messages import driver_command_message
from reach_alpha5_driver.sim.log import LoggedVelocity, WireLog, read_log
from reach_alpha5_driver.sim.process import SimProcess
from reach_alpha5_msgs.msg import ArmState, DriverCommand, EStop, GripperCtrl, GripperTel

TIMEOUT = 60.0
PERIOD = 0.05
LIFETIME = 0.25
PREFIX = "left_"
POSTURE = ("--initial-posture", "3.0,1.57,1.57,3.0,0.007")
A, B, E = 1, 2, 5
UP = GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(z=-1.0))
CLOCKWISE = GripperCommand(arm_input=ArmInput.CYLINDRICAL, cylindrical=Cylindrical(azimuth=1.0))


def urdf() -> str:
    try:
        folder = Path(get_package_share_directory("reach_alpha5_description"))
    except PackageNotFoundError:
        folder = Path(__file__).resolve().parents[2] / "reach_alpha5_description"
    file = folder / "urdf" / "drone.urdf.xacro"
    return str(process_file(str(file), mappings={"prefix": PREFIX}).toxml())


class Operator:
    """Stands in for the arbiter: sends commands, watches what the driver tells."""

    def __init__(self, namespace: str, domain: int) -> None:
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node("operator", namespace=namespace, context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.commands = self.node.create_publisher(DriverCommand, "driver_command", 10)
        self.estops = self.node.create_publisher(EStop, "estop", 10)
        self.arm_state = ArmState()
        self.arm_states = 0
        self.joint_states: list[JointState] = []
        self.tel = GripperTel()
        self.diagnostics: dict[str, str] = {}
        self.node.create_subscription(ArmState, "arm_state", self._on_arm_state, 10)
        self.node.create_subscription(JointState, "joint_states", self.joint_states.append, 10)
        self.node.create_subscription(GripperTel, "gripper_tel", self._on_tel, 10)
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self.sequence = itertools.count(1)

    def _on_arm_state(self, message: ArmState) -> None:
        self.arm_state = message
        self.arm_states += 1

    def _on_tel(self, message: GripperTel) -> None:
        self.tel = message

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        self.diagnostics |= {status.name: status.message for status in message.status}

    def spin(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            self.executor.spin_once(timeout_sec=left)

    def until(self, condition: Callable[[], object]) -> None:
        """Spin until the condition holds."""
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            assert time.monotonic() < deadline, f"did not happen in time; {self.arm_state}"
            self.executor.spin_once(timeout_sec=0.02)

    def send(self, command: GripperCommand, lifetime: float = LIFETIME) -> None:
        self._send(Command(CommandKind.INPUT, input=command, lifetime=lifetime))

    def stop(self) -> None:
        self._send(Command(CommandKind.STOP))

    def reset(self) -> None:
        self._send(Command(CommandKind.RESET, estop_epoch=self.arm_state.estop_epoch))

    def _send(self, command: Command) -> None:
        message = driver_command_message(command)
        message.sequence = next(self.sequence)
        self.commands.publish(message)

    def hold(self, command: GripperCommand, condition: Callable[[], object]) -> None:
        """Repeat an input as the arbiter does, until the condition holds."""
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            assert time.monotonic() < deadline, f"did not happen in time; {self.arm_state}"
            self.send(command)
            self.spin(PERIOD)

    def push(self, command: GripperCommand, condition: Callable[[], object]) -> None:
        """As `hold`, from neutral: released and pushed again should the machine stall."""

        def moved() -> bool:
            if self.arm_state.last_refusal.code in ("not_engaged", "stale_posture"):
                self.stop()
            return bool(condition())

        self.stop()
        self.hold(command, moved)

    def press_estop(self) -> None:
        self.estops.publish(EStop(level=EStop.CUT, source="test", reason="pressed"))

    def close(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


class Drive:
    """A simulated arm, the driver's process, and an operator."""

    def __init__(self, folder: Path, **parameters: object) -> None:
        self.folder = folder
        self.domain = random.randrange(1, 100)
        self.namespace = f"/test_{os.getpid()}_{random.randrange(1 << 30)}"
        self.sim = SimProcess(*POSTURE, folder=folder)
        self.parameters = {
            "robot_description": urdf(),
            "prefix": PREFIX,
            "serial_port": str(folder / "port"),
            "reconnect_period": 0.1,
            **parameters,
        }
        self.operator = Operator(self.namespace, self.domain)
        self.since = 0
        """Where the log is read from: a moment at which the arm was at rest."""
        self.process: subprocess.Popen[str] | None = None

    def start_sim(self) -> None:
        self.sim = SimProcess(*POSTURE, folder=self.folder)
        self.sim.__enter__()
        self.since = 0

    def start_driver(self) -> None:
        file = self.folder / "parameters.yaml"
        file.write_text(yaml.safe_dump({"/**": {"ros__parameters": self.parameters}}))
        self.output = (self.folder / "driver.out").open("w+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "reach_alpha5_driver.node", "--ros-args",
             "--params-file", str(file), "-r", f"__ns:={self.namespace}"],
            env={**os.environ, "ROS_DOMAIN_ID": str(self.domain)},
            stdout=self.output, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def ready(self) -> bool:
        state = self.operator.arm_state
        fresh = bool(state.joints) and not any(joint.stale for joint in state.joints)
        return fresh and self.operator.commands.get_subscription_count() == 1

    def mark(self) -> int:
        """Return where the log is now, for reading only what comes after."""
        return self.sim.log_path.stat().st_size

    def log(self, since: int | None = None) -> WireLog:
        return read_log(self.sim.log_path, offset=self.since if since is None else since)

    def told(self, device: int) -> float:
        """Return the velocity that a joint was last told."""
        return self.log().demanded().get(device, 0.0)

    def moving(self) -> bool:
        """Whether any joint was last told to move."""
        return any(self.log().demanded().values())

    def at_rest(self) -> bool:
        """Whether the driver says so, with nothing latched."""
        state = self.operator.arm_state
        return (
            self.ready()
            and state.state in (ArmState.IDLE, ArmState.ENABLED)
            and all(joint.velocity == 0.0 for joint in state.joints)
            and not state.emo
        )

    def said(self) -> str:
        return (self.folder / "driver.out").read_text()

    def end(self, number: int = signal.SIGINT) -> int:
        """Send a signal to the driver and return its exit status."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(TIMEOUT)
        self.output.close()
        return status

    def close(self) -> None:
        if self.process is not None:
            self.end()
        self.operator.close()
        self.sim.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drive]:
    made = Drive(tmp_path_factory.mktemp("drive"))
    try:
        made.start_sim()
        made.start_driver()
        made.operator.until(made.ready)
        yield made
    finally:
        made.close()


@pytest.fixture
def drive(shared: Drive) -> Drive:
    """The shared drive, at rest with nothing latched."""
    operator, seen = shared.operator, shared.operator.arm_states
    operator.stop()
    operator.reset()
    operator.until(lambda: operator.arm_states > seen + 2 and shared.at_rest())
    shared.since = shared.mark()
    return shared


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Drive]:
    """A drive of its own; nothing of it runs yet."""
    made = Drive(tmp_path)
    try:
        yield made
    finally:
        made.close()


STOP = [0xFF, 1, 2, 3, 4, 5]
"""Devices that a stop tells to stand still, in this order."""


def devices_told(velocities: list[LoggedVelocity]) -> list[int]:
    return [velocity.device_id for velocity in velocities]


# -- motion, each in the direction that was asked


@pytest.mark.parametrize(
    ("command", "device", "sign"),
    [
        (CLOCKWISE, E, -1.0),
        (GripperCommand(arm_input=3, cylindrical=Cylindrical(azimuth=-1.0)), E, 1.0),
        (GripperCommand(GripperVelocities(grip=1.0)), A, 1.0),
        (GripperCommand(GripperVelocities(grip=-1.0)), A, -1.0),
        (GripperCommand(GripperVelocities(rotate=1.0)), B, 1.0),
    ],
    ids=["B4 clockwise", "B4 counter-clockwise", "jaws open", "jaws close", "wrist"],
)
def test_an_input_moves_its_joint_and_no_other(drive, command, device, sign):
    since = drive.mark()
    drive.operator.push(command, lambda: drive.told(device) * sign > 0.0)
    drive.operator.stop()
    drive.operator.until(lambda: not drive.moving())
    others = {v.device_id for v in drive.log(since).velocities() if v.value != 0.0}
    assert others == {device}


def test_B3_up_raises_the_tip_along_base_link_frd(drive):
    operator = drive.operator
    before = operator.tel.gripper.end_position
    operator.push(UP, lambda: operator.tel.gripper.end_position.z < before.z - 0.005)
    after = operator.tel.gripper.end_position
    operator.stop()
    assert abs(after.x - before.x) < 0.003
    assert abs(after.y - before.y) < 0.003
    assert operator.tel.header.frame_id == "base_link_frd"
    assert operator.tel.gripper.control_mode == GripperCtrl.ARM_INPUT_CARTESIAN


def test_U10_joint_states_have_all_five_with_true_velocities(drive):
    operator = drive.operator
    operator.joint_states.clear()
    operator.push(
        GripperCommand(GripperVelocities(grip=-1.0)),
        lambda: operator.joint_states and operator.joint_states[-1].velocity[4] < -0.001,
    )
    operator.stop()
    operator.until(lambda: operator.joint_states[-1].velocity[4] == 0.0)
    message = operator.joint_states[-1]
    assert message.name == [f"{PREFIX}axis_{axis}" for axis in "edcba"]
    assert len(message.position) == len(message.velocity) == 5
    assert not message.effort
    truth = drive.sim.state()["joints"]["a"]["position"]
    assert message.position[4] == pytest.approx(truth, abs=1e-4)
    stamps = [m.header.stamp.sec + m.header.stamp.nanosec / 1e9 for m in operator.joint_states]
    assert all(later > earlier for earlier, later in itertools.pairwise(stamps))
    assert abs(stamps[-1] - time.time()) < TIMEOUT


def test_U14_arm_state_and_diagnostics_show_each_joint_and_the_line(drive):
    operator = drive.operator
    operator.until(lambda: all(j.temperature > 0.0 for j in operator.arm_state.joints))
    state = operator.arm_state
    assert [joint.name for joint in state.joints] == [f"{PREFIX}axis_{axis}" for axis in "edcba"]
    assert [joint.device_id for joint in state.joints] == [5, 4, 3, 2, 1]
    assert state.powered
    assert state.link.connected
    assert state.link.telemetry_rate > 0.0
    assert state.link.bad_crc == 0
    operator.until(lambda: len(operator.diagnostics) == 6)
    assert sum(text == "answers" for text in operator.diagnostics.values()) == 5
    drive.sim.command("flags 3 40000000")
    operator.until(lambda: operator.arm_state.joints[2].status_flags == ["humidity"])
    operator.until(lambda: operator.tel.gripper.joint_fault[2])
    drive.sim.command("flags 3 00000000")


# -- stops


def test_U11_a_stop_stops_all_five_joints_and_is_not_streamed(drive):
    operator = drive.operator
    operator.push(CLOCKWISE, drive.moving)
    since = drive.mark()
    operator.stop()
    operator.until(lambda: devices_told(drive.log(since).velocities()[-6:]) == STOP)
    operator.until(drive.at_rest)
    told = drive.log(since).velocities()
    assert devices_told(told[-6:]) == STOP
    assert not any(velocity.value for velocity in told[-6:])
    assert devices_told(told).count(0xFF) == 1
    since = drive.mark()
    operator.spin(1.0)
    assert drive.log(since).velocities() == []
    assert not drive.log(since).motion_frames()


def test_rule_12_the_arm_stops_by_itself_when_commands_cease(drive):
    operator = drive.operator
    since = drive.mark()
    operator.push(CLOCKWISE, drive.moving)
    last = time.monotonic()
    operator.until(lambda: operator.arm_state.last_stop_cause == "expired")
    operator.until(lambda: not drive.moving())
    moved = [v.time_ns for v in drive.log(since).velocities() if v.value != 0.0]
    assert max(moved) / 1e9 <= last + LIFETIME + 0.05
    operator.until(lambda: drive.sim.state()["joints"]["e"]["velocity"] == 0.0)


def test_B7_neutral_stops_the_arm(drive):
    drive.operator.push(CLOCKWISE, drive.moving)
    drive.operator.hold(STILL, lambda: not drive.moving())
    drive.operator.until(lambda: drive.operator.arm_state.last_stop_cause == "neutral")


def test_D4_an_estop_latches_and_the_stick_cannot_drive_through_it(drive):
    operator = drive.operator
    operator.push(CLOCKWISE, drive.moving)
    operator.press_estop()
    operator.hold(CLOCKWISE, lambda: operator.arm_state.emo)
    since = drive.mark()
    refused = operator.arm_states
    operator.hold(CLOCKWISE, lambda: operator.arm_states > refused + 15)
    assert not drive.moving()
    assert not drive.log(since).motion_frames()
    assert operator.arm_state.last_refusal.code == "estop_latched"
    assert operator.arm_state.last_stop_cause == "estop"
    operator.reset()
    operator.until(lambda: not operator.arm_state.emo)
    assert not drive.moving()
    operator.push(CLOCKWISE, drive.moving)


def test_a_reset_for_an_older_estop_clears_nothing(drive):
    operator = drive.operator
    operator.press_estop()
    operator.until(lambda: operator.arm_state.emo)
    operator._send(Command(CommandKind.RESET, estop_epoch=operator.arm_state.estop_epoch - 1))
    operator.until(lambda: operator.arm_state.last_refusal.code == "stale_reset")
    assert operator.arm_state.emo


@pytest.mark.parametrize("value", [math.nan, math.inf, 1.5])
def test_rule_10_nonsense_is_refused_with_a_counter(drive, value):
    operator = drive.operator
    since = drive.mark()
    bad = GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(x=value))
    code = "out_of_range" if math.isfinite(value) else "not_finite"
    operator.hold(bad, lambda: operator.arm_state.last_refusal.code == code)
    before = operator.arm_state.last_refusal.count
    operator.hold(bad, lambda: operator.arm_state.last_refusal.count > before)
    assert not drive.log(since).motion_frames()


def test_a_default_message_is_a_stop(drive):
    drive.operator.push(CLOCKWISE, drive.moving)
    drive.operator.commands.publish(DriverCommand())
    drive.operator.until(lambda: not drive.moving())


# -- losses and ends


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_U13_a_signal_in_motion_stops_the_arm_and_ends_cleanly(fresh, number):
    fresh.start_sim()
    fresh.start_driver()
    fresh.operator.until(fresh.ready)
    fresh.operator.push(CLOCKWISE, fresh.moving)
    assert fresh.end(number) == 0
    fresh.operator.until(lambda: devices_told(fresh.log().velocities()[-6:]) == STOP)
    assert "Traceback" not in fresh.said()


def test_U8_an_arm_that_goes_away_and_comes_back_does_not_lurch(fresh):
    operator = fresh.operator
    fresh.start_driver()  # no port yet
    operator.until(lambda: "there is no such port" in fresh.said())
    operator.until(lambda: operator.arm_states > 0)
    assert operator.arm_state.state == ArmState.NONE
    fresh.start_sim()
    operator.until(fresh.ready)
    operator.push(CLOCKWISE, fresh.moving)

    assert fresh.sim.process is not None
    fresh.sim.process.kill()
    fresh.sim.process.wait()
    operator.hold(CLOCKWISE, lambda: not operator.arm_state.link.connected)
    assert operator.arm_state.state == ArmState.NONE
    assert all(joint.stale for joint in operator.arm_state.joints)
    operator.joint_states.clear()
    operator.hold(CLOCKWISE, lambda: operator.arm_state.last_refusal.code == "no_arm")
    assert not operator.joint_states

    fresh.sim.close()
    fresh.start_sim()
    operator.hold(CLOCKWISE, lambda: operator.arm_state.last_refusal.code == "not_engaged")
    assert not fresh.log().motion_frames()
    assert operator.arm_state.link.reconnects >= 1
    operator.push(CLOCKWISE, fresh.moving)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"robot_description": ""}, "robot_description is empty"),
        ({"robot_description": "<robot"}, "not a valid URDF"),
        ({"prefix": "right_"}, "is the prefix 'right_' right?"),
        ({"control_rate": 0.0}, "control_rate"),
        ({"pose_stowed": [0.1, 1.57]}, "stowed"),
    ],
    ids=["no description", "broken description", "wrong prefix", "out of range", "short pose"],
)
def test_a_wrong_parameter_ends_the_node_with_a_reason(fresh, parameters, expected):
    fresh.parameters |= parameters
    fresh.start_driver()
    assert fresh.process is not None
    assert fresh.process.wait(TIMEOUT) == 2
    assert expected in fresh.said()
    assert "Traceback" not in fresh.said()
