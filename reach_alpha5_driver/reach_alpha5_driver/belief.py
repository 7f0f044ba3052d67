"""What the driver believes of each joint, and how old that is.

Nothing the line says is taken at its word. An 8-bit checksum lets a damaged frame through now and
then, so a value must be one that the joint can have: inside the widest limits, and no further from
the last one than the joint can have moved since. Reports that contradict it but agree with each
other say that it is not known where the joint is: its position goes stale, so that nothing moves
from it, and is believed again when the next one agrees too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from reach_alpha5_driver.devices import DEVICES

AGREEING_AFTER_GAP = 2
"""Reports that must agree before a position is believed at start or after a silence."""

CONTRADICTIONS = 3
"""Reports that must agree with each other before they make a fresh position stale."""

SPEED_FACTOR = 2.0
"""How much faster than the description's velocity limit a joint is thought able to move."""

MARGIN = {"rad": 0.1, "m": 0.001}
"""Slack for noise, and for reports that arrive in one batch [rad, m]."""


@dataclass(frozen=True, slots=True)
class JointBounds:
    """What a report of one joint can be: rad and rad/s, or m and m/s for the jaws."""

    lower: float
    upper: float
    speed: float
    """Fastest that the joint can be thought to move."""
    margin: float
    """Slack on the limits and on each step."""


def joint_bounds(
    lower: Sequence[float], upper: Sequence[float], velocity: Sequence[float]
) -> tuple[JointBounds, ...]:
    """Return the bounds that follow from the description's limits, all in chain order."""
    return tuple(
        JointBounds(
            float(lower[device.index]),
            float(upper[device.index]),
            float(velocity[device.index]) * SPEED_FACTOR,
            MARGIN[device.unit],
        )
        for device in DEVICES
    )


@dataclass(frozen=True, slots=True)
class Quantity:
    """A slowly changing value and the widest range that a working sensor reports."""

    name: str
    lower: float
    upper: float


QUANTITIES = (
    Quantity("current", -10.0, 10.0),  # [A]; clamps in use end at 0.6
    Quantity("temperature", -40.0, 150.0),  # [degC]
    Quantity("humidity", 0.0, 100.0),  # [%]
    Quantity("voltage", 0.0, 60.0),  # [V]; the arm runs on 24
)


@dataclass(slots=True)
class JointBelief:
    """The last believed values of one joint; NaN and None = never heard. SI units."""

    position: float = math.nan
    position_at: float = -math.inf
    velocity: float = math.nan
    velocity_at: float = -math.inf
    current: float = math.nan
    temperature: float = math.nan
    humidity: float = math.nan
    voltage: float = math.nan
    mode: int | None = None
    status_flags: tuple[str, ...] = ()
    heard_at: float = -math.inf
    """As `position_at`, but it outlives the loss of the line: for telling the age."""
    reports: int = 0
    """Positions believed since start."""
    _candidate: float = field(default=math.nan, repr=False)
    _candidate_at: float = field(default=-math.inf, repr=False)
    _agreeing: int = field(default=0, repr=False)


class Belief:
    """Beliefs about all joints, in chain order. Times are monotonic seconds."""

    def __init__(self, bounds: Sequence[JointBounds], stale_after: float) -> None:
        """Know nothing yet; a position is stale `stale_after` seconds after its report."""
        self._bounds = tuple(bounds)
        self._stale_after = stale_after
        self._ranges = {quantity.name: quantity for quantity in QUANTITIES}
        self.joints = tuple(JointBelief() for _ in self._bounds)
        self.implausible = 0

    def on_position(self, joint: int, value: float, now: float) -> bool:
        """Take a position report; return whether it is believed."""
        bounds, belief = self._bounds[joint], self.joints[joint]
        if not bounds.lower - bounds.margin <= value <= bounds.upper + bounds.margin:
            self.implausible += 1
            return False
        fresh = not self.stale(joint, now)
        if fresh and _reachable(belief.position, belief.position_at, value, now, bounds):
            self._believe(belief, value, now)
            return True
        agrees = _reachable(belief._candidate, belief._candidate_at, value, now, bounds) and (
            now - belief._candidate_at <= self._stale_after
        )
        belief._agreeing = belief._agreeing + 1 if agrees else 1
        belief._candidate, belief._candidate_at = value, now
        if fresh:
            self.implausible += 1
            if belief._agreeing >= CONTRADICTIONS:
                belief.position_at = -math.inf
            return False
        if belief._agreeing < AGREEING_AFTER_GAP:  # a first report after a gap is awaited
            return False
        self._believe(belief, value, now)
        return True

    def on_velocity(self, joint: int, value: float, now: float) -> bool:
        """Take a velocity report; return whether it is believed."""
        if not abs(value) <= self._bounds[joint].speed:
            self.implausible += 1
            return False
        belief = self.joints[joint]
        belief.velocity, belief.velocity_at = value, now
        return True

    def on_quantity(self, joint: int, name: str, value: float) -> bool:
        """Take a report of one of `QUANTITIES`; return whether it is believed."""
        quantity = self._ranges[name]
        if not quantity.lower <= value <= quantity.upper:
            self.implausible += 1
            return False
        setattr(self.joints[joint], name, value)
        return True

    def on_mode(self, joint: int, mode: int) -> None:
        """Take a report of the mode byte."""
        self.joints[joint].mode = mode

    def on_status(self, joint: int, flags: tuple[str, ...]) -> None:
        """Take a report of the hardware flags that are set."""
        self.joints[joint].status_flags = flags

    def forget(self) -> None:
        """Make every value stale: the line was lost, so the joints may be anywhere."""
        for belief in self.joints:
            belief.position_at = belief.velocity_at = belief._candidate_at = -math.inf
            belief.mode = None

    def stale(self, joint: int, now: float) -> bool:
        """Say whether the joint's position is too old to be used."""
        return self.joints[joint].position_at + self._stale_after < now

    def answers(self, now: float) -> bool:
        """Say whether at least one joint has a fresh position."""
        return self.silent_at() >= now

    def fresh(self, now: float) -> bool:
        """Say whether all joints have a fresh position: only such a posture may be moved from."""
        return self.stale_at() >= now

    def stale_at(self) -> float:
        """Return the time at which the first joint goes stale if nothing more is heard."""
        return min(belief.position_at for belief in self.joints) + self._stale_after

    def silent_at(self) -> float:
        """Return the time at which the last joint goes stale if nothing more is heard."""
        return self.newest() + self._stale_after

    def newest(self) -> float:
        """Return when the newest position was received; -inf = none since the line was opened."""
        return max(belief.position_at for belief in self.joints)

    def positions(self) -> tuple[float, ...]:
        """Return the last believed positions [rad, m]; NaN = never heard."""
        return tuple(belief.position for belief in self.joints)

    def velocities(self, now: float) -> tuple[float, ...]:
        """Return the velocities [rad/s, m/s]; NaN where none is fresh."""
        oldest = now - self._stale_after
        return tuple(
            belief.velocity if belief.velocity_at >= oldest else math.nan for belief in self.joints
        )

    @staticmethod
    def _believe(belief: JointBelief, value: float, now: float) -> None:
        belief.position, belief.position_at, belief.heard_at = value, now, now
        belief.reports += 1
        belief._agreeing = 0
        belief._candidate_at = -math.inf


def _reachable(old: float, old_at: float, new: float, now: float, bounds: JointBounds) -> bool:
    return abs(new - old) <= bounds.speed * (now - old_at) + bounds.margin
