"""`alpha5-wire` as a user runs it."""

import contextlib
import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import time
import tty
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reach_alpha5_driver.cli.compose import RECIPES
from reach_alpha5_driver.cli.wire import decode_texts, main
from reach_alpha5_driver.protocol.packets import STOP_FRAMES

GOLDEN = json.loads(Path(__file__).with_name("golden_frames.json").read_text())
WIRE = {frame["name"]: frame["wire"] for frame in GOLDEN["frames"]}
COMMAND = [sys.executable, "-m", "reach_alpha5_driver.cli.wire"]
DEADLINE = 20.0


@pytest.fixture
def run(capsys):
    """Run the tool in this process: arguments to exit status, output, error output."""

    def call(*words):
        try:
            status = main(words)
        except SystemExit as stopped:
            status = stopped.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "position jaws 4.123 mm",
            {"device": 1, "joint": "axis_a", "packet": "position", "position_m": 0.004123},
        ),
        (
            "velocity dev5 -0.25",
            {"device": 5, "joint": "axis_e", "packet": "velocity", "velocity_rad_s": -0.25},
        ),
        ("velocity all 0", {"device": 255, "joint": "all", "packet": "velocity", "velocity": 0.0}),
        (
            "current dev3 150 mA",
            {"device": 3, "joint": "axis_c", "packet": "current", "current_a": 0.15},
        ),
        (
            "reply hardware status dev3",
            {
                "device": 3,
                "joint": "axis_c",
                "packet": "hardware_status",
                "flags": ["temperature", "low_supply"],
            },
        ),
        (
            "position limits dev3 max 3.22 min 0",
            {
                "device": 3,
                "joint": "axis_c",
                "packet": "position_limits",
                "lower_position_rad": 0.0,
                "upper_position_rad": 3.22,
            },
        ),
    ],
)
def test_decode_says_it_in_si_units(run, name, expected):
    status, out, _ = run("decode", WIRE[name])
    assert status == 0
    assert objects(out) == [expected]


@pytest.mark.parametrize("frame", GOLDEN["frames"], ids=lambda f: f["name"])
def test_decode_understands_each_golden_frame(run, frame):
    status, out, _ = run("decode", frame["wire"])
    (said,) = objects(out)
    assert status == 0
    assert said["device"] == frame["device_id"]
    assert "refused" not in said
    # SAVE is the one packet that says nothing but its name.
    assert len(said) > 3 or said["packet"] == "save"


@pytest.mark.parametrize(
    "words",
    [
        ["06036001055200"],
        ["060360010552"],
        ["0x06036001055200"],
        ["06 03 60 01 05 52 00"],
        ["06", "03", "60", "01", "05", "52", "00"],
        ["0x06,0x03,0x60,0x01,0x05,0x52,0x00"],
        ["6:3:60:1:5:52:0"],
        ["06036001", "055200"],
    ],
)
def test_decode_takes_hex_as_people_write_it(run, words):
    status, out, _ = run("decode", *words)
    assert status == 0
    assert objects(out) == [
        {"device": 1, "joint": "axis_a", "packet": "request", "packets": ["position"]}
    ]


@pytest.mark.parametrize("stream", GOLDEN["streams"], ids=lambda s: s["name"])
def test_decode_takes_a_stream(run, stream):
    status, out, _ = run("decode", stream["wire"])
    assert status == 0
    assert [said["device"] for said in objects(out)] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([GOLDEN["reject"][0]["wire"]], "bad_length"),
        ([GOLDEN["reject"][1]["wire"]], "bad_version"),
        (["010101063f020108ec00"], "bad_crc"),
        (["ff01063f020108eb00"], "bad_cobs"),
        (["0102"], "too_short"),
        (["00"], "too_short"),
        (["11" * 100], "too_long"),
        (["07010f0301051a00zz"], "bad_hex"),
        (["123"], "bad_hex"),
        (["0x"], "bad_hex"),
        (["-1"], "bad_hex"),
        (["ä"], "bad_hex"),
    ],
)
def test_decode_refuses_with_a_reason(run, words, code):
    status, out, _ = run("decode", *words)
    assert status == 1
    assert code in {said["refused"] for said in objects(out)}
    assert all(said["reason"] for said in objects(out))


def test_decode_goes_on_after_a_refusal(run):
    status, out, _ = run("decode", GOLDEN["reject"][0]["wire"] + WIRE["velocity all 0"])
    assert status == 1
    assert [said.get("refused") for said in objects(out)] == ["bad_length", None]


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=200))
def test_decode_says_something_of_any_bytes(data):
    said = list(decode_texts([data.hex()]))
    assert said
    assert all("packet" in line or line["reason"] for line in said)
    assert json.dumps(said, allow_nan=False)


