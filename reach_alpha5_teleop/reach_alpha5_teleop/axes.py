"""One axis of a pad: from what the joystick driver reports to a number in [-1, 1]."""

from __future__ import annotations

import math
from dataclasses import dataclass

from reach_alpha5_teleop.glitch import JumpGuard
from reach_alpha5_teleop.rest import RestLearner

TRIGGER_REST = 0.5
"""An axis that rests farther out than this has travel on one side only: what a trigger reads
beyond its rest is wear, and no pull."""


@dataclass(frozen=True, slots=True)
class AxisSpec:
    """Where an axis sits in the axes array and how its travel is read.

    Attributes:
        index: position in `Joy.axes`.
        rest: about what the joystick driver reports while nobody touches the axis, in [-1, 1];
            a trigger rests at an end of the range with some drivers.
        invert: flip the sign of the travel.
        deadband: part of the travel on either side of rest that counts as untouched, in (0, 1).
        exponent: response curve; 1 is linear, above it the middle of the travel is finer.
    """

    index: int
    rest: float = 0.0
    invert: bool = False
    deadband: float = 0.1
    exponent: float = 1.0

    @property
    def is_trigger(self) -> bool:
        """Whether it has travel on one side of its rest only."""
        return abs(self.rest) > TRIGGER_REST


def travel(spec: AxisSpec, raw: float, rest: float | None = None) -> float:
    """Return the signed travel of `raw` from rest as a fraction of what there is on that side.

    The joystick driver computes in single precision, so that full scale may come out as
    1.0000001: the caller lets that rounding through and it ends here.

    Args:
        spec: the axis.
        raw: the report, in [-1, 1].
        rest: the report at rest, where it was learned; else that of the profile.
    """
    raw = min(1.0, max(-1.0, raw))
    rest = spec.rest if rest is None else rest
    away = raw - rest
    if away == 0.0 or (spec.is_trigger and away * spec.rest > 0.0):
        return 0.0
    fraction = away / (1.0 - rest if away > 0.0 else 1.0 + rest)
    return -fraction if spec.invert else fraction


def shape(spec: AxisSpec, fraction: float) -> float:
    """Apply deadband and response curve to a travel in [-1, 1].

    0 inside the deadband, continuous at its edge, +-1 at full travel, monotone.
    """
    beyond = (abs(fraction) - spec.deadband) / (1.0 - spec.deadband)
    if beyond <= 0.0:
        return 0.0
    return math.copysign(min(1.0, beyond) ** spec.exponent, fraction)


@dataclass(frozen=True, slots=True)
class Reading:
    """What one frame says of an axis.

    Attributes:
        value: in [-1, 1]; 0 = at rest, or its rest is not known yet.
        touched: it is off its rest in this very frame, whether that is believed yet or not.
    """

    value: float
    touched: bool


UNKNOWN = Reading(0.0, touched=False)


class Axis:
    """An axis that counts once its rest is known, and then from that rest (D3)."""

    def __init__(self, spec: AxisSpec) -> None:
        self._spec = spec
        # The deadband in reports: of the way there is, or of the shorter one of two.
        near = spec.deadband * (1.0 + abs(spec.rest) if spec.is_trigger else 1.0 - abs(spec.rest))
        self._rest = RestLearner(spec.rest - near, spec.rest + near)
        self._guard = JumpGuard()

    @property
    def rest(self) -> float | None:
        """The report at rest; None = not known yet."""
        return self._rest.rest

    def read(self, raw: float, now: float) -> Reading:
        """Read a finite report in [-1, 1] that came at monotonic time `now` [s]."""
        self._rest.see(raw, now)
        if self._rest.rest is None:
            return UNKNOWN
        moved = travel(self._spec, raw, self._rest.rest)
        return Reading(
            value=shape(self._spec, self._guard.read(moved)),
            touched=shape(self._spec, moved) != 0.0,
        )

    def forget(self) -> None:
        """Take nothing for granted: another pad may be there next."""
        self._rest.forget()
        self._guard.forget()
