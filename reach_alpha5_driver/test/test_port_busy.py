"""A port that somebody holds: who it is, and that giving it back works."""

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import sys
from collections.abc import Iterator

import pytest

from reach_alpha5_driver.transport.base import OpenError
from reach_alpha5_driver.transport.lock_owner import UNKNOWN, busy_text, holders
from reach_alpha5_driver.transport.serial import claim, open_serial, share

BAUD = 115200
TIOCGEXCL = 0x80045440

HOLD = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)
if sys.argv[2] == "lock":
    fcntl.flock(fd, fcntl.LOCK_EX)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def terminal() -> Iterator[int]:
    """The slave end of a pseudo-terminal."""
    master, slave = pty.openpty()
    yield slave
    os.close(slave)
    os.close(master)


@contextlib.contextmanager
def another_program(port: str, how: str) -> Iterator[subprocess.Popen]:
    """Run a process that has the port open, locked or not."""
    command = [sys.executable, "-c", HOLD, port, how]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        yield child
        assert child.stdin is not None
        child.stdin.close()


def test_a_locked_port_is_refused_by_the_name_of_its_holder(terminal):
    port = os.ttyname(terminal)
    with another_program(port, "lock") as child:
        with pytest.raises(OpenError) as refused:
            open_serial(port, BAUD)
        assert f"the port is held by {comm(child.pid)} (pid {child.pid}: " in str(refused.value)
        assert str(refused.value).endswith("; close it")
    open_serial(port, BAUD).close()


def test_where_no_lock_names_anybody_the_open_files_do(terminal):
    port = os.ttyname(terminal)
    with another_program(port, "no lock") as child:
        assert [holder.pid for holder in holders(port)] == [child.pid]


def test_the_lock_names_its_holder_and_not_everybody_who_has_the_port_open(terminal):
    port = os.ttyname(terminal)
    with another_program(port, "no lock"), another_program(port, "lock") as child:
        assert [holder.pid for holder in holders(port)] == [child.pid]


def test_a_port_that_nobody_else_holds_has_no_holders(terminal):
    port = os.ttyname(terminal)
    fcntl.flock(terminal, fcntl.LOCK_EX)
    assert holders(port) == ()
    assert busy_text(port) == UNKNOWN
    assert holders("/dev/no-such-port-of-an-arm") == ()


def test_closing_frees_the_port_although_a_child_has_inherited_it(terminal):
    port = os.ttyname(terminal)
    line = open_serial(port, BAUD)
    keep = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(keep, stdin=subprocess.PIPE, pass_fds=[line.fileno()]) as child:
        with pytest.raises(OpenError, match="the port is held by"):
            open_serial(port, BAUD)
        line.close()
        open_serial(port, BAUD).close()
        assert child.poll() is None
        assert child.stdin is not None
        child.stdin.close()


# -- what the kernel shows, as files


def show_lock(proc, device: os.stat_result, pid: int, arrow: str = "") -> None:
    file = f"{os.major(device.st_dev):02x}:{os.minor(device.st_dev):02x}:{device.st_ino}"
    with (proc / "locks").open("a") as locks:
        locks.write(f"7: {arrow}FLOCK  ADVISORY  WRITE {pid} {file} 0 EOF\n")


def show_process(proc, pid: int, name: str, *command: str) -> None:
    (proc / str(pid)).mkdir()
    (proc / str(pid) / "comm").write_text(f"{name}\n")
    (proc / str(pid) / "cmdline").write_text("".join(f"{word}\0" for word in command))


@pytest.fixture
def port(tmp_path):
    """A file that stands for a port."""
    path = tmp_path / "port"
    path.touch()
    return path


@pytest.fixture
def proc(tmp_path):
    """A folder as /proc, with a lock on another file that has nothing to do with the port."""
    folder = tmp_path / "proc"
    folder.mkdir()
    show_lock(folder, os.stat("/"), 77)
    show_process(folder, 77, "cupsd", "cupsd")
    return folder


def test_a_program_is_shown_by_its_name_and_its_command(proc, port):
    show_lock(proc, port.stat(), 123)
    show_process(proc, 123, "minicom", "minicom", "-D", "/dev/ttyUSB0")
    expected = "the port is held by minicom (pid 123: minicom -D /dev/ttyUSB0); close it"
    assert busy_text(str(port), proc) == expected


@pytest.mark.parametrize("command", [(), ("minicom",)])
def test_a_command_that_tells_nothing_is_left_out(proc, port, command):
    show_lock(proc, port.stat(), 123)
    show_process(proc, 123, "minicom", *command)
    assert busy_text(str(port), proc) == "the port is held by minicom (pid 123); close it"


def test_a_long_command_is_shortened(proc, port):
    show_lock(proc, port.stat(), 123)
    show_process(proc, 123, "python3", "python3", "-c", "x" * 5000)
    assert len(busy_text(str(port), proc)) < 150


def test_whoever_waits_for_the_lock_does_not_hold_it(proc, port):
    show_lock(proc, port.stat(), 124, arrow="-> ")
    show_process(proc, 124, "waiter")
    assert busy_text(str(port), proc) == UNKNOWN


@pytest.mark.parametrize("pid", [-1, 0, 999])
def test_a_lock_of_nobody_who_is_alive_names_nobody(proc, port, pid):
    show_lock(proc, port.stat(), pid)
    assert busy_text(str(port), proc) == UNKNOWN


def test_lines_that_are_not_understood_are_passed_over(proc, port):
    (proc / "locks").write_text("1: FLOCK\n\nnonsense\n8: A B C D E F\n")
    show_lock(proc, port.stat(), 123)
    show_process(proc, 123, "minicom")
    assert [holder.pid for holder in holders(str(port), proc)] == [123]


def test_nothing_is_found_where_the_kernel_shows_nothing(port, tmp_path):
    assert busy_text(str(port), tmp_path / "nowhere") == UNKNOWN


# -- the second lock


def exclusive(fd: int) -> bool:
    return bool(struct.unpack("i", fcntl.ioctl(fd, TIOCGEXCL, bytes(4)))[0])


def test_claiming_makes_a_port_exclusive_and_sharing_gives_both_locks_back(terminal):
    fcntl.flock(terminal, fcntl.LOCK_EX)
    claim(terminal)
    assert exclusive(terminal)
    share(terminal)
    assert not exclusive(terminal)
    open_serial(os.ttyname(terminal), BAUD).close()


def test_a_pseudo_terminal_is_not_made_exclusive_as_it_would_stay_so(terminal):
    line = open_serial(os.ttyname(terminal), BAUD)
    assert not exclusive(terminal)
    line.close()


def comm(pid: int) -> str:
    with open(f"/proc/{pid}/comm") as file:
        return file.read().strip()
