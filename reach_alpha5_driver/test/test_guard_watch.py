"""When the guard stops the arm, on a clock of the test."""

from __future__ import annotations

import itertools
import math
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reach_alpha5_driver.guard.config import GuardConfig
from reach_alpha5_driver.guard.process import LOOK_PERIOD, OVERSLEPT, Watch, trouble_in, trouble_of

CONFIG = GuardConfig()
THREAD = 42
TINY = 1e-6


class Bench:
    """A watch whose guard comes to each look in time, and a thread that may have trouble."""

    def __init__(self) -> None:
        self.trouble = ""
        self.asked: list[int] = []
        self.now = 1000.0
        self.watch = Watch(
            CONFIG.suspect_after, CONFIG.hang_after, CONFIG.repeat_period, self.trouble_of
        )

    def trouble_of(self, thread: int) -> str:
        self.asked.append(thread)
        return self.trouble

    def pulse(self) -> None:
        self.watch.pulse(self.now, THREAD, self.now)

    def run(self, seconds: float) -> list[float]:
        """Let time pass and return when a stop was written, from now on [s]."""
        start, end, stops = self.now, self.now + seconds, []
        while self.watch.next_look < end:
            self.now = max(self.now, self.watch.next_look)
            if self.watch.must_stop(self.now):
                stops.append(self.now - start)
        self.now = end
        return stops

    def trip(self) -> None:
        self.pulse()
        self.run(CONFIG.hang_after + TINY)
        assert self.watch.tripped


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_it_begins_still_and_asks_for_no_look(bench):
    assert bench.watch.next_look == math.inf
    assert bench.run(1e6) == []
    assert not bench.watch.must_stop(bench.now)


def test_pulses_in_time_keep_it_quiet(bench):
    for _ in range(100):
        bench.pulse()
        assert bench.run(CONFIG.pulse_period) == []
    assert bench.asked == []


def test_a_thread_that_runs_has_until_hang_after(bench):
    bench.pulse()
    (stop,) = bench.run(CONFIG.hang_after + LOOK_PERIOD)
    assert CONFIG.hang_after - TINY < stop < CONFIG.hang_after + LOOK_PERIOD
    assert set(bench.asked) == {THREAD}
    assert bench.watch.reason == "no pulse from the driver for 100 ms: it hangs"


def test_a_thread_that_cannot_go_on_has_until_suspect_after(bench):
    bench.pulse()
    bench.trouble = "gone"
    (stop, *_) = bench.run(CONFIG.hang_after)
    assert stop == pytest.approx(CONFIG.suspect_after)
    assert bench.watch.reason == "no pulse from the driver for 15 ms: its control thread is gone"


def test_a_late_thread_that_is_stopped_meanwhile_is_found_at_the_next_look(bench):
    bench.pulse()
    assert bench.run(CONFIG.suspect_after + TINY) == []
    bench.trouble = "T (stopped)"
    (stop, *_) = bench.run(CONFIG.hang_after)
    assert stop <= LOOK_PERIOD


def test_the_age_of_a_pulse_counts_from_when_it_was_sent(bench):
    bench.watch.pulse(bench.now - 0.5 * CONFIG.hang_after, THREAD, bench.now)
    (stop, *_) = bench.run(CONFIG.hang_after)
    assert stop <= 0.5 * CONFIG.hang_after + LOOK_PERIOD


def test_a_pulse_from_the_future_counts_from_now(bench):
    bench.watch.pulse(bench.now + 1e3, THREAD, bench.now)
    assert bench.run(CONFIG.hang_after + LOOK_PERIOD)


def test_still_ends_the_wait_for_pulses(bench):
    bench.pulse()
    bench.watch.still()
    assert bench.run(10.0) == []


def test_a_guard_that_overslept_gives_the_driver_one_more_look(bench):
    bench.pulse()
    bench.now += CONFIG.hang_after + OVERSLEPT
    assert not bench.watch.must_stop(bench.now)
    assert bench.run(LOOK_PERIOD + TINY) == [pytest.approx(LOOK_PERIOD)]


def test_a_guard_that_oversleeps_each_time_stops_in_the_end(bench):
    bench.pulse()
    bench.now += 2.0 * CONFIG.hang_after
    assert bench.watch.must_stop(bench.now)


def test_a_guard_that_overslept_spares_no_thread_that_is_stopped(bench):
    bench.pulse()
    bench.trouble = "T (stopped)"
    bench.now += CONFIG.hang_after + OVERSLEPT
    assert bench.watch.must_stop(bench.now)


def test_the_stop_is_repeated_until_the_arm_is_said_to_be_still(bench):
    bench.trip()
    stops = bench.run(10.5 * CONFIG.repeat_period)
    assert len(stops) == 10
    bench.watch.still()
    assert bench.run(10.0) == []
    assert bench.watch.tripped


