"""What tools with worker processes share: who ends them, and how far they are."""

from __future__ import annotations

import signal
import time


def obey_parent() -> None:
    """Leave Ctrl-C to the parent, which ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


class Progress:
    """Tells now and then how far it is."""

    def __init__(self, whole: int, unit: str, period: float) -> None:
        """Begin now; `period` is the least time [s] between two lines."""
        self._whole, self._unit, self._period = whole, unit, period
        self._started = self._told = time.monotonic()

    def tell(self, done: int, remark: str = "") -> None:
        """Tell, if it is time to; `remark` is put behind the number."""
        now = time.monotonic()
        if done and now - self._told >= self._period:
            self._told = now
            left = (now - self._started) / done * (self._whole - done)
            print(
                f"{done:,} of {self._whole:,} {self._unit}{remark}, {left:.0f} s to go", flush=True
            )
