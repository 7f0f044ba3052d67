"""The latency timer of FTDI adapters: for how long they keep received bytes back.

Such an adapter hands a packet over when it is full or when the timer ends, by default after 16 ms:
longer than the arm takes to answer. Linux shows the timer in sysfs, where root may change it, as a
udev rule may for everyone; whoever has the port open may ask for low latency instead.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import termios
from dataclasses import dataclass
from functools import partial
from pathlib import Path

SYSFS = Path("/sys/class/tty")

SHORTEST = 1
"""What the timer is set to [ms]: the least that the adapters know."""

ASYNC_LOW_LATENCY = 1 << 13
"""In `serial_struct.flags`, from linux/tty_flags.h."""

FLAGS_OFFSET = 16
"""Of `flags` in `serial_struct` of linux/serial.h: four 32-bit fields come before it [bytes]."""

SERIAL_STRUCT_SIZE = 128
"""More than `serial_struct` has on any machine [bytes]."""

UDEV_RULE = 'ACTION=="add", SUBSYSTEM=="usb-serial", DRIVER=="ftdi_sio", ATTR{latency_timer}="1"'


@dataclass(frozen=True, slots=True)
class LatencyTimer:
    """What came of it."""

    milliseconds: int | None
    """The timer as it is now; None: the adapter has none."""
    advice: str
    """What the user should do; empty if there is nothing."""


def shorten_latency(port: str, fd: int, sysfs: Path = SYSFS) -> LatencyTimer:
    """Set the latency timer of an adapter to its shortest, as far as this user may.

    Args:
        port: path of the device; links such as those in /dev/serial/by-id are followed.
        fd: descriptor of the open port.
        sysfs: where the kernel lists terminals.
    """
    name = Path(os.path.realpath(port)).name
    file = sysfs / name / "device" / "latency_timer"
    milliseconds = _read(file)
    # The first may be refused, the second not known to the adapter's driver.
    for shorten in (partial(_write, file), partial(_ask_for_low_latency, fd)):
        if milliseconds is None or milliseconds <= SHORTEST:
            return LatencyTimer(milliseconds, "")
        with contextlib.suppress(OSError):
            shorten()
        milliseconds = _read(file)
    if milliseconds is None or milliseconds <= SHORTEST:
        return LatencyTimer(milliseconds, "")
    return LatencyTimer(
        milliseconds,
        f"the adapter {name} keeps received bytes back for up to {milliseconds} ms, and this user "
        f"may not change that; as root put the line `{UDEV_RULE}` into "
        "/etc/udev/rules.d/99-ftdi-latency.rules, run `udevadm control --reload`, and plug the "
        "adapter in again",
    )


def with_low_latency(serial_struct: bytes) -> bytes:
    """Return a `serial_struct` in which `ASYNC_LOW_LATENCY` is set and nothing else changed."""
    changed = bytearray(serial_struct)
    (flags,) = struct.unpack_from("=i", changed, FLAGS_OFFSET)
    struct.pack_into("=i", changed, FLAGS_OFFSET, flags | ASYNC_LOW_LATENCY)
    return bytes(changed)


def _read(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def _write(file: Path) -> None:
    file.write_text(f"{SHORTEST}\n")


def _ask_for_low_latency(fd: int) -> None:
    settings = fcntl.ioctl(fd, termios.TIOCGSERIAL, bytes(SERIAL_STRUCT_SIZE))
    fcntl.ioctl(fd, termios.TIOCSSERIAL, with_low_latency(settings))
