"""How old a command is when the node takes it: by the middleware's account, if it keeps one."""

from __future__ import annotations

import math

import pytest

from reach_alpha5_driver.node import time_waited

NOW = 1_700_000_000_000_000_000


def test_time_in_the_queue_counts():
    assert time_waited(NOW - 250_000_000, NOW) == pytest.approx(0.25)
    assert time_waited(NOW, NOW) == 0.0


def test_U6_a_clock_that_was_set_back_makes_no_command_younger():
    assert time_waited(NOW + 1, NOW) == math.inf


def test_a_middleware_that_does_not_tell_the_time_of_receipt_makes_no_command_old():
    assert time_waited(0, NOW) == 0.0
