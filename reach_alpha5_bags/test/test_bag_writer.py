"""The writer of bags: splitting, what metadata.yaml says, and disks that have no room."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

pytest.importorskip("rosbags", reason="rosbags reads bags")
pytest.importorskip("mcap", reason="mcap writes bags")

import yaml
from hypothesis import given
from hypothesis import strategies as st
from mcap.writer import CompressionType
from rclpy.serialization import serialize_message
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore
from std_msgs.msg import String

from reach_alpha5_bags.reading import Bag
from reach_alpha5_bags.recorder.metadata import TopicFacts
from reach_alpha5_bags.recorder.qos import Offer, Request, request
from reach_alpha5_bags.recorder.tape import OVERHEAD, Tape
from reach_alpha5_bags.recorder.writer import RETRY, BagWriter, Layout

NANO = 1_000_000_000
START = 1_760_000_000 * NANO
OFFER = Offer("keep_last", 10, "reliable", "volatile", NANO + 5, 0, "automatic", 0, False)
HASH = get_typestore(Stores.ROS2_JAZZY).hash_rihs01("std_msgs/msg/String")
TALK = TopicFacts("/a/talk", "std_msgs/msg/String", HASH, (OFFER,))
OTHER = TopicFacts("/b/talk", "std_msgs/msg/String", HASH, ())


def layout(**changes: object) -> Layout:
    settings = {
        "max_file_size": 1 << 30,
        "max_file_duration": 1e6,
        "flush_period": 1.0,
        "keep_free": 0,
        "chunk_size": 1 << 16,
        "compression": CompressionType.ZSTD,
        "distribution": "kilted",
    }
    return Layout(**(settings | changes))


def say(writer: BagWriter, number: int, topic: TopicFacts = TALK, *, text: str = "") -> None:
    """Write a message at `number` tenths of a second."""
    at = number * NANO // 10
    data = serialize_message(String(data=f"{number} {text}"))
    writer.write(topic, data, START + at, START + at - 1000, at)
    writer.tick(at)


def numbers(path: Path) -> list[int]:
    with Bag(path) as bag:
        return [int(bag.message(r).data.split()[0]) for r in bag.read(list(bag.topics))]


def test_a_bag_is_split_by_time_and_all_of_it_is_told_in_its_metadata(tmp_path: Path) -> None:
    folder = tmp_path / "dive"
    writer = BagWriter(folder, layout(max_file_duration=2.0))
    for number in range(50):
        say(writer, number, OTHER if number % 5 == 0 else TALK)
    writer.close()
    names = [f"dive_{n}.mcap" for n in range(3)]
    assert sorted(file.name for file in folder.iterdir()) == [*names, "metadata.yaml"]
    told = yaml.safe_load((folder / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert told["version"] == 9 and told["storage_identifier"] == "mcap"
    assert told["relative_file_paths"] == names
    assert [file["message_count"] for file in told["files"]] == [20, 20, 10]
    assert told["files"][1]["starting_time"]["nanoseconds_since_epoch"] == START + 2 * NANO
    assert told["files"][1]["duration"]["nanoseconds"] == 19 * NANO // 10
    assert told["duration"]["nanoseconds"] == 49 * NANO // 10
    assert told["message_count"] == 50
    assert {
        topic["topic_metadata"]["name"]: topic["message_count"]
        for topic in told["topics_with_message_count"]
    } == {"/a/talk": 40, "/b/talk": 10}
    (offered,) = told["topics_with_message_count"][1]["topic_metadata"]["offered_qos_profiles"]
    assert offered["deadline"] == {"sec": 1, "nsec": 5}
    with AnyReader([folder]) as bag:
        assert bag.message_count == sum(1 for _ in bag.messages()) == 50
    assert numbers(folder) == list(range(50))
    for n, name in enumerate(names):  # and each file alone
        assert len(numbers(folder / name)) == (20, 20, 10)[n]


def test_a_bag_is_split_by_size(tmp_path: Path) -> None:
    writer = BagWriter(tmp_path / "dive", layout(max_file_size=50_000, chunk_size=4096))
    for number in range(400):
        say(writer, number, text=os.urandom(500).hex())
    writer.close()
    files = sorted((tmp_path / "dive").glob("*.mcap"))
    assert len(files) > 4
    # What is compressed together is written together, and then comes the index.
    assert all(file.stat().st_size < 50_000 + 3 * 4096 + 20_000 for file in files)
    assert sorted(numbers(tmp_path / "dive")) == list(range(400))


def test_what_was_flushed_is_read_while_the_file_is_being_written(tmp_path: Path) -> None:
    writer = BagWriter(tmp_path / "dive", layout(flush_period=1.0))
    for number in range(25):
        say(writer, number)
    assert numbers(tmp_path / "dive") == list(range(len(numbers(tmp_path / "dive"))))
    assert len(numbers(tmp_path / "dive")) >= 20
    writer.close()
    assert numbers(tmp_path / "dive") == list(range(25))


def test_a_bag_without_a_message_is_an_empty_folder(tmp_path: Path) -> None:
    BagWriter(tmp_path / "dive", layout()).close()
    assert list((tmp_path / "dive").iterdir()) == []
    with pytest.raises(FileExistsError):
        BagWriter(tmp_path / "dive", layout())


def test_a_disk_without_room_costs_what_comes_meanwhile_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = BagWriter(tmp_path / "dive", layout(flush_period=0.1))
    for number in range(20):
        say(writer, number)
    stat = os.statvfs(tmp_path)
    full = os.statvfs_result([*stat[:4], -1, *stat[5:]])
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    for number in range(20, 40):
        say(writer, number)
    assert "the disk is full" in writer.trouble
    assert writer.written + writer.lost == 40
    assert writer.lost >= 18
    # The file before is whole.
    with AnyReader([tmp_path / "dive"]) as bag:
        assert bag.message_count == writer.written
    monkeypatch.undo()
    for number in range(100, 100 + RETRY // NANO * 20):
        say(writer, number)
    assert writer.trouble == ""
    writer.close()
    assert len(numbers(tmp_path / "dive")) == writer.written


@pytest.mark.parametrize("chunk_size", [4096, 1 << 20])
@pytest.mark.parametrize("after", range(40, 400, 70))
def test_what_an_error_of_the_disk_costs_is_counted_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int, chunk_size: int
) -> None:
    """Also where chunks had reached the disk that nobody had asked to be written yet."""
    writer = BagWriter(tmp_path / "dive", layout(flush_period=3.0, chunk_size=chunk_size))
    for number in range(after):
        say(writer, number, text=os.urandom(400).hex())

    def fail() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writer._file.mcap, "flush", fail)
    for number in range(after, after + 31):
        say(writer, number)
    assert writer.lost > 0
    assert writer.written + writer.lost == after + 31
    writer.close()
    assert len(numbers(tmp_path / "dive")) == writer.written > 0


class Slow:
    """A writer that takes what it is given when it is let."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.entered = threading.Event()
        self.written = self.taken = self.lost = 0
        self.trouble = ""

    def write(self, *_: object) -> None:
        self.entered.set()
        assert self.gate.wait(60)
        self.written += 1

    def tick(self, now: int) -> None:
        pass

    def close(self) -> None:
        pass


