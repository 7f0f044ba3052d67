"""Whether the jaws hold something: on the simulated arm, and against reports that mislead."""

from __future__ import annotations

import pytest
from driver_rig import BOUNDS
from sim_rig import ARM_LOWER, ARM_UPPER, SimRig

from reach_alpha5_driver.belief import Belief
from reach_alpha5_driver.fault_table import JAWS_STRAINING, Severity
from reach_alpha5_driver.grip import MOVED, GripConfig, GripWatch

A, JAWS = 4, 1
CLOSE, OPEN, REST = -0.003, 0.003, 0.0
WIDTH = 0.006


class Scene:
    """The simulated jaws at 9 mm, and a watch that looks at them."""

    def __init__(
        self,
        width: float | None = WIDTH,
        grip_current: float = 0.4,
        strain_time: float = 20.0,
        **config,
    ) -> None:
        self.rig = SimRig(noise=1.0, latency=0.05, **config)
        self.jaws = self.rig.sim.arm.joints[JAWS]
        self.jaws.place(9.0)
        self.jaws.current_limits = (-1000.0 * grip_current, 1000.0 * grip_current)
        self.rig.sim.arm.grip(width)
        grip = GripConfig(grip_current, strain_time=strain_time)
        self.watch = GripWatch(grip, ARM_LOWER[A], ARM_UPPER[A])
        self.edges: list[bool] = []
        """Each change of `holding`."""

    def drive(self, rate: float, seconds: float) -> Scene:
        self.rig.rates = (0.0, 0.0, 0.0, 0.0, rate)
        for released in self.rig.run(seconds):
            if released:
                self.watch.released(rate)
            before = self.watch.holding
            if self.watch.check(self.rig.belief, self.rig.now) != before:
                self.edges.append(not before)
        return self


def test_B8_jaws_that_close_on_an_object_hold_it():
    scene = Scene().drive(CLOSE, 3.0)
    assert scene.edges == [True]


def test_jaws_that_close_on_nothing_hold_nothing():
    assert Scene(width=None).drive(CLOSE, 4.0).edges == []
    assert Scene(width=None).drive(OPEN, 3.0).edges == []


def test_an_object_is_held_on_when_the_jaws_are_told_to_rest_or_to_close_again():
    scene = Scene().drive(CLOSE, 2.0)
    for _ in range(3):
        scene.drive(REST, 0.5).drive(CLOSE, 0.5)
    assert scene.edges == [True]


@pytest.mark.parametrize("rest", [0.0, 1.0])
def test_opening_lets_go(rest):
    scene = Scene().drive(CLOSE, 2.0).drive(REST, rest).drive(OPEN, 1.0)
    assert scene.edges == [True, False]
    scene.drive(CLOSE, 3.0)
    assert scene.edges == [True, False, True]


def test_an_object_that_is_taken_away_while_the_jaws_push_is_held_no_longer():
    scene = Scene().drive(CLOSE, 2.0)
    scene.rig.sim.arm.grip(None)
    scene.drive(CLOSE, 3.0)
    assert scene.edges == [True, False]


def test_an_object_that_was_taken_away_is_missed_when_the_jaws_close_next():
    scene = Scene().drive(CLOSE, 2.0).drive(REST, 1.0)
    scene.rig.sim.arm.grip(None)
    assert scene.drive(REST, 1.0).watch.holding  # nobody can know
    assert scene.drive(CLOSE, 1.0).edges == [True, False]


@pytest.mark.parametrize("grip_current", [0.12, 0.2, 0.3, 0.6])
def test_B10_holding_follows_the_grip_current(grip_current):
    scene = Scene(grip_current=grip_current).drive(CLOSE, 3.0)
    assert scene.edges == [True]
    assert Scene(width=None, grip_current=grip_current).drive(CLOSE, 4.0).edges == []


def test_jaws_that_open_inside_something_hold_it_too():
    scene = Scene(width=None).drive(REST, 0.5)
    scene.jaws.blocked = True
    scene.drive(OPEN, 1.0)
    assert scene.edges == [True]
    scene.jaws.blocked = False
    assert scene.drive(CLOSE, 1.0).edges == [True, False]


def test_jaws_that_push_for_long_are_warned_about_until_they_rest():
    scene = Scene(strain_time=2.0).drive(CLOSE, 2.5)
    assert scene.watch.report == ()
    scene.drive(CLOSE, 2.0)
    (finding,) = scene.watch.report
    assert finding.code == f"{JAWS_STRAINING.code} axis_a"
    assert finding.severity is Severity.WARN
    scene.drive(REST, 0.5)
    assert scene.watch.report == ()
    assert scene.edges == [True]


@pytest.mark.parametrize("seed", range(4))
def test_holding_does_not_flap_on_a_line_that_loses_and_damages_frames(seed):
    scene = Scene(seed=seed)
    for way in scene.rig.sim.faults.values():
        way.set_rate("lose", 0.02)
        way.set_rate("flip", 0.001)
    scene.drive(CLOSE, 4.0).drive(REST, 1.0).drive(CLOSE, 2.0)
    assert scene.edges == [True]


