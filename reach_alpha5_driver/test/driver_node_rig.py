"""A simulated arm, the driver as a process, and an operator who speaks to it over DDS."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rclpy
import yaml
from arm_description import description
from control_msgs.msg import JointJog
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.task import Future
from rclpy.time import Time
from sensor_msgs.msg import JointState
from std_msgs.msg import UInt8
from std_srvs.srv import SetBool

from reach_alpha5_common.command import (
    ArmInput,
    Cartesian,
    CommandKind,
    Cylindrical,
    GripperCommand,
)
from reach_alpha5_common.command import DriverCommand as Command
from reach_alpha5_common.messages import driver_command_message
from reach_alpha5_driver.sim.ids import ALL_DEVICES, AXES
from reach_alpha5_driver.sim.log import WireLog, read_log
from reach_alpha5_driver.sim.process import SimProcess
from reach_alpha5_msgs.msg import ArmState, DriverCommand, EStop, GripperTel

TIMEOUT = 60.0
"""Longest wait [s] for anything: a bound against hanging, never a measure."""

PERIOD = 0.05
"""Between two repetitions of a command [s]."""

RESET_PERIOD = 0.3
"""Between two resets [s]: after each the motors take a moment to be on."""

LIFETIME = 0.25
POSTURE = "3.0,1.57,1.57,3.0,0.007"
"""In the middle of the workspace."""

A, B, C, D, E = 1, 2, 3, 4, 5
STOP = [ALL_DEVICES, *AXES]
"""Devices that a stop tells to stand still, in this order."""

UP = GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(z=-1.0))
CLOCKWISE = GripperCommand(arm_input=ArmInput.CYLINDRICAL, cylindrical=Cylindrical(azimuth=1.0))


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
        self.jogs = self.node.create_publisher(JointJog, "joint_jog", 10)
        self.presets = self.node.create_publisher(UInt8, "preset", 10)
        self.arm_state = ArmState()
        self.arm_states = 0
        self._made: list[int] = []
        """When each of them was made [ns], ROS time."""
        self.joint_states: list[JointState] = []
        self.tel = GripperTel()
        self.diagnostics: dict[str, DiagnosticStatus] = {}
        self.node.create_subscription(ArmState, "arm_state", self._on_arm_state, 10)
        self.node.create_subscription(JointState, "joint_states", self.joint_states.append, 10)
        self.node.create_subscription(GripperTel, "gripper_tel", self._on_tel, 10)
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self.sequence = itertools.count(1)

    def _on_arm_state(self, message: ArmState) -> None:
        self.arm_state = message
        self.arm_states += 1
        self._made.append(Time.from_msg(message.header.stamp).nanoseconds)

    def _on_tel(self, message: GripperTel) -> None:
        self.tel = message

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        self.diagnostics |= {status.name: status for status in message.status}

    def spin(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            self.executor.spin_once(timeout_sec=left)

    def until(self, condition: Callable[[], object]) -> None:
        """Spin until the condition holds."""
        self.repeat(lambda: None, condition, 0.02)

    def repeat(
        self, action: Callable[[], object], condition: Callable[[], object], period: float = PERIOD
    ) -> None:
        """Do something again and again until the condition holds."""
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            assert time.monotonic() < deadline, f"did not happen in time; {self.arm_state}"
            action()
            self.spin(period)

    def heard_since(self, count: int = 1) -> Callable[[], bool]:
        """Return a condition: `count` states have come that were made after this call.

        One that comes after an answer or another message may have been made before.
        """
        since = self.node.get_clock().now().nanoseconds
        return lambda: sum(at > since for at in self._made[-count:]) == count

    @property
    def refusal(self) -> tuple[str, str, int]:
        """Which refusal was the last one; its stamp differs a little each time it is told."""
        last = self.arm_state.last_refusal
        return last.code, last.source, last.count

    def send(self, command: GripperCommand, lifetime: float = LIFETIME) -> None:
        self.say(Command(CommandKind.INPUT, input=command, lifetime=lifetime))

    def stop(self) -> None:
        self.say(Command(CommandKind.STOP))

    def reset(self) -> None:
        self.say(Command(CommandKind.RESET, estop_epoch=self.arm_state.estop_epoch))

    def say(self, command: Command) -> None:
        message = driver_command_message(command)
        message.sequence = next(self.sequence)
        message.header.stamp = self.node.get_clock().now().to_msg()
        self.commands.publish(message)

    def hold(self, command: GripperCommand, condition: Callable[[], object]) -> None:
        """Repeat an input as the arbiter does, until the condition holds."""
        self.repeat(lambda: self.send(command), condition)

    def push(self, command: GripperCommand, condition: Callable[[], object]) -> None:
        """As `hold`, from neutral: released and pushed again should the machine stall."""
        self.press(lambda: self.send(command), condition)

    def press(self, action: Callable[[], object], condition: Callable[[], object]) -> None:
        """As `repeat`, from neutral: released and pressed again should the machine stall.

        Nothing but the action is said once the condition holds.
        """
        seen = self.refusal

        def moved() -> bool:
            nonlocal seen
            if condition():
                return True
            if self.refusal != seen:
                seen = self.refusal
                if self.arm_state.last_refusal.code in ("not_engaged", "stale_posture"):
                    self.stop()
            return False

        self.stop()
        self.repeat(action, moved)

    def press_estop(self, level: int = EStop.CUT) -> None:
        """Press, and wait until the driver has latched it."""
        before = self.arm_state.estop_epoch
        self.estops.publish(EStop(level=level, source="test", reason="pressed"))
        self.until(lambda: self.arm_state.estop_epoch > before)

    def begin(self, kind: Any, name: str, request: Any) -> Future[Any]:
        """Call a service of the driver and return what will hold its answer."""
        client = self.node.create_client(kind, name)
        self.until(client.service_is_ready)
        future = client.call_async(request)
        future.add_done_callback(lambda _: self.node.destroy_client(client))
        return future

    def ask(self, kind: Any, name: str, request: Any) -> Any:
        """Call a service of the driver and return its answer."""
        future = self.begin(kind, name, request)
        self.until(future.done)
        return future.result()

    def power(self, on: bool) -> SetBool.Response:
        return self.ask(SetBool, "power", SetBool.Request(data=on))

    def begin_change(self, transition: int) -> Future[Any]:
        """As `change`, but return what will hold the answer."""
        request = ChangeState.Request()
        request.transition.id = transition
        return self.begin(ChangeState, "driver/change_state", request)

    def change(self, transition: int) -> bool:
        """Ask for a transition of `lifecycle_msgs/Transition`; return whether it was made."""
        future = self.begin_change(transition)
        self.until(future.done)
        return bool(future.result().success)

    def lifecycle(self) -> str:
        """Return the label of the lifecycle state."""
        answer = self.ask(GetState, "driver/get_state", GetState.Request())
        return str(answer.current_state.label)

    def close(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


class Drive:
    """A simulated arm, the driver's process, and an operator; nothing of them runs yet."""

    def __init__(self, folder: Path, **parameters: object) -> None:
        self.folder = folder
        self.domain = random.randrange(1, 100)
        self.namespace = f"/test_{os.getpid()}_{random.randrange(1 << 30)}"
        self.sim = SimProcess(folder=folder)
        self.parameters = {
            **description(),
            "serial_port": str(folder / "port"),
            "reconnect_period": 0.1,
            "reconnect_period_max": 0.5,
            # A machine that stalls is not to be taken for a driver that hangs.
            "guard_hang_after": 1.0,
            **parameters,
        }
        self.name = "driver"
        self.remaps: list[str] = []
        """Of topics, as `from:=to`."""
        self.operator = Operator(self.namespace, self.domain)
        self.since = 0
        """Where the log is read from: a moment at which the arm was at rest."""
        self.process: subprocess.Popen[str] | None = None

    def start_sim(self, *options: str) -> None:
        self.sim = SimProcess("--initial-posture", POSTURE, *options, folder=self.folder)
        self.sim.__enter__()
        self.since = 0

    def start_driver(self) -> None:
        file = self.folder / "parameters.yaml"
        file.write_text(yaml.safe_dump({"/**": {"ros__parameters": self.parameters}}))
        self.output = (self.folder / "driver.out").open("w+")
        # Named as a launch file names it.
        rules = [f"__node:={self.name}", f"__ns:={self.namespace}", *self.remaps]
        remaps = [word for rule in rules for word in ("-r", rule)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "reach_alpha5_driver.node", "--ros-args",
             "--params-file", str(file), *remaps],
            env={**os.environ, "ROS_DOMAIN_ID": str(self.domain)},
            stdout=self.output, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def start(self, *options: str) -> None:
        """Start all, and wait until motion is possible."""
        self.start_sim(*options)
        self.start_driver()
        self.operator.until(self.ready)

    def heard(self) -> bool:
        """Whether driver and operator know each other."""
        operator = self.operator
        return (
            operator.arm_states > 0
            and operator.tel.header.frame_id != ""
            # One that was killed is counted for as long as its lease lasts.
            and operator.commands.get_subscription_count() > 0
        )

    def ready(self) -> bool:
        """Whether nothing but a latch or a missing neutral keeps the arm from being moved."""
        state = self.operator.arm_state
        return self.heard() and state.state != ArmState.NONE and not state.holds

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

    def ends_with_a_stop(self, since: int | None = None) -> bool:
        """Whether the last velocities on the wire are those of a whole stop."""
        told = self.log(since).velocities()[-len(STOP) :]
        return [v.device_id for v in told] == STOP and not any(v.value for v in told)

    def at_rest(self) -> bool:
        """Whether the driver says so, with nothing latched."""
        state = self.operator.arm_state
        return (
            self.ready()
            and state.state in (ArmState.IDLE, ArmState.ENABLED)
            and all(joint.velocity == 0.0 for joint in state.joints)
            and not state.emo
        )

    def settle(self) -> None:
        """Clear what is latched, and wait until the arm is at rest and may be moved."""
        operator, heard = self.operator, self.operator.heard_since()

        def clear() -> None:
            operator.stop()
            state = operator.arm_state
            if state.emo or state.fault_causes:
                operator.reset()
            elif "unpowered" in state.holds:
                operator.power(True)

        operator.repeat(clear, lambda: heard() and self.at_rest(), RESET_PERIOD)
        self.since = self.mark()

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


@contextmanager
def drive_in(folder: Path, **parameters: object) -> Iterator[Drive]:
    """Make a drive, and end all that runs of it."""
    made = Drive(folder, **parameters)
    try:
        yield made
    finally:
        made.close()
