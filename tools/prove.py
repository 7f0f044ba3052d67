#!/usr/bin/env python3
"""Prove that the arbiter moves the arm only when it may: `make prove`.

    searches  every event in every state that can be reached, counted; the counts are committed
    walk      random events, seed after seed, each judged by every invariant (docs/proof.md)
    broken    cores that were broken on purpose: each must be caught, or the walk proves nothing

A seed that breaks an invariant is shown with its last events and the command that has it again.
The exit status is 0 if all holds, 1 if not.

    tools/run python3 tools/prove.py --steps 100000000
    tools/run python3 tools/prove.py --only walk --first 17 --seeds 1
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Any

from workers import Progress, obey_parent
from workspace import ROOT

sys.path.append(str(ROOT / "reach_alpha5_arbiter" / "test"))
from arbiter_broken import BROKEN
from arbiter_catching import catch
from arbiter_searches import SEARCHES
from arbiter_walker import STEPS, Outcome, walk

PROOFS = ("searches", "walk", "broken")

STEPS_PER_SEED = 50_000
"""Of the walk: so many events, then the next seed."""

PROGRESS_PERIOD = 10.0
"""Seconds between two lines of progress."""


def search(name: str) -> tuple[str, str, bool]:
    """Search, and tell what was counted and whether that is what is committed."""
    wanted, counted = SEARCHES[name].counts, SEARCHES[name].run()
    states, transitions, moving = counted
    told = f"{states:>9,} states, {transitions:>10,} transitions, {moving:>7,} with motion: {name}"
    return (
        name,
        told if counted == wanted else f"{told}; COMMITTED ARE {wanted}",
        counted == wanted,
    )


def catch_one(number: int) -> tuple[str, bool]:
    """Walk with a broken core, and tell by what it was caught, or that it was not."""
    broken = BROKEN[number]
    try:
        steps = catch(broken)
    except AssertionError as error:
        return f"NOT CAUGHT: {error}", False
    return f"{broken.breaks.name:<24} {steps:>8,} events  {broken.name}", True


def prove_searches(pool: Any) -> bool:
    """Run the exhaustive searches."""
    good = True
    for _, told, same in pool.imap_unordered(search, SEARCHES):
        print(told, flush=True)
        good &= same
    return good


def prove_walk(pool: Any, seeds: Iterable[int], steps: int, whole: int) -> bool:
    """Walk, seed after seed."""
    progress, counts = Progress(whole, "events", PROGRESS_PERIOD), Counter[str]()
    done, broken = 0, 0
    for outcome in pool.imap_unordered(partial(walk, steps=steps), seeds):
        done += outcome.steps
        counts.update(outcome.counts)
        if outcome.unsafe is not None:
            broken += 1
            show(outcome)
        progress.tell(done)
    print("\n".join(f"{count:>12,}  {what}" for what, count in counts.most_common()))
    print(f"{done:,} events, {broken} of the seeds broke an invariant", flush=True)
    return not broken


def show(outcome: Outcome) -> None:
    """Show what broke an invariant, and how to have it again."""
    print(f"\nBROKEN by seed {outcome.seed}, event {outcome.steps}: {outcome.unsafe}")
    print(outcome.told)
    print(
        f"  again: tools/run python3 tools/prove.py --only walk --first {outcome.seed} --seeds 1",
        flush=True,
    )


def prove_broken(pool: Any) -> bool:
    """See that each broken core is caught."""
    good = True
    for told, caught in pool.imap(catch_one, range(len(BROKEN))):
        print(told, flush=True)
        good &= caught
    return good


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", choices=PROOFS, help="more than once for more")
    parser.add_argument(
        "--steps", type=int, default=STEPS, help="events to walk in all (default %(default)s)"
    )
    parser.add_argument("--first", type=int, default=1, help="first seed (default %(default)s)")
    parser.add_argument("--seeds", type=int, help="how many seeds, instead of --steps")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes (default %(default)s)"
    )
    options = parser.parse_args()
    if min(options.steps, options.jobs, options.seeds or 1) < 1 or options.first < 0:
        parser.error("--steps, --seeds and --jobs are 1 or more, and --first is 0 or more")
    return options


def main() -> int:
    """Run from the command line."""
    options = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # it ends the workers as well
    count = options.seeds or -(-options.steps // STEPS_PER_SEED)
    seeds = range(options.first, options.first + count)
    good = True
    try:
        with multiprocessing.Pool(options.jobs, obey_parent) as pool:
            for name in options.only or PROOFS:
                if name == "searches":
                    print("\nsearches: every event in every state", flush=True)
                    good &= prove_searches(pool)
                elif name == "walk":
                    print(f"\nwalk: seeds {seeds[0]} to {seeds[-1]}, {STEPS_PER_SEED:,} each")
                    good &= prove_walk(pool, seeds, STEPS_PER_SEED, count * STEPS_PER_SEED)
                else:
                    print(f"\nbroken: {len(BROKEN)} cores, each to be caught", flush=True)
                    good &= prove_broken(pool)
    except KeyboardInterrupt:
        print("\ninterrupted", flush=True)
        return 130
    print("\nall holds" if good else "\nNOT PROVEN", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
