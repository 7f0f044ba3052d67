"""The parameters of the arbiter's node: one table, and the one for each source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from reach_alpha5_arbiter.config import ArbiterConfig, SourceConfig
from reach_alpha5_arbiter.endpoint import EndpointConfig
from reach_alpha5_arbiter.trajectory import GoalConfig
from reach_alpha5_common.command import StopLevel
from reach_alpha5_common.freshness import MAX_STAMP_AGE
from reach_alpha5_common.parameters import Parameter, ParameterError

COMMANDS = (
    Parameter(
        "sources",
        ["teleop", "console", "app", "planner"],
        "Names of the sources. Each has the topics `<source>/gripper_ctrl`, `<source>/twist`, "
        "`<source>/twist_ctrl`, `<source>/joint_ctrl` and `<source>/heartbeat` and the parameters "
        "`<source>.*`.",
    ),
    Parameter(
        "repeat_period",
        0.05,
        "A standing command is said to the driver again after this time; also how often "
        "time-outs are looked at. At most half of `command_lifetime`.",
        unit="s",
        range=(0.005, 0.25),
    ),
    Parameter(
        "command_lifetime",
        0.25,
        "Longest lifetime of what is said to the driver: the arm stops this long after the "
        "arbiter died. Not above the driver's `max_command_lifetime`.",
        unit="s",
        range=(0.02, 0.5),
    ),
    Parameter(
        "driver_timeout",
        0.5,
        "Silence of `arm_state` after which the driver is lost. The driver publishes at 10 Hz "
        "or faster. So long it may also say that it is not engaged while motion is asked of it.",
        unit="s",
        range=(0.15, 10.0),
    ),
    Parameter(
        "stop_confirm_timeout",
        2.0,
        "Time within which feedback has to confirm a stop; after it a fault latches. Ours.",
        unit="s",
        range=(0.2, 60.0),
    ),
    Parameter(
        "max_future",
        1.0,
        "How far the stamp of a command may lie ahead of the arbiter's wall clock. Ours.",
        unit="s",
        range=(0.0, 60.0),
    ),
    MAX_STAMP_AGE,
    Parameter(
        "twist_lifetime",
        0.5,
        "Lifetime of each command on `<source>/twist`, whose message has none: its sender repeats "
        "it more often. Not above `max_twist_lifetime`. Ours.",
        unit="s",
        range=(0.02, 10.0),
    ),
    Parameter(
        "max_twist_lifetime",
        2.0,
        "Longest lifetime of a twist that moves; a longer one, or none, is refused. Ours.",
        unit="s",
        range=(0.02, 10.0),
    ),
    Parameter(
        "ease_time",
        0.5,
        "How long the driver may let the motion fade when the owner asks for no more; every other "
        "stop is at once. 0 = this one too. Not above the driver's `max_command_lifetime`. Ours.",
        unit="s",
        range=(0.0, 0.5),
    ),
    Parameter(
        "rest_velocity",
        0.03,
        "A rotary joint whose measured speed is not above this rests. Ours.",
        unit="rad/s",
        range=(0.0, 0.2),
    ),
    Parameter(
        "rest_jaw_velocity",
        0.0003,
        "Jaws whose measured push-rod speed is not above this rest. Ours.",
        unit="m/s",
        range=(0.0, 0.002),
    ),
)

_GOALS = GoalConfig()
_CONFIG = ArbiterConfig((SourceConfig("any"),))

GOALS = (
    Parameter(
        "goal_source",
        "planner",
        "The source whose goals the actions `follow_joint_trajectory` and `gripper_cmd` are: one "
        "of `sources`, and alive by its heartbeat. Empty = goals are refused.",
    ),
    Parameter(
        "setpoint_period",
        _CONFIG.setpoint_period,
        "A goal's next set-point is said to the driver after this time. Not above "
        "`repeat_period`.",
        unit="s",
        range=(0.005, 0.1),
    ),
    Parameter(
        "goals.path_tolerance",
        _GOALS.path_tolerance,
        "How far a joint may be off the path of a goal that does not say it itself. Ours.",
        unit="rad",
        range=(0.01, 3.2),
    ),
    Parameter(
        "goals.jaw_path_tolerance",
        _GOALS.jaw_path_tolerance,
        "The same of the jaws, where a trajectory names them. Ours.",
        unit="m",
        range=(0.0001, 0.02),
    ),
    Parameter(
        "goals.goal_tolerance",
        _GOALS.goal_tolerance,
        "How far a joint may end off the last point of a goal that does not say it itself. Ours.",
        unit="rad",
        range=(0.001, 1.0),
    ),
    Parameter(
        "goals.jaw_goal_tolerance",
        _GOALS.jaw_goal_tolerance,
        "The same of the jaws. Ours.",
        unit="m",
        range=(0.0001, 0.02),
    ),
    Parameter(
        "goals.goal_time_tolerance",
        _GOALS.goal_time_tolerance,
        "How much longer the arm may take, where a goal does not say it itself. Ours.",
        unit="s",
        range=(0.1, 60.0),
    ),
    Parameter(
        "goals.start_tolerance",
        _GOALS.start_tolerance,
        "Difference between the measured position and a first point that is due at once, above "
        "which a goal is refused. Ours.",
        unit="rad",
        range=(0.001, 1.0),
    ),
    Parameter(
        "goals.jaw_start_tolerance",
        _GOALS.jaw_start_tolerance,
        "The same of the jaws. Ours.",
        unit="m",
        range=(0.0001, 0.02),
    ),
    Parameter(
        "goals.start_blend",
        _GOALS.start_blend,
        "Time in which what there is of that difference fades. Ours.",
        unit="s",
        range=(0.05, 5.0),
    ),
    Parameter(
        "goals.start_grace",
        _GOALS.start_grace,
        "How far the stamped start of a trajectory may have passed when it comes. Ours.",
        unit="s",
        range=(0.0, 2.0),
    ),
    Parameter(
        "goals.max_start_delay",
        _GOALS.max_start_delay,
        "How far a stamped start may lie ahead. Ours.",
        unit="s",
        range=(0.0, 600.0),
    ),
    Parameter(
        "goals.max_points",
        _GOALS.max_points,
        "Most points of a trajectory. While 1000 of them are read nothing else is heard for some "
        "13 ms. Ours.",
        range=(2, 3000),
    ),
    Parameter(
        "goals.feedback_timeout",
        _GOALS.feedback_timeout,
        "Age of the measured positions above which a goal neither begins nor goes on. Ours.",
        unit="s",
        range=(0.05, 2.0),
    ),
    Parameter(
        "goals.stop_time",
        _GOALS.stop_time,
        "Time in which a goal that is cancelled, replaced or preempted slows down along its path. "
        "Ours.",
        unit="s",
        range=(0.05, 5.0),
    ),
    Parameter(
        "goals.gripper_speed",
        _GOALS.gripper_speed,
        "Speed of the jaws' push-rod in a gripper goal; not above the driver's `max_jaw_speed`. "
        "Ours.",
        unit="m/s",
        range=(0.0001, 0.01),
    ),
    Parameter(
        "goals.gripper_acceleration",
        _GOALS.gripper_acceleration,
        "Its acceleration. Ours.",
        unit="m/s^2",
        range=(0.001, 1.0),
    ),
    Parameter(
        "goals.stall_time",
        _GOALS.stall_time,
        "Time for which the jaws of a gripper goal must not get on to have met something. Ours.",
        unit="s",
        range=(0.1, 5.0),
    ),
    Parameter(
        "goals.stall_velocity",
        _GOALS.stall_velocity,
        "Jaws that are not faster do not get on. Ours.",
        unit="m/s",
        range=(0.0, 0.01),
    ),
    Parameter(
        "target_check",
        "",
        "A check of one's own for joint targets, `module:function`: it is called with joint names "
        "and positions [rad, m] of each point of a goal and each set-point of a stream, and "
        "returns why it objects, or an empty string. Empty = none.",
    ),
    Parameter(
        "stream_idle_timeout",
        _CONFIG.stream_idle_timeout,
        "Longest time without a command after which an open stream is closed. Ours.",
        unit="s",
        range=(0.05, 60.0),
    ),
)

STOPS = (
    Parameter(
        "estop_endpoints",
        [""],
        "Names of the e-stop endpoints that must check in; each has the topics "
        "`estop/<name>/challenge` and `estop/<name>/check_in` and the parameters "
        "`estop.<name>.*`. One empty name = there are none.",
    ),
    Parameter(
        "upstream_timeout",
        _CONFIG.upstream_timeout,
        "Silence of `upstream/heartbeat` after which nothing moves until it is back. 0 = there is "
        "no upstream link to watch.",
        unit="s",
        range=(0.0, 10.0),
    ),
)

PARAMETERS = COMMANDS + GOALS + STOPS

KNOWN_SOURCES = {
    "teleop": SourceConfig("teleop", person=True, heartbeat_timeout=0.5),
    "console": SourceConfig("console", person=True, heartbeat_timeout=1.0),
    "app": SourceConfig("app", person=True, heartbeat_timeout=1.5),
    "planner": SourceConfig("planner", person=False, heartbeat_timeout=0.5),
}
"""Defaults of the sources that the project knows. The app's heartbeat is 1 Hz in the field."""


