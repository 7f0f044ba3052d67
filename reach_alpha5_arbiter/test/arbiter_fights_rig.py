"""An arbiter in a process of its own, and as nodes around it its driver and sources that fight."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import rclpy
from arbiter_fights_afar import Afar
from builtin_interfaces.msg import Time
from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile

from reach_alpha5_common.messages import nanoseconds
from reach_alpha5_msgs.msg import (
    ArbiterState,
    ArmState,
    ClientHeartbeat,
    DriverCommand,
    GripperCtrl,
    JointHealth,
    SourceStatus,
)
from reach_alpha5_msgs.srv import AcquireLease

DOMAIN = 1 + os.getpid() % 100
PATIENCE = 40.0
"""Longest wait [s] for anything: a bound against hanging, never a measure."""

PRESSES = 20
"""A machine may stall that often while one thing is tried."""

DIRECTIONS = {"teleop": 1.0, "app": -1.0, "console": 0.5}
"""What each source asks for: whose a motion is can be seen from it."""

STALLS = {
    "driver_timeout": 8.0,
    "stop_confirm_timeout": 20.0,
    "teleop.heartbeat_timeout": 1.0,
    "app.heartbeat_timeout": 1.0,
}
"""Time-outs [s] that a machine which stalls for a moment does not run into."""

NANO = 1_000_000_000
MODULE = ("-m", "reach_alpha5_arbiter.node")
_rigs = itertools.count()

LATEST = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Of the states none is to be missed."""


def environment() -> dict[str, str]:
    return os.environ | {"ROS_DOMAIN_ID": str(DOMAIN)}


