"""A pad whose profile is found out."""

from __future__ import annotations

import pytest

from reach_alpha5_common.command import STILL
from reach_alpha5_common.refusal import Problem
from reach_alpha5_teleop import profiles
from reach_alpha5_teleop.auto import AutoTeleop
from reach_alpha5_teleop.core import ArbiterView, TeleopConfig
from reach_alpha5_teleop.outputs import (
    EStopPressed,
    Heartbeat,
    PadFound,
    Publish,
    Refused,
    ResetPressed,
)

NEUTRAL = Publish(STILL)


@pytest.fixture
def auto(pilot):
    """A pilot whose core has to find out what the pad is."""
    pilot.core = AutoTeleop(profiles.shipped(), TeleopConfig())
    return pilot


def found(outputs: list) -> list[str]:
    return [output.profile for output in outputs if isinstance(output, PadFound)]


def test_pad_that_is_found_out_moves_the_arm(auto, commands):
    assert found(auto.settle() + auto.settle()) == ["xbox_game_controller"]
    auto.settle()
    auto.press("deadman")
    assert commands(auto.move(left_forward=1.0)) != []


def test_unknown_pad_moves_nothing_and_is_absent(auto, commands):
    auto.held.add("deadman")
    out = auto.hold(5) + auto.move(left_forward=1.0) + auto.hold(30)
    assert commands(out) == []
    assert {o.refusal.code for o in out if isinstance(o, Refused)} == {"pad_not_at_rest"}
    assert auto.core.tick(auto.now) == [Heartbeat(False)]
    assert auto.core.on_pad_gone(auto.now) == auto.core.on_arm(blocked=True) == []


def test_pad_that_comes_back_is_looked_at_anew_and_its_estop_counts_at_once(auto):
    auto.settle()
    auto.settle()
    auto.wait(0.7)
    assert auto.flash("estop") == [EStopPressed()]
    assert EStopPressed(again=True) in auto.wait(0.3)
    assert found(auto.settle() + auto.settle()) == ["xbox_game_controller"]
    assert EStopPressed(again=True) in auto.wait(0.3), "it is told on"


def test_gap_that_no_tick_saw_may_have_brought_another_pad(auto):
    auto.settle()
    auto.settle()
    auto.now += 1.0
    assert auto.hold(1) == [Heartbeat(False)]
    assert found(auto.settle() + auto.settle()) == ["xbox_game_controller"]


def test_what_the_arbiter_said_before_the_pad_was_known_is_not_forgotten(auto, commands):
    assert auto.core.on_arbiter(ArbiterView(fault=True), auto.now) == []
    auto.settle()
    auto.settle()
    auto.press("deadman")
    assert commands(auto.move(left_forward=1.0)) == []


def test_replayed_frames_make_no_pad_known(auto):
    old = Problem("replayed", "out of a bag")
    for _ in range(100):
        auto.now += 0.02
        (refused,) = auto.core.on_joy(auto.frame(), auto.now, old)
    assert (refused.refusal.code, refused.refusal.count) == ("replayed", 100)


def test_D6_leaving_says_neutral_and_absent_whether_a_pad_was_known_or_not(auto):
    assert auto.core.close(auto.now) == [NEUTRAL, Heartbeat(False)]
    auto.settle()
    auto.settle()
    assert auto.core.close(auto.now) == [NEUTRAL, Heartbeat(False)]


def test_D4_estop_pressed_after_the_reset_was_asked_for_outlasts_it(auto):
    assert auto.core.on_reset_done(auto.now) == [], "no pad was known yet"
    auto.settle()
    auto.settle()
    assert auto.tap("reset") == [ResetPressed()]
    auto.tap("estop")
    auto.wait(0.7)
    assert auto.core.on_reset_done(auto.now) == [EStopPressed(again=True)], (
        "though the pad is gone"
    )
