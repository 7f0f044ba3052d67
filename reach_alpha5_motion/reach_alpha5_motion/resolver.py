"""From a command to joint velocities, without memory: the rules that hold at every moment.

The same command at the same posture gives the same rates. What the arm cannot do, or what is not
known, comes out as zero. `docs/motion.md` explains the mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from reach_alpha5_common.command import JointCommand, MotionCommand, Pose, TwistCommand
from reach_alpha5_common.refusal import Problem
from reach_alpha5_motion.demand import ArmPart, Demand, Kind, TipCommand, read
from reach_alpha5_motion.keep_out import KeepOut
from reach_alpha5_motion.limits import Room, rooms
from reach_alpha5_motion.model import A, ArmModel, B, D, E, FloatArray, JointLimits, Vector, dot
from reach_alpha5_motion.set_point import read as read_set_point
from reach_alpha5_motion.solver import Moment, blocked_by, demands_of, solve
from reach_alpha5_motion.speed import POSE_NAMES, MotionConfig, MotionConfigError
from reach_alpha5_motion.speeds import joint_limits

__all__ = ["MotionConfig", "MotionConfigError", "Resolution", "VelocityResolver"]

_ACROSS = 1e-3
"""How much of an angular velocity may be across the roll axis: rounding of who computed it."""


_POSE_NUMBERS = {name: pose for pose, name in POSE_NAMES.items()}


@dataclass(frozen=True, slots=True)
class Resolution:
    """What the joints shall do now, and what became of the command."""

    joint_velocities: FloatArray
    """axis_e, axis_d, axis_c, axis_b [rad/s], axis_a [m/s]; shape (5,)."""
    at_limit: tuple[bool, ...] = (False,) * 5
    """Joints whose position limit holds them back from what was asked, same order."""
    axis_scales: Vector = (0.0, 0.0, 0.0)
    """What each axis of an input that moves the tip got of what it asked, in [0, 1]; 0 for an axis
    that was not asked."""
    moving_to: Pose = Pose.UNSPECIFIED
    """The pose that the arm moves towards right now; NAMED: `moving_to_name` says which."""
    refused: Problem | None = None
    """Why the command, or the part of it that needs a joint not known, is not obeyed."""
    blocked_by: tuple[str, ...] = ()
    """What holds back what was asked: `limit JOINT`, `collision PAIR`."""
    moving_to_name: str = ""
    """The pose that the arm moves towards right now; empty: none."""
    correction: Vector = (0.0, 0.0, 0.0)
    """Velocity across the line that brings the tip back to it, in `base_link_frd` [m/s]."""


def _tip_scales(part: ArmPart | None, scales: Sequence[tuple[float, ...]]) -> Vector:
    """Return the scales of an input that moves the tip, from those of all parts; else zeros."""
    if part is None or part.kind is Kind.POSE:
        return 0.0, 0.0, 0.0
    first, second, third = scales[0]
    return first, second, third


def pose_number(name: str) -> Pose:
    """Return the number of a pose of the configuration; UNSPECIFIED: there is no name."""
    return _POSE_NUMBERS.get(name, Pose.NAMED) if name else Pose.UNSPECIFIED


class VelocityResolver:
    """Turns commands into joint velocities within the limits of the arm."""

    def __init__(self, model: ArmModel, config: MotionConfig) -> None:
        """Bind to an arm.

        Raises:
            MotionConfigError: a configured posture is outside the limits of the description.
        """
        self._model = model
        self._config = config
        self._reported: JointLimits | None = None
        self._rooms: tuple[Room, ...] = ()
        self._read: tuple[MotionCommand, Sequence[Room], bool, Demand] | None = None
        self._check_postures()

    def moment(
        self,
        positions: list[float],
        limits: JointLimits | None,
        keep_out: KeepOut | None = None,
    ) -> Moment:
        """Return the arm at joint positions (5,), within limits that it reports, among things.

        The same object for `limits` is the same limits: they are narrowed once.
        """
        if not self._rooms or limits is not self._reported:
            self._reported = limits
            config = self._config
            narrowed = joint_limits(self._model.limits, limits, config)
            self._rooms = rooms(narrowed, config.margins, config.brake_gain, config.braking)
        return Moment(self._model, self._config, positions, self._rooms, keep_out)

    def demand(self, command: MotionCommand, moment: Moment, holding: bool = False) -> Demand:
        """Return what the command asks, as far as it can be obeyed where the arm is now."""
        key = (command, moment.rooms, holding)
        if self._read is None or self._read[0] is not command or self._read[1:3] != key[1:]:
            self._read = (*key, self._demand(command, moment, holding))
        demand = self._read[3]
        if demand.refused is None and isinstance(command, TwistCommand):
            demand = self._in_frame(command, demand, moment)
        return _without_unknown(demand, moment.known, self._model.joint_names)

    def resolve(
        self, command: TipCommand, q: npt.ArrayLike, limits: JointLimits | None = None
    ) -> Resolution:
        """Return the joint velocities for `command` at the posture `q`.

        That is what a moment allows, without starts, stops and lines: the rule by itself, for
        tests of it and to compare with. What moves the arm is `MotionGenerator`.

        Args:
            command: what is asked; one that is not in order is refused whole.
            q: joint positions, shape (5,): rad, the jaws in m. NaN = not known: what needs that
                joint is refused, the rest is done.
            limits: as reported by the arm; they only narrow those of the description.
        """
        moment = self.moment(np.asarray(q, dtype=np.float64).tolist(), limits)
        demand = self.demand(command, moment)
        parts = [] if demand.arm is None else [demand.arm]
        solution = solve(moment, parts, demands_of(moment, parts), demand.wrist, demand.jaws)
        at_limit, names = blocked_by(moment, solution)
        pose = "".join(part.name for part in parts if part.kind is Kind.POSE and solution.moves[0])
        return Resolution(
            np.array(solution.rates),
            at_limit,
            _tip_scales(demand.arm, solution.scales),
            pose_number(pose),
            demand.refused,
            tuple(names),
            pose,
        )

    def resolve_joints(
        self, rates: Sequence[float], q: npt.ArrayLike, limits: JointLimits | None = None
    ) -> Resolution:
        """Return asked rates of single joints within all limits: for service tools.

        Args:
            rates: asked of each joint, shape (5,) [rad/s, m/s].
            q: joint positions, shape (5,) [rad, m]; a joint that is not known (NaN) stands still.
            limits: as reported by the arm; they only narrow those of the description.
        """
        bounds = self.moment(np.asarray(q, dtype=np.float64).tolist(), limits).bounds
        return Resolution(np.array(bounds.clip(rates)), bounds.holds_back(rates))

    def _demand(self, command: MotionCommand, moment: Moment, holding: bool) -> Demand:
        """Return what the command asks wherever the arm is."""
        config = self._config
        if not isinstance(command, JointCommand):
            return read(command, config, moment.speed, holding)
        if command.is_neutral:
            return Demand(refused=command.problem())
        names, speed = self._model.joint_names, moment.following_speed
        found = read_set_point(command, names, moment.rooms, config.margins, speed)
        if isinstance(found, Problem):
            return Demand(refused=found)
        return Demand(joints=found)

    def _in_frame(self, command: TwistCommand, demand: Demand, moment: Moment) -> Demand:
        """Check the frame of a twist, and bring its roll to the wrist; the jaws need no frame."""
        if not (any(command.linear) or any(command.angular)):
            return demand
        frames = self._model.frames
        if command.frame not in frames:
            return Demand(
                refused=Problem(
                    "unknown_frame",
                    f"{command.frame!r} is no link of the robot description that the arm or "
                    "nothing moves; name one that is",
                )
            )
        axes = frames.axes(command.frame, moment.positions)
        if not all(map(math.isfinite, axes[0])):
            return Demand(
                refused=Problem(
                    "unknown_posture",
                    f"the joints that carry {command.frame} must all be measured first",
                )
            )
        if not any(command.angular):
            return demand
        asked = [dot(command.angular, along) for along in zip(*axes, strict=True)]
        roll = frames.roll_axis(moment.positions)
        rate = dot(asked, roll)
        across = [value - rate * along for value, along in zip(asked, roll, strict=True)]
        if math.hypot(*across) > _ACROSS * math.hypot(*asked):
            return Demand(
                refused=Problem(
                    "cannot_turn",
                    "the arm can turn the tool about its roll axis alone: leave the angular "
                    "velocity across it zero (angular.x and .y in the frame of the tool)",
                )
            )
        return Demand(demand.arm, rate, demand.jaws, demand.acceleration)

    def _check_postures(self) -> None:
        """Refuse poses that the arm could not reach."""
        limits = self._model.limits
        low, high = limits.lower + self._config.margins, limits.upper - self._config.margins
        postures = [(name, E, angles) for name, angles in self._config.poses.items()]
        problems = [
            f"{name}: {self._model.joint_names[joint]} is {angle:g}; within the limits and the "
            f"margin before them is {low[joint]:g} to {high[joint]:g} rad"
            for name, first, angles in (*postures, ("lift", D, self._config.lift))
            for joint, angle in enumerate(angles, first)
            if not low[joint] <= angle <= high[joint]
        ]
        if problems:
            raise MotionConfigError("\n".join(problems))


def _without_unknown(demand: Demand, known: Sequence[bool], names: Sequence[str]) -> Demand:
    """Take away what needs a joint that is not measured."""
    if demand.wrist != 0.0 and not known[B]:
        reason = f"{names[B]} must be measured before it can move"
        demand = replace(demand, wrist=0.0, refused=Problem("unknown_posture", reason))
    if demand.jaws != 0.0 and not known[A]:
        reason = f"{names[A]} must be measured before it can move"
        demand = replace(demand, jaws=0.0, refused=Problem("unknown_posture", reason))
    if demand.joints is not None and not all(map(known.__getitem__, demand.joints.joints)):
        reason = "every joint of a set-point must be measured before it can move"
        demand = Demand(refused=Problem("unknown_posture", reason))
    if demand.arm is not None and not all(known[:B]):
        reason = "axis_e, axis_d and axis_c must all be measured before the arm can move"
        demand = replace(demand, arm=None, refused=Problem("unknown_posture", reason))
    return demand
