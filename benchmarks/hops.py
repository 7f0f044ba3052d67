"""The reference of the latencies: a chain of bare rclpy processes carries the same message."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rclpy.publisher import Publisher
from stack import Client

from benchmarks import WORKSPACE
from benchmarks.relay import DEPTH

START_TIMEOUT = 30.0
ARRIVAL_TIMEOUT = 5.0
LEAVE_TIMEOUT = 5.0
"""Seconds."""

PROBE = -1
"""Number of the messages that only find out whether the chain is joined."""


class HopChain:
    """Transports in a row: from here over relays to a sink, each of them its own process."""

    def __init__(
        self,
        client: Client,
        environment: Mapping[str, str],
        kind: type,
        hops: int,
        folder: Path,
    ) -> None:
        """Prepare a chain for messages of `kind`, which has a header.

        Args:
            client: publishes the first hop.
            environment: of the processes.
            kind: type of the message.
            hops: transports between here and the sink.
            folder: for what the sink writes.
        """
        self._client = client
        self._environment = dict(environment)
        self._kind = kind
        self._topics = [f"/benchmark/{kind.__name__.lower()}_{hop}" for hop in range(hops)]
        self._arrivals = folder / f"{kind.__name__}_arrivals"
        self._sent: list[int] = []
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> HopChain:
        """Start the processes and wait until a message gets through.

        Raises:
            TimeoutError: none did.
        """
        self._arrivals.write_bytes(b"")
        self._publisher: Publisher[Any] = self._client.node.create_publisher(
            self._kind, self._topics[0], DEPTH
        )
        try:
            for number in range(len(self._topics)):
                self._start(self._topics[number : number + 2])
            deadline = time.monotonic() + START_TIMEOUT
            while not self._read():
                if time.monotonic() > deadline:
                    raise TimeoutError("no message got through the chain of bare rclpy hops")
                self._publish(self._kind(), PROBE)
                time.sleep(0.05)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        """End the processes."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(LEAVE_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._client.node.destroy_publisher(self._publisher)

    @property
    def pids(self) -> list[int]:
        """Ids of the processes."""
        return [process.pid for process in self._processes]

    def send(self, example: Any) -> None:
        """Send a copy of a message down the chain."""
        self._sent.append(self._publish(example, len(self._sent)))

    def latencies(self) -> tuple[float, ...]:
        """Return what each message took from just before `publish()` to the sink [ms].

        Raises:
            TimeoutError: one did not arrive.
        """
        deadline = time.monotonic() + ARRIVAL_TIMEOUT
        while len(arrivals := self._read()) - (PROBE in arrivals) < len(self._sent):
            if time.monotonic() > deadline:
                raise TimeoutError("messages were lost in the chain of bare rclpy hops")
            time.sleep(0.05)
        return tuple((arrivals[n] - sent) / 1e6 for n, sent in enumerate(self._sent))

    def _start(self, topics: list[str]) -> None:
        with self._arrivals.open("ab") as output:
            self._processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", "benchmarks.relay", self._kind.__name__, *topics],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    env=self._environment,
                    cwd=WORKSPACE,
                    start_new_session=True,  # a Ctrl-C ends them from here, in order
                )
            )

    def _publish(self, message: Any, number: int) -> int:
        message.header.stamp.sec = number
        begin = time.monotonic_ns()
        self._publisher.publish(message)
        return begin

    def _read(self) -> dict[int, int]:
        """Return the arrivals so far: number of the message to CLOCK_MONOTONIC [ns]."""
        text = self._arrivals.read_text()
        lines = text[: text.rfind(os.linesep) + 1].splitlines()
        return {int(number): int(arrived) for number, arrived in map(str.split, lines)}
