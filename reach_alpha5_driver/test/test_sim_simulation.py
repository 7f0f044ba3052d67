"""The simulated arm as bytes and times: quirks of its firmware, without process or clock."""

import itertools
import math
import random
import struct

import pytest
from sim_bench import Bench

from reach_alpha5_driver.protocol.codec import Frame, encode
from reach_alpha5_driver.sim.arm import ArmConfig
from reach_alpha5_driver.sim.ids import ALL_DEVICES, Mode, Packet
from reach_alpha5_driver.sim.simulation import TRANSMIT_BUFFER, SimConfig

NAN, INF = float("nan"), float("inf")


def test_a_request_gets_one_frame_for_each_id_in_order_and_none_for_unknown_ids() -> None:
    frames = Bench().ask(3, Packet.CURRENT, 0x77, Packet.POSITION, 0x00, Packet.MODE)
    assert [(frame.device_id, frame.packet_id) for frame in frames] == [
        (3, Packet.CURRENT), (3, Packet.POSITION), (3, Packet.MODE)
    ]  # fmt: skip


@pytest.mark.parametrize("count, answered", [(0, 0), (10, 10), (11, 0)])
def test_a_request_has_one_to_ten_ids(count: int, answered: int) -> None:
    assert len(Bench().ask(4, *[Packet.POSITION] * count)) == answered


def test_a_broadcast_request_is_answered_by_all_five_on_full_duplex() -> None:
    frames = Bench().ask(ALL_DEVICES, Packet.POSITION)
    assert sorted(frame.device_id for frame in frames) == [1, 2, 3, 4, 5]


def test_a_broadcast_request_ends_in_noise_on_half_duplex() -> None:
    bench = Bench(SimConfig(half_duplex=True))
    assert bench.ask(ALL_DEVICES, Packet.POSITION) == []
    assert bench.decoder.counters.bytes > 0
    assert len(bench.ask(2, Packet.POSITION)) == 1


def test_talking_into_an_answer_destroys_it_on_half_duplex() -> None:
    bench = Bench(SimConfig(half_duplex=True))
    bench.send(2, Packet.REQUEST, bytes((Packet.POSITION,)))
    bench.wait(0.0008)
    bench.velocity(5, 0.1)
    assert bench.wait(0.1) == []
    assert bench.simulation.line.collisions > 0


@pytest.mark.parametrize("device_id", [0, 6, 14, 200])
def test_nobody_answers_for_other_devices(device_id: int) -> None:
    assert Bench().ask(device_id, Packet.POSITION) == []


def test_limits_come_with_the_maximum_first() -> None:
    bench = Bench()
    (frame,) = bench.ask(5, Packet.POSITION_LIMITS)
    assert struct.unpack("<2f", frame.payload) == pytest.approx((6.143, 0.01745))
    (frame,) = bench.ask(2, Packet.POSITION_LIMITS)
    assert struct.unpack("<2f", frame.payload) == (0.0, 0.0)


def test_jaws_speak_millimetres() -> None:
    bench = Bench()
    assert bench.value(1, Packet.POSITION) == pytest.approx(7.0)
    bench.velocity(1, 1.0)
    bench.wait(2.0)
    assert bench.value(1, Packet.POSITION) == pytest.approx(9.05, abs=0.2)


def test_a_broadcast_velocity_stops_all_five() -> None:
    bench = Bench()
    for device_id in range(1, 6):
        bench.velocity(device_id, 0.2)
    bench.wait(1.0)
    moving = {device_id: bench.value(device_id, Packet.VELOCITY) for device_id in range(1, 6)}
    assert moving == pytest.approx(dict.fromkeys(range(1, 6), 0.2))
    bench.velocity(ALL_DEVICES, 0.0)
    bench.wait(1.0)
    assert all(bench.value(device_id, Packet.VELOCITY) == 0.0 for device_id in range(1, 6))


@pytest.mark.parametrize("mode", [Mode.DISABLE, Mode.PASSIVE])
def test_a_disabled_joint_moves_only_after_standby(mode: Mode) -> None:
    bench = Bench()
    bench.send(4, Packet.MODE, bytes((mode,)))
    bench.velocity(4, 0.3)
    bench.wait(1.0)
    assert bench.value(4, Packet.VELOCITY) == 0.0
    assert bench.mode(4) == mode
    bench.send(4, Packet.MODE, bytes((Mode.STANDBY,)))
    bench.velocity(4, 0.3)
    bench.wait(1.0)
    assert bench.value(4, Packet.VELOCITY) == pytest.approx(0.3)
    assert bench.mode(4) == Mode.VELOCITY


