"""The command `alpha5-report`."""

from __future__ import annotations

import argparse
import math
import struct
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from reach_alpha5_bags.arguments import moment
from reach_alpha5_bags.reading import Bag, BagError, resolve
from reach_alpha5_bags.report.dive import FEEDS, Dive, stamp_of
from reach_alpha5_bags.report.page import Reading, page
from reach_alpha5_bags.report.progress import Progress
from reach_alpha5_common.broken_pipe import quiet

WRITTEN, NOTHING, USAGE = 0, 1, 2
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

OURS = ("reach_alpha5_msgs/msg/ArbiterState", "reach_alpha5_msgs/msg/ArmState",
        "reach_alpha5_msgs/msg/GripperTel", "reach_alpha5_msgs/msg/DriverCommand",
        "sensor_msgs/msg/JointState", "sensor_msgs/msg/Joy")  # fmt: skip
"""Types by which the namespace of an arm is found, the surest first."""

EPILOG = f"""\
exit status: {WRITTEN} = the page is written, also of a bag that is damaged or lacks topics (the
page says what is missing), {NOTHING} = nothing of the bag can be read or the page cannot be
written, {USAGE} = the command line is wrong.
"""


@quiet
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if not options.begin < options.end:
        parser.error("--from must be before --to")
    output = options.output or Path(f"{options.bag.resolve().name.removesuffix('.mcap')}.html")
    if output.resolve() == options.bag.resolve():
        parser.error("-o is the bag itself; name another file")
    try:
        with Bag(options.bag) as bag:
            text = _report(bag, options)
    except BagError as error:
        print(f"alpha5-report: {options.bag}: {error}", file=sys.stderr)
        return NOTHING
    except KeyboardInterrupt:
        return INTERRUPTED
    try:
        output.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        print(f"alpha5-report: cannot write {output}: {error.strerror}", file=sys.stderr)
        return NOTHING
    print(f"{output}: {output.stat().st_size / 1e6:.1f} MB")
    if options.open:
        webbrowser.open(output.resolve().as_uri())
    return WRITTEN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="alpha5-report",
        description="Make one HTML page of a dive from its bag. It needs nothing else to be "
        "looked at, and no network.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("bag", type=Path, help="folder of a bag, .mcap or .db3 file")
    parser.add_argument(
        "-o", dest="output", metavar="FILE", type=Path,
        help="where to write the page (default: the bag's name with .html, here)",
    )  # fmt: skip
    parser.add_argument(
        "--namespace", metavar="NS", help="of the arm, if the bag holds more than one"
    )
    parser.add_argument(
        "--from", dest="begin", metavar="T", type=moment, default=0.0,
        help="leave out what is before T seconds after the bag's begin",
    )  # fmt: skip
    parser.add_argument(
        "--to", dest="end", metavar="T", type=moment, default=math.inf,
        help="leave out what is after T seconds after the bag's begin",
    )  # fmt: skip
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    return parser


def find_namespace(bag: Bag, asked: str | None) -> str:
    """Return the namespace of the arm that the bag is of.

    Raises:
        BagError: there is none, or there are several and none was asked for.
    """
    for kind in OURS:
        if asked is not None and f"/{asked.strip('/')}" not in bag.namespaces(kind):
            continue
        if bag.namespaces(kind):
            return bag.namespace(kind, asked)
    where = "" if asked is None else f" in the namespace {asked}"
    raise BagError(f"there is no topic of an arm in it{where}: it has {', '.join(bag.topics)}")


def _report(bag: Bag, options: argparse.Namespace) -> str:
    namespace = find_namespace(bag, options.namespace)
    topics = {resolve(namespace, topic): topic for topic in FEEDS}
    dive = Dive()
    progress = Progress(min(bag.duration, options.end) - options.begin)
    last = options.begin
    for recorded in bag.read(list(topics), options.begin):
        if recorded.at > options.end:
            break
        topic = topics[recorded.topic]
        message = bag.message(recorded) if FEEDS[topic].to else None
        try:
            stamp = stamp_of(recorded.data)
        except (struct.error, IndexError):
            stamp = None
        dive.hear(topic, recorded.at, stamp, recorded.stamp, message)
        last = max(last, recorded.at)
        progress.show(recorded.at - options.begin)
    dive.finish()
    progress.clear()
    reading = Reading(
        name=options.bag.resolve().name,
        namespace=namespace,
        begin_ns=bag.begin,
        begin=options.begin,
        end=last,
        duration=bag.duration,
        is_part=options.begin > 0.0 or options.end < bag.duration,
        damage=tuple(bag.damage),
        others=tuple(name for name in bag.topics if name not in topics),
    )
    return page(dive, reading)


if __name__ == "__main__":
    sys.exit(main())
