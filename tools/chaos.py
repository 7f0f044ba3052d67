#!/usr/bin/env python3
"""Kill, stop and crash the nodes while the arm moves, again and again, and judge the arm.

Driver, arbiter and teleop run as processes of their own against the simulated arm, a pad in the
hand of this program jogs the arm, and at a random moment one of the nodes is killed, stopped,
crashed or told to leave, or the cable is pulled, or the arm loses its supply. The stick stays
pushed through all of it, also while the node starts again. The bytes at the arm and the true
velocities of its joints are the judge: the stop comes in time, and nothing moves until the pad
was let go. One line per blow, the counts last. The exit status is 0 if all blows ended well, 1 if
one did not, 130 after Ctrl-C. 200 blows take about 15 minutes.

    tools/run python3 tools/chaos.py --kills 20 --nodes driver --only sigkill,sigstop
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

from chaos_arena import Arena
from chaos_judge import Verdict
from chaos_trial import KINDS, Trial, plan, strike
from workspace import LOG, ROOT

sys.path.append(str(ROOT))
from benchmarks.series import percentile

VOIDS = 5
"""A machine that stalls makes the stack stop by itself, or the simulated arm look away: so often a
blow is tried again."""

LEAVE_SIGNALS = (signal.SIGINT, signal.SIGTERM)
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a trial went."""

    trial: Trial
    verdict: Verdict | None
    """None: it came to none, and `trouble` says why."""
    trouble: str = ""
    kept: str = ""
    """Where its files are, if it went wrong."""

    @property
    def ok(self) -> bool:
        """Whether it went well."""
        return self.verdict is not None and self.verdict.ok


class Chaos:
    """Runs trials, one after the other, and keeps what went wrong."""

    def __init__(self, keep: Path, without_guard: bool) -> None:
        """Keep the files of failures in `keep`."""
        self._keep = keep
        self._without_guard = without_guard
        self.outcomes: list[Outcome] = []
        self.voids = 0

    def run(self, trials: Sequence[Trial]) -> None:
        """Run all trials; a stack that does not come back is replaced."""
        waiting = list(trials)
        while waiting:
            with (
                tempfile.TemporaryDirectory(prefix="alpha5_chaos_") as folder,
                Arena(Path(folder)) as arena,
            ):
                self._run_in(arena, waiting)

    def _run_in(self, arena: Arena, waiting: list[Trial]) -> None:
        """Take trials off the list until it is empty or the stack is of no use any more."""
        began, done = time.monotonic(), 0
        total = len(self.outcomes) + len(waiting)
        while waiting:
            trial = waiting.pop(0)
            outcome = self._try(arena, trial)
            self.outcomes.append(outcome)
            done += 1
            left = (time.monotonic() - began) / done * len(waiting) / 60.0
            said = str(outcome.verdict or outcome.trouble.partition("\n")[0])
            print(
                f"[{len(self.outcomes):>3}/{total}] {trial!s:<16} {said}"
                f"{'' if outcome.ok else '   FAILED'}   · {left:.0f} min to go",
                flush=True,
            )
            if outcome.verdict is None:
                return

    def _try(self, arena: Arena, trial: Trial) -> Outcome:
        """Run a trial, again if it told nothing."""
        mark = arena.stack.mark()
        verdict, trouble = None, ""
        try:
            for _ in range(VOIDS):
                verdict, mark = strike(arena, trial, self._without_guard)
                if verdict.telling:
                    break
                self.voids += 1
            else:
                verdict, trouble = None, f"none of {VOIDS} blows told anything: the machine stalls"
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            trouble = str(error)
        outcome = Outcome(trial, verdict, trouble)
        if outcome.ok:
            return outcome
        return Outcome(trial, verdict, trouble, self._keep_files(arena, outcome, mark))

    def _keep_files(self, arena: Arena, outcome: Outcome, mark: int) -> str:
        trial = outcome.trial
        folder = self._keep / f"{trial.seed}_{trial.number}_{trial.node}_{trial.kind}"
        folder.mkdir(parents=True, exist_ok=True)
        with arena.stack.log_path.open("rb") as log:
            log.seek(mark)
            (folder / "wire.log").write_bytes(log.read())
        (folder / "output.log").write_text(arena.output())
        record = {
            "trial": asdict(trial),
            "verdict": str(outcome.verdict or outcome.trouble),
            "samples": [asdict(sample) for sample in arena.samples],
        }
        (folder / "trial.json").write_text(json.dumps(record, indent=1) + "\n")
        return str(folder)


