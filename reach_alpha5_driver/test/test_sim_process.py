"""The simulated arm as a process: real ports, the log, the control socket, a clean end."""

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import serial

from reach_alpha5_driver.protocol.codec import Frame, encode
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.sim.cli import main
from reach_alpha5_driver.sim.ids import Packet
from reach_alpha5_driver.sim.process import SimError, SimProcess

TIMEOUT = 30.0
SIM = [sys.executable, "-m", "reach_alpha5_driver.sim.cli"]


def velocity(device_id: int, value: float) -> bytes:
    return encode(Frame(device_id, Packet.VELOCITY, struct.pack("<f", value)))


def request(device_id: int, *packet_ids: int) -> bytes:
    return encode(Frame(device_id, Packet.REQUEST, bytes(packet_ids)))


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.01)


def read_frames(port: serial.SerialBase, count: int) -> list[Frame]:
    decoder, frames = StreamDecoder(), []
    deadline = time.monotonic() + TIMEOUT
    while len(frames) < count:
        assert time.monotonic() < deadline, f"got {len(frames)} of {count} frames"
        frames += [e for e in decoder.receive(port.read(256)) if isinstance(e, Frame)]
    return frames


@pytest.fixture(params=[False, True], ids=["pty", "tcp"])
def sim(request: pytest.FixtureRequest) -> Iterator[SimProcess]:
    with SimProcess(tcp=request.param) as running:
        yield running


@pytest.fixture
def pty_sim() -> Iterator[SimProcess]:
    with SimProcess() as running:
        yield running


@contextlib.contextmanager
def opened(sim: SimProcess) -> Iterator[serial.SerialBase]:
    with serial.serial_for_url(sim.port, 115200, timeout=0.05) as port:
        yield port


def test_a_request_is_answered_and_both_directions_are_logged(sim: SimProcess) -> None:
    with opened(sim) as port:
        port.write(request(5, Packet.POSITION))
        (answer,) = read_frames(port, 1)
    assert struct.unpack("<f", answer.payload)[0] == pytest.approx(0.1)
    log = sim.log()
    (asked,), (answered,) = log.frames(">"), log.frames("<")
    assert asked.packet_id == Packet.REQUEST
    assert answered.payload == answer.payload
    assert answered.start_ns > asked.end_ns


def test_a_velocity_moves_the_joint(sim: SimProcess) -> None:
    with opened(sim) as port:
        port.write(velocity(5, 0.3))
        until(lambda: sim.state()["joints"]["e"]["position"] > 0.2)
        port.write(velocity(5, 0.0))
        until(lambda: sim.state()["joints"]["e"]["velocity"] == 0.0)
    assert sim.log().demanded() == {5: 0.0}


def test_the_driver_may_close_and_open_again(sim: SimProcess) -> None:
    for _ in range(3):
        with opened(sim) as port:
            port.write(request(4, Packet.MODE))
            read_frames(port, 1)


def test_bytes_keep_the_pace_of_the_line(sim: SimProcess) -> None:
    data = velocity(3, 0.0) * 300
    with opened(sim) as port:
        start = time.monotonic()
        port.write(data)
        until(lambda: len(sim.log().frames(">")) == 300)
    log = sim.log()
    frames = log.frames(">")
    carried = (frames[-1].end_ns - frames[0].start_ns) * 1e-9
    assert carried >= 0.99 * len(data) / 11520
    assert time.monotonic() - start >= 0.9 * len(data) / 11520
    assert log.data(">") == data


def test_a_purge_takes_back_what_has_not_left(pty_sim: SimProcess) -> None:
    with opened(pty_sim) as port:
        port.write(velocity(3, 0.1) * 200)
        until(lambda: len(pty_sim.log().data(">")) >= 100)
        termios.tcflush(port.fileno(), termios.TCOFLUSH)
        port.write(b"\0" + velocity(3, 0.0))
        until(lambda: bool(pty_sim.log().stops()))
    log = pty_sim.log()
    purged = pty_sim.state()["bytes_purged"]
    assert purged > 100
    assert len(log.data(">")) + purged == 2011
    assert log.motion_frames()[-1].end_ns <= log.stops()[0].time_ns
    until(lambda: pty_sim.state()["joints"]["c"]["velocity"] == 0.0)


def test_more_than_the_buffers_hold_is_carried_whole(pty_sim: SimProcess) -> None:
    data = velocity(3, 0.1) * 2000
    with opened(pty_sim) as port:
        port.write(data)
        until(lambda: len(pty_sim.log().data(">")) == len(data))
    assert pty_sim.log().data(">") == data


