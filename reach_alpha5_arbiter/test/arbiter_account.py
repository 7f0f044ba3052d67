"""The judge's own account of the world: who is there, what is latched, who has been neutral.

It is kept from the events alone, and from what was refused of them, by the rules and not by the
code. What the e-stop endpoints answered is in `arbiter_endpoint_account`.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace

from arbiter_endpoint_account import EndpointAccount

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.config import ArbiterConfig
from reach_alpha5_common.command import JointCommand, StopLevel, TwistCommand

IDLE, ENABLED, EXECUTING, MAJOR_FAULT, LAST_STATE = 1, 2, 3, 4, 5
"""Numbers of `ArmState`, as the message has them; those above 0 are states of an arm."""

WELL = {IDLE, ENABLED, EXECUTING}
STREAM_KINDS = {1: JointCommand, 2: TwistCommand}
"""Numbers of `StreamStatus`, as the message has them."""


@dataclass(frozen=True, slots=True)
class OpenStream:
    """The stream that is open."""

    source: str
    id: int
    kind: int
    timeout: float
    heard_at: float


class Account:
    """What is so, as far as the events told."""

    def __init__(self, config: ArbiterConfig) -> None:
        self.config = config
        self.sources = {source.name: source for source in config.sources}
        self.beats: dict[str, dict[str, float]] = {name: {} for name in self.sources}
        self.writers: dict[str, dict[tuple[str, str], float]] = {n: {} for n in self.sources}
        self.heard_at = dict.fromkeys(self.sources, -math.inf)
        self.present = dict.fromkeys(self.sources, False)
        self.gone = dict.fromkeys(self.sources, True)
        """Whether it is not there outright, and not for want of a heartbeat."""
        self.neutral_seen = dict.fromkeys(self.sources, False)
        self.newest: dict[str, tuple[int, str]] = {}
        """Stamp and topic of the newest command of a source that was obeyed."""
        self.endpoints = EndpointAccount(config.endpoints)
        self.estop = self.endpoints.level_at_start()
        self.estop_before = self.estop
        """What was latched before the event."""
        self.faulted = False
        self.report: events.ArmReport | None = None
        self.reported_at = -math.inf
        self.disobeys_since = math.inf
        self.upstream_at = -math.inf
        """When the link was heard last; -inf = it is not there."""
        self.stream: OpenStream | None = None
        self.streams = 0
        self.idled = ""
        """Whose stream was closed by idleness when time passed last."""
        self.now, self.stands = -math.inf, ""
        """When something happened last, and whose command stood then."""
        self.rested_at = -math.inf
        """Since when the arm is thought to rest."""
        self.joints_rest = self.arm_rests = False
        """What was heard since the last stop that ended something."""

    def fork(self) -> Account:
        """Return an independent twin."""
        twin = copy.copy(self)
        twin.beats = {name: dict(beats) for name, beats in self.beats.items()}
        twin.writers = {name: dict(writers) for name, writers in self.writers.items()}
        for part in ("heard_at", "present", "gone", "neutral_seen", "newest"):
            setattr(twin, part, dict(getattr(self, part)))
        twin.endpoints = self.endpoints.fork()
        return twin

    # ---- what is so ----------------------------------------------------------------------------

    def voices(self, name: str) -> int:
        """How many clients speak for a source."""
        writers = self.writers[name]
        if len(writers) < 2:
            return max(len(self.beats[name]), len(writers))
        topics = [topic for topic, _ in writers]
        return max(len(self.beats[name]), *map(topics.count, topics))

    def lapses_at(self, name: str) -> float:
        """When the source is silent if no more is heard."""
        return self.heard_at[name] + self.sources[name].heartbeat_timeout

    def is_live(self, name: str) -> bool:
        """Whether one client of the source is heard in time and says that it is there."""
        return bool(self.beats[name]) and self.present[name] and self.voices(name) == 1

    def is_ready(self) -> bool:
        """Whether the driver can be given motion."""
        report = self.report
        return (
            report is not None
            and report.state in WELL
            and report.powered
            and report.active
            and not report.emo
            and not report.holds
            and not report.service_mode
        )

    def has_arm(self) -> bool:
        """Whether the driver is heard and says that it has an arm."""
        return self.report is not None and 0 < self.report.state <= LAST_STATE

    def is_linked(self) -> bool:
        """Whether the upstream link is there, if there must be one."""
        return self.config.upstream_timeout == 0.0 or self.upstream_at > -math.inf

    def streams_for(self, name: str) -> bool:
        """Whether a stream of the source is open."""
        return self.stream is not None and self.stream.source == name

    # ---- what happens --------------------------------------------------------------------------

    def pass_time(self, now: float, active: bool, stands: str) -> None:
        """Let time pass.

        Args:
            now: when [s].
            active: something moves, or its stop is not confirmed.
            stands: whose command stands; empty = nobody's.
        """
        self.now, self.stands = now, stands
        for name, beats in self.beats.items():
            if beats:
                if len(beats) > 1 or len(self.writers[name]) > 1:
                    self._age(name, now)
                if now >= self.lapses_at(name):
                    self._silence(name)
        if now >= self.upstream_at + self.config.upstream_timeout:
            self._lose_link()
        if self.endpoints.pass_time(now):
            self._press(self.endpoints.lapse_level())
        if self.report and now - self.reported_at >= self.config.driver_timeout:
            self.report = None
            self.disobeys_since = math.inf
            self.forget_neutral()
            self.faulted |= active

    def close_idle_stream(self, now: float) -> None:
        """Close the stream for idleness, if nothing else that time brought has closed it."""
        stream, self.idled = self.stream, ""
        if stream is not None and now >= stream.heard_at + stream.timeout:
            self.idled = stream.source
            self.disarm(stream.source)

    def _age(self, name: str, now: float) -> None:
        """Forget who is not heard any more while another one is."""
        since = now - self.sources[name].heartbeat_timeout
        beats, writers = self.beats[name], self.writers[name]
        if name != self.stands:  # who wrote what moves the arm is not forgotten
            self.writers[name] = {who: at for who, at in writers.items() if at > since}
        if len(beats) > 1:
            self.beats[name] = {who: at for who, at in beats.items() if at > since}

    def take(self, event: events.Event, now: float, codes: list[str], owner: str) -> None:
        """Take an event; `codes` are what was refused of it, `owner` who held the lease."""
        match event:
            case events.Heartbeat(source, client, present) if source in self.sources and client:
                self._take_heartbeat(source, client, present, now)
            case events.SourceGone(source) if source in self.sources:
                self._silence(source)
                self.gone[source] = True
            case events.Command() if event.source in self.sources:
                self._take_command(event, now, codes)
            case events.Replayed(source, _, stops) if stops and source in self.sources:
                self.neutral_seen[source] = False
            case events.GoalAsked(goal) if goal.is_hold and not codes:
                self.neutral_seen[goal.source] = True
            case events.EStopPress(level) if level != StopLevel.NONE:
                self._press(StopLevel.of(level))
            case events.Reset() if not codes:
                self.estop, self.faulted = StopLevel.NONE, False
                self.forget_neutral()
            case events.Acquire(source) if not codes and owner != source:
                # Asked by the owner itself, it changes nothing; else both must be neutral.
                self.disarm(source)
                if owner:
                    self.disarm(owner)
            case events.Return(source) | events.CloseStream(source) if not codes:
                self.disarm(source)
            case events.OpenStream() if not codes:
                self.disarm(event.source)
                self.streams += 1
                timeout = event.idle_timeout or self.config.stream_idle_timeout
                self.stream = OpenStream(event.source, self.streams, event.kind, timeout, now)
            case events.ArmReport():
                self._take_report(event, now)
            case events.UpstreamBeat(present) if present:
                self.upstream_at = now
            case events.UpstreamBeat() | events.UpstreamGone():
                self._lose_link()
            case events.CheckIn() | events.EndpointGone() if event.endpoint in self.endpoints:
                level = self.endpoints.take(event, now)
                if level is not StopLevel.NONE:
                    self._press(level)

    def _take_heartbeat(self, name: str, client: str, present: bool, now: float) -> None:
        self.beats[name][client] = self.heard_at[name] = now
        self.present[name] = present
        self.gone[name] = not present
        self._look_at(name)

    def _take_command(self, event: events.Command, now: float, codes: list[str]) -> None:
        name, neutral = event.source, event.command.is_neutral
        if event.writer:
            self._age(name, now)
            self.writers[name][event.topic, event.writer] = now
        # A neutral that is too old restarts the order, for a sender whose clock was set back.
        if not codes or (neutral and codes[0] == "stale_stamp"):
            self.newest[name] = event.stamp, event.topic
        if codes:
            self.neutral_seen[name] = False
        elif neutral:
            self.neutral_seen[name] = True
        stream = self.stream
        heard = stream is not None and stream.source == name and not codes
        if heard and stream and isinstance(event.command, STREAM_KINDS[stream.kind]):
            self.stream = replace(stream, heard_at=now)
        self._look_at(name)

    def _take_report(self, event: events.ArmReport, now: float) -> None:
        before, was_ready = self.report, self.is_ready()
        self.report, self.reported_at = event, now
        idle = event.state == IDLE
        self.disobeys_since = min(self.disobeys_since, now) if idle else math.inf
        if was_ready and not self.is_ready():
            self.forget_neutral()
        if event.state == MAJOR_FAULT and (before is None or before.state != MAJOR_FAULT):
            self.fail()

    def fail(self) -> None:
        """Take that a fault latches."""
        self.faulted = True
        self.forget_neutral()

    def _press(self, level: StopLevel) -> None:
        self.estop = max(self.estop, level)
        self.forget_neutral()

    def _lose_link(self) -> None:
        if self.config.upstream_timeout and self.upstream_at > -math.inf:
            self.forget_neutral()
        self.upstream_at = -math.inf

    def _silence(self, name: str) -> None:
        self.beats[name].clear()
        self.writers[name].clear()
        self._look_at(name)

    def _look_at(self, name: str) -> None:
        if not self.is_live(name):
            self.newest.pop(name, None)
            self.disarm(name)

    def disarm(self, name: str) -> None:
        """Take that a source is disarmed by anything but a refused command."""
        self.neutral_seen[name] = False
        if self.streams_for(name):
            self.stream = None

    def forget_neutral(self) -> None:
        """Take that all are disarmed."""
        for name in self.sources:
            self.disarm(name)
