"""From parameters to settings: what contradicts itself is refused, with what to do about it."""

from __future__ import annotations

import pytest

from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.configuration import (
    backoff,
    collision_config,
    core_config,
    guard_config,
    motion_config,
)
from reach_alpha5_driver.guard.config import GuardConfig
from reach_alpha5_driver.parameters import PARAMETERS

DEFAULTS = {entry.name: entry.default for entry in PARAMETERS}


def test_the_defaults_of_the_table_are_those_of_the_parts():
    assert core_config(DEFAULTS) == CoreConfig(
        expected=core_config(DEFAULTS).expected  # five zeros instead of none: any serial number
    )
    assert guard_config(DEFAULTS) == GuardConfig()
    motion_config(DEFAULTS)
    backoff(DEFAULTS)


def test_no_parameter_is_in_the_table_twice():
    assert len(DEFAULTS) == len(PARAMETERS)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"telemetry_rate": 90.0}, "the line has 11520"),
        ({"telemetry": "heartbeat", "wiring": "rs485"}, "collide"),
        ({"telemetry_rate": 5.0}, "raise telemetry_rate"),
        ({"baud_rate": 9600, "wiring": "rs485"}, "bytes/s"),
        ({"slow_telemetry_period": 10.0}, "slow_stale_after"),
        ({"temperature_stop": 50.0}, "temperature_stop"),
        ({"warn_only_flags": ["no_such_flag"]}, "no_such_flag"),
        ({"expected_serial_numbers": [1.0]}, "expected_serial_numbers"),
        ({"grip_current": 0.01}, "grip_current"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(values, says):
    with pytest.raises(ParameterError, match=says):
        core_config(DEFAULTS | values)


def test_distances_that_contradict_each_other_are_refused():
    with pytest.raises(ParameterError, match=r"inner and outer are 0\.06 and 0\.05"):
        collision_config(DEFAULTS | {"clearance_inner": 0.06, "clearance_outer": 0.05})


def test_a_posture_may_be_no_older_than_the_motion_foresees():
    ranges = {entry.name: entry for entry in PARAMETERS}
    assert ranges["stale_after"].problem(0.3) is None
    assert "[0.05, 0.3]" in ranges["stale_after"].problem(0.31)


def test_guard_times_that_contradict_each_other_are_refused():
    with pytest.raises(ParameterError, match="guard"):
        guard_config(DEFAULTS | {"guard_pulse_period": 0.1, "guard_suspect_after": 0.01})


def test_reconnect_periods_that_contradict_each_other_are_refused():
    with pytest.raises(ParameterError, match="reconnect_period"):
        backoff(DEFAULTS | {"reconnect_period": 10.0, "reconnect_period_max": 1.0})


def test_flags_of_an_empty_list_are_none():
    assert core_config(DEFAULTS).health.warn_only_flags == ()
