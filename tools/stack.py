"""The whole stack on the simulated arm, from the launch file: for demo, tests and benchmarks.

Everything runs as its own process, over real DDS in a domain that nobody else uses, and the byte
log of the simulated arm is the judge.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import rclpy
from domain import Domain
from launch_runner.document import Plan, read
from launch_runner.processes import Runner
from launch_runner.substitution import find_share
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState, Joy
from std_srvs.srv import Trigger

from reach_alpha5_driver.sim.log import WireLog, read_log
from reach_alpha5_msgs.msg import ArbiterState, ArmState, EStop, GripperTel

NAMESPACE = "alpha5"
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Client:
    """A ROS participant beside the stack: plays the pad, presses buttons, hears everything.

    Its callbacks run in a thread of its own; `wait_for` is how to synchronise with what is heard.
    """

    def __init__(self, domain: int, namespace: str = NAMESPACE, name: str = "client") -> None:
        """Join the domain and subscribe to the stack's topics."""
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain)
        self.node = Node(name, namespace=namespace, context=self._context)
        self._changed = threading.Condition()
        self._newest: dict[str, Any] = {}
        self.listen(ArbiterState, "arbiter_state", LATCHED)
        self.listen(ArmState, "arm_state", 10)
        self.listen(GripperTel, "gripper_tel", 10)
        self.listen(JointState, "joint_states", 10)
        self.joy = self.node.create_publisher(Joy, "joy", 10)
        self.estop = self.node.create_publisher(EStop, "estop", 10)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._leaving = False
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        # Not `spin`: that ends when the executor is shut down under it, by an exception at times.
        while not self._leaving:
            self._executor.spin_once(timeout_sec=0.1)

    def listen(self, kind: type, topic: str, qos: QoSProfile | int) -> None:
        """Keep the newest message of a topic."""
        self._newest[topic] = None

        def on_message(message: Any) -> None:
            with self._changed:
                self._newest[topic] = message
                self._changed.notify_all()

        self.node.create_subscription(kind, topic, on_message, qos)

    def last(self, topic: str) -> Any | None:
        """Return the newest message of a topic that is listened to, or None."""
        return self._newest[topic]

    def wait_for(self, condition: Callable[[], Any], seconds: float, what: str) -> Any:
        """Return what `condition` gives once it is true; checked as messages arrive.

        Raises:
            TimeoutError: it was not within `seconds`; names `what`, the arbiter and the arm.
        """
        deadline = time.monotonic() + seconds
        with self._changed:
            while not (value := condition()):
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"not within {seconds:g} s: {what}\n{self.summary()}")
                self._changed.wait(min(left, 0.05))
        return value

    def summary(self) -> str:
        """Say in a few lines what the stack last said of itself."""
        arbiter, arm = self.last("arbiter_state"), self.last("arm_state")
        lines = []
        if arbiter is not None:
            lines.append(
                f"arbiter: owner={arbiter.owner!r} activity={arbiter.activity} "
                f"estop={arbiter.estop_latched} faults={arbiter.fault_causes} "
                f"last_stop={arbiter.last_stop_cause!r} refusal={arbiter.last_refusal.reason!r}"
            )
        if arm is not None:
            lines.append(
                f"arm: state={arm.state} active={arm.active} holds={arm.holds} emo={arm.emo} "
                f"faults={arm.fault_causes} warnings={arm.warnings} "
                f"last_stop={arm.last_stop_cause!r} refusal={arm.last_refusal.reason!r} "
                f"rate={arm.link.telemetry_rate:.1f} Hz"
            )
        return "\n".join(lines) or "nothing was heard"

    def call(self, service: str, seconds: float = 10.0) -> Trigger.Response:
        """Call a Trigger service and return its answer.

        Raises:
            TimeoutError: no such service, or no answer.
        """
        return self.ask(Trigger, service, Trigger.Request(), seconds)

    def ask(self, kind: Any, service: str, request: Any, seconds: float = 10.0) -> Any:
        """Call a service of any kind and return its answer.

        Raises:
            TimeoutError: no such service, or no answer.
        """
        client = self.node.create_client(kind, service)
        try:
            if not client.wait_for_service(seconds):
                raise TimeoutError(f"nobody offers the service {service}")
            future = client.call_async(request)
            self.wait_for(future.done, seconds, f"answer of {service}")
            return future.result()
        finally:
            self.node.destroy_client(client)

    def close(self) -> None:
        """Leave the domain."""
        self._leaving = True
        self._thread.join(10.0)
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)


def read_launch_file(arguments: Mapping[str, str], environment: Mapping[str, str]) -> Plan:
    """Return what the launch file of the stack asks for."""
    file = find_share("reach_alpha5_bringup", environment) / "launch/alpha5.launch.xml"
    return read(file, arguments, environment)


class Stack:
    """Simulated arm, driver, arbiter and teleop from the launch file, in a domain of their own."""

    def __init__(self, folder: Path, **arguments: str) -> None:
        """Prepare to run in `folder`; `arguments` go to the launch file."""
        self.folder = folder
        self.log_path = folder / "wire.log"
        self.control_path = folder / "sim.control"
        self.output_path = folder / "output.log"
        self.domain = Domain()
        self._arguments = {
            "sim": "true",
            "joy": "false",
            "tf": "false",
            "sim_port": str(folder / "port"),
            "sim_log": str(self.log_path),
            "sim_control": str(self.control_path),
            **arguments,
        }
        self._output: IO[str] | None = None
        self.runner: Runner | None = None
        self.robot_description = ""
        """URDF that the driver was given; known once the stack runs."""

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment of every process of the stack."""
        return {**os.environ, "ROS_DOMAIN_ID": str(self.domain.number), "PYTHONUNBUFFERED": "1"}

    def __enter__(self) -> Stack:
        """Start every process."""
        plan = read_launch_file(self._arguments, self.environment)
        (driver,) = (process for process in plan.processes if process.label == "driver")
        for parameters in driver.parameters:
            self.robot_description = parameters.get("robot_description", self.robot_description)
        self._output = self.output_path.open("w")
        self.runner = Runner(plan.processes, self.environment, self._output)
        self.runner.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        """End every process."""
        assert self.runner is not None and self._output is not None
        self.runner.stop()
        self._output.close()
        self.domain.release()

    def pid(self, name: str) -> int:
        """Return the process id of `sim`, `driver`, `arbiter` or `teleop`."""
        assert self.runner is not None
        return self.runner.pid(name)

    def mark(self) -> int:
        """Return the present end of the byte log, for `wire`."""
        return self.log_path.stat().st_size

    def wire(self, since: int = 0) -> WireLog:
        """Return what passed over the line since a mark."""
        return read_log(self.log_path, offset=since)

    def output(self) -> str:
        """Return what the processes printed so far."""
        return self.output_path.read_text()


def await_ready(
    client: Client, seconds: float = 60.0, leave: threading.Event | None = None
) -> None:
    """Wait until motion is possible: nothing holds the arm and the arbiter hears the driver.

    Args:
        client: who hears the stack.
        seconds: longest wait.
        leave: gives up waiting when it is set.

    Raises:
        TimeoutError: it did not come to that.
    """

    def ready() -> bool:
        arbiter, arm = client.last("arbiter_state"), client.last("arm_state")
        return (
            arbiter is not None
            and arm is not None
            and client.last("gripper_tel") is not None
            and arbiter.driver_connected
            and arm.active
            and arm.state != ArmState.NONE
            and not arm.holds
        )

    client.wait_for(
        lambda: ready() or (leave is not None and leave.is_set()), seconds, "arm and arbiter ready"
    )
