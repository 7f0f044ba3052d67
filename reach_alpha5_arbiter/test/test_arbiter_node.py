"""The node over real DDS: the arbiter in a process of its own, its peers in this one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TwistStamped
from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_srvs.srv import Trigger

from reach_alpha5_common.messages import seconds
from reach_alpha5_msgs.msg import (
    ArbiterState,
    ArmState,
    ClientHeartbeat,
    DriverCommand,
    EStop,
    GripperCtrl,
    JointHealth,
    TwistCtrl,
)
from reach_alpha5_msgs.srv import AcquireLease, ReturnLease

DOMAIN = 1 + os.getpid() % 100
NAMESPACE = f"/arbiter_test_{os.getpid()}"
PATIENCE = 20.0
"""Longest wait [s] for anything: a bound against hanging, never a measure."""

JOINTS = ["axis_e", "axis_d", "axis_c", "axis_b", "axis_a"]
LATEST = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def until(condition: Callable[[], Any], what: str) -> None:
    """Wait until `condition` holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"in vain: {what}"
        time.sleep(0.005)


class Peers(Node):
    """The driver's side and the sources' side of the arbiter: a node like any other."""

    def __init__(self, context: Context) -> None:
        super().__init__("peers", namespace=NAMESPACE, context=context)
        self.heard: list[DriverCommand] = []
        self.states: list[ArbiterState] = []
        self.diagnostics: list[DiagnosticArray] = []
        self.beating = {"teleop"}
        self.arm = ArmState(
            state=ArmState.ENABLED,
            powered=True,
            active=True,
            joints=[JointHealth(name=name) for name in JOINTS],
        )
        self.create_subscription(DriverCommand, "driver_command", self._on_command, 10)
        self.create_subscription(ArbiterState, "arbiter_state", self.states.append, LATEST)
        self.create_subscription(DiagnosticArray, "/diagnostics", self.diagnostics.append, 10)
        self.arm_states = self.create_publisher(ArmState, "arm_state", 10)
        self.estops = self.create_publisher(EStop, "estop", 10)
        self.heartbeats = {
            name: self.create_publisher(ClientHeartbeat, f"{name}/heartbeat", 10)
            for name in ("teleop", "app")
        }
        self.commands = {
            name: self.create_publisher(GripperCtrl, f"{name}/gripper_ctrl", 10)
            for name in ("teleop", "app")
        }
        self.twists = self.create_publisher(TwistStamped, "teleop/twist", 10)
        self.twist_ctrls = self.create_publisher(TwistCtrl, "teleop/twist_ctrl", 10)
        self.create_timer(0.05, self._beat)

    def _on_command(self, command: DriverCommand) -> None:
        self.heard.append(command)
        if command.kind == DriverCommand.STOP and command.stop_level:
            self.arm.emo, self.arm.emo_level = True, command.stop_level
            self.arm.estop_epoch += 1
        if command.kind == DriverCommand.RESET and command.estop_epoch == self.arm.estop_epoch:
            self.arm.emo, self.arm.emo_level = False, 0
        self._report()

    def _report(self) -> None:
        self.arm.header.stamp = self.get_clock().now().to_msg()
        self.arm_states.publish(self.arm)

    def _beat(self) -> None:
        self._report()
        for name in self.beating:
            beat = ClientHeartbeat(client_id=f"{name}-1", present=True)
            beat.header.stamp = self.get_clock().now().to_msg()
            self.heartbeats[name].publish(beat)

    @property
    def state(self) -> ArbiterState:
        return self.states[-1] if self.states else ArbiterState()

    def words(self, kind: int) -> list[DriverCommand]:
        return [command for command in list(self.heard) if command.kind == kind]

    def status(self, name: str) -> Any:
        return next(source for source in self.state.sources if source.name == name)

    def say(self, name: str, x: float) -> None:
        message = GripperCtrl()
        message.header.stamp = self.get_clock().now().to_msg()
        if x:
            message.arm_input = GripperCtrl.ARM_INPUT_CARTESIAN
            message.cartesian.x = x
        self.commands[name].publish(message)

    def say_twist(self, z: float, seconds_ago: int = 0) -> None:
        message = TwistStamped()
        message.header.stamp = self.get_clock().now().to_msg()
        message.header.stamp.sec -= seconds_ago
        message.header.frame_id = "tool"
        message.twist.linear.z = z
        until(self.twists.get_subscription_count, "the arbiter listens to twists")
        self.twists.publish(message)

    def say_twist_ctrl(self, lifetime: float) -> None:
        message = TwistCtrl(grip_velocity=0.5, maximum_acceleration=0.2)
        message.header.stamp = self.get_clock().now().to_msg()
        message.header.frame_id = "base_link_frd"
        message.twist.linear.x = -0.1
        message.lifetime = Duration(seconds=lifetime).to_msg()
        until(self.twist_ctrls.get_subscription_count, "the arbiter listens to twist commands")
        self.twist_ctrls.publish(message)

    def arm_source(self, name: str = "teleop") -> None:
        """Bring a source to count: live and armed."""
        self.beating.add(name)
        until(lambda: self.states and self.state.driver_connected, "the driver is heard")
        until(lambda: self.status(name).alive, f"{name} is heard")
        count = self.status(name).commands
        self.say(name, 0.0)
        until(lambda: self.status(name).commands > count, "the neutral is heard")
        until(lambda: not self.status(name).neutral_required, f"{name} is armed")

    def jog(self, name: str = "teleop") -> None:
        """Bring a source to move the arm with a command that stands."""
        self.arm_source(name)
        before = len(self.words(DriverCommand.INPUT))
        self.say(name, 1.0)
        until(lambda: len(self.words(DriverCommand.INPUT)) > before + 2, "motion is repeated")

    def ask(self, kind: Any, name: str, request: Any) -> Any:
        client = self.create_client(kind, name)
        assert client.wait_for_service(PATIENCE)
        future = client.call_async(request)
        until(future.done, f"an answer of {name}")
        return future.result()


