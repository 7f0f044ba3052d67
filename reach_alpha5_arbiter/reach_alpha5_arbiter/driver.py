"""The driver and its arm as the arbiter sees them: ready, or why not.

The arbiter keeps latches of its own, and the driver keeps its own at its last write. What the
driver reports is adopted into ours once, when it appears. After a reset the report may be old, or
the driver may not agree: it is not adopted again then, but motion waits until the report is clear.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, replace

from reach_alpha5_arbiter.codes import FaultCause, RefusalCode, StopCause
from reach_alpha5_arbiter.events import ArmReport
from reach_alpha5_arbiter.latches import Latches
from reach_alpha5_common.command import StopLevel


class ArmCondition(enum.IntEnum):
    """The state of the arm; the numbers are those of `ArmState`."""

    NONE = 0
    IDLE = 1
    ENABLED = 2
    EXECUTING = 3
    MAJOR_FAULT = 4
    MINOR_FAULT = 5


CONNECTED = frozenset(ArmCondition) - {ArmCondition.NONE}
FAULTS = frozenset({ArmCondition.MAJOR_FAULT, ArmCondition.MINOR_FAULT})


class Standing(enum.Enum):
    """Whether the driver can be given motion. Of several reasons the first in order counts."""

    SILENT = "its state is not heard within `driver_timeout`"
    INACTIVE = "its lifecycle node is not active"
    DISCONNECTED = "it reports no arm, or a state that nobody defined"
    ESTOPPED = "it reports its own e-stop latch"
    FAULTED = "it reports a fault, major or minor"
    UNPOWERED = "it reports that the motors may not be driven"
    HELD = "it reports a hold: what keeps the arm from being engaged"
    SERVICE = "it is in service mode"
    READY = "none of these"


BLOCKS: dict[Standing, tuple[RefusalCode, StopCause]] = {
    Standing.SILENT: (RefusalCode.DRIVER_LOST, StopCause.DRIVER_LOST),
    Standing.INACTIVE: (RefusalCode.DRIVER_INACTIVE, StopCause.DRIVER_INACTIVE),
    Standing.DISCONNECTED: (RefusalCode.ARM_DISCONNECTED, StopCause.ARM_DISCONNECTED),
    Standing.ESTOPPED: (RefusalCode.DRIVER_ESTOPPED, StopCause.ESTOP),
    Standing.FAULTED: (RefusalCode.DRIVER_FAULTED, StopCause.FAULT),
    Standing.UNPOWERED: (RefusalCode.ARM_UNPOWERED, StopCause.ARM_UNPOWERED),
    Standing.HELD: (RefusalCode.ARM_HELD, StopCause.ARM_HELD),
    Standing.SERVICE: (RefusalCode.SERVICE_MODE, StopCause.SERVICE_MODE),
}
"""How a moving command is refused, and why motion stops, while the driver is not READY."""


@dataclass(frozen=True, slots=True)
class Driver:
    """The driver at one moment."""

    report: ArmReport | None = None
    """What it said last; None = silent."""
    heard_at: float = -math.inf
    idle_since: float = math.inf
    """Since when [s] it answers to motion that it is not engaged; inf = it does not."""
    reset_epoch: int | None = None
    """The e-stop epoch that our last reset named; None = none since the driver is heard."""

    @property
    def standing(self) -> Standing:
        """Whether it can be given motion."""
        report = self.report
        if report is None:
            return Standing.SILENT
        for applies, standing in (
            (not report.active, Standing.INACTIVE),
            (not self.is_connected, Standing.DISCONNECTED),
            (report.emo, Standing.ESTOPPED),
            (report.state in FAULTS, Standing.FAULTED),
            (not report.powered, Standing.UNPOWERED),
            (bool(report.holds), Standing.HELD),
            (report.service_mode, Standing.SERVICE),
        ):
            if applies:
                return standing
        return Standing.READY

    @property
    def is_connected(self) -> bool:
        """Whether it is heard and has an arm."""
        return self.report is not None and self.report.state in CONNECTED

    @property
    def estop_level(self) -> StopLevel:
        """The level of the e-stop latch that it reports; a latch without a level is CUT."""
        if self.report is None or not self.report.emo:
            return StopLevel.NONE
        return StopLevel.of(self.report.emo_level) or StopLevel.CUT

    @property
    def is_faulted(self) -> bool:
        """Whether it reports a major fault."""
        return self.report is not None and self.report.state == ArmCondition.MAJOR_FAULT

    @property
    def is_executing(self) -> bool:
        """Whether it reports a demand that moves the arm."""
        return self.report is not None and self.report.state == ArmCondition.EXECUTING

    @property
    def is_obeying(self) -> bool:
        """Whether it has not answered to motion that it is not engaged."""
        return math.isinf(self.idle_since)

    def heard(self, report: ArmReport, now: float) -> Driver:
        """Take a report."""
        idle = report.state == ArmCondition.IDLE
        idle_since = min(self.idle_since, now) if idle else math.inf
        return replace(self, report=report, heard_at=now, idle_since=idle_since)

    def asked(self) -> Driver:
        """Take motion that is asked of it from now on: what it said before is no answer."""
        return replace(self, idle_since=math.inf)

    def silenced(self) -> Driver:
        """Take its silence. What it says when it comes back is new again."""
        return Driver()

    def reset(self) -> Driver:
        """Take a reset that was sent to it."""
        return replace(self, reset_epoch=self.report.estop_epoch if self.report else None)

    def latches_estop(self, report: ArmReport) -> bool:
        """Say whether the e-stop in `report`, about to be heard, is one that we did not know of.

        A latch that was reported before and has the epoch of our last reset is the one that this
        reset clears.
        """
        known = (
            self.report is not None and self.report.emo and report.estop_epoch == self.reset_epoch
        )
        return report.emo and not known

    def latches_fault(self, report: ArmReport) -> bool:
        """Say whether the major fault in `report`, about to be heard, is a new one."""
        return report.state == ArmCondition.MAJOR_FAULT and not self.is_faulted

    def pressed(self, latches: Latches) -> Latches:
        """Return `latches` after the e-stop that the driver reports."""
        level = self.estop_level
        if level is StopLevel.NONE:
            return latches
        return latches.pressed(level, "driver", "the driver's own e-stop latch is set")

    def shown_with(self, latches: Latches) -> Latches:
        """Return what stands in effect: `latches`, or the driver's own where ours are clear."""
        shown = self.pressed(latches) if latches.estop is StopLevel.NONE else latches
        if self.is_faulted and not latches.is_faulted:
            shown = shown.failed(FaultCause.DRIVER_FAULT.code)
        return shown
