"""The player: what it plays and when, and above all what it does not play."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("rosbags", reason="rosbags reads bags")

from bags_rig import PATIENCE, Peer, peer, until
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability
from rosbags.interfaces import QosTime as Time
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from reach_alpha5_bags.definitions import definition
from reach_alpha5_bags.names import Topic
from reach_alpha5_bags.player.choice import COMMAND_TYPES, choose
from reach_alpha5_bags.player.cli import main
from reach_alpha5_bags.player.playing import installed_hash
from reach_alpha5_bags.settings import profile_of
from reach_alpha5_msgs.msg import ArbiterState, DriverCommand

NANO = 1_000_000_000
START = 1_760_000_000 * NANO
KEPT = Qos(
    QosHistory.KEEP_LAST, 1, QosReliability.RELIABLE, QosDurability.TRANSIENT_LOCAL,
    Time(0, 0), Time(0, 0), QosLiveliness.AUTOMATIC, Time(0, 0), False,
)  # fmt: skip
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
PROFILE = profile_of()

SHOWN = {
    "arm_state": "reach_alpha5_msgs/msg/ArmState",
    "arbiter_state": "reach_alpha5_msgs/msg/ArbiterState",
    "joint_states": "sensor_msgs/msg/JointState",
    "gripper_tel": "reach_alpha5_msgs/msg/GripperTel",
    "obstacles": "reach_alpha5_msgs/msg/Obstacles",
    "robot_description": "std_msgs/msg/String",
    "/tf": "tf2_msgs/msg/TFMessage",
    "/tf_static": "tf2_msgs/msg/TFMessage",
}
ASKING = {
    "driver_command": "reach_alpha5_msgs/msg/DriverCommand",
    "teleop/gripper_ctrl": "reach_alpha5_msgs/msg/GripperCtrl",
    "app/twist": "geometry_msgs/msg/TwistStamped",
    "app/twist_ctrl": "reach_alpha5_msgs/msg/TwistCtrl",
    "planner/joint_ctrl": "reach_alpha5_msgs/msg/JointCtrl",
    "joint_ctrl": "reach_alpha5_msgs/msg/JointCtrl",
    "estop": "reach_alpha5_msgs/msg/EStop",
    "estop/deck/check_in": "reach_alpha5_msgs/msg/EStopCheckIn",
    "estop/deck/challenge": "reach_alpha5_msgs/msg/EStopChallenge",
    "teleop/heartbeat": "reach_alpha5_msgs/msg/ClientHeartbeat",
    "joy": "sensor_msgs/msg/Joy",
    "joy/set_feedback": "sensor_msgs/msg/JoyFeedback",
    "joint_jog": "control_msgs/msg/JointJog",
    "preset": "std_msgs/msg/UInt8",
    "motion_permitted": "std_msgs/msg/Bool",
}


def topics(names: dict[str, str], namespace: str = "/alpha5") -> list[Topic]:
    return [Topic(n if n[0] == "/" else f"{namespace}/{n}", kind, 1) for n, kind in names.items()]


@pytest.mark.parametrize("namespace", ["/alpha5", "/drone/left", ""])
def test_what_shows_is_played_and_what_asks_is_not(namespace: str) -> None:
    shown, asking = topics(SHOWN, namespace), topics(ASKING, namespace)
    choice = choose(asking + shown, PROFILE)
    assert [played.topic for played in choice.played] == shown
    assert all(played.name == played.topic.name for played in choice.played)
    assert set(choice.refused) == {topic.name for topic in asking}


@pytest.mark.parametrize("kind", sorted(COMMAND_TYPES))
def test_a_command_is_not_played_under_whatever_name(kind: str) -> None:
    choice = choose([Topic("/alpha5/joint_states", kind, 1)], PROFILE)
    assert not choice.played
    assert "may act on" in choice.refused["/alpha5/joint_states"]


def test_every_topic_of_the_profile_that_does_not_show_is_refused() -> None:
    for entry in PROFILE.arm:
        name = entry.name.replace("*", "x")
        choice = choose([Topic(f"/a/{name}", "some_msgs/msg/Thing", 1)], PROFILE)
        assert bool(choice.played) == entry.shows, name


@pytest.mark.parametrize("name", ["/thruster_1/cmd", "/alpha5/app/joint_states/x", "/cmd_vel"])
def test_what_nobody_knows_is_not_played(name: str) -> None:
    assert "not known" in choose([Topic(name, "std_msgs/msg/Float64", 1)], PROFILE).refused[name]


def test_a_command_is_played_only_if_it_is_named_itself() -> None:
    choice = choose(topics(ASKING), PROFILE, ["/alpha5/joy"])
    assert [played.name for played in choice.played] == ["/alpha5/joy"]


def test_one_arm_of_two_is_played_in_another_namespace() -> None:
    both = topics({"joint_states": SHOWN["joint_states"]}, "/left")
    both += topics({"joint_states": SHOWN["joint_states"], "/tf": SHOWN["/tf"]}, "/leftover")
    choice = choose(both, PROFILE, source="left", target="/shown/")
    assert [played.name for played in choice.played] == ["/shown/joint_states", "/tf"]
    assert choice.refused == {"/leftover/joint_states": "it is of another namespace"}


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds of joints, a state that is kept, and a command."""
    folder = tmp_path_factory.mktemp("bags") / "dive"
    with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:

        def add(name: str, kind: str, *qos: Qos):
            return writer.add_connection(
                f"/alpha5/{name}", kind, msgdef=definition(kind), rihs01=installed_hash(kind),
                offered_qos_profiles=qos,
            )  # fmt: skip

        joints = add("joint_states", "sensor_msgs/msg/JointState")
        states = add("arbiter_state", "reach_alpha5_msgs/msg/ArbiterState", KEPT)
        commands = add("driver_command", "reach_alpha5_msgs/msg/DriverCommand")
        writer.write(states, START, serialize_message(ArbiterState(owner="teleop")))
        for number in range(101):
            at = START + number * NANO // 50
            message = JointState(name=["axis_e"], position=[float(number)])
            writer.write(joints, at, serialize_message(message))
            writer.write(commands, at, serialize_message(DriverCommand(sequence=number)))
    return folder


