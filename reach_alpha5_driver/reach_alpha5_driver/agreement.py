"""Whether the joints do what they are told: commanded rates against measured motion.

A joint answers late: the line, the telemetry and the acceleration of the motor each take their
time. So what is measured is not held against the newest command but against the range of all
commands of the last two to three spans of `SPAN`. It is taken in two ways that fail differently:
as the reported velocity, and as the way gone in the last one to two spans, which also sees what is
slower than the noise of a velocity, or is not reported at all.

Disagreement is summed up while it lasts and worn off twice as fast while it does not. So it takes
`disagreement_time` of it, more or less in one piece, and neither a start, a stop nor a report that
was damaged on the line is anywhere near that. It goes on in the pauses between two motions: an arm
that does not obey must not be hidden by a pilot who taps the stick. A joint that goes on as it was
told while the stick is tapped agrees with all that was said lately; what finds it is the way that
it goes in excess of what it was told, summed up over the taps.

Nothing is found while no demand stands: `RestWatch` looks at an arm that must rest.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from reach_alpha5_driver.belief import Belief, JointBelief
from reach_alpha5_driver.devices import BY_JOINT, DEVICES
from reach_alpha5_driver.fault_table import (
    MODE_IGNORED,
    MOTOR_STALLED,
    RUNAWAY,
    WRONG_JOINT,
    WRONG_WAY,
    Fault,
    Finding,
    found,
)
from reach_alpha5_driver.protocol.ids import Mode, PacketId
from reach_alpha5_driver.questions import Question, Questions
from reach_alpha5_driver.rest import RESTING

SPAN = 0.2
"""Two of them are enough for a joint to follow a command, as far as is measured [s]."""

SPANS = 3
"""The one that runs, and two before it."""

MAX_STEP = 0.25
"""Most that one report can add to a disagreement: silence is no evidence [s]."""

WEAR = 2.0
"""How much faster agreement wears off what disagreement has added."""

TOLERANCE = {"rad": 0.04, "m": 0.0004}
"""Speed that means nothing: noise, slack, a joint that settles [rad/s, m/s]."""

CRAWL = {"rad": 0.05, "m": 0.0005}
"""Slower commands are not missed: friction may hold the joint [rad/s, m/s]."""

LIMIT_MARGIN = {"rad": 0.05, "m": 0.0005}
"""The electronics brake a joint this far before its limits [rad, m]."""

FASTER = 1.5
"""Share of the commanded rate above which a joint runs away."""

FURTHER = 1.2
"""Share of the commanded way above which a joint goes in excess of it."""

SLOWER = 0.2
"""Share of the commanded rate below which a joint is stalled."""

HASTE = 4.0
"""How much faster a reported velocity adds to a disagreement that no joint should be able to have;
a way does not: a position that is believed again after a silence may be far off."""

JAWS = BY_JOINT["axis_a"].index
"""Jaws that do not move hold something, or are closed: `GripWatch` looks at that."""


@dataclass(frozen=True, slots=True)
class AgreementConfig:
    """Settings of `MotionWatch`."""

    disagreement_time: float = 1.0
    """How long commanded and measured motion may disagree [s]."""


class MotionWatch:
    """Told what is released to the line, asked in each tick. Times are monotonic seconds."""

    def __init__(
        self, config: AgreementConfig, lower: Sequence[float], upper: Sequence[float]
    ) -> None:
        """Watch joints with these limits, chain order [rad, m]; an infinity is none."""
        self.report: tuple[Finding, ...] = ()
        self._config = config
        self._lower, self._upper = tuple(lower), tuple(upper)
        self._questions = Questions()
        self._joints = tuple(_Tracked() for _ in DEVICES)
        self._moving = False
        self._turned_at = -math.inf

    def set_limits(self, lower: Sequence[float], upper: Sequence[float]) -> None:
        """Take the limits that the arm keeps to, chain order [rad, m]; an infinity is none."""
        self._lower, self._upper = tuple(lower), tuple(upper)

    def released(self, rates: Sequence[float], now: float) -> None:
        """Note the joint rates that were just written, chain order [rad/s, m/s].

        NaN is a joint that may move as it likes: the arm goes to a preset of its own.
        """
        self._moving = True
        for joint, rate in zip(self._joints, rates, strict=True):
            joint.command(rate, now)

    def stopped(self, now: float) -> None:
        """Note that a stop was written, or that the line is lost: nothing is commanded.

        What was found is forgotten, what made it is not: that wears off.
        """
        if not self._moving:
            return
        self._moving = False
        self.report = ()
        self._questions.want(())
        for joint in self._joints:
            joint.command(0.0, now)
            joint.finding = None

    def check(self, belief: Belief, now: float) -> tuple[Finding, ...]:
        """Return what disagrees for too long; also to be had as `report`."""
        changed = now >= self._turned_at + SPAN and self._turn(belief, now)
        for index, (joint, measured) in enumerate(zip(self._joints, belief.joints, strict=True)):
            if measured.velocity_at > joint.seen_at or measured.position_at > joint.seen_at:
                changed |= self._judge(index, joint, measured, belief)
            if measured.at["mode"] > joint.mode_at:
                changed |= self._judge_mode(index, joint, measured)
        if changed and self._moving:
            self.report = tuple(
                joint.finding for joint in self._joints if joint.finding is not None
            )
            self._questions.want(
                Question(device.id, PacketId.MODE)
                for device, joint in zip(DEVICES, self._joints, strict=True)
                if joint.late and joint.finding is None
            )
        return self.report

    def questions(self, now: float) -> tuple[Question, ...]:
        """Return what must be asked now: the mode of a joint that does not follow."""
        return self._questions.due(now)

    def _turn(self, belief: Belief, now: float) -> bool:
        self._turned_at = now
        changed = False
        for index, (joint, measured) in enumerate(zip(self._joints, belief.joints, strict=True)):
            silent = belief.stale(index, now)
            way = math.nan if silent else belief.way(index, joint.turned_from)
            joint.end_span(way, RESTING[DEVICES[index].unit], now)
            joint.turn(math.nan if silent else measured.position, now)
            if joint.excess >= self._config.disagreement_time:
                detail = f"it goes on for {joint.excess:.1f} s in excess of what it is told"
                changed |= self._find(joint, RUNAWAY, index, detail)
        return changed

    def _judge(self, index: int, joint: _Tracked, measured: JointBelief, belief: Belief) -> bool:
        seen_at = max(measured.velocity_at, measured.position_at)
        step = min(seen_at - joint.seen_at, MAX_STEP)
        joint.seen_at = seen_at
        velocity = measured.velocity if seen_at <= measured.velocity_at + MAX_STEP else math.nan
        span = measured.position_at - joint.start_at
        travelled = math.nan
        if span >= SPAN:
            travelled = belief.way(index, joint.start) / span
        fault = self._disagreement(
            index, joint, velocity, measured.position
        ) or self._disagreement(index, joint, travelled, measured.position)
        limit, late = self._config.disagreement_time, joint.late
        if fault is None:
            joint.disagreement = max(0.0, joint.disagreement - WEAR * step)
        else:
            haste = HASTE if belief.too_fast(index, velocity) else 1.0
            joint.disagreement = min(limit, joint.disagreement + haste * step)
        joint.late = joint.disagreement >= limit / 2.0
        new = False
        if fault is not None and joint.disagreement >= limit and joint.finding is None:
            detail = _detail(index, joint, velocity, travelled)
            new = self._find(joint, fault, index, detail)
        return new or joint.late != late

    def _find(self, joint: _Tracked, fault: Fault, index: int, detail: str) -> bool:
        """Note a finding, the first of a motion; return whether it is new."""
        if not self._moving or joint.finding is not None:
            return False
        joint.finding = found(fault, index, detail)
        return True

    def _disagreement(
        self, index: int, joint: _Tracked, speed: float, position: float
    ) -> Fault | None:
        """Say how a measured speed (NaN = none) disagrees with what was commanded."""
        low, high, unit = joint.low, joint.high, DEVICES[index].unit
        tolerance = TOLERANCE[unit]
        if low == high == 0.0:
            return WRONG_JOINT if abs(speed) > tolerance else None
        if speed > max(0.0, high) * FASTER + tolerance:
            return RUNAWAY if high > 0.0 else WRONG_WAY
        if speed < min(0.0, low) * FASTER - tolerance:
            return RUNAWAY if low < 0.0 else WRONG_WAY
        if index == JAWS:
            return None
        margin = LIMIT_MARGIN[unit]
        if low >= CRAWL[unit]:
            missed = speed < low * SLOWER and position < self._upper[index] - margin
        elif high <= -CRAWL[unit]:
            missed = speed > high * SLOWER and position > self._lower[index] + margin
        else:
            missed = False
        return MOTOR_STALLED if missed else None

    def _judge_mode(self, index: int, joint: _Tracked, measured: JointBelief) -> bool:
        joint.mode_at = measured.at["mode"]
        if not joint.driven or measured.mode is None or measured.mode == Mode.VELOCITY:
            return False
        name = Mode(measured.mode).name.lower()
        return self._find(joint, MODE_IGNORED, index, f"its mode is {name}")


class _Tracked:
    """One joint: the span of its last commands, and how long it has disagreed with them."""

    def __init__(self) -> None:
        self.finding: Finding | None = None
        self.disagreement = 0.0
        """[s]"""
        self.excess = 0.0
        """How long the joint has gone on in excess of what it was told [s]."""
        self.late = False
        """Whether half of what makes a fault is reached: its mode should be asked for."""
        self.seen_at = self.mode_at = -math.inf
        """When the last report of motion and the last mode were received that were judged."""
        self.start, self.start_at = math.nan, -math.inf
        """Position when the span before this one began, and that time."""
        self.low = self.high = 0.0
        """Lowest and highest rate that was commanded in the last `SPANS` spans."""
        self._rate = (0.0, 0.0)
        """Lowest and highest that the last command can mean."""
        self._rate_at = -math.inf
        self._ranges = deque([(0.0, 0.0)] * SPANS, SPANS)
        """Those of each span, oldest first."""
        self._turned = (math.nan, -math.inf)
        self._told = 0.0
        """Way that was commanded in the span that runs [rad, m]."""

    @property
    def driven(self) -> bool:
        """Whether the joint was told to move in one direction all the time."""
        return self.low > 0.0 or self.high < 0.0

    @property
    def turned_from(self) -> float:
        """Position when the span began that runs [rad, m]."""
        return self._turned[0]

    def command(self, rate: float, now: float) -> None:
        """Take a rate that was written; NaN can be any."""
        self._reckon(now)
        self._rate = (-math.inf, math.inf) if math.isnan(rate) else (rate, rate)
        low, high = self._ranges[-1]
        self._ranges[-1] = min(low, self._rate[0]), max(high, self._rate[1])
        self.low, self.high = min(self.low, self._rate[0]), max(self.high, self._rate[1])

    def end_span(self, way: float, tolerance: float, now: float) -> None:
        """Compare the way that was gone in the span (NaN = not known) with what was told."""
        self._reckon(now)
        told, self._told = self._told, 0.0
        span = now - self._turned[1]
        fastest = max(-self.low, self.high)
        if fastest == 0.0:
            self.excess = 0.0
        elif fastest < math.inf and not math.isnan(way):
            further = abs(way) - FURTHER * told - tolerance * span
            self.excess = max(0.0, self.excess + min(further / fastest, span))

    def turn(self, position: float, now: float) -> None:
        """Begin a new span; the rate stands until the next."""
        self._ranges.append(self._rate)
        self.low = min(low for low, _ in self._ranges)
        self.high = max(high for _, high in self._ranges)
        (self.start, self.start_at), self._turned = self._turned, (position, now)

    def _reckon(self, now: float) -> None:
        """Add the way that was commanded since this was done last."""
        fastest = max(-self._rate[0], self._rate[1])
        if fastest > 0.0:
            self._told += fastest * (now - self._rate_at)
        self._rate_at = now


def _detail(index: int, joint: _Tracked, velocity: float, travelled: float) -> str:
    unit = DEVICES[index].unit
    low, high = joint.low, joint.high
    told = f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
    return (
        f"told {told} {unit}/s, measured {velocity:.3g} {unit}/s and "
        f"{travelled:.3g} {unit}/s by its position"
    )