LONGEST_NAME = 64
"""Characters of the name of a source or an endpoint."""


def source_parameters(name: str) -> tuple[Parameter, ...]:
    """Return the parameters of the source `name`; one that is not known is automation."""
    default = KNOWN_SOURCES.get(name, SourceConfig(name))
    return (
        Parameter(
            f"{name}.person",
            default.person,
            "A person may take the lease from anybody; automation may only acquire a free one.",
        ),
        Parameter(
            f"{name}.heartbeat_timeout",
            default.heartbeat_timeout,
            "Silence of the heartbeat after which the source is not alive. Ours.",
            unit="s",
            range=(0.05, 10.0),
        ),
        Parameter(
            f"{name}.idle_release",
            default.idle_release,
            "Time without asked-for motion after which its lease is released. Ours.",
            unit="s",
            range=(0.1, 3600.0),
        ),
    )


def endpoint_parameters(name: str) -> tuple[Parameter, ...]:
    """Return the parameters of the e-stop endpoint `name`."""
    default = EndpointConfig(name)
    return (
        Parameter(
            f"estop.{name}.timeout",
            default.timeout,
            "Time after the last challenge that it answered after which it has lapsed. Ours.",
            unit="s",
            range=(0.4, 10.0),
        ),
        Parameter(
            f"estop.{name}.lapse_level",
            default.lapse_level.name.lower(),
            "Level of the e-stop while it is not heard, as `EStop.msg` tells them. Ours.",
            choices=("settle_then_cut", "cut"),
        ),
    )


