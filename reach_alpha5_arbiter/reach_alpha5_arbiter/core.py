"""The motion arbiter: who may move the arm, and whether. Pure: no ROS, no clock, no threads.

Theory of operation
===================
Events go in one by one with the monotonic time at which they happened, and a list of outputs
comes out: what to say to the driver, what was refused, and what others should see. The same events
at the same times always give the same outputs.

*The default is still.* Motion is asked for again and again, rest is the absence of asking: INPUT
goes out at once for each fresh command and is repeated while the command stands, each time with a
lifetime after which the driver stops by itself. That lifetime never reaches beyond the end of the
command's own lifetime or beyond the lapse of its source's watchdog. Idle, nothing is sent at all.

A command moves the arm only if nothing stands against it, in this order:

1. it is well formed, its source is live (one client, heard in time, that says it is there), and
   its stamp is neither from the future nor older than one before it, nor the same as that of one
   on another topic, since nothing tells which of the two is the newer;
2. no e-stop and no fault is latched, and the driver is heard, has a powered arm, and agrees;
3. its source holds the lease, or nobody does (then the command acquires it);
4. its source is armed: a neutral command was seen since the last thing that disarms.

Whatever ends one of these while the arm moves sends one stop, on the edge, and moves the activity
from JOGGING to ENDING until feedback confirms rest. When it is the owner that asks for no more, it
moves to EASING instead: that stop leaves the driver some time to let the motion fade. It is the
only one that does, and whatever else ends motion meanwhile says the stop at once.

A refused command ends what its source had asked for before and disarms it: its newest word was not
understood or not allowed, so the one before it is no longer what it wants, and a stick that was
held through a block does not move the arm when the block goes. Stamps order and nothing else. A
neutral command with a stamp out of order still stops the arm, and restarts the order, so that a
sender whose clock was set back gets on with the next neutral one; a stamp from the future is never
remembered.

Time is looked at before each event: a watchdog, a lifetime or a time-out that has passed takes
effect before anything that arrives late can count.

All state that decides is in immutable values that are replaced whole (latches, lease, motion,
driver, and one per source). It changes only in this file, by the tables in `tables`; `admission`
holds the checks, `codes` the names of all that can be wrong.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from reach_alpha5_arbiter import admission, events
from reach_alpha5_arbiter.codes import FaultCause, RefusalCode, StopCause
from reach_alpha5_arbiter.config import ArbiterConfig
from reach_alpha5_arbiter.driver import BLOCKS, Driver, Standing
from reach_alpha5_arbiter.latches import Latches
from reach_alpha5_arbiter.motion import Lease, Motion, asking
from reach_alpha5_arbiter.source import MAX_CLIENT_ID, Source
from reach_alpha5_arbiter.state import Snapshot
from reach_alpha5_arbiter.tables import (
    ACTIVITY,
    LEASE,
    Activity,
    ActivityEvent,
    ArmingEvent,
    LeaseEvent,
    Liveness,
    LivenessEvent,
    Tenure,
    Word,
)
from reach_alpha5_common.command import CommandKind, DriverCommand, MotionCommand, StopLevel
from reach_alpha5_common.refusal import Problem, RefusalLog

UNKNOWN = "(unknown)"
"""Whose a refusal is when the source is none of ours."""


class MotionArbiter:
    """Decides which motion reaches the driver."""

    def __init__(self, config: ArbiterConfig) -> None:
        self.config = config
        self.refusals = RefusalLog()
        self._now = -math.inf
        self._closed = False
        self._sequence = 0
        self._stops = 0
        self._last_stop: tuple[StopCause | None, float] = (None, math.nan)
        self._latches = Latches()
        self._lease = Lease()
        self._motion = Motion()
        self._driver = Driver()
        self._sources = {source.name: Source(source) for source in config.sources}
        self._out: list[events.Output] = []
        self._seen = self._visible()

    def handle(self, event: events.Event, now: float) -> list[events.Output]:
        """Take one event that happened at monotonic time `now` [s] and return what follows.

        After `Shutdown` nothing is heard and nothing follows.

        Raises:
            TypeError: the event is none of `Event`. Nothing has changed.
            ValueError: `now` is not finite or runs backwards. Nothing has changed.
        """
        handler = self._HANDLERS.get(type(event))
        if handler is None:
            raise TypeError(f"{event!r} is not an event of the arbiter")
        if not (math.isfinite(now) and now >= self._now):
            raise ValueError(f"time cannot run from {self._now} to {now}")
        self._now = now
        if self._closed:
            return []
        self._out = []
        self._let_time_pass()
        handler(self, event)
        if (seen := self._visible()) != self._seen:
            self._seen = seen
            self._out.append(events.StateChanged(self.snapshot(now)))
        return self._out

    def snapshot(self, now: float) -> Snapshot:
        """Show the arbiter at monotonic time `now` [s]."""
        driver, lease = self._driver, self._lease
        shown = driver.shown_with(self._latches)
        cause, at = self._last_stop
        return Snapshot(
            owner=lease.owner or "",
            lease_epoch=lease.epoch,
            lease_age=now - lease.since,
            activity=self._motion.activity,
            estop_latched=shown.estop is not StopLevel.NONE,
            estop_level=shown.estop,
            estop_source=shown.estop_source,
            estop_reason=shown.estop_reason,
            fault_latched=shown.is_faulted,
            fault_causes=shown.faults,
            driver_connected=driver.is_connected,
            last_stop_cause=cause,
            last_stop_at=at,
            stops=self._stops,
            last_refusal=self.refusals.last,
            sources=tuple(source.snapshot(now) for source in self._sources.values()),
        )

    def fork(self) -> MotionArbiter:
        """Return an independent twin, for looking at what would follow; it counts anew."""
        twin = copy.copy(self)
        twin.refusals = RefusalLog()
        twin._sources = dict(self._sources)
        twin._out = []
        return twin

    # ---- time ----------------------------------------------------------------------------------

    def _let_time_pass(self) -> None:
        now = self._now
        if self._driver.report and now - self._driver.heard_at >= self.config.driver_timeout:
            self._lose_driver()
        jogging = self._motion.activity is Activity.JOGGING
        if jogging and now - self._driver.idle_since >= self.config.driver_timeout:
            self._disarm_all(ArmingEvent.NOT_READY)
            self._act(ActivityEvent.HALT, StopCause.DRIVER_IDLE)
        for name, source in self._sources.items():
            self._sources[name] = source.aged(now)
            if source.liveness is not Liveness.SILENT and now >= source.lapses_at():
                self._silence(name, LivenessEvent.LAPSE, StopCause.SOURCE_SILENT)
        if now >= self._motion.ends_at:
            self._act(ActivityEvent.HALT, StopCause.LIFETIME_ENDED)
        if now >= self._motion.overdue_at:
            self._act(ActivityEvent.OVERDUE, StopCause.STOP_UNCONFIRMED)
            # An arm out of reach cannot confirm; when it is back it is still and disengaged.
            if self._driver.is_connected:
                self._latch_fault(FaultCause.STOP_UNCONFIRMED.code)
        owner, idle = self._lease.owner, now - self._lease.idle_since
        # While its motion fades it stays the owner: whatever ends that at once looks for it there.
        fades = self._motion.activity is Activity.EASING
        if owner and not fades and idle >= self._sources[owner].config.idle_release:
            self._change_owner(LeaseEvent.IDLE, None)

    def _on_tick(self, event: events.Tick) -> None:
        # Half a period: a tick that comes a little early must not wait for the next one.
        motion = self._motion
        if motion.command and self._now - motion.said_at >= self.config.repeat_period / 2:
            self._move(motion.command, motion.ends_at)

    # ---- sources -------------------------------------------------------------------------------

    def _on_heartbeat(self, event: events.Heartbeat) -> None:
        source = self._known(event.source)
        if source is None:
            return
        if not 0 < len(event.client_id) <= MAX_CLIENT_ID:
            self._refuse(RefusalCode.BAD_CLIENT_ID.problem(), event.source)
            return
        heard = source.heard(event.client_id, event.present, self._now)
        self._sources[event.source] = heard
        if len(heard.clients) > max(1, len(source.clients)):
            self._refuse(RefusalCode.TWO_CLIENTS.problem(event.client_id), event.source)
            self._expel(event.source, StopCause.TWO_CLIENTS)
        elif source.liveness is Liveness.LIVE and not event.present:
            self._expel(event.source, StopCause.SOURCE_GONE)

    def _on_source_gone(self, event: events.SourceGone) -> None:
        if self._known(event.source) is not None:
            self._silence(event.source, LivenessEvent.LOST, StopCause.SOURCE_GONE)

    def _silence(self, name: str, event: LivenessEvent, cause: StopCause) -> None:
        self._sources[name] = self._sources[name].silenced(event)
        self._expel(name, cause)

    def _expel(self, name: str, cause: StopCause) -> None:
        """Take from a source that is not live any more all that it had."""
        self._sources[name] = replace(self._sources[name], newest=None)
        self._disarm(name, ArmingEvent.NOT_LIVE)
        if self._lease.owner == name:
            self._act(ActivityEvent.HALT, cause)
            self._change_owner(LeaseEvent.LOST, None)

    def _on_command(self, event: events.Command) -> None:
        name, command = event.source, event.command
        source = self._known(name)
        if source is None:
            return
        situation = admission.Situation(
            self._latches,
            self._driver,
            self._lease.owner,
            self.config.max_future,
            self.config.max_twist_lifetime,
        )
        problem = admission.against_command(event, source, situation)
        self._sources[name] = replace(
            source,
            commands=source.commands + 1,
            refusals=source.refusals + (problem is not None),
            command_at=self._now,
            newest=admission.order_after(event, source, problem),
        )
        if problem is not None:
            self._refuse(problem, name)
            self._disarm(name, ArmingEvent.REFUSED)
            self._halt_owner(name, ActivityEvent.HALT, StopCause.COMMAND_REFUSED)
        elif command.is_neutral:
            self._sources[name] = self._sources[name].armed_by(ArmingEvent.NEUTRAL)
            self._halt_owner(name, ActivityEvent.EASE, StopCause.NEUTRAL)
        else:
            if self._lease.owner is None:
                self._change_owner(LeaseEvent.FIRST_MOVE, name)
            self._move(command, self._now + (command.lifetime or math.inf))

    # ---- latches and the driver ----------------------------------------------------------------

    def _on_estop(self, event: events.EStopPress) -> None:
        level = StopLevel.of(event.level)
        if level is StopLevel.NONE:
            return
        self._latches = self._latches.pressed(level, event.source, event.reason)
        self._disarm_all(ArmingEvent.LATCH)
        # Said at each press, and not on the edge alone: a press is never too often.
        self._act(ActivityEvent.INSIST, StopCause.ESTOP)

    def _latch_fault(self, *causes: str) -> None:
        self._latches = self._latches.failed(*causes)
        self._disarm_all(ArmingEvent.LATCH)
        self._act(ActivityEvent.HALT, StopCause.FAULT)

    def _on_reset(self, event: events.Reset) -> None:
        self._act(ActivityEvent.HALT, StopCause.RESET)
        self._latches = self._latches.reset()
        self._disarm_all(ArmingEvent.RESET)
        report = self._driver.report
        epoch = report.estop_epoch if report else 0
        self._driver = self._driver.reset()
        self._say(DriverCommand(CommandKind.RESET, estop_epoch=epoch))
        message = "latches cleared; motion needs a neutral command first"
        if report is None:
            message += "; the driver is not heard, so that its own latch may stand"
        self._out.append(events.Reply(True, "", message))

    def _on_arm_report(self, event: events.ArmReport) -> None:
        before = self._driver
        self._driver = driver = before.heard(event, self._now)
        if before.latches_estop(event):
            latched = driver.pressed(self._latches)
            if latched is not self._latches:
                self._latches = latched
                self._disarm_all(ArmingEvent.LATCH)
                self._act(ActivityEvent.HALT, StopCause.ESTOP)
        if before.latches_fault(event):
            self._latch_fault(FaultCause.DRIVER_FAULT.code, *event.fault_causes)
        if before.report is None:
            self._act(ActivityEvent.INSIST, StopCause.DRIVER_HEARD)
        elif before.standing is Standing.READY and driver.standing in BLOCKS:
            self._disarm_all(ArmingEvent.NOT_READY)
            self._act(ActivityEvent.HALT, BLOCKS[driver.standing][1])
        self._confirm(arm_rests=not driver.is_executing)

    def _lose_driver(self) -> None:
        self._driver = self._driver.silenced()
        self._disarm_all(ArmingEvent.NOT_READY)
        if self._motion.activity is not Activity.STILL:
            self._act(ActivityEvent.HALT, StopCause.DRIVER_LOST)
            self._latch_fault(FaultCause.DRIVER_LOST.code)

    def _on_joint_feedback(self, event: events.JointFeedback) -> None:
        self._confirm(joints_rest=event.at_rest)

    def _confirm(self, joints_rest: bool | None = None, arm_rests: bool | None = None) -> None:
        if self._motion.activity in (Activity.EASING, Activity.ENDING):
            self._motion = self._motion.confirmed(joints_rest, arm_rests)
            if self._motion.is_confirmed:
                self._act(ActivityEvent.REST)

    # ---- the lease -----------------------------------------------------------------------------

    def _on_acquire(self, event: events.Acquire) -> None:
        name, owner = event.source, self._lease.owner
        source = self._sources.get(name)
        if not self._allows(admission.against_acquire(event, source, owner), name):
            return
        if owner is not None and owner != name:
            self._act(ActivityEvent.HALT, StopCause.LEASE_TAKEN)
            self._disarm(owner, ArmingEvent.OUSTED)
        if owner != name:
            self._change_owner(LeaseEvent.TAKE if owner else LeaseEvent.ACQUIRE, name)
            self._disarm(name, ArmingEvent.GRANT)
        self._out.append(events.Reply(True, "", "granted; motion needs a neutral command first"))

    def _on_return(self, event: events.Return) -> None:
        name = event.source
        source = self._sources.get(name)
        if self._allows(admission.against_return(event, source, self._lease), name):
            self._act(ActivityEvent.HALT, StopCause.LEASE_RETURNED)
            self._disarm(name, ArmingEvent.OUSTED)
            self._change_owner(LeaseEvent.RETURN, None)
            self._out.append(events.Reply(True, "", "returned"))

    def _allows(self, problem: Problem | None, name: str) -> bool:
        if problem is not None:
            self._refuse(problem, name)
            self._out.append(events.Reply(False, problem.code, problem.reason))
        return problem is None

    def _change_owner(self, event: LeaseEvent, owner: str | None) -> None:
        then = LEASE.step(self._lease.tenure, event).then
        assert (then is Tenure.HELD) is (owner is not None)
        now = self._now
        self._lease = Lease(owner, self._lease.epoch + 1, now, now if owner else math.inf)

    # ---- what everything comes down to ---------------------------------------------------------

    def _on_shutdown(self, event: events.Shutdown) -> None:
        self._act(ActivityEvent.INSIST, StopCause.SHUTDOWN)
        self._closed = True

    def _move(self, command: MotionCommand, ends_at: float) -> None:
        """Say the owner's command, for no longer than it and its source's watchdog last."""
        now, owner = self._now, self._lease.owner
        assert owner is not None
        row = ACTIVITY.step(self._motion.activity, ActivityEvent.MOVE)
        if row.state is not row.then:
            self._driver = self._driver.asked()
        self._motion = Motion(row.then, command, ends_at, now)
        self._lease = replace(self._lease, idle_since=math.inf)
        lapses_at = self._sources[owner].lapses_at()
        lifetime = min(self.config.command_lifetime, ends_at - now, lapses_at - now)
        self._say(asking(command, lifetime))

    def _act(self, event: ActivityEvent, cause: StopCause | None = None) -> None:
        """Let the activity take an event other than MOVE."""
        row = ACTIVITY.step(self._motion.activity, event)
        ease = self.config.ease_time if row.word is Word.EASE else 0.0
        if row.then is not row.state:
            still = row.then is Activity.STILL
            overdue_at = self._now + ease + self.config.stop_confirm_timeout
            self._motion = Motion(row.then, overdue_at=math.inf if still else overdue_at)
            if row.state is Activity.JOGGING:
                self._lease = replace(self._lease, idle_since=self._now)
        if row.word in (Word.EASE, Word.STOP):
            self._stops += 1
            self._last_stop = (cause, self._now)
            level = self._latches.estop
            self._say(DriverCommand(CommandKind.STOP, stop_level=level, lifetime=ease), cause)

    def _halt_owner(self, name: str, event: ActivityEvent, cause: StopCause) -> None:
        if self._lease.owner == name:
            self._act(event, cause)

    def _say(self, command: DriverCommand, cause: StopCause | None = None) -> None:
        self._sequence += 1
        self._out.append(events.Send(replace(command, sequence=self._sequence), cause))

    def _disarm(self, name: str, event: ArmingEvent) -> None:
        self._sources[name] = self._sources[name].armed_by(event)

    def _disarm_all(self, event: ArmingEvent) -> None:
        for name in self._sources:
            self._disarm(name, event)

    def _known(self, name: str) -> Source | None:
        source = self._sources.get(name)
        if source is None:
            self._refuse(RefusalCode.UNKNOWN_SOURCE.problem(), name)
        return source

    def _refuse(self, problem: Problem, name: str) -> None:
        name = name if name in self._sources else UNKNOWN
        self._out.append(events.Refused(self.refusals.refuse(problem, name, self._now)))

    def _visible(self) -> tuple[object, ...]:
        """All that others see, but for ages and counters."""
        driver = self._driver
        return (
            self._lease.epoch,
            self._motion.activity,
            self._latches,
            driver.standing,
            driver.estop_level,
            driver.is_faulted,
            self._stops,
            [(s.liveness, s.arming, s.client_id, len(s.clients)) for s in self._sources.values()],
        )

    _HANDLERS: ClassVar[dict[type, Callable[[MotionArbiter, Any], None]]] = {
        events.Command: _on_command,
        events.Heartbeat: _on_heartbeat,
        events.SourceGone: _on_source_gone,
        events.EStopPress: _on_estop,
        events.Reset: _on_reset,
        events.Acquire: _on_acquire,
        events.Return: _on_return,
        events.ArmReport: _on_arm_report,
        events.JointFeedback: _on_joint_feedback,
        events.Tick: _on_tick,
        events.Shutdown: _on_shutdown,
    }