def test_a_pulse_after_the_trip_is_answered_by_a_stop_at_once(bench):
    bench.trip()
    bench.watch.still()
    for _ in range(5):
        bench.pulse()
        assert bench.watch.must_stop(bench.now)
        assert bench.run(CONFIG.pulse_period) == []


def test_only_rearming_ends_the_latch(bench):
    bench.trip()
    bench.watch.rearm()
    assert bench.run(10.0) == []
    bench.pulse()
    assert bench.run(CONFIG.pulse_period) == []
    assert not bench.watch.tripped
    assert bench.run(CONFIG.hang_after)


EVENTS = st.one_of(
    st.sampled_from(["pulse", "still", "rearm"]),
    st.floats(0.0, 0.2),
    st.sampled_from(["", "gone"]),
)


@given(st.lists(EVENTS, max_size=40))
def test_rule_14_no_motion_goes_on_without_a_pulse_or_a_stop(events):
    bench = Bench()
    sign = math.inf  # of life, or stop: the last one, while the arm may move
    latched = False
    for event in events:
        if isinstance(event, float):
            start = bench.now
            stops = [start + stop for stop in bench.run(event)]
            if stops:
                assert sign < math.inf, "a stop for an arm that is still"
                latched = True
            longest = CONFIG.repeat_period if latched and not stops else CONFIG.hang_after
            for before, after in itertools.pairwise([sign, *stops, bench.now]):
                assert after - before <= longest + TINY
            sign = max([sign, *stops]) if sign < math.inf else sign
        elif event == "pulse":
            bench.pulse()
            sign = bench.now
            if latched:
                assert bench.watch.must_stop(bench.now)
        elif event in ("still", "rearm"):
            {"still": bench.watch.still, "rearm": bench.watch.rearm}[event]()
            sign = math.inf
            latched = latched and event == "still"
        else:
            bench.trouble = event
        assert bench.watch.tripped == latched


def status(state: str, *further: str) -> bytes:
    return "\n".join(["Name:\tpython3", f"State:\t{state}", *further, "Threads:\t3\n"]).encode()


@pytest.mark.parametrize("state", ["R (running)", "S (sleeping)", "D (disk sleep)"])
def test_a_thread_that_runs_or_waits_has_no_trouble(state):
    assert trouble_in(status(state, "VmSize:\t100 kB", "CoreDumping:\t0")) == ""


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        (status("T (stopped)", "VmSize:\t100 kB"), "T (stopped)"),
        (status("t (tracing stop)", "VmSize:\t100 kB"), "t (tracing stop)"),
        (status("Z (zombie)"), "Z (zombie)"),
        (status("I (idle)", "VmSize:\t100 kB"), "I (idle)"),
        (status("R (running)"), "exiting"),
        (status("S (sleeping)", "VmSize:\t100 kB", "CoreDumping:\t1"), "dumping core"),
        (b"", "in an unknown state"),
    ],
)
def test_every_other_state_is_trouble(text, trouble):
    assert trouble_in(text) == trouble


def test_the_kernel_is_asked_about_the_thread():
    assert trouble_of(os.getpid(), threading.get_native_id()) == ""
    assert trouble_of(os.getpid(), 1 << 30) == "gone"


@pytest.mark.parametrize(
    "times",
    [
        (0.0, 0.02, 0.06),
        (0.01, 0.06, 0.06),
        (0.02, 0.02, 0.06),
        (0.01, 0.06, 0.02),
        (0.01, math.nan, 0.06),
    ],
)
def test_times_that_contradict_each_other_are_refused(times):
    with pytest.raises(ValueError, match="the guard needs"):
        GuardConfig(*times)


def test_a_stop_cannot_be_repeated_without_a_pause():
    with pytest.raises(ValueError, match="repeat_period"):
        GuardConfig(repeat_period=0.0)


def test_rule_14_the_times_that_stand_unless_set_stop_a_dead_driver_within_the_bar():
    config = GuardConfig()
    assert config.suspect_after + LOOK_PERIOD <= 0.05
    assert config.hang_after <= 0.1
    assert 0.006 < config.repeat_period <= 0.05


def test_a_look_at_a_thread_leaves_no_file_open():
    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = open_files()
    for thread in (threading.get_native_id(), 1 << 30):
        trouble_of(os.getpid(), thread)
    assert open_files() == before


def test_a_state_that_nobody_knows_is_trouble_and_is_told_as_well_as_it_can_be():
    assert trouble_in(status("~ (odd)", "VmSize:\t100 kB")) == "~ (odd)"
    assert trouble_in(b"Name:\tx\nState:\t\xff\nVmSize:\t100 kB\n") == "\ufffd"


def test_a_watch_that_has_heard_nothing_waits_for_nothing(bench):
    assert not bench.watch.must_stop(1e9)
    assert (bench.watch.moving, bench.watch.tripped) == (False, False)
    assert (bench.watch.reason, bench.watch.next_look) == ("", math.inf)
