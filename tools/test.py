#!/usr/bin/env python3
"""Run the tests of every package: `tools/run python3 tools/test.py`.

Two lanes run beside each other. In the first, one package after the other, run the tests that
have processes, lines and clocks, on real time. In the second, behind them, run those that only
reckon: they get what the first leaves of the processor, so that they disturb nobody. What the
second lane prints is shown a package at a time. On a single processor there is one lane.

Everything that is imported comes from the install folder, as a user gets it. Arguments go to
pytest; `--only NAME` (more than once) takes the tests of one package.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from domain import Domain
from workspace import LOG, ROOT, VENV, reported, say

PATTERNS = ("reach_alpha5_*/test", "launch/test", "underlay/test", "tools/test")
"""Where tests live; the quick ones of the packages run before those of the whole."""

RECKONING = (
    "reach_alpha5_driver/test/test_agreement.py",
    "reach_alpha5_driver/test/test_core.py",
    "reach_alpha5_driver/test/test_fault_layer.py",
    "reach_alpha5_driver/test/test_known_faults_of_other_drivers.py",
    "reach_alpha5_driver/test/test_motion_bounds.py",
    "reach_alpha5_driver/test/test_motion_desk.py",
    "reach_alpha5_driver/test/test_poller.py",
    "reach_alpha5_driver/test/test_rs485.py",
    "reach_alpha5_driver/test/test_schedule.py",
    "reach_alpha5_driver/test/test_straightness.py",
    "reach_alpha5_driver/test/test_supervision.py",
    "reach_alpha5_motion/test",
    "reach_alpha5_arbiter/test/test_arbiter_broken.py",
    "reach_alpha5_arbiter/test/test_arbiter_execution.py",
    "reach_alpha5_arbiter/test/test_arbiter_goals.py",
    "reach_alpha5_arbiter/test/test_arbiter_journal.py",
    "reach_alpha5_arbiter/test/test_arbiter_rules.py",
    "reach_alpha5_arbiter/test/test_arbiter_search.py",
    "reach_alpha5_arbiter/test/test_arbiter_spline.py",
    "reach_alpha5_arbiter/test/test_arbiter_trajectory.py",
    "reach_alpha5_arbiter/test/test_replay_core.py",
    "reach_alpha5_driver/test/test_driver_joint_setpoints.py",
    "reach_alpha5_arbiter/test/test_arbiter_walk.py",
    "reach_alpha5_bags/test/test_bag_reading.py",
    "reach_alpha5_bags/test/test_report_page.py",
    "reach_alpha5_bags/test/test_report_parts.py",
    "reach_alpha5_teleop/test/test_pad_session.py",
    "reach_alpha5_teleop/test/test_pads_detect.py",
    "reach_alpha5_teleop/test/test_pads_docs.py",
    "reach_alpha5_teleop/test/test_pads_guide.py",
    "reach_alpha5_teleop/test/test_pads_profiles.py",
    "reach_alpha5_teleop/test/test_pads_schema.py",
    "reach_alpha5_teleop/test/test_teleop_auto.py",
    "reach_alpha5_teleop/test/test_teleop_core.py",
    "reach_alpha5_teleop/test/test_teleop_fuzz.py",
    "reach_alpha5_teleop/test/test_teleop_pad.py",
    "reach_alpha5_teleop/test/test_teleop_profile.py",
    "reach_alpha5_teleop/test/test_teleop_rest.py",
    "reach_alpha5_view/test/test_view_parts.py",
    "reach_alpha5_view/test/test_view_scene.py",
    "reach_alpha5_view/test/test_view_trail.py",
)
"""Files and folders of the second lane: what takes long there, and starts nothing."""

NICENESS = 19
"""Of the second lane: it waits for the first whenever both want to run."""

NO_TESTS = 5
"""Exit status of pytest when its selection left none: fine for one group, not for all."""


@dataclass(frozen=True)
class Group:
    """Tests that one pytest runs."""

    name: str
    paths: tuple[str, ...]
    """Of files and folders, from the workspace."""
    without: tuple[str, ...] = ()
    """What of them is left to another group."""


@dataclass(frozen=True)
class Result:
    """What became of a group."""

    name: str
    status: int
    """Exit status of pytest."""
    output: str
    """All that it printed."""
    seconds: float

    @property
    def summary(self) -> str:
        """The closing line of pytest; empty if it did not come to that."""
        found = re.findall(r"^.*\bin [\d.]+s.*$", self.output, re.MULTILINE)
        return found[-1].strip(" =") if found else ""


def lanes(folders: Iterable[str]) -> tuple[list[Group], list[Group]]:
    """Return the groups of the first and of the second lane for folders of tests."""
    real, reckoning = [], []
    for folder in folders:
        name = Path(folder).parent.name
        apart = tuple(path for path in RECKONING if Path(path).is_relative_to(folder))
        if folder not in apart:
            real.append(Group(name, (folder,), apart))
        if apart:
            reckoning.append(Group(f"{name}, reckoning", apart))
    return real, reckoning


class Lane:
    """Runs groups one after the other, in a ROS domain of its own."""

    def __init__(self, arguments: Sequence[str], niceness: int = 0) -> None:
        """Be ready to run with these arguments for pytest."""
        self._arguments = arguments
        self._niceness = niceness
        self._domain = Domain()
        self._environment = dict(
            os.environ,
            ROS_DOMAIN_ID=str(self._domain.number),
            ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST",
            ROS_LOG_DIR=str(LOG / "test"),
            # Plug-ins that a ROS installation brings do not know each pytest that is about.
            PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
        )
        # Hundreds of processes start, and each would compile all that it imports.
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run(self, group: Group, live: bool) -> Result:
        """Run a group; `live`: show at once what it prints."""
        command = ["nice", "-n", str(self._niceness), str(VENV / "bin" / "pytest")]
        command += ["-p", "_hypothesis_pytestplugin", "--no-header"]
        command += [f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml"), *self._arguments]
        command += [f"--ignore={ROOT / path}" for path in group.without]
        command += [str(ROOT / path) for path in group.paths]
        started, lines = time.monotonic(), []
        with subprocess.Popen(
            command,
            cwd=ROOT,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as pytest:
            assert pytest.stdout is not None
            for line in pytest.stdout:
                lines.append(line)
                if live:
                    print(line, end="", flush=True)
        seconds = time.monotonic() - started
        return Result(group.name, pytest.returncode, "".join(lines), seconds)

    def close(self) -> None:
        """Let others have its domain."""
        self._domain.release()


def run(
    real: Sequence[Group], reckoning: Sequence[Group], arguments: Sequence[str]
) -> list[Result]:
    """Run the groups of both lanes and show what they print; return what became of them."""
    if len(os.sched_getaffinity(0)) == 1:
        real, reckoning = [*real, *reckoning], ()
    results: list[Result] = []
    waiting: deque[Future[Result]] = deque()

    def show_finished() -> None:
        while waiting and waiting[0].done():
            result = waiting.popleft().result()
            say(f"tests: {result.name}, which ran beside the others")
            print(result.output, end="", flush=True)
            results.append(result)

    first, second = Lane(arguments), Lane(arguments, NICENESS)
    beside = ThreadPoolExecutor(1)
    try:
        waiting.extend(beside.submit(second.run, group, False) for group in reckoning)
        for number, group in enumerate(real, 1):
            say(f"tests {number} of {len(real)}: {group.name}")
            results.append(first.run(group, True))
            show_finished()
        while waiting:
            wait((waiting[0],))
            show_finished()
    finally:
        beside.shutdown(cancel_futures=True)
        first.close()
        second.close()
    return results


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="PACKAGE")
    options, arguments = parser.parse_known_args()
    found = [folder for pattern in PATTERNS for folder in sorted(ROOT.glob(pattern))]
    folders = [folder.relative_to(ROOT).as_posix() for folder in found]
    if options.only:
        folders = [folder for folder in folders if Path(folder).parent.name in options.only]
        if not folders:
            parser.error(f"no tests in {', '.join(options.only)}")
    results = run(*lanes(folders), arguments)
    print()
    for result in results:
        word = {0: "ok", NO_TESTS: "none"}.get(result.status, "FAILED")
        print(f"{word:>7}  {result.name:<32} {result.seconds:6.1f} s  {result.summary}")
    counts = {
        word: sum(int(n) for each in results for n in re.findall(rf"(\d+) {word}", each.summary))
        for word in ("passed", "failed", "error", "skipped")
    }
    failed = [result.name for result in results if result.status not in (0, NO_TESTS)]
    print(
        f"\n{counts['passed']} passed, {counts['failed'] + counts['error']} failed,"
        f" {counts['skipped']} skipped",
        flush=True,
    )
    if failed:
        package = failed[0].partition(",")[0]
        say(f"failed in {'; '.join(failed)}. One alone: make test ARGS='--only {package}'")
        return 1
    if not counts["passed"]:
        say("no test ran")
        return 1
    return 0


if __name__ == "__main__":
    with reported():
        sys.exit(main())
