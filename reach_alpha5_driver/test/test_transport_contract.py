"""One contract over every transport, and what is special to each."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import socket
import time
import tty
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from reach_alpha5_driver.transport.base import LineLost, OpenError, Transport
from reach_alpha5_driver.transport.faulty import Faults, FaultyLine
from reach_alpha5_driver.transport.memory import MemoryLine
from reach_alpha5_driver.transport.serial import open_serial

TIMEOUT = 20.0
BAUD = 115200


@dataclass
class Line:
    """A transport and its far end."""

    transport: Transport
    send: Callable[[bytes], object]
    take: Callable[[], bytes]
    hang_up: Callable[[], object]


@contextlib.contextmanager
def on_pty() -> Iterator[Line]:
    master, slave = pty.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    transport = open_serial(os.ttyname(slave), BAUD)
    os.close(slave)
    with contextlib.ExitStack() as stack:
        close = stack.enter_context(contextlib.closing(os.fdopen(master, "rb", 0))).close
        yield Line(transport, lambda data: os.write(master, data), lambda: drained(master), close)
        transport.close()


@contextlib.contextmanager
def on_socket() -> Iterator[Line]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        transport = open_serial(f"socket://127.0.0.1:{port}", BAUD)
        peer, _ = server.accept()
        with peer:
            peer.setblocking(False)
            yield Line(transport, peer.send, lambda: drained(peer.fileno()), peer.close)
            transport.close()


@contextlib.contextmanager
def in_memory() -> Iterator[Line]:
    transport = MemoryLine()
    yield Line(transport, transport.far.send, transport.far.take, transport.far.hang_up)
    transport.close()


@contextlib.contextmanager
def without_faults() -> Iterator[Line]:
    with in_memory() as line:
        yield Line(FaultyLine(line.transport, Faults(), 0), line.send, line.take, line.hang_up)


def drained(fd: int) -> bytes:
    """Return what the far end has received."""
    try:
        return os.read(fd, 1 << 16)
    except BlockingIOError:
        return b""


KINDS = {
    "serial": on_pty,
    "socket": on_socket,
    "memory": in_memory,
    "faulty": without_faults,
}


@pytest.fixture(params=KINDS)
def line(request: pytest.FixtureRequest) -> Iterator[Line]:
    with KINDS[request.param]() as made:
        yield made


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.001)


def ready(transport: Transport, seconds: float = 0.0) -> bool:
    return bool(select.select([transport.fileno()], [], [], seconds)[0])


# -- the contract


def test_bytes_pass_both_ways_unchanged(line):
    data = bytes(range(256)) * 3
    written = line.transport.write(data)
    assert written == len(data)
    received = bytearray()
    until(lambda: received.extend(line.take()) or len(received) >= len(data))
    assert bytes(received) == data
    line.send(data)
    received.clear()
    until(lambda: received.extend(line.transport.read()) or len(received) >= len(data))
    assert bytes(received) == data


def test_it_turns_readable_when_something_came_and_not_before(line):
    assert not ready(line.transport)
    line.send(b"x")
    assert ready(line.transport, TIMEOUT)
    assert line.transport.read() == b"x"
    assert not ready(line.transport)


def test_reading_when_nothing_came_returns_at_once_with_nothing(line):
    assert line.transport.read() == b""


def test_a_write_never_blocks_and_says_what_was_taken(line):
    block = bytes(65536)
    total = 0
    for _ in range(1000):
        taken = line.transport.write(block)
        assert 0 <= taken <= len(block)
        total += taken
        if taken == 0:
            break
    else:
        pytest.fail("the line took everything: it cannot fill up")
    assert total > 0


def test_purging_and_asking_for_the_queue_work_at_any_time(line):
    line.transport.purge_output()
    line.transport.write(b"abc")
    assert line.transport.queued() >= 0
    line.transport.purge_output()
    assert line.transport.queued() == 0


def test_a_far_end_that_hangs_up_is_told_as_a_lost_line(line):
    line.hang_up()
    assert ready(line.transport, TIMEOUT)
    with pytest.raises(LineLost):
        until(lambda: line.transport.read() and False)


def test_what_came_before_the_far_end_hung_up_is_not_lost_on_the_way_to_the_error(line):
    line.send(b"last words")
    assert ready(line.transport, TIMEOUT)
    assert line.transport.read() == b"last words"
    line.hang_up()
    with pytest.raises(LineLost):
        until(lambda: line.transport.read() and False)


def test_closing_twice_and_after_a_loss_is_harmless(line):
    line.hang_up()
    with contextlib.suppress(LineLost):
        line.transport.read()
    line.transport.close()
    line.transport.close()


# -- serial ports


def test_a_missing_port_says_what_to_do():
    with pytest.raises(OpenError, match=r"plug the adapter in.*list_ports"):
        open_serial("/dev/no-such-port-of-an-arm", BAUD)


def test_a_port_that_somebody_holds_is_refused_and_free_again_after_close():
    master, slave = pty.openpty()
    try:
        port = os.ttyname(slave)
        holder = open_serial(port, BAUD)
        with pytest.raises(OpenError, match="another program holds the port"):
            open_serial(port, BAUD)
        holder.close()
        open_serial(port, BAUD).close()
    finally:
        os.close(slave)
        os.close(master)


def test_a_file_is_no_port(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"")
    with pytest.raises(OpenError, match="no serial port"):
        open_serial(str(path), BAUD)


def test_a_folder_is_no_port(tmp_path):
    with pytest.raises(OpenError, match="folder"):
        open_serial(str(tmp_path), BAUD)


def test_a_socket_that_nobody_serves_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(OpenError, match="cannot open socket://"):
        open_serial(f"socket://127.0.0.1:{port}", BAUD)


@pytest.mark.parametrize("url", ["nonsense://x", "", "loop://", "socket://127.0.0.1"])
def test_a_port_that_cannot_be_used_is_refused_by_name(url):
    with pytest.raises(OpenError, match="cannot"):
        open_serial(url, BAUD)


# -- memory


def test_a_purge_takes_back_what_did_not_pass_yet():
    line = MemoryLine()
    line.write(b"motion")
    assert line.queued() == 6
    line.purge_output()
    line.write(b"stop")
    assert line.far.take() == b"stop"


def test_a_full_queue_takes_a_part():
    line = MemoryLine(capacity=4)
    assert line.write(b"abcdef") == 4
    assert line.write(b"ef") == 0
    assert line.far.take(3) == b"abc"
    assert line.write(b"ef") == 2
    assert line.far.take() == b"def"


# -- faults


def through(faults: Faults, data: bytes, seed: int = 1) -> list[bytes]:
    """Return what a faulty line makes of received bytes, read by read."""
    inner = MemoryLine()
    line = FaultyLine(inner, faults, seed)
    inner.far.send(data)
    return [line.read() for _ in range(200)]


DATA = bytes(range(1, 201))


@pytest.mark.parametrize(
    ("faults", "check"),
    [
        (Faults(drop=0.2), lambda out: len(out) < len(DATA) and set(out) <= set(DATA)),
        (Faults(flip=0.2), lambda out: len(out) == len(DATA) and out != DATA),
        (Faults(duplicate=0.2), lambda out: len(out) > len(DATA) and set(out) == set(DATA)),
        (Faults(insert=0.2), lambda out: len(out) > len(DATA)),
        (Faults(cut=0.2), lambda out: out == DATA),
    ],
)  # fmt: skip
def test_each_fault_of_the_incoming_bytes_does_what_it_says(faults, check):
    chunks = through(faults, DATA)
    assert check(b"".join(chunks))
    if faults.cut:
        assert sum(bool(chunk) for chunk in chunks) > 5


def test_the_same_seed_gives_the_same_faults():
    faults = Faults(drop=0.1, flip=0.1, insert=0.1, cut=0.1)
    assert through(faults, DATA, 3) == through(faults, DATA, 3)
    assert through(faults, DATA, 3) != through(faults, DATA, 4)


def test_writes_stall_fall_short_and_fail():
    inner = MemoryLine()
    assert FaultyLine(inner, Faults(stall=1.0), 0).write(b"abc") == 0
    assert FaultyLine(inner, Faults(short_write=1.0), 0).write(b"abc") < 3
    with pytest.raises(LineLost):
        FaultyLine(inner, Faults(error=1.0), 0).write(b"abc")
    with pytest.raises(LineLost):
        FaultyLine(inner, Faults(error=1.0), 0).read()