@contextmanager
def playing(bag: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "reach_alpha5_bags.player.cli", str(bag), *arguments],
        stderr=subprocess.PIPE, text=True, env={**os.environ},
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


class Hearer:
    """Hears what is played."""

    def __init__(self, node: Peer, namespace: str = "/alpha5") -> None:
        self.joints: list[float] = []
        self.owners: list[str] = []
        self.commands: list[DriverCommand] = []
        self.clocks: list[float] = []
        node.create_subscription(
            JointState,
            f"{namespace}/joint_states",
            lambda m: self.joints.append(m.position[0]),
            200,
        )
        node.create_subscription(
            ArbiterState, f"{namespace}/arbiter_state", lambda m: self.owners.append(m.owner),
            LATCHED,
        )  # fmt: skip
        node.create_subscription(
            DriverCommand, f"{namespace}/driver_command", self.commands.append, 200
        )
        node.create_subscription(
            Clock,
            "/clock",
            lambda m: self.clocks.append(m.clock.sec + m.clock.nanosec / NANO),
            200,
        )


@pytest.fixture
def other() -> Iterator[Peer]:
    with peer() as node:
        yield node


def test_what_a_bag_shows_is_played_whole_and_its_commands_are_not(bag: Path, other: Peer) -> None:
    heard = Hearer(other)
    with playing(bag, "--clock", "--loop", "--rate", "4") as process:
        # The first time may be over before the two have found each other.
        until(lambda: heard.joints.count(100.0) > 1, "all is played after the beginning was seen")
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said
    assert "not played: /alpha5/driver_command" in said
    first = heard.joints.index(100.0) + 1
    assert heard.joints[first : first + 101] == [float(n) for n in range(101)]
    assert set(heard.owners) == {"teleop"}
    assert heard.commands == []
    assert min(heard.clocks) >= START / NANO
    assert max(heard.clocks) <= START / NANO + 2.0


def test_it_may_begin_later_and_shows_what_had_been_kept_until_then(
    bag: Path, other: Peer
) -> None:
    heard = Hearer(other)
    with playing(bag, "--from", "1.0", "--loop", "--rate", "4") as process:
        until(lambda: heard.joints.count(100.0) > 1 and heard.owners, "it plays")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    assert min(heard.joints) == 50.0
    assert set(heard.owners) == {"teleop"}


def test_it_ends_with_the_bag(bag: Path) -> None:
    with playing(bag, "--rate", "10") as process:
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said
    assert "plays 2 topics, 2.0 s" in said


def test_it_plays_in_another_namespace_over_and_over_until_it_is_ended(
    bag: Path, other: Peer
) -> None:
    heard = Hearer(other, "/shown")
    options = ("--namespace", "alpha5", "--to", "shown", "--rate", "4", "--loop")
    with playing(bag, *options) as process:
        until(lambda: heard.joints.count(60.0) > 2, "it plays again and again")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0


def test_it_does_not_play_where_an_arm_is_running(bag: Path, other: Peer) -> None:
    other.create_publisher(JointState, "/alpha5/joint_states", 10)
    heard = Hearer(other)
    with playing(bag, "--loop") as process:
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1
    assert "somebody else publishes /alpha5/joint_states" in said
    assert heard.commands == []
    with playing(bag, "--beside") as process:
        until(lambda: heard.joints, "it plays beside it, if it is told to")


def test_it_ends_when_an_arm_starts_while_it_plays(bag: Path, other: Peer) -> None:
    heard = Hearer(other)
    with playing(bag, "--loop") as process:
        until(lambda: heard.joints, "it plays")
        other.create_publisher(ArbiterState, "/alpha5/arbiter_state", LATCHED)
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1
    assert "somebody else publishes /alpha5/arbiter_state" in said


def test_a_message_that_was_another_one_then_is_not_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Serialised bytes of the one would be read as those of the other."""
    kind = "sensor_msgs/msg/JointState"
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg("float64 position\n", kind))
    with Writer(tmp_path / "old", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection("/alpha5/joint_states", kind, typestore=store)
        writer.write(connection, START, store.serialize_cdr(store.types[kind](1.0), kind))
    assert main([str(tmp_path / "old")]) == 2
    said = capsys.readouterr().err
    assert f"{kind} was another one when this was recorded" in said


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["{tmp}/nowhere"], "no such file"),
        (["{bag}", "--to", "x"], "--to needs --namespace"),
        (["{bag}", "--force", "/alpha5/joy"], "it has no /alpha5/joy"),
        (["{bag}", "--namespace", "elsewhere"], "nothing in it that may be played"),
    ],
)
def test_what_cannot_be_played_is_said(
    bag: Path, tmp_path: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word.format(tmp=tmp_path, bag=bag) for word in arguments]) == 2
    assert re.search(told, capsys.readouterr().err)


@pytest.mark.parametrize("rate", ["0", "-1", "nan", "fast", "2000"])
def test_a_rate_that_is_none_is_refused(bag: Path, rate: str) -> None:
    with pytest.raises(SystemExit):
        main([str(bag), "--rate", rate])
