"""Commands to the simulated arm: joints, devices and firmware that do not do what they should."""

import struct

import pytest
from sim_bench import Bench

from reach_alpha5_driver.sim.commands import ERROR, OK, Commands
from reach_alpha5_driver.sim.ids import ALL_DEVICES, AXES, Mode, Packet
from reach_alpha5_driver.sim.simulation import SimConfig


def mode_frame(bench: Bench, device_id: int, mode: Mode) -> None:
    bench.send(device_id, Packet.MODE, bytes((mode,)))
    bench.wait(1.0)


@pytest.mark.parametrize(
    "runaway, obeyed, ends",
    [
        ("standby", [], Mode.STANDBY),
        ("standby", [], Mode.DISABLE),
        ("disable", [Mode.STANDBY], Mode.DISABLE),
        ("power", [Mode.STANDBY, Mode.DISABLE], None),
    ],
)
def test_a_runaway_joint_stops_at_nothing_less_than_it_is_told_to(
    runaway: str, obeyed: list[Mode], ends: Mode | None
) -> None:
    bench = Bench()
    bench.velocity(5, 0.3)
    bench.wait(1.0)
    bench.do(f"runaway e {runaway}")
    for device_id in (5, ALL_DEVICES):
        bench.velocity(device_id, 0.0)
        bench.velocity(device_id, -0.3)
    for mode in (Mode.ZERO_VELOCITY, Mode.HOLD, *obeyed):
        mode_frame(bench, 5, mode)
        assert bench.speed("e") == pytest.approx(0.3)
    if ends is None:
        bench.do("power cycle e")
        bench.wait(1.0)
    else:
        mode_frame(bench, 5, ends)
    assert bench.speed("e") == 0.0


def test_a_runaway_joint_at_rest_obeys_and_runs_away_again_until_it_is_repaired() -> None:
    bench = Bench()
    bench.do("runaway all standby")
    bench.velocity(4, 0.2)
    bench.wait(1.0)
    bench.velocity(4, 0.0)
    bench.wait(1.0)
    assert bench.speed("d") == pytest.approx(0.2)
    bench.do("runaway all none")
    bench.velocity(4, 0.0)
    bench.wait(1.0)
    assert bench.speed("d") == 0.0


def test_crossed_devices_move_the_wrong_joint_and_tell_the_truth() -> None:
    bench = Bench()
    bench.do("crossed d e")
    bench.velocity(4, 0.2)
    bench.wait(1.0)
    assert bench.value(4, Packet.VELOCITY) == 0.0
    assert bench.value(5, Packet.VELOCITY) == pytest.approx(0.2)
    assert bench.state()["crossed"] == {"d": "e"}
    bench.velocity(ALL_DEVICES, 0.0)
    bench.wait(1.0)
    assert bench.speed("e") == 0.0
    bench.do("crossed d none")
    bench.velocity(4, 0.2)
    bench.wait(1.0)
    assert bench.speed("d") == pytest.approx(0.2)


def test_a_stuck_mode_lets_no_velocity_through_until_a_mode_frame() -> None:
    bench = Bench()
    bench.do("stuck-mode c")
    bench.velocity(3, 0.2)
    bench.wait(1.0)
    assert bench.mode(3) == Mode.STANDBY
    assert bench.speed("c") == 0.0
    mode_frame(bench, 3, Mode.VELOCITY)
    bench.velocity(3, 0.2)
    bench.wait(1.0)
    assert bench.speed("c") == pytest.approx(0.2)
    mode_frame(bench, 3, Mode.STANDBY)
    bench.do("stuck-mode c off")
    bench.velocity(3, -0.2)
    bench.wait(0.5)
    assert bench.speed("c") == pytest.approx(-0.2)


