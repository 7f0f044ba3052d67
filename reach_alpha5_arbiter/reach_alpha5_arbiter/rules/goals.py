"""Goals: taken, begun when the arm rests, followed, watched by feedback, slowed, ended."""

from __future__ import annotations

import math
from dataclasses import replace

from reach_alpha5_arbiter import admission, events
from reach_alpha5_arbiter.codes import RefusalCode, StopCause
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
from reach_alpha5_arbiter.trajectory import Failure, Goal, GoalKind
from reach_alpha5_common.command import MotionCommand

CAUSES = {
    Verdict.REACHED: StopCause.GOAL_REACHED,
    Verdict.STALLED: StopCause.GOAL_STALLED,
    Verdict.PATH: StopCause.PATH_LEFT,
    Verdict.LATE: StopCause.GOAL_MISSED,
    Verdict.BLIND: StopCause.NO_FEEDBACK,
}
"""Why the arm is stopped at the end of a goal that was not slowed."""


def on_goal(m: Machine, event: events.GoalAsked) -> None:
    """Take a goal. One that is refused leaves everything as it is."""
    state, goal = m.state, event.goal
    failure = admission.against_goal(event, admission.Situation(state, m.config))
    if failure is not None:
        m.refuse(failure[0], goal.source)
        m.tell_ended(goal, _failed(failure))
    elif goal.is_hold:
        _hold(m, goal)
    else:
        if state.lease.owner is None:
            m.change_owner(LeaseEvent.GOAL, goal.source)
        if goal.kind is GoalKind.GRIPPER and state.driver.report is not None:
            goal = replace(goal, joint_names=state.driver.report.joint_names[-1:])
        _replace(m, Waiting(goal.source, goal, state.now + goal.starts_in))


def _hold(m: Machine, goal: Goal) -> None:
    """Take a goal that asks for no motion: it is the neutral command among goals."""
    state, name = m.state, goal.source
    state.sources[name] = state.sources[name].armed_by(ArmingEvent.NEUTRAL)
    if state.lease.owner == name:
        _replace(m, Waiting(name, goal))
    elif state.motion.activity is Activity.STILL:
        m.tell_ended(goal, _reached())
    else:  # it can hold nothing that is not its own
        m.tell_ended(goal, Ending.of(GoalOutcome.ABORTED, RefusalCode.NOT_OWNER))


def _replace(m: Machine, waiting: Waiting) -> None:
    """Let a goal of the owner wait until what it had asked for has ended."""
    m.drop_waiting(StopCause.REPLACED)
    slows = m.state.motion.activity in GOAL_PHASES
    m.act(ActivityEvent.SLOW if slows else ActivityEvent.HALT, StopCause.REPLACED)
    m.state.waiting = waiting


def on_goal_cancelled(m: Machine, event: events.GoalCancelled) -> None:
    """Let a goal end along its path. One that has ended is no news."""
    state, cause = m.state, StopCause.GOAL_CANCELED
    waits = None if state.waiting is None else state.waiting.goal
    if waits is not None and waits.id == event.goal_id:
        m.drop_waiting(cause, GoalOutcome.CANCELED)
    if state.errand is not None and state.errand.goal.id == event.goal_id:
        m.act(ActivityEvent.SLOW, cause, Ending.of(GoalOutcome.CANCELED, cause))


def on_posture(m: Machine, event: events.PostureSeen) -> None:
    """Take where the joints are, and judge by it how the goal goes.

    One that does not tell of every joint of the arm tells nothing.
    """
    state = m.state
    report = state.driver.report
    if report is None or not set(report.joint_names) <= set(event.posture.joint_names):
        return
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
    if goal.is_hold:
        state.waiting = None
        m.tell_ended(goal, _reached())
        return
    posture = state.posture
    if posture is None or posture.at < state.rested_at or not posture.is_fresh(state.now, config):
        # The feedback may only just have been asked for.
        if waiting.begins_by == math.inf:
            state.waiting = replace(waiting, begins_by=state.now + config.feedback_timeout)
        elif state.now >= waiting.begins_by:
            m.drop_waiting(StopCause.NO_FEEDBACK)
        return
    state.waiting = None
    begun = Execution.begin(goal, posture, state.now, config)
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
    # Jaws that were never told to move have not met anything.
    unmoved = verdict is Verdict.STALLED and not (errand.is_obeyed and m.state.driver.is_obeying)
    if verdict is Verdict.RUNNING or unmoved:
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
