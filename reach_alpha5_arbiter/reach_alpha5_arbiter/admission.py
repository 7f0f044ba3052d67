"""What stands against a command or a request: every check, in order, and nothing but checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reach_alpha5_arbiter.codes import RefusalCode
from reach_alpha5_arbiter.driver import BLOCKS, Driver
from reach_alpha5_arbiter.events import Acquire, Command, Return
from reach_alpha5_arbiter.latches import Latches
from reach_alpha5_arbiter.motion import Lease
from reach_alpha5_arbiter.source import Place, Source
from reach_alpha5_arbiter.tables import Liveness
from reach_alpha5_common.command import MotionCommand, StopLevel, TwistCommand
from reach_alpha5_common.refusal import Problem

NANO = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Situation:
    """What a command meets."""

    latches: Latches
    driver: Driver
    owner: str | None
    max_future: float
    """[s]"""
    max_twist_lifetime: float
    """[s]"""


def against_command(event: Command, source: Source, situation: Situation) -> Problem | None:
    """Return the first thing that stands against the command, or None."""
    malformed = event.command.problem() or _against_lifetime(
        event.command, situation.max_twist_lifetime
    )
    if malformed is not None:
        return malformed
    for code in _against(event, source, situation):
        return code.problem()
    return None


def order_after(event: Command, source: Source, problem: Problem | None) -> Place | None:
    """Return the place that those of later commands are compared with; None = any is in order.

    A neutral command that is too old restarts the order: were it not so, a sender whose clock was
    set back would be locked out, and the arm could not be steered by it.
    """
    stale = problem is not None and problem.code == RefusalCode.STALE_STAMP.code
    obeyed = problem is None or (stale and event.command.is_neutral)
    return Place(event.stamp, event.topic) if obeyed else source.newest


def against_acquire(event: Acquire, source: Source | None, owner: str | None) -> Problem | None:
    """Return the first thing that stands against acquiring or taking the lease, or None."""
    problem = _against_client(source, event.client_id)
    if source is None or problem is not None or owner in (None, event.source):
        return problem
    if not event.take:
        return RefusalCode.LEASE_HELD.problem(f"owner: {owner}")
    return None if source.config.person else RefusalCode.NOT_A_PERSON.problem()


def against_return(event: Return, source: Source | None, lease: Lease) -> Problem | None:
    """Return the first thing that stands against returning the lease, or None."""
    problem = _against_client(source, event.client_id)
    if problem is not None:
        return problem
    if lease.owner != event.source:
        return RefusalCode.NOT_OWNER.problem(f"owner: {lease.owner or 'nobody'}")
    if event.lease_epoch not in (0, lease.epoch):
        return RefusalCode.WRONG_EPOCH.problem(f"present epoch: {lease.epoch}")
    return None


def _against(event: Command, source: Source, situation: Situation) -> Iterator[RefusalCode]:
    yield from _against_presence(source)
    if event.stamp - event.wall > situation.max_future * NANO:
        yield RefusalCode.FUTURE_STAMP
    place = Place(event.stamp, event.topic)
    if source.newest is not None and place.is_before(source.newest):
        yield RefusalCode.STALE_STAMP
    if event.command.is_neutral:
        return
    if source.newest is not None and place.is_ambiguous_with(source.newest):
        yield RefusalCode.STALE_STAMP
    if situation.latches.estop is not StopLevel.NONE:
        yield RefusalCode.ESTOP_LATCHED
    if situation.latches.is_faulted:
        yield RefusalCode.FAULT_LATCHED
    block = BLOCKS.get(situation.driver.standing)
    if block is not None:
        yield block[0]
    if situation.owner not in (None, event.source):
        yield RefusalCode.NOT_OWNER
    if not source.is_armed:
        yield RefusalCode.NEUTRAL_REQUIRED


def _against_lifetime(command: MotionCommand, longest: float) -> Problem | None:
    """Say why a twist could run away: its lifetime is none, or beyond `longest` [s]."""
    if not isinstance(command, TwistCommand) or command.is_neutral:
        return None
    if 0.0 < command.lifetime <= longest:
        return None
    return RefusalCode.BAD_LIFETIME.problem(
        f"lifetime is {command.lifetime:g} s, the longest {longest:g} s"
    )


def _against_presence(source: Source) -> Iterator[RefusalCode]:
    if source.liveness is not Liveness.LIVE:
        yield RefusalCode.SOURCE_NOT_ALIVE
    if len(source.clients) > 1:
        yield RefusalCode.TWO_CLIENTS


def _against_client(source: Source | None, client_id: str) -> Problem | None:
    if source is None:
        return RefusalCode.UNKNOWN_SOURCE.problem()
    for code in _against_presence(source):
        return code.problem()
    if client_id != source.client_id:
        return RefusalCode.WRONG_CLIENT.problem(client_id[:40])
    return None
