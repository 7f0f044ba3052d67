"""What the driver believes of each joint, and how old that is.

Nothing the line says is taken at its word. An 8-bit checksum lets a damaged frame through now and
then, so a value must be one that the joint can have: inside the widest limits, and no further from
the last one than the joint can have moved since. Reports that contradict it but agree with each
other say that it is not known where the joint is: its position goes stale, so that nothing moves
from it, and is believed again when the next one agrees too.

A velocity that no joint should reach is believed when the next one says the same: a joint that
runs away must be seen to.

Slow values and the current may jump, so a jump is believed when the next report agrees with it;
so is another mode, and the first report after a silence. A status bit is believed when two reports
in a row have it. What was heard only once is told by `JointBelief.unconfirmed`, so that it can be
asked for again.

The climate of packets 0x67 and 0x6E is not used: firmware differs in which of them is a
temperature and which a humidity, and a wrong guess would be a wrong fault.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.protocol.status import STATUS_BITS
from reach_alpha5_driver.quantities import QUANTITIES

AGREEING_AFTER_GAP = 3
"""Reports that must agree before a position is believed at start or after a silence."""

CONTRADICTIONS = 3
"""Reports that must agree with each other before they make a fresh position stale."""

SPEED_FACTOR = 2.0
"""How much faster than the description's velocity limit a joint is thought able to move."""

MARGIN = {"rad": 0.1, "m": 0.001}
"""Slack for noise, and for reports that arrive in one batch [rad, m]."""

TURN = 2.0 * math.pi
"""A joint without limits reports its position within one turn, and wraps [rad]."""

SLOW_STALE_AFTER = 6.0
"""Default age at which a slow value is too old [s]: three of the default slow periods."""


@dataclass(frozen=True, slots=True)
class JointBounds:
    """What a report of one joint can be: rad and rad/s, or m and m/s for the jaws."""

    lower: float
    upper: float
    speed: float
    """Fastest that the joint can be thought to move."""
    margin: float
    """Slack on the limits and on each step."""
    turning: bool = False
    """It turns for ever and reports 0..2 pi: the limits do not hold, and positions wrap."""

    def contain(self, value: float) -> bool:
        """Say whether a report of this position can be true."""
        lower, upper = (0.0, TURN) if self.turning else (self.lower, self.upper)
        return lower - self.margin <= value <= upper + self.margin

    def way(self, start: float, end: float) -> float:
        """Return the signed way from one position to another: the shorter one, if it turns."""
        return math.remainder(end - start, TURN) if self.turning else end - start

    def reachable(self, old: float, old_at: float, new: float, now: float) -> bool:
        """Say whether the joint can have moved from `old` to `new` between the two times."""
        return abs(self.way(old, new)) <= self.speed * (now - old_at) + self.margin


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


_SLOW = (*(quantity.name for quantity in QUANTITIES if not quantity.fast), "mode", "status")
_BESIDE = ("current", *_SLOW)
REPORTED = ("position", "velocity", *_BESIDE)
"""Everything that has an age."""


def _never(names: Sequence[str]) -> dict[str, float]:
    return dict.fromkeys(names, -math.inf)


