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
STILL = (0.0,) * 5
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
        self.watch.look(self.belief, self.now)
        beyond = self.watch.next_step(self.belief, self.stopped_at, self.now)
        if beyond is None:
            return False
        self.steps.append(beyond)
        self.stopped_at = self.now
        return True

    def run(
        self, seconds, velocities=STILL, drift=STILL, silent=(), stops_every=math.inf, told=False
    ):
        """Report for a while; return when the stop was asked for, counted from the beginning."""
        start, asked = self.now, []
        for step in range(round(seconds / PERIOD)):
            self.now = start + step * PERIOD
            for joint in set(range(5)) - set(silent):
                way = drift[joint] * step * PERIOD
                self.belief.on_position(joint, POSTURE[joint] + way, self.now)
                self.belief.on_velocity(joint, velocities[joint], self.now)
            if self.now >= self.stopped_at + stops_every:
                self.stopped_at = self.now
            if told:
                self.watch.look(self.belief, self.now)
            elif self.look():
                asked.append(self.now - start)
        return asked

    def tell(self, rates):
        """Note rates as written; all zero is a stop."""
        self.watch.released(rates, self.now)
        if not any(rates):
            self.stopped_at = self.now

    def tap(self, times, velocities=STILL, pause=0.3):
        """Tap a stick: 0.3 s on, then off; return what was said against each motion."""
        problems = []
        for _ in range(times):
            problem = self.watch.problem(self.now)
            problems.append(problem.code if problem else "")
            if problem is None:
                self.tell(of(0, 0.2))
                self.run(0.3, velocities, told=True)
                self.tell(STILL)
            self.run(pause, velocities)
        return problems


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
    scene = Scene()
    scene.tell(of(joint, 0.001))
    scene.tell(STILL)
    asked = scene.run(6.5, drift=of(joint, sign * limit))  # too far after a second
    assert asked[0] == pytest.approx(CONFIRM + 1.0, abs=0.1)
    assert len(asked) == 4


@pytest.mark.parametrize("period", [0.05, 0.1, 0.3])
def test_stops_that_keep_coming_do_not_hide_a_joint_that_creeps(period):
    scene = Scene()
    asked = scene.run(6.5, drift=of(2, DRIFT["rad"]), stops_every=period)
    assert len(asked) >= 4
    assert Beyond.STANDBY in scene.steps


def test_stops_that_keep_coming_do_not_put_off_what_follows_them():
    scene = Scene()
    scene.run(CONFIRM + 6 * REPEAT - PERIOD, velocities=MOVING, stops_every=REPEAT / 2)
    assert scene.steps == ESCALATED


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
    for _ in range(3):  # so many must agree after a silence
        scene.belief.on_position(2, POSTURE[2] + 0.02, scene.now)
    assert scene.look()


def test_motion_that_is_wanted_leaves_nothing_behind():
    scene = Scene()
    scene.run(1.0)
    scene.tell(of(0, 0.5))
    scene.run(1.0, velocities=of(0, 0.5), drift=of(0, 0.5), told=True)
    assert scene.watch.problem(scene.now) is None
    scene.tell(STILL)
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


def test_a_stop_that_is_not_written_yet_is_no_attempt_that_failed():
    scene = Scene()
    scene.run(CONFIRM + PERIOD, velocities=MOVING)
    assert len(scene.steps) == 1
    scene.stopped_at = scene.now - REPEAT  # the line is stuck
    assert scene.run(1.0, velocities=MOVING) == []
    scene.stopped_at = scene.now
    scene.run(PERIOD, velocities=MOVING)
    assert scene.steps == [Beyond.NOTHING] * 2


def test_a_joint_that_creeps_is_not_stopped_again_before_the_stop_is_written():
    scene = Scene()
    scene.run(1.1, drift=of(0, DRIFT["rad"]))
    assert len(scene.steps) == 1
    scene.stopped_at = scene.now - REPEAT  # the line is stuck
    assert scene.run(5.0, drift=of(0, DRIFT["rad"])) == []


def test_an_arm_that_still_moves_when_the_line_is_opened_is_given_time_to_stop():
    scene = Scene()
    way = of(0, 0.2)
    assert scene.run(CONFIRM - PERIOD, velocities=way, drift=way) == []


def test_silence_forgives_nothing():
    scene = Scene()
    scene.run(CONFIRM + 3 * REPEAT - PERIOD, velocities=MOVING)
    scene.run(0.1)
    scene.run(FORGIVEN_AFTER + 1.0, silent=range(5))
    scene.run(CONFIRM + REPEAT, velocities=MOVING)
    assert scene.steps[ATTEMPTS] is Beyond.STANDBY


def test_a_joint_that_moves_faster_than_any_should_moves_all_the_same():
    scene = Scene()
    scene.run(CONFIRM + 6 * REPEAT, velocities=of(1, 3.0))
    assert scene.steps[-1] is Beyond.DISABLE


# -- motion that shall begin


def test_a_joint_that_moves_and_was_not_told_to_forbids_motion_even_between_taps():
    scene = Scene()
    assert scene.tap(4, velocities=of(1, 0.4))[:2] == ["", "still_moving"]
    assert "axis_d" in scene.watch.problem(scene.now).reason
    assert scene.steps[-1] is Beyond.DISABLE


def test_taps_forgive_nothing():
    scene = Scene()
    scene.run(CONFIRM + 3 * REPEAT - PERIOD, velocities=MOVING)
    scene.run(0.1)
    assert scene.tap(5, velocities=of(0, 0.2)) == [""] * 5
    scene.run(CONFIRM + REPEAT, velocities=MOVING)
    assert scene.steps[ATTEMPTS] is Beyond.STANDBY


def test_a_joint_that_was_told_to_move_lately_may_still_move_when_the_next_motion_begins():
    scene = Scene()
    assert scene.tap(10, velocities=of(0, 0.2)) == [""] * 10
    assert scene.steps == []


def test_a_joint_that_goes_on_after_the_time_to_stop_forbids_motion_until_it_rests():
    scene = Scene()
    pause = CONFIRM + 2 * PERIOD
    assert scene.tap(2, velocities=of(0, 0.2), pause=pause)[1] == "still_moving"
    scene.run(0.1)
    assert scene.watch.problem(scene.now) is None


def test_an_arm_on_its_own_way_to_a_preset_is_told_to_move():
    scene = Scene()
    scene.tell((math.nan,) * 5)
    scene.run(2.0, velocities=MOVING, told=True)
    assert scene.watch.problem(scene.now) is None
    scene.tell(STILL)
    assert scene.run(CONFIRM - PERIOD, velocities=MOVING) == []


def test_a_line_that_was_lost_leaves_nothing_behind():
    scene = Scene()
    scene.run(CONFIRM + 5 * REPEAT, velocities=MOVING)
    scene.watch.forget()
    assert scene.watch.problem(scene.now) is None
    scene.run(CONFIRM + REPEAT, velocities=MOVING)
    assert scene.steps[-1] is Beyond.NOTHING


def test_rest_is_not_confirmed_while_the_stop_is_owed():
    scene = Scene()
    scene.run(1.0)
    assert not is_confirmed(scene.belief, math.inf, scene.now)
