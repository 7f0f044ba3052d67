"""The watch over an arm that must rest: what counts as motion, and when the stop is due again."""

from __future__ import annotations

import math

import pytest
from driver_rig import BOUNDS

from reach_alpha5_driver.belief import Belief
from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.rest import (
    CONFIRM_LAG,
    DRIFT,
    FORGIVEN_AFTER,
    RESTING,
    RestWatch,
    is_confirmed,
)
from reach_alpha5_driver.stops import Beyond

POSTURE = (3.0, 1.5, 1.5, 3.0, 0.005)
CONFIRM, REPEAT, ATTEMPTS = 0.4, 0.1, 3
PERIOD = 0.01


class Scene:
    """A belief that is fed, and a watch that looks at it."""

    def __init__(self):
        self.now = 100.0
        self.belief = Belief(BOUNDS, 0.25)
        self.watch = RestWatch(CONFIRM, REPEAT, ATTEMPTS)
        self.stopped_at = self.now
        self.steps = []
        """What was added to each stop that was asked for."""

    def look(self):
        """Look once; return whether a stop was asked for, and take it as written."""
        beyond = self.watch.next_step(self.belief, self.stopped_at, self.now)
        if beyond is None:
            return False
        self.steps.append(beyond)
        self.stopped_at = self.now
        return True

    def run(self, seconds, velocities=(0.0,) * 5, drift=(0.0,) * 5, silent=()):
        """Report for a while; return when the stop was asked for, counted from the beginning."""
        start, asked = self.now, []
        for step in range(round(seconds / PERIOD)):
            self.now = start + step * PERIOD
            for joint in set(range(5)) - set(silent):
                way = drift[joint] * step * PERIOD
                self.belief.on_position(joint, POSTURE[joint] + way, self.now)
                self.belief.on_velocity(joint, velocities[joint], self.now)
            if self.look():
                asked.append(self.now - start)
        return asked


def of(joint, value):
    """Return `value` for one joint and zero for the others."""
    return tuple(value if index == joint else 0.0 for index in range(5))


def test_an_arm_at_rest_is_left_alone():
    assert Scene().run(10.0, velocities=[0.9 * RESTING[device.unit] for device in DEVICES]) == []


@pytest.mark.parametrize("joint", range(5))
@pytest.mark.parametrize("sign", [1, -1])
def test_a_measured_velocity_is_given_time_to_end_and_then_asks_for_a_stop_each_period(
    joint, sign
):
    asked = Scene().run(1.0, velocities=of(joint, sign * 1.1 * RESTING[DEVICES[joint].unit]))
    assert asked[0] == pytest.approx(CONFIRM, abs=2 * PERIOD)
    assert len(asked) == pytest.approx((1.0 - CONFIRM) / REPEAT, abs=1.5)


@pytest.mark.parametrize("joint", range(5))
@pytest.mark.parametrize("sign", [1, -1])
def test_a_joint_that_creeps_asks_for_a_stop_each_time_that_it_has_gone_too_far(joint, sign):
    limit = DRIFT[DEVICES[joint].unit]
    asked = Scene().run(6.5, drift=of(joint, sign * limit))  # too far after a second
    assert asked[0] == pytest.approx(CONFIRM + 1.0, abs=0.1)
    assert len(asked) == 4


def test_a_jolt_is_answered_once():
    scene = Scene()
    scene.run(1.0)
    scene.belief.on_position(0, POSTURE[0] + 0.05, scene.now)
    assert scene.look()
    assert not scene.look()


def test_silence_is_no_motion():
    scene = Scene()
    scene.run(1.0)
    assert scene.run(3.0, silent=range(5)) == []


def test_a_joint_that_crept_while_it_was_silent_is_seen_when_it_speaks():
    scene = Scene()
    scene.run(1.0)
    scene.run(1.0, silent=(2,))
    scene.belief.on_position(2, POSTURE[2] + 0.02, scene.now)
    scene.belief.on_position(2, POSTURE[2] + 0.02, scene.now)
    assert scene.look()


def test_motion_that_is_wanted_leaves_nothing_behind():
    scene = Scene()
    scene.run(1.0)
    scene.watch.forget()
    scene.stopped_at = scene.now
    assert scene.run(CONFIRM / 2, drift=of(0, 0.5)) == []
    assert scene.watch.next_time(scene.stopped_at) == math.inf


MOVING = of(1, 0.2)
ESCALATED = [Beyond.NOTHING] * ATTEMPTS + [Beyond.STANDBY, Beyond.DISABLE, Beyond.DISABLE]


def test_an_arm_that_obeys_no_stop_is_put_into_standby_and_then_disabled():
    scene = Scene()
    scene.run(CONFIRM + 6 * REPEAT - PERIOD, velocities=MOVING)
    assert scene.steps == ESCALATED


def test_a_joint_that_creeps_through_all_stops_is_disabled_too():
    scene = Scene()
    scene.run(8.5, drift=of(0, DRIFT["rad"]))
    assert scene.steps == ESCALATED[: len(scene.steps)]
    assert scene.steps[-1] is Beyond.DISABLE


def test_attempts_count_from_the_first_again_after_the_arm_has_rested():
    scene = Scene()
    scene.run(CONFIRM + 3 * REPEAT - PERIOD, velocities=MOVING)
    scene.run(FORGIVEN_AFTER + 1.0)
    scene.run(CONFIRM + 3 * REPEAT - PERIOD, velocities=MOVING)
    assert set(scene.steps) == {Beyond.NOTHING}


def test_a_short_pause_forgives_nothing():
    scene = Scene()
    scene.run(CONFIRM + 3 * REPEAT - PERIOD, velocities=MOVING)
    scene.run(FORGIVEN_AFTER / 4)
    scene.run(2 * CONFIRM, velocities=MOVING)
    assert Beyond.STANDBY in scene.steps


def test_rest_is_confirmed_by_velocities_measured_after_the_stop_alone():
    scene = Scene()
    assert not is_confirmed(scene.belief, scene.stopped_at, scene.now)
    scene.run(CONFIRM_LAG / 2)
    assert not is_confirmed(scene.belief, scene.stopped_at, scene.now)
    scene.run(3 * CONFIRM_LAG)
    assert is_confirmed(scene.belief, scene.stopped_at, scene.now)


@pytest.mark.parametrize("joint", range(5))
def test_rest_is_not_confirmed_while_a_joint_moves_or_is_silent(joint):
    scene = Scene()
    scene.run(0.1, velocities=of(joint, 2 * RESTING[DEVICES[joint].unit]))
    assert not is_confirmed(scene.belief, scene.stopped_at, scene.now)
    scene.run(0.1)
    assert is_confirmed(scene.belief, scene.stopped_at, scene.now)
    scene.run(0.5, silent=(joint,))
    assert not is_confirmed(scene.belief, scene.stopped_at, scene.now)
