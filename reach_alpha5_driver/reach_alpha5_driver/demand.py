"""Which driver commands count: the order they come in, and what they must be like.

Sequence numbers. The arbiter numbers its messages from 1, and an INPUT or RESET counts only when
its number is higher than every one before. An arbiter that was restarted begins at 1 again, so
there must be a way to begin a new series, and no message that could move the arm may be that way:

* a STOP is obeyed whatever its number;
* a STOP or RESET with a lower number begins a new series once no command has counted for
  `max_command_lifetime`: the series of an arbiter that moves the arm cannot be replaced;
* an INPUT never begins a series over an older one, so a late duplicate never moves the arm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from reach_alpha5_common.command import (
    STILL,
    CommandKind,
    DriverCommand,
    JointCommand,
    MotionCommand,
    TwistCommand,
)
from reach_alpha5_common.refusal import Problem

NO_PAYLOADS = (STILL, TwistCommand(), JointCommand())
"""The payloads of a command that asks for nothing: input, twist and joint."""


@dataclass(frozen=True, slots=True)
class JointRates:
    """What a service tool asks: a rate for each joint, chain order [rad/s, m/s]."""

    rates: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PresetRun:
    """What a service tool asks: that the arm goes on towards a preset of its own."""

    slot: int
    """0..3."""


@dataclass(frozen=True, slots=True)
class Demand:
    """A demand for motion and when it ends. Times are monotonic seconds, counted from receipt."""

    command: MotionCommand | JointRates | PresetRun
    expires: float
    ends_as: str = "expired"
    """The cause of the stop that follows when its time is over."""
    received: float | None = None
    """When the command came: a set-point goes on from there. None: there was no command."""


class CommandOrder:
    """The number of the last command that counted."""

    def __init__(self, silence: float) -> None:
        """Let a new series begin `silence` seconds after the last command that counted."""
        self._silence = silence
        self._last: int | None = None
        self._last_at = -math.inf

    def takes(self, command: DriverCommand, now: float) -> bool:
        """Say whether the command is in order, and note its number if so."""
        in_order = command.sequence > 0 and (
            self._last is None
            or command.sequence > self._last
            or (
                command.kind in (CommandKind.STOP, CommandKind.RESET)
                and now - self._last_at >= self._silence
            )
        )
        if in_order:
            self._last = command.sequence
            self._last_at = now
        return in_order

    def problem(self, command: DriverCommand) -> Problem:
        """Say why the command was not in order."""
        return Problem(
            "old_sequence",
            f"sequence {command.sequence} came after {self._last}; number commands from 1 "
            "upwards, and begin a new series with a STOP",
        )


def input_problem(command: DriverCommand, max_lifetime: float) -> Problem | None:
    """Say what is wrong with an INPUT, TWIST or JOINT command in itself, or None."""
    if not 0.0 < command.lifetime <= max_lifetime:
        return Problem(
            "bad_lifetime",
            f"lifetime is {command.lifetime:g} s; send one above 0 and up to {max_lifetime:g} s",
        )
    payloads = (command.input, command.twist, command.joint)
    if sum([payload != empty for payload, empty in zip(payloads, NO_PAYLOADS, strict=True)]) > 1:
        return Problem("two_inputs", "of input, twist and joint more than one is set; send one")
    return command.motion.problem()
