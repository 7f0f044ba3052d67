"""A simulation in a process of its own, for tests, benchmarks and the demo."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

from reach_alpha5_driver.sim.commands import ERROR
from reach_alpha5_driver.sim.control import ControlClient
from reach_alpha5_driver.sim.log import WireLog, read_log

START_TIMEOUT = 30.0
"""For Python to start on a busy machine [s]."""


class SimError(RuntimeError):
    """The simulation did not start, or did not obey."""


class SimProcess:
    """Starts `alpha5-sim`, waits until its port can be opened, and ends it.

    It does not outlive whoever made it, not even one that was killed: its standard input ends.

    `port` is what `serial_for_url` opens: a stable link, or a `socket://` URL with `tcp=True`.
    Files lie in `folder`, or in a temporary folder that goes with the simulation.
    """

    def __init__(
        self, *options: str, folder: str | os.PathLike[str] | None = None, tcp: bool = False
    ) -> None:
        self._temporary = None if folder else tempfile.TemporaryDirectory(prefix="alpha5-sim-")
        self.folder = Path(folder or (self._temporary.name if self._temporary else "."))
        self.log_path = self.folder / "wire.log"
        self.control_path = self.folder / "control"
        where = ["--tcp", "0"] if tcp else ["--link", str(self.folder / "port")]
        self._command = [
            sys.executable, "-m", "reach_alpha5_driver.sim.cli", *where,
            "--log", str(self.log_path), "--control", str(self.control_path),
            "--end-with-stdin", *options,
        ]  # fmt: skip
        self.port = ""
        self.process: subprocess.Popen[str] | None = None
        self._client: ControlClient | None = None

    def __enter__(self) -> SimProcess:
        """Start it.

        Raises:
            SimError: it has ended, or was not ready in time.
        """
        self.process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            self.port = self._wait_until_ready()
            self._client = ControlClient(str(self.control_path))
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End it and remove its temporary folder."""
        self.close()

    def command(self, line: str) -> str:
        """Send one command and return the answer.

        Raises:
            SimError: the command was not obeyed; the message says why.
        """
        if self._client is None:
            raise SimError("not started")
        answer = self._client.command(line)
        if answer.startswith(ERROR):
            raise SimError(answer)
        return answer

    def state(self) -> dict[str, Any]:
        """Return the truth: see the command `state`."""
        state: dict[str, Any] = json.loads(self.command("state"))
        return state

    def log(self) -> WireLog:
        """Read what has passed over the line until now."""
        return read_log(self.log_path)

    def close(self) -> None:
        """End it and remove its temporary folder."""
        if self._client is not None:
            self._client.close()
            self._client = None
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(START_TIMEOUT)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    pipe.close()
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    def _wait_until_ready(self) -> str:
        if self.process is None or self.process.stdout is None:
            raise SimError("not started")
        ready, _, _ = select.select([self.process.stdout], [], [], START_TIMEOUT)
        word, _, port = (self.process.stdout.readline() if ready else "").strip().partition(" ")
        if word != "ready":
            raise SimError(f"did not get ready; see its messages: {' '.join(self._command)}")
        return port
