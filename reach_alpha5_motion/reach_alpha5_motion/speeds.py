"""How fast the arm may really go: configuration, description and arm, resolved (B3, B6, C10)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reach_alpha5_motion.model import A, B, E, JointLimits
from reach_alpha5_motion.ramp import Ramp
from reach_alpha5_motion.speed import MotionConfig, MotionConfigError


def joint_limits(
    description: JointLimits, arm: JointLimits | None, config: MotionConfig
) -> JointLimits:
    """Return the limits that hold: the narrowest of description, arm and configured speed."""
    limits = description.within(arm)
    velocity = limits.velocity.copy()
    velocity[:B] = np.minimum(velocity[:B], config.joint_speed)
    return JointLimits(limits.lower, limits.upper, velocity)


def fastest_rates(description: JointLimits, config: MotionConfig) -> list[float]:
    """Return the highest rate that each joint is ever told, chain order, five [rad/s, m/s]."""
    rates: list[float] = joint_limits(description, None, config).velocity.tolist()
    rates[B] = min(rates[B], config.wrist_speed)
    rates[A] = min(rates[A], config.jaw_speed)
    return rates


def check_accelerations(
    description: JointLimits, config: MotionConfig, ramp: Ramp, joint_names: Sequence[str]
) -> None:
    """Refuse accelerations with which a joint cannot follow the ramps, or its brakes.

    Raises:
        MotionConfigError: some are too low.
    """
    fastest = fastest_rates(description, config)
    problems = [
        f"{name}: an acceleration of {most:g} is too low for a speed of {speed:g}; ramp_time "
        f"{config.ramp_time:g} s and brake_gain {config.brake_gain:g}/s need "
        f"{speed * max(1.0 / ramp.mean, config.brake_gain):.4g}"
        for name, most, speed in zip(joint_names, config.accelerations, fastest, strict=True)
        if most < speed * max(1.0 / ramp.mean, config.brake_gain)
    ]
    if problems:
        raise MotionConfigError("\n".join(problems))


@dataclass(frozen=True, slots=True)
class Speed:
    """One effective speed."""

    name: str
    unit: str
    slow: float
    """At speed_modifier -1."""
    default: float
    """At speed_modifier 0."""
    maximum: float
    """At speed_modifier +1."""
    decided_by: str
    """What sets it: `configuration`, `description` or `arm`."""


def effective_speeds(
    description: JointLimits,
    arm: JointLimits | None,
    config: MotionConfig,
    joint_names: Sequence[str],
) -> tuple[Speed, ...]:
    """Return what full input and each joint come to.

    The linear speed is that of the configuration: how much of it the joints can give depends on
    the posture, and what they cannot slows the motion without bending it.

    Args:
        description: limits of the robot description.
        arm: limits that the arm reports; what is not known (NaN) does not count.
        config: configured speeds.
        joint_names: of the five joints, chain order.
    """
    fractions = (config.slow_fraction, config.default_fraction, config.maximum_fraction)
    unchanged = (1.0, 1.0, 1.0)

    def speed(
        name: str, configured: float, joint: int | None, curve: tuple[float, float, float]
    ) -> Speed:
        sources = [(configured, "configuration")]
        if joint is not None:
            sources.append((float(description.velocity[joint]), "description"))
            if arm is not None and not math.isnan(arm.velocity[joint]):
                sources.append((max(0.0, float(arm.velocity[joint])), "arm"))
        fastest, decided_by = min(sources, key=lambda source: source[0])
        slow, default, maximum = (fastest * share for share in curve)
        unit = "m/s" if joint in (None, A) else "rad/s"
        return Speed(name, unit, slow, default, maximum, decided_by)

    return (
        speed("linear", config.linear_speed, None, fractions),
        speed("azimuth", min(config.azimuth_speed, config.joint_speed), E, fractions),
        speed("wrist", config.wrist_speed, B, unchanged),
        speed("jaws", config.jaw_speed, A, unchanged),
        *(
            speed(joint_names[joint], config.joint_speed, joint, fractions)
            for joint in range(E, B)
        ),
    )


def table(speeds: Sequence[Speed]) -> str:
    """Return the speeds as lines of text for people."""
    width = max(len(each.name) for each in speeds)
    head = f"{'speed':<{width}}  {'slow':>8} {'default':>8} {'maximum':>8}  unit   decided by"
    rows = [
        f"{each.name:<{width}}  {each.slow:8.4g} {each.default:8.4g} {each.maximum:8.4g}  "
        f"{each.unit:<5}  {each.decided_by}"
        for each in speeds
    ]
    return "\n".join([head, *rows])
