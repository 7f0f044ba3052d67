"""From killing or stopping the driver while the arm moves to the stop at the arm."""

from __future__ import annotations

import random

from chaos_arena import Arena
from chaos_trial import plan, strike

from benchmarks.results import Bar, Result, result
from benchmarks.series import Series
from benchmarks.session import Session

LIMIT = 50.0
"""[ms]"""

BAR = Bar("ratio", "<=", 1.0)

BLOWS = ("sigkill", "sigstop")


def run(session: Session) -> list[Result]:
    """Do both in a stack of their own, as `make chaos` does; each blow must hit a moving arm."""
    folder = session.folder / "guard_kill"
    folder.mkdir()
    session.say("  starting a stack of its own and deploying the simulated arm …")
    results = []
    with Arena(folder) as arena:
        for blow in BLOWS:
            delays = _delays(session, arena, blow, session.count(30, 3))
            series = Series(f"guard_{blow}", "ms", tuple(delays))
            session.say(series.text())
            results.append(result(series, BAR, LIMIT, series.at(100) / LIMIT))
    return results


def _delays(session: Session, arena: Arena, blow: str, count: int) -> list[float]:
    """Return the delays of the stops [ms].

    Raises:
        RuntimeError: no stop came, or the arm moved after it.
    """
    delays: list[float] = []
    seed = random.randrange(1_000_000)
    waiting = plan(seed, 0, count, ["driver"], [blow])
    while waiting:
        verdict, _ = strike(arena, waiting[0], without_guard=False)
        if not verdict.telling:
            session.say("  the machine stalled: again")
            continue
        if verdict.delay is None or verdict.motion:
            raise RuntimeError(f"driver {blow}: {verdict}")
        delays.append(verdict.delay)
        waiting.pop(0)
    return delays