@dataclass(slots=True)
class JointBelief:
    """The last believed values of one joint; NaN and None = never heard. SI units.

    They say nothing of how old they are: ask `Belief.value`, `mode`, `status_flags`, `velocities`.
    """

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
    """Set in two reports in a row, and not missing in two since."""
    reports: int = 0
    """Positions believed since start."""
    revision: int = 0
    """Grows with each report of anything but position and velocity, and with the line's loss."""
    at: dict[str, float] = field(default_factory=lambda: _never(_BESIDE))
    """When the believed quantities, mode and status were received; -inf = never, or the line was
    lost."""
    heard: dict[str, float] = field(default_factory=lambda: _never(REPORTED))
    """When each of `REPORTED` was received, also before the loss of the line: for its age."""
    _candidate: float = field(default=math.nan, repr=False)
    _candidate_at: float = field(default=-math.inf, repr=False)
    _agreeing: int = field(default=0, repr=False)
    _contradicted_at: float = field(default=-math.inf, repr=False)
    _too_fast: float = field(default=0.0, repr=False)
    """The last velocity, if the joint should not be able to have it; else zero."""
    _too_fast_at: float = field(default=-math.inf, repr=False)
    _jumps: dict[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    """What jumped in its last report, quantities and mode, with that report and its time."""
    _last_status: tuple[str, ...] = field(default=(), repr=False)

    @property
    def heard_at(self) -> float:
        """When the last position was believed, also before the loss of the line."""
        return self.heard["position"]

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Names of what the last report said and no other yet: quantities, `mode`, `status`."""
        status = ("status",) if self._last_status != self.status_flags else ()
        return (*self._jumps, *status) if self._jumps else status


class Belief:
    """Beliefs about all joints, in chain order. Times are monotonic seconds."""

    def __init__(
        self,
        bounds: Sequence[JointBounds],
        stale_after: float,
        slow_stale_after: float = SLOW_STALE_AFTER,
    ) -> None:
        """Know nothing yet.

        Args:
            bounds: what a report of each joint can be, chain order.
            stale_after: age at which position, velocity and current are too old [s].
            slow_stale_after: age at which everything else is too old [s].
        """
        self._described = tuple(bounds)
        self._bounds = list(bounds)
        self._stale_after = stale_after
        self._ranges = {quantity.name: quantity for quantity in QUANTITIES}
        self._ages = {name: slow_stale_after if name in _SLOW else stale_after for name in _BESIDE}
        self.joints = tuple(JointBelief() for _ in self._bounds)
        self.implausible = 0

    def set_turning(self, joint: int, turning: bool) -> None:
        """Note whether the joint's electronics have no position limits, so that it wraps."""
        self._bounds[joint] = replace(self._described[joint], turning=turning)

    def on_position(self, joint: int, value: float, now: float) -> bool:
        """Take a position report; return whether it is believed."""
        bounds, belief = self._bounds[joint], self.joints[joint]
        if not bounds.contain(value):
            self.implausible += 1
            return False
        fresh = not self.stale(joint, now)
        if fresh and bounds.reachable(belief.position, belief.position_at, value, now):
            self._believe(belief, value, now)
            return True
        agrees = now - belief._candidate_at <= self._stale_after and bounds.reachable(
            belief._candidate, belief._candidate_at, value, now
        )
        belief._agreeing = belief._agreeing + 1 if agrees else 1
        belief._candidate, belief._candidate_at = value, now
        if fresh:
            self.implausible += 1
            if belief._agreeing >= CONTRADICTIONS:
                belief.position_at = -math.inf
                belief._contradicted_at = now
            return False
        # A first report after a gap is awaited; and a jump must be seen as stale by those who look
        # between two reads, also when all reports of it come in one.
        if belief._agreeing < AGREEING_AFTER_GAP or now <= belief._contradicted_at:
            return False
        self._believe(belief, value, now)
        return True

    def on_velocity(self, joint: int, value: float, now: float) -> bool:
        """Take a velocity report; return whether it is believed.

        One that is too fast is believed if the one before was so too, the same way.
        """
        belief = self.joints[joint]
        if not abs(value) <= self._bounds[joint].speed:
            before, before_at = belief._too_fast, belief._too_fast_at
            belief._too_fast, belief._too_fast_at = value, now
            agrees = value * before > 0.0 and now - before_at <= self._stale_after
            if not (agrees and math.isfinite(value)):
                self.implausible += 1
                return False
        elif belief._too_fast:
            belief._too_fast = 0.0
        belief.velocity = value
        belief.velocity_at = belief.heard["velocity"] = now
        return True

    def on_quantity(self, joint: int, name: str, value: float, now: float) -> bool:
        """Take a report of one of `QUANTITIES`; return whether it is believed."""
        quantity, belief, limit = self._ranges[name], self.joints[joint], self._ages[name]
        if not quantity.lower <= value <= quantity.upper:
            self.implausible += 1
            return False
        belief.revision += 1
        at = belief.at[name]
        fresh = now - at <= limit
        if not (fresh and quantity.near(getattr(belief, name), at, value, now)):
            before, before_at = belief._jumps.get(name, (math.nan, -math.inf))
            belief._jumps[name] = (value, now)
            if not (now - before_at <= limit and quantity.near(before, before_at, value, now)):
                return False
        belief._jumps.pop(name, None)
        setattr(belief, name, value)
        belief.at[name] = belief.heard[name] = now
        return True

    def on_mode(self, joint: int, mode: int, now: float) -> bool:
        """Take a report of the mode byte; return whether it is believed."""
        belief, limit = self.joints[joint], self._ages["mode"]
        belief.revision += 1
        if not (mode == belief.mode and now - belief.at["mode"] <= limit):
            before, before_at = belief._jumps.get("mode", (math.nan, -math.inf))
            belief._jumps["mode"] = (mode, now)
            if not (mode == before and now - before_at <= limit):
                return False
        belief._jumps.pop("mode", None)
        belief.mode = mode
        belief.at["mode"] = belief.heard["mode"] = now
        return True

    def on_status(self, joint: int, flags: tuple[str, ...], now: float) -> None:
        """Take a report of the hardware flags that are set, in wire order."""
        belief = self.joints[joint]
        before, belief._last_status = belief._last_status, flags
        if flags == before:
            belief.status_flags = flags
        elif flags != belief.status_flags:  # two in a row that agree about a bit decide it
            votes = (belief.status_flags, before, flags)
            belief.status_flags = tuple(
                name for name, _, _ in STATUS_BITS if sum(name in vote for vote in votes) >= 2
            )
        belief.revision += 1
        belief.at["status"] = belief.heard["status"] = now

    def forget(self) -> None:
        """Make every value stale: the line was lost, so the joints may be anywhere."""
        for belief in self.joints:
            belief.position_at = belief.velocity_at = belief._candidate_at = -math.inf
            belief.at = _never(_BESIDE)
            belief._too_fast = 0.0
            belief._jumps.clear()
            belief._last_status = belief.status_flags
            belief.mode = None
            belief.revision += 1

    def value(self, joint: int, name: str, now: float) -> float:
        """Return one of `QUANTITIES` [A, degC, %, V]; NaN if it is too old."""
        belief = self.joints[joint]
        current = belief.at[name] + self._ages[name] >= now
        return float(getattr(belief, name)) if current else math.nan

    def mode(self, joint: int, now: float) -> int | None:
        """Return the mode byte; None if it is too old."""
        belief = self.joints[joint]
        return belief.mode if belief.at["mode"] + self._ages["mode"] >= now else None

    def status_flags(self, joint: int, now: float) -> tuple[str, ...]:
        """Return the flags that are set; none if the report is too old: its age tells which."""
        belief = self.joints[joint]
        return belief.status_flags if belief.at["status"] + self._ages["status"] >= now else ()

    def age(self, joint: int, name: str, now: float) -> float:
        """Return how long ago one of `REPORTED` was received [s]; NaN = never.

        It goes on counting while the line is lost.
        """
        heard = self.joints[joint].heard[name]
        return now - heard if heard > -math.inf else math.nan

    def way(self, joint: int, start: float) -> float:
        """Return the signed way from `start` to the joint's last believed position [rad, m]."""
        return self._bounds[joint].way(start, self.joints[joint].position)

    def too_fast(self, joint: int, speed: float) -> bool:
        """Say whether the joint should not be able to have this speed; NaN is none."""
        return abs(speed) > self._bounds[joint].speed

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

    def position_times(self) -> tuple[float, ...]:
        """Return when each of `positions` was received; -inf = never, or the line was lost."""
        return tuple(belief.position_at for belief in self.joints)

    def velocities(self, now: float) -> tuple[float, ...]:
        """Return the velocities [rad/s, m/s]; NaN where none is fresh."""
        oldest = now - self._stale_after
        return tuple(
            belief.velocity if belief.velocity_at >= oldest else math.nan for belief in self.joints
        )

    @staticmethod
    def _believe(belief: JointBelief, value: float, now: float) -> None:
        belief.position = value
        belief.position_at = belief.heard["position"] = now
        belief.reports += 1
        belief._agreeing = 0
        belief._candidate_at = -math.inf
