"""The way to a known pose (B5): lift upright, swing the base, lower.

There is no memory: where the arm stands tells which leg it is on, so that the way goes on after
any interruption and a leg that is done is not repeated.

* The base is there (axis_e within the tolerance): lower, all three joints to the goal.
* Else, the arm is upright: swing axis_e to the goal, holding upright.
* Else: lift axis_d and axis_c to upright, the base still.

Legs blend over the last part of their tolerance, from nothing at its edge to all at a quarter of
it. So the rates are continuous in the posture, and noise of the measurement at a boundary cannot
make the arm change its mind: in the blend the base always goes on to the goal.
"""

from __future__ import annotations

from reach_alpha5_motion.model import Vector

_ALL = 0.25
"""Share of the tolerance at which the next leg has taken over."""


def path_rates(
    q: Vector,
    goal: Vector,
    lift: tuple[float, float],
    velocity: Vector,
    gain: float,
    tolerances: tuple[float, float],
) -> Vector:
    """Return the rates of axis_e, axis_d, axis_c towards a pose [rad/s].

    Args:
        q: axis_e, axis_d, axis_c [rad].
        goal: the same of the pose [rad].
        lift: axis_d, axis_c when upright [rad].
        velocity: speed of each joint on this path [rad/s], above zero.
        gain: rate per distance left [1/s]: how a leg slows down at its end.
        tolerances: of a leg and of the pose [rad].
    """
    leg, done = tolerances
    to_goal = (goal[0] - q[0], goal[1] - q[1], goal[2] - q[2])
    if max(map(abs, to_goal)) <= done:
        return 0.0, 0.0, 0.0
    to_upright = (0.0, lift[0] - q[1], lift[1] - q[2])
    lowering = _there(abs(to_goal[0]), leg)
    swinging = max(_there(max(map(abs, to_upright)), leg), lowering)
    raise_e, raise_d, raise_c = _together(to_upright, velocity, gain)
    swing_e, _, _ = _together((to_goal[0], 0.0, 0.0), velocity, gain)
    lower_e, lower_d, lower_c = _together(to_goal, velocity, gain)
    before = 1.0 - lowering
    return (
        before * (raise_e + swinging * swing_e) + lowering * lower_e,
        before * raise_d + lowering * lower_d,
        before * raise_c + lowering * lower_c,
    )


def _there(distance: float, tolerance: float) -> float:
    """Return 0 outside the tolerance, 1 well inside, and a ramp between."""
    ramp = (tolerance - distance) / (tolerance * (1.0 - _ALL))
    return min(max(ramp, 0.0), 1.0)


def _together(distance: Vector, velocity: Vector, gain: float) -> Vector:
    """Return rates with which all joints arrive at once, slowing down at the end."""
    needed = [abs(way) / fastest for way, fastest in zip(distance, velocity, strict=True)]
    duration = max(1.0 / gain, *needed)
    return distance[0] / duration, distance[1] / duration, distance[2] / duration
