"""The node as a process of its own, over real DDS."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# Before rclpy: a run of its own, which no other on this machine meets.
os.environ.setdefault("ROS_DOMAIN_ID", str(os.getpid() % 100 + 1))
os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import Joy
from std_srvs.srv import Trigger

from reach_alpha5_common import messages
from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_msgs.msg import ArbiterState, ClientHeartbeat, EStop, GripperCtrl, SourceStatus
from reach_alpha5_teleop.node import TeleopNode

PATIENCE = 30.0
"""Longest time [s] to wait for what must come; a safety bound on a busy machine."""

JOY_PROCESS = """
import rclpy, sys
from sensor_msgs.msg import Joy
rclpy.init()
node = rclpy.create_node("joy", namespace=sys.argv[1])
publisher = node.create_publisher(Joy, "joy", 10)
frames = 0
def publish():
    global frames
    frames = (frames + 1) % 200
    pushed = frames > 50
    message = Joy(axes=[0.0, 1.0 if pushed else 0.0, 0.0, 0.0, 0.0, 0.0], buttons=[0] * 15)
    message.buttons[9] = int(frames > 25)
    publisher.publish(message)
node.create_timer(0.02, publish)
rclpy.spin(node)
"""
"""A joystick driver: untouched, then the deadman held, then the stick pushed forward for 3 s; over
and over, since the node under test may find it in the middle of that."""


class Bench:
    """A teleop node in a process, and everything around it in this one."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        """Start the node with ROS arguments and wait until it is heard; logs go to `folder`."""
        self.namespace = f"/test_{uuid.uuid4().hex}"
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node("bench", namespace=self.namespace, context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.commands: list[GripperCtrl] = []
        self.beats: list[ClientHeartbeat] = []
        self.estops: list[EStop] = []
        for kind, topic, heard in (
            (GripperCtrl, "teleop/gripper_ctrl", self.commands),
            (ClientHeartbeat, "teleop/heartbeat", self.beats),
            (EStop, "estop", self.estops),
        ):
            self.node.create_subscription(kind, topic, heard.append, 10)
        self.joy = self.node.create_publisher(Joy, "joy", 10)
        self.timer = self.node.create_timer(0.02, self.publish)
        self.timer.cancel()
        self._log = folder / "said"
        self._said_before = 0
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "reach_alpha5_teleop.node", "--ros-args",
                 "-r", f"__ns:={self.namespace}", *arguments],
                stdout=log, stderr=log,
            )  # fmt: skip
        self.until(lambda: self.beats)

    def said(self) -> str:
        """Return what the node has said since the last `rest`."""
        return self._log.read_text()[self._said_before :]

    def rest(self, pilot) -> Bench:
        """Take the pad away, forget what was before, and have a pilot with another pad ready."""
        self.pilot = pilot
        self.timer.cancel()
        self.node.destroy_publisher(self.joy)
        self.until(lambda: self.beats and not self.present())
        self.joy = self.node.create_publisher(Joy, "joy", 10)
        self._said_before = len(self._log.read_text())
        for heard in (self.commands, self.beats, self.estops):
            heard.clear()
        return self

    def until(self, condition: Callable[[], object]) -> None:
        """Spin until the condition holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, "it did not come"
            self.executor.spin_once(timeout_sec=0.02)

    def publish(self) -> None:
        frame = self.pilot.frame()
        message = Joy(axes=frame.axes, buttons=frame.buttons)
        message.header.stamp = self.node.get_clock().now().to_msg()
        self.joy.publish(message)

    def connect(self) -> None:
        """Bring in an untouched pad that publishes for ever."""
        self.timer.reset()
        self.until(self.present)

    def frames(self, number: int = 5) -> None:
        """Let some frames of the pad go by."""
        sent = 0

        def count() -> None:
            nonlocal sent
            sent += 1

        timer = self.node.create_timer(0.02, count)
        self.until(lambda: sent >= number)
        self.node.destroy_timer(timer)

    def jog(self) -> None:
        """Hold the deadman, push the stick forward, and wait until that is asked for."""
        self.connect()
        self.frames()
        self.pilot.held.add("deadman")
        self.frames()
        self.pilot.values["left_forward"] = 1.0
        self.until(self.moving)

    def present(self) -> bool:
        return bool(self.beats) and self.beats[-1].present

    def moving(self) -> bool:
        return bool(self.commands) and not self.neutral()

    def neutral(self) -> bool:
        """Say whether the newest command is the stop."""
        return bool(self.commands) and messages.gripper_command(self.commands[-1]).is_neutral

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture(scope="module")
def benches() -> Iterator[dict[tuple[str, ...], Bench]]:
    """Nodes by their arguments, shared: to start one takes longer than most tests."""
    running: dict[tuple[str, ...], Bench] = {}
    yield running
    for bench in running.values():
        bench.close()


@pytest.fixture
def start(benches, tmp_path, pilot) -> Callable[..., Bench]:
    """Return a function that gives the bench of a node with these arguments, the pad away."""

    def get(*arguments: str) -> Bench:
        if arguments not in benches:
            benches[arguments] = Bench(tmp_path, *arguments)
        return benches[arguments].rest(pilot)

    return get


@pytest.fixture
def bench(start) -> Bench:
    """A node with all parameters at their defaults."""
    return start()


@pytest.fixture
def leaving_bench(tmp_path, pilot) -> Iterator[Bench]:
    """A node that one test may end."""
    bench = Bench(tmp_path)
    yield bench.rest(pilot)
    bench.close()


