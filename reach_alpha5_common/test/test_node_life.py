"""Real processes and real signals: what a node says on its way out has to arrive."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from reach_alpha5_common.node_life import PRIORITY

PROGRAM = Path(__file__).with_name("node_life_program.py")
DEADLINE = 60.0
"""Longest wait [s]: far beyond what it takes, so that only a fault meets it."""


def may_go_before_others() -> bool:
    """Whether a process of ours may have a higher priority than the usual one."""
    ask = f"import os; os.setpriority(os.PRIO_PROCESS, 0, {PRIORITY})"
    return subprocess.run([sys.executable, "-c", ask], stderr=subprocess.DEVNULL).returncode == 0


@contextmanager
def program(*arguments: str, niceness: int | None = None) -> Iterator[subprocess.Popen[str]]:
    """Run the program, and leave none of it behind."""
    given = [] if niceness is None else ["nice", "-n", str(niceness - os.nice(0))]
    process = subprocess.Popen(
        [*given, sys.executable, str(PROGRAM), "--ros-args", *arguments],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


class Listener:
    """Hears what the program says, and can tell it something."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.heard: list[str] = []
        latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        node.create_subscription(String, "said", lambda m: self.heard.append(m.data), latched)
        self.tell = node.create_publisher(String, "told", 10)

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Spin until the condition holds."""
        deadline = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < deadline, f"{what}; heard {self.heard}"
            rclpy.spin_once(self.node, timeout_sec=0.05)

    def wait_until_up(self) -> None:
        """Wait until the program runs."""
        self.wait(lambda: bool(self.heard), "the program never came up")


@pytest.fixture
def listener() -> Iterator[Listener]:
    rclpy.init()
    node = Node("listener")
    try:
        yield Listener(node)
    finally:
        node.destroy_node()
        rclpy.shutdown()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_rule_11_on_a_signal_the_last_message_arrives_before_the_process_goes(
    listener: Listener, number: signal.Signals
) -> None:
    with program() as process:
        listener.wait_until_up()
        process.send_signal(number)
        _, errors = process.communicate(timeout=DEADLINE)
        listener.wait(lambda: "down" in listener.heard, "the last message is lost")
    assert process.returncode == 0
    assert "Traceback" not in errors
    assert listener.heard == ["up 0.5", "down"]


def test_what_start_up_left_is_spared_by_the_garbage_collector(listener: Listener) -> None:
    with program() as process:
        listener.wait_until_up()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=DEADLINE)
    assert int(errors.split("spared ")[1].split()[0]) > 10_000


def test_U13_a_second_ctrl_c_does_not_cut_the_last_message_off(listener: Listener) -> None:
    with program() as process:
        listener.wait_until_up()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=DEADLINE)
        listener.wait(lambda: "down" in listener.heard, "the last message is lost")
    assert process.returncode == 0
    assert "Traceback" not in errors


def test_a_fault_in_a_callback_ends_the_node_but_the_last_message_leaves(
    listener: Listener,
) -> None:
    with program() as process:
        listener.wait_until_up()
        listener.wait(lambda: listener.tell.get_subscription_count() > 0, "nobody to tell")
        listener.tell.publish(String(data="fail"))
        _, errors = process.communicate(timeout=DEADLINE)
        listener.wait(lambda: "down" in listener.heard, "the last message is lost")
    assert process.returncode == 1
    assert "RuntimeError: told to fail" in errors


def test_a_parameter_in_its_range_is_taken(listener: Listener) -> None:
    with program("-p", "speed:=1.0"):
        listener.wait_until_up()
    assert listener.heard == ["up 1.0"]


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("speed:=1.5", "speed"),
        ("speed:=.nan", "speed"),
        ("speed:=fast", "speed"),
        ("count:=6", "count"),
        ("count:=0", "count"),
        ("mode:=reckless", "mode"),
        ("pose:=[0.1, 4.0]", "pose"),
    ],
)
def test_a_parameter_that_is_wrong_keeps_the_node_from_starting_and_is_named(
    setting: str, named: str
) -> None:
    with program("-p", setting) as process:
        _, errors = process.communicate(timeout=DEADLINE)
    assert process.returncode == 2
    assert "cannot start" in errors
    assert named in errors
    assert "Traceback" not in errors


def test_a_parameter_that_the_node_has_not_is_refused_by_name():
    with program("-p", "sped:=0.2") as process:
        _, said = process.communicate(timeout=DEADLINE)
    assert process.returncode == 2
    assert "no such parameter: sped" in said
    assert "Traceback" not in said


def test_a_parameter_file_that_is_no_yaml_is_refused_without_a_traceback(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text("program: [")
    with program("--params-file", str(path)) as process:
        _, said = process.communicate(timeout=DEADLINE)
    assert process.returncode == 2
    assert "cannot start" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("given", [0, 19])
def test_who_moves_an_arm_goes_before_others_unless_a_priority_was_given(
    listener: Listener, given: int
) -> None:
    allowed = may_go_before_others()
    if given < os.nice(0) and not allowed:
        pytest.skip("this test itself was given a priority, and may not take another one back")
    with program(niceness=given) as process:
        listener.wait_until_up()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=DEADLINE)
    expected = PRIORITY if allowed and given == 0 else given
    assert f"priority {expected}\n" in said