@pytest.fixture
def peers() -> Iterator[Peers]:
    context = Context()
    rclpy.init(context=context, domain_id=DOMAIN)
    node = Peers(context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    leaving = threading.Event()

    def spin() -> None:
        while not leaving.is_set():
            executor.spin_once(timeout_sec=0.1)

    thread = threading.Thread(target=spin)
    thread.start()
    yield node
    leaving.set()
    thread.join()
    executor.shutdown()
    node.destroy_node()
    context.try_shutdown()


def environment() -> dict[str, str]:
    return os.environ | {"ROS_DOMAIN_ID": str(DOMAIN)}


@pytest.fixture
def arbiter(peers: Peers) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "reach_alpha5_arbiter.node",
            "--ros-args",
            "-r",
            f"__ns:={NAMESPACE}",
        ],
        env=environment(),
    )
    until(lambda: peers.states, "the arbiter shows its state")
    yield process
    process.terminate()
    process.wait(PATIENCE)


pytestmark = pytest.mark.usefixtures("arbiter")


def test_B7_U4_a_command_stands_until_its_release_sends_one_stop_and_then_silence(
    peers: Peers,
) -> None:
    peers.arm.state = ArmState.EXECUTING
    peers.jog()
    inputs = peers.words(DriverCommand.INPUT)
    assert {command.input.cartesian.x for command in inputs} == {1.0}
    assert all(0 < c.lifetime.nanosec <= 250_000_000 and not c.lifetime.sec for c in inputs)
    stops = len(peers.words(DriverCommand.STOP))
    peers.say("teleop", 0.0)
    until(lambda: peers.state.last_stop_cause == "neutral", "the stop is shown")
    assert peers.state.activity == ArbiterState.ENDING
    until(lambda: len(peers.words(DriverCommand.STOP)) > stops, "the stop is heard")
    assert seconds(peers.words(DriverCommand.STOP)[-1].lifetime) == 0.5
    # Until the motion has faded, the driver says that a demand moves the arm.
    peers.arm.state = ArmState.ENABLED
    until(lambda: peers.state.activity == ArbiterState.STILL, "the stop is confirmed")
    heard = len(peers.heard)
    until(lambda: peers.state.owner == "", "the idle lease is released")
    assert len(peers.heard) == heard
    assert len(peers.words(DriverCommand.STOP)) == stops + 1
    numbers = [command.sequence for command in peers.heard]
    assert numbers == list(range(1, len(numbers) + 1))


