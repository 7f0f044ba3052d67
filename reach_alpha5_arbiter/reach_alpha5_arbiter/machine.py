"""The few moves that everything comes down to.

What happens about each event is in `rules`; what a move does to the activity, and what it says to
the driver, is in `tables.ACTIVITY`. Beside that, a reset alone says something to the driver.
"""

from __future__ import annotations

import math
from dataclasses import replace

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import Code, Disarmed, FaultCause, RefusalCode, StopCause
from reach_alpha5_arbiter.config import ArbiterConfig
from reach_alpha5_arbiter.endpoint import Endpoint
from reach_alpha5_arbiter.errand import Ending, GoalOutcome
from reach_alpha5_arbiter.latches import Latches
from reach_alpha5_arbiter.motion import Lease, Motion, asking
from reach_alpha5_arbiter.source import Source
from reach_alpha5_arbiter.state import State
from reach_alpha5_arbiter.tables import (
    ACTIVITY,
    LEASE,
    MOVING,
    Activity,
    ActivityEvent,
    ArmingEvent,
    LeaseEvent,
    StreamEvent,
    Tenure,
    Word,
)
from reach_alpha5_arbiter.trajectory import Goal
from reach_alpha5_arbiter.upstream import Upstream
from reach_alpha5_common.command import CommandKind, DriverCommand, MotionCommand
from reach_alpha5_common.refusal import Problem, RefusalLog

UNKNOWN = "(unknown)"
"""Whose a refusal is when the source is none of ours."""

ARM_STATE, JOINT_STATES, UPSTREAM = OTHERS = ("arm_state", "joint_states", "upstream")
"""Whose refusals are told apart beside those of sources and endpoints."""

STOPS = frozenset({Word.EASE, Word.STOP})

AT_ONCE = frozenset({ActivityEvent.HALT, ActivityEvent.INSIST})
"""What makes a failure of a success that is not confirmed yet."""


