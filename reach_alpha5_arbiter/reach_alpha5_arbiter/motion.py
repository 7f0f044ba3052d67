"""The lease and the motion under it, as values."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from reach_alpha5_arbiter.tables import ACTIVITY, LEASE, Activity, Tenure
from reach_alpha5_common.command import (
    CommandKind,
    DriverCommand,
    JointCommand,
    MotionCommand,
    TwistCommand,
)


def asking(command: MotionCommand, lifetime: float) -> DriverCommand:
    """Return what asks the driver for `command`, for `lifetime` [s]."""
    if isinstance(command, TwistCommand):
        return DriverCommand(CommandKind.TWIST, twist=command, lifetime=lifetime)
    if isinstance(command, JointCommand):
        return DriverCommand(CommandKind.JOINT, joint=command, lifetime=lifetime)
    return DriverCommand(CommandKind.INPUT, input=command, lifetime=lifetime)


@dataclass(frozen=True, slots=True)
class Lease:
    """Who may move the arm."""

    owner: str | None = None
    epoch: int = 0
    """How often the owner changed, to nobody included."""
    since: float = math.nan
    """Monotonic time [s] of the last change; NaN = there was none yet."""
    idle_since: float = math.inf
    """Since when [s] the owner asks for no motion; inf = it does, or there is no owner."""

    @property
    def tenure(self) -> Tenure:
        """Whether somebody holds it."""
        return LEASE.initial if self.owner is None else Tenure.HELD


@dataclass(frozen=True, slots=True)
class Motion:
    """What the arm does for us. A command stands exactly while the activity is JOGGING."""

    activity: Activity = ACTIVITY.initial
    command: MotionCommand | None = None
    ends_at: float = math.inf
    """Monotonic time [s] at which the command's own lifetime is over."""
    said_at: float = math.nan
    """When [s] the command, or a set-point of the goal, was last said to the driver."""
    overdue_at: float = math.inf
    """Until when [s] feedback has to confirm the stop."""
    joints_rest: bool = False
    """Since the stop, the measured velocities say that the arm rests."""
    arm_rests: bool = False
    """Since the stop, the driver says that no demand moves the arm."""

    @property
    def is_confirmed(self) -> bool:
        """Whether feedback since the stop says that the arm rests, from both sides."""
        return self.joints_rest and self.arm_rests

    def confirmed(self, joints_rest: bool | None, arm_rests: bool | None) -> Motion:
        """Take what feedback says about a stop; None = this feedback does not tell."""
        return replace(
            self,
            joints_rest=self.joints_rest if joints_rest is None else joints_rest,
            arm_rests=self.arm_rests if arm_rests is None else arm_rests,
        )
