#!/usr/bin/env python3
"""Run the tests of every package, one package after the other: `tools/run python3 tools/test.py`.

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
from collections.abc import Sequence
from pathlib import Path

from domain import Domain
from workspace import LOG, ROOT, VENV, reported, say

PATTERNS = ("reach_alpha5_*/test", "launch/test", "underlay/test", "tools/test")
"""Where tests live; the quick ones of the packages run before those of the whole."""

NO_TESTS = 5
"""Exit status of pytest when its selection left none: fine for one package, not for all."""


def run(folder: Path, arguments: Sequence[str], environment: dict[str, str]) -> tuple[int, str]:
    """Run the tests of one folder; return the exit status and the closing line of pytest."""
    command = [str(VENV / "bin" / "pytest"), "-p", "_hypothesis_pytestplugin", "--no-header"]
    command += [f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml"), *arguments, str(folder)]
    last = ""
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as pytest:
        assert pytest.stdout is not None
        for line in pytest.stdout:
            print(line, end="", flush=True)
            if re.search(r"\bin [\d.]+s", line):
                last = line.strip(" =\n")
    return pytest.returncode, last


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="PACKAGE")
    options, arguments = parser.parse_known_args()
    folders = [folder for pattern in PATTERNS for folder in sorted(ROOT.glob(pattern))]
    if options.only:
        folders = [folder for folder in folders if folder.parent.name in options.only]
        if not folders:
            parser.error(f"no tests in {', '.join(options.only)}")
    domain = Domain()
    environment = dict(
        os.environ,
        ROS_DOMAIN_ID=str(domain.number),
        ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST",
        ROS_LOG_DIR=str(LOG / "test"),
        # Plug-ins that a ROS installation brings do not know each pytest that is about.
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
    )
    results: list[tuple[str, int, str, float]] = []
    for number, folder in enumerate(folders, 1):
        name = folder.parent.name
        say(f"tests {number} of {len(folders)}: {name}")
        started = time.monotonic()
        status, line = run(folder, arguments, environment)
        results.append((name, status, line, time.monotonic() - started))
    domain.release()
    print()
    for name, status, line, seconds in results:
        word = {0: "ok", NO_TESTS: "none"}.get(status, "FAILED")
        print(f"{word:>7}  {name:<26} {seconds:6.1f} s  {line}")
    counts = {
        word: sum(int(n) for result in results for n in re.findall(rf"(\d+) {word}", result[2]))
        for word in ("passed", "failed", "error", "skipped")
    }
    failed = [name for name, status, *_ in results if status not in (0, NO_TESTS)]
    print(
        f"\n{counts['passed']} passed, {counts['failed'] + counts['error']} failed,"
        f" {counts['skipped']} skipped",
        flush=True,
    )
    if failed:
        say(f"failed in {', '.join(failed)}; one alone: make test ARGS='--only {failed[0]}'")
        return 1
    if not counts["passed"]:
        say("no test ran")
        return 1
    return 0


if __name__ == "__main__":
    with reported():
        sys.exit(main())
