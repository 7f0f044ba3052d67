"""How straight jogs are on the simulated arm, with noise and delays, in virtual time.

    python3 -m benchmarks.straightness            # all jogs, a table
    python3 -m benchmarks.straightness --plot     # and the pictures of docs/motion.md

The motion generator drives the joints of the simulated arm (its accelerations and its limits)
through a link that is as late and as noisy as the real one may be. No process, no clock: the same
seed gives the same numbers on every machine.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import xacro

from reach_alpha5_common.command import ArmInput, Cartesian, Cylindrical, GripperCommand
from reach_alpha5_driver.sim.arm import Arm, ArmConfig
from reach_alpha5_driver.sim.ids import DEVICE_UNITS_PER_SI, Mode
from reach_alpha5_motion.generator import MotionGenerator
from reach_alpha5_motion.model import A, ArmModel, FloatArray, JointLimits
from reach_alpha5_motion.resolver import Resolution, VelocityResolver
from reach_alpha5_motion.speed import MotionConfig

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
DESCRIPTION = ROOT / "reach_alpha5_description" / "urdf" / "drone.urdf.xacro"

TELEMETRY_PERIOD = 1.0 / 77.0
"""s between two positions of one joint, with all that a 115200 baud line carries."""

TELEMETRY_DELAY = (0.005, 0.020)
"""s from measuring a position until it is told of; drawn anew for each."""

COMMAND_DELAY = (0.004, 0.010)
"""s from a step until the joints have its rates; drawn anew for each."""

TICK = (0.014, 0.026)
"""s between two steps; drawn anew for each."""

NOISE = 5e-4
"""rad (and mm for the jaws): standard deviation of a position, that of a poor encoder."""

LENGTH = 0.20
"""m that a straight jog is followed for."""

BAR = 0.001
"""m that the tip may be off its line."""

LONGEST = 60.0
"""s that a jog may take."""

SETTLED = 0.4
"""s after which a start has come through."""

AXIS_CLEARANCE = 0.006
"""m: nearer to the base axis than twice the zone of `singularity` the tip waits for the base."""

DEVICES = (5, 4, 3, 2, 1)
"""Device ids in chain order."""


class LateArm:
    """The simulated arm behind a link: positions come late and with noise, rates go out late."""

    def __init__(self, q: Sequence[float], seed: int) -> None:
        """Put the arm at `q` (5,) [rad, m]."""
        posture = dict(zip(DEVICES, map(float, q), strict=True))
        self._arm = Arm(ArmConfig(posture=posture), 0.0)
        for joint in self._arm.joints.values():
            joint.set_mode(Mode.VELOCITY)
        self._random = random.Random(seed)
        self._sent: deque[tuple[float, list[float]]] = deque()
        self._told: list[deque[tuple[float, float]]] = [deque() for _ in DEVICES]
        self._next = [TELEMETRY_PERIOD * (k + 1) / len(DEVICES) for k in range(len(DEVICES))]
        self.measured = list(q)
        self.measured_at = [0.0] * len(DEVICES)
        """When the last position of each joint was told [s]."""

    @property
    def q(self) -> FloatArray:
        """Where the joints really are, shape (5,) [rad, m]."""
        joints = self._arm.joints
        return np.array([joints[d].position / DEVICE_UNITS_PER_SI[d] for d in DEVICES])

    def send(self, rates: Sequence[float], now: float) -> None:
        """Send joint rates at the time `now`."""
        at = now + self._random.uniform(*COMMAND_DELAY)
        if self._sent:
            at = max(at, self._sent[-1][0])
        self._sent.append((at, list(rates)))

    def advance(self, now: float) -> None:
        """Let all happen that does until `now`."""
        while True:
            joint = min(range(len(DEVICES)), key=self._next.__getitem__)
            at = min(self._next[joint], self._sent[0][0] if self._sent else math.inf)
            if at > now:
                break
            self._arm.advance(at)
            if at == self._next[joint]:
                self._measure(joint, at)
            else:
                self._obey(self._sent.popleft()[1])
        self._arm.advance(now)
        for joint, told in enumerate(self._told):
            while told and told[0][0] <= now:
                self.measured_at[joint], self.measured[joint] = told.popleft()

    def tick(self) -> float:
        """Return the time until the next step [s]."""
        return self._random.uniform(*TICK)

    def _measure(self, joint: int, at: float) -> None:
        unit = 1e-3 if joint == A else 1.0
        value = float(self.q[joint]) + self._random.gauss(0.0, NOISE * unit)
        told = at + self._random.uniform(*TELEMETRY_DELAY)
        if self._told[joint]:
            told = max(told, self._told[joint][-1][0])
        self._told[joint].append((told, value))
        self._next[joint] += TELEMETRY_PERIOD

    def _obey(self, rates: Sequence[float]) -> None:
        for device, rate in zip(DEVICES, rates, strict=True):
            self._arm.joints[device].demand_velocity(rate * DEVICE_UNITS_PER_SI[device])


def reported_limits() -> JointLimits:
    """Return the limits that the simulated arm reports; a joint without any has none (NaN)."""
    joints = Arm(ArmConfig(), 0.0).joints
    limits = np.array([joints[device].position_limits for device in DEVICES])
    limits[(limits == 0.0).all(axis=1)] = math.nan
    scale = np.array([DEVICE_UNITS_PER_SI[device] for device in DEVICES])
    speeds = np.array([joints[device].velocity_limits[1] for device in DEVICES])
    return JointLimits(limits[:, 0] / scale, limits[:, 1] / scale, speeds / scale)


@dataclass(frozen=True, slots=True)
class Track:
    """One jog as it went. All lengths in m."""

    command: GripperCommand
    along: FloatArray
    """Way along the asked line, a value a step."""
    off: FloatArray
    """Distance from it."""

    @property
    def deviation(self) -> float:
        """Largest distance from the line [m]."""
        return float(self.off.max())


def cartesian(direction: Sequence[float], speed: float = 0.0) -> GripperCommand:
    """Return a straight jog at full input."""
    x, y, z = (float(value) for value in direction)
    return GripperCommand(
        arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(x, y, z), speed_modifier=speed
    )


def cylindrical(
    radial: float, vertical: float, azimuth: float, speed: float = 0.0
) -> GripperCommand:
    """Return a jog about the base axis."""
    return GripperCommand(
        arm_input=ArmInput.CYLINDRICAL,
        cylindrical=Cylindrical(radial, vertical, azimuth),
        speed_modifier=speed,
    )


Step = Callable[[GripperCommand, Sequence[float], Sequence[float], float], Resolution]
"""What makes rates: of the command, the measured positions, their times, and the time now."""


def as_driven(model: ArmModel, config: MotionConfig) -> Step:
    """Return a motion generator, as the driver has it."""
    generator, limits = MotionGenerator(model, config), reported_limits()
    return lambda command, q, q_at, now: generator.step(command, q, q_at, now, limits)


def without_line(model: ArmModel, config: MotionConfig) -> Step:
    """Return the same, that does not come back to its line."""
    return as_driven(model, replace(config, line_tilt=1e-9))


def without_memory(model: ArmModel, config: MotionConfig) -> Step:
    """Return the resolver alone: it takes what was measured for where the arm is."""
    resolver, limits = VelocityResolver(model, config), reported_limits()
    return lambda command, q, q_at, now: resolver.resolve(command, q, limits)


def jog(
    model: ArmModel,
    step: Step,
    q: Sequence[float],
    command: GripperCommand,
    seed: int,
    length: float = LENGTH,
) -> Track | None:
    """Jog from `q` for a length; None if the arm is held back before its end.

    Held back is: a position limit, one axis cut more than another, or the tip within
    `AXIS_CLEARANCE` of the base axis, where the base cannot follow.
    """
    arm = LateArm(q, seed)
    now = begin = 0.1
    arm.advance(now)
    start = coordinates(model, command, arm.q)
    direction = asked_direction(command)
    along, off = [], []
    while now < begin + LONGEST:
        resolution = step(command, arm.measured, arm.measured_at, now)
        settled = now > begin + SETTLED
        if resolution.blocked_by or (settled and _held_back(resolution.axis_scales, command)):
            return None
        if abs(model.posture(arm.q).reach) < AXIS_CLEARANCE:
            return None
        arm.send(resolution.joint_velocities.tolist(), now)
        now += arm.tick()
        arm.advance(now)
        moved = coordinates(model, command, arm.q) - start
        along.append(float(moved @ direction))
        off.append(float(np.linalg.norm(moved - along[-1] * direction)))
        if along[-1] >= length:
            return Track(command, np.array(along), np.array(off))
    return None


def coordinates(model: ArmModel, command: GripperCommand, q: FloatArray) -> FloatArray:
    """Return the tip in coordinates in which the jog is a straight line, shape (3,) [m]."""
    tip = model.tip(q)
    if command.arm_input == ArmInput.CARTESIAN:
        return tip
    up = model.base_rotation[:, 2]
    offset = tip - model.base_position
    height = float(offset @ up)
    return np.array([float(np.linalg.norm(offset - height * up)), height, 0.0])


def asked_direction(command: GripperCommand) -> FloatArray:
    """Return the unit vector of the asked line in the same coordinates."""
    asked = command.cartesian
    direction = np.array([asked.x, asked.y, asked.z])
    if command.arm_input == ArmInput.CYLINDRICAL:
        about = command.cylindrical
        direction = np.array([about.radial, -about.vertical, 0.0])
    unit: FloatArray = direction / np.linalg.norm(direction)
    return unit


def _held_back(scales: Sequence[float], command: GripperCommand) -> bool:
    """Whether one axis is cut more than another: a limit bends the line, as it must."""
    asked = command.cartesian if command.arm_input == ArmInput.CARTESIAN else command.cylindrical
    counted = [
        scale
        for scale, name in zip(scales, asked.__slots__, strict=True)
        if getattr(asked, name) != 0.0
    ]
    return max(counted) - min(counted) > 1e-3 or min(counted) == 0.0


def jogs(model: ArmModel, seed: int, count: int) -> Iterator[tuple[list[float], GripperCommand]]:
    """Draw starts and commands across the workspace."""
    draw = np.random.default_rng(seed)
    low, high = model.limits.lower, model.limits.upper
    for number in range(count):
        q = (low + (high - low) * draw.uniform(0.03, 0.97, 5)).tolist()
        speed = float(draw.choice([-1.0, 0.0, 0.0, 1.0]))
        if number % 3 < 2:
            direction = draw.normal(size=3) * (draw.random(3) < 0.6)
            if not direction.any():
                direction[draw.integers(3)] = 1.0
            yield q, cartesian(direction / np.abs(direction).max(), speed)
        else:
            radial, vertical = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))[number // 3 % 4]
            yield q, cylindrical(radial, vertical, float(draw.choice([0.0, 0.0, 0.5])), speed)


def arm_model() -> ArmModel:
    """Return the arm of the description that is here."""
    return ArmModel.from_urdf(str(xacro.process_file(str(DESCRIPTION)).toxml()))


WAYS: Mapping[str, Callable[[ArmModel, MotionConfig], Step]] = {
    "as the driver moves": as_driven,
    "prediction alone": without_line,
    "neither": without_memory,
}
"""What is compared, the motion as it is first."""


def measure(model: ArmModel, way: str, seed: int, count: int) -> list[Track]:
    """Return the jogs that went their whole length, all from one seed."""
    config = MotionConfig()
    tracks = (
        jog(model, WAYS[way](model, config), q, command, seed + number)
        for number, (q, command) in enumerate(jogs(model, seed, count))
    )
    return [track for track in tracks if track is not None]


def summary(name: str, tracks: Sequence[Track]) -> str:
    """Return a line with what the deviations come to [mm]."""
    off = np.array([track.deviation for track in tracks]) * 1e3
    p50, p95, p99 = np.percentile(off, (50.0, 95.0, 99.0))
    within = int((off <= BAR * 1e3).sum())
    return (
        f"{name:<20} {len(off):>5} jogs   p50 {p50:5.2f}   p95 {p95:5.2f}   p99 {p99:5.2f}   "
        f"max {off.max():5.2f} mm   within {BAR * 1e3:g} mm: {within}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.straightness",
        description="Measure how straight jogs of 20 cm are on the simulated arm.",
    )
    parser.add_argument(
        "--jogs", type=int, default=300, help="how many to draw (%(default)s); most end at a limit"
    )
    parser.add_argument("--seed", type=int, default=1, help="of everything (%(default)s)")
    parser.add_argument("--plot", action="store_true", help=f"draw the pictures into {IMAGES}")
    options = parser.parse_args(arguments)
    if options.jogs <= 0:
        parser.error("--jogs must be above 0")
    model = arm_model()
    results = {}
    try:
        for way in WAYS:
            results[way] = measure(model, way, options.seed, options.jogs)
            if not results[way]:
                parser.error("no jog went its whole length; draw more with --jogs")
            print(summary(way, results[way]), flush=True)
        if options.plot:
            from benchmarks.straightness_plots import draw

            draw(model, results, IMAGES)
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
