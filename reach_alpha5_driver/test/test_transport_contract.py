"""One contract over every transport, and what is special to each."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import socket
import subprocess
import sys
import threading
import time
import tty
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from reach_alpha5_driver.transport.base import LineLost, OpenError, Transport
from reach_alpha5_driver.transport.faulty import Faults, FaultyLine
from reach_alpha5_driver.transport.memory import MemoryLine
from reach_alpha5_driver.transport.serial import open_serial
from reach_alpha5_driver.transport.tcp import PEER_TIMEOUT, TcpLine, open_tcp

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
    if line.transport.can_purge:
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


def test_a_line_whose_queue_can_be_taken_back_says_so_and_does_it(line):
    while line.transport.write(b"motion" * 1000):
        pass
    line.transport.purge_output()
    assert (line.transport.write(b"stop") == 4) is line.transport.can_purge


def test_a_line_without_an_adapter_has_no_latency_timer_and_needs_no_advice(line):
    assert line.transport.latency is None
    assert line.transport.advice == ""


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


@pytest.mark.parametrize("url", ["nonsense://x", "", "loop://", "rfc2217://127.0.0.1:1"])
def test_a_port_that_cannot_be_used_is_refused_by_name(url):
    with pytest.raises(OpenError, match="cannot"):
        open_serial(url, BAUD)


# -- sockets


@contextlib.contextmanager
def connected() -> Iterator[tuple[TcpLine, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        line = open_tcp(f"socket://127.0.0.1:{server.getsockname()[1]}")
        peer, _ = server.accept()
        with peer, contextlib.closing(line):
            yield line, peer


@pytest.mark.parametrize(
    "url",
    [
        "socket://127.0.0.1",
        "socket://:1234",
        "socket://127.0.0.1:0",
        "socket://127.0.0.1:port",
        "socket://127.0.0.1:70000",
        "socket://127.0.0.1:1234/logging=debug",
        "SOCKET://[::1",
    ],
)
def test_an_address_that_is_none_is_refused_with_the_form_of_one(url):
    with pytest.raises(OpenError, match="socket://HOST:PORT"):
        open_serial(url, BAUD)


def test_a_socket_that_nobody_serves_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(OpenError, match=r"refused; check that 127\.0\.0\.1 is on"):
        open_serial(f"socket://127.0.0.1:{port}", BAUD)


def test_a_server_that_does_not_answer_does_not_hold_the_caller_up():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        address = server.getsockname()
        with contextlib.ExitStack() as stack:
            for _ in range(4):  # whoever comes when the queue is full gets no answer
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(address)
            started = time.monotonic()
            with pytest.raises(OpenError, match="cannot open"):
                open_tcp(f"socket://127.0.0.1:{address[1]}", timeout=0.1)
            assert time.monotonic() - started < 4.0  # of the 5 s that pyserial would take


def test_a_name_that_is_found_too_late_holds_nobody_up_and_leaves_no_connection(monkeypatch):
    found = threading.Event()
    look_up = socket.getaddrinfo

    def slow(*arguments, **options):
        found.wait(TIMEOUT)
        return look_up(*arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"socket://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(OpenError, match=r"no answer in 0\.1 s"):
            open_tcp(url, timeout=0.1)
        found.set()
        server.settimeout(TIMEOUT)
        peer, _ = server.accept()
        with peer:
            peer.settimeout(TIMEOUT)
            assert peer.recv(1) == b""


def test_a_socket_that_a_child_has_inherited_is_hung_up_all_the_same():
    with connected() as (line, peer):
        copy = os.dup(line.fileno())
        line.close()
        peer.settimeout(TIMEOUT)
        assert peer.recv(1) == b""
        os.close(copy)


def test_the_last_words_arrive_although_something_was_left_unread():
    with connected() as (line, peer):
        peer.send(b"telemetry")
        assert ready(line, TIMEOUT)
        line.write(b"stop")
        line.close()
        assert peer.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0  # no reset
        peer.settimeout(TIMEOUT)
        assert peer.recv(100) == b"stop"
        assert peer.recv(100) == b""


def test_what_a_stuck_connection_has_not_sent_is_known():
    with connected() as (line, _):
        assert line.queued() == 0
        until(lambda: line.write(bytes(65536)) == 0 and line.queued() > 0)


NAMESPACE = ["unshare", "--user", "--map-root-user", "--net"]
"""Runs a command with a network of its own, that it may break."""

VANISHING_PEER = """
import fcntl, socket, struct, sys, time
from reach_alpha5_driver.transport.base import LineLost
from reach_alpha5_driver.transport.serial import open_serial

def loopback(flags):
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", flags))

def lost(line, data):
    try:
        line.write(data)
        line.read()
    except LineLost:
        return True
    return False

loopback(1)
server = socket.create_server(("127.0.0.1", 0))
url = f"socket://127.0.0.1:{server.getsockname()[1]}"
lines = {"busy": (open_serial(url, 115200), b"x"), "quiet": (open_serial(url, 115200), b"")}
peers = [server.accept() for _ in lines]
loopback(0)
started = time.monotonic()
while lines and time.monotonic() < started + float(sys.argv[1]):
    for name, (line, data) in list(lines.items()):
        if lost(line, data):
            print(name, flush=True)
            del lines[name]
    time.sleep(0.02)
"""


@pytest.mark.skipif(
    subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode != 0,
    reason="no network namespaces for this user",
)
def test_U8_a_peer_that_vanishes_without_a_word_is_missed_on_a_busy_line_and_on_a_quiet_one():
    child = subprocess.run(
        [*NAMESPACE, sys.executable, "-c", VANISHING_PEER, str(5.0 * PEER_TIMEOUT)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert sorted(child.stdout.split()) == ["busy", "quiet"]


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


def test_a_stall_lasts_for_some_writes_and_ends():
    line = FaultyLine(MemoryLine(), Faults(stall=0.02), seed=1)
    taken = [bool(line.write(b"x")) for _ in range(1000)]
    longest = max(len(run) for run in "".join(".#"[took] for took in taken).split("#"))
    assert 10 < longest < 150
    assert taken.count(True) > 200
