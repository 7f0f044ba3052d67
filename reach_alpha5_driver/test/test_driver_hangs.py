"""The driver's node with one of its threads hanging: what the others do, and what is said."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import rclpy
from arm_description import description
from driver_node_rig import TIMEOUT
from rclpy.context import Context
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool

from reach_alpha5_driver import node as driver_node
from reach_alpha5_driver.estop_listener import EstopListener
from reach_alpha5_driver.node import DriverNode
from reach_alpha5_driver.sim.process import SimProcess
from reach_alpha5_msgs.msg import EStop

PATIENCE = 0.3
"""Seconds that the driver waits here for a thread that hangs."""

UNCONFIGURED = LifecycleState("unconfigured", 1)
INACTIVE = LifecycleState("inactive", 2)


@pytest.fixture
def context() -> Iterator[Context]:
    """A ROS of its own, in a namespace of its own."""
    made = Context()
    arguments = ["--ros-args", "-r", f"__ns:=/test_{random.randrange(1 << 30)}"]
    rclpy.init(args=arguments, context=made, domain_id=random.randrange(1, 100))
    yield made
    rclpy.try_shutdown(context=made)


@pytest.fixture
def driver(
    context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[DriverNode]:
    """An unconfigured driver whose executor makes no callback: it might as well hang."""
    monkeypatch.setattr(driver_node, "ANSWER_TIMEOUT", PATIENCE)
    values = {
        **description(),
        "serial_port": str(tmp_path / "port"),
        "autostart": False,
    }
    overrides = [Parameter(name, value=value) for name, value in values.items()]
    made = DriverNode(context=context, parameter_overrides=overrides)
    yield made
    made.close()
    made.destroy_node()


class Hang:
    """A call that hangs until it is let go."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, *_: object) -> None:
        self.begun.set()
        self.go_on.wait()


@pytest.fixture
def stuck(driver: DriverNode) -> Iterator[DriverNode]:
    """The driver with its control thread hanging."""
    hang = Hang()
    driver._loop.inbox.call(hang)
    assert hang.begun.wait(TIMEOUT)
    yield driver
    hang.go_on.set()


def until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def press(node: Node) -> None:
    """Press an e-stop as somebody who is there already."""
    button = node.create_publisher(EStop, "estop", 10)
    until(lambda: button.get_subscription_count() == 1)
    button.publish(EStop(level=EStop.CUT, source="test", reason="pressed"))


def test_D4_an_estop_is_heard_while_the_executor_hangs(driver, context):
    press(Node("operator", context=context))
    until(lambda: driver._loop.picture.estop_epoch == 1)


def test_an_estop_that_cannot_be_taken_counts_as_one(context, capfd):
    heard: list[tuple[int, str]] = []

    def hear(level: int, source: str, reason: str) -> None:
        if source == "test":
            raise ValueError("a bug")
        heard.append((level, source))

    node = Node("driver", context=context)
    listener = EstopListener(node, hear)
    listener.start()
    press(node)
    until(lambda: heard)
    assert heard == [(EStop.CUT, "driver_estop")]
    assert "a bug" in capfd.readouterr().err
    press(node)  # it goes on listening
    until(lambda: len(heard) == 2)
    assert listener.close()


def test_power_is_not_confirmed_by_a_control_thread_that_hangs(stuck, capfd):
    answer = stuck._on_power(SetBool.Request(data=True), SetBool.Response())
    assert not answer.success
    assert answer.message.startswith("no_answer: ")
    assert "the control thread does not answer" in capfd.readouterr().err


def test_power_is_not_confirmed_by_a_picture_from_before(driver, tmp_path, monkeypatch):
    monkeypatch.setattr(driver_node, "POWER_TIMEOUT", PATIENCE)
    loop, before, after = driver._loop, Hang(), Hang()
    with SimProcess(folder=tmp_path), ThreadPoolExecutor() as service:
        assert driver.on_configure(UNCONFIGURED) is TransitionCallbackReturn.SUCCESS
        until(lambda: loop.picture.powered)
        loop.inbox.call(before)
        assert before.begun.wait(TIMEOUT)
        answer = service.submit(driver._on_power, SetBool.Request(data=True), SetBool.Response())
        until(lambda: len(loop.inbox) == 1)
        loop.inbox.call(after)  # it answers, and makes no picture any more
        before.go_on.set()
        try:
            assert answer.result(TIMEOUT).message.startswith("not_confirmed: ")
            assert loop.picture.powered
        finally:
            after.go_on.set()


def test_a_port_is_not_released_by_a_control_thread_that_hangs(stuck, capfd):
    # The newest picture has no open port; but it was made before.
    assert stuck.on_cleanup(INACTIVE) is TransitionCallbackReturn.ERROR
    assert "the port was not released" in capfd.readouterr().err


def test_a_control_thread_that_hangs_at_the_end_is_told_of(stuck, capfd):
    stuck.close()
    assert "the control thread hangs" in capfd.readouterr().err


def test_a_publishing_thread_that_hangs_at_the_end_is_told_of(driver, capfd, monkeypatch):
    hang = Hang()
    monkeypatch.setattr(driver._publisher, "_publish", hang)
    assert hang.begun.wait(TIMEOUT)
    driver.close()
    assert "the publishing thread hangs" in capfd.readouterr().err
    hang.go_on.set()
