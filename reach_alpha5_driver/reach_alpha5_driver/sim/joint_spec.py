"""What a joint is made of, and the ways in which it can be broken. All in device units."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from types import MappingProxyType

from reach_alpha5_driver.sim.ids import Mode

FULL_TURN = 2 * math.pi
"""[rad]"""

UNPOWERED = frozenset({Mode.DISABLE, Mode.PASSIVE})
"""Modes that ignore every control frame; only a MODE frame leads out, by way of standby."""

POSITIONING = frozenset(
    {
        Mode.POSITION,
        Mode.POSITION_VELOCITY,
        Mode.INDEXED_RELATIVE_POSITION,
        Mode.PRESET,
        Mode.HOLD,
    }
)
"""Modes that go to a position and stay there."""

UNLIMITED = (0.0, 0.0)
"""Limits of zero and zero mean: no custom limit."""

Range = tuple[float, float]
"""Minimum and maximum. (On the wire the maximum comes first.)"""


@dataclass(frozen=True, slots=True)
class JointSpec:
    """What a joint is made of and what its electronics are set to."""

    position_limits: Range
    """Set in the electronics; `UNLIMITED` = none."""
    stops: Range | None
    """Where the mechanism ends; None = it turns for ever, and reports 0 to 2π."""
    speed: float
    """Highest speed that the electronics allow."""
    acceleration: float
    """A guess: the documents give none."""
    current_limit: float
    """[mA]"""
    running_current: float
    """Friction: drawn while the joint turns at full speed [mA]. A guess."""
    inertia_current: float
    """Drawn for one unit of acceleration [mA]. A guess."""


class Runaway(enum.Enum):
    """A broken joint: one that moves goes on with it, whatever control frame comes.

    The value is what ends the movement. A joint that rests obeys, and runs away again.
    """

    NONE = "none"
    """Not broken."""
    STANDBY = "standby"
    """A MODE frame with standby or disable."""
    DISABLE = "disable"
    """A MODE frame with disable, and nothing less."""
    POWER = "power"
    """Nothing but a loss of supply."""


ENDS_RUNAWAY = MappingProxyType(
    {
        Runaway.NONE: frozenset(Mode),
        Runaway.STANDBY: frozenset({Mode.STANDBY, Mode.DISABLE}),
        Runaway.DISABLE: frozenset({Mode.DISABLE}),
        Runaway.POWER: frozenset(),
    }
)
"""Modes whose MODE frame a joint that runs away obeys."""


def clamp(value: float, bounds: Range) -> float:
    """Bring `value` into `bounds`."""
    return min(max(value, bounds[0]), bounds[1])
