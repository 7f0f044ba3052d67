"""How far the reading is: a bar on a terminal, and now and then a line elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO

BAR_PERIOD = 0.2
LINE_PERIOD = 10.0
"""Time [s] between two updates."""

WIDTH = 30
"""Of the bar [characters]."""


class Progress:
    """Tells it on `stream`."""

    def __init__(self, whole: float, stream: TextIO = sys.stderr) -> None:
        self._whole = whole
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._begin = time.monotonic()
        self._next = self._begin + (BAR_PERIOD if self._is_terminal else LINE_PERIOD)
        self._shown = False

    def show(self, done: float) -> None:
        """Say that `done` of the whole is done, if it is time to say so."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (BAR_PERIOD if self._is_terminal else LINE_PERIOD)
        part = min(max(done / self._whole, 0.0), 1.0) if self._whole > 0.0 else 0.0
        took = now - self._begin
        left = f", {took / part - took:.0f} s left" if part > 0.02 else ""
        if self._is_terminal:
            bar = ("█" * round(part * WIDTH)).ljust(WIDTH, "░")
            self._stream.write(f"\r{bar} {part:4.0%}{left}   ")
        else:
            self._stream.write(f"read {part:.0%}{left}\n")
        self._stream.flush()
        self._shown = True

    def clear(self) -> None:
        """Take the bar away."""
        if self._shown and self._is_terminal:
            self._stream.write("\r" + " " * (WIDTH + 30) + "\r")
            self._stream.flush()
