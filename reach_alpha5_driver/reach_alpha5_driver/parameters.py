"""The driver node's parameters: one table, from which the node declares and the docs are made."""

from __future__ import annotations

from reach_alpha5_common.parameters import Parameter
from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_motion.resolver import MotionConfig

_CORE = CoreConfig()
_MOTION = MotionConfig()

PARAMETERS = (
    Parameter(
        "robot_description",
        "",
        "The expanded URDF of the drone with the arm: the text that xacro makes of "
        "`urdf/drone.urdf.xacro`. Required.",
    ),
    Parameter("prefix", "", "Prefix of the arm's joint and link names in the description."),
    Parameter(
        "serial_port",
        "/dev/ttyUSB0",
        "The arm's port: a device path, or a pyserial URL such as `socket://HOST:PORT`.",
    ),
    Parameter("baud_rate", _CORE.baud_rate, "Speed of the line.", "baud", range=(9600, 1_000_000)),
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
    Parameter(
        "control_rate",
        _CORE.control_rate,
        "How often joint rates are computed anew and sent while a demand stands.",
        "Hz",
        range=(10.0, 100.0),
    ),
    Parameter(
        "max_command_lifetime",
        _CORE.max_command_lifetime,
        "Longest lifetime that a driver command may have. Silence of this length after a demand "
        "for motion is a lapse: only a stop engages again.",
        "s",
        range=(0.05, 2.0),
    ),
    Parameter(
        "stale_after",
        _CORE.stale_after,
        "Age at which a joint's position is stale: the arm does not move from a stale posture.",
        "s",
        range=(0.05, 2.0),
    ),
    Parameter(
        "stop_confirm_time",
        _CORE.stop_confirm_time,
        "After a stop, time until the measured velocities must be zero; else it is repeated.",
        "s",
        range=(0.05, 5.0),
    ),
    Parameter(
        "stop_repeat_period",
        _CORE.stop_repeat_period,
        "Time between stops while the arm is measured to move although it must not.",
        "s",
        range=(0.02, 1.0),
    ),
    Parameter(
        "telemetry_window",
        _CORE.telemetry_window,
        "Reply bytes on order at once. More keeps a slow adapter's line busy, and makes what is "
        "reported older.",
        "bytes",
        range=(30, 1000),
    ),
    Parameter(
        "request_timeout",
        _CORE.request_timeout,
        "Time after which a request counts as unanswered.",
        "s",
        range=(0.02, 1.0),
    ),
    Parameter(
        "slow_telemetry_period",
        _CORE.slow_telemetry_period,
        "Time between two reports of a joint's mode, temperature, humidity, voltage and status.",
        "s",
        range=(0.1, 60.0),
    ),
    Parameter(
        "state_rate",
        15.0,
        "How often `arm_state` and `gripper_tel` are published, beside every change of a latch.",
        "Hz",
        range=(10.0, 50.0),
    ),
    Parameter(
        "reconnect_period",
        1.0,
        "Time between two attempts to open the port.",
        "s",
        range=(0.05, 60.0),
    ),
)
