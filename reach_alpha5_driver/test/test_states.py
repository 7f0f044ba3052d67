"""The table of operating states."""

from __future__ import annotations

import itertools

import pytest

from reach_alpha5_driver.states import TRANSITIONS, Event, State, after


def test_every_state_is_in_the_table():
    assert set(TRANSITIONS) == set(State)


def test_a_demand_while_enabled_is_the_only_way_to_execute():
    ways = [
        (state, event)
        for state, event in itertools.product(State, Event)
        if after(state, event) is State.EXECUTING and state is not State.EXECUTING
    ]
    assert ways == [(State.ENABLED, Event.MOVE)]


def test_only_a_reset_leaves_a_major_fault_and_never_into_motion():
    ways = {event for event in Event if after(State.MAJOR_FAULT, event) is not State.MAJOR_FAULT}
    assert ways == {Event.CLEAR}
    assert after(State.MAJOR_FAULT, Event.CLEAR) is State.NONE


@pytest.mark.parametrize("state", State)
def test_a_fault_is_taken_in_every_state(state):
    assert after(state, Event.FAULT) is State.MAJOR_FAULT


@pytest.mark.parametrize("state", [State.IDLE, State.ENABLED, State.EXECUTING])
def test_a_silent_arm_is_no_arm(state):
    assert after(state, Event.ARM_SILENT) is State.NONE


@pytest.mark.parametrize("state", State)
def test_every_state_but_a_fault_can_be_reached_and_left(state):
    reached = {after(start, event) for start, event in itertools.product(State, Event)}
    assert state in reached
    assert any(after(state, event) is not state for event in Event)
