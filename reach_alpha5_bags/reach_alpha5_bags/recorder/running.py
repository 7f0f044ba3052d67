"""A recording by the recorder of this package, from the first message to the last."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import yaml

from reach_alpha5_bags.profile import Profile, Selection
from reach_alpha5_bags.recorder import COMPLETE, MISSING, USAGE
from reach_alpha5_bags.recorder.node import RecorderNode
from reach_alpha5_bags.recorder.tape import Tape
from reach_alpha5_bags.recorder.writer import COMPRESSIONS, BagWriter, Layout
from reach_alpha5_bags.settings import MCAP, installed
from reach_alpha5_common.node_life import run


def layout_of(profile: Profile) -> Layout:
    """Return how the bag is written: by the profile, and by the options of the MCAP files."""
    options = yaml.safe_load(installed(MCAP).read_text())
    return Layout(
        max_file_size=profile.max_file_size,
        max_file_duration=profile.max_file_duration,
        flush_period=profile.flush_period,
        keep_free=profile.keep_free,
        chunk_size=options["chunkSize"],
        compression=COMPRESSIONS[options["compression"]],
        distribution=os.environ.get("ROS_DISTRO", ""),
    )


def record(profile: Profile, selection: Selection, output: Path, arguments: list[str]) -> int:
    """Record until a signal comes, and return the exit status of the command.

    Args:
        profile: how.
        selection: which topics.
        output: folder of the bag.
        arguments: of the command, for ROS.
    """
    try:
        writer = BagWriter(output, layout_of(profile))
    except OSError as error:
        say(f"cannot record: {error}")
        return USAGE
    tape = Tape(writer, profile.max_waiting)
    say(f"recording into {output}")
    try:
        status = run(lambda: RecorderNode(selection, tape, str(output), say), arguments)
    finally:
        tape.close()
    if status:
        return USAGE
    done = tape.status()
    say(f"{output}: {done.written} messages, {done.bytes / 1e6:.1f} MB; {done.missing} missing")
    if done.trouble:
        say(f"at the end: {done.trouble}")
    return MISSING if done.missing or done.trouble else COMPLETE


def say(sentence: str) -> None:
    """Tell a person."""
    line = "\r\033[K" if sys.stderr.isatty() else ""
    print(f"{line}alpha5-record: {sentence}", file=sys.stderr, flush=True)
