"""When bytes are on the simulated line, and what collides there."""

import pytest

from reach_alpha5_driver.sim.line import DRIVER, UART_FIFO, Chunk, Collision, Lane, Line

BYTE = 10 / 115200


def all_of(lane: Lane, now: float) -> list[Chunk]:
    chunks = []
    while (chunk := lane.take(now)) is not None:
        chunks.append(chunk)
    return chunks


def test_bytes_come_out_one_byte_time_after_the_other() -> None:
    lane = Lane(BYTE)
    lane.send(DRIVER, 1.0, bytes(range(1, 101)))
    heard = b""
    for count in (0, 1, 2, 57, 100, 101):
        heard += b"".join(chunk.data for chunk in all_of(lane, 1.0 + (count + 0.5) * BYTE))
        assert heard == bytes(range(1, 1 + min(count, 100)))


def test_a_late_reader_finds_the_same_times() -> None:
    lane = Lane(BYTE)
    lane.send(DRIVER, 1.0, b"abc\0")
    lane.send(DRIVER, 1.0, b"def\0")
    lane.send(DRIVER, 3.0, b"g\0")
    first, second, third = all_of(lane, 99.0)
    assert first.start == 1.0
    assert second.start == first.end == pytest.approx(1.0 + 4 * BYTE)
    assert third.start == 3.0


def test_frame_by_frame_ends_at_each_terminator() -> None:
    lane = Lane(BYTE)
    lane.send(DRIVER, 0.0, b"abc\0de\0f")
    taken = []
    while (chunk := lane.take(1.0, frame_by_frame=True)) is not None:
        taken.append((chunk.data, round(chunk.end / BYTE)))
    assert taken == [(b"abc\0", 4), (b"de\0", 7), (b"f", 8)]


def test_a_purge_leaves_only_what_the_uart_has() -> None:
    lane = Lane(BYTE)
    lane.send(DRIVER, 0.0, b"x" * 500)
    lane.send(DRIVER, 0.0, b"y" * 500)
    sent = len(lane.take(100.5 * BYTE).data)
    purged = lane.purge(DRIVER, 100.5 * BYTE)
    lane.send(DRIVER, 100.5 * BYTE, b"stop")
    left = b"".join(chunk.data for chunk in all_of(lane, 1.0))
    assert sent == 100
    assert left == b"x" * UART_FIFO + b"stop"
    assert purged == 1000 - 100 - UART_FIFO


def test_full_duplex_directions_do_not_touch() -> None:
    line = Line(115200, half_duplex=False, seed=0)
    line.send_to_arm(0.0, b"abcdef\0")
    line.send_to_driver(3, 0.0, b"ghijkl\0")
    assert line.to_arm.take(1.0).data == b"abcdef\0"
    assert line.to_driver.take(1.0).data == b"ghijkl\0"
    assert line.collisions == 0


def test_half_duplex_garbles_exactly_what_overlaps() -> None:
    line = Line(115200, half_duplex=True, seed=0)
    line.send_to_arm(0.0, b"abcdef")
    line.send_to_driver(3, 4.5 * BYTE, b"ghijkl")
    heard_by_arm = line.to_arm.take(1.0).data
    heard_by_driver = line.to_driver.take(1.0).data
    assert heard_by_arm[:4] == b"abcd"
    assert heard_by_arm[4] != ord("e")
    assert heard_by_arm[5] != ord("f")
    assert heard_by_driver[2:] == b"ijkl"
    assert heard_by_driver[0] != ord("g")
    assert heard_by_driver[1] != ord("h")


def test_half_duplex_devices_that_speak_at_once_are_heard_as_one_noise() -> None:
    line = Line(115200, half_duplex=True, seed=0)
    for device_id in (1, 2, 3):
        line.send_to_driver(device_id, 0.0, b"abcdef")
    chunks = all_of(line.to_driver, 1.0)
    assert len(b"".join(chunk.data for chunk in chunks)) == 6
    assert chunks[0].data != b"abcdef"
    assert line.collisions > 0


def test_collisions_are_counted_by_who_ran_into_whom() -> None:
    line = Line(115200, half_duplex=True, seed=0)
    line.send_to_driver(3, 0.0, b"abcdef")
    line.send_to_arm(2 * BYTE, b"xy")
    assert line.collision_kinds == {Collision.DRIVER_INTO_DEVICE: 1}
    line.send_to_arm(20 * BYTE, b"xy")
    line.send_to_driver(3, 21 * BYTE, b"abcdef")
    assert line.collision_kinds[Collision.DEVICE_INTO_DRIVER] == 1
    line.send_to_driver(4, 24 * BYTE, b"abcdef")
    assert line.collision_kinds[Collision.DEVICE_INTO_DEVICE] == 1
    assert line.collisions == 3


def test_due_is_when_the_next_frame_is_whole() -> None:
    lane = Lane(BYTE)
    assert lane.due() is None
    lane.send(DRIVER, 1.0, b"abc\0de\0")
    assert lane.due() == pytest.approx(1.0 + 4 * BYTE)
    lane.take(1.0 + 4.5 * BYTE)
    assert lane.due() == pytest.approx(1.0 + 7 * BYTE)
