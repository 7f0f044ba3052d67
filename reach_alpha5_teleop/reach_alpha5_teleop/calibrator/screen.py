"""The terminal of `alpha5-pad`: a table that stays, or lines where there is no terminal. Shell."""

from __future__ import annotations

import os
import select
import sys
from types import TracebackType
from typing import Protocol

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from reach_alpha5_teleop.calibrator.live import Row

COLUMNS = ("control", "raw", "in the profile", "reads", "drives")


class View(Protocol):
    """Shows the rows of a pad."""

    def show(self, rows: list[Row], note: str) -> None:
        """Show the newest state."""

    def __enter__(self) -> View: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class LineView:
    """Prints a line for each control that changed."""

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}
        self._note = ""

    def show(self, rows: list[Row], note: str) -> None:
        """Print what is new."""
        if note != self._note:
            self._note = note
            print(note, flush=True)
        before, self._rows = self._rows, {row.control: row for row in rows}
        for row in rows:
            if before.get(row.control) != row:
                print(row.line(), flush=True)

    def __enter__(self) -> LineView:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing open."""


class TableView:
    """A table that is redrawn in place."""

    def __init__(self) -> None:
        self._live = Live(auto_refresh=False)

    def show(self, rows: list[Row], note: str) -> None:
        """Redraw the table."""
        table = Table(*COLUMNS)
        for row in rows:
            is_active = row.raw == "DOWN" or (row.reads and float(row.reads) != 0.0)
            table.add_row(
                row.control, row.raw, row.name, row.reads, row.does,
                style="bold green" if is_active else None,
            )  # fmt: skip
        self._live.update(Group(table, Text(note)), refresh=True)

    def __enter__(self) -> TableView:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()


def view() -> View:
    """Return what suits standard output."""
    return TableView() if sys.stdout.isatty() else LineView()


class Lines:
    """Lines of standard input, read without waiting for them."""

    def __init__(self) -> None:
        self._is_open = sys.stdin is not None
        self._begun = b""

    def read(self) -> list[str]:
        """Return the lines that were entered since the last look."""
        while self._is_open and select.select([sys.stdin], [], [], 0.0)[0]:
            part = os.read(sys.stdin.fileno(), 4096)
            self._is_open = bool(part)
            self._begun += part
        *whole, self._begun = self._begun.split(b"\n")
        return [line.decode(errors="replace") for line in whole]
