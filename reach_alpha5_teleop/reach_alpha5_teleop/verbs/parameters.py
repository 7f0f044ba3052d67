"""Every parameter of the verbs node."""

from __future__ import annotations

from reach_alpha5_common.freshness import MAX_STAMP_AGE
from reach_alpha5_common.parameters import Parameter

PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        "source",
        "app",
        "Our name among the arbiter's `sources`: nobody else may speak for it. A source that is "
        "no person's cannot take the arm from one.",
    ),
    Parameter(
        "twist_ttl",
        0.5,
        "Silence on `cmd_vel` beyond this ends the motion. Not above the arbiter's "
        "`max_twist_lifetime`.",
        unit="s",
        range=(0.1, 2.0),
    ),
    Parameter(
        "command_lifetime",
        0.5,
        "A command of a verb ends by itself after this, should the node die; it is said again "
        "three times as often.",
        unit="s",
        range=(0.1, 2.0),
    ),
    Parameter(
        "verb_timeout",
        60.0,
        "Longest time that a verb runs before it is ended, and the caller told so.",
        unit="s",
        range=(1.0, 600.0),
    ),
    Parameter(
        "heartbeat_period",
        0.1,
        "Time between two heartbeats; also how often time-outs are looked at.",
        unit="s",
        range=(0.02, 0.5),
    ),
    MAX_STAMP_AGE,
)
