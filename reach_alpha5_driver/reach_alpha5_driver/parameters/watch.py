"""Parameters of the watch over the arm: faults, disagreement, grip."""

from __future__ import annotations

from reach_alpha5_common.parameters import Parameter
from reach_alpha5_driver.agreement import AgreementConfig
from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.grip import LEAST_GRIP, MOST_GRIP, GripConfig
from reach_alpha5_driver.health import HealthConfig

_HEALTH = HealthConfig()
_GRIP = GripConfig()

_CELSIUS = (-20.0, 120.0)
_AMPERE = (0.05, 5.0)
_VOLT = (5.0, 60.0)
_PERCENT = (1.0, 100.0)

_THRESHOLDS = (
    ("temperature_warn", "Temperature inside a joint above which there is a warning.", "degC",
     _CELSIUS),
    ("temperature_stop", "Temperature above which there is a minor fault.", "degC", _CELSIUS),
    ("temperature_hysteresis", "How far the temperature must fall again.", "degC", (0.0, 40.0)),
    ("current_warn", "Motor current above which, for `current_time`, there is a warning.", "A",
     _AMPERE),
    ("current_stop", "Motor current above which, for `current_time`, there is a fault.", "A",
     _AMPERE),
    ("current_hysteresis", "How far the current must fall again.", "A", (0.0, 1.0)),
    ("current_time", "How long the current must be above its threshold.", "s", (0.0, 60.0)),
    ("voltage_low_warn", "Supply voltage below which, for `voltage_time`, there is a warning.",
     "V", _VOLT),
    ("voltage_low_stop", "Supply voltage below which there is a fault.", "V", _VOLT),
    ("voltage_high_warn", "Supply voltage above which there is a warning.", "V", _VOLT),
    ("voltage_high_stop", "Supply voltage above which there is a fault.", "V", _VOLT),
    ("voltage_hysteresis", "How far the voltage must come back.", "V", (0.0, 5.0)),
    ("voltage_time", "How long the voltage must be beyond its threshold.", "s", (0.0, 60.0)),
    ("humidity_warn", "Humidity inside a joint above which there is a warning.", "%", _PERCENT),
    ("humidity_stop", "Humidity above which there is a fault.", "%", _PERCENT),
    ("humidity_hysteresis", "How far the humidity must fall again, also for leaks.", "%",
     (0.0, 30.0)),
    ("leak_warn", "Humidity above what the sealed air explains, or above its slow trend: a "
     "warning.", "%", _PERCENT),
    ("leak_stop", "The same, above which there is a fault.", "%", _PERCENT),
    ("leak_trend", "How fast the trend follows rising humidity.", "%/s", (0.0, 1.0)),
    ("slow_stale_after", "Silence of a slow value that is worth a warning; it counts as unknown "
     "then.", "s", (0.5, 300.0)),
)  # fmt: skip

HEALTH = (
    *(
        Parameter(name, getattr(_HEALTH, name), description, unit, bounds)
        for name, description, unit, bounds in _THRESHOLDS
    ),
    Parameter(
        "warn_only_flags",
        [""],
        "Status flags of the arm that shall only warn, whatever docs/driver.md says of them.",
    ),
)
"""The fields of `HealthConfig`."""

GRIP = (
    Parameter(
        "grip_current",
        _GRIP.grip_current,
        "Most current that the jaws may draw. It is set in the arm, and not saved there.",
        "A",
        (LEAST_GRIP, MOST_GRIP),
    ),
    Parameter(
        "holding_fraction",
        _GRIP.holding_fraction,
        "Share of the grip current from which jaws that do not move hold something.",
        range=(0.1, 1.0),
    ),
    Parameter(
        "holding_time",
        _GRIP.holding_time,
        "How long they must draw it.",
        "s",
        (0.05, 5.0),
    ),
    Parameter(
        "strain_time",
        _GRIP.strain_time,
        "How long the jaws may push before there is a warning.",
        "s",
        (1.0, 600.0),
    ),
)
"""The fields of `GripConfig`."""

WATCH = (
    Parameter(
        "minor_auto_reset",
        CoreConfig().minor_auto_reset,
        "Let minor faults end with what they are about. Motion begins from neutral all the same.",
    ),
    Parameter(
        "disagreement_time",
        AgreementConfig().disagreement_time,
        "How long commanded and measured motion may disagree before there is a fault.",
        "s",
        (0.5, 10.0),
    ),
    *HEALTH,
    *GRIP,
)
