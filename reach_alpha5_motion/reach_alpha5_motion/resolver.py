"""From a command to joint velocities: the one place where an input becomes motion.

Stateless: the same command at the same posture gives the same rates. What the arm cannot do, or
what is not known, comes out as zero. `docs/motion.md` explains the mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reach_alpha5_common.command import ArmInput, GripperCommand, Pose
from reach_alpha5_common.refusal import Problem
from reach_alpha5_motion.jog import ArmRates, jog
from reach_alpha5_motion.limits import RateBounds, position_bounds
from reach_alpha5_motion.model import A, ArmModel, B, C, D, E, FloatArray, JointLimits
from reach_alpha5_motion.poses import path_rates
from reach_alpha5_motion.speed import MotionConfig, MotionConfigError

__all__ = ["MotionConfig", "MotionConfigError", "Resolution", "VelocityResolver"]


@dataclass(frozen=True, slots=True)
class Resolution:
    """What the joints shall do now, and what became of the command."""

    joint_velocities: FloatArray
    """axis_e, axis_d, axis_c, axis_b [rad/s], axis_a [m/s]; shape (5,)."""
    at_limit: tuple[bool, ...] = (False,) * 5
    """Joints whose position limit holds them back from what was asked, same order."""
    axis_scales: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """What each axis of a cartesian or cylindrical input got of what it asked, in [0, 1]; 0 for an
    axis that was not asked."""
    moving_to: Pose = Pose.UNSPECIFIED
    """The pose that the arm moves towards right now."""
    refused: Problem | None = None
    """Why the command, or the part of it that needs a joint not known, is not obeyed."""


class VelocityResolver:
    """Turns commands into joint velocities within the limits of the arm."""

    def __init__(self, model: ArmModel, config: MotionConfig) -> None:
        """Bind to an arm.

        Raises:
            MotionConfigError: a configured posture is outside the limits of the description.
        """
        self._model = model
        self._config = config
        self._margins = (*[config.angle_margin] * 4, config.jaw_margin)
        self._poses = {Pose.STOWED: config.stowed, Pose.DEPLOYED: config.deployed}
        self._check_postures()

    def resolve(
        self, command: GripperCommand, q: npt.ArrayLike, limits: JointLimits | None = None
    ) -> Resolution:
        """Return the joint velocities for `command` at the posture `q`.

        Args:
            command: what is asked; one that is not in order is refused whole.
            q: joint positions, shape (5,): rad, the jaws in m. NaN = not known: what needs that
                joint is refused, the rest is done.
            limits: as reported by the arm; they only narrow those of the description.
        """
        problem = command.problem()
        if problem is not None or command.is_neutral:
            return Resolution(np.zeros(5), refused=problem)
        positions: list[float] = np.asarray(q, dtype=np.float64).tolist()
        narrowed = self._model.limits.within(limits)
        bounds = position_bounds(positions, narrowed, self._margins, self._config.brake_gain)
        speed: list[float] = np.maximum(narrowed.velocity, 0.0).tolist()
        known = [math.isfinite(position) for position in positions]

        gripper, unknown = self._gripper(command, known, speed)
        arm = ArmRates()
        if command.moves_arm and not all(known[:B]):
            unknown = Problem(
                "unknown_posture",
                "axis_e, axis_d and axis_c must all be measured before the arm can move",
            )
        elif command.arm_input == ArmInput.KNOWN_POSE:
            arm = self._towards_pose(command, positions, bounds.first(B), speed)
        elif command.moves_arm:
            arm = jog(command, positions, bounds.first(B), speed, self._model, self._config)
        velocities = np.array(bounds.clip([*arm.granted, *gripper]))
        moving = command.arm_input == ArmInput.KNOWN_POSE and bool(velocities[:B].any())
        return Resolution(
            velocities,
            bounds.holds_back([*arm.asked, *gripper]),
            arm.axis_scales,
            Pose(command.known_pose.pose) if moving else Pose.UNSPECIFIED,
            unknown,
        )

    def _gripper(
        self, command: GripperCommand, known: list[bool], speed: list[float]
    ) -> tuple[list[float], Problem | None]:
        """Return what is asked of wrist and jaws, and what of it cannot be obeyed."""
        asked = []
        unknown = None
        for joint, value, fastest in (
            (B, command.gripper_velocities.rotate, self._config.wrist_speed),
            (A, command.gripper_velocities.grip, self._config.jaw_speed),
        ):
            if value == 0.0 or known[joint]:
                asked.append(value * min(fastest, speed[joint]))
            else:
                asked.append(0.0)
                name = self._model.joint_names[joint]
                unknown = Problem("unknown_posture", f"{name} must be measured before it can move")
        return asked, unknown

    def _towards_pose(
        self,
        command: GripperCommand,
        positions: list[float],
        bounds: RateBounds,
        speed: list[float],
    ) -> ArmRates:
        """Return the rates on the way to a pose: a joint that is blocked stops its whole leg."""
        config = self._config
        fraction = command.known_pose.velocity * config.speed_fraction(command.speed_modifier)
        velocity = (speed[E] * fraction, speed[D] * fraction, speed[C] * fraction)
        if 0.0 in velocity:
            return ArmRates()
        asked = path_rates(
            (positions[E], positions[D], positions[C]),
            self._poses[Pose(command.known_pose.pose)],
            config.lift,
            velocity,
            config.brake_gain,
            (config.leg_tolerance, config.pose_tolerance),
        )
        share = bounds.share(asked)
        return ArmRates(asked, (asked[0] * share, asked[1] * share, asked[2] * share))

    def _check_postures(self) -> None:
        """Refuse poses that the arm could not reach."""
        limits = self._model.limits
        low, high = limits.lower + self._margins, limits.upper - self._margins
        config = self._config
        postures = (
            ("stowed", E, config.stowed),
            ("deployed", E, config.deployed),
            ("lift", D, config.lift),
        )
        problems = [
            f"{name}: {self._model.joint_names[joint]} is {angle:g}; within the limits and the "
            f"margin before them is {low[joint]:g} to {high[joint]:g} rad"
            for name, first, angles in postures
            for joint, angle in enumerate(angles, first)
            if not low[joint] <= angle <= high[joint]
        ]
        if problems:
            raise MotionConfigError("\n".join(problems))
