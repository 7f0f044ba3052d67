"""The order of driver commands at its edges, and what is said of one that is out of order."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from driver_rig import FORWARD

from reach_alpha5_common.command import CommandKind, DriverCommand
from reach_alpha5_driver.demand import CommandOrder, Demand, input_problem

SILENCE = 0.5
STOP = DriverCommand(CommandKind.STOP, 1)
INPUT = DriverCommand(CommandKind.INPUT, 1, input=FORWARD, lifetime=0.25)


def test_a_new_series_may_begin_exactly_when_the_silence_is_over():
    order = CommandOrder(SILENCE)
    assert order.takes(replace(INPUT, sequence=9), 1.0)
    assert order.takes(STOP, 1.0 + SILENCE)


def test_what_is_out_of_order_is_refused_by_code_with_both_numbers():
    order = CommandOrder(SILENCE)
    order.takes(replace(INPUT, sequence=977), 1.0)
    assert not order.takes(replace(INPUT, sequence=31), 1.1)
    problem = order.problem(replace(INPUT, sequence=31))
    assert problem.code == "old_sequence"
    assert "31" in problem.reason
    assert "977" in problem.reason


def test_a_lifetime_may_be_the_longest_allowed():
    assert input_problem(replace(INPUT, lifetime=0.5), 0.5) is None


def test_numbers_that_are_none_are_refused_whatever_the_command_is():
    odd = replace(FORWARD, cartesian=replace(FORWARD.cartesian, x=math.nan))
    assert input_problem(replace(INPUT, input=odd), 0.5) is not None


def test_a_demand_that_is_over_has_expired_unless_it_says_otherwise():
    assert Demand(FORWARD, 1.0).ends_as == "expired"


@pytest.mark.parametrize("kind", CommandKind)
def test_the_very_first_command_counts_whatever_it_is(kind):
    order = CommandOrder(SILENCE)
    assert order.takes(DriverCommand(kind, 7), -1e9)
    assert not order.takes(replace(INPUT, sequence=7), 1e9)
