"""The command `alpha5-replay`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from reach_alpha5_arbiter.replay.bag import COMMANDS, JOURNAL, STATES, Bag, BagError, Recorded
from reach_alpha5_arbiter.replay.core import Replay
from reach_alpha5_arbiter.replay.trace import Trace, difference_lines
from reach_alpha5_arbiter.replay.wire import WIRE, plain
from reach_alpha5_common.broken_pipe import quiet
from reach_alpha5_common.messages import seconds

SAME, DIFFERENT, NOTHING = 0, 1, 2
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

PROGRESS_PERIOD = 0.5
"""Time [s] between two updates of the progress line."""

EPILOG = f"""\
exit status: {SAME} = the same decisions, {DIFFERENT} = differences, {NOTHING} = nothing to replay.
A bag to replay holds the topics {JOURNAL}, {COMMANDS} and {STATES} of the arbiter.
"""


@quiet
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        with Bag(options.bag, options.namespace) as bag:
            return _replay(bag, options)
    except BagError as error:
        print(f"alpha5-replay: {options.bag}: {error}", file=sys.stderr)
        return NOTHING
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="alpha5-replay",
        description="Take the arbiter's decisions again from a bag, and compare them with those "
        "that it took live.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("bag", type=Path, help="folder with metadata.yaml, .mcap or .db3 file")
    parser.add_argument(
        "--namespace", metavar="NS", help="of the arbiter, if the bag holds more than one"
    )
    parser.add_argument(
        "--from", dest="begin", metavar="T", type=float, default=0.0,
        help="begin at the first checkpoint from T seconds after the bag's begin on",
    )  # fmt: skip
    parser.add_argument(
        "--trace", action="store_true", help="print the decisions as a time line (UTC)"
    )
    parser.add_argument(
        "--verbose", action="store_true",
        help="print all differences, not the first one alone; with --trace also the events that "
        "nothing followed on",
    )  # fmt: skip
    return parser


def _replay(bag: Bag, options: argparse.Namespace) -> int:
    listener = Trace(print, options.verbose) if options.trace else None
    replay = Replay(WIRE, listener)
    progress = Progress(bag.duration)
    for recorded in bag.read(options.begin):
        _feed(replay, recorded)
        progress.show(recorded.at)
    replay.finish()
    progress.clear()
    return _report(bag, replay, options.verbose)


def _feed(replay: Replay, recorded: Recorded) -> None:
    message = recorded.message
    if recorded.topic == COMMANDS:
        replay.sent(plain(message))
    elif recorded.topic == STATES:
        replay.shown(plain(message))
    else:
        stamp = seconds(message.header.stamp)
        replay.hear(int(message.session), int(message.first), list(message.entries), stamp)


def _report(bag: Bag, replay: Replay, verbose: bool) -> int:
    counts, commands, states = replay.counts, replay.commands, replay.states
    for damage in bag.damage:
        print(f"note: {damage}")
    if counts.gaps:
        print(f"note: {counts.gaps} gaps in the journal, {counts.lost} entries missing")
    print(
        f"{bag.namespace}: {len(counts.sessions)} runs of the arbiter in {bag.duration:.1f} s\n"
        f"  {JOURNAL}: {counts.messages} messages, {counts.events} events replayed, "
        f"{counts.skipped} before a checkpoint; {counts.compared} of {counts.checkpoints} "
        "checkpoints compared\n"
        f"  {COMMANDS}: {commands.compared} compared, {commands.uncovered} recorded outside of "
        f"the journal, {commands.unrecorded} sent but not recorded\n"
        f"  {STATES}: {states.compared} compared, {states.uncovered} recorded outside of the "
        "journal"
    )
    for number, difference in enumerate(replay.differences):
        if number == 0 or verbose:
            print("\n".join(difference_lines(difference)))
    missing = _missing(bag, replay)
    if counts.differences and counts.events:
        print(f"{counts.differences} differences")
        return DIFFERENT
    if missing:
        print(f"nothing to compare: {missing}")
        return NOTHING
    print("the same decisions")
    return SAME


def _missing(bag: Bag, replay: Replay) -> str:
    if not bag.has(COMMANDS):
        return f"the bag has no {COMMANDS}; record it beside the journal"
    if not replay.counts.checkpoints:
        return (
            f"no checkpoint in {replay.counts.messages} messages of the journal; the arbiter "
            "writes one every few seconds: record for longer, or begin earlier"
        )
    if not replay.counts.events:
        return "no event follows on a checkpoint; record for longer, or begin earlier"
    return ""


class Progress:
    """A line on standard error that tells how far the replay is, where somebody looks at it."""

    def __init__(self, duration: float) -> None:
        self._duration = duration
        self._is_seen = sys.stderr.isatty()
        self._next = 0.0

    def show(self, at: float) -> None:
        """Show that the message `at` [s] after the bag's begin was replayed."""
        if self._is_seen and time.monotonic() >= self._next:
            self._next = time.monotonic() + PROGRESS_PERIOD
            print(f"\r{at:.0f} of {self._duration:.0f} s", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away."""
        if self._is_seen:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
