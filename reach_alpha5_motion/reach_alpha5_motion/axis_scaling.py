"""How much of each asked axis the joints can give: one small quadratic program (rule 16).

With Q the joint rates that the asked axes need (one column an axis), the scales s solve

    minimise sum (1 - s_k)^2   subject to   lower <= Q s <= upper,  N Q s <= rate,  0 <= s <= 1

(N: how fast pairs of bodies come nearer for each joint) and a common factor then brings Q s within
the speed limits without changing its direction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from operator import mul
from typing import NamedTuple

import daqp
import numpy as np

from reach_alpha5_motion.limits import RateBounds
from reach_alpha5_motion.model import FloatArray

_SOLVED = 1
_TOLERANCE = 1e-9
_LEAST = 1e-6
"""rad/s: a bound below this counts as this, so that the solver's rounding of a rate that must be
zero does not stop the others; the caller clips it."""

_ROUNDED = 1e-12
"""rad/s, m/s: what passes a bound by no more is rounding, and blocks no axis."""

_NOTHING = 1e-6
"""A scale up to this is rounding of zero: a blocked axis is exactly still."""

_UNBOUNDED = 1e30
"""What the solver takes for infinite."""

Column = Sequence[float]
"""The rate [rad/s] that one asked axis needs of each joint."""


class Coupling(NamedTuple):
    """A bound on a sum over columns and lone joints: one pair of bodies that come nearer."""

    row: tuple[float, ...]
    """What each column, then each lone joint, adds at full scale [m/s]."""
    rate: float
    """Highest sum [m/s], never below zero."""


def scales(
    columns: Sequence[Column],
    bounds: RateBounds,
    velocity: Sequence[float],
    alone: Sequence[float] = (),
    couplings: Sequence[Coupling] = (),
) -> tuple[list[float], list[float]]:
    """Return the scale in [0, 1] of each axis, and of each lone joint.

    Args:
        columns: Q.
        bounds: of each joint [rad/s]; never wider than `velocity`.
        velocity: speed limit of each joint [rad/s].
        alone: joints that no column moves (wrist, jaws): the share of what is asked that their own
            bounds allow. Speed limits of the others do not slow them.
        couplings: what columns and lone joints must keep together.

    How near a limit is, b = bound / velocity in [0, 1], decides who yields. Far away (b = 1) the
    speed limit slows all axes alike: the direction stays. At the limit (b = 0) only the axes that
    drive into it are cut: the others keep their speed. The bounds of the program go continuously
    from one to the other. A coupling is no speed limit: it cuts what drives into it.
    """
    rows = list(zip(*columns, strict=True)) or [()] * len(velocity)
    caps = [*[1.0] * len(columns), *alone]
    # Rounding of a rate that must be zero does not stop what is along it.
    couplings = [Coupling(row, max(rate, _LEAST)) for row, rate in couplings]
    total: list[float] = [sum(row) for row in rows]
    if bounds.share(total, _ROUNDED) == 1.0 and _over(couplings, caps) <= 1.0:
        return caps[: len(columns)], caps[len(columns) :]
    # All couplings, not only those over their rate now: to cut one axis may bring up another.
    found = _unblocked([*couplings, *_blocking(rows, bounds, velocity, len(alone))], caps)
    granted, lone = found[: len(columns)], found[len(columns) :]
    common = bounds.share([sum(map(mul, row, granted)) for row in rows], _LEAST)
    granted = [scale * common for scale in granted]
    over = _over(couplings, [*granted, *lone])
    if over > 1.0:  # a brake on the columns alone may have turned the balance
        granted, lone = [scale / over for scale in granted], [scale / over for scale in lone]
    return [_cut(scale) for scale in granted], [_cut(scale) for scale in lone]


def _cut(scale: float) -> float:
    return scale if scale > _NOTHING else 0.0


def _over(couplings: Sequence[Coupling], found: Sequence[float]) -> float:
    """Return the sum at these scales per allowed rate, of the coupling where it is highest."""
    return max([sum(map(mul, row, found)) / rate for row, rate in couplings], default=0.0)


def _blocking(
    rows: Sequence[Sequence[float]], bounds: RateBounds, velocity: Sequence[float], alone: int
) -> list[Coupling]:
    """Return the bounds of joints that some scales would pass, as bounds on the sums of the rows.

    One that holds whatever the scales are is none: most do.

    Args:
        rows: what each column needs of each joint.
        bounds: of each joint.
        velocity: speed limit of each joint.
        alone: how many lone joints follow the columns.
    """
    rest = (0.0,) * alone
    found = []
    for row, low, high, fastest in zip(rows, bounds.lower, bounds.upper, velocity, strict=True):
        if sum(map(abs, row)) <= min(high, -low):
            continue  # the quick check: it is so for most
        up = sum([rate for rate in row if rate > 0.0])
        down = -sum([rate for rate in row if rate < 0.0])
        most, least = _widened(high, fastest, up), _widened(-low, fastest, down)
        if up > most + _ROUNDED:
            found.append(Coupling((*row, *rest), most))
        if down > least + _ROUNDED:
            found.append(Coupling((*[-rate for rate in row], *rest), least))
    return found


def _widened(bound: float, velocity: float, demand: float) -> float:
    """Widen a bound that is not near its limit by how far the demand is above the speed limit."""
    if bound <= 0.0 or demand <= velocity:
        return bound
    return bound * (1.0 + bound / velocity * (demand / velocity - 1.0))


def _unblocked(bounds: Sequence[Coupling], caps: list[float]) -> list[float]:
    """Solve the program: the scales nearest to one, none above its cap, within all bounds.

    Mostly one bound alone decides: what solves the program of that one, and keeps within the
    others, solves the whole.
    """
    over = [sum(map(mul, row, caps)) - rate for row, rate in bounds]
    worst = max(over, default=0.0)
    if worst <= 0.0:
        return caps
    if min(caps) == 1.0:
        found = _within_one(*bounds[over.index(worst)])
        if all(sum(map(mul, row, found)) <= rate + _ROUNDED for row, rate in bounds):
            return found
    return _within_all(bounds, caps)


def _within_one(row: Sequence[float], rate: float) -> list[float]:
    """Return the scales in [0, 1] nearest to one with row * s <= rate.

    They are 1 - row * x, cut to [0, 1]: what is below zero at some x is at every larger one.
    """
    room = rate - sum([value for value in row if value < 0.0])
    least = _TOLERANCE * max(row)
    cut = [value for value in row if value > least]
    factor = 0.0
    while cut:
        factor = (sum(cut) - room) / sum([value * value for value in cut])
        still = [value for value in cut if value * factor < 1.0]
        if len(still) == len(cut):
            break
        cut = still
    return [max(1.0 - value * factor, 0.0) if value > least else 1.0 for value in row]


def _within_all(bounds: Sequence[Coupling], caps: list[float]) -> list[float]:
    """Return the scales nearest to one, none above its cap, within all bounds."""
    # Rows of unit length: the solver's tolerance is then one of the scales.
    sizes = [max(math.hypot(*row), _TOLERANCE) for row, _ in bounds]
    count = len(caps)
    solution, _, flag, _ = daqp.solve(
        *_objective(count),
        np.array([[v / size for v in row] for (row, _), size in zip(bounds, sizes, strict=True)]),
        np.array([*caps, *[rate / size for (_, rate), size in zip(bounds, sizes, strict=True)]]),
        np.array([*[0.0] * count, *[-_UNBOUNDED] * len(bounds)]),
        primal_tol=_TOLERANCE,
    )
    if flag != _SOLVED:  # slower than need be, and within every bound
        over = [sum(map(mul, row, caps)) / max(rate, _ROUNDED) for row, rate in bounds]
        return [cap / max(1.0, *over) for cap in caps]
    return [min(max(scale, 0.0), cap) for scale, cap in zip(solution.tolist(), caps, strict=True)]


@cache
def _objective(count: int) -> tuple[FloatArray, FloatArray]:
    """Return the quadratic and the linear part of sum (1 - s_k)^2 / 2."""
    return np.eye(count), -np.ones(count)
