"""The rules of motion, checked at each tick against what was asked and where the arm truly is."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from motion_pilot import CONFIG
from motion_world import ARM_JOINTS, World

from reach_alpha5_common.command import ArmInput, JointCommand, MotionCommand, TwistCommand
from reach_alpha5_motion.demand import pose_name
from reach_alpha5_motion.generator import MotionGenerator
from reach_alpha5_motion.model import A, ArmModel, B, JointLimits
from reach_alpha5_motion.resolver import Resolution
from reach_alpha5_motion.singularity import AXIS_ZONE, ELBOW_ZONE

ACCELERATIONS = np.array(CONFIG.accelerations)
UNASKED = 1e-6
"""Share of what is asked that an axis which is not asked may get."""
SPARE, TURNING = 1.05, 0.05
"""Of the motion before, and of what is asked: what may be left of the motion before while a joint
changes as fast as it can. Axes turn a little in a tick, and limits are kept before the line."""
IN_A_ZONE = 0.0033
"""m/s off its line in the zones of `singularity`: 2 zone x joint speed, and a spare."""
NEARER = 0.001
"""m below its inner distance that a pair may be: positions are late, and their noise is 0.17 mm at
the tip for each joint (1 sigma)."""
DEEPER = 0.004
"""m that an overlap may grow: the one that binds changes as the arm moves out, and it brakes."""
FORESEEN = 0.03
"""rad that the arm may be from where the generator thinks it is."""
LONGEST_LIFETIME = 0.25
"""s that a set-point stands at most."""
ROUNDING = 1e-9
TURN_ROUND = 2.0 * CONFIG.joint_speed / CONFIG.joint_acceleration
"""s that a joint takes from full speed one way to full speed the other way."""


class RuleBroken(AssertionError):
    """What a judge says; `rule` names it."""

    def __init__(self, rule: str, case: object) -> None:
        super().__init__(f"{rule}: {case}")
        self.rule = rule


class Judge:
    """Watches one arm from one start."""

    def __init__(self, world: World, q: np.ndarray, limits: JointLimits | None) -> None:
        arm = world.arm
        within = arm.limits.within(limits)
        self._world, self._arm = world, arm
        self._low, self._high = np.minimum(within.lower, q), np.maximum(within.upper, q)
        self._first, self._last = within.lower + CONFIG.margins, within.upper - CONFIG.margins
        self._speed = np.minimum(
            within.velocity, [CONFIG.joint_speed] * 3 + [CONFIG.wrist_speed, CONFIG.jaw_speed]
        )
        # Whoever starts nearer than the inner distance may stay, and come no nearer; of overlaps
        # the deepest one counts, as the ways out of several can contradict each other.
        distances = world.true(q)
        self._floors = np.minimum(world.true.inner, distances) - NEARER
        self._floors[distances < 0.0] = distances.min() - DEEPER
        self._before = np.zeros(5)
        self._command: MotionCommand | None = None
        self._since = 0.0
        self._from_rest = True
        self._wishes = {B: (0.0, -math.inf), A: (0.0, -math.inf)}
        self.counts: Counter[str] = Counter()
        self.least = math.inf
        """Least distance above the inner one, of all pairs that started above it [m]."""
        self.apart = world.true.inner <= distances

    @property
    def moving(self) -> bool:
        """Whether the last rates were not all zero."""
        return bool(self._before.any())

    def watch(self, world: World) -> None:
        """Watch other bodies from now on, which the arm is clear of."""
        self._world = world
        self._floors = world.true.inner - NEARER
        self.apart = np.full(len(world.true.names), True)

    def halted(self) -> None:
        """The arm was stopped at once."""
        self._before = np.zeros(5)
        self._command = None
        self._from_rest = True
        self._wishes = {B: (0.0, -math.inf), A: (0.0, -math.inf)}

    def tick(
        self,
        command: MotionCommand,
        resolution: Resolution,
        generator: MotionGenerator,
        q: np.ndarray,
        measured: np.ndarray,
        now: float,
        elapsed: float,
    ) -> None:
        """Check one step, which was asked at `now` with the arm truly at `q`."""
        rates, before = resolution.joint_velocities, self._before
        self._before = rates
        case = (q.tolist(), command, rates.tolist(), before.tolist(), elapsed)
        followed = isinstance(self._command, JointCommand)
        if followed and isinstance(command, JointCommand):  # the next set-point goes on with it
            self._command = command
        elif command != self._command:
            self._from_rest = self._command is None or self._neutral_for(now)
            self._command, self._since = command, now
        held = self._from_rest or now - self._since > fades_in(command)
        self.counts["ticks"] += 1
        self.counts["moving"] += bool(rates[:3].any())
        lost = ~np.isfinite(measured)
        self._rule("finite", np.isfinite(rates).all(), case)
        self._rule("velocity", (np.abs(rates) <= self._speed + ROUNDING).all(), case)
        if lost.any():
            self._rule("not measured", not rates.any(), case)
            self.halted()
            self._before = rates
        else:
            self._rule("refused", resolution.refused is None, (resolution.refused, case))
            most = ACCELERATIONS * elapsed + ROUNDING
            self._rule("acceleration", (np.abs(rates - before) <= most).all(), case)
        self._rule("position", (q <= self._high + ROUNDING).all(), case)
        self._rule("position", (q >= self._low - ROUNDING).all(), case)
        self._distance(q, case)
        if isinstance(command, JointCommand):
            self._wishes = {B: (math.nan, now), A: (math.nan, now)}
        else:
            self._alone(command, q, rates, before, now, case)
        if command.is_neutral and now - self._since >= CONFIG.ramp_time:
            self.counts["neutral"] += 1
            self._rule("fades", not rates.any(), case)
        if lost.any():
            return
        foreseen = np.array(generator.foreseen)
        error = float(np.abs(foreseen - q)[:B].max())
        self._rule("foreseen", error <= FORESEEN, (error, case))
        braking = (np.abs(rates - before) > 0.999 * ACCELERATIONS * elapsed).any()
        if isinstance(command, JointCommand):
            self._set_point(command, rates, before, foreseen, bool(braking), case)
            return
        kind = command_kind(command)
        if kind is ArmInput.KNOWN_POSE:
            if held:
                self._path(command, rates, foreseen, case)
        elif kind is not ArmInput.NONE and held:
            self._direction(command, foreseen, resolution, before[:B], bool(braking), case)

    def at_end(self, generator: MotionGenerator) -> None:
        """Check that all has ended some time after a neutral."""
        self._rule("fades", generator.at_rest, self._before.tolist())

    def _rule(self, name: str, holds: object, case: object) -> None:
        if not holds:
            raise RuleBroken(name, (self._world.mount, self._world.scene, case))

    def _neutral_for(self, now: float) -> bool:
        command = self._command
        return command is not None and command.is_neutral and now - self._since > CONFIG.ramp_time

    def _distance(self, q: np.ndarray, case: object) -> None:
        true = self._world.true
        distances = true.at_least(q, true.inner + 0.002)
        room = (distances - true.inner)[self.apart]
        self.counts["near"] += bool((room < 0.002).any())
        self.least = min(self.least, float(room.min()))
        below = np.flatnonzero(distances < self._floors)
        if below.size:
            pair = int(below[0])
            self._rule("nearer", False, (true.names[pair], float(distances[pair]), case))

    def _alone(
        self,
        command: MotionCommand,
        q: np.ndarray,
        rates: np.ndarray,
        last: np.ndarray,
        now: float,
        case: object,
    ) -> None:
        """Wrist and jaws: as they were asked for as long as the motion before may be seen."""
        for joint, wish in zip(
            (B, A), lone_wishes(self._arm, self._speed, command, q), strict=True
        ):
            if wish != self._wishes[joint][0]:
                self._wishes[joint] = (wish, now)
            if now - self._wishes[joint][1] > CONFIG.ramp_time + TURN_ROUND:
                slower = rates[joint] == 0.0 or abs(rates[joint]) < abs(last[joint])
                self._rule("unasked", wish != 0.0 or slower, (joint, case))
                self._rule("reversed", wish * rates[joint] >= 0.0, (joint, case))
                most = max(abs(wish), abs(last[joint]) * slower)
                self._rule("faster", abs(rates[joint]) <= most + ROUNDING, (joint, case))

    def _direction(
        self,
        command: MotionCommand,
        q: np.ndarray,
        resolution: Resolution,
        before: np.ndarray,
        braking: bool,
        case: object,
    ) -> None:
        """Every axis of a jog goes the asked way or not at all, and nothing else moves."""
        arm, rates = self._arm, resolution.joint_velocities[:3]
        axes, speeds = asked_axes(arm, command, q)
        size = float(np.abs(speeds).max())
        if size == 0.0:
            return
        correction = np.array(resolution.correction)
        back = float(np.linalg.norm(correction))
        tip = arm.jacobian(q) @ rates
        self._rule("correction", back <= 1.1 * CONFIG.line_tilt * np.linalg.norm(tip), case)
        reach = arm.posture(q).reach
        bend = min(abs(q[2] - each.angle) for each in arm.elbow_singularities)
        if abs(reach) <= AXIS_ZONE or bend <= ELBOW_ZONE:
            self.counts["in a zone"] += 1
            if command_kind(command) is not ArmInput.CYLINDRICAL:
                off = _off_line(tip, axes, speeds)
                self._rule("off line in a zone", off <= IN_A_ZONE, (off, case))
            return
        self.counts["axes compared"] += 1
        got = np.linalg.solve(axes.T, tip - correction)
        allowed = np.full(3, UNASKED * size)
        if braking:  # a joint changes as fast as it can: what the motion before had, may be left
            self.counts["while a joint turns round"] += 1
            left = np.linalg.solve(axes.T, arm.jacobian(q) @ before)
            allowed += np.abs(left) * SPARE + TURNING * size
        forward = got * np.sign(speeds)
        self._rule("reversed", (forward >= -allowed).all(), (got, speeds, case))
        idle = speeds == 0.0
        self._rule("unasked", (np.abs(got) <= allowed)[idle].all(), (got, speeds, case))
        most = np.maximum(np.abs(speeds) + UNASKED * size, allowed)
        self._rule("faster", (np.abs(got) <= most).all(), (got, speeds, case))

    def _set_point(
        self,
        command: JointCommand,
        rates: np.ndarray,
        before: np.ndarray,
        q: np.ndarray,
        braking: bool,
        case: object,
    ) -> None:
        """Joints go on with the set-point and towards it, and what it does not name rests."""
        named = [ARM_JOINTS.index(name) for name in command.joint_names]
        others = np.delete(np.arange(5), named)
        slower = np.abs(rates[others]) <= np.abs(before[others])
        self._rule("unasked", (slower | (rates[others] == 0.0)).all(), case)
        if braking:  # a joint changes as fast as it can: what the motion before had, may be left
            self.counts["while a joint turns round"] += 1
            return
        self.counts["set-points compared"] += 1
        self._rule("unasked", not rates[others].any(), case)
        # A joint stops the margin before its limits, wherever it is wanted.
        goal = np.clip(command.positions, self._first[named], self._last[named])
        velocities, way = np.array(command.velocities), goal - q[named]
        older = np.abs(velocities) * LONGEST_LIFETIME
        towards = np.abs(velocities) + CONFIG.brake_gain * (np.abs(way) + older)
        self._rule("faster", (np.abs(rates[named]) <= towards + ROUNDING).all(), case)
        ahead = (velocities == 0.0) | (velocities * way > 0.0)
        forward = rates[named] * np.sign(way) >= 0.0
        self._rule("reversed", (forward | ~ahead | (np.abs(way) <= older)).all(), case)

    def _path(
        self, command: MotionCommand, rates: np.ndarray, q: np.ndarray, case: object
    ) -> None:
        """On the way to a pose the base turns towards it or not at all."""
        goal = CONFIG.poses[pose_name(command.known_pose)]
        if abs(goal[0] - q[0]) > CONFIG.pose_tolerance:
            self._rule("reversed", rates[0] * (goal[0] - q[0]) >= 0.0, case)


def command_kind(command: MotionCommand) -> ArmInput:
    """The input of a command; a twist counts as a cartesian one."""
    return ArmInput.CARTESIAN if isinstance(command, TwistCommand) else ArmInput(command.arm_input)


def lone_wishes(
    arm: ArmModel, speed: np.ndarray, command: MotionCommand, q: np.ndarray
) -> tuple[float, float]:
    """What is asked of wrist and jaws [rad/s, m/s]."""
    if not isinstance(command, TwistCommand):
        asked = command.gripper_velocities
        return asked.rotate * speed[B], asked.grip * speed[A]
    along = np.array(arm.frames.axes(command.frame, q)[2]) @ arm.frames.roll_axis(q)
    return command.angular[2] * float(np.sign(along)), command.grip * speed[A]


def asked_axes(
    arm: ArmModel, command: MotionCommand, q: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Unit tip velocities of the axes of a command, and the speed that is asked along each.

    The azimuth's is the velocity of the tip per turn [m].
    """
    if isinstance(command, TwistCommand):
        return np.array(arm.frames.axes(command.frame, q)), np.array(command.linear)
    fraction = CONFIG.speed_fraction(command.speed_modifier)
    linear = CONFIG.linear_speed * fraction
    if command.arm_input == ArmInput.CARTESIAN:
        asked = command.cartesian
        return np.eye(3), np.array([asked.x, asked.y, asked.z]) * linear
    posture, about = arm.posture(q), command.cylindrical
    outward = np.sign(posture.reach) * np.array(posture.front)
    clockwise = -posture.reach * np.array(posture.across)
    turn = about.azimuth * CONFIG.azimuth_speed * fraction
    return (
        np.array([outward, -np.array(posture.up), clockwise]),
        np.array([about.radial * linear, about.vertical * linear, turn]),
    )


def fades_in(command: MotionCommand) -> float:
    """How long [s] what was asked before may still be seen: a joint may have to turn round."""
    paced = isinstance(command, TwistCommand) and command.maximum_acceleration > 0.0
    return CONFIG.ramp_time + TURN_ROUND + (4.0 if paced else 0.0)


def _off_line(tip: np.ndarray, axes: np.ndarray, speeds: np.ndarray) -> float:
    """Speed across what any share of the asked axes can give [m/s]: beside the plane or line."""
    asked = axes[speeds != 0.0]
    along = asked.T @ (asked @ tip)
    return float(np.linalg.norm(tip - along))
