"""What a launch file asks for, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Process:
    """One process to run."""

    label: str
    command: tuple[str, ...]
    parameters: tuple[dict[str, Any], ...] = ()
    """Parameter sets written to files of their own, each the content of `ros__parameters`."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A described argument of a launch file."""

    name: str
    default: str | None
    """As it is written, substitutions and all; None: it must be given."""
    description: str
    conditional: bool = False
    """Whether it is declared only if some condition holds."""


@dataclass(slots=True)
class Plan:
    """What a launch file asks for, in its order."""

    processes: list[Process] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """What is not installed, and how to do without it; no process was made of it."""
