"""The schedule on RS-232, against the simulated arm in virtual time."""

from __future__ import annotations

import pytest
from schedule_rig import MOTION, ScheduleRig

from reach_alpha5_driver.budget import planned_rate
from reach_alpha5_driver.heartbeat import QUIET_LINE
from reach_alpha5_driver.protocol.packets import (
    HeartbeatFrequency,
    HeartbeatPackets,
    PacketId,
    encode,
)
from reach_alpha5_driver.schedule import HEARTBEAT, SLOW, ScheduleConfig

CEILING = 11520 / 150
"""Reports of position, velocity and current of five joints that 115200 baud can carry [Hz]."""


def test_telemetry_reaches_95_percent_of_the_ceiling_with_demands_at_50_hz():
    rig = ScheduleRig(ScheduleConfig())
    rig.run(1.0)
    before = len(rig.wire)
    assert rig.rate(4.0) >= 0.95 * CEILING
    assert rig.sim.replies_lost == 0
    first = MOTION[: MOTION.index(0) + 1]
    assert sum(data == first for _, data in rig.wire[before:]) >= 4.0 * 50 - 1


def test_slow_values_come_beside_the_fast_ones():
    rig = ScheduleRig(ScheduleConfig(slow_telemetry_period=1.0))
    rig.run(0.5)
    rig.rate(4.0)
    for device in range(1, 6):
        assert all(3 <= rig.heard.frames[device, packet] <= 5 for packet in SLOW)


def test_the_loop_sleeps_between_its_deadlines():
    rig = ScheduleRig(ScheduleConfig())
    rig.run(1.0)
    before = rig.wakeups
    rig.run(2.0)
    assert rig.wakeups - before < 2.0 * 400


@pytest.mark.parametrize(
    "fault, least", [("lose", 0.9), ("duplicate", 0.9), ("split", 0.9), ("merge", 0.9)]
)
def test_damage_to_one_frame_in_a_hundred_costs_no_more_than_a_tenth(fault: str, least: float):
    rig = ScheduleRig(ScheduleConfig())
    rig.run(1.0)
    rig.sim.faults["to-driver"].set_rate(fault, 0.01)
    rig.run(12.0)  # what would add up has added up
    assert rig.rate(4.0) >= least * CEILING
    assert rig.sim.line.to_driver.backlog() <= 2 * rig.config.telemetry_window


def test_answers_do_not_pile_up_over_many_stops():
    rig = ScheduleRig(ScheduleConfig(), demands=False)
    rig.run(0.5)
    for _ in range(40):
        rig.stop(rig.now + 0.02)
    rig.run(0.1)
    assert rig.sim.line.to_driver.backlog() <= rig.config.telemetry_window


def test_rule_13_a_stop_at_any_phase_is_out_within_the_uart_and_its_own_length():
    rig = ScheduleRig(ScheduleConfig(), seed=2)
    rig.run(0.5)
    times = [rig.stop(rig.now + rig.random.uniform(0.0, 0.05)) for _ in range(60)]
    uart, frame = 16, 11
    assert max(times) <= (uart + frame + 1) / 11520


def test_a_fixed_rate_is_kept():
    rig = ScheduleRig(ScheduleConfig(telemetry_rate=25.0))
    rig.run(1.0)
    assert rig.rate(4.0) == pytest.approx(25.0, abs=0.5)


def test_heartbeats_of_an_earlier_session_are_ended_at_the_opening():
    earlier = encode(HeartbeatPackets(5, SLOW)) + encode(HeartbeatFrequency(5, 50))
    rig = ScheduleRig(ScheduleConfig(), earlier=earlier)
    assert rig.heard.frames[5, PacketId.VOLTAGE] > 0, "the arm did report by itself"
    rig.run(0.2)
    rig.rate(1.0)
    assert rig.heard.frames[5, PacketId.VOLTAGE] <= 1


# -- heartbeat


def beating(**settings) -> ScheduleRig:
    rig = ScheduleRig(ScheduleConfig(telemetry=HEARTBEAT, **settings))
    rig.run(1.0)
    return rig


def test_the_heartbeat_brings_the_planned_rate_without_being_asked():
    rig = beating()
    assert rig.rate(4.0) == pytest.approx(planned_rate(rig.config), rel=0.02)
    assert rig.sim.replies_lost == 0


def test_questions_and_slow_values_are_answered_between_heartbeats():
    rig = beating()
    rig.poller.ask(4, [PacketId.SERIAL_NUMBER])
    rig.rate(3.0)
    assert rig.heard.frames[4, PacketId.SERIAL_NUMBER] == 1
    for device in range(1, 6):
        assert all(rig.heard.frames[device, packet] >= 1 for packet in SLOW)


def test_a_device_that_lost_power_gets_its_list_again():
    rig = beating()
    rig.sim.devices[3].power_off()
    rig.run(0.5)
    rig.sim.devices[3].power_on(rig.now)
    rig.run(0.5)
    assert rig.rate(2.0) == pytest.approx(planned_rate(rig.config), rel=0.05)


def test_a_device_that_never_heard_its_list_gets_it_again():
    rig = ScheduleRig(ScheduleConfig(telemetry=HEARTBEAT), demands=False)
    rig.sim.devices[2].deaf = True
    rig.run(1.0)
    rig.sim.devices[2].deaf = False
    rig.run(0.5)
    assert rig.rate(2.0) == pytest.approx(planned_rate(rig.config), rel=0.05)


def test_the_words_of_parting_end_the_heartbeat_that_the_arm_saves():
    rig = beating(telemetry_rate=20.0)
    rig.sim.receive(QUIET_LINE, rig.now)
    rig.wait(0.2)
    assert rig.wait(1.0) == b""
