"""Cores that were broken in what they do about goals, streams and e-stop endpoints."""

from __future__ import annotations

from dataclasses import replace

from arbiter_breaking import (
    AnswersTwice,
    FollowsBeside,
    Impatient,
    Making,
    ResetsAnyway,
    SaysSetpointsAgain,
    bounding_twists_alone,
    by_hand,
    configured,
    hearing,
    patched,
    saying,
    showing,
    speaking,
    unchecked,
    with_row,
)
from arbiter_catching import broken
from arbiter_invariants import Invariant as I

from reach_alpha5_arbiter import admission, events
from reach_alpha5_arbiter.codes import RefusalCode
from reach_alpha5_arbiter.errand import GoalOutcome
from reach_alpha5_arbiter.tables import (
    ACTIVITY,
    Activity,
    ActivityEvent,
    Row,
    Word,
)
from reach_alpha5_arbiter.trajectory import GoalConfig
from reach_alpha5_common.command import (
    CommandKind,
    DriverCommand,
)


def asked_goal(**change: object) -> Making:
    """The core that hears goals otherwise than they were asked."""
    return hearing(
        lambda event: (
            replace(event, goal=replace(event.goal, **change))
            if isinstance(event, events.GoalAsked)
            else event
        )
    )


def beside(command: DriverCommand) -> DriverCommand:
    """Return what is said, with a joint off its path while it moves."""
    joint = command.joint
    moved = (joint.positions[0] + 0.01 * joint.velocities[0], *joint.positions[1:])
    return replace(command, joint=replace(joint, positions=moved))


GOAL_MISTAKES = (
    broken(
        "set-points are said again",
        by_hand(SaysSetpointsAgain),
        I.GOAL_STANDS,
    ),
    broken(
        "a goal begins somewhere else",
        hearing(
            lambda event: (
                replace(event, posture=replace(event.posture, positions=(0.45,) * 4 + (0.004,)))
                if isinstance(event, events.PostureSeen)
                else event
            )
        ),
        I.GOAL_BEGINS_WHERE_IT_IS,
    ),
    broken("a preempting command is said at once", by_hand(Impatient), I.WAITS_FOR_REST),
    broken("a goal is said beside a command", by_hand(FollowsBeside), I.ONE_MOTION),
    broken(
        "a goal that is replaced is not answered",
        saying(
            lambda event, out: (
                None
                if isinstance(out, events.GoalEnded) and out.ending.code == "replaced"
                else out
            )
        ),
        I.ONE_WAITS,
    ),
    broken(
        "a goal does not give way",
        with_row(ACTIVITY, Row(Activity.TRAJECTORY, ActivityEvent.SLOW, Activity.TRAJECTORY)),
        I.GOAL_GIVES_WAY,
    ),
    broken(
        "a goal slows down for long",
        configured(goals=GoalConfig(stop_time=0.5)),
        I.GOAL_SLOWS_IN_TIME,
    ),
    broken(
        "a joint leaves its path",
        speaking(CommandKind.JOINT, beside),
        I.PATH_IS_KEPT,
    ),
    broken(
        "the path is not watched",
        asked_goal(path_tolerances=(9.0,) * 4),
        I.PATH_IS_WATCHED,
    ),
    broken(
        "much patience with the feedback",
        configured(goals=GoalConfig(stop_time=0.15, feedback_timeout=5.0)),
        I.GOAL_IS_WATCHED,
    ),
    broken("goals are answered twice", by_hand(AnswersTwice), I.GOAL_IS_ANSWERED),
    broken(
        "a goal is answered before it has ended",
        with_row(
            ACTIVITY, Row(Activity.TRAJECTORY, ActivityEvent.HALT, Activity.STILL, Word.STOP)
        ),
        I.ANSWER_COMES_LAST,
    ),
    broken(
        "anywhere is where it should be",
        asked_goal(goal_tolerances=(9.0,) * 4),
        I.SUCCESS_IS_MEASURED,
    ),
    broken(
        "a goal that ends was cancelled",
        saying(
            lambda event, out: (
                replace(out, ending=replace(out.ending, outcome=GoalOutcome.CANCELED))
                if isinstance(out, events.GoalEnded)
                else out
            )
        ),
        I.CANCEL_IS_ASKED,
    ),
    broken(
        "a veto does not count",
        hearing(
            lambda event: replace(event, veto=None) if isinstance(event, events.Command) else event
        ),
        I.VETO_COUNTS,
    ),
    broken(
        "a stream is open for ever",
        hearing(
            lambda event: (
                replace(event, idle_timeout=1.0) if isinstance(event, events.OpenStream) else event
            )
        ),
        I.STREAM_ENDS,
    ),
    broken(
        "a set-point lasts as long as it says",
        patched(admission, "_against_lifetime", bounding_twists_alone),
        I.SETPOINT_ENDS,
    ),
    broken(
        "endpoints are not asked",
        saying(lambda event, out: None if isinstance(out, events.Challenge) else out),
        I.ENDPOINTS_ARE_ASKED,
    ),
    broken(
        "a reset does not wait for endpoints",
        by_hand(ResetsAnyway),
        I.RESET_NEEDS_ENDPOINTS,
    ),
    broken(
        "endpoints do not matter when an e-stop does not",
        unchecked(RefusalCode.ESTOP_LATCHED),
        I.ENDPOINTS_HOLD,
    ),
    broken("everything is permitted", showing(permitted=True), I.PERMIT_IS_TRUE),
)
