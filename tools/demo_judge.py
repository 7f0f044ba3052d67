"""What the arm must have done in each phase of the demo's pad session, judged from the byte log.

The table `EXPECTED` is the demo's claim. Each entry is a question to the bytes that reached the
arm and to the positions that it reported, never to what a node says of itself.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from reach_alpha5_driver.sim.ids import AXES, Packet
from reach_alpha5_driver.sim.log import TO_DRIVER, LoggedVelocity, WireLog, demanded
from reach_alpha5_motion.model import A, ArmModel, B, E

CHAIN = tuple(sorted(AXES, reverse=True))
"""Device ids in chain order: axis_e … axis_a."""

GRACE_NS = 300_000_000
"""How long after the start of a phase the arm may still be told to move by the phase before."""

OTHERS = np.array([0.005, 0.005, 0.005, 0.005, 0.0002])
"""A joint that was not asked may have gone this far at most, chain order [rad, m]: noise."""

MOVED = 0.005
"""A jog has moved the tip when it went this far [m]."""

ALONG = 0.95
"""And it went the right way when the cosine to it is at least this."""


@dataclass(frozen=True, slots=True)
class Window:
    """A phase of the session and when it was played, CLOCK_MONOTONIC [ns]."""

    phase: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Finding:
    """What was seen in a phase, and whether that is what had to be."""

    ok: bool
    seen: str
    is_judged: bool = True
    """False: the arm could not do it, since a fault was latched."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that the arbiter latched while the session was played, CLOCK_MONOTONIC [ns]."""

    causes: tuple[str, ...]
    begin: int
    end: int | None
    """When it was reset; None: it never was."""
    load: float
    """Load average of the machine over the last minute when it latched."""


class Evidence:
    """A byte log, read for questions about moments and windows of time."""

    def __init__(self, wire: WireLog, model: ArmModel) -> None:
        """Read the log once; every question is about the times in it."""
        self.model = model
        self._wire = wire

    @cached_property
    def velocities(self) -> list[LoggedVelocity]:
        """Velocity demands, stops included, in the order of time."""
        return self._wire.velocities()

    @cached_property
    def stops(self) -> list[int]:
        """When each velocity demand of zero was whole at the arm [ns]."""
        return [velocity.time_ns for velocity in self.velocities if velocity.value == 0.0]

    @cached_property
    def _motion_times(self) -> list[int]:
        return [frame.end_ns for frame in self._wire.motion_frames()]

    @cached_property
    def _positions(self) -> list[tuple[int, int, float]]:
        found = []
        for frame in self._wire.frames(TO_DRIVER):
            if frame.packet_id == Packet.POSITION and frame.device_id in CHAIN:
                axis = CHAIN.index(frame.device_id)
                scale = 1e-3 if axis == A else 1.0
                found.append((frame.end_ns, axis, frame.floats()[0] * scale))
        return found

    def posture(self, at: int) -> npt.NDArray[np.float64]:
        """Return the positions last reported by `at` [ns], chain order [rad, m]; NaN = none."""
        q = np.full(5, np.nan)
        for time_ns, axis, value in self._positions:
            if time_ns > at:
                break
            q[axis] = value
        return q

    def moving_frames(self, begin: int, end: int) -> int:
        """Count the frames in a stretch of time that told a joint to move."""
        return bisect.bisect(self._motion_times, end) - bisect.bisect(self._motion_times, begin)

    def told(self, at: int) -> dict[int, float]:
        """Return what each joint was last told before `at` [ns]."""
        return demanded(self.velocities, at)

    def tip_step(self, window: Window) -> npt.NDArray[np.float64]:
        """Return the way of the tip over a phase in `base_link_frd` [m]."""
        begin, end = self.posture(window.begin), self.posture(window.end)
        return np.asarray(self.model.tip(end) - self.model.tip(begin))

    def cylindrical_step(self, window: Window) -> tuple[float, float]:
        """Return the way outward and down about the arm's base axis over a phase [m]."""
        turn, place = self.model.base_rotation, self.model.base_position
        before, after = (
            turn.T @ (self.model.tip(self.posture(at)) - place)
            for at in (window.begin, window.end)
        )
        outward = math.hypot(after[0], after[1]) - math.hypot(before[0], before[1])
        return outward, float(before[2] - after[2])