@settings(deadline=None)
@given(st.text(max_size=50))
def test_decode_says_something_of_any_text(text):
    assert list(decode_texts([text]))


def test_decode_reads_standard_input():
    text = f"{WIRE['velocity all 0']}\n{WIRE['reply voltage 24 V']}\n"
    done = subprocess.run(
        [*COMMAND, "decode", "-"], input=text, capture_output=True, text=True, timeout=DEADLINE
    )
    assert done.returncode == 0
    assert [said["packet"] for said in objects(done.stdout)] == ["velocity", "voltage"]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("velocity --device axis_e -0.25", "velocity dev5 -0.25"),
        ("velocity --device 5 -25e-2", "velocity dev5 -0.25"),
        ("velocity --device axis_a 0.0005", "velocity dev1 0.5"),
        ("velocity --device all 0", "velocity all 0"),
        ("velocity 0 --device all", "velocity all 0"),
        ("position --device axis_a 0.004123", "position jaws 4.123 mm"),
        ("current --device axis_c 0.15", "current dev3 150 mA"),
        ("mode --device all standby", "mode all standby"),
        ("mode --device 5 zero-velocity", "mode dev5 zero velocity"),
        ("request --device 1 position velocity current", "request dev1 pos vel cur"),
        ("request --device 5 0x90 temperature hardware-status", "request dev5 volt temp status"),
        ("heartbeat-packets --device 1 position velocity current", "heartbeat packets dev1"),
        ("heartbeat-frequency --device 1 10", "heartbeat frequency dev1 10"),
        ("position-limits --device 3 0 3.22", "position limits dev3 max 3.22 min 0"),
        ("velocity-limits --device 3 -0.5 0.5", "velocity limits dev3"),
        ("save --device 1", "save dev1"),
    ],
)
def test_encode_makes_golden_frames(run, words, name):
    assert run("encode", *words.split()) == (0, WIRE[name] + "\n", "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("position-velocity --device axis_a 0.005 0.001", {"position_m": 0.005}),
        ("current-limits --device 4 -0.4 0.4", {"upper_current_a": 0.4}),
        ("position-limits --device 2 none none", {"upper_position_rad": None}),
        ("heartbeat-packets --device 2 none", {"packets": []}),
    ],
)
def test_what_encode_makes_decode_reads(run, words, said):
    _, wire, _ = run("encode", *words.split())
    status, out, _ = run("decode", wire)
    assert status == 0
    assert objects(out)[0].items() >= said.items()


def test_encode_stop(run):
    assert run("encode", "stop") == (0, STOP_FRAMES.hex() + "\n", "")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("velocity --device axis_a 3", "m/s"),
        ("velocity --device axis_e 30", "rad/s"),
        ("velocity --device axis_e 0.1rad", "rad/s"),
        ("position --device axis_a 7.5", "3 mm is 0.003"),
        ("position --device axis_d 90", "degrees"),
        ("current --device axis_d 150", "mA"),
        ("velocity --device axis_e nan", "finite"),
        ("velocity --device all 0.1", "only zero"),
        ("position --device all 0", "one device"),
        ("velocity --device axis_f 0.1", "axis_e (5)"),
        ("velocity --device 0 0.1", "axis_e (5)"),
        ("mode --device 1 go", "standby"),
        ("request --device all position", "one device"),
        ("request --device 1 nonsense", "position"),
        ("request --device 1 0xff", "never"),
        ("request --device 1 0", "1..255"),
        ("heartbeat-frequency --device 1 256", "0..255"),
        ("heartbeat-frequency --device 1 fast", "whole number"),
        ("position-limits --device 3 3.22 0", "above"),
        ("position-limits --device 3 0 0", "none"),
        ("reset --device 1", "never"),
        ("bootloader", "never"),
        ("device-id --device 1 3", "never"),
        ("0x53", "never"),
        ("position-limits --device axis_e 0 1e-50", "no limit"),
        ("velocity --device -1 0", "no device '-1'"),
    ],
)
def test_encode_refuses_and_says_why(run, words, hint):
    status, out, err = run("encode", *words.split())
    assert status == 1
    assert out == ""
    assert hint in err


