"""The blows of chaos: what is dealt, how it is struck, and by when the moving arm must stop."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass

from chaos_arena import Arena, stopped
from chaos_judge import Blow, Verdict, judge

KILLS = {
    "sigkill": signal.SIGKILL,
    "sigsegv": signal.SIGSEGV,
    "sigabrt": signal.SIGABRT,
    "sigterm": signal.SIGTERM,
    "sigint": signal.SIGINT,
}
"""Blows that end a node; it is started again."""

SIGNALS = (*KILLS, "sigstop")

KINDS = {
    "driver": SIGNALS,
    "arbiter": SIGNALS,
    "teleop": SIGNALS,
    "line": ("unplug", "power"),
}
"""What can be done to whom."""

SHARES = {"driver": 4, "arbiter": 1, "teleop": 1, "line": 2}
"""How often each of these is dealt."""

LATENESS = 50.0
"""What machine and line may add to a time-out of the stack [ms]: as much as the driver has."""

WITHIN = {
    "driver": 50.0,
    "arbiter": 250.0 + LATENESS,
    "teleop": 500.0 + LATENESS,
    "unplug": 5000.0 + LATENESS,
    "power": 250.0 + LATENESS,
}
"""Time for the stop to begin at the arm [ms], by kind or node: docs/architecture.md has the
time-outs. After `unplug` it counts from when the cable is back, up to the longest time between two
attempts of the driver to open the port."""

LEAD = (0.02, 0.6)
"""Shortest and longest time of motion before the blow [s]."""

PAUSE = (0.1, 1.0)
"""How long a stopped node or a dead line is left so, beyond the time that the stop has [s]."""

AFTERWARDS = 0.3
"""How long the arm is watched, stick still pushed, when all are back [s]."""

BACK_TIMEOUT = 60.0
"""Seconds in which all must be back."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One blow, all drawn from seed and number."""

    seed: int
    number: int
    node: str
    kind: str
    sticks: dict[str, float]
    lead: float
    """Motion before the blow [s]."""
    pause: float
    """See `PAUSE` [s]."""

    @property
    def within(self) -> float:
        """Time for the stop to begin at the arm [ms]."""
        return WITHIN[self.kind if self.kind in WITHIN else self.node]

    def __str__(self) -> str:
        """Name it."""
        return f"{self.node} {self.kind}"


def plan(
    seed: int, first: int, count: int, nodes: Sequence[str], kinds: Sequence[str]
) -> list[Trial]:
    """Deal trials: within each deck all that is asked for, in its share, in random order."""
    deck = [
        (node, kind)
        for node in nodes
        for kind in KINDS[node]
        if kind in kinds
        for _ in range(SHARES[node])
    ]
    trials = []
    for number in range(first, first + count):
        turn, place = divmod(number, len(deck))
        node, kind = random.Random(f"{seed}/{turn}").sample(deck, len(deck))[place]
        draw = random.Random(f"{seed}/{turn}/{place}")
        sign = 1.0 if number % 2 else -1.0  # there and back: the arm stays where it can move
        sticks = {name: sign * draw.uniform(0.3, 1.0) for name in ("left_x", "left_y", "right_x")}
        trials.append(
            Trial(seed, number, node, kind, sticks, draw.uniform(*LEAD), draw.uniform(*PAUSE))
        )
    return trials


def strike(arena: Arena, trial: Trial, without_guard: bool) -> tuple[Verdict, int]:
    """Do it to the moving arm, and judge; also return where in the byte log it begins."""
    arena.settle()
    arena.samples.clear()
    mark = arena.stack.mark()
    arena.jog(trial.sticks)
    time.sleep(trial.lead)
    guards = [arena.stop_guard()] if without_guard and trial.node == "driver" else []
    try:
        if trial.node == "line":
            blow = _strike_line(arena, trial)
        elif trial.kind == "sigstop":
            blow = _stop(arena, trial)
        else:
            blow = _kill(arena, trial)
    finally:
        for pid in guards:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    if not arena.watch(BACK_TIMEOUT, until=arena.back):
        raise TimeoutError(f"not all came back\n{arena.client.summary()}")
    arena.watch(AFTERWARDS)
    end_ns = time.monotonic_ns()
    return judge(arena.stack.wire(mark), arena.samples, blow, end_ns), mark


def _kill(arena: Arena, trial: Trial) -> Blow:
    before = arena.signal(trial.node, KILLS[trial.kind])
    arena.watch(trial.within / 1e3 + PAUSE[0], closely=True)
    arena.restart(trial.node)
    return Blow(before, trial.within)


def _stop(arena: Arena, trial: Trial) -> Blow:
    with stopped(arena, trial.node) as before:
        arena.watch(trial.within / 1e3, closely=True)
        arena.watch(trial.pause)
    return Blow(before, trial.within)


def _strike_line(arena: Arena, trial: Trial) -> Blow:
    if trial.kind == "power":
        before = arena.line("power off")
        arena.watch(trial.within / 1e3, closely=True)
        arena.watch(trial.pause)
        arena.line("power on")
        return Blow(before, trial.within)
    before = arena.line("unplug")
    arena.watch(trial.pause)
    return Blow(before, trial.within, line_back_ns=arena.line("plug"))