# -- against reports of a test's own


class Reports:
    """A watch over jaws of which a test tells what they report, every 20 ms."""

    def __init__(self) -> None:
        self.now = 10.0
        self.belief = Belief(BOUNDS, 0.25)
        self.watch = GripWatch(GripConfig(), ARM_LOWER[A], ARM_UPPER[A])

    def say(self, turns: int, rate: float, position: float, velocity: float, current: float):
        for _ in range(turns):
            self.now += 0.02
            self.watch.released(rate)
            self.belief.on_position(A, position, self.now)
            self.belief.on_velocity(A, velocity, self.now)
            self.belief.on_quantity(A, "current", current, self.now)
            self.watch.check(self.belief, self.now)
        return self

    def hold(self) -> Reports:
        self.say(30, CLOSE, WIDTH, 0.0, -0.4)
        assert self.watch.holding
        return self


def test_a_short_stall_holds_nothing():
    jaws = Reports().say(12, CLOSE, WIDTH, 0.0, -0.4).say(50, CLOSE, WIDTH, -0.002, -0.4)
    assert not jaws.watch.holding


def test_pushes_in_turn_to_both_sides_are_not_one_long_push():
    jaws = Reports()
    jaws.watch.set_current_limits(-0.12, 0.12)
    for _ in range(10):
        jaws.say(10, CLOSE, WIDTH, 0.0, -0.12).say(10, OPEN, WIDTH, 0.0, 0.12)
    assert not jaws.watch.holding


@pytest.mark.parametrize(
    ("rate", "position", "velocity", "current"),
    [
        (CLOSE, WIDTH, 0.0, 0.4),  # pushes the other way
        (CLOSE, WIDTH, 0.0, -0.1),  # does not push
        (CLOSE, WIDTH, -0.002, -0.4),  # moves
        (REST, WIDTH, 0.0, -0.4),  # was not told to
        (CLOSE, ARM_LOWER[A], 0.0, -0.4),  # pushes on an end of its travel
        (OPEN, ARM_UPPER[A], 0.0, 0.4),
    ],
)
def test_holding_takes_a_push_as_told_without_motion_between_the_ends(
    rate, position, velocity, current
):
    assert not Reports().say(100, rate, position, velocity, current).watch.holding


def test_U9_one_bad_position_does_not_let_go_and_two_do():
    jaws = Reports().hold()
    jaws.say(1, REST, WIDTH + 2 * MOVED, 0.0, 0.0).say(1, REST, WIDTH, 0.0, 0.0)
    jaws.say(1, REST, WIDTH + 2 * MOVED, 0.0, 0.0)
    assert jaws.watch.holding
    assert not jaws.say(1, REST, WIDTH + 2 * MOVED, 0.0, 0.0).watch.holding


def test_silence_changes_nothing():
    jaws = Reports().hold()
    jaws.belief.forget()
    for _ in range(100):
        jaws.now += 0.1
        assert jaws.watch.check(jaws.belief, jaws.now)


def test_the_ends_of_travel_and_the_current_limit_are_those_that_the_arm_reports():
    jaws = Reports()
    jaws.watch.set_limits(WIDTH, ARM_UPPER[A])
    assert not jaws.say(100, CLOSE, WIDTH, 0.0, -0.4).watch.holding
    jaws = Reports()
    jaws.watch.set_current_limits(-0.15, 0.15)
    assert jaws.say(100, CLOSE, WIDTH, 0.0, -0.12).watch.holding
    jaws = Reports()
    jaws.watch.set_current_limits(-0.15, 0.15)
    jaws.watch.set_current_limits(None, None)
    assert not jaws.say(100, CLOSE, WIDTH, 0.0, -0.12).watch.holding


# -- the grip current


@pytest.mark.parametrize("current", [0.0, -0.3, 0.09, 0.61, float("nan")])
def test_B10_a_grip_current_that_cannot_be_is_refused(current):
    with pytest.raises(ValueError, match="grip_current"):
        GripConfig(grip_current=current)


def test_B10_the_jaws_are_given_the_grip_current_both_ways():
    assert GripConfig(grip_current=0.25).current_limits == (-0.25, 0.25)


@pytest.mark.parametrize(
    ("lower", "upper", "fine"),
    [
        (-0.25, 0.25, True),
        (-0.2500001, 0.2500001, True),  # what a float32 makes of it
        (-0.2, 0.1, True),
        (-0.4, 0.25, False),
        (-0.25, 0.4, False),
        (None, None, False),
    ],
)
def test_B10_limits_that_are_read_back_wider_are_a_problem(lower, upper, fine):
    problem = GripConfig(grip_current=0.25).limits_problem(lower, upper)
    assert (problem is None) == fine
    if problem is not None:
        assert problem.code == "grip_current_ignored"
        assert "0.25" in problem.reason
