"""The parameters of the arbiter's node: one table, and the one for each source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reach_alpha5_arbiter.config import ArbiterConfig, SourceConfig
from reach_alpha5_common.parameters import Parameter, ParameterError

PARAMETERS = (
    Parameter(
        "sources",
        ["teleop", "console", "app"],
        "Names of the sources. Each has the topics `<source>/gripper_ctrl`, `<source>/twist`, "
        "`<source>/twist_ctrl` and `<source>/heartbeat` and the parameters `<source>.*`.",
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
        range=(0.0, 1.0),
    ),
    Parameter(
        "rest_jaw_velocity",
        0.0003,
        "Jaws whose measured push-rod speed is not above this rest. Ours.",
        unit="m/s",
        range=(0.0, 0.01),
    ),
)

KNOWN_SOURCES = {
    "teleop": SourceConfig("teleop", person=True, heartbeat_timeout=0.5),
    "console": SourceConfig("console", person=True, heartbeat_timeout=1.0),
    "app": SourceConfig("app", person=True, heartbeat_timeout=1.5),
}
"""Defaults of the sources that the project knows. The app's heartbeat is 1 Hz in the field."""


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


def check_names(names: Sequence[str]) -> None:
    """Check that the source names can be parts of topic and parameter names.

    Raises:
        ParameterError: one is not an identifier in ASCII, or is there twice.
    """
    if len(set(names)) != len(names):
        raise ParameterError(f"sources names one twice: {', '.join(names)}")
    for name in names:
        if not (name.isidentifier() and name.isascii()):
            raise ParameterError(
                f"sources: {name!r} cannot be part of a topic; use letters, digits and _"
            )


def config_from(values: Mapping[str, Any]) -> ArbiterConfig:
    """Make the core's configuration of declared parameter values, those of sources included.

    Raises:
        ParameterError: the values do not fit each other.
    """
    sources = tuple(
        SourceConfig(
            name,
            person=values[f"{name}.person"],
            heartbeat_timeout=values[f"{name}.heartbeat_timeout"],
            idle_release=values[f"{name}.idle_release"],
        )
        for name in values["sources"]
    )
    lifetime, longest = values["twist_lifetime"], values["max_twist_lifetime"]
    if lifetime > longest:
        raise ParameterError(
            f"twist_lifetime is {lifetime:g} s; it must not be above max_twist_lifetime "
            f"({longest:g} s), or every twist is refused"
        )
    try:
        return ArbiterConfig(
            sources,
            repeat_period=values["repeat_period"],
            command_lifetime=values["command_lifetime"],
            driver_timeout=values["driver_timeout"],
            stop_confirm_timeout=values["stop_confirm_timeout"],
            max_future=values["max_future"],
            max_twist_lifetime=longest,
            ease_time=values["ease_time"],
        )
    except ValueError as error:
        raise ParameterError(str(error)) from error
