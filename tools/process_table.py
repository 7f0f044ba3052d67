"""Who has started whom on this machine, from /proc: to find the guard of a driver."""

from __future__ import annotations

import contextlib
from pathlib import Path


def command_of(pid: int) -> list[str]:
    """Return the command line of a process."""
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started and that live."""
    children = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has just ended
            text = (folder / "stat").read_text()
            if int(text[text.rindex(")") + 2 :].split()[1]) == pid:
                children.append(int(folder.name))
    return children


def guard_of(driver: int) -> int:
    """Return the guard that a driver has started.

    Raises:
        RuntimeError: it has none, or more than one.
    """
    guards = [pid for pid in children_of(driver) if is_guard(pid)]
    if len(guards) != 1:
        raise RuntimeError(f"the driver {driver} has {len(guards)} guards")
    return guards[0]


def is_guard(pid: int) -> bool:
    """Whether a process lives and is a guard, and not somebody who got its number later."""
    try:
        return any("guard/process.py" in word for word in command_of(pid))
    except OSError:
        return False
