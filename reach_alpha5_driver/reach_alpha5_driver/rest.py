"""Whether the arm rests when nothing may move it: by what it measures, not by what it was told.

The protocol has no acknowledgement, so a stop that was lost on the line shows in the measurements
alone. Two of them tell: a velocity above noise, and for a joint that creeps more slowly than that,
the way it has gone since it came to rest.

What counts is since when a joint is not told to move any more, not how often it was stopped since:
whoever hammers the stop button, or taps a stick, must not hide an arm that does not obey.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from reach_alpha5_common.refusal import Problem
from reach_alpha5_driver.belief import Belief
from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.stops import Beyond

RESTING = {"rad": 0.02, "m": 0.0002}
"""Measured speed [rad/s, m/s] up to which a joint may rest."""

DRIFT = {"rad": 0.01, "m": 0.0002}
"""Way [rad, m] that a joint at rest may seem to have gone: well above the noise of an encoder."""


CONFIRM_LAG = 0.03
"""[s]; a velocity received this soon after a stop may have been measured before it."""

FORGIVEN_AFTER = 2.0
"""[s] without motion after which the attempts to stop the arm count from the first again."""

_RESTING = tuple(RESTING[device.unit] for device in DEVICES)


class RestWatch:
    """Looks on all the time, and says how to stop an arm that moves though no demand stands.

    The first attempts are stops again; then standby is added, then the motors are disabled.
    Times are monotonic seconds.
    """

    def __init__(self, confirm_time: float, repeat_period: float, attempts: int) -> None:
        """Allow `confirm_time` for coming to rest, and `repeat_period` between two stops.

        `attempts`: how many times the stop is only repeated, before standby follows it.
        """
        self._confirm_time = confirm_time
        self._repeat_period = repeat_period
        self._attempts_allowed = attempts
        self.forget()

    def forget(self) -> None:
        """Begin anew: the line is lost."""
        self._attempts = 0
        self._attempted_at = -math.inf
        self._told_until = [-math.inf] * len(DEVICES)
        """Until when each joint was told to move; inf = it still is."""
        self._moving_since = [math.inf] * len(DEVICES)
        """Since when each joint is measured to move; inf = it rests."""
        self._restless_at = -math.inf
        """When the arm was last not measured to rest: a joint moved, or did not tell."""
        self._posture: tuple[float, ...] | None = None
        """Where the arm came to rest [rad, m]; None = it has not yet."""

    def released(self, rates: Sequence[float], now: float) -> None:
        """Note the joint rates that were just written, chain order [rad/s, m/s].

        A stop is zeroes; NaN is a joint that may move as it likes.
        """
        for index, rate in enumerate(rates):
            if rate != 0.0:
                self._told_until[index] = math.inf
                self._posture = None
            elif self._told_until[index] == math.inf:
                self._told_until[index] = now

    def look(self, belief: Belief, now: float) -> None:
        """Take what is measured; due in each tick, whether a demand stands or not."""
        for index, speed in enumerate(belief.velocities(now)):
            if abs(speed) <= _RESTING[index]:
                self._moving_since[index] = math.inf
                continue
            self._restless_at = now
            if math.isnan(speed):  # silence is no motion, and no rest
                self._moving_since[index] = math.inf
            elif self._moving_since[index] == math.inf:
                self._moving_since[index] = now

    def next_step(self, belief: Belief, last_stop_at: float, now: float) -> Beyond | None:
        """Return what to add to another stop if the arm moves though no demand stands.

        `last_stop_at`: when a stop was last written. Until that is done, none is asked for again.
        """
        if last_stop_at < self._attempted_at:
            return None
        if self._posture is None:
            self._settle(belief, now)
        if now < self.next_time(last_stop_at) and not self._has_drifted(belief):
            if now >= max(self._restless_at, self._attempted_at) + FORGIVEN_AFTER:
                self._attempts = 0
            return None
        self._attempts += 1
        self._attempted_at = now
        self._posture = None
        return Beyond(max(0, min(self._attempts - self._attempts_allowed, Beyond.DISABLE)))

    def next_time(self, last_stop_at: float) -> float:
        """Return when an arm that goes on moving is to be stopped again; inf = it rests."""
        if last_stop_at < self._attempted_at or min(self._moving_since) == math.inf:
            return math.inf
        due = min(map(max, self._moving_since, self._told_until)) + self._confirm_time
        return max(due, self._attempted_at + self._repeat_period)

    def problem(self, now: float) -> Problem | None:
        """Return why no motion may begin: a joint moves, and not because it was told to."""
        moving = [
            device.joint
            for device, since, told in zip(
                DEVICES, self._moving_since, self._told_until, strict=True
            )
            if now >= max(since, told) + self._confirm_time
        ]
        if not moving:
            return None
        return Problem(
            "still_moving",
            f"{', '.join(moving)} moves and was not told to: wait until the arm rests; use the "
            "e-stop if it does not",
        )

    def _settle(self, belief: Belief, now: float) -> None:
        """Note where the arm rests, if it has had the time to and is not measured to move."""
        settled_at = max(*self._told_until, self._attempted_at) + self._confirm_time
        if now >= settled_at and min(self._moving_since) == math.inf and belief.fresh(now):
            self._posture = belief.positions()

    def _has_drifted(self, belief: Belief) -> bool:
        return self._posture is not None and any(
            abs(belief.way(device.index, rest)) > DRIFT[device.unit]
            for rest, device in zip(self._posture, DEVICES, strict=True)
        )


def is_confirmed(belief: Belief, stopped_at: float, now: float) -> bool:
    """Say whether every joint was measured at rest since the stop that counts.

    `stopped_at`: when that stop was written; inf as long as it is owed.
    """
    return (
        belief.fresh(now)
        and all(joint.velocity_at > stopped_at + CONFIRM_LAG for joint in belief.joints)
        and not any(
            abs(speed) > resting
            for speed, resting in zip(belief.velocities(now), _RESTING, strict=True)
        )
    )
