"""The machine that a run was measured on."""

from __future__ import annotations

import datetime
import os
import platform
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Machine:
    """What one needs to know to read the numbers of a run.

    Attributes:
        cpu: model of the processor.
        cores: processors that this process may use.
        memory_gb: main memory [GB].
        kernel: of the operating system.
        python: version and implementation.
        rmw: middleware of ROS.
        load_before: load average over the last minute, before the run: what others did.
        date: when the run began, UTC.
    """

    cpu: str
    cores: int
    memory_gb: float
    kernel: str
    python: str
    rmw: str
    load_before: float
    date: str

    @staticmethod
    def this() -> Machine:
        """Describe this machine, now."""
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return Machine(
            cpu=_cpu(),
            cores=len(os.sched_getaffinity(0)),
            memory_gb=round(memory / 1e9, 1),
            kernel=f"{platform.system()} {platform.release()}",
            python=f"{platform.python_implementation()} {platform.python_version()}",
            rmw=os.environ.get("RMW_IMPLEMENTATION", "default"),
            load_before=round(os.getloadavg()[0], 2),
            date=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        )

    def __str__(self) -> str:
        """Return it in one line."""
        return (
            f"{self.cpu}, {self.cores} cores, {self.memory_gb} GB, {self.kernel}, {self.python}, "
            f"{self.rmw}, load {self.load_before}, {self.date}"
        )


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()
