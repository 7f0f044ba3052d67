"""How long after the start of the stack motion is possible."""

from __future__ import annotations

import time
from pathlib import Path

from stack import Client, Stack, await_ready

from benchmarks.results import Bar, Result, result
from benchmarks.series import Series
from benchmarks.session import Session

BAR = Bar("p99", "<=", 10.0)


def run(session: Session) -> list[Result]:
    """Start and end the stack some times; the first start warms the caches and does not count."""
    seconds = []
    for number in range(1 + session.count(4, 1)):
        folder = session.folder / f"start_{number}"
        folder.mkdir()
        seconds.append(_start(folder))
        session.say(f"  start {number + 1}: ready after {seconds[-1]:.2f} s")
    series = Series("stack_start", "s", tuple(seconds[1:]))
    return [result(series, BAR)]


def _start(folder: Path) -> float:
    begin = time.monotonic()
    with Stack(folder) as stack:
        client = Client(stack.domain.number, name="benchmark")
        try:
            await_ready(client)
            return time.monotonic() - begin
        finally:
            client.close()
