"""Run the processes of a plan until they end or the user does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import yaml

from launch_runner.plan import Process

GRACE = 5.0
"""Seconds from SIGINT to SIGTERM to SIGKILL for a process that does not go, as in stock launch."""

POLL = 0.05


@dataclass(slots=True)
class Running:
    """A started process and the thread that forwards what it prints."""

    label: str
    popen: subprocess.Popen[str]
    reader: threading.Thread


class Runner:
    """Starts the processes of a plan and brings them all down again.

    Use it as a context manager: leaving it ends whatever still runs.
    """

    def __init__(
        self,
        processes: Sequence[Process],
        environment: Mapping[str, str] | None = None,
        output: TextIO | None = None,
    ) -> None:
        """Prepare to run `processes`; their lines go to `output`, stdout unless given."""
        self._processes = processes
        self._environment = dict(environment if environment is not None else os.environ)
        self._output = output if output is not None else sys.stdout
        self._lock = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(prefix="launch_")
        self.running: list[Running] = []

    def __enter__(self) -> Runner:
        """Start every process; when one cannot start, end those that did."""
        try:
            for number, process in enumerate(self._processes, start=1):
                self.running.append(self._start(f"{process.label}-{number}", process))
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        """End every process."""
        self.stop()

    def _start(self, label: str, process: Process) -> Running:
        command = list(process.command)
        for number, parameters in enumerate(process.parameters):
            path = Path(self._folder.name) / f"{label}_{number}.yaml"
            path.write_text(yaml.safe_dump({"/**": {"ros__parameters": parameters}}))
            command += ["--params-file", str(path)]
        popen = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=self._environment,
            start_new_session=True,  # a Ctrl-C reaches each process once: from here
        )
        self._say("launch", f"started {label} (pid {popen.pid})")
        reader = threading.Thread(target=self._forward, args=(label, popen), daemon=True)
        reader.start()
        return Running(label, popen, reader)

    def _forward(self, label: str, popen: subprocess.Popen[str]) -> None:
        assert popen.stdout is not None
        for line in popen.stdout:
            self._say(label, line.rstrip("\n"))

    def _say(self, label: str, line: str) -> None:
        with self._lock:
            print(f"[{label}] {line}", file=self._output, flush=True)

    def pid(self, label: str) -> int:
        """Return the process id of the first process whose name is `label`."""
        for running in self.running:
            if running.label.rpartition("-")[0] == label:
                return running.popen.pid
        raise KeyError(label)

    def wait(self, asked_to_leave: threading.Event) -> int:
        """Wait until all processes ended (1 if one of them failed) or until asked to leave (0)."""
        announced: set[str] = set()
        while not asked_to_leave.wait(POLL):
            for running in self.running:
                status = running.popen.poll()
                if status is not None and running.label not in announced:
                    announced.add(running.label)
                    self._say("launch", f"{running.label} ended with status {status}")
            if len(announced) == len(self.running):
                return int(any(running.popen.returncode for running in self.running))
        return 0

    def stop(self) -> None:
        """End every process: SIGINT first, harsher signals for those that do not go."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            alive = [r for r in self.running if r.popen.poll() is None]
            for running in alive:
                if number != signal.SIGINT:
                    self._say("launch", f"{running.label} did not leave: {number.name}")
                running.popen.send_signal(number)
            deadline = time.monotonic() + GRACE
            for running in alive:
                try:
                    running.popen.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    continue
        for running in self.running:
            running.reader.join(GRACE)
        self._folder.cleanup()
