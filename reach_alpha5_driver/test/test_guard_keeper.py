"""What the core is told of the guard, and when."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from driver_rig import BOUNDS, DESCRIPTION, PlainMover

from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.guard import keeper as keeper_module
from reach_alpha5_driver.guard.client import Guard, GuardState
from reach_alpha5_driver.guard.config import GuardConfig
from reach_alpha5_driver.guard.keeper import GuardKeeper
from reach_alpha5_driver.holds import Hold
from reach_alpha5_driver.states import State
from reach_alpha5_driver.transport.memory import MemoryLine

TIMEOUT = 30.0


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.002)


class Bench:
    """A keeper that looks when it is told to."""

    def __init__(self) -> None:
        self.core = DriverCore(CoreConfig(), BOUNDS, DESCRIPTION, PlainMover())
        self.guard = Guard(b"\0stop\0", GuardConfig())
        self.keeper = GuardKeeper(self.guard)
        self.line = MemoryLine()

    def look(self) -> None:
        self.keeper.look(self.core, self.line, time.monotonic())

    @property
    def watched(self) -> bool:
        return Hold.NO_GUARD not in self.core.gate.holds

    def start(self) -> None:
        until(lambda: self.look() or self.watched)

    def trip(self) -> None:
        self.guard.pulse(time.monotonic())
        until(lambda: self.guard.check() is GuardState.TRIPPED)

    def said(self) -> list[str]:
        return [note.text for note in self.core.notes if "no guard: " in note.text]


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.guard.still()
    made.guard.close()
    made.line.close()


def test_the_core_hears_of_a_guard_only_when_it_has_said_that_it_watches_this_line(bench):
    bench.look()
    assert bench.guard.check() is GuardState.STARTING
    assert not bench.watched
    bench.start()
    os.kill(bench.guard.pid, signal.SIGSTOP)
    bench.keeper.let_go()
    bench.line.close()
    bench.line = MemoryLine()
    bench.look()
    bench.look()
    assert bench.guard.check() is GuardState.SERVING
    assert not bench.watched
    os.kill(bench.guard.pid, signal.SIGCONT)
    bench.start()


def test_without_a_line_no_guard_watches(bench):
    bench.start()
    bench.keeper.let_go()
    bench.keeper.look(bench.core, None, time.monotonic())
    assert not bench.watched


def test_a_trip_is_told_once_and_the_next_one_after_a_reset_is_told_again(bench):
    bench.start()
    bench.trip()
    for _ in range(3):
        bench.look()
    assert bench.core.guard_trips == 1
    assert bench.core.gate.state is State.MAJOR_FAULT
    bench.core.gate.reset()
    bench.look()
    bench.trip()  # before the next look
    bench.look()
    assert bench.core.guard_trips == 2
    assert bench.core.gate.state is State.MAJOR_FAULT
    assert bench.guard.check() is GuardState.TRIPPED


def test_a_guard_that_has_tripped_takes_the_next_line_too(bench):
    bench.start()
    bench.trip()
    bench.keeper.let_go()
    bench.line.close()
    bench.line = MemoryLine()
    bench.look()
    assert not bench.watched
    bench.start()
    assert bench.guard.check() is GuardState.TRIPPED


def test_a_pulse_that_finds_no_guard_says_so_before_it_returns(bench):
    bench.start()
    os.kill(bench.guard.pid, signal.SIGKILL)
    os.waitid(os.P_PID, bench.guard.pid, os.WEXITED | os.WNOWAIT)
    assert bench.watched
    bench.keeper.pulse(bench.core, time.monotonic())
    assert not bench.watched


def test_an_owed_stop_leaves_before_another_guard_is_started(bench):
    bench.core.gate.shutdown()
    bench.look()
    assert bench.guard.check() is GuardState.OFF
    bench.core.gate.release(time.monotonic(), False)
    bench.look()
    assert bench.guard.check() is GuardState.STARTING


def test_why_there_is_no_guard_is_said_once(bench, monkeypatch):
    monkeypatch.setattr(keeper_module, "START_PERIOD", 0.0)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    for _ in range(5):
        bench.look()
    assert len(bench.said()) == 1
    assert "/nowhere/python" in bench.said()[0]
    monkeypatch.undo()
    bench.start()
    os.kill(bench.guard.pid, signal.SIGKILL)
    until(lambda: bench.look() or not bench.watched)
    assert bench.said()[1:] == ["no guard: its process has ended"]
