"""Whether the jaws hold something, and how hard they may press.

Jaws that are told to close (or to open, inside something hollow), do not move, and draw most of
the current that they may, hold something, unless they are at an end of their travel. The gear goes
on holding without current, so from then on only motion tells that it is no longer so: the jaws
have moved away from where they held, whether they were opened, or what they held has gone and they
closed on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from reach_alpha5_common.refusal import Problem
from reach_alpha5_driver.belief import Belief
from reach_alpha5_driver.devices import BY_JOINT
from reach_alpha5_driver.fault_table import JAWS_STRAINING, Finding, found

JAWS = BY_JOINT["axis_a"]

STALLED = 0.0003
"""Measured speed up to which the jaws stand still [m/s]: above noise, a tenth of their speed."""

MOVED = 0.0003
"""Way after which jaws that held something do so no longer [m]."""

END_MARGIN = 0.0003
"""Jaws this near to an end of their travel press on that end, not on a thing [m]."""

LEAST_GRIP, MOST_GRIP = 0.1, 0.6
"""What a grip current can be [A]: above friction, and no more than any current limit in use."""

CURRENT_TOLERANCE = 0.001
"""Between a limit that was written and what is read back [A]."""


@dataclass(frozen=True, slots=True)
class GripConfig:
    """How hard the jaws may press, and what counts as holding."""

    grip_current: float = 0.4
    """Most current that the jaws may draw, opening or closing [A]."""
    holding_fraction: float = 0.6
    """Share of the grip current from which stalled jaws hold something."""
    holding_time: float = 0.3
    """How long they must do so [s]."""
    strain_time: float = 20.0
    """How long they may push before there is a warning [s]."""

    def __post_init__(self) -> None:
        """Refuse what cannot be.

        Raises:
            ValueError: a grip current that is none, or more than any current limit in use.
        """
        if not LEAST_GRIP <= self.grip_current <= MOST_GRIP:
            raise ValueError(
                f"grip_current is {self.grip_current:g} A; it must be in "
                f"[{LEAST_GRIP:g}, {MOST_GRIP:g}] A"
            )

    @property
    def current_limits(self) -> tuple[float, float]:
        """Lower and upper current limit that the jaws' device is to be given [A]."""
        return -self.grip_current, self.grip_current

    def limits_problem(self, lower: float | None, upper: float | None) -> Problem | None:
        """Say what is wrong with current limits read back from the jaws [A]; None = no limit.

        Narrower ones are fine: the device may have a limit of its own.
        """
        most = self.grip_current + CURRENT_TOLERANCE
        if lower is not None and upper is not None and -most <= lower and upper <= most:
            return None
        said = "none" if lower is None or upper is None else f"{lower:.3f} to {upper:.3f} A"
        return Problem(
            "grip_current_ignored",
            f"the jaws were given current limits of {-self.grip_current:g} to "
            f"{self.grip_current:g} A and report {said}: they may press harder than configured; "
            "switch the arm off and on, or set the limit with the maker's tool",
        )


class GripWatch:
    """Looks at the jaws in each tick. Times are monotonic seconds."""

    def __init__(self, config: GripConfig, lower: float, upper: float) -> None:
        """Watch jaws with these ends of travel [m]; they hold nothing as far as is known."""
        self.holding = False
        self.report: tuple[Finding, ...] = ()
        """Warnings."""
        self._config = config
        self._lower, self._upper = lower, upper
        self._limit = config.grip_current
        self._rate = 0.0
        self._seen_at = (-math.inf, -math.inf)
        self._pushing_since = math.inf
        self._held_at = math.nan
        self._moved = False

    def set_limits(self, lower: float, upper: float) -> None:
        """Take the ends of travel that the arm keeps to [m]."""
        self._lower, self._upper = lower, upper

    def set_current_limits(self, lower: float | None, upper: float | None) -> None:
        """Take the current limits that the jaws report [A]; None = no limit."""
        self._limit = self._config.grip_current
        if lower is not None and upper is not None:
            self._limit = min(self._limit, -lower, upper)

    def released(self, rate: float) -> None:
        """Note the jaw rate that was just written [m/s]; 0 also for a stop."""
        if rate * self._rate <= 0.0:
            self._pushing_since = math.inf
        self._rate = rate

    def check(self, belief: Belief, now: float) -> bool:
        """Return whether the jaws hold something; also to be had as `holding`.

        While nothing fresh is heard of them, it stays as it is.
        """
        jaws = belief.joints[JAWS.index]
        position_at, velocity_at = self._seen_at
        if jaws.position_at > position_at and jaws.velocity_at > velocity_at:
            self._seen_at = jaws.position_at, jaws.velocity_at
            self._judge(
                jaws.position, jaws.velocity, belief.value(JAWS.index, "current", now), now
            )
        return self.holding

    def _judge(self, position: float, velocity: float, current: float, now: float) -> None:
        """Take a new report of all three [m, m/s, A]."""
        moved_before, self._moved = self._moved, abs(position - self._held_at) > MOVED
        if not self._pushes(velocity, current):
            self._pushing_since = math.inf
            if self._moved and moved_before:  # two in a row: one may have been damaged
                self.holding = False
        else:
            self._pushing_since = min(self._pushing_since, now)
            long_enough = now - self._pushing_since >= self._config.holding_time
            if long_enough and not self._at_end(position):
                self.holding = True
                self._held_at = position  # what is soft gives way while it is held
        straining = now - self._pushing_since >= self._config.strain_time
        if straining != bool(self.report):
            detail = f"{abs(current):.2f} A for {self._config.strain_time:g} s"
            self.report = (found(JAWS_STRAINING, JAWS.index, detail),) if straining else ()

    def _pushes(self, velocity: float, current: float) -> bool:
        """Say whether the jaws push, as they are told, and do not move."""
        along = math.copysign(1.0, self._rate) * current
        return (
            self._rate != 0.0
            and abs(velocity) <= STALLED
            and along >= self._config.holding_fraction * self._limit
        )

    def _at_end(self, position: float) -> bool:
        """Say whether what the jaws push against is the end of their travel."""
        if self._rate > 0.0:
            return position >= self._upper - END_MARGIN
        return position <= self._lower + END_MARGIN
