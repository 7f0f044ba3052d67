#!/usr/bin/env python3
"""Run the driver's core against the simulated arm, over a line with faults, seed after seed.

Each seed is one kind of fault at one rate, a random pilot, and some seconds of virtual time; the
truth of the simulated arm and the bytes are the judge. A table per kind and rate comes at the end,
also after Ctrl-C. The exit status is 0 if no seed broke a rule, 1 if one did.

    tools/run python3 tools/soak.py --seeds 5000 --jobs 2
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from workers import Progress, obey_parent
from workspace import ROOT

sys.path.append(str(ROOT / "reach_alpha5_driver" / "test"))
from virtual_arm import VirtualArm
from virtual_scenario import CASES, Outcome, Scenario, scenario

PROGRESS_PERIOD = 5.0
"""Seconds between two lines of progress."""

MOST_SHOWN = 3
"""Violations that are shown of one seed; the others mostly follow from them."""

Key = tuple[str, float]


def run(planned: Scenario) -> Outcome:
    """Run one seed."""
    return VirtualArm(planned).run()


def soak(planned: list[Scenario], jobs: int, found: dict[Key, list[Outcome]]) -> None:
    """Run all seeds, sort what comes of them into `found`, and tell how it goes."""
    progress, bad = Progress(len(planned), "seeds", PROGRESS_PERIOD), 0
    with multiprocessing.Pool(jobs, obey_parent) as pool:
        for done, outcome in enumerate(pool.imap_unordered(run, planned), 1):
            found[outcome.scenario.kind, outcome.scenario.rate].append(outcome)
            if outcome.violations:
                bad += 1
                show(outcome)
            progress.tell(done, f", {bad} with violations")


def show(outcome: Outcome) -> None:
    """Print what is wrong with a run, and how to have it again."""
    planned = outcome.scenario
    print(f"\nVIOLATION: {planned}")
    for text in outcome.violations[:MOST_SHOWN]:
        print(f"  {text}")
    if len(outcome.violations) > MOST_SHOWN:
        print(f"  and {len(outcome.violations) - MOST_SHOWN} more")
    print(
        f"  again: tools/run python3 tools/soak.py --first {planned.seed} --seeds 1 --seconds "
        f"{planned.seconds:g} --rate {planned.telemetry_rate:g}\n",
        flush=True,
    )


@dataclass(frozen=True, slots=True)
class Column:
    """One number of each row of the table."""

    title: str
    value: Callable[[list[Outcome]], float]
    form: str = ".0f"

    def cell(self, outcomes: list[Outcome]) -> str:
        """Return what stands below the title, as wide as that."""
        return f"{self.value(outcomes):{len(self.title)}{self.form}}"


def total(name: str) -> Callable[[list[Outcome]], float]:
    """Return what adds a field up."""
    return lambda outcomes: sum(getattr(outcome, name) for outcome in outcomes)


def largest(name: str) -> Callable[[list[Outcome]], float]:
    """Return what finds the largest value of a field."""
    return lambda outcomes: max((getattr(outcome, name) for outcome in outcomes), default=0.0)


COLUMNS = (
    Column("seeds", len),
    Column(" bad", lambda outcomes: sum(bool(outcome.violations) for outcome in outcomes)),
    Column("  faults", total("faults")),
    Column("lost lines", total("losses")),
    Column("  stops", total("stops")),
    Column("motion frames", total("motion_frames")),
    Column("position error", largest("worst_error"), ".2f"),
    Column("moved on", largest("longest_motion"), ".2f"),
    Column("memory", largest("growth")),
    Column("recovery", largest("recovery"), ".2f"),
)

LEGEND = """
position error: largest distance of a believed position from the true one, as share of the allowed
moved on:       longest time [s] that a joint moved when it could and should have been still
memory:         most entries and bytes that a core kept beyond what it began with
recovery:       longest time [s] after the faults until the pilot had moved the arm again"""


def summary(found: dict[Key, list[Outcome]]) -> str:
    """Return the table: one row per kind and rate, and one for all."""

    def row(name: str, rate: str, outcomes: list[Outcome]) -> str:
        return " ".join([f"{name:<12} {rate:>6}", *(column.cell(outcomes) for column in COLUMNS)])

    title = " ".join([f"{'fault':<12} {'rate':>6}", *(column.title for column in COLUMNS)])
    rule = "-" * len(title)
    rows = [row(kind, f"{rate:g}", found[kind, rate]) for kind, rate in CASES if found[kind, rate]]
    everything = [outcome for outcomes in found.values() for outcome in outcomes]
    return "\n".join([title, rule, *rows, rule, row("all of it", "", everything), LEGEND])


def arguments() -> argparse.Namespace:
    """Read the command line."""
    text = __doc__ or ""
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cores = os.cpu_count() or 1
    parser.add_argument("--seeds", type=int, default=1000, help="how many (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first one (default %(default)s)")
    parser.add_argument(
        "--jobs", type=int, default=cores, help="processes at once (default %(default)s)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=4.0,
        help="virtual time with faults of each seed (default %(default)s)",
    )
    parser.add_argument(
        "--rate",
        type=float,
        default=0.0,
        metavar="HZ",
        help="telemetry per joint; less makes a seed quicker, 0 = most (default %(default)g)",
    )
    options = parser.parse_args()
    if options.seeds < 1 or options.jobs < 1 or options.seconds <= 0.0:
        parser.error("--seeds and --jobs are 1 or more, and --seconds is above 0")
    if options.first < 0 or options.rate < 0.0:
        parser.error("--first and --rate are 0 or more")
    return options


def main() -> int:
    """Run from the command line."""
    options = arguments()
    seeds = range(options.first, options.first + options.seeds)
    planned = [scenario(seed, options.seconds, options.rate) for seed in seeds]
    found: dict[Key, list[Outcome]] = defaultdict(list)
    status = 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # it ends the workers as well
    try:
        soak(planned, options.jobs, found)
    except KeyboardInterrupt:
        print("\ninterrupted; so far:", flush=True)
        status = 130
    print()
    print(summary(found))
    if any(outcome.violations for outcomes in found.values() for outcome in outcomes):
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
