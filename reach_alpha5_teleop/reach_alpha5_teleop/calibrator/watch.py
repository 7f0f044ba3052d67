"""What a pad did between two moments of rest. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from reach_alpha5_teleop.pad import JoyFrame

NOISE = 0.05
"""How far an axis that nobody touches may wander."""

STILL_TIME = 0.5
"""Time [s] without any change after which the pad counts as let go."""


@dataclass(frozen=True, slots=True)
class Activity:
    """How far each axis went, and which buttons went down.

    Attributes:
        low: lowest value of each axis.
        high: highest value of each axis.
        pressed: places of the buttons that were down.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    pressed: frozenset[int]


class Watch:
    """Watches a pad from a moment of rest on."""

    def __init__(self) -> None:
        self._still: tuple[float, ...] = ()
        self._still_since = 0.0
        self._low: list[float] = []
        self._high: list[float] = []
        self._pressed: set[int] = set()
        self._down: frozenset[int] = frozenset()

    def see(self, frame: JoyFrame, now: float) -> None:
        """Take a frame in."""
        axes = tuple(frame.axes)
        self._down = frozenset(index for index, value in enumerate(frame.buttons) if value)
        self._pressed |= self._down
        self._low = [*map(min, self._low or axes, axes)]
        self._high = [*map(max, self._high or axes, axes)]
        moved = len(axes) != len(self._still) or any(
            abs(value - still) > NOISE for value, still in zip(axes, self._still, strict=True)
        )
        if moved or self._down:
            self._still, self._still_since = axes, now

    def rest(self, now: float, seconds: float = STILL_TIME) -> tuple[float, ...] | None:
        """Return where the axes have been for `seconds`, no button down; None if they were not."""
        if not self._still or self._down or now - self._still_since < seconds:
            return None
        return self._still

    @property
    def down(self) -> frozenset[int]:
        """Places of the buttons that are down."""
        return self._down

    def activity(self) -> Activity:
        """Return what happened since the start."""
        return Activity(tuple(self._low), tuple(self._high), frozenset(self._pressed))

    def restart(self) -> None:
        """Forget what happened; the pad stays where it is."""
        self._low, self._high = list(self._still), list(self._still)
        self._pressed = set(self._down)
