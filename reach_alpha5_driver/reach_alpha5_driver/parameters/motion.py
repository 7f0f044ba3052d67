"""Parameters of how the arm moves: speeds, starts and stops, poses, what it keeps clear of."""

from __future__ import annotations

from reach_alpha5_common.parameters import Parameter
from reach_alpha5_motion.collision import CollisionConfig
from reach_alpha5_motion.speed import MotionConfig

_MOTION = MotionConfig()
_COLLISION = CollisionConfig()

SPEEDS = (
    Parameter(
        "max_linear_speed",
        _MOTION.linear_speed,
        "Tip speed at full cartesian, radial or vertical input with speed_modifier +1, and the "
        "most that a twist may ask along each axis.",
        "m/s",
        (0.001, 1.0),
    ),
    Parameter(
        "max_azimuth_speed",
        _MOTION.azimuth_speed,
        "Speed about the base axis at full azimuth input with speed_modifier +1.",
        "rad/s",
        (0.001, 6.28),
    ),
    Parameter(
        "max_wrist_speed",
        _MOTION.wrist_speed,
        "Wrist speed at full input; the description's limit holds all the same.",
        "rad/s",
        (0.001, 6.28),
    ),
    Parameter(
        "max_jaw_speed",
        _MOTION.jaw_speed,
        "Push rod speed at full input; the description's limit holds all the same.",
        "m/s",
        (0.0001, 0.1),
    ),
    Parameter(
        "max_joint_speed",
        _MOTION.joint_speed,
        "Highest speed of axis_e, axis_d and axis_c, whatever asks; the limits of the description "
        "and of the arm hold all the same.",
        "rad/s",
        (0.01, 6.28),
    ),
)
"""The fields of `MotionConfig` of their name without `max_`."""

SHAPE = (
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
        "maximum_fraction",
        _MOTION.maximum_fraction,
        "Share of the maximum speeds at speed_modifier +1.",
        range=(0.01, 1.0),
    ),
    Parameter(
        "ramp_time",
        _MOTION.ramp_time,
        "From a change of input until all of it has come through. A stick that is let go has "
        "stopped the arm after it; an e-stop, a fault or a loss stops at once.",
        "s",
        (0.05, 0.45),
    ),
    Parameter(
        "jerk_share",
        _MOTION.jerk_share,
        "Share of ramp_time in which the acceleration builds up, and again in which it ends.",
        range=(0.01, 0.5),
    ),
    Parameter(
        "joint_acceleration",
        _MOTION.joint_acceleration,
        "Highest acceleration of axis_e, axis_d and axis_c.",
        "rad/s^2",
        (0.1, 100.0),
    ),
    Parameter(
        "wrist_acceleration",
        _MOTION.wrist_acceleration,
        "Highest acceleration of axis_b.",
        "rad/s^2",
        (0.1, 100.0),
    ),
    Parameter(
        "jaw_acceleration",
        _MOTION.jaw_acceleration,
        "Highest acceleration of axis_a.",
        "m/s^2",
        (0.001, 10.0),
    ),
    Parameter(
        "brake_gain",
        _MOTION.brake_gain,
        "How fast a joint may go towards its limit or its goal, and the arm towards what it keeps "
        "clear of, per distance left.",
        "1/s",
        (0.1, 10.0),
    ),
    Parameter(
        "angle_margin",
        _MOTION.angle_margin,
        "How far before a limit the rotary joints stop.",
        "rad",
        (0.001, 0.5),
    ),
    Parameter(
        "jaw_margin",
        _MOTION.jaw_margin,
        "How far before a limit the jaws stop.",
        "m",
        (0.00001, 0.005),
    ),
    Parameter(
        "latency",
        _MOTION.latency,
        "From computing rates until the joints turn with them, and from a measurement until it is "
        "told, together: how far ahead of what is measured the arm is thought to be.",
        "s",
        (0.001, 0.1),
    ),
)
"""Fields of `MotionConfig` by their own names."""

POSES = (
    Parameter(
        "pose_stowed",
        list(_MOTION.stowed),
        "The pose STOWED: axis_e, axis_d, axis_c.",
        "rad",
        (-7.0, 7.0),
    ),
    Parameter(
        "pose_deployed",
        list(_MOTION.deployed),
        "The pose DEPLOYED: axis_e, axis_d, axis_c.",
        "rad",
        (-7.0, 7.0),
    ),
    Parameter(
        "pose_lift",
        list(_MOTION.lift),
        "axis_d, axis_c in which the base swings on the way to a pose.",
        "rad",
        (-7.0, 7.0),
    ),
    Parameter(
        "further_poses",
        [""],
        "Poses that a command can name beside these: `NAME: axis_e axis_d axis_c` each, in rad.",
    ),
)

CLEARANCES = (
    Parameter(
        "clearance_inner",
        _COLLISION.inner,
        "Nothing of the arm comes nearer to the drone or to an obstacle than this.",
        "m",
        (0.001, 0.5),
    ),
    Parameter(
        "clearance_outer",
        _COLLISION.outer,
        "Nearer than this to the drone or to an obstacle, the approach is slowed; from here to "
        "clearance_inner the arm must be able to stop, else the driver does not start.",
        "m",
        (0.002, 1.0),
    ),
    Parameter(
        "clearance_self_inner",
        _COLLISION.self_inner,
        "No part of the arm comes nearer to another than this.",
        "m",
        (0.001, 0.5),
    ),
    Parameter(
        "clearance_self_outer",
        _COLLISION.self_outer,
        "Nearer than this, the approach of one part of the arm to another is slowed; the arm must "
        "be able to stop from here as well.",
        "m",
        (0.002, 1.0),
    ),
)
"""The fields of `CollisionConfig` of their name without `clearance_`."""

SCENE = (
    Parameter(
        "collision",
        True,
        "Keep the arm clear of itself, of the drone and of obstacles. Without it only the joints' "
        "limits hold.",
    ),
    Parameter(
        "obstacle_file",
        "",
        "Where obstacles are kept, absolute or beginning with `~`: read at start, when it must be "
        "there, and written at each change. Empty: they last until the driver ends.",
    ),
)

MOTION = (*SPEEDS, *SHAPE, *POSES, *SCENE, *CLEARANCES)
