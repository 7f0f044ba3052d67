"""What a pilot's words permit: the most that any driver may read into them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from reach_alpha5_common.command import CommandKind, DriverCommand
from reach_alpha5_driver.config import CoreConfig

LAPSE = CoreConfig().max_command_lifetime
"""Silence [s] after which whoever asked for motion must let go first, and whoever did not is heard
again without more."""


@dataclass(slots=True)
class Permission:
    """Until when the arm may move. Times are virtual seconds."""

    until: float = -math.inf
    """Motion is permitted before this time."""
    _engaged: bool = False
    _latched: bool = False
    _asks: bool = False
    """Whether the last word asked for motion."""
    _asked_at: float = -math.inf

    def on_command(self, command: DriverCommand, sent: float, now: float) -> None:
        """Take a command that was sent at one time and heard at another."""
        if command.kind is CommandKind.INPUT and not command.input.is_neutral:
            if now - self._asked_at >= LAPSE:
                self._engaged = not self._asks and not self._latched
            self._asks, self._asked_at = True, now
            self.until = sent + command.lifetime if self._engaged else min(self.until, now)
            return
        self.until = min(self.until, now)
        if command.kind is CommandKind.RESET:
            self._latched = False
            self._engaged = not self._asks
        else:
            self._asks, self._engaged = False, not self._latched

    def withdraw(self, now: float, latch: bool) -> None:
        """End it: by an e-stop, which latches, or by the loss of the line."""
        self.until = min(self.until, now)
        self._engaged = False
        self._latched = self._latched or latch
