"""Ways to break the arbiter's core on purpose.

Each gives a function without arguments that makes a context, and the context gives the core to
walk with; what was patched for it is whole again afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any
from unittest import mock

from reach_alpha5_arbiter import admission, events
from reach_alpha5_arbiter.codes import RefusalCode, StopCause
from reach_alpha5_arbiter.config import ArbiterConfig
from reach_alpha5_arbiter.core import MotionArbiter
from reach_alpha5_arbiter.driver import BLOCKS, Standing
from reach_alpha5_arbiter.endpoint import Endpoint
from reach_alpha5_arbiter.motion import asking
from reach_alpha5_arbiter.tables import Activity, Machine, Row
from reach_alpha5_common.command import (
    STILL,
    CommandKind,
    DriverCommand,
    JointCommand,
    MotionCommand,
)

Core = Callable[[ArbiterConfig], MotionArbiter]
Making = Callable[[], AbstractContextManager[Core]]
Outputs = list[events.Output]


def by_hand(core: Core) -> Making:
    """A core that was written to be wrong."""
    return lambda: nullcontext(core)


def patched(target: object, name: str, wrong: object) -> Making:
    """The core with another function or attribute somewhere."""

    @contextmanager
    def making() -> Iterator[Core]:
        with mock.patch.object(target, name, wrong):
            yield MotionArbiter

    return making


def with_row(machine: Machine[Any, Any], row: Row[Any, Any]) -> Making:
    """The core with another row in one of its tables."""

    @contextmanager
    def making() -> Iterator[Core]:
        with mock.patch.dict(machine._row, {(row.state, row.event): row}):
            yield MotionArbiter

    return making


def unminding(standing: Standing) -> Making:
    """The core that does not mind one standing of the driver."""

    @contextmanager
    def making() -> Iterator[Core]:
        with mock.patch.dict(BLOCKS):
            del BLOCKS[standing]
            yield MotionArbiter

    return making


def unchecked(*codes: RefusalCode) -> Making:
    """The core that lacks some checks of a command."""
    checks = admission._against

    def fewer(*args: Any) -> Iterator[RefusalCode]:
        return (code for code in checks(*args) if code not in codes)

    return patched(admission, "_against", fewer)


def taking_for_free(
    event: events.Acquire, source: admission.Source | None, owner: str | None
) -> Any:
    """The check of `acquire_lease`, of one who thinks that nobody holds the lease."""
    return ACQUIRE_CHECK(event, source, None)


ACQUIRE_CHECK = admission.against_acquire


def configured(**values: Any) -> Making:
    """The core with other settings than those it was given."""
    return by_hand(lambda config: MotionArbiter(replace(config, **values)))


def configured_sources(name: str, factor: float) -> Making:
    """The core that takes a setting of each source to be `factor` times as much."""

    def make(config: ArbiterConfig) -> MotionArbiter:
        sources = (
            replace(source, **{name: factor * getattr(source, name)}) for source in config.sources
        )
        return MotionArbiter(replace(config, sources=tuple(sources)))

    return by_hand(make)


def hearing(change: Callable[[events.Event], events.Event]) -> Making:
    """The core that hears something else."""

    class Hears(MotionArbiter):
        def handle(self, event: events.Event, now: float) -> Outputs:
            return super().handle(change(event), now)

    return by_hand(Hears)


def deaf(kind: type[events.Event]) -> Making:
    """The core that does not hear one kind of event."""
    return hearing(lambda event: events.Tick() if isinstance(event, kind) else event)


def saying(change: Callable[[events.Event, events.Output], events.Output | None]) -> Making:
    """The core that says something else, or nothing (None)."""

    class Says(MotionArbiter):
        def handle(self, event: events.Event, now: float) -> Outputs:
            outputs = super().handle(event, now)
            return [said for out in outputs if (said := change(event, out)) is not None]

    return by_hand(Says)


def mute(cause: StopCause) -> Making:
    """The core that does not say the stop of one cause; what it does say is numbered well."""

    class Mute(MotionArbiter):
        unsaid = 0

        def handle(self, event: events.Event, now: float) -> Outputs:
            outputs: Outputs = []
            for out in super().handle(event, now):
                if isinstance(out, events.Send):
                    if out.cause is cause:
                        self.unsaid += 1
                        continue
                    number = out.command.sequence - self.unsaid
                    out = replace(out, command=replace(out.command, sequence=number))
                outputs.append(out)
            return outputs

    return by_hand(Mute)


def speaking(kind: CommandKind, change: Callable[[DriverCommand], DriverCommand]) -> Making:
    """The core that says one kind of word differently."""
    return saying(
        lambda event, out: (
            replace(out, command=change(out.command))
            if isinstance(out, events.Send) and out.command.kind is kind
            else out
        )
    )


def showing(**values: Any) -> Making:
    """The core that shows something that is not so."""
    return saying(
        lambda event, out: (
            events.StateChanged(replace(out.snapshot, **values))
            if isinstance(out, events.StateChanged)
            else out
        )
    )


def refusing(**values: Any) -> Making:
    """The core that tells its refusals wrongly."""
    return saying(
        lambda event, out: (
            events.Refused(replace(out.refusal, **values))
            if isinstance(out, events.Refused)
            else out
        )
    )


class Immortal(MotionArbiter):
    """Says the last stop, and goes on."""

    def handle(self, event: events.Event, now: float) -> Outputs:
        core = self.fork() if isinstance(event, events.Shutdown) else self
        return MotionArbiter.handle(core, event, now)


class SwallowsFirst(MotionArbiter):
    """Takes the first press for no more than a wish for the lease."""

    def handle(self, event: events.Event, now: float) -> Outputs:
        owner = self.snapshot(now).owner
        outputs = super().handle(event, now)
        if isinstance(event, events.Command) and not owner:
            return [out for out in outputs if not isinstance(out, events.Send)]
        return outputs


class Remembers(MotionArbiter):
    """Says the last motion again whatever came since."""

    kind = CommandKind.INPUT
    last: DriverCommand | None = None
    said = 0

    def handle(self, event: events.Event, now: float) -> Outputs:
        outputs = super().handle(event, now)
        for out in outputs:
            if isinstance(out, events.Send):
                self.said = out.command.sequence
                if out.command.kind is self.kind:
                    self.last = out.command
        if isinstance(event, events.Tick) and self.last is not None and not outputs:
            return [events.Send(replace(self.last, sequence=self.said + 1))]
        return outputs


class Streams(Remembers):
    """Says zeroes while it is idle."""

    last = DriverCommand(CommandKind.INPUT, input=STILL, lifetime=0.1)


class KeepsTheDead(MotionArbiter):
    """Keeps the lease with who had it, until somebody else has it."""

    owner = ""

    def handle(self, event: events.Event, now: float) -> Outputs:
        outputs = super().handle(event, now)
        for place, out in enumerate(outputs):
            if isinstance(out, events.StateChanged):
                self.owner = out.snapshot.owner or self.owner
                outputs[place] = events.StateChanged(replace(out.snapshot, owner=self.owner))
        return outputs


class GrantsOnReset(MotionArbiter):
    """Gives the lease to the first source when it is reset."""

    def handle(self, event: events.Event, now: float) -> Outputs:
        outputs = super().handle(event, now)
        if isinstance(event, events.Reset):
            state = self.snapshot(now)
            name, epoch = state.sources[0].name, state.lease_epoch + 1
            outputs.append(events.StateChanged(replace(state, owner=name, lease_epoch=epoch)))
        return outputs


class SaysSetpointsAgain(MotionArbiter):
    """Says the last set-point again when the arm is still, and nothing is asked of it."""

    said: DriverCommand | None = None

    def handle(self, event: events.Event, now: float) -> Outputs:
        outputs = super().handle(event, now)
        for out in outputs:
            if isinstance(out, events.Send) and out.command.kind is CommandKind.JOINT:
                self.said = out.command
        still = self.state.motion.activity is Activity.STILL and self.state.waiting is None
        if self.said is not None and still and isinstance(event, events.Tick):
            self.state.sequence += 1
            again = replace(self.said, sequence=self.state.sequence)
            self.said = None
            return [*outputs, events.Send(again)]
        return outputs


class ResetsAnyway(MotionArbiter):
    """Resets whatever the e-stop endpoints say."""

    def handle(self, event: events.Event, now: float) -> Outputs:
        if not isinstance(event, events.Reset):
            return super().handle(event, now)
        with mock.patch.object(Endpoint, "is_clear", property(lambda self: True)):
            return super().handle(event, now)


def bounding_twists_alone(command: MotionCommand, config: ArbiterConfig) -> Any:
    """The check of lifetimes, of one who does not mind those of set-points."""
    return None if isinstance(command, JointCommand) else LIFETIME_CHECK(command, config)


LIFETIME_CHECK = admission._against_lifetime


class AnswersTwice(MotionArbiter):
    """Answers each goal twice."""

    def handle(self, event: events.Event, now: float) -> Outputs:
        outputs = super().handle(event, now)
        return [*outputs, *(out for out in outputs if isinstance(out, events.GoalEnded))]


class Impatient(MotionArbiter):
    """Says what has to wait until a goal has ended at once."""

    def handle(self, event: events.Event, now: float) -> Outputs:
        waited = self.state.waiting
        outputs = super().handle(event, now)
        waiting = self.state.waiting
        if waiting is not None and waiting is not waited and waiting.goal is None:
            self.state.sequence += 1
            number = self.state.sequence
            said = replace(asking(waiting.what, 0.1), sequence=number)
            self.state.waiting = None
            return [*outputs, events.Send(said)]
        return outputs


class FollowsBeside(MotionArbiter):
    """Says a set-point beside the command that stands."""

    def handle(self, event: events.Event, now: float) -> Outputs:
        outputs = super().handle(event, now)
        if isinstance(event, events.Tick) and self.state.motion.command is not None:
            self.state.sequence += 1
            joint = JointCommand(("axis_e",), (1.0,), (0.0,), 0.1)
            said = replace(asking(joint, 0.1), sequence=self.state.sequence)
            return [*outputs, events.Send(said)]
        return outputs
