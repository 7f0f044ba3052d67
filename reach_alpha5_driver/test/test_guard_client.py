"""The driver's end of the guard: bounded, never raising for a guard that is gone, tidy."""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import pty
import re
import resource
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
import tty
from collections.abc import Callable, Iterator

import pytest

from reach_alpha5_driver.guard import client
from reach_alpha5_driver.guard.client import Guard, GuardState
from reach_alpha5_driver.guard.config import GuardConfig

TIMEOUT = 30.0
STOP = b"\0stop\0"


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.005)


@pytest.fixture
def guard() -> Iterator[Guard]:
    made = Guard(STOP, GuardConfig())
    start(made)
    yield made
    made.still()
    made.close()


@pytest.fixture
def mute(monkeypatch: pytest.MonkeyPatch) -> Callable[[Guard], None]:
    """Return what makes a guard start a process that never says anything."""

    def spawn(peer: socket.socket) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["sleep", "600"], stderr=subprocess.PIPE, pass_fds=(peer.fileno(),)
        )

    return lambda guard: monkeypatch.setattr(guard, "_spawn", spawn)


class Wire:
    """A pseudo-terminal: the driver's end, and what the arm has got."""

    def __init__(self) -> None:
        self.far, self.near = pty.openpty()
        tty.setraw(self.near)
        self.path = os.ttyname(self.near)
        os.set_blocking(self.far, False)
        os.set_blocking(self.near, False)
        self.bytes = b""

    def take(self) -> bytes:
        with contextlib.suppress(OSError):
            self.bytes += os.read(self.far, 4096)
        return self.bytes

    def close(self) -> None:
        for fd in (self.far, self.near):
            with contextlib.suppress(OSError):
                os.close(fd)


@pytest.fixture
def wire() -> Iterator[Wire]:
    made = Wire()
    yield made
    made.close()


def start(guard: Guard) -> None:
    guard.start()
    until(lambda: guard.check() is GuardState.SERVING)


def watch(guard: Guard, fd: int) -> None:
    guard.watch(fd)
    until(lambda: guard.check() is GuardState.LOST or guard.watches)
    assert guard.watches


def trip(guard: Guard) -> None:
    guard.pulse(time.monotonic())
    until(lambda: guard.check() is GuardState.TRIPPED)