class Machine:
    """The state, and the moves that change it."""

    def __init__(self, config: ArbiterConfig, session: int) -> None:
        self.config = config
        self.refusals = RefusalLog()
        self.out: list[events.Output] = []
        endpoints = {each.name: Endpoint.awaited(each, session) for each in config.endpoints}
        latches = Latches()
        for name, endpoint in endpoints.items():  # a new configuration starts stopped
            latches = latches.pressed(endpoint.stands_for, f"endpoint {name}", endpoint.why)
        self.state = State(
            {source.name: Source(source) for source in config.sources},
            endpoints,
            Upstream(config.upstream_timeout),
            latches,
        )

    def fork(self) -> Machine:
        """Return an independent twin; it counts refusals anew."""
        twin = Machine.__new__(Machine)
        twin.config, twin.refusals, twin.out = self.config, RefusalLog(), []
        twin.state = self.state.copied()
        return twin

    # ---- what is said to the driver ------------------------------------------------------------

    def move(self, command: MotionCommand, ends_at: float) -> None:
        """Say the owner's command, for no longer than it and its source's watchdog last."""
        state = self.state
        owner = state.lease.owner
        assert owner is not None
        self._ask(ActivityEvent.MOVE, asking(command, ends_at - state.now), owner)
        state.motion = replace(state.motion, command=command, ends_at=ends_at)

    def follow(self) -> None:
        """Say the goal's next set-point, for no longer than its source's watchdog lasts."""
        errand = self.state.errand
        assert errand is not None
        setpoint = errand.execution.setpoint(self.state.now)
        self._ask(ActivityEvent.FOLLOW, asking(setpoint, math.inf), errand.goal.source)

    def _ask(self, event: ActivityEvent, command: DriverCommand, source: str) -> None:
        state = self.state
        row = ACTIVITY.step(state.motion.activity, event)
        if row.state not in MOVING:
            state.driver = state.driver.asked()
        state.motion = Motion(row.then, said_at=state.now)
        state.lease = replace(state.lease, idle_since=math.inf)
        left = state.sources[source].lapses_at() - state.now
        lifetime = min(self.config.command_lifetime, command.lifetime, left)
        self.say(replace(command, lifetime=lifetime))

    def act(
        self, event: ActivityEvent, cause: StopCause | None = None, ending: Ending | None = None
    ) -> None:
        """Let the activity take an event other than MOVE and FOLLOW.

        Args:
            event: what happens.
            cause: why, if it may stop the arm.
            ending: how the goal that owns the arm ends by it; None = it is aborted for `cause`.
        """
        state, now = self.state, self.state.now
        row = ACTIVITY.step(state.motion.activity, event)
        if state.errand is not None and cause is not None:
            ending = ending or Ending.of(GoalOutcome.ABORTED, cause)
            if event is ActivityEvent.OVERDUE:
                state.errand = state.errand.moves_on(ending)
            elif event in AT_ONCE:
                state.errand = state.errand.ends(ending)
            elif row.then is Activity.SLOWING:
                state.errand = state.errand.slows(ending, cause, now)
        ease = self.config.ease_time if row.word is Word.EASE else 0.0
        if row.then is not row.state and row.then is not Activity.SLOWING:
            still = row.then is Activity.STILL
            overdue_at = math.inf if still else now + ease + self.config.stop_confirm_timeout
            state.motion = Motion(row.then, overdue_at=overdue_at)
            if row.state in MOVING:
                state.lease = replace(state.lease, idle_since=now)
        elif row.then is not row.state:
            state.motion = replace(state.motion, activity=row.then)
        if row.word in STOPS:
            state.stops += 1
            state.last_stop_cause, state.last_stop_at = cause, now
            level = state.latches.estop
            self.say(DriverCommand(CommandKind.STOP, stop_level=level, lifetime=ease), cause)
        if row.then is Activity.STILL and row.state is not Activity.STILL:
            state.rested_at = now
            self.conclude()

    def conclude(self) -> None:
        """Tell how the goal that owned the arm has ended, if one did."""
        state = self.state
        if state.errand is not None:
            assert state.errand.ending is not None
            self.tell_ended(state.errand.goal, state.errand.ending)
            state.errand = None

    def halt_owner(self, name: str, event: ActivityEvent, cause: StopCause) -> None:
        """Let the activity take an event if it is this source's."""
        if self.state.lease.owner == name:
            self.act(event, cause)

    def say(self, command: DriverCommand, cause: StopCause | None = None) -> None:
        """Say something to the driver, numbered."""
        self.state.sequence += 1
        self.out.append(events.Send(replace(command, sequence=self.state.sequence), cause))

    # ---- what is told to others ----------------------------------------------------------------

    def refuse(self, problem: Problem, name: str) -> None:
        """Count a refusal, and tell it."""
        known = name in OTHERS or name in self.state.sources or name in self.state.endpoints
        refusal = self.refusals.refuse(problem, name if known else UNKNOWN, self.state.now)
        self.out.append(events.Refused(refusal))

    def allows(self, problem: Problem | None, name: str) -> bool:
        """Say whether nothing stands against a request; else refuse it and answer so."""
        if problem is not None:
            self.refuse(problem, name)
            self.out.append(events.Reply(False, problem.code, problem.reason))
        return problem is None

    def tell_ended(self, goal: Goal, ending: Ending) -> None:
        """Tell that a goal has ended."""
        state = self.state
        state.ended = replace(goal, points=()), ending  # to be shown, and kept for good
        self.out.append(events.GoalEnded(goal.id, ending, state.posture))

    # ---- whose the arm is ----------------------------------------------------------------------

    def known(self, name: str) -> Source | None:
        """Return a source, or refuse what came of one that is none of ours."""
        source = self.state.sources.get(name)
        if source is None:
            self.refuse(RefusalCode.UNKNOWN_SOURCE.problem(), name)
        return source

    def change_owner(self, event: LeaseEvent, owner: str | None) -> None:
        """Let the lease change hands; None = nobody has it."""
        state, now = self.state, self.state.now
        then = LEASE.step(state.lease.tenure, event).then
        assert (then is Tenure.HELD) is (owner is not None)
        state.lease = Lease(owner, state.lease.epoch + 1, now, now if owner else math.inf)

    def disarm(self, name: str, event: ArmingEvent) -> None:
        """Disarm a source. What waits of it dies with that, and an open stream as a rule."""
        state = self.state
        state.sources[name] = state.sources[name].armed_by(event)
        if state.waiting is not None and state.waiting.source == name:
            self.drop_waiting(Disarmed[event.name])
        # A refused command ends what stood, but the stream may go on with a better one.
        if event is not ArmingEvent.REFUSED and state.stream.is_open_for(name):
            state.stream = state.stream.closed(StreamEvent.ENDED, Disarmed[event.name])

    def disarm_all(self, event: ArmingEvent) -> None:
        """Disarm every source."""
        for name in self.state.sources:
            self.disarm(name, event)

    def drop_waiting(self, cause: Code, outcome: GoalOutcome = GoalOutcome.ABORTED) -> None:
        """Let nothing wait any more; a goal that did has ended."""
        waiting, self.state.waiting = self.state.waiting, None
        if waiting is not None and waiting.goal is not None:
            self.tell_ended(waiting.goal, Ending.of(outcome, cause))

    def latch_fault(self, *causes: str) -> None:
        """Latch a fault."""
        self.state.latches = self.state.latches.failed(*causes)
        self.disarm_all(ArmingEvent.LATCH)
        self.act(ActivityEvent.HALT, StopCause.FAULT)

    def overdue(self) -> None:
        """Say the stop that was not confirmed in time once more."""
        self.act(ActivityEvent.OVERDUE, StopCause.STOP_UNCONFIRMED)
        # An arm out of reach cannot confirm; when it is back it is still and disengaged.
        if self.state.driver.is_connected:
            self.latch_fault(FaultCause.STOP_UNCONFIRMED.code)
