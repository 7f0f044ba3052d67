"""What the joints' sensors and status flags say about their health.

One report never makes a fault: a flag must be set in two reports in a row (`Belief` sees to that),
and a value must be beyond its threshold in two, for as long as the comparison asks. What was heard
once is asked for again at once, so that this takes no longer than a way there and back; so is a
mode, which others judge. What stands ends the same way, a hysteresis before the threshold; silence
ends nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from reach_alpha5_driver.belief import SLOW_STALE_AFTER, Belief, JointBelief
from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.fault_table import (
    COMPARISONS,
    FLAGS,
    HEALTH_UNHEARD,
    Comparison,
    Finding,
    Severity,
    found,
)
from reach_alpha5_driver.leak import LeakEstimate
from reach_alpha5_driver.protocol.ids import PacketId
from reach_alpha5_driver.questions import Question, Questions

PACKETS = {
    "temperature": PacketId.TEMPERATURE,
    "humidity": PacketId.HUMIDITY,
    "voltage": PacketId.VOLTAGE,
    "status": PacketId.HARDWARE_STATUS,
    "mode": PacketId.MODE,
}
"""What is asked for again. The current comes with each posture anyway."""

MISSED = tuple(name for name in PACKETS if name != "mode")
"""What is worth a warning if it is not heard: a mode that is not known holds the arm anyway."""

UNITS = {"temperature": "degC", "current": "A", "voltage": "V", "humidity": "%", "leak": "%"}

LOOK_PERIOD = 0.5
"""Between two looks at what was not heard [s]."""


@dataclass(frozen=True, slots=True)
class HealthConfig:
    """Thresholds. All are ours but the supply's nominal 24 V: no document gives any."""

    temperature_warn: float = 60.0
    """[degC]"""
    temperature_stop: float = 75.0
    temperature_hysteresis: float = 5.0
    current_warn: float = 0.6
    """[A]; the largest current limit in use."""
    current_stop: float = 0.8
    current_hysteresis: float = 0.05
    current_time: float = 2.0
    """How long the current must be above [s]."""
    voltage_low_warn: float = 20.0
    """[V]"""
    voltage_low_stop: float = 18.0
    voltage_high_warn: float = 28.0
    voltage_high_stop: float = 30.0
    voltage_hysteresis: float = 0.5
    voltage_time: float = 1.0
    """How long the voltage must be beyond: a motor that starts makes it sag [s]."""
    humidity_warn: float = 60.0
    """[%]"""
    humidity_stop: float = 80.0
    humidity_hysteresis: float = 5.0
    """Also of the leak comparisons."""
    leak_warn: float = 15.0
    """Humidity above what the sealed air explains, or above its own trend [%]."""
    leak_stop: float = 30.0
    leak_trend: float = 0.02
    """How fast the trend follows rising humidity [%/s]."""
    slow_stale_after: float = SLOW_STALE_AFTER
    """Silence of a slow value that is worth a warning [s]."""
    warn_only_flags: tuple[str, ...] = ()
    """Status flags that shall only warn, whatever the table says."""

    def __post_init__(self) -> None:
        """Refuse what cannot be.

        Raises:
            ValueError: a flag that does not exist, or a stop that comes before its warning.
        """
        if unknown := [name for name in self.warn_only_flags if name not in FLAGS]:
            raise ValueError(
                f"warn_only_flags: {', '.join(unknown)} is no status flag; the flags are "
                f"{', '.join(FLAGS)}"
            )
        for stop, warn, above in _ORDERED:
            worse, bad = getattr(self, stop), getattr(self, warn)
            if worse < bad if above else worse > bad:
                raise ValueError(f"{stop} is {worse:g}: it would come before {warn}, {bad:g}")


_ORDERED = tuple(
    (stop.threshold, warn.threshold, warn.above)
    for warn, stop in zip(COMPARISONS[::2], COMPARISONS[1::2], strict=True)
)
"""Field of a stop, field of its warning, and whether they are upper thresholds."""


@dataclass(frozen=True, slots=True)
class HealthReport:
    """What is wrong now. The same object as long as nothing has changed."""

    warnings: tuple[Finding, ...] = ()
    minor: tuple[Finding, ...] = ()
    major: tuple[Finding, ...] = ()


class HealthWatch:
    """Looks at the beliefs in each tick. Times are monotonic seconds."""

    def __init__(self, config: HealthConfig) -> None:
        """Find nothing yet."""
        self.report = HealthReport()
        self._config = config
        self._joints = tuple(_JointHealth(index, config) for index in range(len(DEVICES)))
        self._questions = Questions()
        self._look_at = -math.inf

    def set_climate(self, joint: int, temperature: float, humidity: float) -> None:
        """Note the factory climate of a joint: [degC], relative humidity [%]."""
        self._joints[joint].leak.set_climate(temperature, humidity)

    def check(self, belief: Belief, now: float) -> HealthReport:
        """Return what is wrong now; also to be had as `report`."""
        changed = False
        for health, joint in zip(self._joints, belief.joints, strict=True):
            if joint.revision != health.revision:
                changed |= health.take(joint)
        if changed:
            self._questions.want(key for health in self._joints for key in health.questions())
        if now >= self._look_at:
            self._look_at = now + LOOK_PERIOD
            for health in self._joints:
                changed |= health.look(belief, now)
        if changed:
            self._report()
        return self.report

    def questions(self, now: float) -> tuple[Question, ...]:
        """Return what must be asked now because it was heard only once."""
        return self._questions.due(now)

    def _report(self) -> None:
        findings = [finding for health in self._joints for finding in health.findings()]
        report = HealthReport(
            *(
                tuple(finding for finding in findings if finding.severity is severity)
                for severity in Severity
            )
        )
        if report != self.report:
            self.report = report


