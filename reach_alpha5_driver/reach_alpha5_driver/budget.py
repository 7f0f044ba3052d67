"""What the line can carry: the arithmetic that refuses rates before anything is written.

All is reckoned in bytes per second. On RS-232 each direction is a lane of its own. On RS-485 there
is one lane for both, and the silences of an exchange (turnaround, and what device, adapter and
computer take to react) cost as many bytes as the line would have carried meanwhile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from reach_alpha5_common.refusal import Problem
from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.frame_sizes import DEMAND_BYTES, reply_bytes, request_bytes
from reach_alpha5_driver.schedule import (
    FAST,
    HEARTBEAT,
    SLOW,
    TELEMETRIES,
    WIRINGS,
    ScheduleConfig,
)

HEARTBEAT_SHARE = 0.9
"""Of the line from the arm: reports that come by themselves cannot be held back for an answer."""

MAX_HEARTBEAT = 255
"""[Hz]; the frequency is one byte."""

JOINTS = len(DEVICES)


@dataclass(frozen=True, slots=True)
class Load:
    """What one direction of the line has to carry, in bytes per second."""

    way: str
    demands: float
    slow: float
    report: float
    """Bytes for one joint's position, velocity and current."""
    capacity: float

    @property
    def fixed(self) -> float:
        """What must be carried whatever the rate of telemetry."""
        return self.demands + self.slow

    def at(self, rate: float) -> float:
        """Return the load at `rate` [Hz] of telemetry."""
        return self.fixed + JOINTS * self.report * rate

    @property
    def fastest(self) -> float:
        """The rate of telemetry [Hz] that fills the line; not above zero if none fits."""
        room = self.capacity - self.fixed
        return room / (JOINTS * self.report) if self.report else math.inf


def loads(config: ScheduleConfig) -> tuple[Load, ...]:
    """Return the load of each direction of the line."""
    line = config.bytes_per_second
    demands = config.control_rate * DEMAND_BYTES
    slow_turns = JOINTS / config.slow_telemetry_period
    if config.half_duplex:
        silence = (config.turnaround + config.answer_latency) * line
        slow = request_bytes(SLOW) + reply_bytes(SLOW) + silence
        fast = request_bytes(FAST) + reply_bytes(FAST) + silence
        return (Load("on the shared wires", demands, slow_turns * slow, fast, line),)
    asked = config.telemetry != HEARTBEAT
    return (
        Load(
            "to the arm",
            demands,
            slow_turns * request_bytes(SLOW),
            request_bytes(FAST) if asked else 0.0,
            line,
        ),
        Load(
            "from the arm",
            0.0,
            slow_turns * reply_bytes(SLOW),
            reply_bytes(FAST),
            line if asked else line * HEARTBEAT_SHARE,
        ),
    )


def fastest_rate(config: ScheduleConfig) -> float:
    """Return the fastest rate of telemetry that the line can carry [Hz]; 0 if none."""
    rate = max(0.0, min(load.fastest for load in loads(config)))
    return float(min(math.floor(rate), MAX_HEARTBEAT)) if config.telemetry == HEARTBEAT else rate


def planned_rate(config: ScheduleConfig) -> float:
    """Return how often each joint is planned to report position, velocity and current [Hz]."""
    return config.telemetry_rate or fastest_rate(config)


def line_problem(config: ScheduleConfig) -> Problem | None:
    """Say why the line cannot carry what is asked of it, with the arithmetic, or None."""
    if config.wiring not in WIRINGS:
        return Problem("unknown_wiring", f"wiring is {config.wiring!r}; it can be {_or(WIRINGS)}")
    if config.telemetry not in TELEMETRIES:
        return Problem(
            "unknown_telemetry",
            f"telemetry is {config.telemetry!r}; it can be {_or(TELEMETRIES)}",
        )
    if config.telemetry == HEARTBEAT:
        problem = _heartbeat_problem(config)
        if problem is not None:
            return problem
    return _overload(config)


def _heartbeat_problem(config: ScheduleConfig) -> Problem | None:
    if config.half_duplex:
        return Problem(
            "heartbeat_on_rs485",
            "devices that report by themselves talk at once on RS-485, and their reports collide; "
            "set telemetry to request",
        )
    rate = config.telemetry_rate
    if rate != math.floor(rate) or not 0 <= rate <= MAX_HEARTBEAT:
        return Problem(
            "heartbeat_rate",
            f"telemetry_rate is {rate:g} Hz; the arm's heartbeat knows whole numbers from 1 to "
            f"{MAX_HEARTBEAT}, and 0 for as fast as the line can carry",
        )
    return None


def _overload(config: ScheduleConfig) -> Problem | None:
    fastest, rate = fastest_rate(config), config.telemetry_rate
    for load in loads(config):
        if load.fixed >= load.capacity or fastest <= 0.0:
            return Problem(
                "line_overloaded",
                f"{_fixed(config, load)} {load.way} leave no room for telemetry, the line has "
                f"{load.capacity:.0f}; use a faster line, or a lower control_rate",
            )
        if not load.at(rate) <= load.capacity:
            return Problem(
                "line_overloaded",
                f"{JOINTS} joints x {load.report:.0f} bytes x {rate:g} Hz = "
                f"{JOINTS * load.report * rate:.0f} bytes/s {load.way}, beside "
                f"{_fixed(config, load)}: {load.at(rate):.0f} bytes/s, the line has "
                f"{load.capacity:.0f}; set telemetry_rate to {math.floor(fastest)} Hz or less, or "
                "to 0 for as fast as the line can carry",
            )
    return None


def _fixed(config: ScheduleConfig, load: Load) -> str:
    demands = (
        f"{load.demands:.0f} bytes/s of demands ({DEMAND_BYTES} bytes x {config.control_rate:g} "
        "Hz) and "
        if load.demands
        else ""
    )
    return f"{demands}{load.slow:.0f} bytes/s of slow values"


def _or(names: tuple[str, ...]) -> str:
    return " or ".join(names)
