"""From the last rates to the wanted ones, as far as the joints can change in one step.

Best is the largest share of the wanted rates that all joints can reach: what comes then is exactly
along what is wanted. While the direction turns there is none; then all joints change by the same
share of the change, so that nothing comes which is in neither direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul

from reach_alpha5_motion.keep_out import ApproachLimit
from reach_alpha5_motion.limits import RateBounds
from reach_alpha5_motion.model import B

_SAFE = 1e-6
"""m/s: a pair that comes nearer by this much more than it may is rounding."""


def towards(
    last: Sequence[float],
    wanted: list[float],
    step: Sequence[float],
    bounds: RateBounds,
    approach: Sequence[ApproachLimit],
    together: int = B,
) -> list[float]:
    """Return the rates that come next; joints that do not belong together change each on its own.

    Where that leaves too much speed towards a limit, what is safe goes before what is straight,
    and the largest change before both.

    Args:
        last: rates now, five [rad/s, m/s].
        wanted: within all bounds.
        step: largest change of each joint.
        bounds: from position limits.
        approach: bounds from what must not be touched.
        together: how many joints, the first ones, make one motion.
    """
    if _within(last, wanted, step):
        return wanted
    now, then, most = last[:together], wanted[:together], step[:together]
    arm = _straight(now, then, most)
    if arm is None:
        arm = _mixed(now, then, _share(now, then, most))
    rates = _within_step([*arm, *wanted[together:]], last, step)
    if _excess(rates, approach) > _SAFE:
        still = [0.0] * len(last)
        braked = _mixed(last, still, _share(last, still, step))
        rates = min(rates, braked, key=lambda each: _excess(each, approach))
    return _within_step(bounds.clip(rates), last, step)


def _within(last: Sequence[float], wanted: Sequence[float], step: Sequence[float]) -> bool:
    return all(abs(then - now) <= most for now, then, most in zip(last, wanted, step, strict=True))


def _straight(
    last: Sequence[float], wanted: Sequence[float], step: Sequence[float]
) -> list[float] | None:
    """Return the largest share in [0, 1] of the wanted rates that is within reach; None: none."""
    low, high = 0.0, 1.0
    for now, then, most in zip(last, wanted, step, strict=True):
        if then == 0.0:
            if abs(now) > most:
                return None
            continue
        ends = (now - most) / then, (now + most) / then
        low, high = max(low, min(ends)), min(high, max(ends))
    return [high * rate for rate in wanted] if low <= high else None


def _share(last: Sequence[float], wanted: Sequence[float], step: Sequence[float]) -> float:
    """Return the largest share in [0, 1] of the change that all joints can make."""
    share = 1.0
    for now, then, most in zip(last, wanted, step, strict=True):
        change = abs(then - now)
        if change > most:
            share = min(share, most / change)
    return share


def _mixed(first: Sequence[float], second: Sequence[float], share: float) -> list[float]:
    return [a + share * (b - a) for a, b in zip(first, second, strict=True)]


def _within_step(
    rates: Sequence[float], last: Sequence[float], step: Sequence[float]
) -> list[float]:
    return [
        min(max(rate, now - most), now + most)
        for rate, now, most in zip(rates, last, step, strict=True)
    ]


def _excess(rates: Sequence[float], approach: Sequence[ApproachLimit]) -> float:
    """Return by how much the worst pair comes nearer faster than it may [m/s]."""
    return max(
        [sum(map(mul, row, rates)) - most for row, most, _, _ in approach],
        default=0.0,
    )
