"""From parameter values to the settings of each part."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from reach_alpha5_common.parameters import Parameter, ParameterError
from reach_alpha5_driver.agreement import AgreementConfig
from reach_alpha5_driver.backoff import Backoff, BackoffConfig
from reach_alpha5_driver.budget import line_problem, planned_rate
from reach_alpha5_driver.comparison import ExpectedArm
from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.grip import GripConfig
from reach_alpha5_driver.guard.config import GuardConfig
from reach_alpha5_driver.health import HealthConfig
from reach_alpha5_driver.parameters.line import BACKOFF, SCHEDULE
from reach_alpha5_driver.parameters.motion import CLEARANCES, SHAPE, SPEEDS
from reach_alpha5_driver.parameters.safety import GUARD, STOPPING
from reach_alpha5_driver.parameters.watch import GRIP, HEALTH
from reach_alpha5_driver.schedule import ScheduleConfig
from reach_alpha5_motion.bodies import ArmBodies
from reach_alpha5_motion.collision import CollisionConfig
from reach_alpha5_motion.model import JointLimits
from reach_alpha5_motion.speed import MotionConfig
from reach_alpha5_motion.stopping import Stopping

LEAST_REPORTS = 2.0
"""Reports of a value before it counts as too old, so that one that is lost changes nothing."""

MILLIMETRE = 0.001

Values = Mapping[str, Any]

_T = TypeVar("_T")


def core_config(values: Values) -> CoreConfig:
    """Return the settings of the core.

    Raises:
        ParameterError: they contradict each other, or the line cannot carry what is asked of it.
    """
    schedule = ScheduleConfig(**_fields(SCHEDULE, values))
    problem = line_problem(schedule)
    if problem is not None:
        raise ParameterError(problem.reason)
    reports = planned_rate(schedule) * values["stale_after"]
    if reports < LEAST_REPORTS:
        raise ParameterError(
            f"the line can carry {planned_rate(schedule):.1f} reports a second of each joint: "
            f"{reports:.1f} in stale_after, {values['stale_after']:g} s. A posture that is to "
            f"stay fresh needs {LEAST_REPORTS:g}: raise telemetry_rate, baud_rate or stale_after"
        )
    health = _fields(HEALTH, values)
    if not schedule.slow_telemetry_period * LEAST_REPORTS <= health["slow_stale_after"]:
        raise ParameterError(
            f"slow_telemetry_period is {schedule.slow_telemetry_period:g} s: slow values, the "
            f"motors' modes among them, would be too old after slow_stale_after, "
            f"{health['slow_stale_after']:g} s; set that to {LEAST_REPORTS:g} periods or more"
        )
    health["warn_only_flags"] = tuple(filter(None, health["warn_only_flags"]))
    return _made(
        lambda: CoreConfig(
            **_fields(STOPPING, values),
            minor_auto_reset=values["minor_auto_reset"],
            service_mode=values["service_mode"],
            schedule=schedule,
            expected=_expected(values),
            health=HealthConfig(**health),
            agreement=AgreementConfig(values["disagreement_time"]),
            grip=GripConfig(**_fields(GRIP, values)),
        )
    )


def guard_config(values: Values) -> GuardConfig:
    """Return the settings of the guard.

    Raises:
        ParameterError: they contradict each other.
    """
    return _made(lambda: GuardConfig(**_fields(GUARD, values, "guard_")))


def backoff(values: Values) -> Backoff:
    """Return what says when to open the line again.

    Raises:
        ParameterError: its periods contradict each other.
    """
    return _made(lambda: Backoff(BackoffConfig(**_fields(BACKOFF, values))))


def motion_config(values: Values) -> MotionConfig:
    """Return the settings of motion.

    Raises:
        ParameterError: they contradict each other.
    """
    return _made(
        lambda: MotionConfig(
            **_fields(SPEEDS, values, "max_"),
            **_fields(SHAPE, values),
            stowed=tuple(values["pose_stowed"]),
            deployed=tuple(values["pose_deployed"]),
            lift=tuple(values["pose_lift"]),
            further_poses=tuple(map(_pose, filter(None, values["further_poses"]))),
        )
    )


def collision_config(values: Values) -> CollisionConfig:
    """Return the distances that are kept.

    Raises:
        ParameterError: they contradict each other.
    """
    return _made(
        lambda: CollisionConfig(
            **_fields(CLEARANCES, values, "clearance_"), brake_gain=values["brake_gain"]
        )
    )


def stopping(values: Values, arm: ArmBodies, limits: JointLimits) -> Stopping:
    """Return how the arm stops, which it can within the clearances.

    Args:
        values: of the parameters.
        arm: its bodies.
        limits: of its joints, in the description.

    Raises:
        ParameterError: at its speeds, the arm would be past an inner distance before it is still.
    """
    clearance = collision_config(values)
    found = Stopping.of(limits, motion_config(values), 1.0 / values["control_rate"])
    farthest = max(found.speed(arm.levers(body).tolist()) for body in arm.bodies)
    problems = []
    for name, inner, outer, speed in (
        ("clearance", clearance.inner, clearance.outer, farthest),
        ("clearance_self", clearance.self_inner, clearance.self_outer, found.within_arm),
    ):
        way = speed * found.time
        if not way <= outer - inner:
            enough = math.ceil((inner + way) / MILLIMETRE) * MILLIMETRE
            problems.append(
                f"{name}_outer is {(outer - inner) / MILLIMETRE:.3g} mm more than {name}_inner; "
                f"coming nearer at up to {speed:.3g} m/s, the arm is still after "
                f"{found.time:.3g} s x {speed:.3g} m/s = {way / MILLIMETRE:.3g} mm: set "
                f"{name}_outer to {enough:.3f} m or more, or lower max_joint_speed and "
                "max_wrist_speed, or raise joint_acceleration and wrist_acceleration"
            )
    if problems:
        raise ParameterError("\n".join(problems))
    return found


def _pose(text: str) -> tuple[str, tuple[float, float, float]]:
    """Read `NAME: axis_e axis_d axis_c`."""
    name, _, angles = text.partition(":")
    try:
        axis_e, axis_d, axis_c = map(float, angles.split())
    except ValueError:
        raise ValueError(
            f"further_poses has {text!r}; write 'NAME: axis_e axis_d axis_c', angles in rad"
        ) from None
    return name.strip(), (axis_e, axis_d, axis_c)


def _expected(values: Values) -> ExpectedArm:
    serial_numbers = tuple(values["expected_serial_numbers"])
    if len(serial_numbers) != 5:
        raise ValueError(
            f"expected_serial_numbers has {len(serial_numbers)} numbers; it must have 5, for "
            "axis_e, axis_d, axis_c, axis_b, axis_a"
        )
    return ExpectedArm(
        values["expected_model_number"], serial_numbers, values["expected_firmware"]
    )


def _fields(table: Sequence[Parameter], values: Values, prefix: str = "") -> dict[str, Any]:
    """Return the fields of a settings object: named as the parameters are, without `prefix`."""
    return {entry.name.removeprefix(prefix): values[entry.name] for entry in table}


def _made(make: Callable[[], _T]) -> _T:
    try:
        return make()
    except ValueError as error:
        raise ParameterError(str(error)) from error
