"""What the arbiter is configured with. All times are seconds on the monotonic clock."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from reach_alpha5_arbiter.endpoint import EndpointConfig
from reach_alpha5_arbiter.trajectory import GoalConfig

RESERVED = ("upstream", "estop")
"""What begins topics that are no source's."""

TIMES = {
    "repeat_period": 0.001,
    "setpoint_period": 0.001,
    "command_lifetime": 0.001,
    "driver_timeout": 0.001,
    "stop_confirm_timeout": 0.001,
    "stream_idle_timeout": 0.001,
    "max_twist_lifetime": 0.001,
    "max_future": 0.0,
    "ease_time": 0.0,
    "upstream_timeout": 0.0,
}
"""Settings that are times, and the least that each may be [s]."""


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """One source of commands.

    Raises:
        ValueError: a time that is none.
    """

    name: str
    person: bool = False
    """A person may take the lease from anybody; automation may only acquire a free one."""
    heartbeat_timeout: float = 1.0
    """Silence [s] after which the source is not alive."""
    idle_release: float = 3.0
    """Time [s] without asked-for motion after which its lease is released."""

    def __post_init__(self) -> None:
        for time in (self.heartbeat_timeout, self.idle_release):
            if not 0.0 < time < math.inf:
                raise ValueError(f"{self.name}: a time-out of {time:g} s; it must be above 0")


@dataclass(frozen=True, slots=True)
class ArbiterConfig:
    """The arbiter's settings.

    Raises:
        ValueError: no source, two of one name, one with the name of something else, a goal source
            that is none, two endpoints of one name, a time that is none, or a lifetime that the
            repetition cannot keep up.
    """

    sources: tuple[SourceConfig, ...]
    repeat_period: float = 0.05
    """Time [s] after which a standing command is said to the driver again."""
    command_lifetime: float = 0.25
    """Longest lifetime [s] of an INPUT to the driver."""
    driver_timeout: float = 0.5
    """Silence [s] of the arm's state after which the driver is lost."""
    stop_confirm_timeout: float = 2.0
    """Time [s] within which feedback has to confirm a stop."""
    max_future: float = 1.0
    """How far [s] a stamp may lie ahead of the arbiter's wall clock."""
    max_twist_lifetime: float = 2.0
    """Longest lifetime [s] that a source may give a twist."""
    ease_time: float = 0.5
    """Time [s] that the driver has to let the motion fade when its owner asks for no more."""
    goal_source: str = ""
    """Whose the goals are; empty = goals are refused."""
    goals: GoalConfig = field(default=GoalConfig())
    setpoint_period: float = 0.02
    """Time [s] after which a goal's next set-point is said to the driver."""
    stream_idle_timeout: float = 1.0
    """Longest time [s] without a command after which a stream is closed."""
    endpoints: tuple[EndpointConfig, ...] = ()
    """E-stop endpoints that must check in."""
    upstream_timeout: float = 0.0
    """Silence [s] of the upstream link after which nothing moves; 0 = there is none."""

    def __post_init__(self) -> None:
        names = [source.name for source in self.sources]
        if not names:
            raise ValueError("sources is empty; name at least one source")
        for time, least in TIMES.items():
            if not least <= getattr(self, time) < math.inf:
                raise ValueError(
                    f"{time} is {getattr(self, time):g} s; it must be a number from {least:g} s on"
                )
        if len(set(names)) != len(names):
            raise ValueError(f"sources names one twice: {', '.join(names)}")
        if self.goal_source and self.goal_source not in names:
            raise ValueError(
                f"goal_source is {self.goal_source!r}; it must be one of sources: "
                f"{', '.join(names)}"
            )
        endpoints = [endpoint.name for endpoint in self.endpoints]
        if len(set(endpoints)) != len(endpoints):
            raise ValueError(f"estop_endpoints names one twice: {', '.join(endpoints)}")
        if taken := sorted(set(names) & {*endpoints, *RESERVED}):
            raise ValueError(
                f"sources names {', '.join(taken)}; that is the name of something else, whose "
                "topics it would share"
            )
        if not self.setpoint_period <= self.repeat_period:
            raise ValueError(
                f"setpoint_period is {self.setpoint_period:g} s; it must not be above "
                f"repeat_period ({self.repeat_period:g} s)"
            )
        if not self.repeat_period <= self.command_lifetime / 2:
            raise ValueError(
                f"repeat_period is {self.repeat_period:g} s; it must be at most half of "
                f"command_lifetime ({self.command_lifetime:g} s), or motion stutters"
            )
