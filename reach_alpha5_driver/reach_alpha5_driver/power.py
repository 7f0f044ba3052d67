"""The motors' power: cut and given back by mode frames, and believed only when it is read back.

A device that is disabled or passive ignores every demand, silently. The way out is standby, and
only what the device then reports of its mode tells that it was taken. Frames can be lost, so both
ways are asked for until they are reported.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence

from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.protocol.packets import Mode, SetMode, encode

OFF_MODES = frozenset({Mode.DISABLE, Mode.PASSIVE})
"""Modes in which a device ignores every demand."""

RETRY_PERIOD = 0.1
"""[s]; long enough for the answer to the question that goes with each attempt."""

ANSWER_TIME = 0.05
"""[s]; a mode that is heard so soon after a wish may have been reported before it."""


class Wish(enum.Enum):
    """What is wanted of the motors."""

    AS_IT_IS = "nothing"
    ON = "every device out of the modes that ignore demands"
    OFF = "every device disabled"


def is_off(mode: int | None) -> bool:
    """Say whether a device in `mode` ignores demands; one whose mode is not known may."""
    return mode is None or mode in OFF_MODES


def _fulfils(wish: Wish, mode: int | None) -> bool:
    if wish is Wish.OFF:
        return mode == Mode.DISABLE
    return wish is Wish.AS_IT_IS or not is_off(mode)


class PowerDesk:
    """Pursues a wish until the arm reports it. Times are monotonic seconds."""

    def __init__(self) -> None:
        """Begin with the motors as they are."""
        self.wish = Wish.AS_IT_IS
        self.counts_from = -math.inf
        """When modes must have been heard to tell what came of the last wish [s]."""
        self._next = -math.inf

    def want(self, wish: Wish, now: float) -> None:
        """Pursue `wish` from now on; one that is pursued already is not begun anew."""
        if wish is self.wish and wish is not Wish.AS_IT_IS:
            return
        self.wish = wish
        self.counts_from = now + ANSWER_TIME
        self._next = now

    def pending(self, modes: Sequence[int | None]) -> list[int]:
        """Return the ids of the devices whose reported mode is not what is wished; None = none."""
        return [
            device.id
            for device, mode in zip(DEVICES, modes, strict=True)
            if not _fulfils(self.wish, mode)
        ]

    def due(self, modes: Sequence[int | None], now: float) -> dict[int, bytes]:
        """Return the frames to write now, by the id of the device whose mode to ask for then."""
        if self.wish is Wish.AS_IT_IS or now < self._next:
            return {}
        self._next = now + RETRY_PERIOD
        pending = self.pending(modes)
        if not pending and self.wish is Wish.ON:
            self.wish = Wish.AS_IT_IS  # what is disabled from now on was disabled by somebody
        mode = Mode.STANDBY if self.wish is Wish.ON else Mode.DISABLE
        return {device: encode(SetMode(device, mode)) for device in pending}

    def next_time(self) -> float:
        """Return when `due` has something next at the earliest; inf = nothing is wished."""
        return math.inf if self.wish is Wish.AS_IT_IS else self._next
