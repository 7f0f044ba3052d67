"""How much room the arm needs to come to rest before what it keeps clear of.

Each step looks at where the arm is in its middle. The first one that finds a pair of bodies
nearer than its outer distance begins to brake: all joints by the same share of their rates, and as
fast as the slowest of them can, in t = max(rate / acceleration). Until then half a step of the one
before is left. In steps of a period T the two come nearer meanwhile by at most

    V (t/2 + T^2 / 8t)    with t at least T/2,    V = sum of lever x rate over the joints

and V x latency more, since what the arm does late is foreseen no better than the latency is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul

from reach_alpha5_motion.model import JointLimits
from reach_alpha5_motion.speed import MotionConfig
from reach_alpha5_motion.speeds import fastest_rates

WITHIN_ARM = (0.385, 0.044, 2.4)
"""m/rad; m/m for the jaws: how fast two parts of the arm that are near each other come nearer, per
rate of the fastest of axis_e, axis_d and axis_c, of axis_b, and of axis_a. The longest levers say
twice as much; but where the arm is near itself it is folded, and moves mostly along itself. The
numbers were searched over the postures of the description; a test searches again."""


@dataclass(frozen=True, slots=True)
class Stopping:
    """How the arm stops when it goes as fast as it may."""

    rates: tuple[float, ...]
    """Highest of axis_e, axis_d, axis_c, axis_b [rad/s], axis_a [m/s]."""
    time: float
    """At these, way until rest per speed [s]."""

    @classmethod
    def of(cls, limits: JointLimits, config: MotionConfig, period: float) -> Stopping:
        """Return it for the limits of a description, and steps of `period` [s]."""
        rates = fastest_rates(limits, config)
        brakes = [rate / most for rate, most in zip(rates, config.accelerations, strict=True)]
        braking = max(*brakes, period / 2.0)
        time = config.latency + braking / 2.0 + period * period / (8.0 * braking)
        return cls(tuple(rates), time)

    def speed(self, levers: Sequence[float]) -> float:
        """Return how fast a pair comes nearer at most, for a lever a joint [m/s]."""
        return float(sum(map(mul, levers, self.rates)))

    @property
    def within_arm(self) -> float:
        """How fast two parts of the arm that are near each other come nearer at most [m/s]."""
        arm, wrist, jaws = WITHIN_ARM
        *turning, roll, grip = self.rates
        return arm * max(turning) + wrist * roll + jaws * grip