@pytest.fixture
def arbiter_says(bench) -> Iterator[Callable[[SourceStatus], None]]:
    """An arbiter with one source: tells its status at 10 Hz, as the real one does."""
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    states = bench.node.create_publisher(ArbiterState, "arbiter_state", latched)
    state = ArbiterState()
    timer = bench.node.create_timer(0.1, lambda: states.publish(state), autostart=False)

    def says(status: SourceStatus) -> None:
        state.sources = [status]
        timer.reset()

    yield says
    bench.node.destroy_timer(timer)
    bench.node.destroy_publisher(states)


def test_stick_reaches_gripper_ctrl_and_its_release_too(bench):
    bench.jog()
    command = messages.gripper_command(bench.commands[-1])
    assert command.cartesian.x == 1.0
    assert command.lifetime == 0.5
    assert command.problem() is None
    assert bench.commands[-1].header.stamp.sec > 0
    assert bench.beats[-1].client_id.startswith("teleop-")
    bench.pilot.values["left_forward"] = 0.0
    bench.until(bench.neutral)
    heard = len(bench.commands)
    bench.frames(20)
    assert len(bench.commands) == heard, "the stop is sent once"


def test_D4_estop_button_reaches_estop_without_the_deadman(bench):
    bench.connect()
    bench.pilot.held.add("estop")
    bench.until(lambda: bench.estops)
    bench.frames(20)
    (estop,) = bench.estops
    assert (estop.level, estop.source) == (EStop.CUT, "teleop")
    assert estop.reason


def test_reset_that_nobody_serves_is_told_and_blocks_nothing(bench):
    bench.connect()
    bench.frames()
    bench.pilot.held.add("reset")
    bench.until(lambda: "nobody offers the service `reset`" in bench.said())
    bench.pilot.held.clear()
    bench.jog()


def test_D4_reset_button_calls_the_service(bench):
    calls: list[Trigger.Request] = []

    def serve(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        calls.append(request)
        response.success = True
        return response

    service = bench.node.create_service(Trigger, "reset", serve)
    bench.connect()

    # The node has to discover the service first: press until it is called.
    def press() -> bool:
        bench.pilot.held.symmetric_difference_update({"reset"})
        bench.frames(3)
        return bool(calls)

    bench.until(press)
    bench.until(lambda: "reset: done" in bench.said())
    bench.node.destroy_service(service)


def test_U1_silence_of_the_pad_ends_motion_and_presence(bench):
    bench.jog()
    bench.timer.cancel()
    bench.until(lambda: bench.neutral() and not bench.present())


def test_U1_killed_joystick_driver_ends_motion_and_presence(bench):
    driver = subprocess.Popen([sys.executable, "-c", JOY_PROCESS, bench.namespace])
    try:
        bench.until(bench.moving)
    finally:
        driver.kill()
        driver.wait()
    bench.until(lambda: bench.neutral() and not bench.present())


def test_arbiter_that_waits_for_neutral_gets_it_from_a_pad_at_rest(bench, arbiter_says):
    bench.connect()
    arbiter_says(SourceStatus(name="teleop", neutral_required=True))
    bench.until(bench.neutral)


def test_arbiter_that_does_not_know_the_source_is_told_about(bench, arbiter_says):
    arbiter_says(SourceStatus(name="console"))
    bench.until(lambda: "does not know the source 'teleop'" in bench.said())


def test_damaged_frames_are_told_about_and_crash_nothing(bench):
    bench.connect()
    for message in (Joy(), Joy(axes=[float("nan")] * 6, buttons=[0] * 15), Joy(axes=[0.0] * 999)):
        bench.joy.publish(message)
    bench.until(lambda: "wrong_layout" in bench.said())
    bench.jog()


def test_estop_level_is_a_parameter(start):
    bench = start("-p", "estop_level:=settle_then_cut", "-p", "joy_ttl:=2.0")
    bench.connect()
    bench.pilot.held.add("estop")
    bench.until(lambda: bench.estops)
    assert bench.estops[0].level == EStop.SETTLE_THEN_CUT


def test_D6_pad_node_that_leaves_ends_motion_before_the_ttl(start):
    bench = start("-p", "estop_level:=settle_then_cut", "-p", "joy_ttl:=2.0")

    def ended_early() -> bool:
        bench.jog()
        bench.timer.cancel()
        left = time.monotonic()
        bench.node.destroy_publisher(bench.joy)
        bench.until(lambda: bench.neutral() and not bench.present())
        took = time.monotonic() - left
        bench.pilot.held.clear()
        bench.pilot.values["left_forward"] = 0.0
        bench.rest(bench.pilot)
        return took < 1.5  # of the 2 s that its silence would take

    assert any(ended_early() for _ in range(3)), "no stall of the machine comes three times"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_D6_U13_leaving_node_says_neutral_and_absent(leaving_bench, number):
    bench = leaving_bench
    bench.jog()
    bench.process.send_signal(number)
    assert bench.process.wait(PATIENCE) == 0
    assert "Traceback" not in bench.said()
    bench.until(lambda: bench.neutral() and not bench.present())


def test_wrong_parameter_ends_the_node_with_the_reason():
    command = [sys.executable, "-m", "reach_alpha5_teleop.node", "--ros-args", "-p"]
    done = subprocess.run(
        [*command, "profile:=nothing"], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 2
    assert "xbox_game_controller" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        ("profile:=nothing", "xbox_game_controller"),
        ("joy_ttl:=0.0", "joy_ttl"),
        ("source:=''", "source"),
        ("estop_level:=gentle", "cut, settle_then_cut"),
    ],
)
def test_wrong_parameter_is_refused_with_what_to_do(parameter, expected):
    rclpy.init(args=["--ros-args", "-p", parameter])
    try:
        with pytest.raises(ParameterError, match=expected):
            TeleopNode()
    finally:
        rclpy.shutdown()
