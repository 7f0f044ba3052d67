"""What a broken core is, and how it is caught."""

from __future__ import annotations

from dataclasses import dataclass

from arbiter_breaking import Making
from arbiter_invariants import Invariant
from arbiter_walker import walk


@dataclass(frozen=True, slots=True)
class Broken:
    """A broken core, and what it must be caught by."""

    name: str
    breaks: Invariant
    """What it is there for."""
    making: Making


def broken(name: str, making: Making, breaks: Invariant) -> Broken:
    """Return an entry of the table."""
    return Broken(name, breaks, making)


BEGIN_WITH = {
    "a fault takes the place of the e-stop": 2,
    "a goal that is replaced is not answered": 2,
    "a reset does not wait for endpoints": 5,
    "a reset grants the lease": 5,
    "a veto does not count": 3,
    "a weaker press weakens the e-stop": 4,
    "absence is heard as presence": 2,
    "all clients are one": 4,
    "anywhere is where it should be": 6,
    "endpoints are not asked": 2,
    "endpoints do not matter when an e-stop does not": 5,
    "it repeats what was stopped": 2,
    "no check: estop_latched": 2,
    "no check: two_clients": 2,
    "no check: upstream_lost": 2,
    "no disarming: LAPSED": 3,
    "no disarming: NOT_LIVE": 2,
    "no objection: the driver is ESTOPPED": 5,
    "no objection: the driver is HELD": 4,
    "no objection: the driver is SERVICE": 2,
    "no stop is said: arm_held": 3,
    "no stop is said: driver_idle": 2,
    "no stop is said: fault": 6,
    "no stop is said: goal_canceled": 4,
    "no stop is said: lapsed": 3,
    "no stop is said: path_left": 28,
    "no stop is said: preempted": 3,
    "no stop is said: replaced": 2,
    "no stop is said: reset": 4,
    "no stop is said: stream_closed": 2,
    "no stop is said: two_clients": 4,
    "no stop is said: upstream_lost": 2,
    "the path is not watched": 28,
    "what a bag asks is obeyed": 5,
    "what a bag asks stops nothing": 5,
}
"""Seed with which a walk finds a broken core soonest; 1 for those that are not here."""

SEEDS = range(1, 7)
STEPS = 20_000
"""So many more walks, of so many events each at most, meet a broken core."""


def catch(broken: Broken) -> int:
    """Walk until the core is caught by what it breaks; return the number of events.

    A walk ends at the first event at which anything is broken, and tells all that is. What is
    broken first may be something else, since one mistake has many consequences: then the next seed
    is tried.

    Raises:
        AssertionError: no walk has caught it by that.
    """
    steps, others = 0, set[str]()
    for seed in (BEGIN_WITH.get(broken.name, 1), *SEEDS):
        with broken.making() as core:
            outcome = walk(seed, STEPS, core)
        steps += outcome.steps
        found = outcome.unsafe.invariants if outcome.unsafe is not None else ()
        if broken.breaks in found:
            return steps
        others |= {each.name for each in found}
    raise AssertionError(
        f"{broken.name}: not caught by {broken.breaks.name} in {steps:,} events; "
        f"by {', '.join(sorted(others)) or 'nothing'}"
    )
