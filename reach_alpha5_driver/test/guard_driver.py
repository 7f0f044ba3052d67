"""A driver in miniature with a guard. The tests start it as a program and end it in every bad way.

    guard_driver.py PORT ENDING [BALLAST_MB]

It moves the arm as the driver does: pulses before motion, a motion frame every 20 ms, and a stop,
`still` and no motion ever after once the guard has tripped. It prints `moving GUARD_PID` when the
arm moves. A line on its standard input makes it do what its ending says.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import serial

from reach_alpha5_driver.guard.client import Guard, GuardState
from reach_alpha5_driver.guard.config import GuardConfig
from reach_alpha5_driver.protocol.codec import Frame, encode
from reach_alpha5_driver.protocol.packets import STOP_FRAMES

LAST_WORD = b"\0" + STOP_FRAMES
MOTION = encode(Frame(5, 0x02, struct.pack("<f", 0.05)))
MOTION_PERIOD = 0.02


class Driver:
    """One port, one guard, one control thread."""

    def __init__(self, port: str, ending: str) -> None:
        self.deaf = ending == "deaf"
        self.guard = Guard(LAST_WORD, GuardConfig())
        self.guard.start()
        self.wait_until(lambda: self.guard.check() is GuardState.SERVING)
        self.line = serial.serial_for_url(port, 115200, timeout=0, exclusive=True)
        os.set_blocking(self.line.fileno(), False)
        self.guard.watch(self.line.fileno())
        self.wait_until(lambda: self.guard.watches)
        self.moving = threading.Event()
        self.end: Callable[[], object] | None = None
        """What the control thread is to do next, instead of moving the arm."""

    def wait_until(self, condition: Callable[[], bool]) -> None:
        while self.guard.check() is not GuardState.LOST and not condition():
            select.select([self.guard.fileno()], [], [])

    def write(self, data: bytes) -> int:
        with contextlib.suppress(BlockingIOError):
            return os.write(self.line.fileno(), data)
        return 0

    def control(self) -> None:
        guard, next_motion, written = self.guard, 0.0, 0
        end = self.end
        while self.end is end:
            now = time.monotonic()
            guard.pulse(now)
            if guard.check() is not GuardState.SERVING and not self.deaf:
                self.stand()
                print(f"{guard.check().value}: {guard.reason}", flush=True)
                return
            if now >= next_motion:
                next_motion = now + MOTION_PERIOD
                self.write(MOTION)
                written += 1
                if written == 3:
                    self.moving.set()
            due = min(guard.next_pulse(), next_motion) - time.monotonic()
            select.select([], [], [], max(0.0, due))
        if self.end is not None:
            self.end()

    def stand(self) -> None:
        self.write(LAST_WORD)
        self.guard.still()

    # -- endings in the control thread

    def deadlock(self) -> None:
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()

    def stale(self) -> None:
        """Be stopped between the decision and the write, and hang behind it."""
        os.kill(os.getpid(), signal.SIGSTOP)
        self.write(MOTION)
        print("written", flush=True)
        self.deadlock()

    def flood(self) -> None:
        """Queue a third of a second of motion, which the simulated machine just holds."""
        self.write(MOTION * 350)
        self.control()

    def goodbye(self) -> None:
        self.stand()
        self.guard.unwatch()
        self.line.close()
        self.guard.close()
        print(self.guard.check().value, flush=True)
        os._exit(0)


def fork() -> None:
    """Leave a child behind that has inherited everything."""
    if os.fork() == 0:
        sys.stdin.read()
        os._exit(0)


def bequeath() -> None:
    """Leave a program behind that has inherited what programs may."""
    subprocess.Popen([sys.executable, "-c", "input()"], close_fds=False)


def main(port: str, ending: str, ballast: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    held = b"\1" * (ballast << 20)
    driver = Driver(port, ending)
    {"fork": fork, "bequeath": bequeath}.get(ending, int)()
    threading.Thread(target=driver.control, daemon=True).start()
    driver.moving.wait()
    print(f"moving {driver.guard.pid}", flush=True)
    sys.stdin.readline()
    ends_here: dict[str, Callable[[], object]] = {
        "exit": lambda: os._exit(3),
        "segfault": lambda: ctypes.string_at(0),
        "spin": lambda: sum(itertools.repeat(0)),  # one C loop that never lets the GIL go
        "error": lambda: [][len(held)],
    }
    ends_there: dict[str, Callable[[], object]] = {
        "deadlock": driver.deadlock,
        "return": int,
        "stale": driver.stale,
        "flood": driver.flood,
        "stand": driver.stand,
        "goodbye": driver.goodbye,
    }
    ends_here.get(ending, int)()
    driver.end = ends_there.get(ending)
    threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
