"""Whether the arm rests when nothing may move it: by what it measures, not by what it was told.

The protocol has no acknowledgement, so a stop that was lost on the line shows in the measurements
alone. Two of them tell: a velocity above noise, and for a joint that creeps more slowly than that,
the way it has gone since the stop.
"""

from __future__ import annotations

import math

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


class RestWatch:
    """Looks on while no demand stands, and says how to stop an arm that moves all the same.

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
        self._attempts = 0
        self._moving_since = math.inf
        self._stopped_at = -math.inf
        self._posture: tuple[float, ...] | None = None
        """Where the arm came to rest since then [rad, m]; None = it has not yet."""

    def forget(self) -> None:
        """Begin anew: a demand moves the arm, or there is none."""
        self._attempts = 0
        self._moving_since = math.inf
        self._posture = None

    def next_step(self, belief: Belief, last_stop_at: float, now: float) -> Beyond | None:
        """Return what to add to another stop if the arm, stopped at `last_stop_at`, moves."""
        if last_stop_at != self._stopped_at:
            self._stopped_at, self._posture = last_stop_at, None
        if not _moves(belief, now):
            self._moving_since = math.inf
        elif self._moving_since == math.inf:
            self._moving_since = now
        if self._posture is None and now >= last_stop_at + self._confirm_time:
            self._posture = belief.positions() if belief.fresh(now) else None
        if now < self.next_time(last_stop_at) and not self._has_drifted(belief):
            if self._moving_since == math.inf and now >= last_stop_at + FORGIVEN_AFTER:
                self._attempts = 0
            return None
        self._attempts += 1
        return Beyond(max(0, min(self._attempts - self._attempts_allowed, Beyond.DISABLE)))

    def next_time(self, last_stop_at: float) -> float:
        """Return when an arm that goes on moving is to be stopped again; inf = it rests."""
        return max(
            self._moving_since + self._confirm_time,
            last_stop_at + self._repeat_period,
        )

    def _has_drifted(self, belief: Belief) -> bool:
        return self._posture is not None and any(
            abs(belief.way(device.index, rest)) > DRIFT[device.unit]
            for rest, device in zip(self._posture, DEVICES, strict=True)
        )


def is_confirmed(belief: Belief, last_stop_at: float, now: float) -> bool:
    """Say whether every joint was measured at rest since the stop written at `last_stop_at`."""
    return (
        belief.fresh(now)
        and all(joint.velocity_at > last_stop_at + CONFIRM_LAG for joint in belief.joints)
        and not _moves(belief, now)
    )


def _moves(belief: Belief, now: float) -> bool:
    """Say whether a joint is measured to move; NaN is above nothing: silence is no motion."""
    return any(
        abs(speed) > RESTING[device.unit]
        for speed, device in zip(belief.velocities(now), DEVICES, strict=True)
    )
