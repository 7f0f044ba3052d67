"""Where the exact inverse has no value, and what stands in for it there.

Two places: the straight arm, and the tip on the base axis. Outside the two zones below nothing is
changed. Inside, the inverse at the edge of the zone is used, so that rates stay bounded and the
way out is open; the tip is then off its line by no more than the joint speed limits allow inside
the zone: at most twice zone x speed of axis_e = 3 mm/s about the base axis, and 2 mm/s at the
straight arm, for the moment that it takes to leave.
"""

from __future__ import annotations

import math

from reach_alpha5_motion.model import ElbowSingularity

ELBOW_ZONE = 0.01
"""rad of axis_c on either side of the straight arm."""

AXIS_ZONE = 0.003
"""m of the tip on either side of the base axis."""


def elbow_side(elbow: float, singularity: ElbowSingularity) -> int:
    """Tell on which side of a straight arm the elbow counts as being.

    Inside the zone it is always the roomier one: noise of the measurement cannot make it
    alternate.
    """
    past = elbow - singularity.angle
    if abs(past) <= ELBOW_ZONE:
        return singularity.roomier
    return 1 if past > 0.0 else -1


def regular_elbow(elbow: float, singularity: ElbowSingularity) -> float:
    """Return the elbow angle whose Jacobian to use: the given one, or the edge of the zone."""
    if abs(elbow - singularity.angle) <= ELBOW_ZONE:
        return singularity.angle + elbow_side(elbow, singularity) * ELBOW_ZONE
    return elbow


def turn_per_across(reach: float, front: float, across: float) -> float:
    """Return the base rate per speed of the tip across the arm's plane [rad/m].

    Outside the zone that is 1/reach. On the axis the base turns without moving the tip; what is
    right there is to bring the arm's plane into the direction asked: front foremost if the asked
    velocity (`front`, `across`) points that way, else its back. In between it goes continuously
    from one edge of the zone to the other. The bias keeps a direction just across the plane, from
    a tip exactly on the axis, from being a place of rest.
    """
    if abs(reach) >= AXIS_ZONE:
        return 1.0 / reach
    size = math.hypot(front, across)
    if size == 0.0:
        return 0.0
    place = reach / AXIS_ZONE
    choice = 2.0 * front / size + 0.3
    return min(max(place + choice * (1.0 - abs(place)), -1.0), 1.0) / AXIS_ZONE


def radial_side(reach: float) -> float:
    """Return the sign of "outward" along front; inside the zone that is always the front."""
    return -1.0 if reach < -AXIS_ZONE else 1.0


def inward_share(reach: float, speed: float, gain: float) -> float:
    """Return the share in [0, 1] of a radial speed [m/s, plus = outward] that may be had.

    The radius cannot get less than zero: inward motion slows and ends at the zone.
    """
    room = gain * max(abs(reach) - AXIS_ZONE, 0.0)
    return min(1.0, room / -speed) if speed < 0.0 else 1.0