@pytest.mark.parametrize(
    "packet_id, payload",
    [
        (Packet.VELOCITY, b""),
        (Packet.VELOCITY, bytes(8)),
        (Packet.VELOCITY, struct.pack("<f", NAN)),
        (Packet.POSITION, struct.pack("<f", INF)),
        (Packet.POSITION, struct.pack("<f", 9.0)),
        (Packet.MODE, b""),
        (Packet.MODE, bytes((0x77,))),
        (Packet.POSITION_LIMITS, struct.pack("<2f", 1.0, 2.0)),
        (0xA1, bytes(24)),
        (0xB5, bytes(4)),
    ],
)
def test_what_makes_no_sense_is_silently_ignored(packet_id: int, payload: bytes) -> None:
    bench = Bench()
    bench.velocity(5, 0.2)
    bench.send(5, packet_id, payload)
    assert bench.wait(1.0) == []
    assert bench.value(5, Packet.VELOCITY) == pytest.approx(0.2)
    assert bench.mode(5) == Mode.VELOCITY


def test_a_damaged_frame_is_ignored() -> None:
    bench = Bench()
    wire = bytearray(encode(Frame(5, Packet.VELOCITY, struct.pack("<f", 0.2))))
    wire[3] ^= 0x10
    bench.simulation.receive(bytes(wire), bench.now)
    bench.wait(1.0)
    assert bench.value(5, Packet.VELOCITY) == 0.0
    assert bench.simulation.decoder.counters.damaged == 1


def test_heartbeat_ids_are_lost_at_power_off_and_the_frequency_is_saved() -> None:
    bench = Bench()
    bench.send(3, Packet.HEARTBEAT_PACKETS, bytes((Packet.POSITION, Packet.MODE)).ljust(10, b"\0"))
    bench.send(3, Packet.HEARTBEAT_FREQUENCY, bytes((20,)))
    frames = bench.wait(1.02)
    assert [frame.packet_id for frame in frames] == [Packet.POSITION, Packet.MODE] * 21
    bench.simulation.devices[3].power_off()
    assert bench.wait(1.0) == []
    assert bench.ask(3, Packet.POSITION) == []
    bench.simulation.devices[3].power_on(bench.now)
    assert bench.wait(1.0) == []
    (frame,) = bench.ask(3, Packet.HEARTBEAT_FREQUENCY)
    assert frame.payload == bytes((20,))
    bench.send(3, Packet.HEARTBEAT_PACKETS, bytes((Packet.POSITION,)))
    assert len(bench.wait(1.02)) == 21
    bench.send(3, Packet.HEARTBEAT_FREQUENCY, bytes(1))
    bench.wait(0.1)
    assert bench.wait(1.0) == []


def test_limits_survive_power_off_only_when_saved() -> None:
    bench = Bench()
    for save, kept in ((False, 6.143), (True, 5.0)):
        bench.send(5, Packet.POSITION_LIMITS, struct.pack("<2f", 5.0, 1.0))
        if save:
            bench.send(5, Packet.SAVE, bytes(1))
        bench.wait(0.1)
        bench.simulation.devices[5].power_off()
        bench.simulation.devices[5].power_on(bench.now)
        (frame,) = bench.ask(5, Packet.POSITION_LIMITS)
        assert struct.unpack("<2f", frame.payload)[0] == pytest.approx(kept)


def test_power_off_stops_the_motor_and_leaves_standby() -> None:
    bench = Bench()
    bench.velocity(5, 0.3)
    bench.wait(1.0)
    bench.simulation.devices[5].power_off()
    bench.wait(1.0)
    bench.simulation.devices[5].power_on(bench.now)
    assert bench.value(5, Packet.VELOCITY) == 0.0
    assert bench.mode(5) == Mode.STANDBY


def test_a_deaf_device_goes_on_as_told() -> None:
    bench = Bench()
    bench.velocity(5, 0.3)
    bench.wait(1.0)
    bench.simulation.devices[5].deaf = True
    bench.velocity(5, 0.0)
    assert bench.ask(5, Packet.VELOCITY) == []
    assert bench.simulation.arm.state()["e"]["velocity"] == pytest.approx(0.3)


