#!/usr/bin/env python3
"""Put small faults into what decides whether the arm moves, and see whether the tests find them.

A fault that no test finds survives. Each survivor is in the table of docs/mutation.md with the
reason why it may; the exit status is 1 if another one survived, if one has no reason, or if a
module is below the bar. A sample is a quick look: the same faults for the same seed.

    tools/run python3 tools/mutate.py                         # all of it
    tools/run python3 tools/mutate.py --only gate --write     # one module, and note it in the doc
    tools/run python3 tools/mutate.py --sample 50 --seed 1
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from mutate_doc import DOCUMENT, Score, survivors_in, written
from mutate_operators import Key, Mutant, enums_of, mutants_of
from mutate_runner import ENVIRONMENT, Outcome, Survey, copy_sources, survey
from mutate_targets import TARGETS, Target
from mutate_warm import WarmBench
from workers import Progress, obey_parent
from workspace import LOG, WorkspaceError, reported

BAR = 0.95
"""Share of a module's mutants that must be killed."""

PROGRESS_PERIOD = 20.0
"""Seconds between two lines of progress."""

RESULTS = LOG / "mutate.json"

Judged = list[tuple[Mutant, Outcome]]


def work(copy: Path, target: Target, seen: Survey) -> None:
    """Become a worker, with a copy of its own."""
    global bench
    obey_parent()
    own = copy.with_name(f"{copy.name}-{os.getpid()}")
    shutil.copytree(copy, own)
    bench = WarmBench(own, target, seen)


bench: WarmBench


def judge(mutant: Mutant) -> tuple[Mutant, Outcome]:
    """Try one mutant in a worker."""
    return mutant, bench.judge(mutant)


def mutants_in(copy: Path, only: Sequence[str]) -> Iterator[tuple[Target, list[Mutant]]]:
    """Yield the targets that are wanted, with their mutants."""
    files = sorted(copy.glob("reach_alpha5_*/reach_alpha5_*/**/*.py"))
    enums = enums_of([file.read_text() for file in files])
    for target in TARGETS:
        found = [
            mutant
            for module in target.modules
            if not only or any(name in module for name in only)
            for mutant in mutants_of((copy / module).read_text(), module, enums)
            if not target.scopes or mutant.key.scope.partition(".")[0] in target.scopes
        ]
        if found:
            yield target, found


def judge_all(
    copy: Path, target: Target, mutants: list[Mutant], jobs: int, judged: Judged
) -> None:
    """Judge the mutants of a target, and tell how it goes."""
    context = multiprocessing.get_context("fork")
    with context.Pool(1, obey_parent) as pool:
        seen = pool.apply(survey, (copy, target))
    modules = sorted({mutant.key.module for mutant in mutants})
    print(
        f"\n{len(mutants)} mutants of {', '.join(modules)}; {len(seen.seconds)} tests", flush=True
    )
    progress = Progress(len(mutants), "mutants", PROGRESS_PERIOD)
    with context.Pool(jobs, work, (copy, target, seen)) as pool:
        for done, (mutant, outcome) in enumerate(pool.imap_unordered(judge, mutants), 1):
            judged.append((mutant, outcome))
            if not outcome.killed:
                key = mutant.key
                print(
                    f"SURVIVED {key.module}, {key.scope}: {key.line}\n    {key.mutation}",
                    flush=True,
                )
            progress.tell(done)


def scores_of(judged: Judged) -> dict[str, Score]:
    """Return what was found of each module."""
    scores: dict[str, Score] = {}
    for mutant, outcome in judged:
        before = scores.get(mutant.key.module, Score())
        scores[mutant.key.module] = before.with_one(outcome.killed, outcome.seconds)
    return scores


def complaints(judged: Judged, listed: dict[Key, str], whole: bool) -> list[str]:
    """Return what is not as it should be."""
    texts = []
    for mutant, outcome in judged:
        if outcome.killed:
            continue
        key = mutant.key
        if key not in listed:
            texts.append(f"new survivor: {key.module}, {key.scope}: {key.line}: {key.mutation}")
        elif not listed[key]:
            texts.append(f"no reason given: {key.module}, {key.scope}: {key.line}: {key.mutation}")
    if whole:
        for module, score in scores_of(judged).items():
            if score.share < BAR:
                texts.append(f"below {BAR:.0%}: {module} with {score.share:.1%}")
    return texts


def outdated(judged: Judged, listed: dict[Key, str]) -> list[Key]:
    """Return the survivors that the document lists and that did not survive."""
    modules = {mutant.key.module for mutant, _ in judged}
    survived = {mutant.key for mutant, outcome in judged if not outcome.killed}
    return [key for key in listed if key.module in modules and key not in survived]


@contextmanager
def snapshot() -> Iterator[Path]:
    """Make a copy of the sources, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        copy = Path(folder).resolve() / "copy"
        copy_sources(copy)
        yield copy


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TEXT",
        help="modules whose path has this in it; more than once for more",
    )
    parser.add_argument("--sample", type=int, default=0, help="this many of all mutants")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default %(default)s)")
    parser.add_argument("--write", action="store_true", help="note what was found in the document")
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="processes at once (default %(default)s)",
    )
    options = parser.parse_args()
    if options.jobs < 1 or options.sample < 0:
        parser.error("--jobs is 1 or more, and --sample is not below 0")
    if options.sample and options.write:
        parser.error("a sample is not the whole: it is not noted in the document")
    return options


def main() -> int:
    """Run from the command line."""
    options = arguments()
    if any(os.environ.get(name) != value for name, value in ENVIRONMENT.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ENVIRONMENT)
    os.nice(19 - os.nice(0))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # it ends the workers as well
    judged: Judged = []
    with snapshot() as copy:
        wanted = list(mutants_in(copy, options.only))
        if options.sample:
            every = [mutant for _, mutants in wanted for mutant in mutants]
            chosen = random.Random(options.seed).sample(every, min(options.sample, len(every)))
            wanted = [(target, [m for m in mutants if m in chosen]) for target, mutants in wanted]
        for target, mutants in wanted:
            if mutants:
                judge_all(copy, target, mutants, options.jobs, judged)
    if not judged:
        raise WorkspaceError("no module has that in its path; tools/mutate_targets.py lists them")
    judged.sort(key=lambda pair: pair[0].key)
    RESULTS.parent.mkdir(exist_ok=True)
    rows = [asdict(m.key) | {"operator": m.operator} | asdict(o) for m, o in judged]
    RESULTS.write_text(json.dumps(rows, indent=1, ensure_ascii=False))
    text = DOCUMENT.read_text(encoding="utf-8")
    listed = survivors_in(text)
    survived = [mutant.key for mutant, outcome in judged if not outcome.killed]
    if options.write:
        DOCUMENT.write_text(written(text, scores_of(judged), survived), encoding="utf-8")
        listed = survivors_in(DOCUMENT.read_text(encoding="utf-8"))
    return report(judged, listed, whole=not options.sample)


def report(judged: Judged, listed: dict[Key, str], whole: bool) -> int:
    """Print what was found; return the exit status."""
    print()
    for module, score in scores_of(judged).items():
        print(f"{score.killed:>5} of {score.mutants:>5} killed, {score.share:>6.1%}  {module}")
    if whole:
        for key in outdated(judged, listed):
            print(f"listed, but found or not there: {key.module}, {key.scope}: {key.mutation}")
    texts = complaints(judged, listed, whole)
    for text in texts:
        print(f"NOT IN ORDER: {text}")
    print(f"each mutant and what found it: {RESULTS}")
    return 1 if texts else 0


if __name__ == "__main__":
    with reported():
        sys.exit(main())
