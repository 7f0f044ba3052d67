"""Parameters of how the arm moves: speeds and known poses."""

from __future__ import annotations

from reach_alpha5_common.parameters import Parameter
from reach_alpha5_motion.resolver import MotionConfig

_MOTION = MotionConfig()

MOTION = (
    Parameter(
        "max_linear_speed",
        _MOTION.linear_speed,
        "Tip speed at full cartesian, radial or vertical input with speed_modifier +1.",
        "m/s",
        range=(0.001, 1.0),
    ),
    Parameter(
        "max_azimuth_speed",
        _MOTION.azimuth_speed,
        "Speed about the base axis at full azimuth input with speed_modifier +1.",
        "rad/s",
        range=(0.001, 6.28),
    ),
    Parameter(
        "max_wrist_speed",
        _MOTION.wrist_speed,
        "Wrist speed at full input; the description's limit holds all the same.",
        "rad/s",
        range=(0.001, 6.28),
    ),
    Parameter(
        "max_jaw_speed",
        _MOTION.jaw_speed,
        "Push rod speed at full input; the description's limit holds all the same.",
        "m/s",
        range=(0.0001, 0.1),
    ),
    Parameter(
        "slow_fraction",
        _MOTION.slow_fraction,
        "Share of the maximum speeds at speed_modifier -1.",
        range=(0.01, 1.0),
    ),
    Parameter(
        "default_fraction",
        _MOTION.default_fraction,
        "Share of the maximum speeds at speed_modifier 0.",
        range=(0.01, 1.0),
    ),
    Parameter(
        "pose_stowed",
        list(_MOTION.stowed),
        "The pose STOWED: axis_e, axis_d, axis_c.",
        "rad",
        range=(-7.0, 7.0),
    ),
    Parameter(
        "pose_deployed",
        list(_MOTION.deployed),
        "The pose DEPLOYED: axis_e, axis_d, axis_c.",
        "rad",
        range=(-7.0, 7.0),
    ),
    Parameter(
        "pose_lift",
        list(_MOTION.lift),
        "axis_d, axis_c in which the base swings on the way to a pose.",
        "rad",
        range=(-7.0, 7.0),
    ),
)
