"""Following set-points of joints: where they shall be by now, and how fast they go there.

A set-point goes on along its velocities, so that there is a wanted position at each moment until
the next one comes. The rates are its velocities, and what brings the joints back to the wanted
position. All of them are scaled by one factor where they cannot be had: what moves goes along the
wanted direction in joint space. Nothing is summed up: what was missed while something held the
arm back is in its position alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from reach_alpha5_motion.keep_out import ApproachLimit
from reach_alpha5_motion.limits import RateBounds
from reach_alpha5_motion.model import A
from reach_alpha5_motion.ramp import Ramp, Shaper
from reach_alpha5_motion.set_point import SetPoint
from reach_alpha5_motion.solver import Moment, Solution

CATCH_UP = 0.5
"""Share of its speed limit at which a joint comes back to its wanted position at most: one that
was held back, or whose set-points jump, does not rush."""

SLACK = (0.001, 0.001, 0.001, 0.001, 5e-5)
"""rad, m: a deviation up to this is left alone, chain order: it is near the noise of the
measurement."""

STILL = (0.001, 0.001, 0.001, 0.001, 2e-5)
"""rad/s, m/s: a joint that shall rest goes no more slowly than this, or not at all, chain order:
coming nearer would have no end."""

WAKE = (0.003, 0.003, 0.003, 0.003, 1.5e-4)
"""rad, m: a joint that has come to rest where it shall is not moved again for a deviation up to
this, chain order: it would only tremble after the noise."""

_LEAST = 1e-6
"""rad/s, m/s: a bound below this counts as this, so that rounding of a rate that must be zero
does not stop the others; who sends the rates clips them."""


def pursue(
    point: SetPoint,
    age: float,
    moment: Moment,
    bounds: RateBounds,
    gain: float,
    last: Sequence[float],
) -> Solution:
    """Return the rates that bring the joints to where the set-point wants them.

    Where that is beyond where a joint may be, it is the last place where it may: the joint comes
    to rest there and does not hold back the others.

    Args:
        point: which joints, and where they shall be.
        age: of the set-point at this moment [s].
        moment: the arm; the joints of the set-point are known.
        bounds: of all rates, from limits of position and speed.
        gain: rate per distance from the wanted position [1/s].
        last: rates of the five joints now [rad/s, m/s].
    """
    rooms = moment.rooms
    wanted = [start + velocity * age for _, start, velocity in zip(*point, strict=True)]
    allowed = [
        min(max(place, rooms[joint].low), rooms[joint].high)
        for joint, place in zip(point.joints, wanted, strict=True)
    ]
    rates = asked = _towards(point._replace(positions=tuple(wanted)), moment, gain, last)
    if wanted != allowed:
        onward = [
            velocity if velocity * (place - nearest) <= 0.0 else 0.0
            for velocity, place, nearest in zip(point.velocities, wanted, allowed, strict=True)
        ]
        there = SetPoint(point.joints, tuple(allowed), tuple(onward))
        rates = _towards(there, moment, gain, last)
    near = moment.approach if any(asked) or any(rates) else ()
    factor = share(rates, bounds, near)
    fastest = moment.following_speed
    within = RateBounds(tuple([-rate for rate in fastest]), tuple(fastest)).share(asked)
    return Solution(
        bounds.clip([factor * rate for rate in rates]),
        [within * rate for rate in asked],
        scales=[],
        moves=[],
        near=near,
    )


def share(rates: Sequence[float], bounds: RateBounds, approach: Sequence[ApproachLimit]) -> float:
    """Return the largest factor in [0, 1] at which the rates are within all bounds."""
    factor = bounds.share(rates, _LEAST)
    for limit in approach:
        nearing, most = limit.nearing(rates), max(limit.rate, _LEAST)
        if nearing * factor > most:
            factor = most / nearing
    return factor


class Afterglow:
    """What was followed last: it fades when nothing is followed any more. Monotonic times [s]."""

    def __init__(self, ramp: Ramp) -> None:
        """Fade along `ramp`, from rest."""
        self._ramp = ramp
        self._shaper: Shaper[int] = Shaper(ramp)
        self._left = 1.0

    @property
    def at_rest(self) -> bool:
        """Whether all has faded."""
        return self._shaper.at_rest

    def forget(self) -> None:
        """Begin at rest."""
        self._shaper.forget()

    def note(self, rates: Sequence[float], now: float) -> None:
        """Note the rates with which joints follow from `now` on."""
        self._shaper.forget()
        self._left = 1.0
        if any(rates):
            self._shaper.ask((0, tuple(rates)), now - self._ramp.time)

    def beside(
        self, rates: list[float], moment: Moment, bounds: RateBounds, since: float, now: float
    ) -> list[float]:
        """Return the rates and what has not faded of the others, together within all bounds.

        Args:
            rates: within all bounds by themselves.
            moment: the arm.
            bounds: of all rates.
            since: when nothing was followed any more.
            now: the time.
        """
        self._shaper.ask(None, since)
        faded = self._shaper.mean(now).get(0)
        if faded is None:
            return rates
        both = [rate + self._left * fading for rate, fading in zip(rates, faded, strict=True)]
        factor = share(both, bounds, moment.approach)
        self._left *= factor  # what something held back does not come again while it fades
        return [factor * rate for rate in both]


def _towards(point: SetPoint, moment: Moment, gain: float, last: Sequence[float]) -> list[float]:
    """Return the velocities of a set-point, and what brings the joints back to its positions."""
    speed = moment.following_speed
    back = {}
    for joint, place, velocity in zip(*point, strict=True):
        deviation = place - moment.positions[joint]
        rests = velocity == 0.0 and last[joint] == 0.0 and abs(deviation) <= WAKE[joint]
        back[joint] = 0.0 if rests else gain * _beyond(SLACK[joint], deviation)
    # Jaws that hold something stay behind as long as they do: that must not slow the arm down.
    arm = min([_bounded(rate, speed[joint]) for joint, rate in back.items() if joint != A] or [1])
    rates = [0.0] * len(last)
    for joint, velocity in zip(point.joints, point.velocities, strict=True):
        factor = _bounded(back[joint], speed[joint]) if joint == A else arm
        rate = velocity + factor * back[joint]
        if velocity != 0.0 or abs(rate) >= STILL[joint]:
            rates[joint] = rate
    return rates


def _bounded(rate: float, speed: float) -> float:
    """Return the share in [0, 1] of a rate with which a joint may come back."""
    most = CATCH_UP * speed
    return most / abs(rate) if abs(rate) > most else 1.0


def _beyond(slack: float, deviation: float) -> float:
    """Return what of a deviation is more than the slack."""
    return math.copysign(max(abs(deviation) - slack, 0.0), deviation)
