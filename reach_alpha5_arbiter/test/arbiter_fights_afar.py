"""A source on another machine, whose whole clock may be wrong: the middleware's times as well."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import threading
from pathlib import Path

HERE = Path(__file__).parent


def wrong_clock(folder: Path) -> Path:
    """Compile what gives a process a wrong clock, and return the library."""
    library = folder / "wrong_clock.so"
    if not library.exists():
        compiling = ["cc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "wrong_clock.c"]
        subprocess.run([*compiling, "-ldl", "-lpthread"], check=True)
    return library


class Afar:
    """A process that speaks for a source, with a clock that can be set."""

    def __init__(
        self, namespace: str, source: str, folder: Path, environment: dict[str, str], ahead: int
    ) -> None:
        """Start it.

        Args:
            namespace: in which it speaks.
            source: whose process it is.
            folder: for the library and the clock's file.
            environment: of the process.
            ahead: how far its clock is ahead of the true time [s].
        """
        self._file = folder / "wrong_clock"
        self._file.write_bytes(bytes(8))
        self.set(ahead)
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "arbiter_fights_sender.py"), namespace, source],
            env=environment
            | {"LD_PRELOAD": os.fspath(wrong_clock(folder)), "WRONG_CLOCK": os.fspath(self._file)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def set(self, ahead: int) -> None:
        """Set its clock to so many seconds ahead of the true time, at once."""
        with self._file.open("r+b", buffering=0) as file:
            file.write(struct.pack("=q", ahead))

    def beat(self, client: str, present: bool) -> None:
        """Let it send a heartbeat."""
        self._say(f"beat {client} {int(present)}")

    def command(self, x: float, lifetime: float) -> None:
        """Let it send a command; 0 = neutral."""
        self._say(f"command {x} {lifetime}")

    def _say(self, line: str) -> None:
        with self._lock:
            assert self._process.stdin is not None
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
