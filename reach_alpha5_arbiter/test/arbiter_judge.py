"""An independent judge of the arbiter: it knows the rules, not the code.

It hears the same events and outputs, keeps its own account of the world (`arbiter_account`), and
raises `Unsafe` with the names of all invariants that an output or the shown state breaks. What
they mean is in `arbiter_invariants`; the parts for words, goals and the lease are beside this one.
"""

from __future__ import annotations

from collections.abc import Sequence

from arbiter_account import Account
from arbiter_goal_judge import GoalJudge
from arbiter_invariants import Findings, Invariant
from arbiter_lease_judge import LeaseJudge
from arbiter_soundness import is_sound
from arbiter_word_judge import ROUNDING, WordJudge

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.config import ArbiterConfig
from reach_alpha5_arbiter.snapshot import Snapshot
from reach_alpha5_arbiter.tables import Activity
from reach_alpha5_common.command import CommandKind, JointCommand, StopLevel

NANO = 1_000_000_000


class Judge:
    """What the rules say, kept beside the arbiter."""

    def __init__(self, config: ArbiterConfig, seen: Snapshot) -> None:
        self.config = config
        self.findings = Findings()
        self.demand = self.findings.demand
        self.account = Account(config)
        self.goals = GoalJudge(config, self.account, self.findings)
        self.words = WordJudge(config, self.account, self.goals, self.findings)
        self.lease = LeaseJudge(self.account, self.findings)
        self.seen = seen
        self.counts: dict[tuple[str, str], int] = {}
        self.closed = False

    def fork(self) -> Judge:
        """Return an independent twin, for a fork of the arbiter, which counts refusals anew."""
        twin = Judge.__new__(Judge)
        twin.config, twin.seen, twin.closed = self.config, self.seen, self.closed
        twin.findings, twin.demand, twin.counts = self.findings, self.demand, {}
        twin.account = self.account.fork()
        twin.goals = self.goals.fork(twin.account)
        twin.words = self.words.fork(twin.account, twin.goals)
        twin.lease = self.lease.fork(twin.account)
        return twin

    @property
    def moves(self) -> bool:
        """Whether motion was said last."""
        return self.words.moves

    def observe(self, event: events.Event, now: float, outputs: list[events.Output]) -> None:
        """Judge what followed on an event at `now` [s].

        Raises:
            Unsafe: one or more invariants do not hold.
        """
        if self.closed:
            self.demand(not outputs, Invariant.SILENT_AFTER_EXIT)
        else:
            self._observe(event, now, outputs)
        self.findings.close()

    def _observe(self, event: events.Event, now: float, outputs: list[events.Output]) -> None:
        account, words, goals, before = self.account, self.words, self.goals, self.seen
        said = [out for out in outputs if type(out) is events.Send]
        was_unheard, goal_asked = account.report is None, bool(goals.open)
        rested = not (words.moves or words.unconfirmed)
        account.estop_before = account.estop
        words.pass_time(now, said)
        lapsed = account.estop > account.estop_before
        owner = self.lease.holder(now, words)
        # From goals a person takes the arm by moving it, also between two of them.
        rests = (rested or words.overdue) and not account.streams_for(owner)
        yields = owner == self.config.goal_source and (goal_asked or rests)
        codes = self._codes(event, outputs) if outputs else []
        if type(event) is events.Command:
            self._judge_obedience(event, now, codes, said)
        elif type(event) is events.Reset and not codes:
            self.demand(account.endpoints.all_clear(), Invariant.RESET_NEEDS_ENDPOINTS)
            resets = [send for send in said if send.command.kind is CommandKind.RESET]
            self.demand(len(resets) == 1, Invariant.RESET_IS_SAID)
        pressed = account.estop
        account.take(event, now, codes, owner)
        goals.take(event, codes, owner, now)
        words.forget_what_waits(event, bool(codes), owner)
        for out in outputs:
            self._judge_output(event, now, out)
        self._judge_duty(event, now, said, was_unheard, lapsed or account.estop > pressed)
        words.see_feedback(event)
        lapsed_of = words.lapsed_of
        self.demand(not lapsed_of or words.mover != lapsed_of, Invariant.LAPSED_ENDS)
        seen = self.seen
        self.lease.judge(event, now, owner, yields, seen.owner, seen.lease_epoch)
        self._judge_shown()
        if type(event) is events.Replayed:
            self._judge_replayed(event, codes, before)
        if words.moves or words.fading:
            self._judge_motion(event, now)
            self._judge_mover(event, now, codes)
        goals.judge_state(event, now, seen.activity)

    # ---- what was refused, and what had to be said ---------------------------------------------

    def _codes(self, event: events.Event, outputs: list[events.Output]) -> list[str]:
        """Return what was refused of the event, and judge how it was told."""
        codes = []
        for place, out in enumerate(outputs):
            if type(out) is not events.Refused:
                continue
            refusal = out.refusal
            key = refusal.code, refusal.source
            count = self.counts[key] = self.counts.get(key, 0) + 1
            told = bool(refusal.code and refusal.reason and refusal.source)
            self.demand(told and refusal.count == count, Invariant.REFUSAL_IS_EXPLAINED)
            # A goal that was due, and cannot begin, is refused by itself at any event.
            after = outputs[place + 1] if place + 1 < len(outputs) else None
            began = isinstance(after, events.GoalEnded) and after.ending.code == refusal.code
            if not began or isinstance(event, events.GoalAsked):
                codes.append(refusal.code)
        return codes

    def _judge_obedience(
        self, event: events.Command, now: float, codes: list[str], said: Sequence[events.Send]
    ) -> None:
        """Judge that a command was not refused."""
        account, demand = self.account, self.demand
        if codes or event.source not in account.sources:
            return
        neutral = event.command.is_neutral
        demand(is_sound(event.command), Invariant.MALFORMED_IS_REFUSED)
        ahead = event.stamp - event.wall
        demand(ahead <= self.config.max_future * NANO, Invariant.FUTURE_IS_REFUSED)
        newest = account.newest.get(event.source)
        if newest is not None:
            stamp, topic = newest
            demand(stamp <= event.stamp, Invariant.NEWEST_COUNTS)
            certain = stamp < event.stamp or topic == event.topic
            demand(certain or neutral, Invariant.ORDER_IS_CERTAIN)
        if not neutral:
            demand(event.veto is None, Invariant.VETO_COUNTS)
            self.words.judge_obeyed(event, now, said)

    def _judge_replayed(self, event: events.Replayed, codes: list[str], before: Snapshot) -> None:
        """Judge that what was said again was refused, and has moved and revived nothing."""
        words, demand, again = self.words, self.demand, Invariant.SAID_AGAIN_MOVES_NOTHING
        demand(event.problem.code in codes, again)
        for was, shown in zip(before.sources, self.seen.sources, strict=True):
            demand(was.alive or not shown.alive, again)
            demand(was.present or not shown.present, again)
            demand(not was.neutral_required or shown.neutral_required, again)
        if event.stops and not self.goals.gives_way:
            demand(event.source not in (words.mover, words.fading), again)

    def _judge_output(self, event: events.Event, now: float, out: events.Output) -> None:
        match out:
            case events.Send():
                self.words.judge(event, now, out)
            case events.StateChanged(snapshot):
                self.seen = snapshot
            case events.GoalEnded():
                self.goals.judge_end(event, out)
            case events.Challenge():
                asked = self.account.endpoints.asked(out, now)
                self.demand(asked, Invariant.ENDPOINTS_ARE_ASKED)

    def _judge_duty(
        self,
        event: events.Event,
        now: float,
        said: Sequence[events.Send],
        was_unheard: bool,
        estop_rose: bool,
    ) -> None:
        demand = self.demand
        kinds = [out.command.kind for out in said]
        pressed = type(event) is events.EStopPress and event.level != StopLevel.NONE
        if pressed or estop_rose:
            level = self.account.estop if estop_rose else StopLevel.of(event.level)
            levels = [out.command.stop_level for out in said if out.cause is StopCause.ESTOP]
            demand(bool(levels) and max(levels) >= level, Invariant.PRESS_IS_SAID)
        if was_unheard and type(event) is events.ArmReport:
            demand(CommandKind.STOP in kinds, Invariant.HEARD_DRIVER_IS_STOPPED)
        if type(event) is events.Shutdown:
            demand(bool(kinds) and kinds[-1] is CommandKind.STOP, Invariant.STOP_IS_LAST)
            demand(not self.goals.open, Invariant.GOAL_IS_ANSWERED)
            self.closed = True
        if type(event) is events.Tick:
            demand(not self.account.endpoints.unasked(now), Invariant.ENDPOINTS_ARE_ASKED)

    # ---- what is shown -------------------------------------------------------------------------

    def _judge_shown(self) -> None:
        """Judge what is shown, whether anything moves or not."""
        seen, account, words, demand = self.seen, self.account, self.words, self.demand
        demand(
            seen.estop_latched == bool(seen.estop_level) and seen.estop_level >= account.estop,
            Invariant.ESTOP_STANDS,
        )
        demand(seen.fault_latched or not account.faulted, Invariant.FAULT_STANDS)
        if seen.permitted:
            stopped = account.estop is not StopLevel.NONE or account.faulted
            demand(
                not stopped and account.endpoints.all_clear(),
                Invariant.PERMIT_IS_TRUE,
            )
        demand(not seen.stream.is_open or account.stream is not None, Invariant.STREAM_ENDS)
        activity = seen.activity
        jogs = words.moving is not None
        demand((activity is Activity.JOGGING) == jogs, Invariant.STATE_IS_TRUE)
        demand((activity is Activity.EASING) == bool(words.fading), Invariant.FADING_IS_CUT)
        if activity is Activity.STILL:
            demand(not words.unconfirmed, Invariant.REST_IS_CONFIRMED)
        else:
            demand(words.moves or words.unconfirmed, Invariant.STATE_IS_TRUE)

    def _judge_motion(self, event: events.Event, now: float) -> None:
        """Judge what moves or fades: nothing may stand against it."""
        account, words, demand = self.account, self.words, self.demand
        demand(account.endpoints.all_clear(), Invariant.ENDPOINTS_HOLD)
        demand(account.estop is StopLevel.NONE, Invariant.ESTOP_HOLDS)
        demand(not account.faulted, Invariant.FAULT_HOLDS)
        demand(type(event) is not events.Reset, Invariant.RESET_MOVES_NOTHING)
        demand(account.is_linked(), Invariant.LINK_HOLDS)
        demand(account.is_ready(), Invariant.READY_DRIVER)
        if words.moves:
            obeys = now - account.disobeys_since < self.config.driver_timeout
            demand(obeys, Invariant.OBEDIENT_DRIVER)
        standing = words.moving
        if standing is not None:
            demand(now < standing.ends_at, Invariant.LIFETIME_ENDS)
            if type(event) is events.Tick and not isinstance(standing.command, JointCommand):
                waits = now - words.said_at > self.config.repeat_period + ROUNDING
                demand(not waits, Invariant.KEPT_UP)

    def _judge_mover(self, event: events.Event, now: float, codes: list[str]) -> None:
        """Judge whose motion it is."""
        account, words, demand = self.account, self.words, self.demand
        name = words.mover or words.fading
        if not demand(name in account.sources, Invariant.OWNER_MOVES):
            return
        demand(not account.gone[name], Invariant.GONE_MOVES_NOTHING)
        demand(bool(account.beats[name]), Invariant.SILENT_MOVES_NOTHING)
        demand(account.voices(name) <= 1, Invariant.ONE_CLIENT)
        if self.goals.gives_way:
            return  # the lease and the arming may be those of who preempted it
        if type(event) is events.Command and event.source == name:
            demand(not codes, Invariant.REFUSAL_ENDS)
            stands = words.moving is not None and event.command.is_neutral
            demand(not stands, Invariant.RELEASE_STOPS)
        demand(account.neutral_seen[name], Invariant.NEUTRAL_FIRST)
        demand(self.seen.owner == name, Invariant.OWNER_MOVES)
