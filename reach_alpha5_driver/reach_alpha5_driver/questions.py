"""What has to be asked of the arm out of turn, and when it has to be asked again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

ASK_AGAIN = 0.1
"""An answer may be lost, and the asker alone knows that it still waits for it [s]."""


class Question(NamedTuple):
    """A packet that a device shall report at once."""

    device: int
    packet: int


class Questions:
    """Questions that stand until nobody wants them any more. Times are monotonic seconds."""

    def __init__(self) -> None:
        self._asked_at: dict[Question, float] = {}

    def want(self, wanted: Iterable[Question]) -> None:
        """Let exactly these stand."""
        self._asked_at = {key: self._asked_at.get(key, float("-inf")) for key in wanted}

    def due(self, now: float) -> tuple[Question, ...]:
        """Return those that are to be asked now, and count them as asked."""
        if not self._asked_at:
            return ()
        due = tuple(key for key, at in self._asked_at.items() if now - at >= ASK_AGAIN)
        for key in due:
            self._asked_at[key] = now
        return due
