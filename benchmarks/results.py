"""Results, the bars that they have to reach, and the file and the table that they end in."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from benchmarks.series import Series, number

_RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Bar:
    """What a result has to reach."""

    quantity: Literal["p50", "p99", "ratio"]
    relation: Literal["<=", ">="]
    limit: float

    def __str__(self) -> str:
        """Return it as it stands in the results: `ratio <= 2`."""
        return f"{self.quantity} {self.relation} {self.limit:g}"


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the results. The names of the fields are the keys in the file.

    Attributes:
        name: what was measured.
        unit: of `p50`, `p99` and `reference`.
        p50: median.
        p99: what 99 % of the samples are not worse than.
        reference: what it is compared with, measured in the same run or a fact of the line;
            None = nothing.
        ratio: of the measured value to the reference; None without a reference.
        bar: the condition, in words; None = for information.
        ok: whether the bar is reached; None without a bar.
    """

    name: str
    unit: str
    p50: float
    p99: float
    reference: float | None = None
    ratio: float | None = None
    bar: str | None = None
    ok: bool | None = None


def result(
    series: Series,
    bar: Bar | None = None,
    reference: float | None = None,
    ratio: float | None = None,
) -> Result:
    """Make the result of a series.

    Raises:
        ValueError: the bar is on the ratio, and there is none.
    """
    ok = None
    if bar is not None:
        value = {"p50": series.p50, "p99": series.p99, "ratio": ratio}[bar.quantity]
        if value is None:
            raise ValueError(f"{series.name}: a bar on the ratio needs a ratio")
        ok = _RELATIONS[bar.relation](value, bar.limit)
    return Result(
        series.name,
        series.unit,
        series.p50,
        series.p99,
        reference,
        ratio,
        None if bar is None else str(bar),
        ok,
    )


def write(results: Sequence[Result], path: Path) -> None:
    """Write the results as a JSON list of objects."""
    path.write_text(json.dumps([asdict(entry) for entry in results], indent=2) + "\n")


def table(results: Sequence[Result]) -> str:
    """Return the results as a table in plain text."""
    head = ("name", "unit", "p50", "p99", "reference", "ratio", "bar", "ok")
    verdicts = {True: "ok", False: "NOT OK", None: ""}
    rows = [
        (
            entry.name,
            entry.unit,
            _cell(entry.p50),
            _cell(entry.p99),
            _cell(entry.reference),
            _cell(entry.ratio),
            entry.bar or "",
            verdicts[entry.ok],
        )
        for entry in results
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    ]
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)


def _cell(value: float | None) -> str:
    return "" if value is None else number(value)
