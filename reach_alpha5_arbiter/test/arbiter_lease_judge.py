"""The judge's part for the lease: who holds it, who may have got it, whose it is no more."""

from __future__ import annotations

import copy
import math

from arbiter_account import Account
from arbiter_invariants import Findings, Invariant
from arbiter_word_judge import WordJudge

from reach_alpha5_arbiter import events


class LeaseJudge:
    """What the rules say of the lease."""

    def __init__(self, account: Account, findings: Findings) -> None:
        self.account = account
        self.demand = findings.demand
        self.owner = ""
        self.epoch = 0
        """As they were shown last."""
        self.since = -math.inf
        """When [s] it changed hands."""

    def fork(self, account: Account) -> LeaseJudge:
        """Return an independent twin, which looks at `account`."""
        twin = copy.copy(self)
        twin.account = account
        return twin

    def holder(self, now: float, words: WordJudge) -> str:
        """Return who holds the lease when time has passed, and before the event."""
        owner, account = self.owner, self.account
        if not owner or account.idled == owner or not account.is_live(owner):
            return ""
        idle_since = max(self.since, words.ended_at)
        if now - idle_since < account.sources[owner].idle_release:
            return owner
        return owner if words.is_busy_for(owner) or account.streams_for(owner) else ""

    def judge(
        self, event: events.Event, now: float, held: str, yields: bool, owner: str, epoch: int
    ) -> None:
        """Judge who is shown to hold the lease, with its epoch.

        Args:
            event: what happened.
            now: when [s].
            held: who held the lease before it.
            yields: whether who held it was the goal source, with a goal or at rest.
            owner: who is shown to hold it.
            epoch: which is shown.
        """
        before, demand = self.owner, self.demand
        if type(event) is events.Reset:
            demand(owner in ("", before), Invariant.RESET_MOVES_NOTHING)
        demand(epoch >= self.epoch + (owner != before), Invariant.EPOCH_COUNTS)
        self.owner, self.epoch = owner, epoch
        if not owner:
            return
        live = demand(self.account.is_live(owner), Invariant.OWNER_IS_THERE)
        if owner == held:
            return
        asks, takes = self._asks(event, owner, yields)
        if owner == before and live and not asks:
            demand(False, Invariant.IDLE_LETS_GO)
        else:
            demand(asks and (not held or takes), Invariant.LEASE_IS_FREE)
        self.since = now

    def _asks(self, event: events.Event, owner: str, yields: bool) -> tuple[bool, bool]:
        """Return whether the owner asks for the lease, and whether it may take it from another."""
        person = self.account.sources[owner].person
        match event:
            case events.Acquire(source, _, take):
                return source == owner, take and person
            case events.Command(source, command):
                return source == owner and not command.is_neutral, person and yields
            case events.OpenStream(source):
                return source == owner, False
            case events.GoalAsked(goal):
                return goal.source == owner, False
        return False, False
