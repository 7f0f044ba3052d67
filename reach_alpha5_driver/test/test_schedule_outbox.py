"""What goes first, and how much may wait for the wire."""

from __future__ import annotations

from dataclasses import replace

import pytest
from schedule_rig import MOTION, OpenGate

from reach_alpha5_driver.heartbeat import QUIET_LINE
from reach_alpha5_driver.outbox import MAX_SETTINGS, Outbox
from reach_alpha5_driver.poller import Poller
from reach_alpha5_driver.protocol import packets
from reach_alpha5_driver.protocol.codec import decode
from reach_alpha5_driver.protocol.packets import STOP_FRAMES, Mode, SetMode, encode
from reach_alpha5_driver.schedule import RS485, ScheduleConfig

CONFIG = ScheduleConfig()
CYCLE = 11520 / CONFIG.control_rate
"""Bytes that the line carries in one control cycle."""

STOP = b"\0" + STOP_FRAMES
SETTINGS = [encode(SetMode(device, Mode.STANDBY)) for device in range(1, 6)]


class Bench:
    """An outbox on a line that takes everything; `write` is what the control loop does."""

    def __init__(self, config: ScheduleConfig = CONFIG, can_purge: bool = True) -> None:
        self.gate = OpenGate()
        self.poller = Poller(config)
        self.outbox = Outbox(self.gate, self.poller, config)
        self.outbox.line_opened(can_purge)
        self.now = 0.0
        self.kernel = 0
        """What the kernel says that it holds."""
        self.poller.start(0.0)
        for _ in range(3):  # the stop, the greeting, and requests that nobody answers
            self.write()
            self.pass_time(0.2)
            self.poller.expire(self.now)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    def write(self, motion: bytes = b"") -> bytes:
        self.gate.motion = motion or self.gate.motion
        if self.outbox.wants_queued:
            self.outbox.sent(0, self.now, self.kernel)
        data = self.outbox.take(self.now, True).data
        self.outbox.sent(len(data), self.now)
        return data


def test_the_stop_goes_first_and_alone_then_the_arm_is_told_to_be_quiet():
    gate, poller = OpenGate(), Poller(CONFIG)
    outbox = Outbox(gate, poller, CONFIG)
    outbox.line_opened()
    poller.start(0.0)
    outgoing = outbox.take(0.0, True)
    assert outgoing.purge and outgoing.data == STOP
    outbox.sent(len(outgoing.data), 0.0)
    assert outbox.take(0.0, True).data == QUIET_LINE


def test_the_order_is_motion_then_settings_then_requests():
    bench = Bench()
    bench.outbox.add_setting(SETTINGS[0])
    data = bench.write(MOTION)
    assert data.startswith(MOTION + SETTINGS[0])
    request = packets.parse(decode(data[len(MOTION + SETTINGS[0]) :]))
    assert isinstance(request, packets.Request)


def test_settings_keep_their_order_and_wait_for_room():
    bench = Bench()
    many = SETTINGS * 4
    for setting in many:
        assert bench.outbox.add_setting(setting)
    written = bench.write()
    while len(written) < len(b"".join(many)):
        room_at = bench.outbox.room_at()
        assert room_at is not None
        bench.now = room_at
        data = bench.write()
        assert 0 < len(data) <= 64 + max(map(len, many))
        written += data
    assert written.startswith(b"".join(many))


def test_settings_that_wait_are_bounded():
    bench = Bench()
    taken = sum(bench.outbox.add_setting(SETTINGS[0]) for _ in range(10 * MAX_SETTINGS))
    assert taken == MAX_SETTINGS


def test_settings_for_a_line_that_was_lost_are_not_written_to_the_next():
    bench = Bench()
    bench.outbox.add_setting(SETTINGS[0])
    bench.outbox.line_closed()
    bench.outbox.line_opened()
    bench.poller.start(bench.now)
    assert SETTINGS[0] not in bench.write() + bench.write()


