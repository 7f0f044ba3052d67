"""The schedule on RS-485, against a simulated arm that garbles whatever is said at once."""

from __future__ import annotations

import pytest
from schedule_rig import LATENESS, ScheduleRig

from reach_alpha5_driver.budget import planned_rate
from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.protocol.packets import (
    STOP_FRAMES,
    PacketId,
    Request,
    Velocity,
    encode,
)
from reach_alpha5_driver.schedule import FAST, RS485, ScheduleConfig

CONFIG = ScheduleConfig(wiring=RS485)
FIRST_STOP_FRAME = STOP_FRAMES[: STOP_FRAMES.index(0) + 1]
FLAGGED = 0x40
"""A bit in the first byte of HARDWARE_STATUS: the device reports it each second."""


def running(seed: int = 0, **settings) -> ScheduleRig:
    rig = ScheduleRig(ScheduleConfig(wiring=RS485, **settings), seed)
    rig.run(1.0)
    return rig


def test_the_planned_rate_is_reached_without_a_collision():
    rig = running()
    assert rig.rate(5.0) >= planned_rate(CONFIG)
    assert rig.collisions == 0
    assert rig.heard.broken == 0
    assert rig.poller.unanswered == 0


def test_demands_go_out_at_their_rate():
    rig = running()
    before = len(rig.wire)
    rig.run(4.0)
    demands = [data for _, data in rig.wire[before:] if data == encode(Velocity(5, 0.005))]
    assert len(demands) >= 4.0 * 50 * 0.95


def test_a_demand_waits_for_one_exchange_at_most():
    rig = running(seed=4)
    rig.demands = False
    for _ in range(40):
        rig.run(rig.random.uniform(0.0, 0.03))
        asked_at, before = rig.now, len(rig.wire)
        rig.gate.motion = encode(Velocity(5, 0.1))
        rig.run(0.03)
        at = next(end for end, data in rig.wire[before:] if data == encode(Velocity(5, 0.1)))
        requests = [data for end, data in rig.wire[before:] if asked_at < end < at]
        assert len(requests) <= 1, "it goes before the next request"
        assert at - asked_at < (9 + 80 + 10) / 11520 + 0.001 + 3 * LATENESS


def test_a_fixed_rate_is_kept():
    rig = running(telemetry_rate=10.0)
    assert rig.rate(4.0) == pytest.approx(10.0, abs=0.5)
    assert rig.collisions == 0


def test_reads_are_prompt_while_an_answer_is_awaited_and_only_then():
    rig = running(telemetry_rate=1.0)
    seen = set()
    for _ in range(200):
        rig.run(0.005)
        seen.add(rig.outbox.prompt_reads)
        assert rig.outbox.prompt_reads == rig.poller.awaiting
    assert seen == {True, False}


def test_a_stop_goes_at_once_at_any_phase_and_all_joints_stop():
    rig = running(seed=3)
    into_answers = 0
    for _ in range(60):
        rig.demands, rig.next_demand = True, rig.now
        rig.run(rig.random.uniform(0.15, 0.2))
        rig.demands = False
        rig.gate.owed = True
        into_answers += rig.now < rig.poller.talk_at
        outgoing = rig.outbox.take(rig.now, True)
        assert outgoing.purge and outgoing.data == b"\0" + STOP_FRAMES
        rig.sim.purge(rig.now)
        rig.sim.receive(outgoing.data, rig.now)
        rig.outbox.sent(len(outgoing.data), rig.now)
        rig.run(0.1)
        assert not rig.outbox.unfinished
        for joint in rig.sim.arm.joints.values():
            joint.advance(rig.now)
            assert abs(joint.velocity) < 1e-6
    assert into_answers > 20


