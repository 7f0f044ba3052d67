"""Command line: the arguments of `ros2 launch`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from launch_runner.description import describe
from launch_runner.document import read
from launch_runner.errors import LaunchError
from launch_runner.plan import Argument
from launch_runner.processes import Runner
from launch_runner.substitution import find_share

EXAMPLES = """examples:
  tools/launch reach_alpha5_bringup alpha5.launch.xml sim:=true joy:=false tf:=false
  tools/launch reach_alpha5_bringup alpha5.launch.xml --show-args
"""


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="tools/launch",
        description="Run a launch file where `ros2 launch` is missing.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-s", "--show-args", action="store_true", help="describe the arguments")
    parser.add_argument("-p", "--print", action="store_true", help="print what would be run")
    parser.add_argument("target", help="a package, or the path of a launch file")
    parser.add_argument("rest", nargs="*", metavar="[FILE] name:=value", help="as in ros2 launch")
    if not argv:
        parser.error("give PACKAGE FILE, or the path of a launch file; --help has examples")
    return parser.parse_intermixed_args(argv)


def locate(target: str, rest: list[str]) -> tuple[Path, list[str]]:
    """Return the launch file and the remaining words."""
    path = Path(target)
    if path.is_file():
        return path, rest
    if not rest or ":=" in rest[0]:
        raise LaunchError(f"{target} is no file; give PACKAGE FILE, or the path of a file")
    folder = find_share(target, os.environ) / "launch"
    path = folder / rest[0]
    if not path.is_file():
        names = ", ".join(sorted(p.name for p in folder.glob("*.launch.xml")))
        raise LaunchError(f"package '{target}' has no launch file '{rest[0]}'; it has: {names}")
    return path, rest[1:]


def arguments(words: Sequence[str]) -> dict[str, str]:
    """Return the arguments given as name:=value."""
    given: dict[str, str] = {}
    for word in words:
        name, sign, value = word.partition(":=")
        if not sign or not name:
            raise LaunchError(f"{word!r} is no argument; write name:=value")
        if not value:
            raise LaunchError(f"{word!r} has no value, and `ros2 launch` takes none like it")
        given[name] = value
    return given


def show(described: Sequence[Argument]) -> str:
    """Return a description of arguments, laid out as that of `ros2 launch --show-args`."""
    if not described:
        return "Arguments (pass arguments as '<name>:=<value>'):\n\n  No arguments."
    lines = ["Arguments (pass arguments as '<name>:=<value>'):"]
    for argument in described:
        mark = "*" if argument.conditional else ""
        lines += ["", f"    '{argument.name}':{mark}", f"        {argument.description}"]
        if argument.default is not None:
            lines.append(f"        (default: {argument.default!r})")
    if any(argument.conditional for argument in described):
        lines += ["", "* argument(s) which are only used if specific conditions occur"]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    options = parse(sys.argv[1:] if argv is None else argv)
    asked_to_leave = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: asked_to_leave.set())
    try:
        path, words = locate(options.target, options.rest)
        if options.show_args:
            print(show(describe(path, os.environ)))
            return 0
        plan = read(path, arguments(words), os.environ)
        if options.print:
            for process in plan.processes:
                print(f"[{process.label}] {' '.join(process.command)}")
            return 0
        with Runner(plan.processes) as runner:
            return runner.wait(asked_to_leave)
    except LaunchError as error:
        for line in str(error).splitlines():
            print(f"launch: {line}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"launch: {error}", file=sys.stderr)
        return 1
