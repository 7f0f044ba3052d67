"""Processor and memory that teleop, arbiter and driver take, idle and jogging."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from sensor_msgs.msg import Joy

from benchmarks.hops import HopChain
from benchmarks.results import Bar, Result, result
from benchmarks.rig import BaseDemands, Rig
from benchmarks.series import Series
from benchmarks.session import Session

NODES = ("teleop", "arbiter", "driver")

IDLE_BAR = Bar("p50", "<=", 10.0)
JOGGING_BAR = Bar("p50", "<=", 40.0)
MEMORY_BAR = Bar("p50", "<=", 300.0)

PAD_SILENCE = 1.0
"""Seconds after which a silent pad is an absent one, with time to spare."""

WINDOW = 2.0
"""Seconds of one sample."""


def run(session: Session) -> list[Result]:
    """Read /proc: without a pad, with a pad that nobody touches, with a command every 20 ms."""
    rig = session.rig()
    windows = session.count(10, 2)
    time.sleep(PAD_SILENCE)
    silent = _cpu(session, rig, "cpu_no_pad", windows, lambda sign: time.sleep(WINDOW))
    rig.settle()
    idle = _cpu(session, rig, "cpu_idle", windows, lambda sign: rig.hand.hold(WINDOW))
    rig.jog()
    mark = rig.stack.mark()
    jogging = _cpu(session, rig, "cpu_jogging", windows, lambda sign: _turn(rig, sign))
    commands = BaseDemands(rig.stack.wire(mark)).moving / (windows * WINDOW)
    session.say(f"    while each joint was told its velocity {commands:.0f} times a second")
    rig.settle()
    memory = {name: _resident(rig.stack.pid(name)) for name in NODES}
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
        result(Series("memory", "MB", (total,)), MEMORY_BAR, reference, total / reference),
    ]


def _turn(rig: Rig, sign: int) -> None:
    """Jog there and back for one window."""
    for half in (sign, -sign):
        rig.push(half)
        rig.hand.hold(WINDOW / 2.0)


def _cpu(
    session: Session, rig: Rig, name: str, windows: int, act: Callable[[int], None]
) -> Series:
    """Sample the processor time of all nodes together while `act` goes on."""
    pids = {node: rig.stack.pid(node) for node in NODES}
    samples = []
    first = {node: _processor_time(pid) for node, pid in pids.items()}
    begin = time.monotonic()
    for number in range(windows):
        window_begin = time.monotonic()
        before = sum(map(_processor_time, pids.values()))
        act(-1 if number % 2 else 1)
        used = sum(map(_processor_time, pids.values())) - before
        samples.append(100.0 * used / (time.monotonic() - window_begin))
    seconds = time.monotonic() - begin
    series = Series(name, "% of a core", tuple(samples))
    session.say(series.text())
    session.say(
        "    of it: "
        + ", ".join(
            f"{node} {100.0 * (_processor_time(pid) - first[node]) / seconds:.1f}"
            for node, pid in pids.items()
        )
    )
    return series


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