HEAD = (
    f"{'blow':<16} {'runs':>5} {'in time':>7} {'still after':>11} {'p50':>8} {'p99':>8} "
    f"{'worst':>8} {'bar':>6}  [ms]"
)


def summary(outcomes: Sequence[Outcome], voids: int) -> str:
    """Return what failed, and then the counts."""
    failed = [outcome for outcome in outcomes if not outcome.ok]
    lines = []
    for outcome in failed:
        trial = outcome.trial
        lines.append(f"FAILED {trial}: {outcome.verdict or outcome.trouble}")
        lines.append(f"  seed {trial.seed}, number {trial.number}; kept: {outcome.kept}")
    if failed:
        lines.append("")
    lines += [HEAD, "-" * len(HEAD), *_rows(outcomes), "-" * len(HEAD)]
    if voids:
        lines.append(
            f"{voids} blows told nothing: the arm stood, or was kept from the processor; the "
            "machine stalls, and they were repeated"
        )
    met = len(outcomes) - len(failed)
    lines.append(f"{len(outcomes)} blows: {met} ended well, {len(failed)} FAILED")
    return "\n".join(lines)


def _rows(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for node, kinds in KINDS.items():
        for kind in kinds:
            mine = [o for o in outcomes if (o.trial.node, o.trial.kind) == (node, kind)]
            if mine:
                yield _row(mine)


def _row(outcomes: Sequence[Outcome]) -> str:
    trial = outcomes[0].trial
    verdicts = [outcome.verdict for outcome in outcomes if outcome.verdict is not None]
    delays = [verdict.delay for verdict in verdicts if verdict.delay is not None]
    numbers = (
        [f"{percentile(delays, percent):8.1f}" for percent in (50, 99, 100)]
        if delays
        else [f"{'-':>8}"] * 3
    )
    return (
        f"{trial!s:<16} {len(outcomes):>5} {sum(v.in_time for v in verdicts):>7} "
        f"{sum(not v.motion for v in verdicts):>11} {' '.join(numbers)} {trial.within:>6.0f}"
    )


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = list(dict.fromkeys(kind for kinds in KINDS.values() for kind in kinds))
    parser.add_argument("--kills", type=int, default=200, help="how many (default %(default)s)")
    parser.add_argument("--seed", type=int, help="of everything that is drawn (default: any)")
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first: to have one again"
    )
    parser.add_argument(
        "--only", type=_names(kinds), default=kinds, metavar="KIND,…", help=", ".join(kinds)
    )
    parser.add_argument(
        "--nodes",
        type=_names(KINDS),
        default=list(KINDS),
        metavar="NODE,…",
        help=", ".join(KINDS),
    )
    parser.add_argument(
        "--keep",
        type=Path,
        default=LOG / "chaos",
        metavar="FOLDER",
        help="for the files of failures (default: log/chaos)",
    )
    parser.add_argument(
        "--without-guard",
        action="store_true",
        help="take the guard away with the driver: then stops must be missing, and be missed",
    )
    options = parser.parse_args()
    if options.kills < 1 or options.first < 0:
        parser.error("--kills is 1 or more, and --first is 0 or more")
    if not any(kind in options.only for node in options.nodes for kind in KINDS[node]):
        parser.error("nothing of --only can be done to any of --nodes")
    if options.seed is None:
        options.seed = random.randrange(1_000_000)
    return options


def _names(known: Collection[str]) -> Callable[[str], list[str]]:
    def read(text: str) -> list[str]:
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
        return names

    return read


def _leave(number: int, frame: FrameType | None) -> None:
    """Leave, once: a second Ctrl-C must not leave half of the processes running."""
    for signal_number in LEAVE_SIGNALS:
        signal.signal(signal_number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main() -> int:
    """Run from the command line."""
    options = arguments()
    for number in LEAVE_SIGNALS:
        signal.signal(number, _leave)
    trials = plan(options.seed, options.first, options.kills, options.nodes, options.only)
    chaos = Chaos(options.keep, options.without_guard)
    print(f"seed {options.seed}; starting the stack and deploying the simulated arm …", flush=True)
    began, status = time.monotonic(), 0
    try:
        chaos.run(trials)
    except KeyboardInterrupt:
        print("\ninterrupted; so far:", flush=True)
        status = INTERRUPTED
    except TimeoutError as error:
        print(f"\nthe stack does not start: {error}", flush=True)
        status = 1
    minutes = (time.monotonic() - began) / 60.0
    print(f"\n{minutes:.1f} minutes, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print(summary(chaos.outcomes, chaos.voids), flush=True)
    return status if all(outcome.ok for outcome in chaos.outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
