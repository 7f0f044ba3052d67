"""One table of parameters per node: the node declares from it, the docs are made from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Value = bool | int | float | str | list[str] | list[float]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a node.

    `range` is inclusive and belongs to numbers, `choices` to strings; both are enforced when the
    node starts. All parameters are read once, at start: `read_only` in ROS terms.
    """

    name: str
    default: Value
    description: str
    unit: str = ""
    range: tuple[float, float] | None = None
    choices: tuple[str, ...] = ()

    def problem(self, value: Any) -> str | None:
        """Say what is wrong with `value`, or None."""
        if self.range is not None:
            low, high = self.range
            for item in value if isinstance(value, (list, tuple)) else [value]:
                if not low <= item <= high:
                    unit = f" {self.unit}" if self.unit else ""
                    return f"{self.name} is {item}; it must be in [{low:g}, {high:g}]{unit}"
        if self.choices and value not in self.choices:
            return f"{self.name} is {value!r}; it must be one of {', '.join(self.choices)}"
        return None


class ParameterError(ValueError):
    """A parameter value that the node cannot start with."""


def check(table: Sequence[Parameter], values: Mapping[str, Any]) -> None:
    """Check all values against the table.

    Raises:
        ParameterError: with every problem found, one a line.
    """
    problems = [p for entry in table if (p := entry.problem(values[entry.name])) is not None]
    if problems:
        raise ParameterError("\n".join(problems))


def markdown(table: Sequence[Parameter]) -> str:
    """Render the table for the docs."""
    lines = ["| parameter | default | unit | range | meaning |", "|---|---|---|---|---|"]
    for entry in table:
        if entry.range is not None:
            extent = f"{entry.range[0]:g} to {entry.range[1]:g}"
        else:
            extent = ", ".join(f"`{choice}`" for choice in entry.choices)
        lines.append(
            f"| `{entry.name}` | `{entry.default!r}` | {entry.unit} | {extent} "
            f"| {entry.description} |"
        )
    return "\n".join(lines) + "\n"