def test_D8_S2_a_stock_twist_reaches_the_driver_and_its_end_stops_the_arm(peers: Peers) -> None:
    peers.arm_source()
    peers.say_twist(0.05)
    until(lambda: peers.state.last_stop_cause == "lifetime_ended", "it ended")
    twists = peers.words(DriverCommand.TWIST)
    assert {(c.twist.header.frame_id, c.twist.twist.linear.z) for c in twists} == {("tool", 0.05)}
    assert {seconds(c.twist.lifetime) for c in twists} == {0.5}
    assert {c.twist.maximum_acceleration for c in twists} == {0.0}
    assert all(0 < seconds(c.lifetime) <= 0.25 for c in twists)
    assert len(twists) > 2
    assert seconds(peers.words(DriverCommand.STOP)[-1].lifetime) == 0

    # Nothing is wrong with its source; and what has a lifetime of its own is said as it came.
    peers.say_twist_ctrl(2.0)
    until(lambda: len(peers.words(DriverCommand.TWIST)) > len(twists) + 2, "it is repeated")
    twist = peers.words(DriverCommand.TWIST)[-1].twist
    assert (twist.header.frame_id, twist.twist.linear.x) == ("base_link_frd", -0.1)
    assert (twist.grip_velocity, twist.maximum_acceleration) == (0.5, 0.2)

    # A neutral on any topic ends what came on another.
    peers.say_twist(0.0)
    until(lambda: peers.state.last_stop_cause == "neutral", "it is let go")
    assert seconds(peers.words(DriverCommand.STOP)[-1].lifetime) == 0.5
    assert peers.status("teleop").refusals == 0


def test_rule6_rule10_a_twist_that_lasts_too_long_is_no_number_or_is_old_is_refused(
    peers: Peers,
) -> None:
    say = {
        "bad_lifetime": lambda: peers.say_twist_ctrl(2.1),
        "not_finite": lambda: peers.say_twist(float("nan")),
        "replayed": lambda: peers.say_twist(0.05, seconds_ago=10),
    }
    for number, (code, speak) in enumerate(say.items(), start=1):
        peers.jog()
        speak()
        until(lambda code=code: peers.state.last_refusal.code == code, code)
        assert peers.state.last_refusal.count == 1
        assert peers.status("teleop").refusals == number
        until(lambda: peers.heard[-1].kind == DriverCommand.STOP, "the one before it ends")
    assert peers.words(DriverCommand.TWIST) == []


def test_U1_a_source_that_falls_silent_stops_the_arm(peers: Peers) -> None:
    peers.jog()
    peers.beating.clear()
    until(lambda: peers.heard[-1].kind == DriverCommand.STOP, "the stop")
    until(lambda: peers.state.last_stop_cause == "source_silent", "its cause")
    assert not peers.status("teleop").alive


@pytest.mark.parametrize("way", ["topic", "service"])
def test_rule1_an_estop_latches_until_a_reset_that_moves_nothing(peers: Peers, way: str) -> None:
    peers.jog()
    if way == "topic":
        peers.estops.publish(EStop(level=EStop.CUT, source="diver", reason="tangled"))
    else:
        assert peers.ask(Trigger, "estop", Trigger.Request()).success
    until(lambda: peers.heard[-1].kind == DriverCommand.STOP, "the stop")
    assert peers.heard[-1].stop_level == EStop.CUT
    until(lambda: peers.state.estop_latched, "the latch is shown")
    assert peers.state.estop_source == ("diver" if way == "topic" else "service")
    epoch = peers.arm.estop_epoch
    inputs = len(peers.words(DriverCommand.INPUT))
    for number in range(5):
        peers.say("teleop", 1.0)
        until(lambda n=number: peers.status("teleop").refusals > n, "a refusal")
    assert peers.state.last_refusal.code == "estop_latched"

    assert peers.ask(Trigger, "reset", Trigger.Request()).success
    until(lambda: not peers.state.estop_latched, "the latch is cleared")
    (reset,) = peers.words(DriverCommand.RESET)
    assert reset.estop_epoch == epoch
    peers.say("teleop", 1.0)
    until(lambda: peers.state.last_refusal.code == "neutral_required", "neutral first")
    assert len(peers.words(DriverCommand.INPUT)) == inputs
    peers.jog()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_rule11_U13_a_signal_leaves_a_last_stop_and_a_clean_exit(
    peers: Peers, arbiter: subprocess.Popen[bytes], number: int
) -> None:
    peers.jog()
    arbiter.send_signal(number)
    assert arbiter.wait(PATIENCE) == 0
    until(lambda: peers.heard[-1].kind == DriverCommand.STOP, "the last stop")
    until(lambda: peers.state.last_stop_cause == "shutdown", "its cause")


