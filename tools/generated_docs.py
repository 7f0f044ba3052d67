"""Documents with parts that are made from tables in the code: written, or only compared."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

BEGIN = "<!-- made by tools/{tool}: {name} -->\n"
END = "<!-- end: {name} -->\n"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table in markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def spliced(text: str, parts: Mapping[str, str], tool: str) -> str:
    """Return a document in which each of `parts` is between the markers of its name.

    Raises:
        ValueError: markers are missing, or one is there whose part nobody makes.
    """
    for name, part in parts.items():
        begin, end = BEGIN.format(tool=tool, name=name), END.format(name=name)
        head, begun, rest = text.partition(begin)
        _, ended, tail = rest.partition(end)
        if not begun or not ended:
            raise ValueError(f"no part between {begin.strip()} and {end.strip()}")
        text = f"{head}{begin}\n{part.strip()}\n\n{end}{tail}"
    unknown = text.count(BEGIN.format(tool=tool, name="").partition(" -->")[0]) - len(parts)
    if unknown:
        raise ValueError(f"{unknown} marked part(s) that tools/{tool} does not make")
    return text


def run(description: str, target: Path, text: str, tool: str) -> int:
    """Write `text` to `target`, or with `--check` only compare; return the exit status."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--check", action="store_true", help="exit 1 if the document is not up to date"
    )
    if not parser.parse_args().check:
        target.write_text(text, encoding="utf-8")
        return 0
    if target.read_text(encoding="utf-8") != text:
        print(
            f"{target.name} is not what the tables say; run tools/{tool}",
            file=sys.stderr,
        )
        return 1
    return 0
