"""What keeps the arm from being engaged, apart from latches and from its own silence.

Every hold stands from the start: each is lifted only by what proves that its reason is gone.
"""

from __future__ import annotations

import enum

from reach_alpha5_common.refusal import Problem


class Hold(enum.Enum):
    """One hold: the code that is published, and what to do about it."""

    INACTIVE = ("inactive", "the driver is not active; activate its lifecycle node")
    NO_GUARD = (
        "no_guard",
        "the guard process that stops the arm when the driver dies does not run, or has not said "
        "yet that it holds the port; it is started by itself, and the log says why if it is not",
    )
    NOT_IDENTIFIED = (
        "not_identified",
        "the arm has not said yet what it is; if this lasts, a device does not answer",
    )
    MISMATCH = (
        "mismatch",
        "what the arm says of itself forbids moving it, or is not known yet; `mismatches` in "
        "arm_state and the log say what",
    )
    NOT_SET_UP = (
        "not_set_up",
        "the arm has not confirmed its settings yet; if this lasts, see the log",
    )
    UNPOWERED = (
        "unpowered",
        "a motor is disabled or its mode is not known; switch on through the service `power`, or "
        "reset",
    )

    def __init__(self, code: str, advice: str) -> None:
        self.code = code
        self.advice = advice

    @property
    def problem(self) -> Problem:
        """The refusal of a command for motion while this hold stands."""
        return Problem(self.code, self.advice)
