"""How much of each asked axis the joints can give: one small quadratic program (rule 16).

With Q the joint rates that the asked axes need (one column an axis), the scales s solve

    minimise sum (1 - s_k)^2   subject to   lower <= Q s <= upper,  0 <= s <= 1

and a common factor then brings Q s within the speed limits without changing its direction.
"""

from __future__ import annotations

from collections.abc import Sequence

import daqp
import numpy as np

from reach_alpha5_motion.limits import RateBounds

_SOLVED = 1
_TOLERANCE = 1e-9
_LEAST = 1e-6
"""rad/s: a bound below this counts as this, so that the solver's rounding of a rate that must be
zero does not stop the others; the caller clips it."""

_NOTHING = 1e-6
"""A scale up to this is rounding of zero: a blocked axis is exactly still."""

Column = Sequence[float]
"""The rate [rad/s] that one asked axis needs of each joint."""


def scales(
    columns: Sequence[Column], bounds: RateBounds, velocity: Sequence[float]
) -> list[float]:
    """Return the scale in [0, 1] of each axis.

    Args:
        columns: Q, at least one column.
        bounds: of each joint [rad/s]; never wider than `velocity`.
        velocity: speed limit of each joint [rad/s].

    How near a limit is, b = bound / velocity in [0, 1], decides who yields. Far away (b = 1) the
    speed limit slows all axes alike: the direction stays. At the limit (b = 0) only the axes that
    drive into it are cut: the others keep their speed. The bounds of the program go continuously
    from one to the other.
    """
    rows = list(zip(*columns, strict=True))
    total = [sum(row) for row in rows]
    if bounds.share(total) == 1.0:
        return [1.0] * len(columns)
    lower, upper = [], []
    for row, low, high, fastest in zip(rows, bounds.lower, bounds.upper, velocity, strict=True):
        down = sum([rate for rate in row if rate < 0.0])
        up = sum([rate for rate in row if rate > 0.0])
        lower.append(-_blocking(-low, fastest, -down))
        upper.append(_blocking(high, fastest, up))
    granted = _unblocked(rows, total, RateBounds(tuple(lower), tuple(upper)))
    rates = [sum(map(float.__mul__, row, granted)) for row in rows]
    common = bounds.share(rates, _LEAST)
    return [scale * common if scale * common > _NOTHING else 0.0 for scale in granted]


def _blocking(bound: float, velocity: float, demand: float) -> float:
    """Widen a bound that is not near its limit by how far the demand is above the speed limit."""
    if bound <= 0.0 or demand <= velocity:
        return bound
    return bound * (1.0 + bound / velocity * (demand / velocity - 1.0))


def _unblocked(
    rows: Sequence[Sequence[float]], total: Sequence[float], blocking: RateBounds
) -> list[float]:
    """Solve the program; `total` is the sum of each row."""
    axes = len(rows[0])
    common = blocking.share(total)
    if common == 1.0 or axes == 1:
        return [common] * axes
    matrix = np.array(rows)
    # Rows of unit length: the solver's tolerance is then one of the scales.
    size = np.maximum(np.linalg.norm(matrix, axis=1), _TOLERANCE)
    everything = np.ones(axes)
    solution, _, flag, _ = daqp.solve(
        np.eye(axes),
        -everything,
        matrix / size[:, None],
        np.concatenate((everything, np.array(blocking.upper) / size)),
        np.concatenate((np.zeros(axes), np.array(blocking.lower) / size)),
        primal_tol=_TOLERANCE,
    )
    if flag != _SOLVED:
        return [common] * axes  # slower than need be, and within every bound
    return [min(max(float(scale), 0.0), 1.0) for scale in solution]
