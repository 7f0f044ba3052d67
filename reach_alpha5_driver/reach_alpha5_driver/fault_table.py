"""What can be wrong with the arm, how bad it is, and what to do about it: one table each.

A warning is shown and stops nothing. A minor fault stops the arm; it may end by itself. A major
one stops the arm and stays until a reset: what it says can mean damage, or that the arm does not
do what it is told. Which is which is ours: no document gives severities.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.protocol.status import STATUS_BITS


class Severity(enum.IntEnum):
    """How bad a fault is, in order."""

    WARN = 1
    MINOR = 2
    MAJOR = 3


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that can be wrong with one joint."""

    code: str
    """As in `arm_state`, there followed by the joint's name."""
    severity: Severity
    meaning: str
    advice: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A quantity that is compared with a setting."""

    fault: Fault
    quantity: str
    """One of `QUANTITIES`, or `leak`."""
    above: bool
    """Whether it is wrong above the setting; else below."""
    threshold: str
    """Field of `HealthConfig`."""
    hysteresis: str
    """Field of `HealthConfig`: how far back it must come to be right again."""
    time: str = ""
    """Field of `HealthConfig`: how long it must be wrong; empty = two reports are enough."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong now."""

    code: str
    """Code of the fault and name of the joint: `temperature_high axis_c`."""
    severity: Severity
    text: str
    """For people: what is measured, what it means, what to do."""


def found(fault: Fault, joint: int, detail: str, severity: Severity | None = None) -> Finding:
    """Return the finding of a fault at a joint (place in chain order), with what is measured.

    `severity` is given where a setting overrules the table.
    """
    name = DEVICES[joint].joint
    text = f"{name}: {detail}. {fault.meaning} {fault.advice}"
    return Finding(f"{fault.code} {name}", severity or fault.severity, text)


WARN, MINOR, MAJOR = Severity.WARN, Severity.MINOR, Severity.MAJOR

_VENDOR: Final = "Do not move the arm; have it checked by the maker."
_LINE: Final = "Check the cable, its shield and connectors, and the earthing."
_WATER: Final = "Bring the arm up, switch it off and have its seals checked."
_COOL: Final = "Let the arm rest until it has cooled; take load off."
_SUPPLY: Final = "Check the supply and the voltage drop along the tether under load."

_FLAGS: Final[tuple[tuple[str, Severity, str, str], ...]] = (
    ("flash", MAJOR, "The device's memory failed: its limits and calibration may be wrong.",
     _VENDOR),
    ("humidity", MAJOR, "The device finds it too humid inside: water may come in.", _WATER),
    ("temperature", MINOR, "The device is too hot by its own judgement.", _COOL),
    ("serial_error", WARN, "The device sees errors on its serial line.", _LINE),
    ("crc_error", WARN, "The device receives damaged frames.", _LINE),
    ("motor_driver", MAJOR, "The motor's driver circuit reports a fault.", _VENDOR),
    ("encoder_position", MAJOR, "The encoder's position is wrong: nobody knows where the joint "
     "is.", _VENDOR),
    ("encoder_missing", MAJOR, "The encoder does not answer: nobody knows where the joint is.",
     _VENDOR),
    ("axis_conflict", MAJOR, "The device finds itself in conflict with another axis.",
     "Look where the arm is, then move it away from itself and from the hull in small steps."),
    ("motor_disconnected", MAJOR, "The motor is not connected.", _VENDOR),
    ("over_current", MINOR, "The motor drew more current than it may.",
     "Take load off; see whether the joint is blocked."),
    ("inner_encoder", MAJOR, "The motor's own encoder fails.", _VENDOR),
    ("id_conflict", MAJOR, "Two devices have the same id: both obey what is meant for one.",
     "Connect one device alone, and give it its own id with the maker's tool."),
    ("over_pressure", MAJOR, "The pressure inside is too high: water may come in.", _WATER),
    ("driver_over_current_or_under_voltage", MAJOR, "The motor's driver circuit had too much "
     "current or too little voltage; the flag does not tell which.",
     "Check the supply under load; if it is good, have the motor checked by the maker."),
    ("driver_over_temperature", MINOR, "The motor's driver circuit is too hot.", _COOL),
    ("jaw_zero_required", WARN, "The jaws do not know their zero: their position and limits may "
     "be off.", "Zero the jaws with the maker's tool; until then open and close them slowly."),
    ("service_due", WARN, "The maker's service is due.", "Plan it."),
    ("read_protection", WARN, "The firmware is not protected from being read; motion is not "
     "concerned.", "Tell the maker at the next service."),
    ("encoder_fault", MAJOR, "The encoder fails: nobody knows where the joint is.", _VENDOR),
    ("encoder_invalid", MAJOR, "The encoder's value is not valid: nobody knows where the joint "
     "is.", _VENDOR),
    ("low_supply", MINOR, "The device finds its supply voltage too low.", _SUPPLY),
    ("invalid_firmware", MAJOR, "The device's firmware is not valid: it may do anything.",
     "Do not move the arm; load valid firmware with the maker's tool."),
    ("can", MAJOR, "The bus inside the device fails: its parts do not hear each other.", _VENDOR),
    ("position_report_missing", MAJOR, "The device misses reports of its own position.", _VENDOR),
)  # fmt: skip

FLAG_PREFIX: Final = "flag_"

