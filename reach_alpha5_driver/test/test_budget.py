"""What the line can carry, in bytes per second: refused at start, with the arithmetic."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reach_alpha5_driver.budget import line_problem, loads, planned_rate
from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.frame_sizes import DEMAND_BYTES, reply_bytes, request_bytes
from reach_alpha5_driver.protocol import packets
from reach_alpha5_driver.protocol.codec import Frame, encode
from reach_alpha5_driver.schedule import FAST, HEARTBEAT, RS485, SLOW, ScheduleConfig

CONFIG = ScheduleConfig()
PAYLOADS = {
    packets.PacketId.MODE: 1,
    packets.PacketId.POSITION_LIMITS: 8,
    packets.PacketId.FACTORY_CLIMATE: 12,
    packets.PacketId.SOFTWARE_VERSION: 3,
    packets.PacketId.SERIAL_NUMBER: 4,
    packets.PacketId.HARDWARE_STATUS: 4,
    packets.PacketId.END_POSITION: 24,
    packets.PacketId.CYLINDER_3: 28,
    packets.PacketId.PRESET_NAME_0: 8,
}
"""Bytes, by the protocol's table."""


@pytest.mark.parametrize("packet_id", [*FAST, *SLOW, *PAYLOADS])
def test_reply_sizes_are_those_of_the_codec(packet_id: packets.PacketId):
    payload = bytes(range(1, 1 + PAYLOADS.get(packet_id, 4)))
    assert reply_bytes((packet_id,)) == len(encode(Frame(5, packet_id, payload)))


@pytest.mark.parametrize("packet_ids", [FAST, SLOW, (packets.PacketId.VOLTAGE,)])
def test_request_sizes_are_those_of_the_codec(packet_ids):
    assert request_bytes(packet_ids) == len(packets.encode(packets.Request(5, packet_ids)))


def test_a_set_of_demands_has_the_size_of_the_codec():
    frames = b"".join(packets.encode(packets.Velocity(each.id, 0.002)) for each in DEVICES)
    assert len(frames) == DEMAND_BYTES


def test_the_defaults_fit_and_plan_nearly_the_ceiling_of_the_line():
    assert line_problem(CONFIG) is None
    ceiling = 11520 / 150
    assert 0.97 * ceiling < planned_rate(CONFIG) < ceiling


def test_known_fault_a_rate_that_the_line_cannot_carry_is_refused_with_the_arithmetic():
    problem = line_problem(replace(CONFIG, telemetry_rate=90.0))
    assert problem is not None
    assert problem.code == "line_overloaded"
    assert "5 joints x 30 bytes x 90 Hz = 13500 bytes/s" in problem.reason
    assert "the line has 11520" in problem.reason
    assert "telemetry_rate to 76 Hz or less" in problem.reason


def test_the_rate_that_a_refusal_names_is_not_refused():
    assert line_problem(replace(CONFIG, telemetry_rate=76.0)) is None
    assert line_problem(replace(CONFIG, telemetry_rate=77.0)) is not None


def test_a_rate_that_fits_is_the_planned_one():
    assert planned_rate(replace(CONFIG, telemetry_rate=30.0)) == 30.0


def test_demands_that_fill_the_line_are_refused():
    problem = line_problem(replace(CONFIG, baud_rate=9600))
    assert problem is not None
    assert problem.code == "line_overloaded"
    assert "50 bytes x 50 Hz" in problem.reason
    assert "960" in problem.reason


def test_the_line_to_the_arm_counts_too():
    config = replace(CONFIG, baud_rate=57600, control_rate=100.0)
    to_arm, from_arm = loads(config)
    assert to_arm.fastest < from_arm.fastest
    assert planned_rate(config) == pytest.approx(to_arm.fastest)
    assert to_arm.at(planned_rate(config)) == pytest.approx(5760)


def test_on_rs485_demands_requests_answers_and_silences_share_the_line():
    config = replace(CONFIG, wiring=RS485)
    (shared,) = loads(config)
    silence = (config.turnaround + config.answer_latency) * 11520
    assert shared.report == pytest.approx(9 + 30 + silence)
    assert shared.demands == 2500
    assert shared.at(planned_rate(config)) == pytest.approx(11520)
    assert line_problem(config) is None
    assert line_problem(replace(config, telemetry_rate=76.0)) is not None


def test_a_bus_without_silences_carries_more():
    config = replace(CONFIG, wiring=RS485)
    faster = replace(config, turnaround=0.0, answer_latency=0.0)
    assert planned_rate(faster) > 1.5 * planned_rate(config)


def test_heartbeat_on_rs485_is_refused_because_answers_collide():
    problem = line_problem(replace(CONFIG, wiring=RS485, telemetry=HEARTBEAT))
    assert problem is not None
    assert problem.code == "heartbeat_on_rs485"
    assert "collide" in problem.reason


@pytest.mark.parametrize("rate", [0.5, 12.5, 256.0, 1000.0])
def test_the_heartbeat_knows_whole_rates_of_one_byte(rate: float):
    problem = line_problem(replace(CONFIG, telemetry=HEARTBEAT, telemetry_rate=rate))
    assert problem is not None
    assert problem.code == "heartbeat_rate"


def test_the_planned_heartbeat_is_whole_and_leaves_room_for_questions():
    config = replace(CONFIG, telemetry=HEARTBEAT)
    rate = planned_rate(config)
    assert rate == int(rate) >= 60
    assert rate * 150 < 0.9 * 11520
    assert planned_rate(replace(config, baud_rate=1_000_000)) == 255


def test_unknown_names_are_refused_with_those_that_exist():
    wiring = line_problem(replace(CONFIG, wiring="rs422"))
    telemetry = line_problem(replace(CONFIG, telemetry="push"))
    assert wiring is not None and wiring.code == "unknown_wiring" and "rs485" in wiring.reason
    assert telemetry is not None and telemetry.code == "unknown_telemetry"
    assert "heartbeat" in telemetry.reason
