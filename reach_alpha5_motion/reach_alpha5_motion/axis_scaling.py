"""How much of each asked axis the joints can give: one small quadratic program (rule 16).

With Q the joint rates that the asked axes need (one column an axis), the scales s solve

    minimise sum (1 - s_k)^2   subject to   lower <= Q s <= upper,  N Q s <= rate,  0 <= s <= 1

(N: how fast pairs of bodies come nearer for each joint) and a common factor then brings Q s within
the speed limits without changing its direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import daqp
import numpy as np

from reach_alpha5_motion.limits import RateBounds

_SOLVED = 1
_TOLERANCE = 1e-9
_LEAST = 1e-6
"""rad/s: a bound below this counts as this, so that the solver's rounding of a rate that must be
zero does not stop the others; the caller clips it."""

_ROUNDED = 1e-12
"""rad/s: what is asked of a joint below this is rounding of zero, and blocks no axis."""

_NOTHING = 1e-6
"""A scale up to this is rounding of zero: a blocked axis is exactly still."""

_UNBOUNDED = 1e30
"""What the solver takes for infinite."""

Column = Sequence[float]
"""The rate [rad/s] that one asked axis needs of each joint."""


@dataclass(frozen=True, slots=True)
class Coupling:
    """A bound on a sum over columns and lone joints: one pair of bodies that come nearer."""

    columns: tuple[float, ...]
    """What each column at full scale adds [m/s]."""
    alone: tuple[float, ...]
    """What each lone joint at full scale adds [m/s]."""
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
    everything = [1.0] * len(columns)
    total = [float(sum(row)) for row in zip(*columns, strict=True)] or [0.0] * len(velocity)
    free = bounds.share(total, _ROUNDED) == 1.0
    if free and all(_over(each, everything, alone) <= 1.0 for each in couplings):
        return everything, list(alone)
    rows = [[column[joint] for column in columns] for joint in range(len(velocity))]
    lower, upper = [], []
    for row, low, high, fastest in zip(rows, bounds.lower, bounds.upper, velocity, strict=True):
        down = sum([rate for rate in row if rate < 0.0])
        up = sum([rate for rate in row if rate > 0.0])
        lower.append(-_blocking(-low, fastest, -down))
        upper.append(_blocking(high, fastest, up))
    # All couplings, not only those over their rate now: to cut one axis may bring up another.
    granted, lone = _unblocked(
        rows, total, RateBounds(tuple(lower), tuple(upper)), alone, couplings
    )
    rates = [sum(map(float.__mul__, row, granted)) for row in rows]
    common = bounds.share(rates, _LEAST)
    granted = [scale * common for scale in granted]
    over = max((_over(each, granted, lone) for each in couplings), default=1.0)
    if over > 1.0:  # a brake on the columns alone may have turned the balance
        granted, lone = [scale / over for scale in granted], [scale / over for scale in lone]
    return [_cut(scale) for scale in granted], [_cut(scale) for scale in lone]


def _cut(scale: float) -> float:
    return scale if scale > _NOTHING else 0.0


def _over(coupling: Coupling, columns: Sequence[float], alone: Sequence[float]) -> float:
    """Return the sum at these scales per allowed rate."""
    total = sum(map(float.__mul__, coupling.columns, columns))
    total += sum(map(float.__mul__, coupling.alone, alone))
    return total / max(coupling.rate, _LEAST)


def _blocking(bound: float, velocity: float, demand: float) -> float:
    """Widen a bound that is not near its limit by how far the demand is above the speed limit."""
    if bound <= 0.0 or demand <= velocity:
        return bound
    return bound * (1.0 + bound / velocity * (demand / velocity - 1.0))


def _unblocked(
    rows: Sequence[Sequence[float]],
    total: Sequence[float],
    blocking: RateBounds,
    alone: Sequence[float],
    couplings: Sequence[Coupling],
) -> tuple[list[float], list[float]]:
    """Solve the program; `total` is the sum of each row."""
    axes = len(rows[0])
    common = blocking.share(total, _ROUNDED)
    if not couplings and (common == 1.0 or axes <= 1):
        return [common] * axes, list(alone)
    count = axes + len(alone)
    matrix = np.zeros((len(rows) + len(couplings), count))
    matrix[: len(rows), :axes] = rows
    for place, coupling in enumerate(couplings, len(rows)):
        matrix[place] = (*coupling.columns, *coupling.alone)
    # Rows of unit length: the solver's tolerance is then one of the scales.
    size = np.maximum(np.linalg.norm(matrix, axis=1), _TOLERANCE)
    # Rounding of a rate that must be zero does not stop what is along it.
    rates = [max(coupling.rate, _LEAST) for coupling in couplings]
    highest = np.array((*blocking.upper, *rates)) / size
    lowest = np.array((*blocking.lower, *[-_UNBOUNDED] * len(couplings))) / size
    solution, _, flag, _ = daqp.solve(
        np.eye(count),
        -np.ones(count),
        matrix / size[:, None],
        np.concatenate((np.ones(axes), alone, highest)),
        np.concatenate((np.zeros(count), lowest)),
        primal_tol=_TOLERANCE,
    )
    if flag != _SOLVED:  # slower than need be, and within every bound
        granted, lone = [common] * axes, list(alone)
        over = max((_over(each, granted, lone) for each in couplings), default=1.0)
        share = 1.0 / max(1.0, over)
        return [scale * share for scale in granted], [scale * share for scale in lone]
    found = [min(max(float(scale), 0.0), 1.0) for scale in solution]
    return found[:axes], [min(*pair) for pair in zip(found[axes:], alone, strict=True)]
