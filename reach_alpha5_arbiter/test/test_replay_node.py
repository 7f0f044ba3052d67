"""A real session of the real arbiter over DDS, recorded as bytes, and replayed by the command."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("rosbags", reason="rosbags reads and writes bags")

from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from replay_bag import TYPES, Recorder
from std_srvs.srv import Trigger
from test_arbiter_node import (
    LATEST,
    NAMESPACE,
    PATIENCE,
    Peers,
    arbiter,
    environment,
    peers,
    until,
)

from reach_alpha5_msgs.msg import DriverCommand, EStop
from reach_alpha5_msgs.srv import AcquireLease

__all__ = ["arbiter", "peers"]  # the fixtures of the rig

Recorded = list[tuple[str, bytes, int]]


def record(peers: Peers) -> Recorded:
    """Take down what the arbiter publishes, as bytes, in the order of arrival."""
    recorded: Recorded = []

    def take(topic: str, data: bytes) -> None:
        recorded.append((topic, data, time.time_ns()))

    for topic, kind in TYPES.items():
        qos = LATEST if topic == "arbiter_state" else QoSProfile(depth=1000)
        peers.create_subscription(kind, topic, partial(take, topic), qos, raw=True)
    until(lambda: {topic for topic, _, _ in recorded} >= {"arbiter_journal"}, "the journal")
    return recorded


def replay(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "reach_alpha5_arbiter.replay.cli", str(folder)],
        capture_output=True,
        text=True,
        timeout=10 * PATIENCE,
        check=False,
    )


def write(recorded: Recorded, folder: Path) -> Path:
    with Recorder(folder, NAMESPACE) as recorder:
        for topic, data, at in recorded:
            recorder.write(topic, data, at)
    return folder


def insist(ask: Callable[[], object], condition: Callable[[], object], what: str) -> None:
    """Ask again and again until `condition` holds: on a busy machine a source may lapse meanwhile.

    What comes of it is not asserted here: whatever happened, the replay must say the same.
    """
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"in vain: {what}"
        ask()
        again = time.monotonic() + 0.3
        while not condition() and time.monotonic() < again:
            time.sleep(0.005)


def jog(peers: Peers, name: str) -> None:
    """Bring a source to move the arm."""
    peers.beating.add(name)
    take = AcquireLease.Request(source=name, client_id=f"{name}-1", take=True)
    before = len(peers.words(DriverCommand.INPUT))

    def ask() -> None:
        if peers.state.owner != name:
            peers.ask(AcquireLease, "acquire_lease", take)
        peers.say(name, 0.0)
        peers.say(name, 1.0)

    insist(ask, lambda: len(peers.words(DriverCommand.INPUT)) > before + 2, f"{name} moves")


def dive(peers: Peers) -> None:
    """Let two people, an e-stop and a broken command happen to the arbiter."""
    jog(peers, "teleop")
    insist(
        lambda: peers.say("teleop", float("nan")),
        lambda: peers.state.last_refusal.code == "not_finite",
        "nonsense is refused",
    )
    jog(peers, "teleop")
    jog(peers, "app")
    peers.estops.publish(EStop(level=EStop.CUT, source="diver", reason="tangled"))
    until(lambda: peers.state.estop_latched, "the latch")
    insist(
        lambda: peers.say("app", 1.0),
        lambda: peers.state.last_refusal.code == "estop_latched",
        "a refusal",
    )
    insist(
        lambda: peers.ask(Trigger, "reset", Trigger.Request()),
        lambda: not (peers.state.estop_latched or peers.arm.emo),
        "the latches are cleared",
    )
    jog(peers, "app")
    peers.beating.discard("app")
    until(lambda: peers.state.last_stop_cause == "source_silent", "the app falls silent")
    jog(peers, "teleop")


def test_a_recorded_session_is_replayed_with_the_same_decisions(
    peers: Peers, arbiter: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    recorded = record(peers)
    dive(peers)
    arbiter.send_signal(signal.SIGINT)
    assert arbiter.wait(PATIENCE) == 0
    until(lambda: peers.state.last_stop_cause == "shutdown", "the last state")
    commands = [data for topic, data, _ in recorded if topic == "driver_command"]

    done = replay(write(recorded, tmp_path / "dive"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same decisions" in done.stdout
    (line,) = re.findall(r"driver_command: (\d+) compared, (\d+) .* (\d+) sent", done.stdout)
    compared, uncovered, unrecorded = map(int, line)
    # The first stop came before the recorder: the journal was not read then.
    assert compared + uncovered == len(commands)
    assert compared > 20
    assert uncovered <= 2
    assert unrecorded == 0
    # To the last word: the stop on exit is in the journal, too.
    assert deserialize_message(commands[-1], DriverCommand).kind == DriverCommand.STOP

    # One number of one command is another one.
    place, command = next(
        (place, deserialize_message(data, DriverCommand))
        for place, (topic, data, _) in enumerate(recorded)
        if topic == "driver_command" and place > len(recorded) // 2
    )
    command.lifetime.nanosec ^= 1
    flipped = list(recorded)
    flipped[place] = ("driver_command", serialize_message(command), recorded[place][2])
    done = replay(write(flipped, tmp_path / "flipped"))
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"DIFFERENT: driver_command {command.sequence}" in done.stdout
    assert re.search(r"^  lifetime: live \d+, replayed \d+$", done.stdout, re.MULTILINE)


def test_a_recording_that_begins_late_or_sees_the_arbiter_start_anew_is_replayed(
    peers: Peers, arbiter: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    jog(peers, "teleop")
    recorded = record(peers)
    jog(peers, "teleop")
    arbiter.kill()
    arbiter.wait()
    heard = len(peers.heard)
    second = subprocess.Popen(
        [
            *(sys.executable, "-m", "reach_alpha5_arbiter.node"),
            *("--ros-args", "-r", f"__ns:={NAMESPACE}"),
        ],
        env=environment(),
    )
    try:
        until(lambda: len(peers.heard) > heard, "another arbiter speaks")
        jog(peers, "teleop")
    finally:
        second.terminate()
        assert second.wait(PATIENCE) == 0
    done = replay(write(recorded, tmp_path / "two"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 runs of the arbiter" in done.stdout
