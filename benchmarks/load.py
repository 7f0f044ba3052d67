"""Processor and memory that teleop, arbiter, driver and guard take, idle and jogging."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from process_table import guard_of
from sensor_msgs.msg import Joy

from benchmarks.hops import HopChain
from benchmarks.results import Bar, Result, result
from benchmarks.rig import BaseDemands, Rig
from benchmarks.series import Series
from benchmarks.session import Session

NODES = ("teleop", "arbiter", "driver")
GUARD = "guard"

IDLE_BAR = Bar("p50", "<=", 10.0)
JOGGING_BAR = Bar("p50", "<=", 40.0)
MEMORY_BAR = Bar("p50", "<=", 300.0)
GUARD_MEMORY_BAR = Bar("p50", "<=", 15.0)
GUARD_CPU_BAR = Bar("p50", "<=", 0.0)
"""Not one tick of the clock while the arm is still."""

PAD_SILENCE = 1.0
"""Seconds after which a silent pad is an absent one, with time to spare."""

WINDOW = 2.0
"""Seconds of one sample."""


def run(session: Session) -> list[Result]:
    """Read /proc: without a pad, with a pad that nobody touches, with a command every 20 ms."""
    rig = session.rig()
    windows = session.count(10, 2)
    time.sleep(PAD_SILENCE)
    silent, _ = _cpu(session, rig, "no_pad", windows, lambda sign: time.sleep(WINDOW))
    rig.settle()
    idle, guard_idle = _cpu(session, rig, "idle", windows, lambda sign: rig.hand.hold(WINDOW))
    rig.jog()
    mark = rig.stack.mark()
    jogging, guard_jogging = _cpu(session, rig, "jogging", windows, lambda sign: _turn(rig, sign))
    commands = BaseDemands(rig.stack.wire(mark)).moving / (windows * WINDOW)
    session.say(f"    while each joint was told its velocity {commands:.0f} times a second")
    rig.settle()
    memory = {name: _resident(pid) for name, pid in _processes(rig).items()}
    with HopChain(rig.client, rig.stack.environment, Joy, 1, rig.folder) as chain:
        bare = _resident(*chain.pids)
    session.say(
        "  resident [MB]: "
        + ", ".join(f"{name} {amount:.0f}" for name, amount in memory.items())
        + f"; a bare rclpy node {bare:.0f}"
    )
    total = sum(memory.values())
    reference = len(NODES) * bare
    return [
        result(silent),
        result(idle, IDLE_BAR),
        result(jogging, JOGGING_BAR),
        result(guard_idle, GUARD_CPU_BAR),
        result(guard_jogging),
        result(Series("memory", "MB", (total,)), MEMORY_BAR, reference, total / reference),
        result(Series("memory_guard", "MB", (memory[GUARD],)), GUARD_MEMORY_BAR),
    ]


def _processes(rig: Rig) -> dict[str, int]:
    """Return the processes that count: the nodes, and the guard, which the driver has started."""
    pids = {node: rig.stack.pid(node) for node in NODES}
    return pids | {GUARD: guard_of(pids["driver"])}


def _turn(rig: Rig, sign: int) -> None:
    """Jog there and back for one window."""
    for half in (sign, -sign):
        rig.push(half)
        rig.hand.hold(WINDOW / 2.0)


def _cpu(
    session: Session, rig: Rig, name: str, windows: int, act: Callable[[int], None]
) -> tuple[Series, Series]:
    """Sample the processor time of all together, and of the guard alone, while `act` goes on."""
    pids = _processes(rig)
    samples: dict[str, list[float]] = {process: [] for process in pids}
    for number in range(windows):
        begin = time.monotonic()
        before = {process: _processor_time(pid) for process, pid in pids.items()}
        act(-1 if number % 2 else 1)
        seconds = time.monotonic() - begin
        for process, pid in pids.items():
            used = _processor_time(pid) - before[process]
            samples[process].append(100.0 * used / seconds)
    together = Series(
        f"cpu_{name}", "% of a core", tuple(map(sum, zip(*samples.values(), strict=True)))
    )
    session.say(together.text())
    session.say(
        "    of it: "
        + ", ".join(f"{process} {sum(each) / windows:.1f}" for process, each in samples.items())
    )
    return together, Series(f"cpu_guard_{name}", "% of a core", tuple(samples[GUARD]))


def _processor_time(pid: int) -> float:
    """Return the processor time that a process has used [s]."""
    text = Path(f"/proc/{pid}/stat").read_text()
    fields = text[text.rindex(")") + 2 :].split()  # from the third field, the state, on
    user, system = int(fields[11]), int(fields[12])
    return (user + system) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int) -> float:
    """Return the resident memory of a process [MB = 1e6 bytes]."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