def test_status_comes_unasked_once_a_second_while_a_flag_is_set() -> None:
    bench = Bench()
    assert bench.wait(5.0) == []
    bench.simulation.devices[2].status[1] = 0x20
    frames = bench.wait(5.0)
    assert 5 <= len(frames) <= 6
    assert {(f.device_id, f.packet_id, f.payload.hex()) for f in frames} == {
        (2, Packet.HARDWARE_STATUS, "00200000")
    }
    bench.simulation.devices[2].status[1] = 0
    bench.wait(0.1)
    assert bench.wait(5.0) == []


def test_a_hot_motor_raises_its_flag() -> None:
    bench = Bench()
    bench.simulation.devices[3].joint.temperature = 90.0
    frames = bench.wait(1.5)
    assert frames
    assert frames[-1].payload.hex() == "20000000"
    assert bench.value(3, Packet.TEMPERATURE) > 70.0


def test_identity_and_health_can_be_read() -> None:
    bench = Bench()
    for packet_id, size in {
        Packet.SERIAL_NUMBER: 4,
        Packet.MODEL_NUMBER: 4,
        Packet.SOFTWARE_VERSION: 3,
        Packet.HUMIDITY: 4,
        Packet.TEMPERATURE: 4,
        Packet.VOLTAGE: 4,
        Packet.HARDWARE_STATUS: 4,
        Packet.VELOCITY_LIMITS: 8,
        Packet.CURRENT_LIMITS: 8,
        Packet.FACTORY_CLIMATE: 12,
    }.items():
        (frame,) = bench.ask(4, packet_id)
        assert len(frame.payload) == size
    assert 20.0 < bench.value(4, Packet.VOLTAGE) < 30.0


def test_answers_never_pass_faster_than_the_line() -> None:
    bench = Bench()
    for _ in range(3):
        bench.send(ALL_DEVICES, Packet.REQUEST, bytes((Packet.POSITION, Packet.VELOCITY)))
    start = bench.now
    for _ in range(400):
        bench.wait(0.0007)
    chunks = bench.chunks
    assert sum(len(chunk.data) for chunk in chunks) == 300
    assert all(a.end <= b.start + 1e-9 for a, b in itertools.pairwise(chunks))
    assert chunks[0].start > start + 8 * 10 / 115200
    assert chunks[-1].end - chunks[0].start >= 300 * 10 / 115200 * 0.99


def test_a_pipelined_requester_fills_the_line() -> None:
    bench = Bench()
    frames, asked = 0, 0
    while bench.now < 105.0:
        while asked * 3 - frames < 12:
            ids = bytes((Packet.POSITION, Packet.VELOCITY, Packet.CURRENT))
            bench.send(1 + asked % 5, Packet.REQUEST, ids)
            asked += 1
        frames += len(bench.wait(0.001))
    assert frames / 15 / 5.0 > 0.99 * 11520 / 150


def test_answers_that_do_not_fit_the_transmit_buffer_are_lost_whole() -> None:
    bench = Bench()
    for _ in range(40):
        bench.send(5, Packet.REQUEST, bytes([Packet.POSITION] * 10))
    bench.wait(10.0)
    assert bench.simulation.replies_lost > 0
    assert bench.decoder.counters.damaged == 0
    assert bench.decoder.counters.bytes >= TRANSMIT_BUFFER - 10


@pytest.mark.parametrize("after", [0.0096, 0.0100, 0.0103])
def test_a_purge_may_cut_a_frame_but_not_what_follows_a_terminator(after: float) -> None:
    bench = Bench()
    for _ in range(200):
        bench.velocity(5, 0.3)
    bench.wait(after)
    bench.simulation.purge(bench.now)
    bench.simulation.receive(b"\0", bench.now)
    bench.velocity(5, 0.0)
    bench.wait(1.0)
    assert bench.simulation.purged > 1500
    assert bench.value(5, Packet.VELOCITY) == 0.0