def has_ended(pid: int) -> bool:
    """Tell whether the process is gone, its entry too: a zombie is not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_it_is_off_until_started_and_off_when_closed():
    guard = Guard(STOP, GuardConfig())
    assert guard.check() is GuardState.OFF
    assert guard.fileno() == -1
    start(guard)
    pid = guard.pid
    guard.start()
    assert guard.pid == pid
    guard.close()
    assert guard.check() is GuardState.OFF
    assert has_ended(pid)
    guard.close()


def test_the_driver_holds_one_descriptor_for_it_and_none_afterwards():
    before = len(os.listdir("/proc/self/fd"))
    guard = Guard(STOP, GuardConfig())
    for _ in range(3):
        start(guard)
        assert len(os.listdir("/proc/self/fd")) == before + 1
        assert not os.get_inheritable(guard.fileno())
        guard.close()
        assert len(os.listdir("/proc/self/fd")) == before


def test_calls_before_the_start_are_harmless(wire):
    guard = Guard(STOP, GuardConfig())
    guard.watch(wire.near)
    guard.pulse(0.0)
    guard.still()
    guard.rearm()
    guard.unwatch()
    assert guard.next_pulse() == math.inf
    assert guard.check() is GuardState.OFF


def test_pulses_go_out_once_a_period_and_not_while_still(guard):
    assert guard.next_pulse() == math.inf
    now = time.monotonic()
    guard.pulse(now)
    assert guard.next_pulse() == pytest.approx(now + GuardConfig().pulse_period)
    guard.pulse(now + 0.005)
    assert guard.next_pulse() == pytest.approx(now + GuardConfig().pulse_period)
    guard.still()
    assert guard.next_pulse() == math.inf
    guard.pulse(now + 0.006)
    assert guard.next_pulse() == pytest.approx(now + 0.006 + GuardConfig().pulse_period)


def test_missed_pulses_write_the_stop_and_latch_until_rearmed(guard, wire):
    watch(guard, wire.near)
    trip(guard)
    assert guard.reason.startswith("no pulse from the driver for ")
    assert guard.reason.endswith(": it hangs")
    until(lambda: wire.take().count(STOP) >= 2)
    guard.still()
    guard.pulse(time.monotonic())
    assert guard.check() is GuardState.TRIPPED
    guard.rearm()
    assert guard.check() is GuardState.SERVING
    assert guard.reason == ""
    trip(guard)


def test_the_end_of_the_pulsing_thread_is_noticed_by_name(guard, wire):
    watch(guard, wire.near)
    thread = threading.Thread(target=guard.pulse, args=[time.monotonic()])
    thread.start()
    thread.join()
    until(lambda: guard.check() is GuardState.TRIPPED)
    assert guard.reason.endswith(": its control thread is gone")


def test_a_port_that_is_gone_is_told_and_the_guard_goes_on(guard, wire):
    watch(guard, wire.near)
    os.close(wire.far)
    trip(guard)
    assert "; the stop could not be written: " in guard.reason
    guard.unwatch(wait=True)
    assert guard.check() is GuardState.TRIPPED


def test_without_a_port_it_says_so(guard):
    trip(guard)
    assert guard.reason.endswith("; the stop could not be written: it has no port")


def test_a_port_whose_queue_is_full_still_gets_the_stop(guard, wire):
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(wire.near, b"motion\0" * 100)
    watch(guard, wire.near)
    trip(guard)
    guard.still()
    until(lambda: STOP in wire.take())
    assert wire.bytes.endswith(STOP)


def test_a_half_written_frame_is_ended_before_the_stop(guard, wire):
    watch(guard, wire.near)
    os.write(wire.near, b"half")
    until(lambda: wire.take() == b"half")
    trip(guard)
    until(lambda: STOP in wire.take())
    assert wire.bytes.startswith(b"half\0stop\0")


def test_unwatching_lets_the_lock_and_the_port_go(guard, wire):
    first = os.open(wire.path, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY)
    fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
    watch(guard, first)
    second = os.open(wire.path, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY)
    os.close(first)
    with pytest.raises(BlockingIOError):
        fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
    guard.unwatch(wait=True)
    fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(second)
    trip(guard)
    assert guard.reason.endswith("it has no port")


def test_U8_a_port_that_is_lost_in_motion_does_not_make_the_guard_trip(guard, wire):
    watch(guard, wire.near)
    guard.pulse(time.monotonic())
    guard.unwatch()
    assert guard.next_pulse() == math.inf
    time.sleep(2.0 * GuardConfig().hang_after)
    assert guard.check() is GuardState.SERVING
    assert wire.take() == b""


def test_a_new_port_replaces_the_old_one_and_descriptors_do_not_pile_up(guard, wire):
    other = Wire()
    watch(guard, wire.near)
    count = len(os.listdir(f"/proc/{guard.pid}/fd"))
    for _ in range(50):
        watch(guard, wire.near)
        watch(guard, other.near)
    assert len(os.listdir(f"/proc/{guard.pid}/fd")) == count
    trip(guard)
    until(lambda: STOP in other.take())
    assert wire.take() == b""
    other.close()


def test_the_flags_of_the_port_are_not_touched(guard, wire):
    before = fcntl.fcntl(wire.near, fcntl.F_GETFL), termios.tcgetattr(wire.near)
    watch(guard, wire.near)
    trip(guard)
    guard.unwatch(wait=True)
    assert (fcntl.fcntl(wire.near, fcntl.F_GETFL), termios.tcgetattr(wire.near)) == before


def test_U12_a_killed_guard_is_lost_and_nothing_raises(guard, wire):
    watch(guard, wire.near)
    pid = guard.pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: guard.check() is GuardState.LOST)
    assert guard.reason
    until(lambda: guard.check() and has_ended(pid))
    assert guard.fileno() == -1
    assert guard.next_pulse() == math.inf
    guard.pulse(time.monotonic())
    guard.still()
    guard.watch(wire.near)
    guard.unwatch()
    guard.rearm()
    assert not guard.watches
    assert guard.check() is GuardState.LOST


def test_a_pulse_into_a_guard_that_has_just_died_is_no_signal_and_no_error(guard):
    signals: list[int] = []
    before = signal.signal(signal.SIGPIPE, lambda number, frame: signals.append(number))
    os.kill(guard.pid, signal.SIGKILL)
    os.waitid(os.P_PID, guard.pid, os.WEXITED | os.WNOWAIT)
    guard.pulse(time.monotonic())
    signal.signal(signal.SIGPIPE, before)
    assert guard.check() is GuardState.LOST
    assert not signals


def test_a_lost_guard_can_be_started_again(guard, wire):
    os.kill(guard.pid, signal.SIGKILL)
    until(lambda: guard.check() is GuardState.LOST)
    start(guard)
    watch(guard, wire.near)
    trip(guard)
    until(lambda: STOP in wire.take())


@pytest.mark.parametrize("call", ["watch", "unwatch", "close"])
def test_a_guard_that_does_not_answer_is_ended(guard, wire, call, monkeypatch):
    watch(guard, wire.near)
    monkeypatch.setattr(client, "ANSWER_TIMEOUT", 0.1)
    monkeypatch.setattr(client, "END_TIMEOUT", 0.1)
    pid = guard.pid
    os.kill(pid, signal.SIGSTOP)
    {
        "watch": lambda: guard.watch(wire.near),
        "unwatch": lambda: guard.unwatch(wait=True),
        "close": guard.close,
    }[call]()
    ended = GuardState.OFF if call == "close" else GuardState.LOST
    until(lambda: guard.check() is ended)
    until(lambda: guard.check() and has_ended(pid))


def test_neither_the_start_nor_a_new_port_nor_a_loss_waits_for_the_process(
    wire, monkeypatch, mute
):
    for name in ("START_TIMEOUT", "ANSWER_TIMEOUT", "END_TIMEOUT"):
        monkeypatch.setattr(client, name, math.inf)  # whatever waits, waits for ever
    guard = Guard(STOP, GuardConfig())
    mute(guard)
    guard.start()
    assert guard.check() is GuardState.STARTING
    guard.watch(wire.near)
    guard.pulse(time.monotonic())
    assert guard.next_pulse() == math.inf
    guard.unwatch()
    assert not guard.watches
    os.kill(guard.pid, signal.SIGKILL)
    until(lambda: guard.check() is GuardState.LOST)
    monkeypatch.undo()

    start(guard)
    monkeypatch.setattr(client, "ANSWER_TIMEOUT", math.inf)
    os.kill(guard.pid, signal.SIGSTOP)
    guard.watch(wire.near)
    assert guard.check() is GuardState.SERVING
    assert not guard.watches
    guard.unwatch()
    monkeypatch.setattr(guard._process, "wait", pytest.fail)
    pid = guard.pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: guard.check() is GuardState.LOST)
    until(lambda: guard.check() and has_ended(pid))
    monkeypatch.undo()
    guard.close()


def test_it_watches_only_when_it_has_said_so_of_the_port_given_last(guard, wire):
    assert not guard.watches
    watch(guard, wire.near)
    os.kill(guard.pid, signal.SIGSTOP)
    guard.watch(wire.near)
    guard.check()
    assert not guard.watches
    os.kill(guard.pid, signal.SIGCONT)
    until(lambda: guard.check() and guard.watches)
    guard.unwatch()
    assert not guard.watches
    watch(guard, wire.near)


def test_a_guard_that_does_not_greet_in_time_is_ended_and_another_can_be_started(
    monkeypatch, mute
):
    monkeypatch.setattr(client, "START_TIMEOUT", 0.1)
    guard = Guard(STOP, GuardConfig())
    mute(guard)
    guard.start()
    pid = guard.pid
    until(lambda: guard.check() is GuardState.LOST)
    assert guard.reason == "it does not start: it did not answer in time"
    until(lambda: guard.check() and has_ended(pid))
    monkeypatch.undo()
    start(guard)
    guard.close()


def test_a_guard_that_does_not_read_its_pulses_is_lost_and_holds_up_nobody(guard):
    os.kill(guard.pid, signal.SIGSTOP)
    for number in range(1000):
        guard.pulse(float(number))
    assert guard.check() is GuardState.LOST
    assert guard.reason == "it does not read what it is told"


def test_a_guard_that_cannot_start_says_why(monkeypatch):
    guard = Guard(STOP, GuardConfig())
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    guard.start()
    assert guard.check() is GuardState.LOST
    assert re.search(r"cannot be started.*/nowhere/python", guard.reason)
    monkeypatch.undo()
    monkeypatch.setattr(client.process, "__file__", "/nowhere/process.py")
    guard.start()
    until(lambda: guard.check() is GuardState.LOST)
    assert re.search(r"does not start.*/nowhere/process.py", guard.reason)
    monkeypatch.undo()
    start(guard)
    assert guard.reason == ""
    guard.close()


def test_a_driver_that_has_no_descriptor_left_is_told_so():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    guard = Guard(STOP, GuardConfig())
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    guard.start()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert guard.check() is GuardState.LOST
    assert "cannot be started: [Errno 24]" in guard.reason


def test_a_driver_that_takes_its_guard_with_it_does_not_start_one(monkeypatch):
    monkeypatch.setattr(os, "getpid", lambda: 1)
    guard = Guard(STOP, GuardConfig())
    guard.start()
    assert guard.check() is GuardState.LOST
    assert re.search(r"process 1 of its container.*--init", guard.reason)
    assert guard.pid is None


def test_a_goodbye_while_the_arm_may_move_is_not_believed(wire):
    guard = Guard(STOP, GuardConfig())
    start(guard)
    watch(guard, wire.near)
    guard.pulse(time.monotonic())
    guard.close()
    assert wire.take().count(STOP) == 2


def test_a_clean_goodbye_writes_nothing(wire):
    guard = Guard(STOP, GuardConfig())
    start(guard)
    watch(guard, wire.near)
    guard.pulse(time.monotonic())
    guard.still()
    guard.close()
    assert wire.take() == b""
