"""The judge's part for goals: what was asked, what is followed, what was answered."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace

from arbiter_account import Account
from arbiter_invariants import Findings, Invariant

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.config import ArbiterConfig
from reach_alpha5_arbiter.errand import GoalOutcome
from reach_alpha5_arbiter.tables import Activity
from reach_alpha5_arbiter.trajectory import Goal, GoalKind, Posture
from reach_alpha5_common.command import JointCommand, StopLevel

ROUNDING = 1e-9
"""[s], and of shares of a path."""

STEEPEST = 2.0
"""How much faster than on the average a joint may be on its way from rest to rest."""


@dataclass(frozen=True, slots=True)
class Followed:
    """The goal whose set-points are said."""

    goal: Goal
    start: tuple[float, ...]
    last: tuple[float, ...]
    """Positions of its first and of its last set-point."""
    said_at: float
    began_at: float
    share: float = 0.0
    """How far it is on its path, 0 to 1."""


class GoalJudge:
    """What the rules say of goals."""

    def __init__(self, config: ArbiterConfig, account: Account, findings: Findings) -> None:
        self.config = config
        self.account = account
        self.demand = findings.demand
        self.open: dict[str, Goal] = {}
        """Goals that were taken and have not been answered, the oldest first."""
        self.cancelled: frozenset[str] = frozenset()
        self.followed: Followed | None = None
        self.concluding: Goal | None = None
        """The goal whose stop was said and whose motion has not ended yet."""
        self.slowed_at = math.inf
        """When the goal that is followed was cancelled, replaced or preempted."""
        self.reached = False
        """The goal that concludes was stopped because it had reached its end."""
        self.posture: Posture | None = None

    def fork(self, account: Account) -> GoalJudge:
        """Return an independent twin, which looks at `account`."""
        twin = copy.copy(self)
        twin.account, twin.open = account, dict(self.open)
        return twin

    @property
    def owns_arm(self) -> bool:
        """Whether the motion of a goal has not ended yet."""
        return self.followed is not None or self.concluding is not None

    @property
    def source(self) -> str:
        """Whose the goal is that is followed."""
        return self.followed.goal.source if self.followed is not None else ""

    @property
    def gives_way(self) -> bool:
        """Whether the goal that is followed was cancelled, replaced or preempted."""
        return self.followed is not None and self.slowed_at < math.inf

    def waits_for(self, owner: str) -> bool:
        """Whether a goal of the owner has not been answered."""
        concluding = self.concluding.id if self.concluding is not None else ""
        return any(g.source == owner and g.id != concluding for g in self.open.values())

    # ---- what happens --------------------------------------------------------------------------

    def take(self, event: events.Event, codes: list[str], owner: str, now: float) -> None:
        """Take an event; `owner` held the lease before it."""
        match event:
            case events.PostureSeen(posture):
                report = self.account.report
                if report is not None and set(report.joint_names) <= set(posture.joint_names):
                    self.posture = posture
            case events.GoalCancelled(goal_id):
                self.cancelled |= {goal_id}
                if self.followed is not None and self.followed.goal.id == goal_id:
                    self._give_way(now)
            case events.GoalAsked(goal):
                self.demand(goal.id not in self.open, Invariant.GOAL_IS_ANSWERED)
                self.open[goal.id] = goal
                if not codes and owner == goal.source:
                    self._give_way(now)
            case events.Command() if not codes and self.followed is not None:
                if not event.command.is_neutral or owner == event.source:
                    self._give_way(now)

    def _give_way(self, now: float) -> None:
        self.slowed_at = min(self.slowed_at, now)

    def judge_setpoint(self, asked: JointCommand, now: float) -> str:
        """Judge a set-point of a goal; return whose it is, empty if nobody's."""
        if self.followed is None:
            self._begin(asked, now)
        followed = self.followed
        if followed is None:
            return ""
        goal = followed.goal
        share = self._share(asked, followed)
        kept = followed.share - ROUNDING <= share <= 1.0 + ROUNDING
        self.demand(kept, Invariant.PATH_IS_KEPT)
        self.followed = replace(
            followed, last=asked.positions, said_at=now, share=max(share, followed.share)
        )
        return goal.source

    def _begin(self, asked: JointCommand, now: float) -> None:
        self.demand(self.concluding is None, Invariant.WAITS_FOR_REST)
        goal = next(reversed(self.open.values()), None)
        if goal is None or goal.is_hold:
            self.demand(False, Invariant.GOAL_STANDS)
            return
        account, measured = self.account, self._measured()
        start = tuple(measured.get(name, math.nan) for name in asked.joint_names)
        posture = self.posture
        old = posture is None or posture.at < max(
            account.rested_at, now - self.config.goals.feedback_timeout
        )
        near = all(abs(at - to) < 1e-6 for at, to in zip(start, asked.positions, strict=True))
        self.demand(near and not old, Invariant.GOAL_BEGINS_WHERE_IT_IS)
        if len(asked.positions) != len(goal.points[-1].positions):
            self.demand(False, Invariant.GOAL_STANDS)
            return
        self.slowed_at, self.reached = math.inf, False
        self.followed = Followed(goal, start, asked.positions, now, now)

    def _measured(self) -> dict[str, float]:
        posture = self.posture
        if posture is None:
            return {}
        return dict(zip(posture.joint_names, posture.positions, strict=True))

    def _share(self, asked: JointCommand, followed: Followed) -> float:
        """Return how far a set-point is on the straight line of the goal; NaN = beside it."""
        target = followed.goal.points[-1].positions
        shares = [
            (at - start) / (to - start)
            for at, start, to in zip(asked.positions, followed.start, target, strict=True)
            if abs(to - start) > 1e-6
        ]
        if not shares:
            return followed.share
        return shares[0] if max(shares) - min(shares) < 1e-6 else math.nan

    def judge_stop(self, cause: StopCause | None) -> None:
        """Judge a stop as far as it ends a goal."""
        followed = self.followed
        if followed is None:
            # A success that something comes between is none.
            self.reached = False
            return
        self.followed, self.concluding = None, followed.goal
        self.reached = cause in (StopCause.GOAL_REACHED, StopCause.GOAL_STALLED)
        if cause is StopCause.GOAL_REACHED:
            self.demand(self._is_there(followed), Invariant.SUCCESS_IS_MEASURED)

    def _is_there(self, followed: Followed) -> bool:
        goal, posture = followed.goal, self.posture
        if posture is None or posture.at < followed.began_at:
            return False
        measured = self._measured()
        return all(
            abs(measured[name] - to) <= tolerance
            for name, to, tolerance in zip(
                self._joints(goal), goal.points[-1].positions, goal.goal_tolerances, strict=True
            )
        )

    def _joints(self, goal: Goal) -> tuple[str, ...]:
        if goal.kind is GoalKind.TRAJECTORY or self.posture is None:
            return goal.joint_names
        return self.posture.joint_names[-1:]

    def judge_end(self, event: events.Event, out: events.GoalEnded) -> None:
        """Judge the answer to a goal."""
        account, goal, outcome = self.account, self.open.pop(out.goal_id, None), out.ending.outcome
        if goal is None:
            self.demand(False, Invariant.GOAL_IS_ANSWERED)
            return
        followed = self.followed is not None and self.followed.goal.id == goal.id
        self.demand(not followed, Invariant.ANSWER_COMES_LAST)
        if outcome is GoalOutcome.CANCELED:
            self.demand(goal.id in self.cancelled, Invariant.CANCEL_IS_ASKED)
        concluded = self.concluding is not None and self.concluding.id == goal.id
        if outcome is GoalOutcome.SUCCEEDED and not goal.is_hold:
            holds = account.estop is StopLevel.NONE and not account.faulted
            self.demand(concluded and self.reached and holds, Invariant.SUCCESS_IS_MEASURED)
        if concluded:
            joints, arm = account.joints_rest, account.arm_rests
            if isinstance(event, events.JointFeedback):
                joints = event.at_rest
            elif isinstance(event, events.ArmReport):
                arm = event.state != 3
            unconfirmed = account.faulted or not account.has_arm()
            unconfirmed |= type(event) is events.Shutdown
            self.demand((joints and arm) or unconfirmed, Invariant.ANSWER_COMES_LAST)
            self.concluding = None
        self.cancelled -= {goal.id}

    # ---- how things stand ----------------------------------------------------------------------

    def judge_state(self, event: events.Event, now: float, activity: Activity) -> None:
        """Judge how things stand, and are shown, when an event is done with."""
        followed, demand = self.followed, self.demand
        follows = activity in (Activity.TRAJECTORY, Activity.SLOWING)
        demand(follows == (followed is not None), Invariant.STATE_IS_TRUE)
        if type(event) is not events.Shutdown:  # which answers goals without waiting for rest
            concludes = self.concluding is not None
            demand((activity is Activity.CONCLUDING) == concludes, Invariant.STATE_IS_TRUE)
        demand(len(self.open) <= 1 + self.owns_arm, Invariant.ONE_WAITS)
        if followed is not None:
            slows = activity is Activity.SLOWING
            demand(slows or not self.gives_way, Invariant.GOAL_GIVES_WAY)
            demand(self.gives_way or not slows, Invariant.STATE_IS_TRUE)
            self._judge_followed(event, now, followed)

    def _judge_followed(self, event: events.Event, now: float, followed: Followed) -> None:
        demand, goals, posture = self.demand, self.config.goals, self.posture
        in_time = now - self.slowed_at < goals.stop_time + ROUNDING
        demand(in_time, Invariant.GOAL_SLOWS_IN_TIME)
        seen_lately = posture is not None and now - posture.at <= goals.feedback_timeout
        demand(seen_lately, Invariant.GOAL_IS_WATCHED)
        if type(event) is events.PostureSeen:
            self._judge_tracking(followed, event.posture)
        elif type(event) is events.Tick:
            waits = now - followed.said_at > self.config.setpoint_period + ROUNDING
            demand(not waits, Invariant.KEPT_UP)

    def _judge_tracking(self, followed: Followed, posture: Posture) -> None:
        """Judge how far the joints are from anywhere where they may be wanted to be.

        What was wanted when they were measured is on the path, not before the set-point that was
        said last if they were measured after it, and not farther on than the arm could be.
        """
        goal, at, goals = followed.goal, posture.at, self.config.goals
        target = goal.points[-1].positions
        gripper = goal.kind is GoalKind.GRIPPER
        way = max(abs(to - start) for to, start in zip(target, followed.start, strict=True))
        takes = way / goals.gripper_speed if gripper else goal.points[-1].at
        if not followed.began_at <= at < followed.began_at + takes:
            return
        since_last = at - followed.said_at
        more = min(1.0, followed.share + max(0.0, since_last) * STEEPEST / takes)
        least = followed.share if since_last >= 0.0 else 0.0
        measured = self._measured()
        for name, start, to, tolerance in zip(
            self._joints(goal), followed.start, target, goal.path_tolerances, strict=True
        ):
            ends = start + least * (to - start), start + more * (to - start)
            near = min(ends) - tolerance <= measured[name] <= max(ends) + tolerance
            self.demand(near, Invariant.PATH_IS_WATCHED)