def test_rule_13_an_owed_stop_throws_away_the_rest_of_a_short_write():
    bench = Bench()
    bench.gate.motion = MOTION
    bench.outbox.take(bench.now, True)
    bench.outbox.sent(13, bench.now)
    assert bench.outbox.unfinished
    bench.gate.owed = True
    outgoing = bench.outbox.take(bench.now, True)
    assert outgoing.purge and outgoing.data == STOP


def test_a_short_write_goes_on_where_it_ended():
    bench = Bench()
    bench.gate.motion = MOTION
    data = bench.outbox.take(bench.now, True).data
    bench.outbox.sent(13, bench.now)
    assert bench.outbox.take(bench.now, True).data == data[13:]


def test_output_never_queues_more_than_two_cycles():
    bench = Bench()
    written, most = 0, 0.0
    for _ in range(1000):  # rates come ten times as fast as the line carries them
        written += len(bench.write(MOTION))
        bench.kernel = max(0, round(bench.outbox._line.queued(bench.now)))
        most = max(most, bench.outbox._line.queued(bench.now))
        bench.pass_time(len(MOTION) / 11520 / 10)
    assert written > 0
    assert CYCLE < most <= 2 * CYCLE


def test_output_never_queues_more_than_two_cycles_on_a_line_that_stalls():
    bench = Bench()
    bench.kernel = 0
    for _ in range(2000):
        bench.kernel += len(bench.write(MOTION))  # nothing leaves
        bench.pass_time(0.005)
        bench.poller.expire(bench.now)
    assert bench.kernel <= 2 * CYCLE
    room_at = bench.outbox.room_at()
    assert room_at is not None
    assert room_at >= bench.now - 0.005, "no busy loop while it waits"
    bench.gate.owed = True
    assert bench.outbox.take(bench.now, True).data == STOP, "a stop waits for nothing"


def test_a_line_that_stalled_and_goes_on_is_used_again():
    bench = Bench()
    for _ in range(200):
        bench.kernel += len(bench.write(MOTION))
        bench.pass_time(0.005)
    bench.kernel = 0
    bench.pass_time(0.1)
    assert MOTION in bench.write(MOTION)


def test_where_nothing_can_be_purged_little_waits_before_a_stop():
    bench = Bench(can_purge=False)
    for _ in range(100):
        bench.write(MOTION)
        assert bench.outbox._line.queued(bench.now) <= 64 + len(MOTION)
        bench.pass_time(0.0005)


@pytest.mark.parametrize("can_purge", [True, False])
def test_a_stop_is_reckoned_behind_what_could_not_be_purged(can_purge: bool):
    bench = Bench(can_purge=can_purge)
    bench.write(MOTION)
    before = bench.outbox._line.queued(bench.now)
    assert before > 0
    bench.gate.owed = True
    bench.write()
    assert bench.outbox._line.queued(bench.now) == pytest.approx(
        len(STOP) + (0 if can_purge else before)
    )


def test_after_a_stop_nothing_is_asked_until_the_last_answers_are_in():
    bench = Bench()
    bench.write()
    assert bench.poller.awaiting
    bench.gate.owed = True
    bench.write()
    assert not bench.poller.awaiting
    assert bench.poller.next_request(bench.now) is None
    wake = bench.poller.next_time(bench.now)
    assert bench.now < wake < bench.now + 0.05
    assert bench.poller.next_request(wake) is not None


def test_motion_does_not_wait_for_answers_on_full_duplex():
    bench = Bench()
    bench.write()
    assert bench.poller.awaiting
    bench.pass_time(0.006)
    assert bench.write(MOTION).startswith(MOTION)


def test_known_fault_a_stop_held_in_a_half_duplex_buffer():
    bench = Bench(replace(CONFIG, wiring=RS485))
    bench.write(MOTION)
    assert bench.poller.awaiting
    assert bench.write(MOTION) == b"", "all else waits for the answer"
    bench.gate.owed = True
    assert bench.write() == STOP