def test_unplug_ends_the_connection_and_plug_brings_it_back(sim: SimProcess) -> None:
    with opened(sim) as port:
        port.write(request(4, Packet.MODE))
        read_frames(port, 1)
        sim.command("unplug")
        with pytest.raises((OSError, serial.SerialException)):
            deadline = time.monotonic() + TIMEOUT
            while time.monotonic() < deadline:
                port.write(request(4, Packet.MODE))
                port.read(10)
    with pytest.raises((OSError, serial.SerialException)):
        serial.serial_for_url(sim.port, 115200).close()
    sim.command("plug")
    with opened(sim) as port:
        port.write(request(4, Packet.MODE))
        read_frames(port, 1)


def test_control_commands_act(pty_sim: SimProcess) -> None:
    for command in ("stall c", "flags 2 00200000", "dead 4", "noise 1", "position a 0.009"):
        assert pty_sim.command(command) == "ok"
    for command in (
        "object 0.005",
        "object none",
        "payload 0.5",
        "power off e",
        "flip 0.1 to-arm",
    ):
        assert pty_sim.command(command) == "ok"
    state = pty_sim.state()
    assert state["joints"]["c"]["blocked"]
    assert state["joints"]["a"]["position"] == pytest.approx(0.009)
    assert state["devices"]["b"]["flags"] == "00200000"
    assert state["devices"]["d"]["deaf"]
    assert not state["devices"]["e"]["powered"]
    assert state["faults"]["to-arm"]["rates"] == {"flip": 0.1}
    for command in ("clear", "free all", "alive all", "power on", "flags all 00000000"):
        assert pty_sim.command(command) == "ok"
    state = pty_sim.state()
    assert all(device["powered"] and not device["deaf"] for device in state["devices"].values())
    assert "unplug" in pty_sim.command("help")


@pytest.mark.parametrize(
    "command",
    ["jump", "drop", "drop 2", "drop x", "drop 0.1 up", "dead 6", "power maybe", "flags 1 0",
     "position e nan", "object -1", "state now"],
)  # fmt: skip
def test_commands_that_make_no_sense_are_refused(shared: SimProcess, command: str) -> None:
    with pytest.raises(SimError, match=r"^error: "):
        shared.command(command)


def test_a_client_that_reads_no_answers_is_hung_up_on(shared: SimProcess) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(TIMEOUT)
        client.connect(str(shared.control_path))
        with pytest.raises(ConnectionError):
            while True:
                client.sendall(b"help\n" * 100)
    assert shared.state()["joints"]