@dataclass(slots=True)
class _Check:
    """One comparison at one joint."""

    comparison: Comparison
    threshold: float
    hysteresis: float
    time: float
    finding: Finding | None = None
    _turning_since: float = math.inf
    """When the first report said the opposite of what stands; inf = the last one agreed."""

    @property
    def undecided(self) -> bool:
        """Whether the last report said something that the ones before did not."""
        return self._turning_since < math.inf

    def take(self, value: float, at: float, joint: int) -> bool:
        """Compare a report; return whether what stands has changed."""
        sign = 1.0 if self.comparison.above else -1.0
        beyond = sign * (value - self.threshold)
        standing = self.finding is not None
        if beyond > -self.hysteresis if standing else beyond <= 0.0:
            self._turning_since = math.inf
            return False
        if not self.undecided:
            self._turning_since = at
            return False
        if not standing and at - self._turning_since < self.time:
            return False
        self._turning_since = math.inf
        fault = self.comparison.fault
        self.finding = None if standing else found(fault, joint, self._detail(value))
        return True

    def settle(self) -> None:
        """Let what stands stand: the last report is not to be confirmed."""
        self._turning_since = math.inf

    def _detail(self, value: float) -> str:
        name, unit = self.comparison.quantity, UNITS[self.comparison.quantity]
        side = "above" if self.comparison.above else "below"
        return f"{name} {value:.3g} {unit}, {side} {self.threshold:g} {unit}"


@dataclass(slots=True)
class _JointHealth:
    """One joint's comparisons and flags."""

    index: int
    config: HealthConfig
    revision: int = 0
    leak: LeakEstimate = field(init=False)
    _checks: dict[str, tuple[_Check, ...]] = field(init=False)
    """By quantity."""
    _seen: dict[str, float] = field(init=False)
    """When the last report of each quantity was received that was compared."""
    _flags: tuple[str, ...] = ()
    _unconfirmed: tuple[str, ...] = ()
    _unheard: tuple[str, ...] = ()
    _heard_since: float = math.inf
    """Since when the joint has told its position without a gap; inf = it does not."""

    def __post_init__(self) -> None:
        config = self.config
        self.leak = LeakEstimate(config.leak_trend)
        self._checks = {
            name: tuple(
                _Check(
                    entry,
                    getattr(config, entry.threshold),
                    getattr(config, entry.hysteresis),
                    getattr(config, entry.time) if entry.time else 0.0,
                )
                for entry in COMPARISONS
                if entry.quantity == name
            )
            for name in UNITS
        }
        self._seen = {name: -math.inf for name in UNITS if name != "leak"}

    def take(self, joint: JointBelief) -> bool:
        """Compare what was reported since the last time; return whether anything has changed."""
        self.revision = joint.revision
        changed = joint.unconfirmed != self._unconfirmed or joint.status_flags != self._flags
        self._unconfirmed, self._flags = joint.unconfirmed, joint.status_flags
        for name, seen in self._seen.items():
            at = joint.at[name]
            if at > seen:
                changed |= self._compare(name, joint, at)
            elif at < seen:  # the line was lost: what comes next confirms nothing of before
                changed |= self._settle(name)
            self._seen[name] = at
        return changed

    def look(self, belief: Belief, now: float) -> bool:
        """See what has not been heard for too long; return whether that has changed."""
        if belief.stale(self.index, now):
            self._heard_since = math.inf  # silence altogether is told otherwise
        else:
            self._heard_since = min(self._heard_since, now)
        oldest = now - self.config.slow_stale_after
        joint = belief.joints[self.index]
        unheard = tuple(name for name in MISSED if max(joint.at[name], self._heard_since) < oldest)
        changed = unheard != self._unheard
        self._unheard = unheard
        return changed

    def questions(self) -> Iterator[Question]:
        """Return what was heard only once."""
        device = DEVICES[self.index].id
        for name, packet in PACKETS.items():
            checks = self._checks.get(name, ())
            if name == "humidity":
                checks += self._checks["leak"]
            if name in self._unconfirmed or any(check.undecided for check in checks):
                yield Question(device, packet)

    def findings(self) -> Iterator[Finding]:
        """Return all that is wrong with the joint."""
        for checks in self._checks.values():
            yield from (check.finding for check in checks if check.finding is not None)
        for flag in self._flags:
            severity = Severity.WARN if flag in self.config.warn_only_flags else None
            yield found(FLAGS[flag], self.index, f"the flag {flag} is set", severity)
        if self._unheard:
            yield found(HEALTH_UNHEARD, self.index, f"no {', '.join(self._unheard)} is reported")

    def _compare(self, name: str, joint: JointBelief, at: float) -> bool:
        value = getattr(joint, name)
        if name == "current":
            value = abs(value)
        changed = self._take(name, value, at)
        if name == "humidity":
            recent = at - joint.at["temperature"] <= self.config.slow_stale_after
            temperature = joint.temperature if recent else math.nan
            amount = self.leak.amount(joint.humidity, temperature, at)
            changed |= self._settle("leak") if amount is None else self._take("leak", amount, at)
        return changed

    def _take(self, name: str, value: float, at: float) -> bool:
        changed = False
        for check in self._checks[name]:
            undecided = check.undecided
            changed |= check.take(value, at, self.index) or check.undecided != undecided
        return changed

    def _settle(self, name: str) -> bool:
        undecided = [check for check in self._checks[name] if check.undecided]
        for check in undecided:
            check.settle()
        return bool(undecided)
