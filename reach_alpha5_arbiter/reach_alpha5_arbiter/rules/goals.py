"""Goals: taken, begun when the arm rests, followed, watched by feedback, slowed, ended."""

from __future__ import annotations

from dataclasses import replace

from reach_alpha5_arbiter import admission, events
from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.errand import Ending, Errand, GoalOutcome, Waiting
from reach_alpha5_arbiter.execution import Execution, Verdict
from reach_alpha5_arbiter.machine import Machine
from reach_alpha5_arbiter.tables import (
    FOLLOWING,
    GOAL_PHASES,
    Activity,
    ActivityEvent,
    ArmingEvent,
    LeaseEvent,
)
from reach_alpha5_arbiter.trajectory import Failure, Goal
from reach_alpha5_common.command import MotionCommand

CAUSES = {
    Verdict.REACHED: StopCause.GOAL_REACHED,
    Verdict.STALLED: StopCause.GOAL_STALLED,
    Verdict.PATH: StopCause.PATH_LEFT,
    Verdict.LATE: StopCause.GOAL_MISSED,
    Verdict.BLIND: StopCause.NO_FEEDBACK,
}
"""Why the arm is stopped at the end of a goal that was not slowed."""

SUCCESSES = frozenset({Verdict.REACHED, Verdict.STALLED})


def on_goal(m: Machine, event: events.GoalAsked) -> None:
    """Take a goal. One that is refused leaves everything as it is."""
    state, goal = m.state, event.goal
    name = goal.source
    failure = admission.against_goal(event, admission.Situation(state, m.config))
    if failure is not None:
        m.refuse(failure[0], name)
        m.tell_ended(goal, _failed(failure))
        return
    if goal.is_hold:
        # It asks for no motion at all: it is the neutral command among goals.
        state.sources[name] = state.sources[name].armed_by(ArmingEvent.NEUTRAL)
    elif state.lease.owner is None:
        m.change_owner(LeaseEvent.GOAL, name)
    if state.lease.owner != name:
        m.tell_ended(goal, _reached())
        return
    m.drop_waiting(StopCause.REPLACED)
    slows = state.motion.activity in GOAL_PHASES
    m.act(ActivityEvent.SLOW if slows else ActivityEvent.HALT, StopCause.REPLACED)
    state.waiting = Waiting(name, goal, state.now + goal.starts_in)


def on_goal_cancelled(m: Machine, event: events.GoalCancelled) -> None:
    """Let a goal end along its path. One that has ended is no news."""
    state, cause = m.state, StopCause.GOAL_CANCELED
    waits = None if state.waiting is None else state.waiting.goal
    if waits is not None and waits.id == event.goal_id:
        m.drop_waiting(cause, GoalOutcome.CANCELED)
    if state.errand is not None and state.errand.goal.id == event.goal_id:
        m.act(ActivityEvent.SLOW, cause, Ending.of(GoalOutcome.CANCELED, cause))


def on_posture(m: Machine, event: events.PostureSeen) -> None:
    """Take where the joints are, and judge by it how the goal goes."""
    state = m.state
    state.posture = event.posture
    if state.errand is not None and state.motion.activity in FOLLOWING:
        seen = state.errand.execution.seen(event.posture)
        state.errand = replace(state.errand, execution=seen)
        m.out.append(events.GoalProgress(seen, event.posture))
        _judge(m, state.errand)


def let_time_pass(m: Machine) -> None:
    """Judge how the goal goes, also when no feedback comes."""
    if m.state.errand is not None and m.state.motion.activity in FOLLOWING:
        _judge(m, m.state.errand)


def say_next(m: Machine) -> None:
    """Say the next set-point, if it is due."""
    motion = m.state.motion
    if motion.activity not in FOLLOWING:
        return
    # Half a period: a tick that comes a little early must not wait for the next one.
    if m.state.now - motion.said_at >= m.config.setpoint_period / 2:
        m.follow()


def take_up(m: Machine) -> None:
    """Let what waits begin, if the arm rests and its time has come."""
    state, waiting = m.state, m.state.waiting
    still = state.motion.activity is Activity.STILL
    if waiting is None or not still or state.now < waiting.starts_at:
        return
    if isinstance(waiting.what, Goal):
        _begin(m, waiting, waiting.what)
    else:
        _move(m, waiting, waiting.what)


def _move(m: Machine, waiting: Waiting, command: MotionCommand) -> None:
    m.state.waiting = None
    if m.state.now < waiting.ends_at:
        m.move(command, waiting.ends_at)


def _begin(m: Machine, waiting: Waiting, goal: Goal) -> None:
    state, config = m.state, m.config.goals
    if not goal.is_hold and not admission.is_seen(state.posture, state.now, config):
        # The feedback may only just have been asked for.
        if waiting.begins_by > state.now + config.feedback_timeout:
            state.waiting = replace(waiting, begins_by=state.now + config.feedback_timeout)
            return
        if state.now < waiting.begins_by:
            return
    state.waiting = None
    if goal.is_hold:
        m.tell_ended(goal, _reached())
        return
    if state.posture is None:
        m.tell_ended(goal, Ending.of(GoalOutcome.ABORTED, StopCause.NO_FEEDBACK))
        return
    begun = Execution.begin(goal, state.posture, state.now, config)
    if isinstance(begun, Execution):
        state.errand = Errand(begun)
        m.follow()
    else:
        m.refuse(begun[0], goal.source)
        m.tell_ended(goal, _failed(begun))


def _judge(m: Machine, errand: Errand) -> None:
    """Stop the arm if the goal has come to an end, good or bad."""
    posture, now = m.state.posture, m.state.now
    assert posture is not None
    verdict = errand.execution.verdict(posture, now)
    if verdict is Verdict.RUNNING:
        return
    if verdict is Verdict.SLOWED:
        m.act(ActivityEvent.HALT, errand.slowed_for, errand.ending)
        return
    cause = CAUSES[verdict]
    failure = errand.execution.failure(posture, now)
    stalled = verdict is Verdict.STALLED
    ending = replace(_reached(), code=cause.code, stalled=stalled)
    m.act(ActivityEvent.HALT, cause, ending if failure is None else _failed(failure))


def _reached() -> Ending:
    return Ending.of(GoalOutcome.SUCCEEDED, StopCause.GOAL_REACHED)


def _failed(failure: Failure) -> Ending:
    problem, error = failure
    return Ending(GoalOutcome.ABORTED, problem.code, problem.reason, error)