Check = Callable[[Evidence, Window], Finding]


def still(evidence: Evidence, window: Window) -> Finding:
    """All five joints stand under a demand of zero, and nothing tells them to move."""
    moving = evidence.moving_frames(window.begin + GRACE_NS, window.end)
    told = evidence.told(window.end)
    if moving:
        return Finding(False, f"{moving} frames told a joint to move")
    stopped = set(told) == set(CHAIN) and not any(told.values())
    return Finding(stopped, "still" if stopped else "not every joint was told to stop")


def tip_moves(*direction: float) -> Check:
    """Make a check: the tip went along a direction of `base_link_frd`, then stopped."""

    def check(evidence: Evidence, window: Window) -> Finding:
        step = evidence.tip_step(window)
        length = float(np.linalg.norm(step))
        cosine = float(np.dot(step, direction)) / length if length > 0.0 else 0.0
        seen = f"tip moved {length * 1000:.0f} mm, cosine {cosine:.3f}"
        return Finding(length > MOVED and cosine > ALONG and _stopped(evidence, window), seen)

    return check


def cylindrical(outward: float = 0.0, down: float = 0.0) -> Check:
    """Make a check: the tip went outward or down about the arm's base, then stopped."""

    def check(evidence: Evidence, window: Window) -> Finding:
        steps = evidence.cylindrical_step(window)
        length = math.hypot(*steps)
        along = (steps[0] * outward + steps[1] * down) / length if length > 0.0 else 0.0
        turned = abs(evidence.posture(window.end)[E] - evidence.posture(window.begin)[E])
        seen = f"{steps[0] * 1000:+.0f} mm out, {steps[1] * 1000:+.0f} mm down"
        ok = length > MOVED and along > ALONG and turned < 0.02 and _stopped(evidence, window)
        return Finding(ok, seen)

    return check


def joint_moves(axis: int, sign: int, least: float, unit: str) -> Check:
    """Make a check: one joint went at least so far in a sense, no other went, and it stopped."""

    def check(evidence: Evidence, window: Window) -> Finding:
        step = evidence.posture(window.end) - evidence.posture(window.begin)
        others = np.delete(np.abs(step) / OTHERS, axis)
        scale = 1000.0 if unit == "mm" else 1.0
        alone = bool((others < 1.0).all())
        seen = f"{step[axis] * scale:+.2f} {unit}, {'no other joint' if alone else 'OTHERS TOO'}"
        ok = step[axis] * sign > least and alone
        return Finding(ok and _stopped(evidence, window), seen)

    return check


def on_the_way(evidence: Evidence, window: Window) -> Finding:
    """The tip moved, has stopped, and is not there yet."""
    length = float(np.linalg.norm(evidence.tip_step(window)))
    ok = length > MOVED and _stopped(evidence, window)
    return Finding(ok, f"tip is {length * 1000:.0f} mm on its way, stopped")


def at_pose(*posture: float) -> Check:
    """Make a check: axis_e, axis_d, axis_c came to the posture [rad] and stopped."""

    def check(evidence: Evidence, window: Window) -> Finding:
        off = float(np.abs(evidence.posture(window.end)[:B] - posture).max())
        return Finding(off < 0.03 and _stopped(evidence, window), f"{off:.3f} rad from the pose")

    return check


def stops_in_motion(evidence: Evidence, window: Window) -> Finding:
    """The arm moved when the phase began, was told to stop soon after, and stayed still."""
    moving_before = evidence.moving_frames(window.begin - GRACE_NS, window.begin)
    after = bisect.bisect(evidence.stops, window.begin)
    if after == len(evidence.stops):
        return Finding(False, "no stop reached the arm")
    delay = (evidence.stops[after] - window.begin) / 1e6
    rest = still(evidence, window)
    ok = moving_before > 0 and delay < GRACE_NS / 1e6 and rest.ok
    return Finding(ok, f"stop at the arm after {delay:.1f} ms, then {rest.seen}")


def moving(evidence: Evidence, window: Window) -> Finding:
    """The arm is told to move up to the end of the phase."""
    count = evidence.moving_frames(window.end - GRACE_NS, window.end)
    return Finding(count > 0, "moving" if count else "not moving")


