"""`alpha5-report` on a bag of two hours: how long it takes, and how much memory.

It is one thread that reads a local file: on a core of its own it takes as long as the processor is
at it. Both times are told; where they differ, others were at work.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks import long_dive
from benchmarks.results import Bar, Result, result
from benchmarks.series import Series
from benchmarks.session import Session

HOURS = 2.0
TIME_BAR = Bar("p50", "<=", 120.0)
MEMORY_BAR = Bar("p50", "<=", 500.0)


def run(session: Session) -> list[Result]:
    """Report one bag as a user does, in a process of its own."""
    seconds = float(session.count(round(HOURS * 3600), 60))
    bag = session.folder / "long_dive.mcap"
    count = long_dive.write(bag, seconds)
    session.say(f"  {count} messages of {seconds:.0f} s, {bag.stat().st_size / 1e6:.0f} MB")
    took, processor, memory = _report(bag, session.folder / "long_dive.html")
    series = (
        Series("report_time", "s", (took,)),
        Series("report_cpu", "s", (processor,)),
        Series("report_memory", "MB", (memory,)),
    )
    bars = (TIME_BAR, None, MEMORY_BAR)
    for each in series:
        session.say(each.text())
    return [result(each, bar) for each, bar in zip(series, bars, strict=True)]


def _report(bag: Path, page: Path) -> tuple[float, float, float]:
    """Return how long it took, how long the processor was at it [s], and the most memory [MB]."""
    command = [sys.executable, "-m", "reach_alpha5_bags.report.cli", str(bag), "-o", str(page)]
    begin = time.monotonic()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    took = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6