def until(condition: Callable[[], Any], what: str) -> None:
    """Wait until `condition` holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"in vain: {what}"
        time.sleep(0.005)


def motion(command: DriverCommand) -> float:
    """Return which way a word moves the arm: one of `DIRECTIONS`, or 0."""
    return command.input.cartesian.x if command.kind == DriverCommand.INPUT else 0.0


class Peers(Node):
    """The driver's side and the sources' side of the arbiter.

    Who is in `beating` sends heartbeats, who is in `pushing` says again and again that the arm
    shall move its way, with a stamp `ahead` seconds ahead of the true time. For who is in `afar`
    that process speaks.
    """

    def __init__(self, context: Context, namespace: str) -> None:
        super().__init__("peers", namespace=namespace, context=context)
        self.heard: list[DriverCommand] = []
        self.states: list[ArbiterState] = []
        self._refused: dict[tuple[str, str], int] = {}
        self.beating: set[str] = set()
        self.pushing: set[str] = set()
        self.ahead = dict.fromkeys(DIRECTIONS, 0)
        self.afar: dict[str, Afar] = {}
        self.arm = ArmState(
            state=ArmState.ENABLED,
            powered=True,
            active=True,
            joints=[JointHealth(name=f"axis_{letter}") for letter in "edcba"],
        )
        self.create_subscription(DriverCommand, "driver_command", self._on_command, 1000)
        self.create_subscription(ArbiterState, "arbiter_state", self._on_state, LATEST)
        self.arm_states = self.create_publisher(ArmState, "arm_state", 10)
        self.heartbeats = {
            name: self.create_publisher(ClientHeartbeat, f"{name}/heartbeat", 10)
            for name in DIRECTIONS
        }
        self.commands = {name: self.another_writer(name) for name in DIRECTIONS}
        self.acquiring = self.create_client(AcquireLease, "acquire_lease")
        self.create_timer(0.05, self._beat)
        self.create_timer(0.02, self._push)

    def another_writer(self, name: str) -> Publisher:
        """Return a publisher of a source's commands."""
        return self.create_publisher(GripperCtrl, f"{name}/gripper_ctrl", 10)

    def _on_command(self, command: DriverCommand) -> None:
        self.heard.append(command)
        moves = command.kind == DriverCommand.INPUT
        self.arm.state = ArmState.EXECUTING if moves else ArmState.ENABLED
        self._report()

    def _on_state(self, state: ArbiterState) -> None:
        for refusal in (state.last_refusal, *state.earlier_refusals):
            self._refused[refusal.source, refusal.code] = refusal.count
        self.states.append(state)

    def _report(self) -> None:
        self.arm.header.stamp = self.get_clock().now().to_msg()
        self.arm_states.publish(self.arm)

    def _beat(self) -> None:
        self._report()
        for name in list(self.beating):
            self.beat(name)

    def _push(self) -> None:
        for name in list(self.pushing):
            self.say(name)

    @property
    def state(self) -> ArbiterState:
        return self.states[-1] if self.states else ArbiterState()

    def status(self, name: str) -> SourceStatus:
        return next(source for source in self.state.sources if source.name == name)

    def forget(self) -> None:
        """Forget what an arbiter that is gone has told."""
        self.heard.clear()
        self.states.clear()
        self._refused.clear()

    def refused(self, name: str, code: str) -> int:
        """Return how often a source was refused for this, as the arbiter counts it."""
        return self._refused.get((name, code), 0)

    def all_refused(self, name: str) -> int:
        """Return how often a source was refused, summed over what for."""
        return sum(count for (who, _), count in list(self._refused.items()) if who == name)

    def refused_again(self, name: str, code: str, more: int = 3) -> Callable[[], bool]:
        """Return a condition: so many more of these refusals have come since this call."""
        before = self.refused(name, code)
        return lambda: self.refused(name, code) >= before + more

    def inputs(self, since: int = 0) -> list[DriverCommand]:
        """Return the words that move the arm."""
        return [word for word in self.heard[since:] if word.kind == DriverCommand.INPUT]

    def stamp(self, name: str) -> Time:
        """Return what a source stamps its commands with."""
        time_message: Time = self.get_clock().now().to_msg()
        time_message.sec += self.ahead[name]
        return time_message

    def beat(self, name: str, client: str = "1", present: bool = True) -> None:
        if (afar := self.afar.get(name)) is not None:
            afar.beat(f"{name}-{client}", present)
            return
        message = ClientHeartbeat(client_id=f"{name}-{client}", present=present)
        message.header.stamp = self.get_clock().now().to_msg()
        self.heartbeats[name].publish(message)

    def command(self, name: str, x: float, lifetime: float = 0.0) -> GripperCtrl:
        """Return a command of a source; 0 = neutral."""
        message = GripperCtrl(lifetime=Duration(seconds=lifetime).to_msg())
        message.header.stamp = self.stamp(name)
        if x:
            message.arm_input = GripperCtrl.ARM_INPUT_CARTESIAN
            message.cartesian.x = x
        return message

    def say(self, name: str, share: float = 1.0, lifetime: float = 0.0) -> None:
        """Ask for a share of the speed in the source's direction."""
        self._command(name, DIRECTIONS[name] * share, lifetime)

    def let_go(self, name: str) -> None:
        self._command(name, 0.0)

    def _command(self, name: str, x: float, lifetime: float = 0.0) -> None:
        if (afar := self.afar.get(name)) is not None:
            afar.command(x, lifetime)
        else:
            self.commands[name].publish(self.command(name, x, lifetime))

    def arm_source(self, name: str) -> None:
        """Bring a source to count, live and armed, while the arm rests."""
        self.beating.add(name)
        until(lambda: self.states and self.state.driver_connected, "the driver is heard")
        until(lambda: self.status(name).present, f"{name} is heard")
        until(lambda: self.status(name).clients == 1, f"{name} is one")
        until(
            lambda: (
                self.let_go(name)
                or (
                    not self.status(name).neutral_required
                    and self.state.activity == ArbiterState.STILL
                )
            ),
            f"{name} is armed",
        )

    def jog(
        self, name: str, condition: Callable[[], Any] = lambda: True, lifetime: float = 0.0
    ) -> int:
        """Arm a source and move the arm by it until the condition holds.

        Let go and moved again, should a stall of the machine have stopped the arm. Returns the
        number of words that were heard before the last try.
        """
        for _ in range(PRESSES):
            self.arm_source(name)
            since, stops = len(self.heard), self.state.stops
            refusals = self.status(name).refusals

            def moved(since: int = since) -> bool:
                return len(self.inputs(since)) > 2 and bool(condition())

            def ended(stops: int = stops, refusals: int = refusals) -> bool:
                status = self.status(name)
                return self.state.stops > stops or status.refusals > refusals

            self.say(name, lifetime=lifetime)
            until(lambda m=moved, e=ended: m() or e(), f"{name} moves the arm")
            if moved():
                return since
        raise AssertionError(f"stopped again and again: {self.state}")

    def take(self, name: str) -> AcquireLease.Response:
        """Take the lease, whoever has it."""
        assert self.acquiring.wait_for_service(PATIENCE)
        future = self.acquiring.call_async(
            AcquireLease.Request(source=name, client_id=f"{name}-1", take=True)
        )
        until(future.done, "an answer of acquire_lease")
        answer: AcquireLease.Response = future.result()
        return answer

    def leave(self) -> None:
        """Let every source fall silent, and wait until the arm is still and nobody's."""
        self.pushing.clear()
        self.beating.clear()
        self.ahead = dict.fromkeys(DIRECTIONS, 0)
        until(
            lambda: (
                not any(source.alive for source in self.state.sources)
                and self.state.activity == ArbiterState.STILL
            ),
            "all is quiet",
        )


