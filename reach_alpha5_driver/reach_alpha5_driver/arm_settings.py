"""What the driver sets in the arm each time that it is identified, and reads back.

A setting is lost when a device is switched off, and a frame may be lost on the line: so it is
written until the device reports it. Nothing here is saved in the arm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from reach_alpha5_common.refusal import Problem
from reach_alpha5_driver.grip import JAWS, GripConfig
from reach_alpha5_driver.protocol.packets import CurrentLimits, Packet, PacketId, encode

RETRY_PERIOD: Final = 0.2
"""[s] between two attempts at a setting that the arm has not reported."""


@dataclass(frozen=True, slots=True)
class SettingDue:
    """What to write now, and what to ask then."""

    frame: bytes
    """Empty: nothing but the question."""
    device: int
    packet_id: PacketId


class ArmSettings:
    """Limits the current of the jaws, and with it their grip (B10). Times: monotonic seconds."""

    def __init__(self, config: GripConfig) -> None:
        """Set the limits of `config`; nothing is set before `start`."""
        self._config = config
        self._frame = encode(CurrentLimits(JAWS.id, *config.current_limits))
        self._next = math.inf
        self._written = False
        self.complete = False
        """Whether the arm has reported what was set."""
        self.reported: tuple[float | None, float | None] = (None, None)
        """Current limits that the jaws report [A]; None = no limit, or not reported."""
        self.problem: Problem | None = None
        """What is wrong with what the arm reports; None = nothing, or it has not reported."""

    def start(self, now: float) -> None:
        """Set all anew, in an arm just connected or heard again."""
        self.complete = self._written = False
        self.reported = (None, None)
        self.problem = None
        self._next = now

    def on_packet(self, packet: Packet, now: float) -> None:
        """Take any packet of the arm. What it reported before it was written to says nothing."""
        if not isinstance(packet, CurrentLimits) or packet.device != JAWS.id or not self._written:
            return
        reported = packet.lower, packet.upper
        agreed, self.reported = reported == self.reported, reported
        if agreed:  # twice in a row: one frame may be damaged
            self.problem = self._config.limits_problem(*reported)
            self.complete = self.problem is None
        if agreed and self.complete:
            self._next = math.inf
        else:  # a right answer is asked for once more at once, a wrong one is not all the time
            self._next = min(self._next, now if self._fits else now + RETRY_PERIOD)

    def due(self, now: float) -> SettingDue | None:
        """Return what to write now, or None."""
        if now < self._next:
            return None
        self._next = now + RETRY_PERIOD
        frame = b"" if self._written and self._fits else self._frame
        self._written = True
        return SettingDue(frame, JAWS.id, PacketId.CURRENT_LIMITS)

    @property
    def _fits(self) -> bool:
        return self._config.limits_problem(*self.reported) is None

    def next_time(self) -> float:
        """Return when `due` has something next; inf = all is set, or nothing was begun."""
        return self._next
