#!/usr/bin/env python3
"""Check the workspace without building it: `make lint`.

Style, types of the cores, import contracts, the robot description, the manifests.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

import manifests
from workspace import ROOT, VENV, reported, say

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def sources() -> list[Path]:
    """Return the folders that hold Python packages of ours."""
    return sorted(path.parent.parent for path in ROOT.glob("reach_alpha5_*/*/__init__.py"))


def tool(*arguments: str) -> bool:
    """Run a tool of the environment on the sources; return whether it is content."""
    path = [str(folder) for folder in [ROOT / "tools", *sources()]]
    environment = dict(
        os.environ,
        PATH=f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}",
        PYTHONPATH=os.pathsep.join(path),
        MYPYPATH=os.pathsep.join(path[1:]),
        AMENT_PREFIX_PATH=os.environ.get("AMENT_PREFIX_PATH", str(VENV)),
        _ROS_WHEELS_BOOTSTRAP_COMPLETE="1",
    )
    return subprocess.run(arguments, cwd=ROOT, env=environment, check=False).returncode == 0


def cores() -> list[str]:
    """Return the files of all modules that the import contract does not name as shells."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    shells = next(c["shells"] for c in settings["contracts"] if c["type"] == "pure_cores")
    files = []
    for folder in sources():
        for file in sorted((folder / folder.name).rglob("*.py")):
            module = ".".join(file.relative_to(folder).with_suffix("").parts)
            module = module.removesuffix(".__init__")
            if not any(fnmatchcase(module, p) or fnmatchcase(module, p + ".*") for p in shells):
                files.append(str(file.relative_to(ROOT)))
    return files


def description() -> bool:
    """Expand each instance file of the description and load what comes out."""
    script = (
        "import sys, pinocchio, xacro\n"
        "for path in sys.argv[1:]:\n"
        "    text = xacro.process_file(path).toxml()\n"
        "    if '.srdf.' not in path:\n"
        "        model = pinocchio.buildModelFromXML(text)\n"
        "        print(f'  {path}: {model.njoints - 1} joints, {model.nframes} frames')\n"
    )
    files = sorted(ROOT.glob("reach_alpha5_description/*/drone.*.xacro"))
    names = [str(file.relative_to(ROOT)) for file in files]
    return bool(files) and tool("python3", "-c", script, *names)


def manifest_rules() -> bool:
    """Check the package manifests."""
    problems = manifests.problems(ROOT)
    for problem in problems:
        print(f"  {problem}")
    return not problems


CONCISE = ("--quiet", "--output-format", "concise")

CHECKS: list[tuple[str, Callable[[], bool], str]] = [
    ("ruff check", lambda: tool("ruff", "check", *CONCISE, "."), "ruff check --fix ."),
    ("ruff format", lambda: tool("ruff", "format", "--check", *CONCISE, "."), "ruff format ."),
    ("mypy --strict, cores", lambda: tool("mypy", "--no-error-summary", *cores()), ""),
    ("import contracts", lambda: tool("lint-imports", "--no-logo"), ""),
    ("robot description", description, ""),
    ("package manifests", manifest_rules, ""),
]
"""Name, check, and the command that mends most of it."""


def main() -> int:
    """Run all checks, also after one that fails."""
    failed = []
    for name, check, remedy in CHECKS:
        started = time.monotonic()
        well = check()
        say(f"{'ok' if well else 'FAILED':<6} {name} ({time.monotonic() - started:.1f} s)")
        if not well:
            failed.append(name + (f"  (mends most of it: .venv/bin/{remedy})" if remedy else ""))
    for line in failed:
        say(f"not in order: {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    with reported():
        sys.exit(main())