_UNDOCUMENTED: Final = (
    # The default is still: what nobody documented may mean anything, so it stops until somebody
    # who knows has looked. A setting is the way out for a bit that turns out to be harmless.
    MAJOR,
    "No document tells what this flag means.",
    "Ask the maker; if it is harmless, name it in `warn_only_flags`.",
)

FLAGS: Final[Mapping[str, Fault]] = MappingProxyType(
    {name: Fault(FLAG_PREFIX + name, *_UNDOCUMENTED) for name, _, _ in STATUS_BITS}
    | {
        name: Fault(FLAG_PREFIX + name, severity, meaning, advice)
        for name, severity, meaning, advice in _FLAGS
    }
)
"""By the name of the bit in HARDWARE_STATUS: all 32, in wire order."""

COMPARISONS: Final = (
    Comparison(
        Fault("temperature_high", WARN, "The motor gets hot.", _COOL),
        "temperature", True, "temperature_warn", "temperature_hysteresis",
    ),
    Comparison(
        Fault("temperature_too_high", MINOR, "The motor is too hot.", _COOL),
        "temperature", True, "temperature_stop", "temperature_hysteresis",
    ),
    Comparison(
        Fault("current_high", WARN, "The motor works harder than any current limit in use.",
              "Take load off; check the arm's current limits with `alpha5-wire info`."),
        "current", True, "current_warn", "current_hysteresis", "current_time",
    ),
    Comparison(
        Fault("current_too_high", MINOR, "The motor draws so much that it may be damaged.",
              "See what blocks or loads the joint; check the arm's current limits with "
              "`alpha5-wire info`."),
        "current", True, "current_stop", "current_hysteresis", "current_time",
    ),
    Comparison(
        Fault("voltage_low", WARN, "The supply is low.", _SUPPLY),
        "voltage", False, "voltage_low_warn", "voltage_hysteresis", "voltage_time",
    ),
    Comparison(
        Fault("voltage_too_low", MINOR, "The supply is so low that the joint may not follow.",
              _SUPPLY),
        "voltage", False, "voltage_low_stop", "voltage_hysteresis", "voltage_time",
    ),
    Comparison(
        Fault("voltage_high", WARN, "The supply is high.", "Check the supply."),
        "voltage", True, "voltage_high_warn", "voltage_hysteresis", "voltage_time",
    ),
    Comparison(
        Fault("voltage_too_high", MINOR, "The supply is so high that it may damage the arm.",
              "Switch the arm off and check the supply."),
        "voltage", True, "voltage_high_stop", "voltage_hysteresis", "voltage_time",
    ),
    Comparison(
        Fault("humidity_high", WARN, "It is humid inside: water may come in.", _WATER),
        "humidity", True, "humidity_warn", "humidity_hysteresis",
    ),
    Comparison(
        Fault("humidity_too_high", MAJOR, "It is wet inside: water comes in.", _WATER),
        "humidity", True, "humidity_stop", "humidity_hysteresis",
    ),
    Comparison(
        Fault("leak_suspected", WARN, "It is more humid inside than the air that was sealed in "
              "can make it, or it became so quickly: water may come in.", _WATER),
        "leak", True, "leak_warn", "humidity_hysteresis",
    ),
    Comparison(
        Fault("leak", MAJOR, "It is much more humid inside than the air that was sealed in can "
              "make it, or it became so quickly: water comes in.", _WATER),
        "leak", True, "leak_stop", "humidity_hysteresis",
    ),
)  # fmt: skip
"""What `HealthWatch` compares."""

HEALTH_UNHEARD: Final = Fault(
    "health_unheard",
    WARN,
    "The joint tells its position but not this, so nothing watches over it.",
    "See with `alpha5-wire info` whether the device answers; older firmware may not.",
)

MOTOR_STALLED: Final = Fault(
    "motor_stalled",
    MINOR,
    "The joint is told to move and does not: something blocks it, or the motor is too weak.",
    "Look what blocks it and move away from it; take load off.",
)
WRONG_WAY: Final = Fault(
    "wrong_way",
    MAJOR,
    "The joint moves against what it is told.",
    "Check that nothing else commands the arm, then the device's direction with the maker's tool.",
)
WRONG_JOINT: Final = Fault(
    "wrong_joint",
    MAJOR,
    "A joint moves that was told to rest.",
    "Check that nothing else commands the arm, and the device ids with `alpha5-wire info`.",
)
RUNAWAY: Final = Fault(
    "runaway",
    MAJOR,
    "The joint moves much faster than it is told.",
    "Check that nothing else commands the arm; cut its power if it goes on.",
)
MODE_IGNORED: Final = Fault(
    "mode_ignored",
    MAJOR,
    "The device is told velocities and is in another mode.",
    "Check that nothing else commands the arm; enable the arm again.",
)
DISAGREEMENTS: Final = (MOTOR_STALLED, WRONG_WAY, WRONG_JOINT, RUNAWAY, MODE_IGNORED)
"""What `MotionWatch` finds between what is commanded and what is measured."""

JAWS_STRAINING: Final = Fault(
    "jaws_straining",
    WARN,
    "The jaws have pushed against something for long, which heats the motor.",
    "Let go of the control: the gear holds what the jaws hold without current.",
)

FAULTS: Final = (
    *FLAGS.values(),
    *(comparison.fault for comparison in COMPARISONS),
    HEALTH_UNHEARD,
    *DISAGREEMENTS,
    JAWS_STRAINING,
)
"""All of them: for the docs."""
