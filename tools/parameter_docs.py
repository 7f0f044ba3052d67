"""Write docs/parameters.md from the parameter tables of the nodes; `--check` only compares."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from reach_alpha5_arbiter import parameters as arbiter
from reach_alpha5_common.parameters import Parameter, markdown
from reach_alpha5_driver import parameters as driver
from reach_alpha5_teleop import parameters as teleop
from reach_alpha5_teleop.verbs import parameters as verbs
from reach_alpha5_view import parameters as view

TARGET = Path(__file__).resolve().parents[1] / "docs" / "parameters.md"

ANY_SOURCE = "<source>"

HEAD = """# Parameters

Made from the tables in each package's `parameters` by
`tools/run python3 tools/parameter_docs.py`; do not edit.

Every parameter is read once, when its node starts. A value that is out of range or of the wrong
type ends the start with status 2 and the reason. Each package has a file with those that are most
likely to be set, `config/driver.yaml`, `config/arbiter.yaml`, `config/teleop.yaml` and
`config/view.yaml`; name a copy of yours by `driver_params:=`, `arbiter_params:=`,
`teleop_params:=` and `view_params:=` ([launch](launch.md)).
"""


def sections() -> list[tuple[str, tuple[Parameter, ...]]]:
    """Return (heading, table) of every node."""
    return [
        ("driver", driver.PARAMETERS),
        ("arbiter", arbiter.PARAMETERS),
        *(
            (f"arbiter, for the source `{name}`", arbiter.source_parameters(name))
            for name in arbiter.KNOWN_SOURCES
        ),
        ("arbiter, for any other source", arbiter.source_parameters(ANY_SOURCE)),
        ("teleop", teleop.PARAMETERS),
        ("verbs", verbs.PARAMETERS),
        ("markers", view.PARAMETERS),
    ]


def text() -> str:
    """Return the document."""
    return HEAD + "".join(f"\n## {name}\n\n{markdown(table)}" for name, table in sections())


def main() -> int:
    """Write or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="exit 1 if the document is not up to date"
    )
    if not parser.parse_args().check:
        TARGET.write_text(text(), encoding="utf-8")
        return 0
    if TARGET.read_text(encoding="utf-8") != text():
        print(
            f"{TARGET.name} is not what the tables say; run tools/parameter_docs.py",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
