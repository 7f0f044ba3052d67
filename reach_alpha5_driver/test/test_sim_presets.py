"""Presets of the simulated base unit: kept, read, and gone to only while the go is repeated."""

import struct

import pytest
from sim_bench import Bench

from reach_alpha5_driver.sim.ids import Mode, Packet

POSTURE = (9.0, 0.5, 1.0, 2.0, 1.5)
"""By device id: jaws in mm."""


def ready(*values: float) -> Bench:
    bench = Bench()
    padded = [*values, *[0.0] * (8 - len(values))]
    bench.send(5, Packet.PRESET_VALUES_0 + 2, struct.pack("<8f", *padded))
    bench.wait(0.1)
    return bench


def go(bench: Bench, duration: float, period: float = 0.05, slot: int = 2) -> None:
    end = bench.now + duration
    while bench.now < end:
        bench.send(5, Packet.PRESET_GO, bytes((slot,)))
        bench.wait(period)


def positions(bench: Bench) -> list[float]:
    return [bench.value(device_id, Packet.POSITION) for device_id in range(1, 6)]


def test_the_arm_goes_to_a_preset_while_the_go_is_repeated() -> None:
    bench = ready(*POSTURE)
    go(bench, 0.5)
    assert bench.mode(4) == Mode.PRESET
    assert bench.speed("e") > 0.3
    go(bench, 10.0)
    assert positions(bench) == pytest.approx(POSTURE, abs=0.02)


def test_the_arm_stops_by_itself_when_the_go_ceases_and_goes_on_with_the_next() -> None:
    bench = ready(*POSTURE)
    go(bench, 0.5)
    bench.wait(0.3)
    stopped = positions(bench)
    assert all(bench.speed(axis) == 0.0 for axis in "abcde")
    bench.wait(5.0)
    assert positions(bench) == stopped
    assert stopped[4] < 1.0
    go(bench, 10.0)
    assert positions(bench) == pytest.approx(POSTURE, abs=0.02)


def test_a_go_that_is_repeated_too_slowly_moves_in_jerks() -> None:
    bench = ready(*POSTURE)
    go(bench, 0.3, period=0.3)
    assert bench.speed("e") == 0.0
    assert 0.1 < positions(bench)[4] < 0.3


def test_a_go_is_over_as_late_as_it_should_be_however_time_passes() -> None:
    def run(step: float) -> float:
        bench = ready(*POSTURE)
        bench.send(5, Packet.PRESET_GO, bytes((2,)))
        end = bench.now + 1.0
        while bench.now < end - 1e-9:
            bench.wait(step)
        return positions(bench)[4]

    assert run(0.001) == pytest.approx(run(1.0), abs=2e-3)


def test_another_demand_takes_over() -> None:
    bench = ready(*POSTURE)
    go(bench, 0.5)
    bench.velocity(5, 0.0)
    bench.wait(0.5)
    assert bench.mode(5) == Mode.VELOCITY
    assert bench.speed("e") == 0.0


def test_disabled_joints_and_values_beyond_the_limits_stay_where_they_are() -> None:
    bench = ready(9.0, 0.5, 9.9, 2.0, 1.5)
    bench.send(4, Packet.MODE, bytes((Mode.DISABLE,)))
    before = positions(bench)
    go(bench, 1.0)
    after = positions(bench)
    assert after[2:4] == before[2:4]
    assert after[4] > before[4]


def test_a_joint_that_does_not_hear_does_not_go() -> None:
    bench = ready(*POSTURE)
    bench.do("dead d")
    go(bench, 0.5)
    assert bench.speed("d") == 0.0
    assert bench.speed("e") > 0.3


def test_capture_keeps_the_present_posture() -> None:
    bench = Bench()
    bench.send(5, Packet.PRESET_CAPTURE, bytes((3,)))
    bench.wait(0.1)
    here = positions(bench)
    assert bench.values(5, Packet.PRESET_VALUES_0 + 3) == pytest.approx((*here, 0.0, 0.0, 0.0))


def test_values_and_names_survive_a_loss_of_supply_only_when_saved() -> None:
    bench = Bench()
    for save in (False, True):
        bench.send(5, Packet.PRESET_NAME_0 + 1, b"deployed")
        bench.send(5, Packet.PRESET_VALUES_0 + 1, struct.pack("<8f", *range(8)))
        if save:
            bench.send(5, Packet.SAVE, bytes(1))
        bench.wait(0.1)
        assert bench.ask(5, Packet.PRESET_NAME_0 + 1)[0].payload == b"deployed"
        assert bench.state()["presets"][1]["name"] == "deployed"
        bench.do("power cycle e")
        kept = bench.values(5, Packet.PRESET_VALUES_0 + 1)
        assert kept == (tuple(map(float, range(8))) if save else (0.0,) * 8)
        (name,) = bench.ask(5, Packet.PRESET_NAME_0 + 1)
        assert name.payload == (b"deployed" if save else bytes(8))


@pytest.mark.parametrize(
    "device_id, packet_id, payload",
    [
        (5, Packet.PRESET_GO, b""),
        (5, Packet.PRESET_GO, bytes((4,))),
        (5, Packet.PRESET_CAPTURE, bytes((4,))),
        (5, Packet.PRESET_VALUES_0 + 2, bytes(28)),
        (5, Packet.PRESET_VALUES_0 + 2, struct.pack("<8f", *[float("nan")] * 8)),
        (5, Packet.PRESET_NAME_0 + 2, b"short"),
        (4, Packet.PRESET_GO, bytes((2,))),
        (4, Packet.PRESET_VALUES_0 + 2, bytes(32)),
    ],
)
def test_what_makes_no_sense_is_silently_ignored(
    device_id: int, packet_id: int, payload: bytes
) -> None:
    bench = ready(*POSTURE)
    before = bench.state()
    bench.send(device_id, packet_id, payload)
    assert bench.wait(0.5) == []
    after = bench.state()
    assert after["presets"] == before["presets"]
    assert all(joint["mode"] == "standby" for joint in after["joints"].values())
