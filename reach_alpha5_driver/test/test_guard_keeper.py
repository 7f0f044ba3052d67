"""What the core is told of the guard, and when."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from driver_rig import BOUNDS, DESCRIPTION, FORWARD, PlainMover

from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.demand import Demand
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


# -- on a clock of the test, with a guard that is played


class PlayedGuard:
    """Is what the test says, and notes what it is told."""

    def __init__(self) -> None:
        self.state = GuardState.OFF
        self.reason = ""
        self.watches = False
        self.number = -1
        self.told: list[object] = []

    def check(self) -> GuardState:
        return self.state

    def start(self) -> None:
        self.told.append("start")

    def watch(self, fd: int) -> None:
        self.told.append(("watch", fd))

    def unwatch(self, wait: bool) -> None:
        self.told.append(("unwatch", wait))

    def pulse(self, now: float) -> None:
        self.told.append(("pulse", now))

    def rearm(self) -> None:
        self.told.append("rearm")
        self.state = GuardState.SERVING

    def fileno(self) -> int:
        return self.number


class Play:
    """A keeper of a played guard."""

    def __init__(self) -> None:
        self.core = DriverCore(CoreConfig(), BOUNDS, DESCRIPTION, PlainMover())
        self.guard = PlayedGuard()
        self.keeper = GuardKeeper(self.guard)
        self.line: MemoryLine | None = MemoryLine()

    def look(self, state: GuardState, now: float = 0.0) -> list[object]:
        """Let the keeper find a guard in a state; return what it told it."""
        self.guard.state = state
        self.guard.told.clear()
        self.keeper.look(self.core, self.line, now)
        return self.guard.told.copy()

    def another_line(self) -> MemoryLine:
        if self.line is not None:
            self.line.close()
        self.line = MemoryLine()
        return self.line

    @property
    def watched(self) -> bool:
        return Hold.NO_GUARD not in self.core.gate.holds

    def move(self) -> None:
        """Make the arm move."""
        gate = self.core.gate
        for hold in Hold:
            gate.lift(hold)
        gate.arm_answers(True, 0.0)
        gate.release(0.0, True)
        gate.engage()
        gate.take(Demand(FORWARD, 9.0))
        gate.set_rates((0.1,) * 4 + (0.0,))
        assert gate.release(0.0, True).data


@pytest.fixture
def play() -> Iterator[Play]:
    made = Play()
    yield made
    if made.line is not None:
        made.line.close()


def test_a_guard_that_does_not_run_is_started_once_a_second(play):
    assert play.look(GuardState.OFF, 5.0) == ["start"]
    assert play.look(GuardState.STARTING, 5.5) == []
    assert play.look(GuardState.LOST, 5.999) == []
    assert play.look(GuardState.LOST, 6.0) == ["start"]


def test_each_line_is_handed_over_once(play):
    first = ("watch", play.line.fileno())
    assert play.look(GuardState.STARTING) == []
    assert play.look(GuardState.SERVING) == [first]
    assert play.look(GuardState.SERVING) == []
    second = ("watch", play.another_line().fileno())
    assert play.look(GuardState.TRIPPED) == [second]
    play.line.close()
    play.line = None
    assert play.look(GuardState.SERVING) == []


def test_a_guard_that_was_started_anew_gets_the_line_anew(play):
    handed = ("watch", play.line.fileno())
    assert play.look(GuardState.SERVING) == [handed]
    assert play.look(GuardState.LOST) == ["start"]
    assert play.look(GuardState.SERVING) == [handed]


def test_only_a_guard_that_says_so_watches_and_only_the_line_it_was_given(play):
    play.look(GuardState.SERVING)
    assert not play.watched
    play.guard.watches = True
    play.look(GuardState.SERVING)
    assert play.watched
    play.keeper.let_go()
    play.line.close()
    play.line = None
    play.look(GuardState.SERVING)
    assert not play.watched


@pytest.mark.parametrize("wait", [True, False])
def test_the_line_is_let_go_of_with_or_without_waiting(play, wait):
    play.look(GuardState.SERVING)
    play.guard.told.clear()
    play.keeper.let_go(wait)
    assert play.guard.told == [("unwatch", wait)]


def test_nobody_waits_who_does_not_say_so(play):
    play.keeper.let_go()
    assert play.guard.told == [("unwatch", False)]


def test_a_pulse_is_passed_on_and_a_guard_that_watches_stays_one(play):
    play.guard.watches = True
    play.look(GuardState.SERVING)
    play.guard.told.clear()
    play.keeper.pulse(play.core, 3.25)
    assert play.guard.told == [("pulse", 3.25)]
    assert play.watched
    play.guard.watches = False
    play.keeper.pulse(play.core, 3.5)
    assert not play.watched
    assert play.core.gate.disengaged_at == 3.5


def test_the_arm_is_stopped_before_the_guard_that_was_lost_is_started(play):
    play.guard.watches = True
    play.look(GuardState.SERVING)
    play.move()
    play.guard.watches = False
    assert play.look(GuardState.LOST, 1.0) == []
    assert play.core.gate.stop_owed
    assert play.core.gate.disengaged_at == 1.0
    play.core.gate.release(1.0, True)
    assert play.look(GuardState.LOST, 1.0) == ["start"]


@pytest.mark.parametrize(("number", "readable"), [(-1, ()), (0, (0,)), (7, (7,))])
def test_what_the_guard_says_is_waited_for_where_it_is_heard(play, number, readable):
    play.guard.number = number
    assert play.keeper.filenos() == readable


def test_each_reason_is_told_once_and_again_after_a_guard_that_served(play):
    for state, reason in [
        (GuardState.OFF, ""),
        (GuardState.LOST, "one"),
        (GuardState.LOST, "one"),
        (GuardState.LOST, "two"),
        (GuardState.SERVING, ""),
        (GuardState.LOST, "two"),
    ]:
        play.guard.reason = reason
        play.look(state)
    notes = [(note.severity, note.text) for note in play.core.notes if "no guard" in note.text]
    assert notes == [("error", f"no guard: {reason}") for reason in ("one", "two", "two")]


def test_a_trip_is_a_fault_until_the_reset_and_then_news_again(play):
    play.guard.reason = "too late"
    assert play.look(GuardState.TRIPPED)[1:] == []
    assert play.look(GuardState.TRIPPED) == []
    assert play.core.guard_trips == 1
    assert play.core.gate.state is State.MAJOR_FAULT
    assert any("too late" in note.text for note in play.core.notes)
    play.core.gate.reset()
    assert play.look(GuardState.TRIPPED) == ["rearm"]
    assert play.look(GuardState.TRIPPED) == []
    assert play.core.guard_trips == 2
    assert play.core.gate.state is State.MAJOR_FAULT
