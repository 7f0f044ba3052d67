"""What must be seen at the arm after a blow to the stack: judged from bytes and truth alone.

Nothing here asks a node. The byte log of the simulated arm says what it was told and when, and
the simulated arm itself says how fast its joints really moved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from reach_alpha5_driver.sim.ids import ALL_DEVICES, AXES, Packet
from reach_alpha5_driver.sim.log import TO_ARM, LoggedFrame, WireLog

MILLISECOND = 1e6
"""[ns]"""

BRAKING_NS = 250_000_000
"""A stop that has come is obeyed by then: the slowest joint of the simulated arm brakes from its
highest speed in 145 ms, and a stop is on the line for 6 ms."""

STILL = 1e-6
"""Below this a joint is still [rad/s, m/s]."""


ASLEEP_NS = 40_000_000
"""Who lets so much time pass between two answers may have been kept from the processor. The arm is
asked each 5 ms while a stop is due, and each 20 ms else."""


@dataclass(frozen=True, slots=True)
class Sample:
    """How fast the joints really moved at one moment."""

    time_ns: int
    """When the simulated arm answered, CLOCK_MONOTONIC."""
    velocities: Mapping[str, float]
    """By axis [rad/s, m/s]."""


@dataclass(frozen=True, slots=True)
class Blow:
    """What was done to the stack, as far as it bears on what must follow."""

    time_ns: int
    """CLOCK_MONOTONIC just before."""
    within: float
    """Time for the stop to begin at the arm [ms]."""
    line_back_ns: int | None = None
    """When the line could carry bytes again, where the blow was one to the line: the stop is due
    from then, and no motion may come before it."""

    @property
    def due_ns(self) -> int:
        """When the time for the stop begins."""
        return self.time_ns if self.line_back_ns is None else self.line_back_ns


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was seen."""

    moving: bool
    """Whether the arm was told to move when the blow came: if not, this tells nothing."""
    blind: bool
    """Whether the simulated arm may have been kept from the processor from before the end of the
    time for the stop until it found the stop: it dates a byte when it finds it, so nobody knows
    whether this one was late."""
    delay: float | None
    """From the blow to the first bit of the first stop at the arm [ms]; None = none came."""
    in_time: bool
    motion: str
    """What moved, or was told to, after the stop; empty = the arm was still."""

    @property
    def telling(self) -> bool:
        """Whether this says anything about the stack."""
        return self.moving and not self.blind

    @property
    def ok(self) -> bool:
        """Whether all was as it must be."""
        return self.in_time and not self.motion

    def __str__(self) -> str:
        """Return it in a few words."""
        stop = "NO STOP came" if self.delay is None else f"stop after {self.delay:.1f} ms"
        late = "" if self.in_time or self.delay is None else ": TOO LATE"
        return f"{stop}{late}, {f'then MOTION: {self.motion}' if self.motion else 'then still'}"


def judge(wire: WireLog, samples: Sequence[Sample], blow: Blow, end_ns: int) -> Verdict:
    """Judge a blow.

    Args:
        wire: byte log, from before the blow on.
        samples: the truth, in the order of time.
        blow: what was done.
        end_ns: until then the arm had no reason to move again.
    """
    frames = [frame for frame in wire.frames(TO_ARM) if frame.start_ns < end_ns]
    moving = any(wire.demanded(blow.time_ns).values())
    stop = next((f for f in frames if is_stop(f) and f.start_ns >= blow.due_ns), None)
    if stop is None:
        return Verdict(moving, False, None, False, "")
    delay = (stop.start_ns - blow.due_ns) / MILLISECOND
    still_from = stop.start_ns if blow.line_back_ns is None else blow.line_back_ns
    motion = [
        problem
        for problem in (
            _motion_frames(wire, still_from, end_ns),
            _demands(wire, end_ns),
            _truth(samples, stop.end_ns + BRAKING_NS, end_ns),
        )
        if problem
    ]
    in_time = delay <= blow.within
    blind = not in_time and _slept(samples, blow, stop.start_ns)
    return Verdict(moving, blind, delay, in_time, "; ".join(motion))


def is_stop(frame: LoggedFrame) -> bool:
    """Whether a frame begins a stop: velocity zero for all joints at once.

    A jog says zero to single joints too, and means no stop by it.
    """
    return (
        frame.packet_id == Packet.VELOCITY
        and frame.device_id == ALL_DEVICES
        and frame.floats() == (0.0,)
    )


def _slept(samples: Sequence[Sample], blow: Blow, stop_ns: int) -> bool:
    """Whether the arm may have slept from before the end of the time for the stop to the stop."""
    end_ns = blow.due_ns + blow.within * MILLISECOND
    awake = [blow.due_ns, *(s.time_ns for s in samples if s.time_ns > blow.due_ns)]
    return any(
        after - before > ASLEEP_NS and before <= end_ns and stop_ns <= after + ASLEEP_NS
        for before, after in pairwise(awake)
        if before <= stop_ns
    )


def _motion_frames(wire: WireLog, begin_ns: int, end_ns: int) -> str:
    times = [f.start_ns for f in wire.motion_frames() if begin_ns <= f.start_ns < end_ns]
    if not times:
        return ""
    first, last = ((time - begin_ns) / MILLISECOND for time in (times[0], times[-1]))
    return f"{len(times)} motion frames, {first:.1f} to {last:.1f} ms after it"


def _demands(wire: WireLog, end_ns: int) -> str:
    demands = wire.demanded(end_ns)
    told = [AXES[device] for device, velocity in demands.items() if velocity != 0.0]
    return f"axes {', '.join(sorted(told))} were told to move last" if told else ""


def _truth(samples: Sequence[Sample], begin_ns: int, end_ns: int) -> str:
    looked = [sample for sample in samples if begin_ns <= sample.time_ns < end_ns]
    if not looked:
        return "nobody looked at the joints"
    for sample in looked:
        for axis, velocity in sample.velocities.items():
            if abs(velocity) > STILL:
                late = (sample.time_ns - begin_ns + BRAKING_NS) / MILLISECOND
                return f"axis {axis} went at {velocity:.3g} {late:.0f} ms after it"
    return ""
