"""The judge's part for words: what is said to the driver, and what moves by it.

Whether something moves, fades, waits or rests is known here from the words and the feedback alone;
what is shown is compared with it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from arbiter_account import Account
from arbiter_goal_judge import GoalJudge
from arbiter_invariants import Findings, Invariant

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.config import ArbiterConfig
from reach_alpha5_common.command import (
    CommandKind,
    DriverCommand,
    JointCommand,
    MotionCommand,
    TwistCommand,
)

ROUNDING = 1e-9
"""[s]"""

SAID_WHILE_STILL = {StopCause.ESTOP, StopCause.DRIVER_HEARD, StopCause.SHUTDOWN}

MOTIONS = {CommandKind.INPUT: "input", CommandKind.TWIST: "twist", CommandKind.JOINT: "joint"}
"""The words that ask for motion, and where each has it."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A command that stands, or waits until a goal has ended."""

    source: str
    command: MotionCommand
    ends_at: float

    @classmethod
    def of(cls, event: events.Command, now: float) -> Standing:
        """Return what stands when a command is obeyed."""
        lifetime = event.command.lifetime
        return cls(event.source, event.command, now + lifetime if lifetime else math.inf)


class WordJudge:
    """What the rules say of words."""

    def __init__(
        self, config: ArbiterConfig, account: Account, goals: GoalJudge, findings: Findings
    ) -> None:
        self.config = config
        self.account, self.goals = account, goals
        self.demand = findings.demand
        self.moving: Standing | None = None
        self.waiting: Standing | None = None
        self.fading = ""
        """Whose motion fades: the last word was a stop that is not at once."""
        self.unconfirmed = False
        """Whether a stop was said that neither feedback nor its time-out has ended yet."""
        self.overdue_at = math.inf
        self.heard_at = math.inf
        """When something happened last."""
        self.overdue = False
        """Whether the stop became overdue when time passed last."""
        self.said_at = self.ended_at = -math.inf
        """When motion was said last, and when it was stopped last."""
        self.lapsed_of = ""
        """Whose motion the driver has ended by itself when time passed last."""
        self.sequence = 0

    def fork(self, account: Account, goals: GoalJudge) -> WordJudge:
        """Return an independent twin, which looks at these."""
        twin = copy.copy(self)
        twin.account, twin.goals = account, goals
        return twin

    @property
    def moves(self) -> bool:
        """Whether motion was said last."""
        return self.moving is not None or self.goals.followed is not None

    @property
    def mover(self) -> str:
        """Whose motion was said last; empty = none was."""
        return self.moving.source if self.moving is not None else self.goals.source

    # ---- what happens --------------------------------------------------------------------------

    def pass_time(self, now: float, said: Sequence[events.Send]) -> None:
        """Let time pass; `said` is what was said at this event."""
        account, config = self.account, self.config
        self.lapsed_of, self.overdue = "", False
        stands = self.moving.source if self.moving is not None else ""
        account.pass_time(now, self.moves or self.unconfirmed, stands)
        if self.moves:
            if now - account.disobeys_since >= config.driver_timeout:
                account.forget_neutral()
            if now >= self.said_at + config.command_lifetime:
                self.lapsed_of = self.mover
                account.disarm(self.lapsed_of)
        elif self.unconfirmed and now >= self.overdue_at:
            stops = bool(said) and said[0].command.kind is CommandKind.STOP
            self.demand(stops, Invariant.CONFIRMED_IN_TIME)
            # Had something else ended the fading at the same moment, the time would begin anew.
            cut = self.fading and stops and said[0].cause is not StopCause.STOP_UNCONFIRMED
            if not cut:
                self.overdue, self.unconfirmed, self.fading = True, False, ""
                account.rested_at = now
                if account.has_arm():
                    account.fail()
        account.close_idle_stream(now)
        if self.waiting is not None:
            # Whoever is held up has not heard a release yet either.
            if now - self.heard_at >= config.command_lifetime:
                account.disarm(self.waiting.source)
            if not account.neutral_seen[self.waiting.source]:
                self.waiting = None
        self.heard_at = now

    def is_busy_for(self, owner: str) -> bool:
        """Whether something of the owner moves, fades or waits."""
        waits = self.waiting is not None and self.waiting.source == owner
        goal = self.account.neutral_seen.get(owner, False) and self.goals.waits_for(owner)
        return self.moves or bool(self.fading) or waits or goal

    def judge_obeyed(self, event: events.Command, now: float, said: Sequence[events.Send]) -> None:
        """Judge that a moving command was not refused: it is said at once, or waits."""
        if isinstance(event.command, JointCommand):
            stream = self.account.stream
            known = stream is not None and (stream.source, stream.id, stream.kind) == (
                event.source, event.stream_id, 1,
            )  # fmt: skip
            self.demand(known, Invariant.STREAM_IS_OPEN)
        if self.goals.owns_arm:
            self.waiting = Standing.of(event, now)
            return
        self.waiting = None
        motions = [out for out in said if out.command.kind in MOTIONS]
        once = len(motions) == 1 and said[-1] is motions[0]
        self.demand(once, Invariant.PRESS_COUNTS)

    def forget_what_waits(self, event: events.Event, refused: bool, owner: str) -> None:
        """Drop what waits if it was released, replaced by its `owner`, or its source disarmed."""
        waiting = self.waiting
        if waiting is None:
            return
        released = (
            isinstance(event, events.Command)
            and event.source == waiting.source
            and event.command.is_neutral
        )
        goal_asked = isinstance(event, events.GoalAsked) and not refused
        # A goal of somebody else that is not refused asks for no motion, and is done with at once.
        replaced = goal_asked and event.goal.source == owner
        if released or replaced or not self.account.neutral_seen[waiting.source]:
            self.waiting = None

    def see_feedback(self, event: events.Event) -> None:
        """Take what feedback says about a stop, after all that was said at the event."""
        account = self.account
        if type(event) is events.JointFeedback:
            account.joints_rest = event.at_rest
        elif type(event) is events.ArmReport:
            account.arm_rests = event.state != 3
        if self.unconfirmed and account.joints_rest and account.arm_rests:
            self.unconfirmed, self.fading = False, ""
            account.rested_at = account.now

    # ---- what was said -------------------------------------------------------------------------

    def judge(self, event: events.Event, now: float, out: events.Send) -> None:
        """Judge a word."""
        command = out.command
        self.sequence += 1
        self.demand(command.sequence == self.sequence, Invariant.SEQUENCE_GROWS)
        if command.kind is CommandKind.STOP:
            self._judge_stop(event, now, out)
        elif command.kind is CommandKind.RESET:
            self.demand(type(event) is events.Reset, Invariant.RESET_IS_SAID)
            self.demand(not self.moves and not self.fading, Invariant.RESET_MOVES_NOTHING)
        else:
            self._judge_motion(event, now, command)

    def _judge_stop(self, event: events.Event, now: float, out: events.Send) -> None:
        command, cause, moving = out.command, out.cause, self.moving
        account, config, demand = self.account, self.config, self.demand
        ends = self.moves or bool(self.fading)
        whole = DriverCommand(
            CommandKind.STOP, command.sequence, command.stop_level, lifetime=command.lifetime
        )
        demand(command == whole, Invariant.STOP_IS_WHOLE)
        again = self.overdue and cause is StopCause.STOP_UNCONFIRMED
        demand(ends or again or cause in SAID_WHILE_STILL, Invariant.STOP_ONCE)
        asked = (
            moving is not None
            and isinstance(event, events.Command)
            and event.command.is_neutral
            and event.source == moving.source
            and cause is StopCause.NEUTRAL
        )
        lifetime = config.ease_time if asked else 0.0
        demand(command.lifetime == lifetime, Invariant.ONLY_ASKED_STOPS_FADE)
        level = min(account.estop_before, account.estop)
        demand(command.stop_level >= level, Invariant.LEVEL_IS_SAID)
        if ends:
            self.unconfirmed = True
            account.joints_rest = account.arm_rests = False
            self.overdue_at = now + command.lifetime + config.stop_confirm_timeout
        if self.moves:
            self.ended_at = now
        self.goals.judge_stop(cause)
        self.fading = moving.source if moving is not None and asked else ""
        self.moving = None

    def _judge_motion(self, event: events.Event, now: float, command: DriverCommand) -> None:
        demand, account, goals = self.demand, self.account, self.goals
        asked = command.motion
        alone = DriverCommand(command.kind, command.sequence, lifetime=command.lifetime)
        alone = replace(alone, **{MOTIONS[command.kind]: asked})
        demand(command == alone, Invariant.WORDS_ARE_KNOWN)
        demand(not asked.is_neutral, Invariant.NO_ZEROES)
        is_joint = isinstance(asked, JointCommand)
        if not self.moves:
            account.disobeys_since = math.inf
        if self.waiting is not None and not is_joint:
            self.moving, self.waiting = self.waiting, None
        elif isinstance(event, events.Command) and is_joint is isinstance(
            event.command, JointCommand
        ):
            self.moving = Standing.of(event, now)
        standing = self.moving
        if is_joint and (standing is None or not isinstance(event, events.Command)):
            if not demand(standing is None, Invariant.ONE_MOTION):
                return
            source, ends_at = goals.judge_setpoint(asked, now), math.inf
        else:
            if not demand(standing is not None, Invariant.COMMAND_STANDS) or standing is None:
                return
            source, ends_at = standing.source, standing.ends_at
            demand(asked == standing.command, Invariant.SAID_AS_IT_IS)
            demand(not goals.owns_arm, Invariant.WAITS_FOR_REST)
            self._judge_lifetime(asked)
        self.fading, self.unconfirmed, self.said_at = "", False, now
        if not source:
            return
        bound = min(ends_at, account.lapses_at(source))
        demand(
            0 < command.lifetime <= self.config.command_lifetime
            and now + command.lifetime <= bound + ROUNDING,
            Invariant.DEMAND_IS_BOUNDED,
        )

    def _judge_lifetime(self, asked: MotionCommand) -> None:
        if isinstance(asked, TwistCommand):
            longest = self.config.max_twist_lifetime
            self.demand(0 < asked.lifetime <= longest, Invariant.TWIST_ENDS)
        elif isinstance(asked, JointCommand):
            longest = self.config.command_lifetime
            self.demand(0 < asked.lifetime <= longest, Invariant.SETPOINT_ENDS)
