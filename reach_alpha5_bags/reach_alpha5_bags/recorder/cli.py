"""The command `alpha5-record`."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from rclpy.utilities import remove_ros_args

from reach_alpha5_bags.profile import Entry, Profile, ProfileError, Selection
from reach_alpha5_bags.recorder import COMPLETE, MISSING, USAGE
from reach_alpha5_bags.recorder.command import rosbag2_command
from reach_alpha5_bags.settings import MCAP, QOS, installed, profile_of

WRITERS = ("auto", "rosbag2", "own")
NEEDED = ("ros2bag", "rosbag2_storage_mcap")
"""What `ros2 bag record --storage mcap` consists of."""

EPILOG = f"""\
exit status: {COMPLETE} = all that came is in the bag, {MISSING} = messages are missing (it says
how many), {USAGE} = nothing was recorded. With rosbag2 the exit status is that of `ros2 bag
record`. Ctrl-C ends the recording.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser().parse_args(remove_ros_args(["alpha5-record", *given])[1:])
    try:
        profile = profile_of(options.profile)
    except ProfileError as error:
        print(f"alpha5-record: {error}", file=sys.stderr)
        return USAGE
    namespaces = [*options.namespaces, *options.named] or ["alpha5"]
    entries = profile.entries(namespaces) | {name: Entry(name) for name in options.also}
    selection = Selection(entries)
    if options.print_qos:
        print(_yaml(selection.overrides()), end="")
        return COMPLETE
    output = options.output or Path(time.strftime("dive_%Y_%m_%d-%H_%M_%S"))
    if output.exists():
        print(f"alpha5-record: {output} exists already", file=sys.stderr)
        return USAGE
    writer = options.writer
    if writer == "auto":
        writer = "rosbag2" if _has_rosbag2() else "own"
    if options.print_command or writer == "rosbag2":
        return _rosbag2(profile, selection, output, is_shown=options.print_command)
    return _own(profile, selection, output, given)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="alpha5-record",
        description="Record a dive as a bag (MCAP): by rosbag2 where it is installed, else by a "
        "recorder that writes the same.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "namespaces", nargs="*", metavar="NAMESPACE", default=[],
        help="of each arm, with or without slashes (default: alpha5)",
    )  # fmt: skip
    parser.add_argument(
        "--namespace", dest="named", action="append", default=[], metavar="NS",
        help="the same, as the other commands have it; once for each arm",
    )  # fmt: skip
    parser.add_argument(
        "--output", "-o", type=Path, metavar="FOLDER",
        help="where to; must not exist (default: dive_ and the time of day, here)",
    )  # fmt: skip
    parser.add_argument(
        "--also", nargs="+", default=[], metavar="TOPIC", type=_full_name,
        help="topics to record beside those of the profile, by their full names",
    )  # fmt: skip
    parser.add_argument(
        "--profile", type=Path, metavar="FILE", help="instead of the installed record.yaml"
    )
    parser.add_argument(
        "--writer", choices=WRITERS, default="auto",
        help="auto: rosbag2 if it is there (default); own: the recorder of this package",
    )  # fmt: skip
    parser.add_argument(
        "--print-command", action="store_true", help="print the command of rosbag2, and end"
    )
    parser.add_argument(
        "--print-qos", action="store_true", help="print the QoS overrides for rosbag2, and end"
    )
    return parser


def _full_name(text: str) -> str:
    if not text.startswith("/"):
        raise argparse.ArgumentTypeError(f"{text!r} does not begin with a slash")
    return text


def _yaml(value: Any) -> str:
    return str(yaml.safe_dump(value, sort_keys=False))


def _has_rosbag2() -> bool:
    try:
        for package in NEEDED:
            get_package_share_directory(package)
    except PackageNotFoundError:
        return False
    return shutil.which("ros2") is not None


def _rosbag2(profile: Profile, selection: Selection, output: Path, *, is_shown: bool) -> int:
    """Become `ros2 bag record`, or show how to."""
    qos = _qos_file(selection)
    command = rosbag2_command(profile, selection, output, installed(MCAP), qos)
    if is_shown:
        print(shlex.join(command))
        return COMPLETE
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"alpha5-record: cannot start ros2 bag: {error}", file=sys.stderr)
        return USAGE


def _qos_file(selection: Selection) -> Path:
    """Return a file of the QoS overrides: the installed one, or one that is made for it."""
    overrides = selection.overrides()
    if overrides == yaml.safe_load(installed(QOS).read_text()):
        return installed(QOS)
    # It stays: rosbag2 reads it after this process has become it.
    with tempfile.NamedTemporaryFile(
        "w", prefix="alpha5_record_qos_", suffix=".yaml", delete=False
    ) as file:
        file.write(_yaml(overrides))
    return Path(file.name)


def _own(profile: Profile, selection: Selection, output: Path, arguments: list[str]) -> int:
    if importlib.util.find_spec("mcap") is None:
        print(
            "alpha5-record: neither rosbag2 nor the Python package mcap is there; install one of "
            "them, for example with `pip install mcap`",
            file=sys.stderr,
        )
        return USAGE
    from reach_alpha5_bags.recorder.running import record

    return record(profile, selection, output, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
