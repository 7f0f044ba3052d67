"""Parameters of what ends motion, and of what must be so before there is any."""

from __future__ import annotations

from reach_alpha5_common.parameters import Parameter
from reach_alpha5_driver.comparison import ExpectedArm
from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.guard.config import GuardConfig

_CORE = CoreConfig()
_GUARD = GuardConfig()
_EXPECTED = ExpectedArm()

STOPPING = (
    Parameter(
        "max_command_lifetime",
        _CORE.max_command_lifetime,
        "Longest lifetime that a driver command may have. Silence of this length after a demand "
        "for motion is a lapse: only a stop engages again. A stop that may fade for longer (the "
        "arbiter's `ease_time`) is at once.",
        "s",
        (0.05, 2.0),
    ),
    Parameter(
        "stale_after",
        _CORE.stale_after,
        "Age at which a joint's position is stale: the arm does not move from a stale posture. Up "
        "to there the rates that were sent say where the joint is by now, and no arm follows them "
        "so well that they could for longer.",
        "s",
        (0.05, 0.3),
    ),
    Parameter(
        "stop_confirm_time",
        _CORE.stop_confirm_time,
        "After a stop, time until the measured velocities must be zero; else it is repeated.",
        "s",
        (0.05, 5.0),
    ),
    Parameter(
        "stop_repeat_period",
        _CORE.stop_repeat_period,
        "Time between stops while the arm is measured to move although it must not.",
        "s",
        (0.02, 1.0),
    ),
    Parameter(
        "stop_attempts",
        _CORE.stop_attempts,
        "How often a stop that is not obeyed is only repeated. Then standby follows it, then the "
        "motors are disabled, and a fault latches.",
        range=(1, 20),
    ),
    Parameter(
        "settle_time",
        _CORE.settle_time,
        "Longest time that an e-stop of level SETTLE_THEN_CUT waits for measured rest before it "
        "disables the motors.",
        "s",
        (0.1, 30.0),
    ),
)
"""Fields of `CoreConfig`."""

GUARD = (
    Parameter(
        "guard_pulse_period",
        _GUARD.pulse_period,
        "How often the driver tells its guard process that it lives, while the arm may move.",
        "s",
        (0.002, 0.1),
    ),
    Parameter(
        "guard_suspect_after",
        _GUARD.suspect_after,
        "Silence after which the guard looks whether the driver was stopped or is gone, and stops "
        "the arm if so.",
        "s",
        (0.005, 0.2),
    ),
    Parameter(
        "guard_hang_after",
        _GUARD.hang_after,
        "Silence after which the guard stops the arm whatever the reason; the driver then latches "
        "the fault `guard_tripped`.",
        "s",
        (0.01, 1.0),
    ),
    Parameter(
        "guard_repeat_period",
        _GUARD.repeat_period,
        "Time between two stops of the guard.",
        "s",
        (0.01, 0.2),
    ),
)
"""The fields of `GuardConfig`, after `guard_`."""

EXPECTED = (
    Parameter(
        "expected_model_number",
        _EXPECTED.model_number,
        "Model number that all devices must report, else planned motion is refused. 0: any.",
        range=(0.0, 1e9),
    ),
    Parameter(
        "expected_serial_numbers",
        [0.0] * 5,
        "Serial numbers of axis_e, axis_d, axis_c, axis_b, axis_a, else planned motion is "
        "refused. 0: any.",
        range=(0.0, 1e9),
    ),
    Parameter(
        "expected_firmware",
        _EXPECTED.firmware,
        "Firmware `major.minor.patch` that all devices must report, else planned motion is "
        "refused. Empty: any.",
    ),
)

SAFETY = (*STOPPING, *GUARD, *EXPECTED)