def endpoint_names(values: Mapping[str, Any]) -> list[str]:
    """Return the names of the e-stop endpoints."""
    return [] if values["estop_endpoints"] == [""] else list(values["estop_endpoints"])


def check_names(parameter: str, names: Sequence[str]) -> None:
    """Check that the names in a parameter can be parts of topic and parameter names.

    Raises:
        ParameterError: one is not an identifier in ASCII, or is there twice.
    """
    if len(set(names)) != len(names):
        raise ParameterError(f"{parameter} names one twice: {', '.join(names)}")
    for name in names:
        if not (name.isidentifier() and name.isascii() and len(name) <= LONGEST_NAME):
            raise ParameterError(
                f"{parameter}: {name[:80]!r} cannot be part of a topic; use letters, digits "
                f"and _, {LONGEST_NAME} at most"
            )
        if "__" in name:
            raise ParameterError(f"{parameter}: {name!r} has __, and topics may not")


def config_from(values: Mapping[str, Any]) -> ArbiterConfig:
    """Make the core's configuration of declared parameter values, those of sources included.

    Raises:
        ParameterError: the values do not fit each other.
    """
    lifetime, longest = values["twist_lifetime"], values["max_twist_lifetime"]
    if lifetime > longest:
        raise ParameterError(
            f"twist_lifetime is {lifetime:g} s; it must not be above max_twist_lifetime "
            f"({longest:g} s), or every twist is refused"
        )
    goals = {
        field.name: values[f"goals.{field.name}"]
        for field in fields(GoalConfig)
        if f"goals.{field.name}" in values
    }
    try:
        return ArbiterConfig(
            tuple(
                SourceConfig(
                    name,
                    person=values[f"{name}.person"],
                    heartbeat_timeout=values[f"{name}.heartbeat_timeout"],
                    idle_release=values[f"{name}.idle_release"],
                )
                for name in values["sources"]
            ),
            repeat_period=values["repeat_period"],
            command_lifetime=values["command_lifetime"],
            driver_timeout=values["driver_timeout"],
            stop_confirm_timeout=values["stop_confirm_timeout"],
            max_future=values["max_future"],
            max_twist_lifetime=longest,
            ease_time=values["ease_time"],
            goal_source=values["goal_source"],
            goals=GoalConfig(
                rest_velocity=values["rest_velocity"],
                rest_jaw_velocity=values["rest_jaw_velocity"],
                **goals,
            ),
            setpoint_period=values["setpoint_period"],
            stream_idle_timeout=values["stream_idle_timeout"],
            endpoints=tuple(
                EndpointConfig(
                    name,
                    values[f"estop.{name}.timeout"],
                    StopLevel[values[f"estop.{name}.lapse_level"].upper()],
                )
                for name in endpoint_names(values)
            ),
            upstream_timeout=values["upstream_timeout"],
        )
    except ValueError as error:
        raise ParameterError(str(error)) from error
