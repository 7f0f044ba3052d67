"""A pilot for tests: random jogs, and all the ways in which they end, from a seed."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator

from driver_rig import FORWARD, RATE_LIMITS

from reach_alpha5_common.command import CommandKind, DriverCommand, StopLevel

REPEAT = 0.05
"""Time between two commands while the stick is held, as the arbiter sends them [s]."""

LIFETIMES = (0.12, 0.3)
"""Shortest and longest lifetime of a command [s]."""

SILENCE = (0.6, 1.0)
"""Shortest and longest time for which a pilot who vanished says nothing [s]: it is a lapse."""

REST = (0.02, 0.5)
LONG_REST = (1.3, 1.8)
"""Shortest and longest time between two jogs [s]. The long one gives a joint that goes on moving
the time to be found out."""

POWER_UP = 0.3
"""Time for which the pilot waits after a reset, which gives the motors their power back [s]."""

CREEP = 0.03
"""A joint that creeps goes at this share of its highest rate, or at less."""


class Pilot:
    """Says what to send to the driver, and when. Times are virtual seconds.

    `send` is given a command and the time it was sent at, `estop` a level; `ask` the joint rates
    that a command for motion asks for, chain order [rad/s, m/s], before it is sent.
    """

    def __init__(
        self,
        seed: int,
        send: Callable[[DriverCommand, float], None],
        estop: Callable[[StopLevel], None],
        ask: Callable[[tuple[float, ...]], None],
        epoch: Callable[[], int],
    ) -> None:
        self.next_at = 0.0
        """Something is to be said at this time."""
        self._random = random.Random(f"{seed}/pilot")
        self._send = send
        self._estop = estop
        self._ask = ask
        self._epoch = epoch
        self._sequence = 0
        self._script = self._fly()

    def act(self) -> None:
        """Say what is due now."""
        self.next_at += next(self._script)

    def practise(self) -> None:
        """Do nothing but jog all joints to and fro, release, and wait."""
        self._script = self._to_and_fro()

    def show(self, now: float) -> None:
        """Leave off, and show from now on that the arm can be moved, after a reset."""
        self.next_at = now
        self._script = self._demonstrate()

    # -- scripts: they yield how long to wait

    def _fly(self) -> Iterator[float]:
        endings = (self._release, self._centre, self._vanish, self._panic)
        yield self._random.uniform(0.1, 0.9)
        while True:
            yield from self._random.choice((self._release, self._release, self._calm_down))()
            yield from self._jog(self._rates(), self._random.uniform(0.1, 0.6))
            yield from self._random.choice(endings)()
            yield self._random.uniform(*(LONG_REST if self._random.random() < 0.2 else REST))

    def _to_and_fro(self) -> Iterator[float]:
        yield POWER_UP
        for sign in itertools.cycle((1.0, -1.0)):
            yield from self._calm_down()
            yield from self._jog(tuple(sign * limit for limit in RATE_LIMITS), 0.25)
            yield from self._release()
            yield LONG_REST[0]

    def _demonstrate(self) -> Iterator[float]:
        yield SILENCE[0]
        while True:
            yield from self._calm_down()
            yield from self._jog(tuple(limit / 2.0 for limit in RATE_LIMITS), 0.5)
            yield from self._release()

    def _jog(self, rates: tuple[float, ...], seconds: float) -> Iterator[float]:
        """Hold the stick."""
        for _ in range(math.ceil(seconds / REPEAT)):
            self._input(rates)
            yield REPEAT

    def _release(self) -> Iterator[float]:
        """Let go: the arbiter sends a stop."""
        self._command(CommandKind.STOP)
        yield 0.0

    def _centre(self) -> Iterator[float]:
        """Let the stick come to its centre, with the deadman held."""
        self._command(CommandKind.INPUT, lifetime=0.2)
        yield 0.0

    def _vanish(self) -> Iterator[float]:
        """Fall silent with the stick held, and come back, now and then with it still held."""
        yield self._random.uniform(*SILENCE)
        if self._random.random() < 0.5:
            yield from self._jog(self._rates(), 0.3)
        yield from self._release()

    def _panic(self) -> Iterator[float]:
        """Press the e-stop, hold the stick on against it, then reset."""
        self._estop(self._random.choice((StopLevel.SETTLE_THEN_CUT, StopLevel.CUT)))
        yield from self._jog(self._rates(), self._random.uniform(0.1, 0.6))
        yield from self._calm_down()

    def _calm_down(self) -> Iterator[float]:
        """Let go, and reset whatever is latched."""
        self._command(CommandKind.STOP)
        yield 0.1
        self._command(CommandKind.RESET, estop_epoch=self._epoch())
        yield POWER_UP
        self._command(CommandKind.STOP)
        yield REPEAT

    # -- words

    def _rates(self) -> tuple[float, ...]:
        chance = self._random
        share = CREEP if chance.random() < 0.2 else 1.0
        return tuple(
            limit * share * chance.choice((0.0, 1.0, chance.uniform(-1.0, 1.0), -1.0))
            for limit in RATE_LIMITS
        )

    def _input(self, rates: tuple[float, ...]) -> None:
        self._ask(rates)
        lifetime = self._random.uniform(*LIFETIMES)
        self._command(CommandKind.INPUT, input=FORWARD, lifetime=lifetime)

    def _command(self, kind: CommandKind, **fields) -> None:
        self._sequence += 1
        self._send(DriverCommand(kind, self._sequence, **fields), self.next_at)