def test_what_a_slow_disk_does_not_take_is_dropped_and_counted() -> None:
    slow = Slow()
    tape = Tape(slow, max_waiting=10 * (100 + OVERHEAD))
    for _ in range(50):
        tape.put(TALK, bytes(100), START, START)
    slow.entered.wait(60)
    tape.miss(2)
    slow.gate.set()
    tape.close()
    status = tape.status()
    assert (status.written, status.dropped, status.missing) == (10, 42, 42)
    assert tape.broken is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_writer_that_raises_is_seen_and_what_comes_after_is_counted() -> None:
    slow = Slow()
    slow.gate.set()
    slow.write = lambda *_: 1 / 0
    tape = Tape(slow, max_waiting=10_000)
    tape.put(TALK, b"", START, START)
    tape.close()
    assert isinstance(tape.broken, ZeroDivisionError)
    tape.put(TALK, b"", START, START)
    assert tape.status().dropped == 1


OFFERS = st.builds(
    Offer,
    history=st.just("keep_last"),
    depth=st.integers(0, 10),
    reliability=st.sampled_from(["reliable", "best_effort"]),
    durability=st.sampled_from(["transient_local", "volatile"]),
    deadline=st.just(0),
    lifespan=st.just(0),
    liveliness=st.just("automatic"),
    liveliness_lease_duration=st.just(0),
    avoid_ros_namespace_conventions=st.just(False),
)


@given(st.lists(OFFERS, min_size=1))
def test_what_is_asked_for_is_what_all_publishers_offer(offers: list[Offer]) -> None:
    asked = request(offers)
    for offer in offers:  # the rules by which DDS brings the two together
        assert not asked.is_reliable or offer.reliability == "reliable"
        assert not asked.is_latched or offer.durability == "transient_local"
    if len({(o.reliability, o.durability) for o in offers}) == 1:
        best = Request(offers[0].reliability == "reliable", offers[0].durability != "volatile")
        assert asked == best