def test_a_slow_device_answers_late_and_holds_up_nobody() -> None:
    bench = Bench()
    bench.do("latency c 80")
    bench.send(3, Packet.REQUEST, bytes((Packet.POSITION,)))
    bench.send(4, Packet.REQUEST, bytes((Packet.POSITION,)))
    assert [frame.device_id for frame in bench.wait(0.07)] == [4]
    due = bench.simulation.due()
    assert due == pytest.approx(bench.now + 0.0109, abs=1e-3)
    assert bench.wait(0.0099) == []
    assert [frame.device_id for frame in bench.wait(0.003)] == [3]


def test_a_slow_device_that_loses_its_supply_answers_no_more() -> None:
    bench = Bench()
    bench.do("latency c 80")
    bench.send(3, Packet.REQUEST, bytes((Packet.POSITION,)))
    bench.wait(0.05)
    bench.do("power cycle d")
    bench.do("power off c")
    assert bench.wait(1.0) == []


def test_a_late_answer_runs_into_the_next_request_on_half_duplex() -> None:
    bench = Bench(SimConfig(half_duplex=True))
    bench.do("latency c 80")
    for device_id in (3, 4):  # both answers would begin at the same moment
        bench.send(device_id, Packet.REQUEST, bytes((Packet.POSITION,)))
        bench.wait(0.0 if device_id == 4 else 0.0795)
    assert bench.wait(1.0) == []
    kinds = bench.state()["collision_kinds"]
    assert kinds["device_into_device"] + kinds["device_into_driver"] > 0
    assert kinds["driver_into_device"] == 0


def test_heartbeats_run_into_the_driver_on_half_duplex_however_time_passes() -> None:
    def run(steps: int) -> dict[str, int]:
        bench = Bench(SimConfig(half_duplex=True))
        bench.send(5, Packet.HEARTBEAT_PACKETS, bytes((Packet.POSITION,)))
        bench.send(5, Packet.HEARTBEAT_FREQUENCY, bytes((50,)))
        bench.wait(0.01)
        for _ in range(110):
            bench.velocity(4, 0.1)
        for _ in range(steps):
            bench.wait(0.095 / steps)
        kinds: dict[str, int] = bench.state()["collision_kinds"]
        return kinds

    assert run(1) == run(10) == run(500)
    assert run(1)["device_into_driver"] >= 4


def test_firmware_that_does_not_know_a_packet_neither_answers_nor_obeys_it() -> None:
    bench = Bench()
    bench.do("unknown b 65 6c 03")
    frames = bench.ask(2, Packet.HUMIDITY, Packet.SOFTWARE_VERSION, Packet.TEMPERATURE)
    assert [frame.packet_id for frame in frames] == [Packet.TEMPERATURE]
    bench.send(2, Packet.POSITION, struct.pack("<f", 1.0))
    bench.wait(1.0)
    assert bench.mode(2) == Mode.STANDBY
    assert len(bench.ask(3, Packet.HUMIDITY)) == 1
    bench.do("unknown b none")
    assert len(bench.ask(2, Packet.HUMIDITY)) == 1


def test_climate_and_supply_are_what_they_are_set_to() -> None:
    bench = Bench()
    bench.do("humidity c 61.5")
    bench.do("temperature c 48")
    bench.do("supply 17.5")
    bench.wait(600.0)
    assert bench.value(3, Packet.HUMIDITY) == pytest.approx(61.5)
    assert bench.value(3, Packet.TEMPERATURE) == pytest.approx(48.0)
    assert bench.value(5, Packet.VOLTAGE) == pytest.approx(17.5)
    assert bench.value(4, Packet.HUMIDITY) < 30.0
    bench.do("temperature c free")
    bench.wait(600.0)
    assert bench.value(3, Packet.TEMPERATURE) < 25.0


def test_an_identity_can_be_any() -> None:
    bench = Bench()
    bench.do("identity all model 7")
    bench.do("identity b serial 9001")
    bench.do("identity b firmware 9.8.255")
    assert bench.value(5, Packet.MODEL_NUMBER) == 7.0
    assert bench.value(2, Packet.SERIAL_NUMBER) == 9001.0
    (frame,) = bench.ask(2, Packet.SOFTWARE_VERSION)
    assert frame.payload == bytes((9, 8, 255))
    serials = {bench.value(device_id, Packet.SERIAL_NUMBER) for device_id in AXES}
    assert len(serials) == 5