def test_it_does_not_outlive_whoever_made_it_and_was_killed(tmp_path: Path) -> None:
    script = (
        "import sys, time\n"
        "from reach_alpha5_driver.sim.process import SimProcess\n"
        f"with SimProcess(folder={str(tmp_path)!r}) as sim:\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as maker:
        assert maker.stdout is not None
        assert maker.stdout.readline() == "ready\n"
        left_behind = [tmp_path / "port", tmp_path / "control"]
        assert all(os.path.lexists(path) for path in left_behind)
        maker.kill()
    until(lambda: not any(os.path.lexists(path) for path in left_behind))


def test_without_a_leash_it_outlives_its_standard_input(tmp_path: Path) -> None:
    link = tmp_path / "port"
    with subprocess.Popen(
        [*SIM, "--link", str(link), "--control", str(tmp_path / "control")],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == f"ready {link}\n"
            with serial.serial_for_url(str(link), 115200, timeout=0.05) as port:
                port.write(request(5, Packet.POSITION))
                assert read_frames(port, 1)
            assert process.poll() is None
        finally:
            process.terminate()


def test_options_set_the_electronics_and_commands_are_obeyed_before_it_is_ready() -> None:
    options = (
        "--initial-mode", "disable",
        "--velocity-limits", "e=-0.1:0.2",
        "--current-limits", "a=-0.1:0.3",
        "--do", "identity all model 9",
        "--do", "stall c",
    )  # fmt: skip
    with SimProcess(*options) as sim:
        state = sim.state()
    assert {joint["mode"] for joint in state["joints"].values()} == {"disable"}
    assert state["joints"]["c"]["blocked"]
    assert state["devices"]["e"]["velocity_limits"] == pytest.approx([-0.1, 0.2])
    assert state["devices"]["a"]["current_limits"] == pytest.approx([-0.1, 0.3])
    assert state["devices"]["d"]["model"] == 9.0


def test_a_command_that_is_not_obeyed_before_the_start_ends_it_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = tmp_path / "port"
    assert main(["--link", str(link), "--do", "stall 9"]) == 1
    said = capsys.readouterr().err
    assert "--do 'stall 9'" in said
    assert "no device '9'" in said
    assert not link.is_symlink()


@pytest.fixture(scope="module")
def shared() -> Iterator[SimProcess]:
    with SimProcess() as running:
        yield running


def test_a_link_is_replaced_and_removed_but_a_file_is_not_touched(tmp_path: Path) -> None:
    link = tmp_path / "port"
    link.symlink_to("/nowhere")
    with SimProcess(folder=tmp_path) as sim:
        assert link.resolve().is_char_device()
        assert sim.port == str(link)
    assert not link.is_symlink()
    link.write_text("precious")
    with pytest.raises(SimError), SimProcess(folder=tmp_path):
        pass
    assert link.read_text() == "precious"


def test_a_link_that_another_simulation_has_taken_over_stays(tmp_path: Path) -> None:
    link = tmp_path / "port"
    with SimProcess(folder=tmp_path):
        link.unlink()
        link.symlink_to("/dev/null")
    assert os.readlink(link) == "/dev/null"


@pytest.mark.parametrize(
    "number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 0)], ids=["SIGINT", "SIGTERM"]
)
def test_signals_end_it_cleanly(tmp_path: Path, number: int, code: int) -> None:
    link, control = tmp_path / "port", tmp_path / "control"
    process = subprocess.Popen(
        [*SIM, "--link", str(link), "--control", str(control)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == f"ready {link}\n"
    process.send_signal(number)
    _, messages = process.communicate(timeout=TIMEOUT)
    assert process.returncode == code
    assert "Traceback" not in messages
    assert not link.is_symlink()
    assert not control.exists()


def test_it_stays_for_the_last_words_of_a_driver_that_leaves_with_it(pty_sim: SimProcess) -> None:
    with opened(pty_sim) as port:
        port.write(request(1, Packet.POSITION))
        read_frames(port, 1)
        pty_sim.process.send_signal(signal.SIGINT)
        for _ in range(20):  # a driver that takes a moment to notice the signal
            port.write(request(1, Packet.POSITION))
            read_frames(port, 1)
        port.write(velocity(0xFF, 0.0))
    assert pty_sim.process.wait(TIMEOUT) == 130
    assert [stop.device_id for stop in pty_sim.log().stops()] == [0xFF]


def test_the_log_survives_a_kill(pty_sim: SimProcess) -> None:
    with opened(pty_sim) as port:
        port.write(request(4, Packet.MODE))
        read_frames(port, 1)
        assert pty_sim.process is not None
        pty_sim.process.kill()
    assert len(pty_sim.log().frames("<")) == 1


def test_ctl_sends_a_command_from_the_shell(pty_sim: SimProcess) -> None:
    def ctl(*words: str) -> subprocess.CompletedProcess[str]:
        command = [*SIM, "ctl", str(pty_sim.control_path), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)

    assert ctl("stall", "3").stdout == "ok\n"
    assert pty_sim.state()["joints"]["c"]["blocked"]
    refused = ctl("stall", "9")
    assert refused.returncode == 1
    assert "no device" in refused.stdout
    assert "no command" in ctl("\udcff").stdout


@pytest.mark.parametrize(
    "options",
    [
        ["--initial-posture", "1,2"],
        ["--initial-posture", "nan,1,1,1,0"],
        ["--limits", "x=1:2"],
        ["--limits", "e=2:1"],
        ["--velocity-limits", "e=0.1:0.2"],
        ["--current-limits", "e=1"],
        ["--initial-mode", "asleep"],
        ["--baud", "0"],
        ["--noise", "-1"],
        ["--tcp", "70000"],
        ["--tcp", "0", "--link", "x"],
        ["ctl"],
    ],
)
def test_wrong_options_are_refused(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refusal:
        main(options)
    assert refusal.value.code == 2
    assert "error: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        ["--log", "/nowhere/log"],
        ["--link", "/nowhere/port"],
        ["--link", "/nowhere" + "e" * 300],
        ["--control", "/dev/null/nowhere"],
        ["--control", "/nowhere" + "e" * 300],
        ["ctl", "/nowhere/control", "state"],
    ],
    ids=lambda options: " ".join(options)[:30],
)
def test_places_that_cannot_be_are_named_without_a_traceback(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(options) == 1
    said = capsys.readouterr().err
    assert said.startswith("alpha5-sim: ")
    assert "/nowhere" in said


def test_a_log_that_takes_no_more_ends_it_with_the_reason(tmp_path: Path) -> None:
    link = tmp_path / "port"
    command = [*SIM, "--link", str(link), "--log", "/dev/full"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"ready {link}\n"
        with serial.serial_for_url(str(link), 115200) as port:
            port.write(velocity(5, 0.0))
            _, messages = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 1
    assert "No space left on device: '/dev/full'" in messages
    assert "Traceback" not in messages
    assert not link.is_symlink()