def moved_then_stopped(evidence: Evidence, window: Window) -> Finding:
    """The arm was told to move in the phase, and stands when it ends."""
    count = evidence.moving_frames(window.begin, window.end)
    stopped = _stopped(evidence, window)
    seen = f"{count} motion frames, then {'stopped' if stopped else 'NOT stopped'}"
    return Finding(count > 0 and stopped, seen)


def _stopped(evidence: Evidence, window: Window) -> bool:
    return not any(evidence.told(window.end).values())


EXPECTED: Mapping[str, tuple[str, Check]] = {
    "idle": ("nobody touches the pad: still", still),
    "no_deadman": ("stick without deadman: still", still),
    "deadman": ("deadman alone: still", still),
    "deploy_part": ("hold to run: on its way, stops on release", on_the_way),
    "deploy_rest": ("held again: goes on from there, arrives", at_pose(3.14159, 1.57, 1.57)),
    "deployed": ("there: still", still),
    "cartesian_back": ("tip back", tip_moves(-1, 0, 0)),
    "cartesian_forward": ("tip forward", tip_moves(1, 0, 0)),
    "cartesian_right": ("tip right", tip_moves(0, 1, 0)),
    "cartesian_left": ("tip left", tip_moves(0, -1, 0)),
    "cartesian_down": ("tip down", tip_moves(0, 0, 1)),
    "cartesian_up": ("tip up", tip_moves(0, 0, -1)),
    "deadman_up": ("moving, and stopped when the deadman is let go", moved_then_stopped),
    "deadman_down": ("deadman again over a held stick: still", still),
    "mode": ("sticks are cylindrical now: still", still),
    "cylindrical_in": ("tip inward", cylindrical(outward=-1)),
    "cylindrical_out": ("tip outward", cylindrical(outward=1)),
    "cylindrical_clockwise": ("base clockwise", joint_moves(E, -1, 0.05, "rad")),
    "cylindrical_counterclockwise": ("base counterclockwise", joint_moves(E, 1, 0.05, "rad")),
    "cylindrical_down": ("tip down", cylindrical(down=1)),
    "cylindrical_up": ("tip up", cylindrical(down=-1)),
    "jaws_open": ("jaws open", joint_moves(A, 1, 0.001, "mm")),
    "jaws_close": ("jaws close", joint_moves(A, -1, 0.001, "mm")),
    "wrist_plus": ("wrist turns plus", joint_moves(B, 1, 0.1, "rad")),
    "wrist_minus": ("wrist turns minus", joint_moves(B, -1, 0.1, "rad")),
    "before_estop": ("moving", moving),
    "estop": ("e-stop in mid-motion: stops, the stick cannot drive through", stops_in_motion),
    "reset": ("reset moves nothing: still", still),
    "after_reset": ("base moves again", joint_moves(E, 1, 0.05, "rad")),
    "end": ("nobody touches the pad: still", still),
}
"""Phase to (what must happen in words, the check)."""


def _under(faults: Sequence[Fault], window: Window) -> Finding | None:
    """Return what there is to say of a phase in which a fault was latched; None: nothing."""
    for fault in faults:
        causes = ", ".join(fault.causes)
        if window.begin <= fault.begin < window.end:
            return Finding(False, f"FAULT latched: {causes}")
        # The phase in which it is reset is judged again.
        if fault.begin < window.begin and (fault.end is None or fault.end >= window.end):
            return Finding(False, f"after the fault: {causes}", is_judged=False)
    return None


def judge(
    evidence: Evidence, windows: list[Window], faults: Sequence[Fault] = ()
) -> list[tuple[Window, str, Finding]]:
    """Judge every phase; one that was not played, or that nobody expects, is a failure.

    So is one in which a fault latched. Those after it, up to the reset, are not judged, and not
    ok either.
    """
    rows = []
    for window in windows:
        words, check = EXPECTED.get(window.phase, ("(not expected)", None))
        finding = Finding(False, "not in the table")
        if check:
            finding = _under(faults, window) or check(evidence, window)
        rows.append((window, words, finding))
    played = {window.phase for window in windows}
    for phase, (words, _) in EXPECTED.items():
        if phase not in played:
            rows.append((Window(phase, 0, 0), words, Finding(False, "was not played")))
    return rows
