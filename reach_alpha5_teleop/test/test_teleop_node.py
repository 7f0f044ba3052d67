"""The node as a process of its own, over real DDS."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
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
from sensor_msgs.msg import Joy, JoyFeedback, JoyFeedbackArray
from std_srvs.srv import Trigger

from reach_alpha5_common import messages
from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_msgs.msg import (
    ArbiterState,
    ArmState,
    ClientHeartbeat,
    EStop,
    GripperCtrl,
    SourceStatus,
)
from reach_alpha5_teleop.node import TeleopNode

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

CONNECTING = 15
"""Frames after which a pad that nobody touches is known."""

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
    message.header.stamp = node.get_clock().now().to_msg()
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
        self.feedback: list[JoyFeedback] = []
        self.arrays: list[JoyFeedbackArray] = []
        for kind, topic, heard in (
            (GripperCtrl, "teleop/gripper_ctrl", self.commands),
            (ClientHeartbeat, "teleop/heartbeat", self.beats),
            (EStop, "estop", self.estops),
            (JoyFeedback, "joy/set_feedback", self.feedback),
            (JoyFeedbackArray, "joy/set_feedback_array", self.arrays),
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
        for heard in (self.commands, self.beats, self.estops, self.feedback, self.arrays):
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
        self.send(Joy(axes=frame.axes, buttons=frame.buttons))

    def send(self, message: Joy) -> None:
        """Publish a frame that is of now."""
        message.header.stamp = self.node.get_clock().now().to_msg()
        self.joy.publish(message)

    def connect(self) -> None:
        """Bring in an untouched pad that publishes for ever, long enough to be known."""
        self.timer.reset()
        self.until(self.present)
        self.frames(2 * CONNECTING)

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
        """Hold the deadman, push the stick forward, and wait until that is asked for.

        On a machine that stalls, the pad is absent in between: then all over again.
        """

        def moves() -> bool:
            self.pilot.held.clear()
            self.pilot.values["left_forward"] = 0.0
            self.connect()
            self.pilot.held.add("deadman")
            self.frames()
            self.pilot.values["left_forward"] = 1.0
            self.frames(10)
            return self.moving()

        self.until(moves)

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
def arbiter_says(bench) -> Iterator[Callable[..., None]]:
    """An arbiter: tells what it is told to tell at 10 Hz, as the real one does."""
    states = bench.node.create_publisher(ArbiterState, "arbiter_state", LATCHED)
    state = ArbiterState()

    def publish() -> None:
        state.header.stamp = bench.node.get_clock().now().to_msg()
        states.publish(state)

    timer = bench.node.create_timer(0.1, publish, autostart=False)

    def says(*sources: SourceStatus, estop_latched: bool = False) -> None:
        state.sources = sources
        state.estop_latched = estop_latched
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


def test_D4_estop_button_is_told_without_the_deadman_until_it_latched(bench, arbiter_says):
    bench.connect()
    bench.pilot.held.add("estop")
    bench.until(lambda: len(bench.estops) >= 3)
    assert {(e.level, e.source) for e in bench.estops} == {(EStop.CUT, "teleop")}
    assert bench.estops[0].reason
    bench.until(lambda: "the arbiter has not said that the e-stop latched" in bench.said())
    arbiter_says(SourceStatus(name="teleop"), estop_latched=True)

    def quiet() -> bool:
        told = len(bench.estops)
        bench.frames(30)
        return len(bench.estops) == told

    bench.until(quiet)
    arbiter_says(SourceStatus(name="teleop"))
    told = len(bench.estops)
    bench.frames(30)
    assert len(bench.estops) == told, "the reset stands, though the button is down"
    bench.jog()


def test_U3_full_scale_in_one_frame_reaches_nobody(bench):
    bench.connect()
    bench.pilot.held.add("deadman")
    bench.frames()
    for sign in (1.0, -1.0) * 10:
        bench.pilot.values["left_forward"] = sign
        bench.publish()
        bench.pilot.values["left_forward"] = 0.0
        bench.publish()
        bench.frames(2)
    bench.frames(20)
    assert not bench.commands
    bench.jog()


def test_replayed_frames_move_nothing_and_are_told(bench):
    bench.connect()
    bench.timer.cancel()
    bench.until(lambda: not bench.present())
    bench.pilot.held.add("deadman")
    for _ in range(40):
        frame = bench.pilot.frame()
        old = Joy(axes=frame.axes, buttons=frame.buttons)
        old.header.stamp.sec = 1_700_000_000
        bench.joy.publish(old)
        bench.frames(1)
    bench.until(lambda: "replayed" in bench.said())
    assert not bench.present()
    assert not bench.commands


def test_replayed_arbiter_state_is_no_word_of_now(bench):
    states = bench.node.create_publisher(ArbiterState, "arbiter_state", LATCHED)
    bench.connect()
    old = ArbiterState(sources=[SourceStatus(name="teleop", neutral_required=True)])
    old.header.stamp.sec = 1_700_000_000

    def told() -> bool:
        states.publish(old)
        bench.frames(5)
        return "arbiter_state: replayed" in bench.said()

    bench.until(told)
    assert not bench.commands, "the neutral that it waits for is not given"
    bench.node.destroy_publisher(states)


def test_arm_that_is_held_back_is_felt_and_every_pulse_ends(bench):
    arm = bench.node.create_publisher(ArmState, "arm_state", 10)

    def publish() -> None:
        state = ArmState(blocked_by=["limit"])
        state.header.stamp = bench.node.get_clock().now().to_msg()
        arm.publish(state)

    timer = bench.node.create_timer(0.05, publish)
    bench.jog()

    def felt() -> bool:
        if not bench.moving():
            bench.jog()
        return len(bench.feedback) >= 4 and len(bench.arrays) >= 4

    bench.until(felt)
    bench.node.destroy_timer(timer)
    assert {f.type for f in bench.feedback} == {JoyFeedback.TYPE_RUMBLE}
    assert {f.id for f in bench.feedback} == {0}
    assert [f.intensity for f in bench.feedback[:4]] == [0.5, 0.0, 0.5, 0.0]
    assert bench.arrays[0].array[0] == bench.feedback[0]
    bench.pilot.values["left_forward"] = 0.0
    bench.until(lambda: bench.feedback[-1].intensity == 0.0)
    bench.node.destroy_publisher(arm)


def test_rumble_can_be_turned_off(start):
    bench = start("-p", "rumble:=0.0", "-p", "estop_level:=settle_then_cut", "-p", "joy_ttl:=2.0")
    assert bench.node.count_publishers("joy/set_feedback") == 0
    bench.jog()


def test_reset_that_nobody_serves_is_told_and_blocks_nothing(bench):
    bench.connect()
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


def test_D4_estop_pressed_while_a_reset_is_on_its_way_outlasts_it_however_late(
    bench, arbiter_says
):
    calls: list[Trigger.Request] = []
    answer_now = threading.Event()

    def serve(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        calls.append(request)
        answer_now.wait(3.0 * PATIENCE)
        response.success = True
        return response

    def press() -> bool:
        bench.pilot.held.symmetric_difference_update({"reset"})
        bench.frames(3)
        return bool(calls)

    def quiet() -> bool:
        told = len(bench.estops)
        bench.frames(30)
        return len(bench.estops) == told

    # In a thread of its own, since it answers late.
    server = rclpy.create_node("server", namespace=bench.namespace, context=bench.context)
    server.create_service(Trigger, "reset", serve)
    executor = SingleThreadedExecutor(context=bench.context)
    executor.add_node(server)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    bench.connect()
    bench.until(press)
    bench.pilot.held.clear()
    bench.frames()
    bench.pilot.held.add("estop")
    bench.until(lambda: bench.estops)
    arbiter_says(SourceStatus(name="teleop"), estop_latched=True)
    bench.until(lambda: "reset was not answered" in bench.said())
    bench.until(quiet)
    told = len(bench.estops)
    answer_now.set()
    bench.until(lambda: len(bench.estops) > told)
    bench.until(quiet)
    arbiter_says(SourceStatus(name="teleop"))
    bench.pilot.held.clear()
    bench.jog()
    executor.shutdown()
    thread.join()
    server.destroy_node()


def test_D6_one_of_two_pad_nodes_that_leaves_ends_motion_until_the_pad_is_found_anew(start):
    bench = start("-p", "rumble:=0.0", "-p", "estop_level:=settle_then_cut", "-p", "joy_ttl:=2.0")
    other = bench.node.create_publisher(Joy, "joy", 10)
    bench.until(other.get_subscription_count)
    bench.jog()
    bench.node.destroy_publisher(other)
    bench.until(bench.neutral)
    bench.frames(20)
    assert bench.neutral(), "stick and deadman are held over"
    bench.jog()


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
        bench.send(message)
    bench.until(lambda: "wrong_layout" in bench.said())
    bench.jog()


def test_estop_level_is_a_parameter(start):
    bench = start("-p", "rumble:=0.0", "-p", "estop_level:=settle_then_cut", "-p", "joy_ttl:=2.0")
    bench.connect()
    bench.pilot.held.add("estop")
    bench.until(lambda: bench.estops)
    assert bench.estops[0].level == EStop.SETTLE_THEN_CUT


def test_D6_pad_node_that_leaves_ends_motion_before_the_ttl(start):
    bench = start("-p", "rumble:=0.0", "-p", "estop_level:=settle_then_cut", "-p", "joy_ttl:=2.0")

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


def test_profile_may_be_found_out(start):
    bench = start("-p", "profile:=auto")
    bench.until(lambda: bench.beats)
    bench.jog()
    assert "pad profile xbox_game_controller" in bench.said()


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
