"""The document on mutation testing: its tables are written and read here.

The table of survivors is the list that a run is compared with. Reasons are written into it by
hand, and stay when it is written anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass

from generated_docs import BEGIN, END, spliced, table
from mutate_operators import EXCLUDED, OPERATORS, Key
from workspace import ROOT

DOCUMENT = ROOT / "docs" / "mutation.md"
TOOL = "mutate.py"

SCORES_HEAD = ("module", "mutants", "killed", "score", "processor time [s]")
SURVIVORS_HEAD = ("module", "in", "line", "mutation", "why it may survive")


@dataclass(frozen=True, slots=True)
class Score:
    """How the tests did on one module."""

    mutants: int = 0
    killed: int = 0
    seconds: float = 0.0

    @property
    def share(self) -> float:
        """Killed ones, 0..1."""
        return self.killed / self.mutants

    def with_one(self, killed: bool, seconds: float) -> Score:
        """Return the score with one mutant more."""
        return Score(self.mutants + 1, self.killed + killed, self.seconds + seconds)


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else ""


def _plain(cell: str) -> str:
    return cell.strip().replace("\\|", "|").strip("`")


def _part(text: str, name: str) -> list[list[str]]:
    """Return the cells of a table of the document, without its head."""
    _, _, rest = text.partition(BEGIN.format(tool=TOOL, name=name))
    part, _, _ = rest.partition(END.format(name=name))
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[2:]]


def survivors_in(text: str) -> dict[Key, str]:
    """Return the reason of each survivor that the document lists."""
    return {Key(*map(_plain, cells[:-1])): cells[-1].strip() for cells in _part(text, "survivors")}


def scores_in(text: str) -> dict[str, tuple[str, ...]]:
    """Return the rows of the table of scores, by module."""
    rows = [tuple(cell.strip() for cell in cells) for cells in _part(text, "scores")]
    return {_plain(row[0]): row for row in rows if row[0].startswith("`")}


def written(text: str, scores: dict[str, Score], survived: Iterable[Key]) -> str:
    """Return the document with what a run has found.

    Args:
        text: the document.
        scores: by module; what is noted of other modules stays.
        survived: the survivors in those modules.
    """
    reasons = survivors_in(text)
    keys = {key for key in reasons if key.module not in scores} | set(survived)
    rows = scores_in(text) | {
        module: (
            _code(module),
            str(score.mutants),
            str(score.killed),
            f"{score.share:.1%}",
            f"{score.seconds:.0f}",
        )
        for module, score in scores.items()
    }
    return spliced(text, parts([rows[module] for module in sorted(rows)], keys, reasons), TOOL)


def parts(
    scores: Sequence[tuple[str, ...]], survivors: Iterable[Key], reasons: dict[Key, str]
) -> dict[str, str]:
    """Return each generated part of the document by its name."""
    mutants = sum(int(row[1]) for row in scores)
    killed = sum(int(row[2]) for row in scores)
    seconds = sum(int(row[4]) for row in scores)
    total = ("all", str(mutants), str(killed), f"{killed / max(mutants, 1):.1%}", str(seconds))
    rows = [(*map(_code, astuple(key)), reasons.get(key, "")) for key in sorted(survivors)]
    return {
        "operators": table(("operator", "what it does"), ((o.name, o.text) for o in OPERATORS)),
        "left alone": table(("left alone", "that is"), EXCLUDED),
        "scores": table(SCORES_HEAD, [*scores, total]),
        "survivors": table(SURVIVORS_HEAD, rows),
    }
