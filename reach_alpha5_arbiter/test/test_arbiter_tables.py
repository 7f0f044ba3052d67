"""The tables, the codes and the document agree."""

from __future__ import annotations

import contextlib
import io
import math
import re
from pathlib import Path
from typing import Any

import pytest

from reach_alpha5_arbiter.codes import Code, Disarmed, FaultCause, RefusalCode, StopCause
from reach_alpha5_arbiter.config import TIMES, ArbiterConfig, SourceConfig
from reach_alpha5_arbiter.docs import generated, spliced
from reach_alpha5_arbiter.endpoint import EndpointConfig
from reach_alpha5_arbiter.parameters import (
    KNOWN_SOURCES,
    PARAMETERS,
    check_names,
    config_from,
    source_parameters,
)
from reach_alpha5_arbiter.stream import StreamEnd
from reach_alpha5_arbiter.tables import (
    ACTIVITY,
    FOLLOWING,
    GOAL_PHASES,
    MACHINES,
    MOVING,
    UNCONFIRMED,
    Activity,
    ActivityEvent,
    IllegalTransition,
    Machine,
    Word,
)
from reach_alpha5_common.parameters import ParameterError

DOCUMENT = Path(__file__).parents[2] / "docs" / "arbiter.md"


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_every_state_of_a_machine_can_be_reached_and_left(machine: Machine[Any, Any]) -> None:
    reached = {machine.initial}
    while more := {r.then for r in machine.rows if r.state in reached} - reached:
        reached |= more
    assert reached == set(type(machine.initial))
    for state in reached:
        assert any(row.state is state and row.then is not state for row in machine.rows)


def test_a_pair_that_is_not_listed_is_illegal() -> None:
    with pytest.raises(IllegalTransition, match="REST in STILL"):
        ACTIVITY.step(Activity.STILL, ActivityEvent.REST)


def test_rule9_the_tables_say_a_stop_exactly_when_motion_ends_or_when_it_is_insisted_on() -> None:
    said = {(row.state, row.event) for row in ACTIVITY.rows if row.word in (Word.STOP, Word.EASE)}
    edges = {
        (row.state, row.event)
        for row in ACTIVITY.rows
        if row.state in MOVING and row.then not in MOVING
    }
    insisted = {(state, ActivityEvent.INSIST) for state in Activity}
    overdue = {(state, ActivityEvent.OVERDUE) for state in UNCONFIRMED}
    assert said == edges | insisted | overdue | {(Activity.EASING, ActivityEvent.HALT)}


def test_C6_what_comes_after_a_goal_cannot_begin_before_it_has_really_ended() -> None:
    begins = {
        (row.state, row.event)
        for row in ACTIVITY.rows
        if row.event in (ActivityEvent.MOVE, ActivityEvent.FOLLOW)
    }
    assert {state for state, event in begins if event is ActivityEvent.MOVE} == (
        set(Activity) - GOAL_PHASES
    )
    assert {state for state, event in begins if event is ActivityEvent.FOLLOW} == (
        FOLLOWING | {Activity.STILL}
    )


def test_the_tables_let_motion_fade_only_when_it_is_under_way_and_its_owner_asks_for_no_more() -> (
    None
):
    assert [
        (row.state, row.event, row.then) for row in ACTIVITY.rows if row.word is Word.EASE
    ] == [(Activity.JOGGING, ActivityEvent.EASE, Activity.EASING)]


@pytest.mark.parametrize("codes", [StopCause, RefusalCode, FaultCause, Disarmed, StreamEnd])
def test_codes_are_unique_and_explained(codes: type[Code]) -> None:
    names = [code.code for code in codes]
    assert len(set(names)) == len(names)
    for code in codes:
        assert re.fullmatch(r"[a-z_]+", code.code)
        assert code.code == code.name.lower()
        assert len(code.meaning) > 10


def test_the_document_has_the_tables_as_they_are() -> None:
    text = DOCUMENT.read_text()
    assert generated() in text, "run python -m reach_alpha5_arbiter.docs docs/arbiter.md"
    assert spliced(text) == text


def test_the_example_of_the_document_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(example, {})
    kinds = re.findall(
        r"Send\(command=DriverCommand\(kind=<CommandKind\.(\w+)", printed.getvalue()
    )
    assert kinds == ["STOP", "INPUT", "STOP"]


def test_the_parameters_make_the_configuration() -> None:
    table = [*PARAMETERS, *(p for name in KNOWN_SOURCES for p in source_parameters(name))]
    values = {entry.name: entry.default for entry in table}
    config = config_from(values)
    assert config.sources == tuple(KNOWN_SOURCES.values())
    assert not next(p for p in source_parameters("planner") if p.name == "planner.person").default
    with pytest.raises(ParameterError, match="sources"):
        config_from(values | {"sources": []})
    with pytest.raises(ParameterError, match="max_twist_lifetime"):
        config_from(values | {"twist_lifetime": 2.1})
    other = config_from(values | {"ease_time": 0.2, "max_twist_lifetime": 0.7})
    assert (other.ease_time, other.max_twist_lifetime) == (0.2, 0.7)


@pytest.mark.parametrize("name", ["", "a/b", "a b", "3d", "é"])
def test_a_source_name_that_cannot_be_a_topic_is_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="sources"):
        check_names("sources", [name])


def test_a_source_that_is_named_twice_is_refused_before_anything_is_declared() -> None:
    with pytest.raises(ParameterError, match="twice"):
        check_names("sources", ["teleop", "teleop"])


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"sources": ["teleop", "upstream"], "goal_source": ""}, "upstream"),
        ({"sources": ["teleop", "estop"], "goal_source": ""}, "estop"),
        ({"goal_source": "nobody"}, "nobody"),
        ({"setpoint_period": 0.06}, "setpoint_period"),
        ({"goals.gripper_speed": 0.0005}, "gripper_speed"),
        ({"goals.stall_time": 0.1, "goals.gripper_acceleration": 0.001}, "stall_time"),
    ],
)
def test_settings_that_break_a_promise_are_named(changes: dict[str, Any], names: str) -> None:
    values = {entry.name: entry.default for entry in PARAMETERS} | changes
    for name in values["sources"]:
        values |= {entry.name: entry.default for entry in source_parameters(name)}
    with pytest.raises(ParameterError, match=names):
        config_from(values)


@pytest.mark.parametrize("time", sorted(TIMES))
@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_a_time_that_is_none_is_named(time: str, value: float) -> None:
    with pytest.raises(ValueError, match=time):
        ArbiterConfig((SourceConfig("pad"),), **{time: value})


def test_a_source_and_an_endpoint_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="bridge"):
        ArbiterConfig((SourceConfig("bridge"),), endpoints=(EndpointConfig("bridge"),))
