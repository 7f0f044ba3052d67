"""The arbiter's node with a wall clock that is as many seconds off as a file says. `FILE`.

Nothing else is changed: what it measures ages by is the machine's own clock.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from reach_alpha5_arbiter.node import main

OFFSET = Path(sys.argv.pop(1))
true_time_ns = time.time_ns


def time_ns() -> int:
    return true_time_ns() + int(OFFSET.read_text()) * 1_000_000_000


time.time_ns = time_ns
time.time = lambda: time_ns() / 1e9

if __name__ == "__main__":
    raise SystemExit(main())
