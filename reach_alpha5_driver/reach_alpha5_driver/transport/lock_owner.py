"""Who has a serial port to himself: by the locks and open files that the kernel lists in /proc.

Other users' processes show less: their locks can be seen, their open files only by root. So this
may find nobody although somebody is there.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")

MAX_COMMAND = 60
"""Most characters of a command line that are shown."""

MAX_NAMED = 3
"""Most programs that are named; whoever knows three knows where to look."""

UNKNOWN = "another program holds the port; close it (as root, `fuser -v PORT` names it)"


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that holds a port."""

    pid: int
    name: str
    """Of the program, as `ps` shows it."""
    command: str
    """Its command line, shortened; empty if it cannot be read."""

    def __str__(self) -> str:
        """Name the process so that it can be found and closed."""
        known = f"pid {self.pid}"
        if self.command not in ("", self.name):
            known += f": {self.command}"
        return f"{self.name} ({known})"


def busy_text(port: str, proc: Path = PROC) -> str:
    """Say who holds `port`, as far as that can be told, and what to do about it."""
    found = holders(port, proc)
    if not found:
        return UNKNOWN
    names = " and ".join(map(str, found[:MAX_NAMED]))
    return f"the port is held by {names}; close {'it' if len(found) == 1 else 'them'}"


def holders(port: str, proc: Path = PROC) -> tuple[Holder, ...]:
    """Return the processes that hold `port`, by process id; this one is never among them.

    A lock outlives the process that took it where another one has inherited the descriptor. Then
    the kernel names nobody, and whoever has the port open is the holder.

    Args:
        port: path of the device; links are followed.
        proc: where the kernel lists processes.
    """
    try:
        device = os.stat(port)
    except OSError:
        return ()
    return _known(_lockers(device, proc), proc) or _known(_openers(device, proc), proc)


def _known(pids: set[int], proc: Path) -> tuple[Holder, ...]:
    """Return what is known of those processes that are alive and not this one."""
    found = (_holder(pid, proc) for pid in sorted(pids - {os.getpid()}))
    return tuple(holder for holder in found if holder is not None)


def _lockers(device: os.stat_result, proc: Path) -> set[int]:
    """Return the processes that took a lock on the device's file.

    A line of /proc/locks: `1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE START END`, where the
    numbers of the file system are hexadecimal and that of the inode is not.
    """
    file = f"{os.major(device.st_dev):02x}:{os.minor(device.st_dev):02x}:{device.st_ino}"
    try:
        lines = (proc / "locks").read_text().splitlines()
    except OSError:
        return set()
    fields = (line.split() for line in lines)
    return {int(words[4]) for words in fields if words[4:] and words[5:6] == [file]}


def _openers(device: os.stat_result, proc: Path) -> set[int]:
    """Return the processes that have the device open, as far as we may look."""
    pids = set()
    for folder in proc.glob("[0-9]*/fd"):
        # Processes end while we look, and those of others do not show their files.
        with contextlib.suppress(OSError):
            if any(_is_device(link, device) for link in folder.iterdir()):
                pids.add(int(folder.parent.name))
    return pids


def _is_device(link: Path, device: os.stat_result) -> bool:
    with contextlib.suppress(OSError):
        # Only devices are looked at more closely: a file on a dead network share would block.
        if os.readlink(link).startswith("/dev/"):
            there = os.stat(link)
            return (there.st_rdev, there.st_ino) == (device.st_rdev, device.st_ino)
    return False


def _holder(pid: int, proc: Path) -> Holder | None:
    """Return what is known of a process; None if it has ended."""
    try:
        name = (proc / str(pid) / "comm").read_text(errors="replace").strip()
    except OSError:
        return None
    command = ""
    with contextlib.suppress(OSError):
        words = (proc / str(pid) / "cmdline").read_text(errors="replace").split("\0")
        command = " ".join(words).strip()
    if len(command) > MAX_COMMAND:
        command = command[: MAX_COMMAND - 1] + "…"
    return Holder(pid, name, command)
