"""What works the gate beside the commands: who the arm is, whether it is powered, its faults.

Each part knows one thing and decides nothing; what follows for the gate is put together here.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable

import numpy as np

from reach_alpha5_common.command import StopLevel
from reach_alpha5_common.refusal import Problem
from reach_alpha5_driver import fault_table
from reach_alpha5_driver.agreement import MotionWatch
from reach_alpha5_driver.arm_settings import ArmSettings
from reach_alpha5_driver.comparison import Mismatch, Severity, mismatches
from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.fault_table import Finding
from reach_alpha5_driver.gate import Gate
from reach_alpha5_driver.grip import JAWS, GripWatch
from reach_alpha5_driver.health import HealthWatch
from reach_alpha5_driver.holds import Hold
from reach_alpha5_driver.identification import Identification
from reach_alpha5_driver.identity import ArmIdentity, JointRanges, effective_limits
from reach_alpha5_driver.outbox import Outbox
from reach_alpha5_driver.power import PowerDesk, Wish, is_off
from reach_alpha5_driver.protocol.packets import Packet, PacketId
from reach_alpha5_driver.rest import RestWatch, is_confirmed
from reach_alpha5_driver.snapshot import Note
from reach_alpha5_driver.stops import Beyond
from reach_alpha5_driver.telemetry import Telemetry
from reach_alpha5_motion.model import JointLimits

NOTE_OF = {
    fault_table.Severity.WARN: "warn",
    fault_table.Severity.MINOR: "error",
    fault_table.Severity.MAJOR: "error",
}
"""How a finding is logged."""

CONFIRMABLE_FOR = 2.0
"""[s] after a stop in which its confirmation is awaited: an arm that is silent gives none."""

REIDENTIFY_AFTER = 1.0
"""[s]; a device that was silent for so long may have been switched off, or be another one."""


class Supervisor:
    """Watches the arm in each tick, and works the gate. Times are monotonic seconds."""

    def __init__(
        self,
        gate: Gate,
        telemetry: Telemetry,
        outbox: Outbox,
        config: CoreConfig,
        description: JointRanges,
        notes: deque[Note],
    ) -> None:
        """Work `gate` by what `telemetry` hears; ask and set things through `outbox`."""
        self.identification = Identification(config.identification)
        self.settings = ArmSettings(config.grip)
        self.power = PowerDesk()
        self.health = HealthWatch(config.health)
        self.motion = MotionWatch(config.agreement, description.lower, description.upper)
        self.grip = GripWatch(
            config.grip, description.lower[JAWS.index], description.upper[JAWS.index]
        )
        self.mismatches: tuple[Mismatch, ...] = ()
        self.joint_limits: JointLimits | None = None
        """What motion must keep to: the narrower of the description's limits and the arm's."""
        self.findings: tuple[Finding, ...] = ()
        """What is wrong now; all of it was told, and latched where it is a fault."""
        self._gate = gate
        self._telemetry = telemetry
        self._belief = telemetry.belief
        self._outbox = outbox
        self._config = config
        self._description = description
        self._notes = notes
        self._rest = RestWatch(
            config.stop_confirm_time, config.stop_repeat_period, config.stop_attempts
        )
        self._settings_problem: Problem | None = None
        self._identity: ArmIdentity | None = None
        self._silent = [False] * len(DEVICES)
        self._connected = False
        self._jaws_stale = False
        self._estopped_at = math.inf
        self._switched_off = False
        """Whether it was somebody's wish that the motors are off: a reset does not undo that."""
        self._confirmed_stop = -math.inf
        """When the last stop was written after which the arm was measured at rest."""
        self.unconfirmed = False
        """Whether the last stop is not confirmed yet, and may still be."""
        telemetry.on_packet = self._on_packet
        telemetry.on_refused = self.identification.on_refused

    def line_opened(self, now: float) -> None:
        """Begin with an arm of which nothing is known."""
        self.identification.start(now)
        self.settings.start(now)
        self._silent = [False] * len(DEVICES)
        self._jaws_stale = False
        self._connected = True

    def line_closed(self, now: float) -> None:
        """Know nothing any more."""
        self._connected = False
        self.unconfirmed = False
        self.identification.forget()
        self.motion.stopped(now)
        self.grip.released(0.0)
        self._rest.forget()
        if self.power.wish is Wish.ON:  # the arm that comes back may be another
            self.power.want(Wish.AS_IT_IS, now)
        for hold in (Hold.NOT_IDENTIFIED, Hold.NOT_SET_UP, Hold.UNPOWERED):
            self._gate.hold(hold, now)

    def tick(self, now: float) -> None:
        """See what has changed since the last tick, and do what follows."""
        self._identify(now)
        self._set_up(now)
        self._look_after_power(now)
        self._look_for_faults(now)
        self._confirm_rest(now)
        self._note_confirmation(now)

    def next_time(self) -> float:
        """Return when the next tick is due if nothing is heard before; inf = never."""
        times = [self.identification.next_time(), self.power.next_time()]
        if self.identification.complete:
            times.append(self.settings.next_time())
        if self._gate.demand is None:
            times.append(self._rest.next_time(self._gate.last_stop_at))
        return min(times)

    @property
    def plannable(self) -> bool:
        """Whether the arm is known, and nothing that it says of itself forbids planned motion."""
        return self.identification.complete and all(
            mismatch.severity is Severity.WARNING for mismatch in self.mismatches
        )

    # -- what others want

    def want_power(self, on: bool, now: float) -> Problem | None:
        """Switch the motors on or off; return why that cannot be."""
        gate = self._gate
        self._switched_off = not on
        if not on:
            gate.disengage("power_off", now)
            gate.cut()
            self.power.want(Wish.OFF, now)
            return None
        if gate.estop_level is not StopLevel.NONE or gate.fault_causes:
            return Problem("latched", "an e-stop or a fault is latched; the reset will switch on")
        self.power.want(Wish.ON, now)
        return None

    def on_reset(self, now: float) -> None:
        """Give the motors back the power that was cut; take faults that still stand as new ones.

        An arm that is not connected is not waited for: the next one may be another.
        """
        self.findings = ()
        if self._connected and not self._switched_off:
            self.power.want(Wish.ON, now)
            self._gate.hold(Hold.UNPOWERED, now)  # until the arm reports that it is not

    def on_released(self, now: float) -> None:
        """Note what was just written: other joint rates, or a stop."""
        rates = self._gate.released_rates
        self.grip.released(0.0 if math.isnan(rates[JAWS.index]) else rates[JAWS.index])
        self._rest.released(rates, now)
        if self._gate.moved:
            self.motion.released(rates, now)
        else:
            self.motion.stopped(now)

    def unrest(self, now: float) -> Problem | None:
        """Return why no motion may begin: a joint moves, and not because it was told to."""
        return self._rest.problem(now)

    # -- the parts

    def _on_packet(self, joint: int, packet: Packet, now: float) -> None:
        self.identification.on_packet(joint, packet, now)
        self.settings.on_packet(packet, now)

    def _ask(self, questions: Iterable[tuple[int, tuple[int, ...]]]) -> None:
        for device, packets in questions:
            self._telemetry.poller.ask(device, packets)

    def _identify(self, now: float) -> None:
        for device, joint in zip(DEVICES, self._belief.joints, strict=True):
            silent = now - joint.heard_at > REIDENTIFY_AFTER
            if self._silent[device.index] and not silent:
                self.identification.restart(device.index, now)
            self._silent[device.index] = silent
        # What is set in the jaws is lost by the shortest failure of their supply.
        stale = self._belief.stale(JAWS.index, now)
        if self._jaws_stale and not stale:
            self.settings.start(now)
        self._jaws_stale = stale
        self._ask(self.identification.asks(now))
        self._set_hold(Hold.NOT_IDENTIFIED, not self.identification.complete, now)
        identity = self.identification.identity
        if identity is not self._identity:
            self._identity = identity
            self._take_identity(now)

    def _take_identity(self, now: float) -> None:
        identity = self.identification.identity
        limits = effective_limits(identity, self._description)
        self.joint_limits = JointLimits(
            *map(np.array, (limits.lower, limits.upper, limits.velocity))
        )
        self.motion.set_limits(limits.lower, limits.upper)
        self.grip.set_limits(limits.lower[JAWS.index], limits.upper[JAWS.index])
        for device, said in identity.joints():
            self._belief.set_turning(
                device.index, device.endless and math.isinf(said.position_lower)
            )
            self.health.set_climate(device.index, said.sealed_temperature, said.sealed_humidity)
        found = mismatches(identity, self._config.expected, self._description)
        for mismatch in found:
            if mismatch not in self.mismatches:
                grave = mismatch.severity > Severity.WARNING
                self._notes.append(Note("error" if grave else "warn", mismatch.reason))
        self.mismatches = found
        held = any(mismatch.severity is Severity.HOLD for mismatch in found)
        self._set_hold(Hold.MISMATCH, held or not self.identification.complete, now)

    def _set_up(self, now: float) -> None:
        due = self.settings.due(now) if self.identification.complete else None
        if due is not None:
            if due.frame:
                self._outbox.add_setting(due.frame)
            self._ask([(due.device, (due.packet_id,))])
        problem = self.settings.problem
        if problem is not None and problem != self._settings_problem:
            self._notes.append(Note("error", problem.reason))
        self._settings_problem = problem
        if self.settings.complete:
            self.grip.set_current_limits(*self.settings.reported)
        self._set_hold(Hold.NOT_SET_UP, not self.settings.complete, now)

    def _look_after_power(self, now: float) -> None:
        gate = self._gate
        if gate.estop_level is StopLevel.NONE:
            self._estopped_at = math.inf
        elif self.power.wish is not Wish.OFF:
            self._estopped_at = min(self._estopped_at, now)
            settled = is_confirmed(self._belief, self._stopped_at, now)
            if gate.estop_level is StopLevel.CUT:  # the stop has disabled them; see that it did
                self.power.want(Wish.OFF, now)
            elif settled or now >= self._estopped_at + self._config.settle_time:
                gate.cut()
                self.power.want(Wish.OFF, now)
        if gate.fault_causes and self.power.wish is Wish.ON:
            self.power.want(Wish.AS_IT_IS, now)
        modes = [self._mode(device.index, now) for device in DEVICES]
        for device, frame in self.power.due(modes, now).items():
            self._outbox.add_setting(frame)
            self._ask([(device, (PacketId.MODE,))])
        self._set_hold(Hold.UNPOWERED, any(map(is_off, modes)), now)

    def _mode(self, joint: int, now: float) -> int | None:
        """Return the mode that a joint has reported since the last wish for its power."""
        if self._belief.joints[joint].at["mode"] < self.power.counts_from:
            return None
        return self._belief.mode(joint, now)

    def _look_for_faults(self, now: float) -> None:
        gate, belief = self._gate, self._belief
        report = self.health.check(belief, now)
        disagreements = self.motion.check(belief, now)
        self.grip.check(belief, now)
        for question in (*self.health.questions(now), *self.motion.questions(now)):
            self._ask([(question.device, (question.packet,))])
        findings = (
            *report.major,
            *disagreements,
            *report.minor,
            *report.warnings,
            *self.grip.report,
        )
        if findings or self.findings:
            self._take_findings(findings, now)
        if self._config.minor_auto_reset and not any(
            finding.severity is fault_table.Severity.MINOR for finding in self.findings
        ):
            gate.recover()

    def _take_findings(self, findings: tuple[Finding, ...], now: float) -> None:
        """Tell what is new, and latch it if it is a fault."""
        known = {finding.code for finding in self.findings}
        for finding in findings:
            if finding.code in known:
                continue
            self._notes.append(Note(NOTE_OF[finding.severity], finding.text))
            if finding.severity is fault_table.Severity.MAJOR:
                self._gate.fault(finding.code, now)
            elif finding.severity is fault_table.Severity.MINOR:
                self._gate.minor_fault(finding.code, now)
        self.findings = findings

    def _confirm_rest(self, now: float) -> None:
        gate = self._gate
        self._rest.look(self._belief, now)
        if gate.demand is not None:
            return
        beyond = self._rest.next_step(self._belief, gate.last_stop_at, now)
        if beyond is None:
            return
        gate.still_moving(beyond)
        if beyond is not Beyond.NOTHING:
            gate.fault("stop_not_obeyed", now)
        if beyond is Beyond.DISABLE:
            self.power.want(Wish.OFF, now)

    def _note_confirmation(self, now: float) -> None:
        """See whether the last stop is confirmed; until then a guard must watch over it."""
        gate = self._gate
        stopped_at = self._stopped_at
        if gate.demand is None and is_confirmed(self._belief, stopped_at, now):
            self._confirmed_stop = stopped_at
        self.unconfirmed = (
            self._confirmed_stop != stopped_at and now < stopped_at + CONFIRMABLE_FOR
        )

    @property
    def _stopped_at(self) -> float:
        """When the stop that counts was written; inf as long as it is owed."""
        return math.inf if self._gate.stop_owed else self._gate.last_stop_at

    def _set_hold(self, hold: Hold, on: bool, now: float) -> None:
        if on:
            self._gate.hold(hold, now)
        else:
            self._gate.lift(hold)
