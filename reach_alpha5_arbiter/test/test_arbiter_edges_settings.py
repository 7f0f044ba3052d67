"""What is a number or a default for others too: those of the messages, and of the node."""

from __future__ import annotations

import enum
import math

import pytest

from reach_alpha5_arbiter.config import ArbiterConfig, SourceConfig
from reach_alpha5_arbiter.driver import ArmCondition
from reach_alpha5_arbiter.endpoint import EndpointConfig, EndpointState
from reach_alpha5_arbiter.errand import GoalPhase
from reach_alpha5_arbiter.stream import StreamKind
from reach_alpha5_msgs.msg import ArmState, EStopEndpointStatus, GoalStatus, StreamStatus


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        (ArmCondition, ArmState),
        (EndpointState, EStopEndpointStatus),
        (GoalPhase, GoalStatus),
        (StreamKind, StreamStatus),
    ],
)
def test_the_numbers_of_the_core_are_those_of_the_messages(
    numbers: type[enum.IntEnum], message: type
) -> None:
    assert {each.name: each.value for each in numbers} == {
        each.name: getattr(message, each.name) for each in numbers
    }


DEFAULTS = {
    "repeat_period": 0.05,
    "command_lifetime": 0.25,
    "driver_timeout": 0.5,
    "stop_confirm_timeout": 2.0,
    "max_future": 1.0,
    "max_twist_lifetime": 2.0,
    "ease_time": 0.5,
    "setpoint_period": 0.02,
    "stream_idle_timeout": 1.0,
    "upstream_timeout": 0.0,
}
GOAL_DEFAULTS = {
    "path_tolerance": 0.2,
    "jaw_path_tolerance": 0.002,
    "goal_tolerance": 0.02,
    "jaw_goal_tolerance": 0.0005,
    "goal_time_tolerance": 2.0,
    "start_tolerance": 0.1,
    "jaw_start_tolerance": 0.001,
    "start_blend": 0.5,
    "start_grace": 0.2,
    "max_start_delay": 60.0,
    "max_points": 1000,
    "feedback_timeout": 0.5,
    "rest_velocity": 0.03,
    "rest_jaw_velocity": 0.0003,
    "stop_time": 0.3,
    "gripper_speed": 0.0025,
    "gripper_acceleration": 0.01,
    "stall_time": 0.5,
    "stall_velocity": 0.0003,
}


def test_nobody_loosens_a_time_or_a_tolerance_by_accident() -> None:
    config = ArbiterConfig((SourceConfig("any"),))
    assert {name: getattr(config, name) for name in DEFAULTS} == DEFAULTS
    assert {name: getattr(config.goals, name) for name in GOAL_DEFAULTS} == GOAL_DEFAULTS


def test_a_source_is_no_person_unless_it_says_so() -> None:
    config = SourceConfig("any")
    assert not config.person
    assert (config.heartbeat_timeout, config.idle_release) == (1.0, 3.0)


def test_a_repetition_may_take_half_of_the_lifetime_and_no_more() -> None:
    sources = (SourceConfig("any"),)
    ArbiterConfig(sources, repeat_period=0.125, command_lifetime=0.25)
    with pytest.raises(ValueError, match="repeat_period"):
        ArbiterConfig(sources, repeat_period=0.126, command_lifetime=0.25)
    with pytest.raises(ValueError, match="repeat_period"):
        ArbiterConfig(sources, repeat_period=math.nan)


def test_goals_are_refused_and_no_endpoint_is_needed_unless_asked_for() -> None:
    config = ArbiterConfig((SourceConfig("any"),))
    assert (config.goal_source, config.endpoints) == ("", ())
    assert EndpointConfig("bridge").timeout == 1.0
