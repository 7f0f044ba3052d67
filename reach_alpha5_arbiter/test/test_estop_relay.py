"""The example of a relay, as a process: what its coil is told, over DDS."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Bool

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/estop_relay.py"
DOMAIN = 1 + os.getpid() % 100
PATIENCE = 30.0
"""Longest wait [s] for anything: a bound against hanging, never a measure."""


class Arbiter:
    """Says what the arbiter says to a relay, for as long as the test wants."""

    def __init__(self, node: Node, process: subprocess.Popen[str], output: Path) -> None:
        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(node)
        self._publisher = node.create_publisher(Bool, "motion_permitted", 1)
        self.process = process
        self._output = output

    def coil(self) -> list[str]:
        """Return what the coil was told so far."""
        return self._output.read_text().split("\n")[:-1]

    def say(self, permitted: bool | None, until: Callable[[], object]) -> None:
        """Say it again and again, or nothing, until something is so."""
        deadline = time.monotonic() + PATIENCE
        while not until():
            assert time.monotonic() < deadline, self._output.read_text()
            assert self.process.poll() is None, self._output.read_text()
            if permitted is not None:
                self._publisher.publish(Bool(data=permitted))
            self._executor.spin_once(timeout_sec=0.05)


@pytest.fixture
def arbiter(tmp_path: Path) -> Iterator[Arbiter]:
    context = Context()
    rclpy.init(context=context, domain_id=DOMAIN)
    node = Node("arbiter", namespace="alpha5", context=context)
    output = tmp_path / "output.txt"
    with output.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, str(EXAMPLE)],
            stdout=file,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)},
        )
    try:
        yield Arbiter(node, process, output)
    finally:
        process.kill()
        process.wait()
        node.destroy_node()
        rclpy.shutdown(context=context)


def test_the_relay_closes_when_motion_is_permitted_and_opens_when_it_is_not_or_all_is_silent(
    arbiter: Arbiter,
) -> None:
    closed, opened = "relay: CLOSED", "relay: OPEN"
    arbiter.say(True, lambda: arbiter.coil()[-1:] == [closed])
    arbiter.say(False, lambda: arbiter.coil()[-1:] == [opened])
    arbiter.say(True, lambda: arbiter.coil()[-1:] == [closed])
    arbiter.say(None, lambda: arbiter.coil()[-1:] == [opened])
    arbiter.say(True, lambda: arbiter.coil()[-1:] == [closed])
    arbiter.process.send_signal(signal.SIGTERM)
    assert arbiter.process.wait(PATIENCE) == 0
    assert arbiter.coil()[-1:] == [opened]