def test_rule4_U16_two_sources_do_not_fight(peers: Peers) -> None:
    peers.jog("teleop")
    peers.arm_source("app")
    peers.say("app", -1.0)
    until(lambda: peers.state.last_refusal.code == "not_owner", "the second is refused")
    request = AcquireLease.Request(source="app", client_id="app-1")
    assert peers.ask(AcquireLease, "acquire_lease", request).code == "lease_held"
    assert {c.input.cartesian.x for c in peers.words(DriverCommand.INPUT)} == {1.0}

    request.take = True
    granted = peers.ask(AcquireLease, "acquire_lease", request)
    assert (granted.success, granted.owner) == (True, "app")
    until(lambda: peers.heard[-1].kind == DriverCommand.STOP, "taking stops the arm")
    peers.jog("app")
    assert peers.heard[-1].input.cartesian.x == 1.0

    back = ReturnLease.Request(source="app", client_id="app-1", lease_epoch=granted.lease_epoch)
    assert peers.ask(ReturnLease, "return_lease", back).success
    until(lambda: peers.state.last_stop_cause == "lease_returned", "returning stops the arm")


def test_rule7_a_publisher_that_disappears_stops_the_arm_without_a_time_out(peers: Peers) -> None:
    peers.jog()
    peers.beating.clear()
    peers.destroy_publisher(peers.heartbeats["teleop"])
    until(lambda: peers.heard[-1].kind == DriverCommand.STOP, "the stop")
    until(lambda: peers.state.last_stop_cause == "source_gone", "its cause")


def test_D6_a_killed_source_stops_the_arm(peers: Peers) -> None:
    peers.beating.clear()
    script = Path(__file__).with_name("arbiter_source.py")
    source = subprocess.Popen([sys.executable, str(script), NAMESPACE, "app"], env=environment())
    try:
        until(lambda: peers.state.owner == "app", "the process moves the arm")
        until(lambda: len(peers.words(DriverCommand.INPUT)) > 3, "motion")
    finally:
        source.send_signal(signal.SIGKILL)
        source.wait()
    until(lambda: peers.state.owner == "", "the lease is free")
    until(lambda: peers.heard[-1].kind == DriverCommand.STOP, "the stop is heard last")
    assert peers.state.activity != ArbiterState.JOGGING


def test_the_state_is_there_for_a_late_reader_and_diagnostics_name_the_node(peers: Peers) -> None:
    peers.arm_source()
    late: list[ArbiterState] = []
    peers.create_subscription(ArbiterState, "arbiter_state", late.append, LATEST)
    until(lambda: late, "the state, late")
    assert [source.name for source in late[0].sources] == ["teleop", "console", "app", "planner"]
    until(
        lambda: any(
            status.name == f"{NAMESPACE}/arbiter: arbiter"
            for array in peers.diagnostics
            for status in array.status
        ),
        "diagnostics of this arbiter",
    )


def test_a_wrong_parameter_is_named_and_the_node_does_not_start() -> None:
    process = subprocess.run(
        [
            *(sys.executable, "-m", "reach_alpha5_arbiter.node", "--ros-args"),
            *("-p", "repeat_period:=0.25", "-r", f"__ns:={NAMESPACE}_wrong"),
        ],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert process.returncode == 2
    assert "command_lifetime" in process.stderr
    assert "Traceback" not in process.stderr
