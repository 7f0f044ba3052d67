"""One axis of a pad: from what the joystick driver reports to a number in [-1, 1]."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AxisSpec:
    """Where an axis sits in the axes array and how its travel is read.

    Attributes:
        index: position in `Joy.axes`.
        rest: value that the joystick driver reports while nobody touches the axis, in [-1, 1];
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


def travel(spec: AxisSpec, raw: float) -> float:
    """Return the signed travel of `raw` from rest as a fraction of what there is on that side.

    The joystick driver computes in single precision, so that full scale may come out as
    1.0000001: the caller lets that rounding through and it ends here.
    """
    raw = min(1.0, max(-1.0, raw))
    away = raw - spec.rest
    if away == 0.0:
        return 0.0
    fraction = away / (1.0 - spec.rest if away > 0.0 else 1.0 + spec.rest)
    return -fraction if spec.invert else fraction


def shape(spec: AxisSpec, fraction: float) -> float:
    """Apply deadband and response curve to a travel in [-1, 1].

    0 inside the deadband, continuous at its edge, +-1 at full travel, monotone.
    """
    beyond = (abs(fraction) - spec.deadband) / (1.0 - spec.deadband)
    if beyond <= 0.0:
        return 0.0
    return math.copysign(min(1.0, beyond) ** spec.exponent, fraction)


class Axis:
    """An axis that counts only after it was seen at rest.

    Some drivers report 0 for a trigger until it is first touched, while its rest is at +1 or -1:
    taken at its word it would be half pulled. And a stick that is held over while the pad connects
    is not an input. Both read as at rest until they have been there once (D3).
    """

    def __init__(self, spec: AxisSpec) -> None:
        self._spec = spec
        self._seen_at_rest = False

    def read(self, raw: float) -> float:
        """Return the value in [-1, 1] for a finite report in [-1, 1]; 0 = at rest or unknown."""
        value = shape(self._spec, travel(self._spec, raw))
        if value == 0.0:
            self._seen_at_rest = True
        return value if self._seen_at_rest else 0.0

    def forget(self) -> None:
        """Take nothing for granted: another pad may be there next."""
        self._seen_at_rest = False
