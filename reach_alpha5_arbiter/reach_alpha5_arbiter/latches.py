"""The two latches: e-stop and fault. A value; what happens to it gives a new one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reach_alpha5_arbiter.tables import ESTOP, FAULT, FaultLatch, LatchEvent
from reach_alpha5_common.command import StopLevel

MAX_TEXT = 200
"""Longest source and reason of an e-stop that is kept, in characters."""

MAX_FAULTS = 16
"""Most fault causes that are kept; the oldest are the ones that tell."""


@dataclass(frozen=True, slots=True)
class Latches:
    """The latches at one moment."""

    estop: StopLevel = ESTOP.initial
    estop_source: str = ""
    """Who pressed at the level that stands, first."""
    estop_reason: str = ""
    fault: FaultLatch = FAULT.initial
    faults: tuple[str, ...] = ()
    """What latched, oldest first, each once."""

    @property
    def is_faulted(self) -> bool:
        """Whether a fault is latched."""
        return self.fault is FaultLatch.LATCHED

    def pressed(self, level: StopLevel, source: str, reason: str) -> Latches:
        """Take an e-stop of `level` above NONE: the most restrictive one stands."""
        event = LatchEvent.CUT if level is StopLevel.CUT else LatchEvent.SETTLE
        then = ESTOP.step(self.estop, event).then
        if then is self.estop:
            return self
        return replace(
            self, estop=then, estop_source=source[:MAX_TEXT], estop_reason=reason[:MAX_TEXT]
        )

    def failed(self, *causes: str) -> Latches:
        """Take a fault with one or more causes."""
        faults = tuple(dict.fromkeys((*self.faults, *(cause[:MAX_TEXT] for cause in causes))))
        return replace(
            self,
            fault=FAULT.step(self.fault, LatchEvent.FAULT).then,
            faults=faults[:MAX_FAULTS],
        )

    def reset(self) -> Latches:
        """Take a reset."""
        return Latches(
            estop=ESTOP.step(self.estop, LatchEvent.RESET).then,
            fault=FAULT.step(self.fault, LatchEvent.RESET).then,
        )
