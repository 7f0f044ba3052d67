"""Publishers of a dive, a recorder as a process, and what its bag holds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

# Before rclpy: a run of its own, which no other on this machine meets.
os.environ.setdefault("ROS_DOMAIN_ID", str(os.getpid() % 100 + 1))
os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
from typing import Any

import rclpy
import yaml
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from reach_alpha5_bags.reading import Bag
from reach_alpha5_bags.settings import installed

PATIENCE = 60.0
"""Time [s] after which a test gives up."""


def until(condition: Callable[[], Any], what: str, step: float = 0.02) -> Any:
    """Return what `condition` gives once it is true."""
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < deadline, f"in vain: {what}"
        time.sleep(step)
    return value


class Peer(Node):
    """A node with a thread that spins it, in a context of its own."""

    def __init__(self, name: str = "bags_peer") -> None:
        self._own = Context()
        rclpy.init(context=self._own)
        super().__init__(name, context=self._own)
        self._executor_of_own = SingleThreadedExecutor(context=self._own)
        self._executor_of_own.add_node(self)
        self._is_leaving = False
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()

    def _spin(self) -> None:
        while not self._is_leaving:
            self._executor_of_own.spin_once(timeout_sec=0.05)

    def close(self) -> None:
        self._is_leaving = True
        self._thread.join()
        self._executor_of_own.shutdown()
        self.destroy_node()
        rclpy.shutdown(context=self._own)


@contextmanager
def peer() -> Iterator[Peer]:
    node = Peer()
    try:
        yield node
    finally:
        node.close()


class Recording:
    """A recorder that runs as a process.

    Args:
        folder: of the bag.
        arguments: of the command.
        settings: of the profile that are others than the installed ones.
        preexec: is called in the process before it begins.
    """

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        settings: dict[str, Any] | None = None,
        preexec: Callable[[], None] | None = None,
    ) -> None:
        self.folder = folder
        profile = yaml.safe_load(installed("record.yaml").read_text()) | (settings or {})
        file = folder.parent / f"{folder.name}_record.yaml"
        file.write_text(yaml.safe_dump(profile, sort_keys=False))
        self.log = folder.parent / f"{folder.name}.log"
        command = [sys.executable, "-m", "reach_alpha5_bags.recorder.cli", *arguments]
        command += ["--writer", "own", "--profile", str(file), "--output", str(folder)]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env={**os.environ}, preexec_fn=preexec
            )

    def said(self) -> str:
        return self.log.read_text()

    def wait_for(self, text: str) -> None:
        until(lambda: text in self.said() or self.process.poll() is not None, text)
        assert text in self.said(), self.said()

    def wait_for_topics(self, *topics: str) -> None:
        for topic in topics:
            self.wait_for(f"records {topic} [")

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@contextmanager
def recording(folder: Path, *arguments: str, **options: Any) -> Iterator[Recording]:
    running = Recording(folder, *arguments, **options)
    try:
        yield running
    finally:
        running.close()


def content(path: Path) -> dict[str, list[Any]]:
    """Return the messages of a bag by topic."""
    found: dict[str, list[Any]] = {}
    with Bag(path) as bag:
        for recorded in bag.read(list(bag.topics)):
            found.setdefault(recorded.topic, []).append(bag.message(recorded))
    return found
