"""The byte log: what is written is what is read, with the times of the line."""

import struct
from pathlib import Path

import pytest

from reach_alpha5_driver.protocol.codec import Frame, encode
from reach_alpha5_driver.sim.ids import ALL_DEVICES, Packet
from reach_alpha5_driver.sim.line import Chunk
from reach_alpha5_driver.sim.log import LogWriter, WireLog, read_log

BYTE = 10 / 115200
BYTE_NS = BYTE * 1e9


def velocity(device_id: int, value: float) -> bytes:
    return encode(Frame(device_id, Packet.VELOCITY, struct.pack("<f", value)))


def chunk(start: float, data: bytes) -> Chunk:
    return Chunk(start, start + len(data) * BYTE, data)


def written(path: Path, to_arm: list[Chunk], to_driver: list[Chunk]) -> WireLog:
    writer = LogWriter(path)
    writer.write(to_arm, to_driver)
    log = read_log(path)  # not closed: it must be there already
    writer.close()
    return log


def test_lines_are_time_way_and_hex_in_the_order_of_time(tmp_path: Path) -> None:
    path = tmp_path / "log"
    written(path, [chunk(2.0, b"\x01\xab")], [chunk(1.5, b"\x02"), chunk(2.5, b"\x03")])
    assert path.read_text() == "1500000000 < 02\n2000000000 > 01ab\n2500000000 < 03\n"


def test_chunks_without_a_gap_are_one_line(tmp_path: Path) -> None:
    first = chunk(1.0, b"ab")
    log = written(tmp_path / "log", [first, chunk(first.end, b"cd"), chunk(2.0, b"ef")], [])
    assert [entry.data for entry in log.entries] == [b"abcd", b"ef"]


def test_frames_have_the_times_of_their_first_and_last_byte(tmp_path: Path) -> None:
    wire = velocity(5, 0.25) + velocity(4, -0.5)
    # Cut in the middle of the first frame, with a pause.
    log = written(tmp_path / "log", [chunk(1.0, wire[:4]), chunk(1.5, wire[4:])], [])
    first, second = log.frames(">")
    assert (first.device_id, first.floats()) == (5, (0.25,))
    assert first.start_ns == 1_000_000_000
    assert first.end_ns == pytest.approx(1_500_000_000 + 6 * BYTE_NS, abs=10)
    assert second.start_ns == pytest.approx(first.end_ns, abs=10)
    assert second.end_ns == pytest.approx(first.end_ns + 10 * BYTE_NS, abs=10)
    assert log.frames("<") == []


def test_damaged_bytes_are_skipped_and_a_glued_frame_has_its_own_time(tmp_path: Path) -> None:
    lost, kept = velocity(5, 0.25), velocity(4, 0.5)
    log = written(tmp_path / "log", [chunk(1.0, b"\x07\x09\0" + lost[:-1] + kept)], [])
    (frame,) = log.frames(">")
    assert frame.device_id == 4
    assert frame.start_ns == pytest.approx(1_000_000_000 + 12 * BYTE_NS, abs=10)


def test_judging_helpers(tmp_path: Path) -> None:
    frames = [
        velocity(5, 0.25),
        velocity(1, 0.0),
        encode(Frame(4, Packet.POSITION, struct.pack("<f", 1.0))),
        encode(Frame(4, Packet.REQUEST, bytes((3,)))),
        velocity(ALL_DEVICES, 0.0),
    ]
    log = written(tmp_path / "log", [chunk(1.0 + i, data) for i, data in enumerate(frames)], [])
    assert [(v.device_id, v.value) for v in log.velocities()] == [
        (5, 0.25), (1, 0.0), (ALL_DEVICES, 0.0)
    ]  # fmt: skip
    assert [stop.device_id for stop in log.stops()] == [1, ALL_DEVICES]
    assert [(f.device_id, f.packet_id) for f in log.motion_frames()] == [(5, 2), (4, 3)]
    assert log.demanded(until_ns=int(1.5e9)) == {5: 0.25}
    assert log.demanded() == dict.fromkeys(range(1, 6), 0.0)


def test_a_line_that_is_still_being_written_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("100 > 0100\n200 < 02")
    assert len(read_log(path).entries) == 1


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("hello\n")
    with pytest.raises(ValueError, match="is not of a byte log"):
        read_log(path)


def test_a_log_can_be_read_from_an_earlier_end_of_it(tmp_path):
    path = tmp_path / "wire.log"
    path.write_text("1000 > 00\n")
    offset = path.stat().st_size
    with path.open("a") as file:
        file.write("2000 < 00\n")
    assert [entry.time_ns for entry in read_log(path, offset=offset).entries] == [2000]


@pytest.mark.parametrize("cut", range(1, 12))
def test_an_end_that_was_seen_in_the_middle_of_a_line_begins_with_the_next(tmp_path, cut):
    path = tmp_path / "log"
    path.write_text("1000 > 0102\n")
    offset = path.stat().st_size - cut
    path.write_text("1000 > 0102\n2000 < 0304\n")
    assert [entry.time_ns for entry in read_log(path, offset=offset).entries] == [2000]