def test_limits_in_the_electronics_survive_a_loss_of_supply_and_hold() -> None:
    bench = Bench()
    bench.do("limits a position 0.002 0.006")
    bench.do("limits e velocity -0.1 0.15")
    bench.do("limits e current -0.3 0.25")
    bench.do("power cycle")
    assert bench.values(1, Packet.POSITION_LIMITS) == pytest.approx((6.0, 2.0))
    assert bench.values(5, Packet.VELOCITY_LIMITS) == pytest.approx((0.15, -0.1))
    assert bench.values(5, Packet.CURRENT_LIMITS) == pytest.approx((250.0, -300.0))
    bench.velocity(5, 0.5)
    bench.wait(1.0)
    assert bench.speed("e") == pytest.approx(0.15)


def test_a_power_cycle_loses_the_heartbeat_list_of_those_it_hits() -> None:
    bench = Bench()
    for device_id in (3, 4):
        bench.send(device_id, Packet.HEARTBEAT_PACKETS, bytes((Packet.POSITION,)))
        bench.send(device_id, Packet.HEARTBEAT_FREQUENCY, bytes((10,)))
    assert {frame.device_id for frame in bench.wait(1.0)} == {3, 4}
    bench.do("power cycle c")
    assert {frame.device_id for frame in bench.wait(1.0)} == {4}
    devices = bench.state()["devices"]
    assert devices["c"]["heartbeat_packets"] == ""
    assert devices["d"]["heartbeat_packets"] == "03"
    assert devices["c"]["heartbeat_frequency"] == 10
    bench.do("power cycle")
    assert bench.wait(1.0) == []


def test_the_state_shows_what_was_set() -> None:
    bench = Bench()
    for command in (
        "runaway d disable", "stuck-mode d on", "latency d 20", "unknown d 66 65",
        "humidity d 50", "supply 20 d", "temperature d 30", "identity d serial 12",
        "limits d velocity -0.2 0.2", "dead d",
    ):  # fmt: skip
        bench.do(command)
    device = bench.state()["devices"]["d"]
    expected = {
        "runaway": "disable",
        "mode_stuck": True,
        "latency": 0.02,
        "unknown": ["65", "66"],
        "humidity": 50.0,
        "supply": 20.0,
        "temperature_held": True,
        "serial": 12.0,
        "firmware": "2.3.1",
        "velocity_limits": [-0.2, 0.2],
        "deaf": True,
    }
    assert {key: device[key] for key in expected} == expected


@pytest.mark.parametrize(
    "command",
    ["runaway e", "runaway e maybe", "runaway 9 none", "stuck-mode e maybe", "crossed e",
     "crossed e f", "crossed all e", "humidity e -1", "temperature e warm", "supply -3", "supply",
     "supply 20 f", "identity e", "identity e colour 3", "identity e firmware 2.3",
     "identity e firmware 2.3.256", "identity e serial nan", "limits e position 2 1",
     "limits e velocity 0.1 0.2", "limits e torque 0 1", "latency e -1", "unknown e",
     "unknown e 1ff", "unknown e zz", "unknown e none 65", "power up", "power cycle f"],
)  # fmt: skip
def test_a_command_that_makes_no_sense_changes_nothing(command: str) -> None:
    bench = Bench()
    before = bench.state()
    answer = Commands(bench.simulation).execute(command, bench.now)
    assert answer.startswith(ERROR)
    assert f"usage: {command.split()[0]} " in answer
    assert bench.state() == before


def test_help_lists_each_command_with_its_usage_and_meaning() -> None:
    commands = Commands(Bench().simulation)
    lines = commands.execute("help", 100.0).splitlines()
    assert [line.split()[0] for line in lines] == list(commands.table)
    assert all(command.meaning in line for command, line in zip(
        commands.table.values(), lines, strict=True
    ))  # fmt: skip
    assert commands.execute("power cycle", 100.0) == OK
