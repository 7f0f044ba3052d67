"""The control thread on real time: it never dies, never waits, and always stops the arm."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from driver_rig import BOUNDS, DESCRIPTION, FORWARD, Arm, PlainMover

from reach_alpha5_common.command import CommandKind, DriverCommand, StopLevel
from reach_alpha5_driver.backoff import Backoff, BackoffConfig
from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.control_loop import LAST_WORD, ControlLoop
from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.guard import client
from reach_alpha5_driver.guard.client import Guard, GuardState
from reach_alpha5_driver.guard.config import GuardConfig
from reach_alpha5_driver.heartbeat import QUIET_LINE
from reach_alpha5_driver.inbox import MAX_WAITING
from reach_alpha5_driver.protocol.packets import STOP_FRAMES, Mode
from reach_alpha5_driver.states import State
from reach_alpha5_driver.transport.base import LineLost, OpenError, Transport
from reach_alpha5_driver.transport.faulty import Faults, FaultyLine
from reach_alpha5_driver.transport.memory import MemoryLine

TIMEOUT = 30.0
RECONNECT = 0.05
HOURS = 1e4
"""Far longer than `TIMEOUT`: whoever waits so long fails the test [s]."""


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.002)


class FailingLine(MemoryLine):
    """Stalls while it is told to, and fails once where it is told to; else it works."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self.stalled = False
        self.fails_once = False
        self.written: list[bytes] = []

    def read(self) -> bytes:
        if self.fails_once:
            self.fails_once = False
            raise LineLost("an error that does not last")
        return super().read()

    def write(self, data: bytes) -> int:
        if self.stalled:
            return 0
        self.written.append(data)
        return super().write(data)


class Bench:
    """A control loop, and an arm that is served by a thread at the far end of its line."""

    def __init__(
        self,
        faults: Faults | None = None,
        capacity: int = 4096,
        hang_after: float = 5.0,
        reconnect_max: float = RECONNECT,
    ) -> None:
        self.arm = Arm(torn=faults is not None)
        self.mover = PlainMover()
        # Generous: a loaded machine must not be taken for a silent arm.
        self.config = CoreConfig(stale_after=2.0)
        self.core = DriverCore(self.config, BOUNDS, DESCRIPTION, self.mover)
        self.core.set_active(True, 0.0)
        self.faults = faults
        self.capacity = capacity
        self.lines: list[FailingLine] = []
        self.refuse: Exception | None = None
        self.serving = True
        self.wire = bytearray()
        self.updates = threading.Event()
        self.numbers = itertools.count(1)
        self.guard = Guard(LAST_WORD, GuardConfig(hang_after=hang_after))
        backoff = Backoff(BackoffConfig(RECONNECT, reconnect_max))
        self.loop = ControlLoop(self.core, self.open, self.guard, backoff, self.updates.set, 0.02)
        self._done = False
        self._server = threading.Thread(target=self._serve)

    def __enter__(self) -> Bench:
        self._server.start()
        self.loop.start()
        self.loop.open_line()
        return self

    def __exit__(self, *error: object) -> None:
        self.loop.close()
        self._done = True
        self._server.join()

    def open(self) -> Transport:
        if self.refuse is not None:
            raise self.refuse
        self.lines.append(FailingLine(self.capacity))
        line: Transport = self.lines[-1]
        if self.faults is not None:
            line = FaultyLine(line, self.faults, len(self.lines))
        return line

    def _serve(self) -> None:
        last = time.monotonic()
        while not self._done:
            time.sleep(0.002)
            now = time.monotonic()
            self.arm.advance(now - last)
            last = now
            if self.serving and self.lines:
                self.take()

    def take(self) -> None:
        """Let what is queued pass to the arm, and its answers back."""
        line = self.lines[-1]
        data = line.far.take()
        self.wire += data
        with contextlib.suppress(OSError):  # the loop has closed this line
            line.far.send(self.arm.hear(data))

    def input(self, lifetime: float = 0.4) -> None:
        command = DriverCommand(
            CommandKind.INPUT, next(self.numbers), input=FORWARD, lifetime=lifetime
        )
        self.loop.inbox.command(command, time.monotonic())

    def stop(self) -> None:
        self.loop.inbox.command(
            DriverCommand(CommandKind.STOP, next(self.numbers)), time.monotonic()
        )

    def reset(self) -> None:
        epoch = self.loop.picture.estop_epoch
        command = DriverCommand(CommandKind.RESET, next(self.numbers), estop_epoch=epoch)
        self.loop.inbox.command(command, time.monotonic())

    def ready(self) -> bool:
        picture = self.loop.picture
        return (
            picture.state is not State.NONE
            and not picture.holds
            and not any(joint.stale for joint in picture.joints)
        )

    def start_moving(self) -> None:
        until(self.ready)
        self.stop()

        def pushed() -> bool:
            self.input()
            return self.moving

        until(pushed)

    @property
    def moving(self) -> bool:
        return any(self.arm.velocities.values())

    def said(self) -> list[str]:
        return [note.text for note in self.loop.notes]


