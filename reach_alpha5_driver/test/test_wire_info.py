"""`alpha5-wire info` as a user runs it, against the simulated arm."""

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
import tty

import pytest

from reach_alpha5_driver.cli.wire import main
from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.protocol.packets import PacketId
from reach_alpha5_driver.sim.process import SimProcess
from reach_alpha5_driver.transport.serial import open_serial

COMMAND = [sys.executable, "-m", "reach_alpha5_driver.cli.wire", "info"]
DEADLINE = 60.0
PATIENT = ("--timeout", "30")
"""For a busy machine: a healthy arm answers within a second all the same."""

JOINTS = [device.joint for device in DEVICES]

URDF = """<robot name="drone"><link name="base_link"/><link name="base_link_frd"/>
<joint name="frd" type="fixed"><parent link="base_link"/><child link="base_link_frd"/>
<origin rpy="3.141592653589793 0 0"/></joint>
<link name="arm_base"/><joint name="mount" type="fixed"><parent link="base_link"/>
<child link="arm_base"/></joint>{joints}
<link name="tool"/><joint name="tip" type="fixed"><parent link="link_b"/><child link="tool"/>
<origin xyz="0 0 0.147"/></joint></robot>"""

CHAIN = (
    ("axis_e", "revolute", "arm_base", "0 0 0.014", "0 0 0", "0 0 1", 6.3, 0.5236),
    ("axis_d", "revolute", "link_e", "-0.02 0 0.033", "0 0 0", "0 1 0", 3.5, 0.5236),
    ("axis_c", "revolute", "link_d", "-0.04 0 -0.1453", "0 0 3.141592653589793", "0 1 0",
     3.5, 0.5236),
    ("axis_b", "revolute", "link_c", "0.02 0 0.033", "0 0 2.09439", "0 0 -1", 6.2, 0.8727),
    ("axis_a", "prismatic", "link_b", "0 0 0.1", "0 0 0", "0 0 1", 0.015, 0.003),
)  # fmt: skip


def description(folder, **uppers):
    """Write a small URDF of the arm, with other upper limits where given."""
    joints = "".join(
        f'<link name="link_{name[-1]}"/><joint name="{name}" type="{kind}">'
        f'<parent link="{parent}"/><child link="link_{name[-1]}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>'
        f'<limit lower="0" upper="{uppers.get(name, upper)}" velocity="{speed}" effort="9"/>'
        "</joint>"
        for name, kind, parent, xyz, rpy, axis, upper, speed in CHAIN
    )
    path = folder / "drone.urdf"
    path.write_text(URDF.format(joints=joints))
    return str(path)


@pytest.fixture
def run(capsys):
    """Run the tool in this process: arguments to exit status, output, error output."""

    def call(*words):
        status = main(["info", *words])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.fixture(
    params=[((), False), ((), True), (("--rs485",), False)], ids=["rs232", "tcp", "rs485"]
)
def sim(request):
    options, tcp = request.param
    with SimProcess(*options, tcp=tcp) as running:
        yield running


@pytest.fixture
def pty_sim():
    with SimProcess() as running:
        yield running