class Rig:
    """Peers, and the arbiter's process."""

    def __init__(self, peers: Peers, program: Sequence[str], parameters: dict[str, float]) -> None:
        self.peers = peers
        self.namespace = peers.get_namespace()
        self._program = program
        self._parameters = parameters
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        """Start the arbiter and wait until it and its peers hear each other."""
        told = len(self.peers.states)
        options = [
            word for name, value in self._parameters.items() for word in ("-p", f"{name}:={value}")
        ]
        self.process = subprocess.Popen(
            [
                *(sys.executable, *self._program, "--ros-args"),
                *("-r", f"__ns:={self.namespace}", *options),
            ],
            env=environment(),
        )
        process = self.process
        until(
            lambda: (
                process.poll() is not None
                or (len(self.peers.states) > told and self.peers.state.driver_connected)
            ),
            "the arbiter hears its driver",
        )
        assert process.poll() is None, "it did not start"
        return process

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(PATIENCE)


@contextmanager
def rig(program: Sequence[str] = MODULE, **parameters: float) -> Iterator[Rig]:
    """Start an arbiter and its peers, and end them."""
    context = Context()
    rclpy.init(context=context, domain_id=DOMAIN)
    peers = Peers(context, f"/fights_{os.getpid()}_{next(_rigs)}")
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(peers)
    leaving = threading.Event()

    def spin() -> None:
        while not leaving.is_set():
            executor.spin_once(timeout_sec=0.1)

    thread = threading.Thread(target=spin)
    thread.start()
    made = Rig(peers, program, STALLS | parameters)
    try:
        made.start()
        yield made
    finally:
        made.close()
        leaving.set()
        thread.join()
        executor.shutdown()
        peers.destroy_node()
        context.try_shutdown()


def strangers_motion(
    states: Sequence[ArbiterState], words: Sequence[DriverCommand]
) -> tuple[list[tuple[str, str]], dict[str, int]]:
    """Judge whose the motion was: what did not belong to the owner, and how much did, by source.

    The arbiter does one thing after the other, and stamps what it says as it says it: first what
    the driver is told, then its state if that has changed. So a motion belongs to the owner that
    the state before it shows, or acquires a free lease, as the state after it shows. Between two
    states that are more than one change of hands apart, one was not heard: no verdict then.
    """
    said = [(nanoseconds(state.header.stamp), state) for state in states]
    said += [(nanoseconds(word.header.stamp), word) for word in words if motion(word)]
    said.sort(key=lambda entry: entry[0])
    whose = {direction: name for name, direction in DIRECTIONS.items()}
    wrong: list[tuple[str, str]] = []
    right = dict.fromkeys(DIRECTIONS, 0)
    before: ArbiterState | None = None
    between: list[str] = []
    for _, what in said:
        if isinstance(what, DriverCommand):
            between.append(whose[motion(what)])
            continue
        if before is not None and what.lease_epoch - before.lease_epoch <= 1:
            for name in between:
                if before.owner == name or (before.owner == "" and what.owner == name):
                    right[name] += 1
                else:
                    wrong.append((name, f"{before.owner} then {what.owner}"))
        before, between = what, []
    return wrong, right