@pytest.fixture
def bench() -> Iterator[Bench]:
    with Bench() as made:
        yield made


def test_a_demand_moves_the_arm_and_ends_by_itself(bench):
    bench.start_moving()
    until(lambda: not bench.moving)
    until(lambda: bench.loop.picture.last_stop_cause == "expired")


def test_pictures_and_samples_are_told(bench):
    until(bench.ready)
    sample = bench.loop.sample
    bench.updates.clear()
    assert bench.updates.wait(TIMEOUT)
    until(lambda: bench.loop.sample is not sample)


def test_an_estop_stops_the_arm_and_purges_a_line_that_takes_nothing(bench):
    bench.start_moving()
    bench.serving = False
    bench.input()
    bench.loop.inbox.estop(StopLevel.SETTLE_THEN_CUT, "pad", "pressed")
    until(lambda: bench.loop.picture.last_stop_cause == "estop")
    queued = bench.lines[-1].far.take()
    assert queued.lstrip(b"\0").startswith(STOP_FRAMES)


def test_an_estop_is_taken_before_commands_that_came_first(bench):
    until(bench.ready)
    bench.stop()
    bench.input()
    bench.loop.inbox.estop(StopLevel.SETTLE_THEN_CUT, "pad", "pressed")
    until(lambda: bench.loop.picture.estop_epoch == 1)
    bench.input()
    until(lambda: bench.loop.picture.last_refusal is not None)
    assert not bench.moving


def test_rule_17_a_bug_stops_the_arm_latches_a_fault_and_does_not_end_the_thread(bench):
    bench.start_moving()
    bench.mover.error = ZeroDivisionError("made up")
    bench.input()
    until(lambda: bench.loop.picture.state is State.MAJOR_FAULT)
    until(lambda: not bench.moving)
    assert bench.loop.picture.fault_causes == ("internal_error",)
    assert any("ZeroDivisionError: made up" in text for text in bench.said())
    bench.mover.error = None
    bench.reset()
    until(lambda: not bench.loop.picture.fault_causes)
    bench.start_moving()


def test_a_bug_in_every_step_still_stops_the_arm_and_spares_the_processor(bench, monkeypatch):
    bench.start_moving()
    calls = []

    def broken(data: bytes, now: float) -> None:
        calls.append(now)
        raise RuntimeError("each time")

    monkeypatch.setattr(bench.core, "receive_data", broken)
    until(lambda: not bench.moving and len(calls) >= 3)
    assert calls[2] - calls[0] > 0.1
    monkeypatch.undo()
    until(lambda: bench.loop.picture.state is State.MAJOR_FAULT)


def test_U8_a_lost_line_is_opened_again_and_the_arm_waits_for_a_release(bench):
    bench.start_moving()
    bench.lines[-1].far.hang_up()
    bench.arm.velocities = dict.fromkeys(bench.arm.velocities, 0.0)

    def held() -> bool:
        bench.input()
        refusal = bench.loop.picture.last_refusal
        return refusal is not None and refusal.code == "not_engaged"

    until(held)
    assert len(bench.lines) == 2
    assert not bench.moving
    assert bench.loop.picture.link.counters["reconnects"] == 1
    assert any("line to the arm is lost" in text for text in bench.said())
    bench.start_moving()


def test_a_port_that_is_missing_is_said_once_and_tried_until_it_is_there():
    bench = Bench()
    bench.refuse = OpenError("cannot open it: plug it in")
    attempts = []
    opened = bench.loop._open_line

    def counted() -> Transport:
        attempts.append(time.monotonic())
        return opened()

    bench.loop._open_line = counted
    with bench:
        until(lambda: len(attempts) >= 3)
        assert sum("plug it in" in text for text in bench.said()) == 1
        assert not bench.loop.picture.link.connected
        bench.loop.inbox.estop(StopLevel.SETTLE_THEN_CUT, "app", "works without an arm too")
        until(lambda: bench.loop.picture.estop_epoch == 1)
        bench.refuse = None
        # The latch stands, so the arm that comes is given no power.
        until(lambda: bench.loop.picture.holds == ("unpowered",))