def test_B11_it_shows_what_every_device_says_and_sends_nothing_but_requests(sim, run):
    before = sim.state()["joints"]
    status, out, err = run(sim.port, *PATIENT)
    assert (status, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    for device in DEVICES:
        who, limits, inside = (row for row in rows if row[:1] == [device.joint])
        assert who[1:6] == [str(device.id), "5", str(5100 + device.id), "2.3.1", "standby"]
        assert limits[-4:] == ["-0.4", "to", "0.4", "A"]
        assert inside[1:3] == ["24", "V"]
    assert "0.01745 to 6.143 rad" in out
    assert "0.0013 to 0.0133 m" in out
    assert ["axis_b", "none"] in [row[:2] for row in rows]
    assert "--description" in out
    asked = sim.log().frames(">")
    assert asked
    assert {frame.packet_id for frame in asked} == {PacketId.REQUEST}
    after = sim.state()["joints"]
    for joint in before:
        assert after[joint]["mode"] == before[joint]["mode"]
        assert after[joint]["position"] == before[joint]["position"]


def test_json_has_the_same_for_programs(pty_sim, run):
    status, out, err = run(pty_sim.port, "--json", *PATIENT)
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert told["port"] == pty_sim.port
    assert told["missing"] == []
    assert told["mismatches"] == []
    assert [device["joint"] for device in told["devices"]] == JOINTS
    base, *_, wrist, jaws = told["devices"]
    assert base["position_limits_rad"] == [0.01745, 6.143]
    assert base["position_rad"] == pytest.approx(0.1)
    assert base["flags"] == []
    assert wrist["position_limits_rad"] == "none"
    assert jaws["position_limits_m"] == [0.0013, 0.0133]
    assert jaws["velocity_limits_m_s"] == [-0.003, 0.003]


def test_C10_limits_beyond_the_description_are_told(pty_sim, run, tmp_path):
    path = description(tmp_path, axis_e=5.0)
    status, out, err = run(pty_sim.port, "--description", path, *PATIENT)
    assert (status, err) == (0, "")
    (line,) = (line for line in out.splitlines() if "limits_wider" in line)
    assert "refuse planned motion" in line
    assert "axis_e" in line
    assert "6.143" in line
    assert "not compared" not in out


def test_an_arm_as_described_is_told_without_a_word_more(pty_sim, run, tmp_path):
    status, out, _ = run(pty_sim.port, "--description", description(tmp_path), "--json", *PATIENT)
    assert status == 0
    assert json.loads(out)["mismatches"] == []


def test_a_device_that_is_silent_is_named_and_the_others_are_shown(pty_sim, run):
    pty_sim.command("dead 3")
    status, out, err = run(pty_sim.port, "--timeout", "2")
    assert status == 1
    assert "axis_c (device 3)" in err
    assert "axis_d" not in err
    assert "connectors" in err
    assert sum("5105" in line for line in out.splitlines()) == 1


def test_an_arm_without_power_gets_advice_and_no_empty_table(pty_sim, run):
    pty_sim.command("power off all")
    status, out, err = run(pty_sim.port, "--timeout", "0.5")
    assert status == 1
    assert "axis_e" not in out
    assert "supply" in err
    assert "--baud" in err


def test_noise_on_the_line_gets_advice_of_its_own(run):
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    done = threading.Event()

    def chatter():
        while not done.wait(0.01):
            os.write(ours, b"\x55\xaa\x00")

    thread = threading.Thread(target=chatter)
    thread.start()
    try:
        status, _, err = run(os.ttyname(theirs), "--timeout", "0.5")
    finally:
        done.set()
        thread.join()
        os.close(ours)
        os.close(theirs)
    assert status == 1
    assert "no whole frame" in err


def test_frames_that_are_lost_are_asked_for_again(pty_sim, run):
    pty_sim.command("lose 0.1")
    status, out, _ = run(pty_sim.port, "--json", *PATIENT)
    assert status == 0
    assert all(device["identified"] for device in json.loads(out)["devices"])


@pytest.mark.parametrize("port", ["/dev/no-such-port", "nonsense://x", "socket://127.0.0.1:1"])
def test_a_port_that_cannot_be_opened_is_told(run, port):
    status, out, err = run(port)
    assert (status, out) == (1, "")
    assert port in err


def test_a_port_that_another_program_holds_is_told(pty_sim, run):
    held = open_serial(pty_sim.port, 115200)
    try:
        status, out, err = run(pty_sim.port)
    finally:
        held.close()
    assert (status, out) == (1, "")
    assert pty_sim.port in err
    assert "close it" in err or "held by" in err


def until(condition):
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.02)


def test_ctrl_c_ends_it_without_a_traceback(pty_sim):
    pty_sim.command("dead all")
    with subprocess.Popen(
        [*COMMAND, pty_sim.port, "--timeout", "1000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A test run that was started in the background ignores SIGINT, and its children with it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        try:
            until(lambda: len(pty_sim.log().frames(">")) > 3)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=DEADLINE)
        finally:
            process.kill()
    assert process.returncode == 130
    assert (out, err) == ("", "")


def test_a_terminal_sees_how_far_it_is(pty_sim):
    ours, theirs = pty.openpty()
    pty_sim.command("dead 3")
    try:
        done = subprocess.run(
            [*COMMAND, pty_sim.port, "--timeout", "2"],
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            timeout=DEADLINE,
        )
        said = os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 1
    assert "4 of 5 devices known" in said


def test_a_description_that_is_none_is_told_before_the_port_is_opened(run, tmp_path):
    for text in ("no xml", "<robot name='x'><link name='base_link'/></robot>"):
        path = tmp_path / "wrong.urdf"
        path.write_text(text)
        status, out, err = run("/dev/no-such-port", "--description", str(path))
        assert (status, out) == (1, "")
        assert str(path) in err
        assert "no-such-port" not in err
    status, _, err = run("/dev/no-such-port", "--description", str(tmp_path / "none"))
    assert status == 1
    assert "none" in err


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_a_timeout_that_is_none_is_refused(seconds, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["info", "/dev/no-such-port", f"--timeout={seconds}"])
    assert stopped.value.code == 2
    assert "above 0" in capsys.readouterr().err


def test_help(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["info", "--help"])
    assert stopped.value.code == 0
    out = capsys.readouterr().out
    assert "usage: alpha5-wire info" in out
    assert "nothing moves" in out
