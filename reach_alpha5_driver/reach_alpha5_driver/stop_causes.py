"""Why stops are written: every code that `ArmState.last_stop_cause` can show, in one table.

The codes of `Hold` are causes too: a hold that comes up ends motion, and the stop bears its name.
"""

from __future__ import annotations

import enum


class StopCause(enum.Enum):
    """One cause: its code, what has happened, and what it takes to move again."""

    CONNECTED = (
        "connected",
        "The line was opened. The arm may still obey what an earlier session told it.",
        "Nothing: it is always the first thing on the line.",
    )
    HEARD_AGAIN = (
        "heard_again",
        "All joints are heard, and one of them was not. It may have missed a stop.",
        "Neutral, then a fresh command.",
    )
    COMMANDED = (
        "commanded",
        "A STOP came, or a flood of commands, which is answered with one.",
        "A fresh command: a STOP is a neutral.",
    )
    NEUTRAL = ("neutral", "The newest command asks for no motion.", "A fresh command.")
    FADE_OVER = (
        "fade_over",
        "What was let go of has not come to rest in the time that it had for it.",
        "A fresh command. Make `ramp_time` shorter, or let the arbiter give more time.",
    )
    SCENE_CHANGED = (
        "scene_changed",
        "What the arm keeps clear of has changed while it moved, maybe towards that.",
        "A fresh command.",
    )
    EXPIRED = (
        "expired",
        "The lifetime of the newest command is over.",
        "A fresh command, within `max_command_lifetime` of the last one; later, a STOP first.",
    )
    LAPSED = (
        "lapsed",
        "Motion was asked for again after a silence of `max_command_lifetime` or more.",
        "A STOP, then a fresh command.",
    )
    REFUSED = (
        "refused",
        "The newest command was refused, so the one before it is not wanted any more.",
        "A command that is in order: `last_refusal` says what was wrong.",
    )
    ESTOP = ("estop", "An e-stop was pressed.", "A reset, neutral, then a fresh command.")
    FAULT = (
        "fault",
        "A fault latched; `fault_causes` has its code.",
        "What the fault asks for, a reset, neutral, then a fresh command.",
    )
    RESET = (
        "reset",
        "A reset came while a demand stood.",
        "Neutral, then a fresh command.",
    )
    ARM_SILENT = (
        "arm_silent",
        "No joint has a fresh position.",
        "The arm must answer; neutral, then a fresh command.",
    )
    STALE_POSTURE = (
        "stale_posture",
        "At least one joint has no fresh position.",
        "All joints must answer; neutral, then a fresh command.",
    )
    STILL_MOVING = (
        "still_moving",
        "A joint is measured to move although a stop was written: it is written again.",
        "As after the first stop.",
    )
    STILL_MOVING_STANDBY = (
        "still_moving_standby",
        "A joint still moves after `stop_attempts` stops: this one is followed by standby, and "
        "the fault `stop_not_obeyed` latches.",
        "As after a fault.",
    )
    STILL_MOVING_DISABLE = (
        "still_moving_disable",
        "A joint still moves in standby: this stop is followed by disabled motors.",
        "As after a fault; the reset gives the power back.",
    )
    POWER_CUT = (
        "power_cut",
        "The motors are disabled: by the service `power`, or because an e-stop of level "
        "SETTLE_THEN_CUT has settled.",
        "The service `power`, or a reset; neutral, then a fresh command.",
    )
    SHUTDOWN = (
        "shutdown",
        "The line is given back: cleanup, or the end of the process.",
        "A new start.",
    )

    def __init__(self, code: str, meaning: str, onward: str) -> None:
        self.code = code
        self.meaning = meaning
        self.onward = onward