def test_the_same_seed_and_traffic_give_the_same_bytes() -> None:
    def run(seed: int) -> bytes:
        bench = Bench(SimConfig(seed=seed, noise=1.0))
        bench.simulation.faults["to-driver"].set_rate("flip", 0.01)
        bench.simulation.faults["to-arm"].set_rate("drop", 0.01)
        for index in range(100):
            bench.ask(1 + index % 5, Packet.POSITION, Packet.CURRENT)
        return b"".join(chunk.data for chunk in bench.chunks)

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_delay_on_the_way_to_the_arm_keeps_the_order() -> None:
    bench = Bench()
    bench.simulation.faults["to-arm"].set_rate("delay", 0.5)
    for index in range(50):
        bench.velocity(5, 0.001 * index)
    bench.velocity(5, 0.123)
    bench.wait(10.0)
    assert bench.value(5, Packet.VELOCITY) == pytest.approx(0.123)


def test_configured_posture_and_limits_hold() -> None:
    posture = {5: 2.0, 4: 1.0, 3: 1.0, 2: 0.5, 1: 0.004}
    arm = ArmConfig(
        posture=posture,
        position_limits={1: (0.002, 0.006)},
        velocity_limits={1: (-0.001, 0.002)},
        current_limits={5: (-0.2, 0.3)},
        mode=Mode.DISABLE,
    )
    bench = Bench(SimConfig(arm=arm))
    assert bench.value(5, Packet.POSITION) == pytest.approx(2.0)
    assert bench.values(1, Packet.POSITION_LIMITS) == pytest.approx((6.0, 2.0))
    assert bench.values(1, Packet.VELOCITY_LIMITS) == pytest.approx((2.0, -1.0))
    assert bench.values(5, Packet.CURRENT_LIMITS) == pytest.approx((300.0, -200.0))
    assert bench.mode(3) == Mode.DISABLE


def test_noise_does_not_lead_out_of_the_turn_of_a_joint_without_stops() -> None:
    bench = Bench(SimConfig(noise=1.0))
    positions = [bench.value(2, Packet.POSITION) for _ in range(50)]
    assert all(0.0 <= position <= 2 * math.pi for position in positions)
    assert min(positions) < 0.1
    assert max(positions) > 6.2


@pytest.mark.parametrize("limits", [(-0.1, -0.5), (0.5, 0.1)])
def test_velocity_limits_that_leave_out_standstill_are_ignored(
    limits: tuple[float, float],
) -> None:
    bench = Bench()
    bench.send(5, Packet.VELOCITY_LIMITS, struct.pack("<2f", *limits))
    bench.velocity(5, 0.0)
    bench.wait(1.0)
    assert bench.value(5, Packet.VELOCITY) == 0.0


def test_absurd_settings_are_answered_with_what_a_float32_can_hold() -> None:
    bench = Bench(SimConfig(arm=ArmConfig(position_limits={1: (0.0, 1e300)}), noise=1e300))
    bench.simulation.devices[5].joint.blocked = True
    bench.send(5, Packet.CURRENT_LIMITS, struct.pack("<2f", 3e38, -3e38))
    bench.send(5, Packet.CURRENT, struct.pack("<f", 3e38))
    bench.wait(10.0)
    readings = (Packet.POSITION, Packet.CURRENT, Packet.TEMPERATURE, Packet.VOLTAGE)
    assert {frame.packet_id for frame in bench.ask(5, *readings)} >= {*readings}
    (frame,) = bench.ask(1, Packet.POSITION_LIMITS)
    assert struct.unpack("<2f", frame.payload) == pytest.approx((3.4028235e38, 0.0))


@pytest.mark.parametrize("seed", range(4))
def test_whatever_it_is_sent_it_goes_on_with_finite_joints(seed: int) -> None:
    bench = Bench()
    draw = random.Random(seed)
    for way in bench.simulation.faults.values():
        for kind in ("drop", "flip", "duplicate", "split", "merge", "garbage"):
            way.set_rate(kind, 0.02)
    for _ in range(1500):
        payload = draw.choice(
            [draw.randbytes(draw.randrange(12)), struct.pack("<2f", draw.gauss(0, 3), -1.0)[:4]]
        )
        bench.send(draw.choice([1, 2, 3, 4, 5, 5, 255]), draw.choice([*Packet, 0xEE]), payload)
        bench.simulation.receive(draw.randbytes(draw.randrange(4)), bench.now)
        bench.wait(draw.choice([0.0, 0.001, 0.02]))
    for joint in bench.simulation.arm.state().values():
        assert all(math.isfinite(joint[key]) for key in ("position", "velocity", "current"))
    assert bench.simulation.line.to_driver.backlog() <= 2 * TRANSMIT_BUFFER
