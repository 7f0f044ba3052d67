"""The reader: split, disordered, cut off, damaged and old bags, and bags that lack topics."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("rosbags", reason="rosbags reads and writes bags")

from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from reach_alpha5_bags.reading import Bag, BagError, resolve

NANO = 1_000_000_000
START = 1_760_000_000 * NANO
KIND = "std_msgs/msg/String"
PAYLOAD = 20_000
"""Letters of a long message: some of them are a chunk."""

STORE = get_typestore(Stores.ROS2_JAZZY)


def write(
    folder: Path,
    messages: list[tuple[str, float, str]],
    storage: StoragePlugin = StoragePlugin.MCAP,
    mode: CompressionMode | None = None,
) -> Path:
    """Write topic, time [s] and text of each message, in this order; returns the folder."""
    string = STORE.types[KIND]
    writer = Writer(folder, version=9, storage_plugin=storage)
    if mode:
        writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        known = {}
        for topic, at, text in messages:
            if topic not in known:
                known[topic] = writer.add_connection(topic, KIND, typestore=STORE)
            data = STORE.serialize_cdr(string(text), KIND)
            writer.write(known[topic], START + round(at * NANO), data)
    return folder


def many(count: int, begin: int = 0, topic: str = "/a/talk") -> list[tuple[str, float, str]]:
    return [(topic, n * 0.1, f"{n} {'x' * PAYLOAD}") for n in range(begin, begin + count)]


def read(path: Path, *topics: str, begin: float = 0.0) -> tuple[list[int], list[str]]:
    """Return the numbers of the messages, and what the reader said of damage."""
    with Bag(path) as bag:
        names = topics or tuple(bag.topics)
        numbers = [int(bag.message(r).data.split()[0]) for r in bag.read(names, begin)]
        return numbers, list(bag.damage)


def together(folder: Path, *parts: Path) -> Path:
    """Put the files of several bags into one folder without a metadata.yaml."""
    folder.mkdir()
    for part in parts:
        for file in part.glob("*.mcap"):
            shutil.move(file, folder / file.name)
    return folder


@pytest.mark.parametrize(
    ("storage", "mode"),
    [
        *((StoragePlugin.MCAP, mode) for mode in (None, *CompressionMode)),
        (StoragePlugin.SQLITE3, None),
        *((StoragePlugin.SQLITE3, m) for m in CompressionMode if m is not CompressionMode.STORAGE),
    ],
)
def test_a_whole_bag_of_any_kind_is_read(
    tmp_path: Path, storage: StoragePlugin, mode: CompressionMode | None
) -> None:
    folder = write(tmp_path / "bag", many(100), storage, mode)
    assert read(folder) == (list(range(100)), [])
    with Bag(folder) as bag:
        assert bag.duration == pytest.approx(9.9)
        (topic,) = bag.topics.values()
        assert (topic.name, topic.type, topic.count) == ("/a/talk", KIND, 100)


def test_what_was_recorded_in_disorder_is_read_in_order(tmp_path: Path) -> None:
    messages = many(200)
    for place in range(0, 200, 2):
        messages[place], messages[place + 1] = messages[place + 1], messages[place]
    assert read(write(tmp_path / "bag", messages))[0] == list(range(200))


def test_files_that_overlap_in_time_are_read_in_the_order_of_time(tmp_path: Path) -> None:
    odd = [m for m in many(200) if int(m[2].split()[0]) % 2]
    even = [m for m in many(200, topic="/b/talk") if not int(m[2].split()[0]) % 2]
    folder = together(
        tmp_path / "both", write(tmp_path / "part_1", odd), write(tmp_path / "part_0", even)
    )
    assert read(folder) == (list(range(200)), [])
    assert read(folder, "/b/talk")[0] == list(range(0, 200, 2))
    assert read(folder, begin=10.0)[0] == list(range(100, 200))


def test_of_files_that_follow_each_other_one_is_in_memory_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [write(tmp_path / f"part_{n}", many(100, 100 * n)) for n in range(4)]
    folder = together(tmp_path / "split", *parts)
    begun: list[str] = []
    with Bag(folder) as bag:
        for source in bag._sources:
            scan = source.reader.messages

            def messages(*args, scan=scan, name=source.name, **options):
                begun.append(name)
                yield from scan(*args, **options)

            monkeypatch.setattr(source.reader, "messages", messages)
        numbers = []
        for recorded in bag.read(["/a/talk"]):
            number = int(bag.message(recorded).data.split()[0])
            assert len(begun) <= number // 100 + 1
            numbers.append(number)
    assert numbers == list(range(400))
    assert begun == [f"part_{n}.mcap" for n in range(4)]


@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_file_that_was_cut_off_is_read_up_to_there_and_says_how_far(
    tmp_path: Path, what: str
) -> None:
    file = write(tmp_path / "bag", many(600)) / "bag.mcap"
    data = file.read_bytes()
    counts = []
    for share in (0.3, 0.6, 0.9999):
        file.write_bytes(data[: int(len(data) * share)])
        numbers, (note,) = read(file.parent if what == "folder" else file)
        assert numbers == list(range(len(numbers)))
        assert f"of its {int(len(data) * share)} bytes are whole" in note
        assert f"up to {(len(numbers) - 1) * 0.1:.1f} s after" in note
        counts.append(len(numbers))
    assert 0 < counts[0] < counts[1] < counts[2] == 600


@pytest.mark.parametrize("mode", [None, CompressionMode.STORAGE])
def test_a_file_whose_last_blocks_never_came_to_the_disk_is_read_up_to_there(
    tmp_path: Path, mode: CompressionMode | None
) -> None:
    """What a power loss leaves: the file has its length, and its end is zero."""
    file = write(tmp_path / "bag", many(600), mode=mode) / "bag.mcap"
    data = file.read_bytes()
    cut = int(len(data) * 0.6)
    file.write_bytes(data[: cut - 2000] + bytes(2000))
    numbers, damage = read(file)
    assert numbers == list(range(len(numbers)))
    assert 0 < len(numbers) < 600 and damage


def test_a_cut_file_is_put_in_order_too(tmp_path: Path) -> None:
    messages = many(600)
    for place in range(0, 600, 2):
        messages[place], messages[place + 1] = messages[place + 1], messages[place]
    file = write(tmp_path / "bag", messages) / "bag.mcap"
    file.write_bytes(file.read_bytes()[:-100])
    assert read(file)[0] == list(range(600))


def test_a_file_that_is_missing_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    folder = write(tmp_path / "bag", many(100))
    text = (folder / "metadata.yaml").read_text()
    (folder / "metadata.yaml").write_text(text.replace("bag.mcap", "gone.mcap"))
    numbers, damage = read(folder)
    assert numbers == list(range(100))
    assert damage == ["gone.mcap is missing"]


@pytest.mark.parametrize("text", ["", "[", "rosbag2_bagfile_information: 3\n", "- 1\n"])
def test_a_metadata_file_that_is_none_does_not_matter(tmp_path: Path, text: str) -> None:
    folder = write(tmp_path / "bag", many(10))
    (folder / "metadata.yaml").write_text(text)
    assert read(folder)[0] == list(range(10))


def test_a_chunk_that_is_damaged_ends_the_file_and_says_where(tmp_path: Path) -> None:
    folder = write(tmp_path / "bag", many(600), mode=CompressionMode.STORAGE)
    file = folder / "bag.mcap"
    data = bytearray(file.read_bytes())
    place = len(data) // 2
    data[place : place + 40] = bytes(40)
    file.write_bytes(data)
    numbers, damage = read(folder)
    assert numbers == list(range(len(numbers)))
    assert 0 < len(numbers) < 600
    assert any("read until there" in note for note in damage)


def test_a_message_that_is_damaged_is_told_once_and_left_out(tmp_path: Path) -> None:
    folder = write(tmp_path / "bag", many(20))
    file = folder / "bag.mcap"
    data = bytearray(file.read_bytes())
    for number in (7, 9):
        place = data.index(f"{number} xxx".encode()) - 4
        data[place : place + 4] = b"\xff\xff\xff\x7f"
    file.write_bytes(data)
    with Bag(folder) as bag:
        decoded = [bag.message(r) for r in bag.read(["/a/talk"])]
        (note,) = bag.damage
    assert [n for n, message in enumerate(decoded) if message is None] == [7, 9]
    assert note.startswith("damaged 0.7 s after its begin: a message of /a/talk")


def test_messages_are_read_by_the_definitions_that_the_bag_carries(tmp_path: Path) -> None:
    """A bag of a time when a message had another field, and others were not there."""
    kind = "reach_alpha5_msgs/msg/EStop"
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg("string source\nint32 since_then_gone\n", kind))
    with Writer(tmp_path / "old", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection("/alpha5/estop", kind, typestore=store)
        message = store.types[kind]("diver", 7)
        writer.write(connection, START, store.serialize_cdr(message, kind))
    with Bag(tmp_path / "old") as bag:
        (recorded,) = bag.read(["/alpha5/estop"])
        assert bag.message(recorded).since_then_gone == 7
        assert bag.hash(kind) == store.hash_rihs01(kind)
        assert bag.hash(KIND) == ""


def test_topics_that_are_missing_or_empty_are_told(tmp_path: Path) -> None:
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        full = writer.add_connection("/a/talk", KIND, typestore=STORE)
        writer.add_connection("/a/silence", KIND, typestore=STORE)
        data = STORE.serialize_cdr(STORE.types[KIND]("0"), KIND)
        writer.write(full, START, data)
    with Bag(tmp_path / "bag") as bag:
        wanted = [resolve("a", name) for name in ("talk", "silence", "nothing")]
        assert bag.missing(wanted) == ["/a/silence", "/a/nothing"]
        assert len(list(bag.read(wanted))) == 1
        assert bag.of_type(KIND) == ["/a/silence", "/a/talk"]


def test_namespaces_are_found_by_the_type_of_a_topic(tmp_path: Path) -> None:
    folder = write(tmp_path / "bag", many(1) + many(1, topic="/b/c/talk") + many(1, topic="/talk"))
    with Bag(folder) as bag:
        assert bag.namespaces(KIND) == ["/", "/a", "/b/c"]
        assert bag.namespace(KIND, "b/c/") == "/b/c"
        assert bag.namespace(KIND, "/") == "/"
        with pytest.raises(BagError, match="several arms: choose --namespace of /, /a, /b/c"):
            bag.namespace(KIND)
        with pytest.raises(BagError, match="no arm in /x"):
            bag.namespace(KIND, "x")
        with pytest.raises(BagError, match="no topic of the type"):
            bag.namespace("std_msgs/msg/Bool")


def test_what_is_no_bag_is_refused_and_says_why(tmp_path: Path) -> None:
    with pytest.raises(BagError, match="no such file"):
        Bag(tmp_path / "nowhere")
    with pytest.raises(BagError, match=r"no \.mcap or \.db3"):
        Bag(tmp_path)
    (tmp_path / "empty.mcap").write_bytes(b"")
    with pytest.raises(BagError, match=r"empty\.mcap cannot be read"):
        Bag(tmp_path)
    (tmp_path / "noise.mcap").write_bytes(bytes(range(256)) * 100)
    with pytest.raises(BagError, match=r"noise\.mcap cannot be read"):
        Bag(tmp_path / "noise.mcap")
