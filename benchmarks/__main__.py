"""The command `python3 -m benchmarks`."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import FrameType

from benchmarks import (
    codec,
    estop_to_wire,
    guard_kill,
    load,
    pad_to_wire,
    report,
    start,
    stop_on_line,
    telemetry,
    tick,
)
from benchmarks.machine import Machine
from benchmarks.results import Result, table, write
from benchmarks.session import Session

RESULTS = Path(__file__).with_name("results.json")

BENCHMARKS: Mapping[str, tuple[str, Callable[[Session], list[Result]]]] = {
    "codec": ("typed packets to bytes and back, against the line rate", codec.run),
    "tick": ("one step of the motion with collision, against pink and quadprog", tick.run),
    "start": ("from starting the stack to motion being possible", start.run),
    "pad": ("Joy published to new velocity at the arm, against three bare hops", pad_to_wire.run),
    "estop": ("e-stop published to stop at the arm, against one bare hop", estop_to_wire.run),
    "stop": ("what goes over the busy line before a stop, in virtual time", stop_on_line.run),
    "guard": ("driver killed or stopped while moving to stop at the arm", guard_kill.run),
    "telemetry": ("telemetry rate while jogging, against what the line carries", telemetry.run),
    "report": ("two hours of a bag to a page: time and memory", report.run),
    "load": ("processor and memory of teleop, arbiter, driver and guard", load.run),
}
"""Name to (what it measures, how), in the order in which they run."""

LEAVE_SIGNALS = (signal.SIGINT, signal.SIGTERM)
INTERRUPTED = 130
"""Exit status after a signal, as shells have it."""


def main() -> int:
    """Run the benchmarks that were asked for and return the exit status."""
    parser = _parser()
    options = parser.parse_args()
    for name in options.names:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark {name!r}: there are {', '.join(BENCHMARKS)}")
    try:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.touch()
    except OSError as error:  # now, not after minutes of measuring
        parser.error(f"cannot write {options.output}: {error.strerror}")
    for number in LEAVE_SIGNALS:
        signal.signal(number, _leave)
    machine = Machine.this()
    print(f"machine: {machine}", flush=True)
    results: list[Result] = []
    failed: list[str] = []
    try:
        with (
            tempfile.TemporaryDirectory(prefix="alpha5_benchmarks_") as folder,
            Session(Path(folder), options.quick) as session,
        ):
            for name in options.names or BENCHMARKS:
                if not _run(session, name, results):
                    failed.append(name)
    except KeyboardInterrupt:
        print("\ninterrupted; nothing was written", file=sys.stderr)
        return INTERRUPTED
    load_after = round(os.getloadavg()[0], 2)
    print(f"\n{table(results)}\n\nmachine: {machine}; load now {load_after}")
    if failed:
        print(f"did not run through: {', '.join(failed)}; nothing was written", file=sys.stderr)
        return 1
    write(results, options.output)
    about = options.output.with_name("machine.json")
    about.write_text(json.dumps(asdict(machine) | {"load_after": load_after}, indent=2) + "\n")
    print(f"written to {options.output} and {about}")
    return int(options.strict and any(entry.ok is False for entry in results))


def _run(session: Session, name: str, results: list[Result]) -> bool:
    """Run one benchmark; return whether it ran through."""
    meaning, run = BENCHMARKS[name]
    session.say(f"\n{name}: {meaning}")
    begin = time.monotonic()
    try:
        results += run(session)
    except Exception:  # the others are worth running all the same
        traceback.print_exc()
        return False
    session.say(f"  took {time.monotonic() - begin:.0f} s")
    return True


def _parser() -> argparse.ArgumentParser:
    names = "\n".join(f"  {name:10} {meaning}" for name, (meaning, _) in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks",
        description=f"Measure the stack on the simulated arm.\n\n{names}",
        epilog="Exit status: 0 when all ran, 1 when one did not. benchmarks/README.md says what "
        "each number means.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="run only these (default: all)")
    parser.add_argument(
        "--quick", action="store_true", help="few samples: to see that it works, not to publish"
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 also when a bar is missed"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=RESULTS,
        metavar="FILE",
        help="for the results; machine.json goes beside it (default: benchmarks/results.json)",
    )
    return parser


def _leave(number: int, frame: FrameType | None) -> None:
    """Leave, once: a second Ctrl-C must not leave half of the processes running."""
    for signal_number in LEAVE_SIGNALS:
        signal.signal(signal_number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
