"""A random walk over the real core with a fake clock, judged at each event.

`walk` is what the tests, `tools/prove.py` and the broken cores share.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from arbiter_invariants import Unsafe
from arbiter_judge import Judge
from arbiter_material import WORLDS
from arbiter_world import World

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.config import ArbiterConfig
from reach_alpha5_arbiter.core import MotionArbiter

SEEDS = 8
STEPS = 2_000_000
"""What the tests walk: so many events in all, of so many seeds."""

DEAF_STEPS = 3
"""Steps between the exit of an arbiter and the start of the next one."""

TOLD_LAST = 30
"""Events that are told of a walk that broke an invariant."""


@dataclass(slots=True)
class Outcome:
    """What a walk came to."""

    seed: int
    steps: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    """How often what was said, ended or refused."""
    unsafe: Unsafe | None = None
    """The invariant that was broken; the walk ended there."""
    told: str = ""
    """The last events before that, a line each."""

    @property
    def motions(self) -> int:
        """How many words asked for motion."""
        return sum(self.counts[kind] for kind in ("INPUT", "TWIST", "JOINT"))


def walk(
    seed: int,
    steps: int,
    make: Callable[[ArbiterConfig], MotionArbiter] = MotionArbiter,
) -> Outcome:
    """Walk, and stop at the first invariant that is broken.

    An arbiter that was told to exit hears some more, and is then started anew. The seed also says
    which world it is: without or with e-stop endpoints and an upstream link.
    """
    config = WORLDS[seed % len(WORLDS)]
    world, outcome = World(seed, config), Outcome(seed)
    history: deque[tuple[float, events.Event]] = deque(maxlen=TOLD_LAST)
    arbiter = make(config)
    judge, deaf = Judge(config, arbiter.snapshot(world.now)), 0
    while outcome.steps < steps:
        deaf += judge.closed
        if deaf > DEAF_STEPS:
            arbiter = make(config)
            judge, deaf = Judge(config, arbiter.snapshot(world.now)), 0
        for event in world.step():
            outcome.steps += 1
            history.append((world.now, event))
            outputs = arbiter.handle(event, world.now)
            world.hear(outputs)
            for out in outputs:
                if (name := _told(out)) is not None:
                    outcome.counts[name] += 1
            try:
                judge.observe(event, world.now, outputs)
            except Unsafe as unsafe:
                outcome.unsafe = unsafe
                outcome.told = "\n".join(f"{at:.3f} {what}" for at, what in history)
                return outcome
    return outcome


def _told(out: events.Output) -> str | None:
    if isinstance(out, events.Send):
        return f"STOP {out.cause.code}" if out.cause else out.command.kind.name
    if isinstance(out, events.Refused):
        return f"refused {out.refusal.code}"
    if isinstance(out, events.GoalEnded):
        return f"goal {out.ending.outcome.value}"
    return None
