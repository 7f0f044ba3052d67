"""Write the table of invariants of docs/proof.md from the judge's; `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

from generated_docs import run, spliced, table
from workspace import ROOT

sys.path.append(str(ROOT / "reach_alpha5_arbiter" / "test"))
from arbiter_broken import BROKEN
from arbiter_invariants import Invariant
from arbiter_searches import SEARCHES

TARGET = ROOT / "docs" / "proof.md"
TOOL = Path(__file__).name


def parts() -> dict[str, str]:
    """Return each generated part by its name."""
    return {
        "searches": table(
            ("search", "states", "transitions", "states with motion"),
            (
                (name, *(f"{count:,}" for count in search.counts))
                for name, search in SEARCHES.items()
            ),
        ),
        "invariants": table(
            ("name", "protects", "what holds", "broken cores"),
            ((f"`{each.name}`", *_told(each)) for each in Invariant),
        ),
        "broken cores": table(
            ("broken core", "caught by"),
            ((broken.name, f"`{broken.breaks.name}`") for broken in BROKEN),
        ),
    }


def _told(invariant: Invariant) -> tuple[str, ...]:
    protects = (f"rule {name}" if name.isdigit() else name for name in invariant.protects)
    broken = sum(each.breaks is invariant for each in BROKEN)
    return ", ".join(protects), invariant.text, str(broken)


def text() -> str:
    """Return the document with its tables made anew."""
    return spliced(TARGET.read_text(encoding="utf-8"), parts(), TOOL)


def main() -> int:
    """Write or compare."""
    return run(__doc__ or "", TARGET, text(), TOOL)


if __name__ == "__main__":
    sys.exit(main())
