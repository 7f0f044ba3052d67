"""Set-points of joints: what is refused, how they are followed, and how that ends."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from reach_alpha5_common.command import (
    STILL,
    ArmInput,
    Cartesian,
    GripperCommand,
    JointCommand,
)
from reach_alpha5_motion.following import CATCH_UP, SLACK, WAKE, Afterglow
from reach_alpha5_motion.generator import MotionGenerator
from reach_alpha5_motion.keep_out import ApproachLimit
from reach_alpha5_motion.limits import RateBounds
from reach_alpha5_motion.model import AXES, A, B, C, D, E, JointLimits
from reach_alpha5_motion.ramp import Ramp
from reach_alpha5_motion.speed import MotionConfig

CONFIG = MotionConfig()
GOOD = np.array([3.0, 1.6, 1.5, 3.0, 0.007])
TICK = 0.02
FASTEST = np.array([CONFIG.joint_speed] * 3 + [CONFIG.wrist_speed, CONFIG.jaw_speed])
NO_LIMIT = np.full(5, math.nan)


def by(way, start=GOOD):
    return start + np.array(way)


def set_point(q, velocities=(0.0,) * 5, joints=range(5), prefix=""):
    return JointCommand(
        tuple(prefix + AXES[joint] for joint in joints),
        tuple(float(q[joint]) for joint in joints),
        tuple(float(velocities[joint]) for joint in joints),
    )


class Drive:
    """A generator and an arm that obeys it, ticking evenly; set-points come between the ticks."""

    def __init__(self, generator, body):
        self.generator, self.body = generator, body
        self.now = 10.0
        self.rates, self.places = [], []
        self.last = None

    def tick(self, command, **options):
        self.body.advance(self.now, self.now + TICK)
        self.now += TICK
        self.last = self.generator.step(command, self.body.q, self.now, self.now, **options)
        self.rates.append(self.last.joint_velocities)
        self.places.append(self.body.q.copy())
        self.body.send(self.last.joint_velocities, self.now)
        return self.last

    def hold(self, command, seconds, **options):
        """Repeat a command; a set-point comes anew with each tick."""
        for _ in range(round(seconds / TICK)):
            self.tick(command, asked_at=self.now + TICK, **options)
        return self.last

    def follow(self, trajectory, seconds, age=0.0):
        """Follow positions and velocities over time; a set-point is `age` [s] old at each tick."""
        begin = self.now + TICK
        for _ in range(round(seconds / TICK)):
            taken = self.now + TICK - age
            positions, velocities = trajectory(max(taken - begin, 0.0))
            self.tick(set_point(positions, velocities), asked_at=taken)
            assert self.last.refused is None
        return self.last


@pytest.fixture
def drive(arm, obedient_arm):
    def start(q=GOOD, keep_out=None, config=CONFIG):
        body = obedient_arm(np.array(q, dtype=float), config.latency)
        return Drive(MotionGenerator(arm, config, keep_out), body)

    return start


def changes(rates):
    """Largest acceleration of each joint, as a share of what it may have."""
    return np.abs(np.diff([np.zeros(5), *rates], axis=0)).max(axis=0) / TICK / CONFIG.accelerations


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (JointCommand(("axis_x",), (1.0,), (0.0,)), "unknown_joint"),
        (JointCommand(("left_axis_e",), (1.0,), (0.0,)), "unknown_joint"),
        (JointCommand(("axis_e",), (1.0, 2.0), (0.0,)), "bad_sizes"),
        (JointCommand(("axis_e", "axis_e"), (1.0, 2.0), (0.0, 0.0)), "joint_named_twice"),
        (JointCommand(("axis_e",), (math.nan,), (0.0,)), "not_finite"),
        (JointCommand(("axis_e",), (3.0,), (math.inf,)), "not_finite"),
        (JointCommand(("axis_e",), (-1e-4,), (0.0,)), "beyond_limit"),
        (JointCommand(("axis_d", "axis_a"), (1.6, 0.0161), (0.0, 0.0)), "beyond_limit"),
        (JointCommand(("axis_c",), (1.5,), (0.524,)), "too_fast"),
        (JointCommand(("axis_c",), (1.5,), (-0.524,)), "too_fast"),
        (JointCommand(("axis_b",), (3.0,), (0.871,)), "too_fast"),
        (JointCommand(("axis_a",), (0.007,), (0.00301,)), "too_fast"),
    ],
)
def test_rule_10_a_set_point_that_cannot_be_obeyed_is_refused_whole(drive, command, code):
    arm = drive()
    arm.hold(set_point(by([0.2, 0.2, 0.2, 0.2, 0.002])), 0.5)
    assert arm.rates[-1].all()
    resolution = arm.hold(command, CONFIG.ramp_time + TICK)
    assert resolution.refused is not None
    assert resolution.refused.code == code
    assert not resolution.joint_velocities.any(), "what moved has faded"
    assert arm.generator.at_rest


def test_limits_themselves_are_no_problem_nor_is_a_hair_of_rounding(drive, arm):
    limits = arm.limits
    for ends in (limits.lower, limits.upper):
        assert drive().hold(set_point(ends), TICK).refused is None
    fast = FASTEST * (1.0 + 1e-7)
    assert drive().hold(set_point(GOOD, fast), TICK).refused is None


def test_rule_15_limits_that_the_arm_reports_count_where_they_are_narrower(drive):
    reported = JointLimits(NO_LIMIT.copy(), NO_LIMIT.copy(), NO_LIMIT.copy())
    reported.lower[D], reported.velocity[B] = 1.55, 0.3
    low = by([0.0, -0.1, 0.0, 0.0, 0.0])
    arm = drive()
    assert arm.hold(set_point(low), TICK).refused is None
    assert arm.hold(set_point(low), TICK, limits=reported).refused.code == "beyond_limit"
    turn = (0.0, 0.0, 0.0, 0.31, 0.0)
    assert drive().hold(set_point(GOOD, turn), TICK, limits=reported).refused.code == "too_fast"


def test_names_are_those_of_the_description_prefix_and_all(arm_on):
    generator = MotionGenerator(arm_on(prefix="left_"), CONFIG)
    there = GOOD + 0.1
    refused = generator.step(set_point(there, joints=[E]), GOOD, 0.0, 0.0).refused
    assert refused.code == "unknown_joint"
    assert "left_axis_e" in refused.reason
    command = set_point(there, joints=[E], prefix="left_")
    assert generator.step(command, GOOD, 0.02, 0.02).joint_velocities[E] > 0.0


@pytest.mark.parametrize("joint", [E, D, C, B, A])
def test_a_joint_that_is_not_measured_is_not_moved_and_none_with_it(drive, joint):
    arm = drive()
    ahead = set_point(by([0.3, 0.3, 0.3, 0.3, 0.003]))
    arm.hold(ahead, 0.3)
    measured = arm.body.q.copy()
    measured[joint] = math.nan
    arm.now += TICK
    resolution = arm.generator.step(ahead, measured, arm.now, arm.now)
    assert resolution.refused.code == "unknown_posture"
    assert resolution.joint_velocities[joint] == 0.0
    assert np.abs(resolution.joint_velocities).sum() < np.abs(arm.rates[-1]).sum()
    others = [each for each in range(5) if each != joint]
    fresh = MotionGenerator(arm.generator._model, CONFIG)
    moves = fresh.step(set_point(GOOD + 0.1, joints=others[:1]), measured, 0.0, 0.0)
    assert moves.refused is None
    assert moves.joint_velocities[others[0]] != 0.0


@pytest.mark.parametrize("joint", [E, B, A])
def test_U17_beside_things_to_keep_clear_of_all_stop_at_once_for_a_joint_not_measured(
    drive, tip_wall, arm, joint
):
    driven = drive(keep_out=tip_wall(arm, [1.0, 0.0, 0.0], arm.tip(GOOD) - 0.5, 0.01))
    ahead = set_point(by([0.3, 0.3, 0.3, 0.3, 0.003]))
    driven.hold(ahead, 0.3)
    assert driven.rates[-1].all()
    measured = driven.body.q.copy()
    measured[joint] = math.nan
    for command in (ahead, STILL):
        driven.now += TICK
        resolution = driven.generator.step(command, measured, driven.now, driven.now)
        assert not resolution.joint_velocities.any()


# --- following ----------------------------------------------------------------------------------


def swing(speed):
    """All joints to and fro about GOOD at up to this speed of the arm, from rest to rest."""
    way = np.array([0.3, -0.2, 0.25, 0.4, -0.002])
    turn = speed / 0.4 / math.pi
    return lambda t: (
        GOOD + way * (1.0 - math.cos(turn * math.pi * 2.0 * t)) / 2.0,
        way * turn * math.pi * math.sin(turn * math.pi * 2.0 * t),
    )


@pytest.mark.parametrize("speed", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("age", [0.0, 0.015, 0.06])
def test_C11_a_trajectory_is_followed_closely(drive, speed, age):
    arm = drive()
    reference = swing(speed)
    arm.follow(reference, 8.0, age)
    begin = 10.0 + TICK
    errors = [
        place - reference(begin + TICK * number - begin)[0]
        for number, place in enumerate(arm.places)
    ]
    worst = np.abs(errors).max(axis=0)
    # The arm obeys late, and the velocity of an old set-point is not that of now.
    old = 5.0 * speed**2 * (age + TICK / 2.0) / CONFIG.brake_gain
    assert (worst[:A] <= 0.002 + CONFIG.latency * speed + old).all()
    assert worst[A] <= 2e-4
    assert (changes(arm.rates) <= 1.0 + 1e-9).all()


def test_C11_it_comes_to_rest_at_the_end_and_does_not_hunt(drive):
    rng = np.random.default_rng(5)
    arm = drive()
    goal = by([0.2, -0.1, 0.3, -0.4, 0.003])
    arm.hold(set_point(goal), 4.0)
    assert (np.abs(arm.body.q - goal) <= 2.0 * np.array(SLACK)).all()
    assert not np.any(arm.rates[-50:])
    noise = np.array([5e-4, 5e-4, 5e-4, 5e-4, 5e-7])
    truth = arm.body.q.copy()
    arm.rates.clear()
    for _ in range(300):
        arm.body.q = arm.body.q + np.clip(rng.normal(size=5), -2.5, 2.5) * noise
        before = arm.body.q.copy()
        arm.tick(set_point(goal), asked_at=arm.now + TICK)
        arm.body.q = truth + (arm.body.q - before)
        truth = arm.body.q.copy()
    assert not np.any(arm.rates), "noise wakes nothing"


def test_a_joint_that_drifts_from_where_it_shall_rest_is_brought_back(drive):
    arm = drive()
    arm.hold(set_point(GOOD), 0.2)
    assert not np.any(arm.rates)
    arm.body.q = GOOD + 1.1 * np.array(WAKE)
    arm.hold(set_point(GOOD), 3.0)
    assert (np.abs(arm.body.q - GOOD) <= 2.0 * np.array(SLACK)).all()
    assert not arm.rates[-1].any()


def test_a_set_point_goes_on_along_its_velocity_until_the_next_one(drive):
    velocities = np.array([0.1, -0.1, 0.05, 0.2, 0.001])
    arm = drive()
    taken = arm.now + TICK
    command = set_point(GOOD, velocities)
    for _ in range(12):
        arm.tick(command, asked_at=taken)
    assert arm.body.q == pytest.approx(GOOD + velocities * (arm.now - taken), abs=0.006)
    assert arm.last.joint_velocities == pytest.approx(velocities, abs=0.02)


def test_what_is_not_named_holds_still(drive):
    arm = drive()
    arm.hold(set_point(by([0.3, 0.5, 0.5, 0.5, 0.005]), joints=[E, A]), 0.6)
    moved = np.array(arm.rates).any(axis=0)
    assert moved.tolist() == [True, False, False, False, True]
    assert (arm.body.q[[D, C, B]] == GOOD[[D, C, B]]).all()


def test_what_moved_before_and_is_not_named_any_more_comes_to_rest(drive):
    arm = drive()
    arm.hold(set_point(by([0.5, 0.5, 0.5, 0.5, 0.005])), 0.6)
    arm.hold(set_point(by([0.8, 0.0, 0.0, 0.0, 0.0]), joints=[E]), 0.3)
    assert arm.rates[-1][E] > 0.1
    assert not arm.rates[-1][[D, C, B, A]].any()
    assert (changes(arm.rates) <= 1.0 + 1e-9).all()


def test_a_jump_is_gone_straight_at_a_bounded_speed_and_without_overshoot(drive):
    way = np.array([0.9, -0.3, 0.6, 0.45, 0.0])
    arm = drive()
    arm.hold(set_point(GOOD + way), 8.0)
    rates = np.array(arm.rates)
    assert (np.abs(rates).max(axis=0) <= CATCH_UP * FASTEST + 1e-9).all()
    assert np.abs(rates).max() == pytest.approx(CATCH_UP * CONFIG.joint_speed)
    assert (changes(arm.rates) <= 1.0 + 1e-9).all()
    places = np.array(arm.places) - GOOD
    along = places @ way / (way @ way)
    assert np.linalg.norm(places - np.outer(along, way), axis=1).max() < 0.002, "straight"
    assert along.max() <= 1.0
    assert (np.diff(along) >= 0.0).all()


def test_one_factor_slows_all_joints_where_one_is_too_fast(drive):
    velocities = np.array([0.5, 0.25, 0.1, 0.0, 0.0])
    quick = replace(
        CONFIG, joint_acceleration=100.0, wrist_acceleration=100.0, jaw_acceleration=1.0
    )
    arm = drive(config=quick)
    behind = by([0.4, 0.0, 0.0, 0.0, 0.0]) - velocities * TICK / 2.0
    rates = arm.tick(set_point(behind, velocities)).joint_velocities
    assert rates[E] == pytest.approx(CONFIG.joint_speed)
    assert rates[D] / rates[C] == pytest.approx(2.5)
    assert 0.1 < rates[D] < 0.25
    assert arm.last.blocked_by == ()


def test_a_start_is_along_the_wanted_direction_though_a_joint_cannot_change_as_fast(drive):
    velocities = np.array([0.1, 0.2, 0.0, 0.8, 0.001])
    arm = drive()
    rates = arm.tick(set_point(GOOD - velocities * TICK / 2.0, velocities)).joint_velocities
    assert 0.0 < rates[B] < 0.2
    assert rates / rates[B] == pytest.approx(velocities / velocities[B])


def test_no_wind_up_what_was_missed_is_made_good_at_a_bounded_speed_and_no_more(drive):
    goal = by([0.0, 0.6, 0.0, 0.0, 0.0])
    arm = drive()
    for _ in range(200):  # something holds it
        arm.tick(set_point(goal), asked_at=arm.now + TICK)
        arm.body.q = GOOD.copy()
    arm.hold(set_point(goal), 5.0)
    rates = np.array(arm.rates)[:, D]
    assert rates.max() == pytest.approx(CATCH_UP * CONFIG.joint_speed)
    assert rates.min() >= 0.0, "it does not overshoot"
    assert arm.body.q == pytest.approx(goal, abs=2.0 * SLACK[D])


# --- limits and what is near --------------------------------------------------------------------


@pytest.mark.parametrize("joint", [E, D, C, B, A])
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_rule_15_at_a_limit_a_joint_stops_the_margin_before_and_the_others_arrive(
    drive, arm, joint, side
):
    limit = getattr(arm.limits, side)[joint]
    inward = 1.0 if side == "lower" else -1.0
    start = GOOD.copy()
    start[joint] = limit + inward * (0.15 if joint != A else 0.001)
    goal = by([0.1, 0.1, 0.1, 0.1, 0.001], start)
    goal[joint] = limit
    driven = drive(start)
    driven.hold(set_point(goal), 6.0)
    stops = limit + inward * np.array(CONFIG.margins)[joint]
    reached = np.array(driven.places)[:, joint]
    assert (inward * (reached - stops) >= -1e-9).all()
    assert driven.body.q[joint] == pytest.approx(stops, abs=2.0 * SLACK[joint])
    others = [each for each in range(5) if each != joint]
    assert (np.abs(driven.body.q - goal)[others] <= 2.0 * np.array(SLACK)[others]).all()
    assert driven.last.at_limit[joint]
    assert driven.last.blocked_by == (f"limit {AXES[joint]}",)
    back = driven.hold(set_point(start), 0.5)
    assert back.blocked_by == ()
    assert inward * back.joint_velocities[joint] > 0.0


def test_rule_15_a_velocity_that_leads_beyond_a_limit_does_not_hold_back_the_others(drive, arm):
    start = GOOD.copy()
    start[E] = arm.limits.lower[E] + CONFIG.angle_margin
    velocities = np.array([-0.2, 0.2, 0.0, 0.3, 0.0])
    driven = drive(start)
    for _ in range(50):
        start[[D, B]] += velocities[[D, B]] * TICK
        start[E] = arm.limits.lower[E]
        driven.tick(set_point(start, velocities), asked_at=driven.now + TICK)
    assert driven.last.joint_velocities[[D, B]] == pytest.approx([0.2, 0.3], rel=0.05)
    assert driven.last.joint_velocities[E] == 0.0
    assert driven.last.at_limit[E]


def test_rule_15_inward_works_from_beyond_a_limit(drive, arm):
    outside = GOOD.copy()
    outside[D] = arm.limits.upper[D] + 0.05
    driven = drive(outside)
    driven.hold(set_point(GOOD), 10.0)
    assert (np.abs(driven.body.q - GOOD) <= 2.0 * np.array(SLACK)).all()


def test_rule_15_what_is_near_slows_and_stops_all_and_lets_all_go_away(drive, tip_wall, arm):
    way = np.array([0.0, -0.9, 0.3, 0.4, 0.002])
    ahead, there = GOOD + way, arm.tip(GOOD + 0.6 * way)
    normal = arm.tip(GOOD) - there
    wall = tip_wall(arm, normal / np.linalg.norm(normal), there, 0.01)
    driven = drive(keep_out=wall)
    driven.hold(set_point(ahead), 6.0)
    assert driven.last.blocked_by == ("collision tool wall",)
    assert not any(driven.last.at_limit)
    assert np.abs(driven.last.joint_velocities).max() < 1e-3
    assert wall.distance(driven.body.q) > 0.0099
    share = (driven.body.q - GOOD)[D:A] / way[D:A]
    assert 0.1 < share.min() < share.max() < 0.6
    assert np.ptp(share) < 0.03, "all were held back alike"
    driven.hold(set_point(GOOD), 6.0)
    assert driven.last.blocked_by == ()
    assert (np.abs(driven.body.q - GOOD) <= 2.0 * np.array(SLACK)).all()


# --- how it ends --------------------------------------------------------------------------------


def test_U4_it_fades_within_the_ramp_when_nothing_is_asked_any_more(drive):
    arm = drive()
    arm.hold(set_point(GOOD, 0.9 * FASTEST * [1, -1, 1, -1, 1]), 0.24)
    arm.rates = arm.rates[-1:]
    arm.hold(STILL, CONFIG.ramp_time + TICK)
    sizes = np.abs(arm.rates)
    assert (np.diff(sizes, axis=0) <= 1e-12).all(), "falling"
    assert (sizes[3] > 0.0).all(), "not at once"
    assert not sizes[-1].any()
    assert arm.generator.at_rest
    steps = np.abs(np.diff(arm.rates, axis=0)) / TICK / CONFIG.accelerations
    assert (steps <= 1.0 + 1e-9).all()
    assert (steps[0] < 0.5 * steps.max(axis=0)).all(), "without a jerk"


def test_what_something_near_held_back_does_not_come_again_while_it_fades():
    glow = Afterglow(Ramp.of(CONFIG.ramp_time, CONFIG.jerk_share))
    glow.note([0.4, 0.0, 0.0, 0.0, 0.0], 1.0)
    free = RateBounds((-1.0,) * 5, (1.0,) * 5)
    near = SimpleNamespace(approach=[ApproachLimit((1.0, 0.0, 0.0, 0.0, 0.0), 0.05, 0.02, "a b")])
    far = SimpleNamespace(approach=[])
    held, after = (
        glow.beside([0.0] * 5, moment, free, 1.0, now)[E]
        for moment, now in ((near, 1.02), (far, 1.04))
    )
    assert held == pytest.approx(0.05)
    assert 0.0 < after < held


def test_a_halt_is_at_once_and_what_comes_next_begins_at_rest(drive):
    arm = drive()
    command = set_point(GOOD, 0.9 * FASTEST)
    arm.hold(command, 0.3)
    arm.generator.halt()
    assert arm.generator.at_rest
    arm.rates.clear()
    arm.hold(STILL, 0.1)
    assert not np.any(arm.rates)


def test_an_input_takes_over_without_a_jump_and_gets_its_own_way(drive):
    arm = drive()
    arm.hold(set_point(GOOD, [0.4, 0.0, 0.0, 0.5, 0.002]), 0.3)
    down = GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(z=1.0))
    arm.hold(down, 0.6)
    assert (changes(arm.rates) <= 1.0 + 1e-9).all()
    assert not arm.last.joint_velocities[[B, A]].any()
    assert arm.last.axis_scales[2] > 0.9


def test_set_points_take_over_from_an_input_without_a_jump(drive):
    arm = drive()
    down = GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(z=1.0))
    arm.hold(down, 0.6)
    arm.hold(set_point(GOOD, joints=[B]), 0.4)
    assert (changes(arm.rates) <= 1.0 + 1e-9).all()
    assert not arm.rates[-1].any()
    arm.hold(STILL, TICK)
    assert arm.generator.at_rest


def test_jaws_that_hold_something_do_not_keep_the_arm_behind(drive):
    arm = drive()
    goal = by([0.2, 0.1, 0.1, 0.3, -0.006])
    for _ in range(150):
        arm.tick(set_point(goal), asked_at=arm.now + TICK)
        arm.body.q[A] = GOOD[A]
    assert (np.abs(arm.body.q - goal)[:A] <= 2.0 * np.array(SLACK)[:A]).all()
    assert arm.last.joint_velocities[A] == pytest.approx(-CATCH_UP * CONFIG.jaw_speed)
