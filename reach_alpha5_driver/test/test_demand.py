"""The order of commands, and what an INPUT, TWIST or JOINT must be like."""

from __future__ import annotations

import itertools
import math

import pytest
from driver_rig import FORWARD

from reach_alpha5_common.command import CommandKind, DriverCommand, JointCommand, TwistCommand
from reach_alpha5_driver.demand import CommandOrder, input_problem

SILENCE = 0.5


def command(sequence: int, kind: CommandKind = CommandKind.INPUT) -> DriverCommand:
    return DriverCommand(kind, sequence, input=FORWARD, lifetime=0.25)


@pytest.fixture
def order() -> CommandOrder:
    order = CommandOrder(SILENCE)
    assert order.takes(command(100), 0.0)
    return order


@pytest.mark.parametrize("sequence", [0, 1, 99, 100])
@pytest.mark.parametrize("later", [0.0, 0.4, 0.6, 1000.0])
def test_an_input_that_is_repeated_or_older_never_counts(order, sequence, later):
    assert not order.takes(command(sequence), later)


@pytest.mark.parametrize("kind", [CommandKind.STOP, CommandKind.RESET])
def test_a_new_series_begins_with_what_cannot_move_the_arm_after_a_silence(order, kind):
    assert not order.takes(command(1, kind), SILENCE - 0.01)
    assert order.takes(command(1, kind), SILENCE + 0.01)
    assert order.takes(command(2), SILENCE + 0.02)


def test_a_series_that_is_alive_cannot_be_replaced(order):
    for turn in range(1, 40):
        now = turn * 0.1
        assert order.takes(command(100 + turn), now)
        assert not order.takes(command(1, CommandKind.STOP), now)


def test_sequence_zero_never_counts_since_nobody_set_it():
    assert not CommandOrder(SILENCE).takes(command(0), 0.0)


@pytest.mark.parametrize("lifetime", [0.0, -1.0, 0.51, math.inf, -math.inf, math.nan])
def test_an_input_needs_a_lifetime_within_bounds(lifetime):
    problem = input_problem(DriverCommand(CommandKind.INPUT, 1, lifetime=lifetime), 0.5)
    assert problem is not None
    assert problem.code == "bad_lifetime"


@pytest.mark.parametrize("kind", [CommandKind.INPUT, CommandKind.TWIST, CommandKind.JOINT])
def test_rule_10_of_input_twist_and_joint_one_may_be_set(kind):
    payloads = {
        "input": FORWARD,
        "twist": TwistCommand("tool", (0.1, 0.0, 0.0)),
        "joint": JointCommand(("axis_e",), (3.0,), (0.0,)),
    }
    for count in range(4):
        for names in itertools.combinations(payloads, count):
            chosen = {name: payloads[name] for name in names}
            problem = input_problem(DriverCommand(kind, 1, lifetime=0.2, **chosen), 0.5)
            assert (problem.code if problem else "") == ("two_inputs" if count > 1 else "")


def test_an_input_in_order_has_no_problem():
    assert input_problem(command(1), 0.5) is None
