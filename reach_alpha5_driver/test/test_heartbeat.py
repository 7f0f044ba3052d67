"""Who is told to report by itself, and when again."""

from __future__ import annotations

import pytest

from reach_alpha5_driver.devices import BROADCAST, DEVICES
from reach_alpha5_driver.heartbeat import LEAST_PATIENCE, QUIET_LINE, Heartbeat
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.protocol.packets import HeartbeatFrequency, HeartbeatPackets, parse
from reach_alpha5_driver.schedule import FAST

IDS = [device.id for device in DEVICES]
FREQUENCY = 4
PATIENCE = 0.75
"""Three periods of that [s]."""

TINY = 1e-6


def said(*frames: bytes):
    return [parse(frame) for frame in StreamDecoder().receive(b"".join(frames))]


def told(heartbeat: Heartbeat, now: float) -> list[int]:
    """Return the devices that are set now."""
    return [packet.device for frame in heartbeat.settings(now) for packet in said(frame)[:1]]


@pytest.fixture
def heartbeat() -> Heartbeat:
    """A heartbeat that has set all devices at 10 s."""
    heartbeat = Heartbeat(FREQUENCY)
    heartbeat.start(10.0)
    assert told(heartbeat, 10.0) == IDS
    return heartbeat


def test_a_quiet_line_is_asked_of_all_and_then_of_each():
    assert said(QUIET_LINE) == [HeartbeatFrequency(device, 0) for device in (BROADCAST, *IDS)]


def test_each_device_is_told_what_to_report_and_then_how_often():
    heartbeat = Heartbeat(FREQUENCY)
    assert [said(frame) for frame in heartbeat.settings(0.0)] == [
        [HeartbeatPackets(device, FAST), HeartbeatFrequency(device, FREQUENCY)] for device in IDS
    ]


def test_a_device_that_stays_silent_for_three_periods_is_set_again(heartbeat):
    assert told(heartbeat, 10.0 + PATIENCE - TINY) == []
    assert told(heartbeat, 10.0 + PATIENCE) == IDS
    assert told(heartbeat, 10.0 + PATIENCE) == []


def test_a_device_that_reports_is_let_alone(heartbeat):
    heartbeat.on_report(3, 10.5)
    assert told(heartbeat, 10.0 + PATIENCE) == [device for device in IDS if device != 3]
    assert told(heartbeat, 10.5 + PATIENCE - TINY) == []
    assert told(heartbeat, 10.5 + PATIENCE) == [3]


def test_a_fast_heartbeat_may_be_late_by_more_than_three_periods():
    heartbeat = Heartbeat(255)
    assert told(heartbeat, 0.0) == IDS
    assert told(heartbeat, LEAST_PATIENCE - TINY) == []
    assert told(heartbeat, LEAST_PATIENCE) == IDS


def test_a_line_just_opened_is_set_whatever_was_heard_before(heartbeat):
    heartbeat.on_report(3, 10.1)
    heartbeat.start(10.2)
    assert told(heartbeat, 10.2) == IDS


def test_the_next_device_to_be_set_is_the_one_that_was_heard_first(heartbeat):
    for device in IDS:
        heartbeat.on_report(device, 10.0 + 0.01 * device)
    assert heartbeat.next_time() == pytest.approx(10.01 + PATIENCE)
