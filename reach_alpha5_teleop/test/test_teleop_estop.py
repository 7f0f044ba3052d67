"""An e-stop press is told until it is known to have latched: D4."""

from __future__ import annotations

from reach_alpha5_common.command import STILL
from reach_alpha5_teleop.outputs import EStopPressed, Heartbeat, Publish, ResetPressed

NEUTRAL = Publish(STILL)


def test_D4_estop_of_a_single_frame_goes_out(pilot):
    pilot.connect()
    assert pilot.flash("estop") == [EStopPressed()]


def estops(outputs: list) -> list[EStopPressed]:
    return [output for output in outputs if isinstance(output, EStopPressed)]


def test_D4_estop_is_told_again_until_the_arbiter_says_that_it_latched(pilot):
    pilot.connect()
    pilot.flash("estop")
    told = estops(pilot.wait(2.0))
    assert set(told) == {EStopPressed(again=True)}
    assert 5 <= len(told) <= 10, "at its pace"
    pilot.hear(fault=True)
    assert estops(pilot.wait(0.5)) != [], "that is another latch"
    pilot.hear(estop=True)
    assert estops(pilot.wait(2.0)) == []


def test_D4_estop_that_latched_is_not_set_again_after_a_reset_by_somebody_else(pilot):
    pilot.connect()
    pilot.press("estop")
    pilot.hear(estop=True)
    pilot.hear()
    assert estops(pilot.hold(100) + pilot.wait(2.0)) == [], "though the button is down"


def test_D4_estop_that_was_latched_before_the_press_is_no_answer_to_it(pilot):
    pilot.connect()
    pilot.hear(estop=True)
    pilot.flash("estop")
    assert estops(pilot.wait(0.5)) != []


def test_D4_estop_that_is_not_known_to_have_latched_goes_out_once_more_at_the_end(pilot):
    pilot.connect()
    pilot.flash("estop")
    last = [EStopPressed(again=True), NEUTRAL, Heartbeat(False)]
    assert pilot.core.close(pilot.now) == last


def test_reset_before_the_estop_is_known_to_have_latched_is_refused(pilot):
    pilot.connect()
    pilot.tap("estop")
    (refused,) = pilot.tap("reset")
    assert refused.refusal.code == "estop_pending"
    pilot.hear(estop=True)
    assert pilot.tap("reset") == [ResetPressed()]


def test_D4_estop_pressed_over_a_latch_is_not_ended_by_word_of_that_latch(pilot):
    pilot.connect()
    pilot.hear(estop=True)
    pilot.flash("estop")
    pilot.hear(estop=True)
    assert estops(pilot.wait(0.25)) == [EStopPressed(again=True)], "it may be of the latch before"
    pilot.hear(estop=True)
    assert estops(pilot.wait(1.0)) == []


def test_D4_latch_after_the_one_before_was_gone_is_an_answer_at_once(pilot):
    pilot.connect()
    pilot.hear(estop=True)
    pilot.flash("estop")
    pilot.hear()
    pilot.hear(estop=True)
    assert estops(pilot.wait(1.0)) == []


def test_D4_estop_pressed_after_the_reset_was_asked_for_outlasts_it(pilot):
    pilot.connect()
    assert pilot.tap("reset") == [ResetPressed()]
    pilot.tap("estop")
    pilot.hear(estop=True)
    assert estops(pilot.wait(0.3)) == []
    pilot.hold(2)
    assert pilot.core.on_reset_done(pilot.now) == [EStopPressed(again=True)]
    pilot.hear(estop=True)
    assert estops(pilot.wait(0.25)) != [], "that word may be of the latch which was cleared"
    pilot.hear(estop=True)
    assert estops(pilot.wait(1.0)) == []


def test_D4_reset_asked_for_after_the_press_clears_it(pilot):
    pilot.connect()
    assert pilot.core.on_reset_done(pilot.now) == []
    pilot.tap("estop")
    pilot.hear(estop=True)
    assert pilot.tap("reset") == [ResetPressed()]
    assert pilot.core.on_reset_done(pilot.now) == []
    assert estops(pilot.wait(1.0)) == []


def test_D4_reset_that_is_refused_at_the_pad_makes_no_press_older(pilot):
    pilot.connect()
    pilot.tap("reset")
    pilot.tap("estop")
    (refused,) = pilot.tap("reset")
    assert refused.refusal.code == "estop_pending"
    assert pilot.core.on_reset_done(pilot.now) == [EStopPressed(again=True)]