def test_a_stop_written_into_an_answer_is_written_again_when_the_bus_is_quiet():
    rig = running(seed=1)
    rig.demands = False
    while not rig.poller.awaiting:
        rig.run(0.0005)
    assert rig.stop(rig.now) < 0.02
    assert rig.outbox.unfinished is False
    before = len(rig.wire)
    rig.run(0.5)
    assert FIRST_STOP_FRAME not in [data for _, data in rig.wire[before:]], "and only once more"


def test_a_stop_on_a_quiet_bus_is_written_once():
    rig = running(telemetry_rate=1.0)
    rig.demands = False
    while rig.now < rig.poller.talk_at:
        rig.run(0.001)
    before = len(rig.wire)
    rig.stop(rig.now)
    rig.run(0.2)
    assert [data for _, data in rig.wire[before:]].count(FIRST_STOP_FRAME) == 1


def test_motion_that_follows_comes_after_the_repeated_stop():
    rig = running(seed=1)
    rig.demands = False
    while not rig.poller.awaiting:
        rig.run(0.0005)
    before = len(rig.wire)
    rig.gate.owed = True
    rig._step()
    rig.gate.motion = encode(Velocity(5, 0.1))
    rig.run(0.05)
    frames = [data for _, data in rig.wire[before:]]
    moved = frames.index(encode(Velocity(5, 0.1)))
    assert FIRST_STOP_FRAME in frames[:moved]
    assert FIRST_STOP_FRAME not in frames[moved:]


def test_devices_that_report_a_flag_unasked_are_survived():
    rig = running(seed=5)
    for device in rig.sim.devices.values():
        device.status[0] |= FLAGGED
    rate = rig.rate(10.0)
    assert all(rig.heard.frames[device, PacketId.HARDWARE_STATUS] for device in range(1, 6))
    assert rate >= 0.5 * planned_rate(CONFIG)
    assert rig.poller.unanswered <= 10 * 5


@pytest.mark.parametrize("fault", ["lose", "flip", "duplicate", "split", "merge"])
def test_damage_on_the_line_is_survived(fault: str):
    rig = running(seed=6)
    for faults in rig.sim.faults.values():
        faults.set_rate(fault, 0.01)
    rig.run(2.0)
    for faults in rig.sim.faults.values():
        faults.clear()
    rig.run(1.5)
    assert rig.rate(3.0) >= 0.97 * planned_rate(CONFIG)


def test_a_dead_device_leaves_the_others_their_rate():
    rig = running(seed=7)
    rig.sim.devices[3].deaf = True
    rig.run(2.0)
    rig.rate(4.0)
    living = [rig.heard.frames[device, PacketId.POSITION] / 4.0 for device in (1, 2, 4, 5)]
    assert min(living) >= planned_rate(CONFIG)
    rig.sim.devices[3].deaf = False
    rig.run(2.0)
    assert rig.rate(3.0) >= 0.97 * planned_rate(CONFIG)


def test_questions_are_asked_in_the_gaps_without_a_collision():
    rig = running(seed=8)
    for device in range(1, 6):
        rig.poller.ask(device, [PacketId.SERIAL_NUMBER, PacketId.POSITION_LIMITS])
    rig.rate(1.0)
    assert all(rig.heard.frames[device, PacketId.SERIAL_NUMBER] == 1 for device in range(1, 6))
    assert rig.collisions == 0


# -- the judge


@pytest.mark.parametrize(
    "words",
    [
        [encode(Request(5, FAST)), encode(Request(4, FAST))],
        [encode(Request(5, FAST)), encode(Velocity(4, 0.1)) * 5],
    ],
    ids=["two devices asked at once", "talking into an answer"],
)
def test_the_simulated_arm_punishes(words: list[bytes]):
    rig = ScheduleRig(CONFIG, demands=False)
    rig.wait(0.2)
    before = rig.collisions
    for word in words:
        rig.sim.receive(word, rig.now)
    answers = StreamDecoder().receive(rig.wait(0.1) + b"\0")
    assert rig.collisions > before
    assert sum(isinstance(answer, Frame) for answer in answers) < len(FAST)
