"""From the standing demand to rates in the gate, tick by tick.

How the arm moves is the mover's: it smooths, brakes and keeps clear. Here is when it is asked, and
what follows from its answer. A stop that was written at once leaves nothing to smooth: the mover
begins at rest after it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Protocol

from reach_alpha5_common.command import STILL, MotionCommand
from reach_alpha5_common.refusal import Problem
from reach_alpha5_driver.commands import SOURCE, CommandDesk
from reach_alpha5_driver.demand import Demand, JointRates, PresetRun
from reach_alpha5_driver.gate import Gate
from reach_alpha5_driver.snapshot import Note
from reach_alpha5_driver.supervisor import Supervisor
from reach_alpha5_driver.telemetry import Telemetry
from reach_alpha5_motion.keep_out import KeepOut
from reach_alpha5_motion.model import JointLimits
from reach_alpha5_motion.resolver import Resolution
from reach_alpha5_motion.speeds import Speed, table

SPACING = 0.5
"""Least time between two sets of rates, in control periods: a changed command is resolved at once,
but however fast commands come, the line must keep room for requests."""


class Mover(Protocol):
    """Turns commands into joint rates over time: `reach_alpha5_motion.MotionGenerator`."""

    @property
    def at_rest(self) -> bool:
        """Whether nothing moves, and nothing that was asked fades."""

    def step(
        self,
        command: MotionCommand,
        q: Sequence[float],
        q_at: Sequence[float],
        now: float,
        limits: JointLimits | None = None,
        holding: bool = False,
        asked_at: float | None = None,
    ) -> Resolution:
        """Return the rates from `now` until the next step, chain order [rad/s, m/s]."""

    def halt(self) -> None:
        """Note that the arm was stopped at once."""

    def keep_out_of(self, keep_out: KeepOut | None) -> None:
        """Keep clear of this from the next step on."""

    def speeds(self, limits: JointLimits | None = None) -> tuple[Speed, ...]:
        """Return how fast the arm may go within limits that it reports."""

    def resolve_joints(
        self, rates: Sequence[float], q: Sequence[float], limits: JointLimits | None = None
    ) -> Resolution:
        """Return asked joint rates within all limits, chain order [rad/s, m/s]."""


class MotionDesk:
    """Stages rates for the demand that stands. Times are monotonic seconds."""

    def __init__(
        self,
        gate: Gate,
        desk: CommandDesk,
        supervisor: Supervisor,
        telemetry: Telemetry,
        mover: Mover,
        period: float,
        notes: deque[Note],
    ) -> None:
        """Ask `mover` every `period` [s] while a demand stands.

        Args:
            gate: has the demand, and takes the rates.
            desk: counts what the mover refuses.
            supervisor: knows the arm's limits, and whether the jaws hold something.
            telemetry: knows where the joints are.
            mover: makes the rates.
            period: of the control ticks [s].
            notes: for the log.
        """
        self.resolution: Resolution | None = None
        """How the standing demand was last resolved; None while none stands."""
        self._gate = gate
        self._desk = desk
        self._supervisor = supervisor
        self._belief = telemetry.belief
        self._mover = mover
        self._period = period
        self._notes = notes
        self._resolved: object = None
        self._resolved_at = -math.inf
        self._barred = False
        """Whether the mover has refused an arm input that nobody has let go of since."""
        self._limits: JointLimits | None = None
        self._speeds = ""
        self._tell_speeds()

    def keep_out_of(self, keep_out: KeepOut | None) -> None:
        """Keep the arm clear of this from the next tick on; None: of nothing.

        An arm that moves is stopped: it may be too fast for what is there now.
        """
        self._mover.keep_out_of(keep_out)
        self._gate.rest("scene_changed")

    def halted(self) -> None:
        """Note that a stop was written: whatever moves next begins at rest."""
        self._mover.halt()

    def tick(self, now: float) -> None:
        """Stage the next rates if they are due."""
        demand = self._gate.demand
        if demand is None or self._gate.stop_owed:
            self._barred = False
            if not self._mover.at_rest:
                self._mover.halt()
        if demand is None:
            self.resolution = None
        elif now >= self._due(demand):
            self._resolve(demand, now)
        limits = self._supervisor.joint_limits
        if limits is not self._limits and self._supervisor.identification.complete:
            self._limits = limits
            self._tell_speeds()

    def next_time(self) -> float:
        """Return when the next tick is due; inf = no demand stands."""
        demand = self._gate.demand
        return math.inf if demand is None else min(demand.expires, self._due(demand))

    def _due(self, demand: Demand) -> float:
        changed = demand.command != self._resolved
        return self._resolved_at + self._period * (SPACING if changed else 1.0)

    def _resolve(self, demand: Demand, now: float) -> None:
        command = demand.command
        self._resolved, self._resolved_at = command, now
        if isinstance(command, PresetRun):
            self._gate.set_preset(command.slot)
            return
        posture, limits = self._belief.positions(), self._supervisor.joint_limits
        try:
            if isinstance(command, JointRates):
                resolution = self._mover.resolve_joints(command.rates, posture, limits)
            else:
                holding, times = self._supervisor.grip.holding, self._belief.position_times()
                allowed = self._allowed(command)
                resolution = self._mover.step(
                    allowed, posture, times, now, limits, holding, demand.received
                )
            self._gate.set_rates(resolution.joint_velocities.tolist())
        except ValueError as error:
            self._gate.fault("unresolved", now)
            text = f"fault unresolved, stopped until a reset: no joint rates: {error}"
            self._notes.append(Note("error", text))
            return
        self.resolution = resolution
        self._see_to_the_end(demand, resolution.refused, now)

    def _allowed(self, command: MotionCommand) -> MotionCommand:
        """Return what may be done of a command: an arm input that was refused stays so.

        A stick that is held through a refusal must not move the arm when its reason goes.
        """
        self._barred = self._barred and command.moves_arm
        return command.without_arm() if self._barred else command

    def _see_to_the_end(self, demand: Demand, refused: Problem | None, now: float) -> None:
        """End a demand of which nothing is left: it has faded, or it cannot be obeyed."""
        if refused is not None:
            self._barred = True
            self._desk.refuse(refused, SOURCE, now)
            self._notes.append(Note("warn", f"refused {refused.code}: {refused.reason}"))
        if self._mover.at_rest:
            if demand.command == STILL:
                self._gate.rest("neutral")
            elif self._barred:
                self._gate.disengage("refused", now)

    def _tell_speeds(self) -> None:
        """Say how fast the arm may go, if that is news."""
        text = table(self._mover.speeds(self._limits))
        if text != self._speeds:
            self._speeds = text
            self._notes.append(Note("info", f"speeds in force:\n{text}"))
