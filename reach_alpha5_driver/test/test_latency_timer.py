"""The latency timer of FTDI adapters, on files such as the kernel shows."""

import os
import pty
import struct
from pathlib import Path

import pytest

from reach_alpha5_driver.transport.latency_timer import (
    ASYNC_LOW_LATENCY,
    LatencyTimer,
    shorten_latency,
    with_low_latency,
)

READ_ONLY = Path("/proc/sys/kernel/ngroups_max")
"""A number above one in a file that nobody, not even root, can write."""


@pytest.fixture
def terminal():
    """A terminal that knows no low latency."""
    master, slave = pty.openpty()
    yield slave
    os.close(slave)
    os.close(master)


@pytest.fixture
def sysfs(tmp_path):
    """A folder as /sys/class/tty, and a timer file in it for the adapter ttyUSB3."""
    (tmp_path / "class" / "ttyUSB3" / "device").mkdir(parents=True)
    return tmp_path / "class"


def timer(sysfs: Path) -> Path:
    return sysfs / "ttyUSB3" / "device" / "latency_timer"


def test_a_long_timer_is_set_to_one_millisecond(sysfs, terminal):
    timer(sysfs).write_text("16\n")
    assert shorten_latency("/dev/ttyUSB3", terminal, sysfs) == LatencyTimer(1, "")
    assert timer(sysfs).read_text().strip() == "1"


def test_a_timer_that_is_short_already_is_left_alone(sysfs, terminal):
    timer(sysfs).write_text("1\n")
    timer(sysfs).chmod(0o444)
    written = timer(sysfs).stat().st_mtime_ns
    assert shorten_latency("/dev/ttyUSB3", terminal, sysfs) == LatencyTimer(1, "")
    assert timer(sysfs).stat().st_mtime_ns == written


def test_a_link_to_the_port_is_followed(sysfs, terminal, tmp_path):
    timer(sysfs).write_text("16\n")
    link = tmp_path / "usb-FTDI_arm-port0"
    link.symlink_to("/dev/ttyUSB3")
    assert shorten_latency(str(link), terminal, sysfs) == LatencyTimer(1, "")


def test_a_timer_that_cannot_be_changed_is_told_with_the_rule_that_changes_it(sysfs, terminal):
    timer(sysfs).symlink_to(READ_ONLY)
    found = shorten_latency("/dev/ttyUSB3", terminal, sysfs)
    assert found.milliseconds == int(READ_ONLY.read_text())
    assert f"ttyUSB3 keeps received bytes back for up to {found.milliseconds} ms" in found.advice
    assert 'SUBSYSTEM=="usb-serial", DRIVER=="ftdi_sio", ATTR{latency_timer}="1"' in found.advice
    assert "/etc/udev/rules.d/" in found.advice


@pytest.mark.parametrize("port", ["/dev/ttyACM0", "/dev/ttyS0", "/dev/pts/1", "hwgrep://arm"])
def test_a_port_without_a_timer_needs_no_advice(sysfs, terminal, port):
    assert shorten_latency(port, terminal, sysfs) == LatencyTimer(None, "")


def test_a_timer_that_is_no_number_is_none(sysfs, terminal):
    timer(sysfs).write_text("fast\n")
    assert shorten_latency("/dev/ttyUSB3", terminal, sysfs) == LatencyTimer(None, "")


def test_asking_for_low_latency_changes_one_flag_alone():
    before = struct.pack("=4i i 5i", 1, 2, 3, 4, 0x10, 5, 6, 7, 8, 9)
    after = with_low_latency(before)
    assert struct.unpack("=4i i 5i", after) == (
        1,
        2,
        3,
        4,
        0x10 | ASYNC_LOW_LATENCY,
        5,
        6,
        7,
        8,
        9,
    )
    assert with_low_latency(after) == after
