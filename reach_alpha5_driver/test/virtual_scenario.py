"""What virtual runs are made of: kinds of faults, their rates, and what becomes of a run."""

from __future__ import annotations

from dataclasses import dataclass

from reach_alpha5_driver.schedule import RS232, RS485


@dataclass(frozen=True, slots=True)
class Kind:
    """Which faults of each part are on, by name."""

    wire: tuple[str, ...] = ()
    """Of the simulated line, in both directions: `sim.faults.KINDS`."""
    port: tuple[str, ...] = ()
    """Of the driver's port: the fields of `transport.faulty.Faults`."""
    arm: tuple[str, ...] = ()
    """`power`: the arm loses its supply for a while; `deaf`: a device neither hears nor answers
    for a while; `forge`: a position that is wrong comes in a frame that is right."""


KINDS = {
    "none": Kind(),
    "drop": Kind(wire=("drop",), port=("drop",)),
    "lose": Kind(wire=("lose",)),
    "flip": Kind(wire=("flip",), port=("flip",)),
    "duplicate": Kind(wire=("duplicate",), port=("duplicate",)),
    "delay": Kind(wire=("delay",)),
    "split": Kind(wire=("split",), port=("cut",)),
    "merge": Kind(wire=("merge",)),
    "garbage": Kind(wire=("garbage",), port=("insert",)),
    "stall": Kind(port=("stall",)),
    "short write": Kind(port=("short_write",)),
    "EIO": Kind(port=("error",)),
    "power": Kind(arm=("power",)),
    "deaf": Kind(arm=("deaf",)),
    "forge": Kind(arm=("forge",)),
    "all": Kind(
        ("drop", "flip", "lose", "duplicate", "delay", "split", "merge", "garbage"),
        ("drop", "flip", "duplicate", "insert", "cut", "stall", "short_write", "error"),
        ("power", "deaf", "forge"),
    ),
}
"""Every kind of fault that a run can have."""

RATES = (1e-4, 1e-3, 1e-2)
"""Probabilities: per byte, frame, call or wake-up, as the fault is."""

CASES = (
    ("none", 0.0),
    *((kind, rate) for kind in KINDS if kind != "none" for rate in RATES),
)
"""Every kind at every rate."""

RS485_TURN = 4
"""One turn of all cases in so many is on RS-485."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One run: the same one always runs the same way."""

    seed: int
    kind: str
    rate: float
    seconds: float
    """Virtual time with faults; some without follows."""
    telemetry_rate: float
    """Reports per joint as the driver's setting [Hz]: fewer make a run quicker; 0 = most."""
    wiring: str = RS232

    def __str__(self) -> str:
        return f"seed {self.seed}, {self.kind} at {self.rate:g}, {self.seconds:g} s, {self.wiring}"


def scenario(seed: int, seconds: float, telemetry_rate: float) -> Scenario:
    """Return the run of a seed: the cases take turns, and some turns are on RS-485."""
    kind, rate = CASES[seed % len(CASES)]
    turn = seed // len(CASES)
    wiring = RS485 if turn % RS485_TURN == RS485_TURN - 1 else RS232
    return Scenario(seed, kind, rate, seconds, telemetry_rate, wiring)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a run."""

    scenario: Scenario
    violations: tuple[str, ...]
    worst_error: float
    """Largest distance of a believed position from the true one, as a share of the allowed."""
    longest_motion: float
    """Longest time that a joint moved when it could and should have been still [s]."""
    growth: int
    """Most entries and bytes that the core kept beyond what it began with."""
    motion_frames: int
    """Frames that asked a joint to move."""
    faults: int
    """How often a fault struck."""
    stops: int
    losses: int
    """How often the line was lost."""
    recovery: float
    """Time until the arm could be moved again after the faults, a pilot's words and all [s]."""