def test_rule_14_a_guard_that_dies_stops_the_arm_before_another_is_started(bench):
    bench.start_moving()
    first = bench.guard.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)

    def stopped() -> bool:
        bench.input()
        return bench.loop.picture.last_stop_cause == "no_guard"

    until(stopped)
    until(lambda: not bench.moving)
    until(bench.ready)
    assert bench.guard.pid not in (None, first)
    bench.start_moving()


def test_rule_14_an_estop_does_not_wait_for_a_guard_that_takes_long_to_start(bench, monkeypatch):
    bench.start_moving()
    monkeypatch.setattr(client, "START_TIMEOUT", HOURS)
    spawned = []

    def spawn(peer) -> subprocess.Popen[bytes]:
        spawned.append(1)
        return subprocess.Popen(["sleep", "600"], pass_fds=(peer.fileno(),))

    monkeypatch.setattr(bench.guard, "_spawn", spawn)
    os.kill(bench.guard.pid, signal.SIGKILL)
    until(lambda: spawned)
    bench.loop.inbox.estop(StopLevel.CUT, "pad", "pressed")
    until(lambda: bench.loop.picture.last_stop_cause == "estop")
    until(lambda: Mode.DISABLE in bench.arm.modes.values())
    assert bench.guard._state is GuardState.STARTING
    assert "no_guard" in bench.loop.picture.holds


def test_rule_14_a_guard_that_is_slow_to_take_the_port_holds_the_arm_and_nothing_else(
    bench, monkeypatch
):
    until(bench.ready)
    monkeypatch.setattr(client, "ANSWER_TIMEOUT", HOURS)
    os.kill(bench.guard.pid, signal.SIGSTOP)
    bench.lines[-1].far.hang_up()
    until(lambda: len(bench.lines) == 2 and bench.loop.picture.holds == ("no_guard",))
    bench.loop.inbox.estop(StopLevel.SETTLE_THEN_CUT, "pad", "pressed")
    until(lambda: bench.loop.picture.last_stop_cause == "estop")
    bench.reset()
    until(lambda: bench.loop.picture.holds == ("no_guard",))
    os.kill(bench.guard.pid, signal.SIGCONT)
    until(bench.ready)
    bench.start_moving()


def test_a_guard_that_is_found_dead_by_a_pulse_is_answered_by_a_stop_in_the_same_write(bench):
    bench.start_moving()
    line, pulse = bench.lines[-1], bench.guard.pulse
    before: list[int] = []

    def fatal(now: float) -> None:
        if not before and bench.core.gate._staged is not None:  # motion is about to leave
            os.kill(bench.guard.pid, signal.SIGKILL)
            os.waitid(os.P_PID, bench.guard.pid, os.WEXITED | os.WNOWAIT)
            before.append(len(line.written))
            bench.guard._next_pulse = -math.inf
        pulse(now)

    bench.guard.pulse = fatal

    def written() -> bool:
        bench.input()
        return bool(before) and len(line.written) > before[0]

    until(written)
    assert line.written[before[0]].lstrip(b"\0").startswith(STOP_FRAMES)


def test_rule_14_a_stop_that_the_line_does_not_take_is_guarded_and_does_not_take_the_processor():
    with Bench(hang_after=1.0) as bench:
        bench.start_moving()
        line = bench.lines[-1]
        rounds, once = [0], bench.loop._once

        def counted() -> None:
            rounds[0] += 1
            once()

        bench.loop._once = counted
        bench.arm.velocities = dict.fromkeys(bench.arm.velocities, 0.0)  # it is held, and obeys
        line.stalled = True
        bench.stop()
        until(lambda: not bench.core.may_move)
        begun, begun_at = rounds[0], time.monotonic()
        time.sleep(2.0)
        assert (rounds[0] - begun) / (time.monotonic() - begun_at) < 1500
        assert bench.guard.next_pulse() < math.inf
        assert bench.loop.picture.fault_causes == ()
        line.stalled = False
        until(lambda: bench.guard.next_pulse() == math.inf)
        assert any(STOP_FRAMES in data for data in line.written)
        assert not bench.moving