@pytest.mark.parametrize("words", ["", "encode", "encode nonsense", "encode velocity 1", "decode"])
def test_wrong_usage_exits_with_2(run, words):
    status, out, err = run(*words.split())
    assert (status, out) == (2, "")
    assert "usage" in err


@pytest.mark.parametrize(
    "words",
    ["", "decode", "encode", "sniff", *(f"encode {name}" for name in RECIPES)],
)
def test_help(run, words):
    status, out, _ = run(*words.split(), "--help")
    assert status == 0
    assert "usage: alpha5-wire" in out


def test_the_examples_of_the_help_work(run):
    _, out, _ = run("--help")
    examples = [line.split()[1:] for line in out.splitlines() if line.startswith("  alpha5-wire")]
    offline = [words for words in examples if words[0] != "sniff" and "-" not in words]
    assert len(offline) >= 5
    for words in offline:
        assert run(*words)[0] == 0, words


@contextlib.contextmanager
def sniffing(port):
    """A running `sniff`, killed at the end if it still runs."""
    process = subprocess.Popen(
        [*COMMAND, "sniff", port],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A test run that was started in the background ignores SIGINT, and its children with it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def lines_until(process, count, feed):
    """Return the first `count` JSON lines, calling `feed` until they are there."""
    lines = []
    deadline = time.monotonic() + DEADLINE
    while len(lines) < count:
        assert time.monotonic() < deadline, lines
        feed()
        while select.select([process.stdout], [], [], 0.05)[0] and len(lines) < count:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            lines.append(json.loads(line))
    return lines


@pytest.fixture
def terminal():
    """A pseudo-terminal: our end as a descriptor, and the name of the other."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    yield ours, os.ttyname(theirs)
    for descriptor in (ours, theirs):
        with contextlib.suppress(OSError):
            os.close(descriptor)


def test_sniff_prints_frames_and_refusals_writes_nothing_and_ends_on_ctrl_c(terminal):
    ours, name = terminal
    stream = bytes.fromhex(WIRE["reply voltage 24 V"] + GOLDEN["reject"][0]["wire"])
    with sniffing(name) as process:
        said = lines_until(process, 2, lambda: os.write(ours, stream))
        assert said[0]["voltage_v"] == 24.0
        assert said[1]["refused"] == "bad_length"
        assert all(abs(line["time_s"] - time.time()) < 60 for line in said)
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE) == 0
        assert process.stderr.read() == ""
    assert select.select([ours], [], [], 0)[0] == [], "sniff wrote to the port"


def test_sniff_tells_when_the_port_is_lost():
    server = socket.create_server(("127.0.0.1", 0))
    url = f"socket://127.0.0.1:{server.getsockname()[1]}"
    with server, sniffing(url) as process:
        server.settimeout(DEADLINE)
        peer, _ = server.accept()
        with peer:
            frame = bytes.fromhex(WIRE["velocity all 0"])
            lines_until(process, 1, lambda: peer.sendall(frame))
        assert process.wait(DEADLINE) == 1
        assert url in process.stderr.read()


@pytest.mark.parametrize("port", ["/dev/no-such-port", "nonsense://x", "socket://127.0.0.1:1"])
def test_sniff_tells_when_the_port_cannot_be_opened(run, port):
    status, out, err = run("sniff", port)
    assert (status, out) == (1, "")
    assert port in err


def test_sniff_refuses_a_baud_rate_that_is_none(run, terminal):
    _, name = terminal
    for rate in ("-5", str(10**14)):
        status, out, err = run("sniff", name, "--baud", rate)
        assert (status, out) == (1, "")
        assert name in err


@pytest.mark.parametrize("words", ["encode stop", "decode 00", "decode - <&-", "encode stop --x"])
@pytest.mark.parametrize("output", [">&-", "> /dev/full"])
def test_an_output_that_takes_nothing_is_a_failure_without_a_traceback(words, output):
    command = " ".join([*COMMAND, words, output])
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, timeout=DEADLINE)
    assert done.returncode in (1, 2)
    assert done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_closed_standard_input_holds_nothing():
    command = " ".join([*COMMAND, "decode - <&-"])
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=DEADLINE)
    assert (done.returncode, done.stderr) == (1, "")
    assert objects(done.stdout)[0]["refused"] == "too_short"


def test_a_reader_that_has_had_enough_gets_no_traceback():
    text = (WIRE["velocity all 0"] + "\n") * 20000
    process = subprocess.Popen(
        [*COMMAND, "decode", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(text)
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    assert process.wait(DEADLINE) == 1
    assert process.stderr.read() == ""
    process.stderr.close()
