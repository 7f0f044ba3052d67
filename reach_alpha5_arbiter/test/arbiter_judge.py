"""An independent judge of the arbiter: it knows the rules, not the code.

It hears the same events and outputs, keeps its own account of who is there and what is latched,
and raises `Unsafe` when an output breaks an invariant or when the state that is shown contradicts
what was said. Each invariant names the rule that it protects.
"""

from __future__ import annotations

import copy
import math

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.config import ArbiterConfig
from reach_alpha5_arbiter.state import Snapshot
from reach_alpha5_arbiter.tables import Activity
from reach_alpha5_common.command import (
    CommandKind,
    DriverCommand,
    MotionCommand,
    StopLevel,
    TwistCommand,
)

ALWAYS_SAID = {
    StopCause.ESTOP,
    StopCause.DRIVER_HEARD,
    StopCause.STOP_UNCONFIRMED,
    StopCause.SHUTDOWN,
}

KINDS = {CommandKind.INPUT: False, CommandKind.TWIST: True}
"""The words that ask for motion, and whether they carry a twist."""


class Unsafe(AssertionError):
    """The arbiter did what it must not."""


class Judge:
    """What the rules say, kept beside the arbiter."""

    def __init__(self, config: ArbiterConfig, seen: Snapshot) -> None:
        self.seen = seen
        self.config = {source.name: source for source in config.sources}
        self.arbiter_config = config
        self.beats: dict[str, dict[str, float]] = {name: {} for name in self.config}
        self.present = dict.fromkeys(self.config, False)
        self.neutral_seen = dict.fromkeys(self.config, False)
        self.estop = StopLevel.NONE
        self.faulted = False
        self.report: events.ArmReport | None = None
        self.reported_at = -math.inf
        self.moving: tuple[str, MotionCommand, float] | None = None
        self.easing = ""
        """Whose motion fades: the last word was a stop that is not at once."""
        self.newest: dict[str, tuple[int, str]] = {}
        """Stamp and topic of the newest command of a source that was obeyed."""
        self.sequence = 0
        self.closed = False

    def fork(self) -> Judge:
        twin = copy.copy(self)
        twin.beats = {name: dict(beats) for name, beats in self.beats.items()}
        twin.present = dict(self.present)
        twin.neutral_seen = dict(self.neutral_seen)
        twin.newest = dict(self.newest)
        return twin

    def observe(self, event: events.Event, now: float, outputs: list[events.Output]) -> None:
        """Judge what followed on an event at `now` [s]."""
        if self.closed:
            self._demand(not outputs, "rule 11: nothing follows after the exit")
            return
        self._pass_time(now)
        refused = any(isinstance(out, events.Refused) for out in outputs)
        if isinstance(event, events.Command) and event.source in self.config:
            self._judge_order(event, outputs)
        self._take(event, now, refused)
        said = [out for out in outputs if isinstance(out, events.Send)]
        was_moving = self.moving is not None or bool(self.easing)
        for out in said:
            self.sequence += 1
            self._demand(out.command.sequence == self.sequence, "sequence grows by one")
            self._judge_word(event, now, out)
        stops = [out for out in said if out.command.kind is CommandKind.STOP]
        if not was_moving:
            self._demand(
                all(out.cause in ALWAYS_SAID for out in stops), "rule 9: no stop while still"
            )
        if isinstance(event, events.EStopPress) and event.level != StopLevel.NONE:
            self._demand(
                bool(stops) and stops[-1].command.stop_level >= StopLevel.of(event.level),
                "rule 1: each press is said at once, with its level or above",
            )
        if isinstance(event, events.Shutdown):
            self._demand(
                bool(said) and said[-1].command.kind is CommandKind.STOP,
                "rule 11: a stop is the last word",
            )
            self.closed = True
        for change in outputs:
            if isinstance(change, events.StateChanged):
                self.seen = change.snapshot
        if self.seen.activity is Activity.STILL:
            self.easing = ""
        self._judge_rest(now)

    def _judge_order(self, event: events.Command, outputs: list[events.Output]) -> None:
        codes = [out.refusal.code for out in outputs if isinstance(out, events.Refused)]
        neutral, (stamp, topic) = event.command.is_neutral, self.newest.get(event.source, (0, ""))
        if event.source in self.newest and not codes:
            certain = stamp < event.stamp or (stamp == event.stamp and topic == event.topic)
            self._demand(certain or neutral, "rule 6: motion is the newest command for certain")
            self._demand(stamp <= event.stamp, "rule 6: an older command is dropped")
        if not codes or (neutral and codes == ["stale_stamp"]):
            self.newest[event.source] = event.stamp, event.topic

    def _judge_word(self, event: events.Event, now: float, out: events.Send) -> None:
        command = out.command
        if command.kind is CommandKind.STOP:
            self._judge_stop(event, out)
            self.moving = None
        elif command.kind is CommandKind.RESET:
            self._demand(isinstance(event, events.Reset), "rule 2: a reset is asked for")
            self._demand(
                self.moving is None and not self.easing, "rule 2: a reset leaves nothing moving"
            )
        else:
            self._demand(command.kind in KINDS, "only known words")
            self.easing = ""
            self._judge_motion(event, now, command)

    def _judge_stop(self, event: events.Event, out: events.Send) -> None:
        eases = out.cause is StopCause.NEUTRAL
        self._demand(
            out.command.lifetime == (self.arbiter_config.ease_time if eases else 0.0),
            "only the stop that the owner asks for leaves time, and never more than is configured",
        )
        self.easing = ""
        if eases:
            self._demand(self.moving is not None, "only motion fades")
            assert self.moving is not None
            asked = isinstance(event, events.Command) and event.command.is_neutral
            self._demand(asked and event.source == self.moving[0], "its owner asked for that")
            self._demand(out.command.stop_level is StopLevel.NONE, "no latch leaves time")
            self.easing = self.moving[0]

    def _judge_motion(self, event: events.Event, now: float, command: DriverCommand) -> None:
        if isinstance(event, events.Command):
            ends = now + event.command.lifetime if event.command.lifetime else math.inf
            self.moving = event.source, event.command, ends
        self._demand(self.moving is not None, "rule 6: only a command that stands is repeated")
        assert self.moving is not None
        name, asked, ends = self.moving
        self._demand(command.motion == asked, "the owner's command is said as it is")
        twists = isinstance(asked, TwistCommand)
        self._demand(KINDS[command.kind] == twists, "a twist is said as a twist")
        self._demand(
            not twists or 0 < asked.lifetime <= self.arbiter_config.max_twist_lifetime,
            "S2: a twist ends by itself, soon",
        )
        self._demand(not asked.is_neutral, "rule 9: no stream of zeroes")
        self._demand(asked.problem() is None, "rule 10: nothing malformed passes")
        lapse = max(self.beats[name].values(), default=-math.inf)
        bound = min(ends, lapse + self.config[name].heartbeat_timeout)
        self._demand(
            0 < command.lifetime <= self.arbiter_config.command_lifetime
            and now + command.lifetime <= bound + 1e-9,
            "rules 6, 12: no demand outlives its command or its source",
        )

    def _judge_rest(self, now: float) -> None:
        seen = self.seen
        self._demand(
            (seen.activity is Activity.JOGGING) == (self.moving is not None),
            "D7: the state says what was said",
        )
        self._demand(not seen.owner or self._live(seen.owner), "rule 4: the owner is there")
        self._demand(seen.estop_latched or self.estop is StopLevel.NONE, "rule 1: latched")
        self._demand(
            (seen.activity is Activity.EASING) == bool(self.easing),
            "whatever else ends motion while it fades says the stop at once",
        )
        if self.moving is None and not self.easing:
            return
        name, _, ends = self.moving or (self.easing, None, math.inf)
        self._demand(seen.owner == name, "rule 4: only the owner moves")
        self._demand(self._live(name), "rule 7: a source that is gone moves nothing")
        self._demand(self.neutral_seen[name], "rule 3: neutral came first")
        self._demand(self.estop is StopLevel.NONE, "rule 1: an e-stop beats everything")
        self._demand(not (self.faulted or seen.fault_latched), "rule 2: a fault latches")
        self._demand(self._ready(), "a driver that is not ready gets no motion")
        self._demand(now < ends, "rule 6: a lifetime ends")

    def _take(self, event: events.Event, now: float, refused: bool) -> None:
        if isinstance(event, events.Heartbeat) and event.source in self.beats and event.client_id:
            self.beats[event.source][event.client_id] = now
            self.present[event.source] = event.present
        elif isinstance(event, events.SourceGone) and event.source in self.beats:
            self.beats[event.source].clear()
        elif isinstance(event, events.Command) and event.source in self.neutral_seen:
            if refused:
                self.neutral_seen[event.source] = False
            elif event.command.is_neutral:
                self.neutral_seen[event.source] = True
        elif isinstance(event, events.EStopPress) and event.level != StopLevel.NONE:
            self.estop = max(self.estop, StopLevel.of(event.level))
            self._forget_neutral()
        elif isinstance(event, events.Reset):
            self.estop, self.faulted = StopLevel.NONE, False
            self._forget_neutral()
        elif isinstance(event, events.Acquire) and not refused:
            # Asked by the owner itself, it changes nothing; else both must be neutral.
            if self.seen.owner != event.source:
                self.neutral_seen[event.source] = False
                if self.seen.owner:
                    self.neutral_seen[self.seen.owner] = False
        elif isinstance(event, events.Return) and not refused:
            self.neutral_seen[event.source] = False
        elif isinstance(event, events.ArmReport):
            fresh = self.report is None or self.report.state != 4
            was_ready = self._ready()
            self.report, self.reported_at = event, now
            if was_ready and not self._ready():
                self._forget_neutral()
            self.faulted |= event.state == 4 and fresh
        for name in self.beats:
            if not self._live(name):
                self.neutral_seen[name] = False
                self.newest.pop(name, None)

    def _forget_neutral(self) -> None:
        self.neutral_seen = dict.fromkeys(self.neutral_seen, False)

    def _pass_time(self, now: float) -> None:
        for name, beats in self.beats.items():
            timeout = self.config[name].heartbeat_timeout
            self.beats[name] = {c: at for c, at in beats.items() if now - at < timeout}
            if not self._live(name):
                self.neutral_seen[name] = False
                self.newest.pop(name, None)
        if now - self.reported_at >= self.arbiter_config.driver_timeout and self.report:
            self.report = None
            self._forget_neutral()
            self.faulted |= self.moving is not None

    def _live(self, name: str) -> bool:
        return len(self.beats[name]) == 1 and self.present[name]

    def _ready(self) -> bool:
        report = self.report
        return (
            report is not None
            and report.state in (1, 2, 3)
            and report.powered
            and report.active
            and not report.emo
            and not report.holds
            and not report.service_mode
        )

    @staticmethod
    def _demand(holds: bool, rule: str) -> None:
        if not holds:
            raise Unsafe(rule)
