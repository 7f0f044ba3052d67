"""What the pilot feels."""

from __future__ import annotations

import pytest

from reach_alpha5_teleop.feedback import PATTERNS, Cause, Rumble
from reach_alpha5_teleop.outputs import Feel


def played(rumble: Rumble, begin: float, seconds: float) -> list[tuple[float, float]]:
    """Return the changes (time since `begin` [s], intensity) of so many seconds."""
    changes = []
    for step in range(round(seconds / 0.01)):
        level = rumble.change(begin + step * 0.01)
        if level is not None:
            changes.append((pytest.approx(step * 0.01), level))
    return changes


@pytest.mark.parametrize("cause", Cause)
def test_every_pattern_ends_by_itself_with_the_motor_off(cause):
    rumble = Rumble(0.7)
    assert rumble.start(cause, 5.0)
    changes = played(rumble, 5.0, 3.0)
    assert changes[0] == (0.0, 0.7)
    assert changes[-1][1] == 0.0
    assert not rumble.playing
    assert {level for _, level in changes} == {0.0, 0.7}


def test_no_time_on_is_as_long_as_the_second_after_which_the_joy_nodes_end_it():
    assert all(on < 1.0 for pattern in PATTERNS.values() for on in pattern[::2])
    assert all(len(pattern) % 2 == 0 for pattern in PATTERNS.values()), "the last is quiet"


def test_lost_lease_is_two_pulses():
    rumble = Rumble(1.0)
    rumble.start(Cause.LEASE_LOST, 0.0)
    assert played(rumble, 0.0, 2.0) == [(0.0, 1.0), (0.15, 0.0), (0.3, 1.0), (0.45, 0.0)]


def test_what_goes_on_is_felt_once_a_second():
    rumble, pulses = Rumble(1.0), 0
    for step in range(500):
        rumble.start(Cause.BLOCKED, step * 0.01)
        pulses += rumble.change(step * 0.01) == 1.0
    assert pulses == 5


def test_more_urgent_cause_takes_over_and_a_lesser_one_waits():
    rumble = Rumble(1.0)
    assert rumble.start(Cause.LEASE_LOST, 0.0)
    assert not rumble.start(Cause.BLOCKED, 0.1)
    assert rumble.start(Cause.LATCHED, 0.1)
    assert rumble.start(Cause.BLOCKED, 1.2), "that one is over"


def test_strength_zero_is_never_felt():
    rumble = Rumble(0.0)
    assert not rumble.start(Cause.LATCHED, 0.0)
    assert rumble.change(0.0) is None


def test_stopped_in_a_pulse_the_motor_is_off():
    rumble = Rumble(1.0)
    rumble.start(Cause.LATCHED, 0.0)
    rumble.change(0.0)
    assert rumble.stop() == 0.0
    assert rumble.stop() is None
    assert played(rumble, 0.0, 2.0) == []


def felt(outputs: list) -> list[Cause]:
    return [output.cause for output in outputs if isinstance(output, Feel)]


def test_arm_that_is_held_back_is_felt_by_who_moves_it(pilot):
    pilot.arm()
    assert pilot.core.on_arm(blocked=True) == []
    pilot.move(left_forward=1.0)
    assert pilot.core.on_arm(blocked=False) == []
    assert felt(pilot.core.on_arm(blocked=True)) == [Cause.BLOCKED]
    pilot.move(left_forward=0.0)
    assert pilot.core.on_arm(blocked=True) == []


@pytest.mark.parametrize("owner", ["console", ""])
def test_lease_lost_in_mid_motion_is_felt_once(pilot, owner):
    pilot.arm()
    pilot.move(left_forward=1.0)
    pilot.hear(owner="teleop")
    assert felt(pilot.hear(owner=owner)) == [Cause.LEASE_LOST]
    assert felt(pilot.hear(owner=owner)) == []


def test_lease_that_goes_because_nobody_used_it_is_not_felt(pilot):
    pilot.arm()
    pilot.hear(owner="teleop")
    assert felt(pilot.hear(owner="")) == []


def test_latch_is_felt_when_it_sets(pilot):
    pilot.connect()
    assert felt(pilot.hear(fault=True)) == [], "it was there before us"
    pilot.hear()
    assert felt(pilot.hear(estop=True)) == [Cause.LATCHED]
    assert felt(pilot.hear(estop=True)) == []


def test_nothing_is_felt_without_a_pad(pilot):
    pilot.hear()
    assert pilot.hear(estop=True) == []
