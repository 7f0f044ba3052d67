"""The contract of every transport. Nothing here ever blocks."""

from __future__ import annotations

from typing import Protocol


class OpenError(Exception):
    """The line cannot be opened; the text says what to do about it."""


class LineLost(Exception):
    """The line is gone: unplugged, hung up, or broken. Only `close` makes sense after it."""


class Transport(Protocol):
    """An open line to the arm."""

    @property
    def can_purge(self) -> bool:
        """Whether `purge_output` takes anything back: if not, what was written goes before a stop.

        Whoever writes to such a line must keep little on its way.
        """

    @property
    def advice(self) -> str:
        """What the user should do to make this line better; empty if there is nothing."""

    @property
    def latency(self) -> int | None:
        """For how long the adapter keeps received bytes back [ms]; None: it does not tell."""

    def fileno(self) -> int:
        """Return a descriptor for `select`: readable when `read` has something to give."""

    def read(self) -> bytes:
        """Return what has arrived, empty if nothing has.

        Raises:
            LineLost: the line is gone.
        """

    def write(self, data: bytes) -> int:
        """Hand over as much of `data` as the line takes now, and return how many bytes that was.

        Raises:
            LineLost: the line is gone.
        """

    def purge_output(self) -> None:
        """Throw away what was handed over but is not on the wire yet, as far as that can be done.

        Raises:
            LineLost: the line is gone.
        """

    def queued(self) -> int:
        """Return how many bytes are known to wait for the wire; 0 where that cannot be told.

        Raises:
            LineLost: the line is gone.
        """

    def close(self) -> None:
        """Give the line back. May be called twice, and after `LineLost`; raises nothing."""
