#!/usr/bin/env python3
"""Prove that the arm moves as it must: random arms among random things, judged at each tick.

What is proven, and how large the whole proof is, stands in the table at the end. Judges measure
distances by themselves, straight on the description, at the true posture of an arm whose
positions come late and noisy. A seed that breaks a rule is shown with the command that has it
again. The exit status is 0 if none did, 1 if one did.

    tools/run python3 tools/prove_motion.py                            # all of it
    tools/run python3 tools/prove_motion.py --only ticks --seeds 10    # a tenth of one proof
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from workers import Progress, obey_parent
from workspace import ROOT

sys.path.append(str(ROOT / "reach_alpha5_motion" / "test"))
from motion_drive import Outcome, drive
from motion_escape import escape, unfold
from motion_geometry import compare
from motion_legs import hold_to_run, in_the_way
from motion_set_points import follow

PROGRESS_PERIOD = 20.0
"""Seconds between two lines of progress."""

MOST_SHOWN = 600
"""Characters that are shown of a broken rule."""


@dataclass(frozen=True, slots=True)
class Proof:
    """One of the proofs."""

    run: Callable[[int], Outcome]
    """A seed to what it came to."""
    seeds: int
    """How many make the whole proof."""
    text: str


PROOFS = {
    "ticks": Proof(drive, 100, "every rule at each of a million ticks, 10000 a seed"),
    "escape": Proof(escape, 200, "a way out of each place where the arm came to rest, 10 a seed"),
    "singular": Proof(unfold, 100, "2 cm within 2 s from singular postures, 12 a seed"),
    "poses": Proof(hold_to_run, 50, "interrupted ways to poses, 20 interruptions a seed"),
    "blocked": Proof(in_the_way, 50, "things in the way to poses, 2 a seed"),
    "set-points": Proof(follow, 100, "set-points of random trajectories, 10000 ticks a seed"),
    "geometry": Proof(compare, 100, "inverse and Jacobians against pinocchio, 10000 a seed"),
}


@dataclass(slots=True)
class Sum:
    """What the seeds of one proof came to."""

    seeds: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    extremes: dict[str, float] = field(default_factory=dict)
    broken: list[int] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Add one seed."""
        self.seeds += 1
        self.counts.update(outcome.counts)
        for name, value in outcome.extremes.items():
            self.extremes[name] = max(self.extremes.get(name, value), value)
        if outcome.broken:
            self.broken.append(outcome.seed)


def prove(name: str, seeds: range, jobs: int, total: Sum) -> None:
    """Run the seeds of a proof, and tell how it goes."""
    print(f"\n{name}: {PROOFS[name].text}; seeds {seeds[0]} to {seeds[-1]}", flush=True)
    progress = Progress(len(seeds), "seeds", PROGRESS_PERIOD)
    with multiprocessing.Pool(jobs, obey_parent) as pool:
        for outcome in pool.imap_unordered(PROOFS[name].run, seeds):
            total.add(outcome)
            for text in outcome.broken:
                print(f"BROKEN by seed {outcome.seed}: {text[:MOST_SHOWN]}")
                print(
                    f"  again: tools/run python3 tools/prove_motion.py --only {name} "
                    f"--first {outcome.seed} --seeds 1",
                    flush=True,
                )
            progress.tell(total.seeds)


def table(sums: dict[str, Sum]) -> str:
    """Return what was seen, a line each."""
    lines = []
    for name, total in sums.items():
        broken = f"{len(total.broken)} seeds BROKEN" if total.broken else "no rule broken"
        lines.append(f"\n{name}: {total.seeds} seeds, {broken}")
        lines += [f"  {count:>10,}  {what}" for what, count in total.counts.most_common()]
        lines += [f"  {value:>10.4g}  {what}, at most" for what, value in total.extremes.items()]
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", action="append", choices=PROOFS, help="one of them; more than once for more"
    )
    parser.add_argument("--seeds", type=int, help="how many of each (default: the whole proof)")
    parser.add_argument("--first", type=int, default=0, help="the first one (default %(default)s)")
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="processes at once (default %(default)s)",
    )
    options = parser.parse_args()
    if (options.seeds is not None and options.seeds < 1) or options.jobs < 1 or options.first < 0:
        parser.error("--seeds and --jobs are 1 or more, and --first is 0 or more")
    return options


def main() -> int:
    """Run from the command line."""
    options = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # it ends the workers as well
    sums: dict[str, Sum] = {}
    interrupted = False
    try:
        for name in options.only or PROOFS:
            count = options.seeds or PROOFS[name].seeds
            sums[name] = Sum()
            prove(name, range(options.first, options.first + count), options.jobs, sums[name])
    except KeyboardInterrupt:
        print("\ninterrupted; so far:", flush=True)
        interrupted = True
    print(table(sums))
    if any(total.broken for total in sums.values()):
        return 1
    return 130 if interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
