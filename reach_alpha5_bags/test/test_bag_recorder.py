"""The recorder over real DDS: what is published is in the bag, whatever happens to the disk."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("rosbags", reason="rosbags reads bags")
pytest.importorskip("mcap", reason="mcap writes bags")

from bags_rig import PATIENCE, Peer, content, peer, recording, until
from mcap.reader import make_reader
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from sensor_msgs.msg import JointState, Joy

from reach_alpha5_bags.definitions import definition
from reach_alpha5_bags.reading import Bag
from reach_alpha5_msgs.msg import ArbiterState, ArmState, GripperCtrl

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LOSSY = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
MEBI = 1 << 20


@pytest.fixture
def said_by(request: pytest.FixtureRequest):
    with peer() as node:
        yield node


def numbered(count: int, begin: int = 0) -> list[JointState]:
    return [JointState(name=["axis_e"], position=[float(n)]) for n in range(begin, begin + count)]


def matched(publisher, count: int = 1) -> None:
    until(lambda: publisher.get_subscription_count() >= count, "the recorder hears it")


def test_what_is_published_is_in_the_bag_whatever_its_qos_and_namespace(
    said_by: Peer, tmp_path: Path
) -> None:
    states = said_by.create_publisher(ArbiterState, "/left/arbiter_state", LATCHED)
    states.publish(ArbiterState(owner="early"))  # before anybody listens
    pads = said_by.create_publisher(Joy, "/left/joy", LOSSY)
    joints = said_by.create_publisher(JointState, "/right/joint_states", 100)
    other = said_by.create_publisher(JointState, "/somewhere/joint_states", 100)
    with recording(tmp_path / "dive", "left", "/right/") as recorder:
        recorder.wait_for_topics("/left/arbiter_state", "/left/joy", "/right/joint_states")
        for publisher in (pads, joints):
            matched(publisher)
        # One that appears late.
        late = said_by.create_publisher(GripperCtrl, "/right/app/gripper_ctrl", 10)
        matched(late)
        for message in numbered(50):
            joints.publish(message)
            other.publish(message)
        late.publish(GripperCtrl(speed_modifier=0.25))
        assert joints.wait_for_all_acked() and late.wait_for_all_acked()
        until(lambda: pads.publish(Joy(axes=[0.5])) or _has(tmp_path / "dive", "/left/joy"), "joy")
        assert recorder.end() == 0
        assert "; 0 missing" in recorder.said()
    found = content(tmp_path / "dive")
    assert [m.owner for m in found["/left/arbiter_state"]] == ["early"]
    assert [m.position[0] for m in found["/right/joint_states"]] == list(range(50))
    assert [m.speed_modifier for m in found["/right/app/gripper_ctrl"]] == [0.25]
    assert {tuple(m.axes) for m in found["/left/joy"]} == {(0.5,)}
    assert not any(topic.startswith("/somewhere") for topic in found)


def _has(folder: Path, topic: str) -> bool:
    """Say whether a bag that is being written has a topic already."""
    try:
        with Bag(folder) as bag:
            return topic in bag.topics
    except Exception:
        return False


def record_some(said_by: Peer, folder: Path, **options) -> None:
    states = said_by.create_publisher(ArbiterState, "/alpha5/arbiter_state", LATCHED)
    arms = said_by.create_publisher(ArmState, "/alpha5/arm_state", 10)
    states.publish(ArbiterState(owner="teleop"))
    with recording(folder, **options) as recorder:
        recorder.wait_for_topics("/alpha5/arbiter_state", "/alpha5/arm_state")
        matched(arms)
        arms.publish(ArmState())
        assert arms.wait_for_all_acked()
        until(lambda: _has(folder, "/alpha5/arbiter_state"), "the state was written")
        assert recorder.end() == 0


def test_a_bag_opens_with_rosbags_and_with_mcap_and_has_the_definitions_of_the_packages(
    said_by: Peer, tmp_path: Path
) -> None:
    folder = tmp_path / "dive"
    record_some(said_by, folder)
    topics = {"/alpha5/arbiter_state": ArbiterState, "/alpha5/arm_state": ArmState}

    with AnyReader([folder]) as bag:
        assert {c.topic for c in bag.connections} >= set(topics)
        read = {c.topic for c, _, _ in bag.messages()}
        assert read >= set(topics)
        for connection in bag.connections:
            if connection.topic not in topics:
                continue
            assert connection.msgdef.data == definition(connection.msgtype)
            store = get_typestore(Stores.EMPTY)
            store.register(get_types_from_msg(connection.msgdef.data, connection.msgtype))
            # The hash that ROS itself gives to the type.
            assert connection.digest == store.hash_rihs01(connection.msgtype)
            (offered,) = connection.ext.offered_qos_profiles
            is_latched = connection.topic == "/alpha5/arbiter_state"
            assert (offered.durability.name == "TRANSIENT_LOCAL") == is_latched
            assert offered.reliability.name == "RELIABLE"

    with (folder / "dive_0.mcap").open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        assert reader.get_header().profile == "ros2"
        summary = reader.get_summary()
        assert summary.chunk_indexes[0].compression == "zstd"
        assert {c.topic for c in summary.channels.values()} >= set(topics)
        assert {s.encoding for s in summary.schemas.values()} == {"ros2msg"}
        count = sum(1 for _ in reader.iter_messages())
        assert count == summary.statistics.message_count > 0
        assert [record.name for record in reader.iter_metadata()] == ["rosbag2"]


def test_a_recorder_publishes_nothing_but_what_every_node_does(
    said_by: Peer, tmp_path: Path
) -> None:
    joints = said_by.create_publisher(JointState, "/alpha5/joint_states", 10)
    with recording(tmp_path / "dive") as recorder:
        recorder.wait_for_topics("/alpha5/joint_states")
        matched(joints)
        until(lambda: "alpha5_recorder" in said_by.get_node_names(), "the recorder is seen")
        published = said_by.get_publisher_names_and_types_by_node("alpha5_recorder", "/")
        assert {topic for topic, _ in published} <= {"/parameter_events"}
        offered = said_by.get_service_names_and_types_by_node("alpha5_recorder", "/")
        assert {name for name, _ in offered} <= {"/alpha5_recorder/get_type_description"}


def test_a_publisher_that_offers_less_than_the_others_is_heard_too(
    said_by: Peer, tmp_path: Path
) -> None:
    first = said_by.create_publisher(JointState, "/alpha5/joint_states", 10)
    with recording(tmp_path / "dive", settings={"flush_period": 0.1}) as recorder:
        recorder.wait_for_topics("/alpha5/joint_states")
        matched(first)
        second = said_by.create_publisher(JointState, "/alpha5/joint_states", LOSSY)

        def is_heard() -> bool:
            first.publish(JointState(name=["first"]))
            second.publish(JointState(name=["second"]))
            return {"first", "second"} <= names()

        def names() -> set[str]:
            try:
                found = content(tmp_path / "dive")
            except Exception:
                return set()
            return {m.name[0] for m in found.get("/alpha5/joint_states", ())}

        until(is_heard, "both are heard", 0.2)
        assert recorder.end() == 0


def test_of_a_recorder_that_was_killed_all_but_the_last_moments_is_read(
    said_by: Peer, tmp_path: Path
) -> None:
    folder = tmp_path / "dive"
    joints = said_by.create_publisher(JointState, "/alpha5/joint_states", 100)
    with recording(folder, settings={"flush_period": 0.1}) as recorder:
        recorder.wait_for_topics("/alpha5/joint_states")
        matched(joints)
        for message in numbered(200):
            joints.publish(message)
        assert joints.wait_for_all_acked()
        until(lambda: len(content_of_cut(folder)) == 200, "they are on the disk", 0.2)
        recorder.end(signal.SIGKILL)
    assert not (folder / "metadata.yaml").exists()
    with Bag(folder) as bag:
        read = [bag.message(r).position[0] for r in bag.read(["/alpha5/joint_states"])]
        assert any("was cut off" in note for note in bag.damage)
    assert read == list(range(200))


def content_of_cut(folder: Path) -> list[object]:
    try:
        return content(folder).get("/alpha5/joint_states", [])
    except Exception:
        return []


def test_a_disk_that_is_full_is_told_and_counted_and_what_was_written_is_read(
    said_by: Peer, tmp_path: Path
) -> None:
    """A limit on the size of files stands for the full disk: each file takes 64 KiB."""
    folder = tmp_path / "dive"
    joints = said_by.create_publisher(JointState, "/alpha5/joint_states", 10)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))

    with recording(folder, settings={"flush_period": 0.1}, preexec=limit) as recorder:
        recorder.wait_for_topics("/alpha5/joint_states")
        matched(joints)

        def fill() -> bool:
            # What does not compress, little by little, so that some of it is flushed.
            joints.publish(JointState(name=[os.urandom(1024).hex()]))
            return "NOT RECORDING" in recorder.said()

        until(fill, "the disk is full")
        assert recorder.end() == 1
        said = recorder.said()
    assert "File too large" in said
    assert "; 0 missing" not in said
    with Bag(folder) as bag:
        assert sum(1 for _ in bag.read(["/alpha5/joint_states"])) > 0


def test_the_recorder_waits_for_room_and_goes_on(said_by: Peer, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("nobody may mount a tiny disk here")
    try:
        joints = said_by.create_publisher(JointState, "/alpha5/joint_states", 10)
        settings = {"flush_period": 0.1, "keep_free": 4 * MEBI}
        full = disk / "other_things"
        full.write_bytes(bytes(5 * MEBI))
        with recording(disk / "dive", settings=settings) as recorder:
            recorder.wait_for_topics("/alpha5/joint_states")
            matched(joints)

            def speak_until(text: str) -> None:
                until(
                    lambda: joints.publish(JointState(name=["x"])) or text in recorder.said(),
                    text,
                )

            speak_until("NOT RECORDING: the disk is full")
            full.unlink()
            speak_until("recording again")
            until(
                lambda: joints.publish(JointState(name=["x"])) or content_of_cut(disk / "dive"),
                "it records",
                0.2,
            )
            assert recorder.end() == 1  # something is missing, and it says so
            assert "; 0 missing" not in recorder.said()
        with AnyReader([disk / "dive"]) as bag:
            assert bag.message_count > 0
    finally:
        subprocess.run(["umount", str(disk)], timeout=PATIENCE, check=True)
