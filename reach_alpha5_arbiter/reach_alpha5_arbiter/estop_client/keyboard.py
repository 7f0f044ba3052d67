"""The keys of a terminal that is an e-stop, or the lines of whatever is its standard input."""

from __future__ import annotations

import enum
import os
import select
import termios
import tty
from contextlib import suppress
from types import TracebackType
from typing import Any


class Key(enum.Enum):
    """What somebody wants."""

    STOP = "space, Enter, or any other key"
    CLEAR = "c"
    LEAVE = "q"


LETTERS = {"c": Key.CLEAR, "clear": Key.CLEAR, "q": Key.LEAVE, "quit": Key.LEAVE}

CHUNK = 1024
"""Bytes that are read at once; also the longest line."""


def key_of(word: str) -> Key:
    """Return what a key or a line means. Whatever nobody thought of is a stop."""
    return LETTERS.get(word.strip(), Key.STOP)


class Keyboard:
    """Reads one key at a time from a terminal, one line at a time from anything else.

    A context manager: within it the terminal gives keys at once and does not show them.

    Args:
        descriptor: of standard input.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._before: list[Any] | None = None
        self._rest = b""

    @property
    def is_terminal(self) -> bool:
        """Whether it reads keys."""
        return self._before is not None

    def __enter__(self) -> Keyboard:
        """Make a terminal give keys."""
        if os.isatty(self._descriptor):
            self._before = termios.tcgetattr(self._descriptor)
            tty.setcbreak(self._descriptor)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the terminal back as it was."""
        if self._before is None:
            return
        with suppress(termios.error):  # a terminal that is gone needs nothing back
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)

    def read(self, timeout: float) -> list[Key]:
        """Return what was typed within `timeout` [s]. LEAVE when standard input has ended."""
        ready, _, _ = select.select([self._descriptor], [], [], timeout)
        if not ready:
            return []
        try:
            data = os.read(self._descriptor, CHUNK)
        except OSError:  # it may not read its terminal: an orphan in the background
            data = b""
        if not data:
            return [Key.LEAVE]
        if self.is_terminal:
            return [key_of(letter) for letter in data.decode("ascii", "replace")]
        *lines, self._rest = (self._rest + data).split(b"\n")
        keys = [key_of(line.decode("ascii", "replace")) for line in lines]
        if len(self._rest) > CHUNK:
            self._rest = b""
            keys.append(Key.STOP)
        return keys
