"""The command `alpha5-play`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rclpy.utilities import remove_ros_args

from reach_alpha5_bags.arguments import moment
from reach_alpha5_bags.player.choice import choose
from reach_alpha5_bags.player.playing import LiveError, play
from reach_alpha5_bags.profile import ProfileError
from reach_alpha5_bags.reading import Bag, BagError
from reach_alpha5_bags.settings import profile_of

PLAYED, LIVE, NOTHING = 0, 1, 2

EPILOG = f"""\
Played is what shows something: states, joints, transforms, obstacles. Commands, the pad,
heartbeats and e-stops are not, nor is anything that the record profile does not know, unless it is
named with --force. A bag is not played where somebody else publishes the same topics, unless
--beside says so.

exit status: {PLAYED} = played, {LIVE} = somebody else publishes there, {NOTHING} = nothing to play
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser().parse_args(remove_ros_args(["alpha5-play", *given])[1:])
    if options.to is not None and options.namespace is None:
        print("alpha5-play: --to needs --namespace", file=sys.stderr)
        return NOTHING
    try:
        profile = profile_of()
        with Bag(options.bag) as bag:
            known = len(bag.damage)
            for damage in bag.damage:
                say(f"note: {damage}")
            choice = choose(
                bag.topics.values(), profile, options.force,
                source=options.namespace, target=options.to,
            )  # fmt: skip
            if absent := sorted(set(options.force) - set(bag.topics)):
                raise BagError(f"it has no {', '.join(absent)}")
            for name, why in choice.refused.items():
                say(f"not played: {name}: {why}")
            if not choice.played:
                raise BagError("there is nothing in it that may be played")
            play(bag, choice.played, options, given, say)
            # A loop meets the same damage each time.
            for damage in dict.fromkeys(bag.damage[known:]):
                say(f"note: {damage}")
    except (BagError, ProfileError) as error:
        say(f"{options.bag}: {error}")
        return NOTHING
    except LiveError as error:
        say(str(error))
        return LIVE
    return PLAYED


def say(sentence: str) -> None:
    """Tell a person."""
    print(f"alpha5-play: {sentence}", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="alpha5-play",
        description="Play what a bag shows, with the times of the recording.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("bag", type=Path, help="folder with metadata.yaml, .mcap or .db3 file")
    parser.add_argument("--rate", type=_rate, default=1.0, help="times the true speed")
    parser.add_argument(
        "--from", dest="begin", metavar="T", type=moment, default=0.0,
        help="begin T seconds after the bag's begin",
    )  # fmt: skip
    parser.add_argument("--loop", action="store_true", help="begin again at the end")
    parser.add_argument(
        "--clock", action="store_true",
        help="publish the time of the recording on /clock, for use_sim_time",
    )  # fmt: skip
    parser.add_argument("--namespace", metavar="NS", help="play one arm of several")
    parser.add_argument("--to", metavar="NS", help="play it in this namespace instead of its own")
    parser.add_argument(
        "--force", nargs="+", default=[], metavar="TOPIC",
        help="topics to play whatever they are, by their full names. THEY MAY MOVE AN ARM",
    )  # fmt: skip
    parser.add_argument(
        "--beside", action="store_true", help="play where others publish the same topics"
    )
    return parser


def _rate(text: str) -> float:
    rate = float(text)
    if not 0.0 < rate <= 1000.0:
        raise argparse.ArgumentTypeError(f"{text} is not within 0 and 1000")
    return rate


if __name__ == "__main__":
    raise SystemExit(main())