def test_rule_14_a_line_that_fails_once_in_motion_still_gets_the_stop(bench):
    bench.start_moving()
    bench.refuse = OpenError("not again")
    bench.lines[-1].fails_once = True
    until(lambda: not bench.loop.picture.link.connected)
    until(lambda: not bench.moving)
    assert bytes(bench.wire).endswith(LAST_WORD)


def test_U8_a_line_that_is_lost_in_motion_is_tried_again_and_again_at_once():
    with Bench(reconnect_max=1e4) as bench:
        bench.start_moving()
        opened, attempts = bench.loop._open_line, []

        def counted() -> Transport:
            attempts.append(1)
            return opened()

        bench.loop._open_line = counted
        bench.refuse = OpenError("not yet")
        bench.lines[-1].far.hang_up()
        until(lambda: len(attempts) >= 12)  # waits that double would come to minutes


def test_an_opening_that_fails_in_an_unforeseen_way_does_not_end_the_thread():
    bench = Bench()
    bench.refuse = RuntimeError("unforeseen")
    with bench:
        until(lambda: bench.loop.picture.state is State.MAJOR_FAULT)
        bench.refuse = None
        until(lambda: bench.loop.picture.link.connected)


def test_rule_11_closing_writes_a_last_stop_and_waits_until_it_is_out():
    with Bench() as bench:
        bench.start_moving()
        bench.loop.close()
    assert bytes(bench.wire).endswith(STOP_FRAMES + QUIET_LINE)
    assert not bench.moving
    assert not bench.loop._thread.is_alive()


def test_closing_without_a_line_and_closing_twice_are_harmless():
    bench = Bench()
    bench.refuse = OpenError("no")
    with bench:
        bench.loop.close()
    bench.loop.close()


def test_closing_on_a_line_that_takes_nothing_ends_all_the_same(bench):
    bench.start_moving()
    bench.serving = False
    bench.loop.close()
    assert not bench.loop._thread.is_alive()


def test_a_flood_of_commands_ends_in_a_stop_and_not_in_memory():
    bench = Bench()
    for _ in range(3 * MAX_WAITING):
        bench.input()
    assert len(bench.loop.inbox) <= MAX_WAITING
    bench.loop.inbox.deliver(bench.core, time.monotonic())
    gate = bench.core.gate
    assert gate.stop_owed
    assert gate.demand is None
    bench.__enter__()
    bench.__exit__()


def test_a_flood_of_estops_is_bounded_and_the_most_restrictive_one_counts():
    bench = Bench()
    for _ in range(3 * MAX_WAITING):
        bench.loop.inbox.estop(1, "somebody", "")
    for _ in range(3 * MAX_WAITING):
        bench.loop.inbox.estop(2, "somebody", "")
    assert len(bench.loop.inbox) <= MAX_WAITING + 1
    bench.loop.inbox.deliver(bench.core, time.monotonic())
    assert bench.core.gate.estop_level == 2
    bench.__enter__()
    bench.__exit__()


def test_rule_11_a_core_that_fails_on_the_way_out_does_not_keep_the_stop(bench, monkeypatch):
    bench.start_moving()

    def fail(now):
        raise RuntimeError("a bug")

    monkeypatch.setattr(bench.core, "on_shutdown", fail)
    bench.loop.close()
    assert not bench.loop._thread.is_alive()
    until(lambda: not bench.moving)


@pytest.mark.parametrize(
    "faults",
    [
        Faults(drop=1e-2, flip=1e-2, duplicate=1e-3, insert=1e-2, cut=1e-2),
        Faults(stall=0.05, short_write=0.2),
        Faults(error=1e-2, flip=1e-3),
    ],
    ids=["noise", "writes", "errors"],
)
def test_rule_17_a_bad_line_neither_ends_the_thread_nor_leaves_the_arm_moving(faults):
    with Bench(faults) as bench:
        ends = time.monotonic() + 3.0
        while time.monotonic() < ends:
            bench.input(lifetime=0.1)
            time.sleep(0.02)
            for joint, device in zip(bench.loop.picture.joints, (5, 4, 3, 2, 1), strict=True):
                if not joint.stale:
                    assert abs(joint.position - bench.arm.positions[device]) < 1.0
        bench.stop()
        until(lambda: not bench.moving)
        bench.faults = None
        until(lambda: bench.loop.picture.link.connected)
        before = len(bench.lines)
        bench.lines[-1].far.hang_up()
        until(lambda: len(bench.lines) > before)
        until(bench.ready)
        assert bench.loop.picture.state is not State.MAJOR_FAULT, bench.said()
        bench.start_moving()
