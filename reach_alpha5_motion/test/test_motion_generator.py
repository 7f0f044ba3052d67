"""The motion over time: starts, stops, what is refused, what blocks, and the ways out."""

import math
from dataclasses import replace

import numpy as np
import pytest

from reach_alpha5_common.command import (
    STILL,
    ArmInput,
    Cartesian,
    Cylindrical,
    GripperCommand,
    GripperVelocities,
    KnownPose,
    Pose,
)
from reach_alpha5_motion.generator import GAP, MotionGenerator
from reach_alpha5_motion.model import A, B, C, D, E, JointLimits
from reach_alpha5_motion.speed import MotionConfig, MotionConfigError

CONFIG = MotionConfig()
GOOD = np.array([3.0, 1.6, 1.5, 3.0, 0.007])
TICK = 0.02
INNER = 0.01
DOWN = np.array([0.0, 0.0, 1.0])


def cartesian(*axes, speed=0.0, **other):
    return GripperCommand(
        arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(*axes), speed_modifier=speed, **other
    )


def cylindrical(*axes, speed=0.0):
    return GripperCommand(
        arm_input=ArmInput.CYLINDRICAL, cylindrical=Cylindrical(*axes), speed_modifier=speed
    )


def to_pose(pose, velocity=1.0, **other):
    return GripperCommand(
        arm_input=ArmInput.KNOWN_POSE,
        known_pose=KnownPose(pose, velocity),
        speed_modifier=1.0,
        **other,
    )


class Drive:
    """A generator and an arm that obeys it, ticking evenly."""

    def __init__(self, generator, body):
        self.generator, self.body = generator, body
        self.now = 10.0
        self.rates = []
        self.last = None

    def run(self, command, seconds, **options):
        """Go on for some seconds; return what became of the command at last."""
        for _ in range(round(seconds / TICK)):
            self.body.advance(self.now, self.now + TICK)
            self.now += TICK
            self.last = self.generator.step(command, self.body.q, self.now, self.now, **options)
            self.rates.append(self.last.joint_velocities)
            self.body.send(self.last.joint_velocities, self.now)
        return self.last


@pytest.fixture
def drive(arm, obedient_arm):
    def start(q=GOOD, config=CONFIG, keep_out=None):
        body = obedient_arm(np.array(q, dtype=float), config.latency)
        return Drive(MotionGenerator(arm, config, keep_out), body)

    return start


def change(rates):
    """Largest acceleration of each joint, as a share of what it may have."""
    return (np.abs(np.diff(rates, axis=0)).max(axis=0) / TICK / CONFIG.accelerations).max()


# --- starts and stops ---------------------------------------------------------------------------


def test_it_is_at_rest_until_something_is_asked_and_after_the_ramps(drive):
    arm = drive()
    assert arm.generator.at_rest
    arm.run(STILL, 0.2)
    assert arm.generator.at_rest
    arm.run(cartesian(1.0, 0.0, 0.0), 0.5)
    assert not arm.generator.at_rest
    arm.run(STILL, CONFIG.ramp_time - TICK)
    assert not arm.generator.at_rest
    last = arm.run(STILL, 2.0 * TICK)
    assert arm.generator.at_rest
    assert (last.joint_velocities == 0.0).all()
    assert change(arm.rates) <= 1.0 + 1e-9


def test_the_first_step_moves(drive):
    assert drive().run(cartesian(1.0, 0.0, 0.0), TICK).joint_velocities[:3].any()


def test_full_speed_is_reached_in_the_ramp_time_and_held(drive, arm):
    going = drive()
    going.run(cartesian(0.0, 0.0, 1.0), CONFIG.ramp_time + 2.0 * TICK)
    last = going.run(cartesian(0.0, 0.0, 1.0), TICK)
    velocity = arm.jacobian(going.generator.foreseen) @ last.joint_velocities[:3]
    assert velocity == pytest.approx([0.0, 0.0, 0.05], abs=1e-4)
    assert last.axis_scales == pytest.approx((0.0, 0.0, 1.0))


def test_a_reversal_is_smooth_and_along_the_line(drive, arm):
    going = drive()
    start = arm.tip(going.body.q)
    for sign in (1.0, -1.0, 1.0, -1.0):
        going.run(cartesian(0.3 * sign, 0.0, sign, speed=1.0), 0.4)
    moved = arm.tip(going.body.q) - start
    assert abs(moved[1]) < 2e-4
    assert change(going.rates) <= 1.0 + 1e-9


@pytest.mark.parametrize("turned", range(6, 16, 3))
def test_an_input_that_ends_while_the_joints_turn_round_is_at_rest_in_time(drive, turned):
    # 26 mm behind the base axis: the base has all its speed to give, either way.
    going = drive([4.0, 2.1, 1.0, 3.0, 0.007])
    going.run(cartesian(1.0, 0.0, 0.0, speed=1.0), 0.2)
    going.run(cartesian(1.0, -1.0, 0.0, speed=1.0), turned * TICK)
    going.run(STILL, CONFIG.ramp_time + TICK)
    assert going.generator.at_rest
    assert change(going.rates) <= 1.0 + 1e-9


def test_after_an_immediate_stop_it_begins_at_rest(drive):
    going = drive()
    full = np.abs(going.run(cartesian(1.0, 0.0, 0.0), 0.5).joint_velocities).max()
    going.generator.halt()
    assert going.generator.at_rest
    first = going.run(cartesian(1.0, 0.0, 0.0), TICK)
    assert 0.0 < np.abs(first.joint_velocities).max() < 0.1 * full


@pytest.mark.parametrize("latency", [0.005, 0.03, 0.06])
def test_a_step_is_resolved_for_where_the_arm_will_be(drive, latency):
    going = drive(config=MotionConfig(latency=latency))
    going.run(cylindrical(0.0, 0.5, 1.0, speed=1.0), 1.0)
    foreseen = np.array(going.generator.foreseen)
    going.body.advance(going.now, going.now + latency + TICK / 2.0)
    assert foreseen == pytest.approx(going.body.q, abs=2e-4)


def test_the_wrist_fades_by_itself_while_the_arm_goes_on(drive):
    going = drive()
    both = cylindrical(0.0, 0.0, 1.0)
    rolling = replace(both, gripper_velocities=GripperVelocities(0.0, 1.0))
    going.run(rolling, 0.5)
    rates = going.run(both, CONFIG.ramp_time / 2.0).joint_velocities
    assert rates[E] == pytest.approx(-0.25)
    assert 0.2 < rates[B] < 0.7
    assert going.run(both, CONFIG.ramp_time).joint_velocities[B] == 0.0


def test_U17_after_a_pause_it_begins_at_rest_where_the_arm_is(drive, arm):
    going = drive()
    going.run(cartesian(1.0, 0.0, 0.0), 0.5)
    going.generator.halt()
    going.body.q = GOOD + 0.3
    going.body.send(np.zeros(5), going.now)
    going.body.advance(going.now, going.now + 1.0)
    going.now += 1.0
    tip = arm.tip(going.body.q)
    first = going.run(cartesian(1.0, 0.0, 0.0), TICK)
    assert np.abs(first.joint_velocities).max() < 0.02
    going.run(cartesian(1.0, 0.0, 0.0), 1.0)
    moved = arm.tip(going.body.q) - tip
    assert np.abs(moved[1:]).max() < 2e-4


def test_steps_that_cease_are_a_stop(drive):
    going = drive()
    going.run(cartesian(1.0, 0.0, 0.0), 0.5)
    going.now += 2.0 * GAP
    first = going.run(cartesian(1.0, 0.0, 0.0), TICK)
    assert np.abs(first.joint_velocities).max() < 0.02


def test_two_steps_at_one_time_change_nothing(drive):
    going = drive()
    last = going.run(cartesian(1.0, 0.0, 0.0), 0.5)
    again = going.generator.step(cartesian(-1.0, 0.0, 0.0), going.body.q, going.now, going.now)
    assert (again.joint_velocities == last.joint_velocities).all()


def test_from_jogging_to_a_pose_and_back_is_smooth(drive):
    going = drive()
    for command in (
        cylindrical(0.5, 0.0, 1.0, speed=1.0),
        to_pose(Pose.STOWED),
        cartesian(0.0, 1.0, -1.0, speed=1.0),
        to_pose(Pose.DEPLOYED),
        STILL,
    ):
        going.run(command, 0.5)
    assert change(going.rates) <= 1.0 + 1e-9
    assert np.abs(going.rates).max() > 0.3


# --- refused ------------------------------------------------------------------------------------


def test_a_command_out_of_order_fades_out_and_says_why(drive):
    going = drive()
    going.run(cartesian(1.0, 0.0, 0.0), 0.5)
    last = going.run(cartesian(2.0, 0.0, 0.0), TICK)
    assert last.refused.code == "out_of_range"
    assert last.joint_velocities.any()
    going.run(cartesian(math.nan, 0.0, 0.0), CONFIG.ramp_time + TICK)
    assert going.generator.at_rest


@pytest.mark.parametrize("joint", [E, D, C])
def test_an_arm_that_is_not_measured_any_more_stops_at_once_and_the_wrist_goes_on(drive, joint):
    going = drive()
    command = cartesian(1.0, 0.0, 0.0, gripper_velocities=GripperVelocities(0.0, 0.5))
    going.run(command, 0.5)
    going.body.q[joint] = math.nan
    last = going.run(command, TICK)
    assert last.refused.code == "unknown_posture"
    assert (last.joint_velocities[:B] == 0.0).all()
    assert last.joint_velocities[B] > 0.4


def test_near_things_to_keep_clear_of_nothing_moves_unless_all_is_measured(drive, arm, tip_wall):
    wall = tip_wall(arm, -DOWN, arm.tip(GOOD) + 0.05 * DOWN, INNER)
    going = drive(keep_out=wall)
    rolling = cartesian(1.0, 0.0, 0.0, gripper_velocities=GripperVelocities(0.0, 1.0))
    assert going.run(rolling, 0.3).joint_velocities[B] > 0.3
    going.body.q[A] = math.nan
    last = going.run(rolling, TICK)
    assert last.refused.code == "unknown_posture"
    assert (last.joint_velocities == 0.0).all()


def test_S3_stowing_while_holding_is_refused_and_the_jaws_may_let_go(drive):
    going = drive()
    stow = to_pose(Pose.STOWED, gripper_velocities=GripperVelocities(1.0, 0.0))
    last = going.run(stow, 0.3, holding=True)
    assert last.refused.code == "holding"
    assert (last.joint_velocities[:B] == 0.0).all()
    assert last.joint_velocities[A] == pytest.approx(0.003)
    assert last.moving_to == Pose.UNSPECIFIED
    assert going.run(to_pose(Pose.DEPLOYED), 0.1, holding=True).refused is None
    going.run(to_pose(Pose.STOWED), 0.1)
    assert going.run(to_pose(Pose.STOWED), TICK, holding=True).refused.code == "holding"
    going.run(STILL, 1.0)
    assert going.run(stow, 0.1).refused is None
    assert going.run(stow, 0.1).moving_to == Pose.STOWED


def test_accelerations_that_cannot_follow_the_ramps_are_refused_at_start(arm):
    with pytest.raises(MotionConfigError, match=r"axis_e: an acceleration of 1 is too low"):
        MotionGenerator(arm, MotionConfig(joint_acceleration=1.0))
    with pytest.raises(MotionConfigError, match="axis_a"):
        MotionGenerator(arm, MotionConfig(jaw_acceleration=0.001))


# --- what blocks --------------------------------------------------------------------------------


def test_rule15_the_limit_of_a_joint_is_named_and_the_way_back_is_open(drive, arm):
    going = drive([0.2, 1.6, 1.5, 3.0, 0.007])
    last = going.run(cylindrical(0.0, 0.0, 1.0), 3.0)
    assert last.blocked_by == ("limit axis_e",)
    assert last.at_limit == (True, False, False, False, False)
    assert going.body.q[E] == pytest.approx(0.01, abs=2e-3)
    assert going.run(cylindrical(0.0, 0.0, -1.0), 0.5).blocked_by == ()
    assert going.body.q[E] > 0.05
    assert change(going.rates) <= 1.0 + 1e-9


def test_narrower_limits_of_the_arm_are_kept(drive):
    nothing = np.full(5, np.nan)
    reported = JointLimits(nothing, np.array([3.1, *[np.nan] * 4]), nothing)
    going = drive()
    last = going.run(cylindrical(0.0, 0.0, -1.0), 2.0, limits=reported)
    assert last.blocked_by == ("limit axis_e",)
    assert 3.08 < going.body.q[E] < 3.1


def test_a_wall_stops_what_goes_into_it_and_nothing_else(drive, arm, tip_wall):
    # The wall is 3 cm below the tip; down is +z.
    wall = tip_wall(arm, -DOWN, arm.tip(GOOD) + 0.03 * DOWN, INNER)
    going = drive(keep_out=wall)
    start = arm.tip(going.body.q)
    last = going.run(cartesian(-0.5, 0.0, 1.0), 2.5)
    assert last.blocked_by == ("collision tool wall",)
    assert INNER - 1e-4 < wall.distance(going.body.q) < INNER + 2e-3
    moved = arm.tip(going.body.q) - start
    assert moved[0] == pytest.approx(-0.06, abs=0.004), "along the wall it goes on"
    assert last.axis_scales[0] == pytest.approx(1.0, abs=1e-3)
    assert last.axis_scales[2] < 0.05
    going.run(cartesian(0.0, 0.0, -1.0), 0.7)
    assert wall.distance(going.body.q) > INNER + 0.02, "away at full speed"
    assert change(going.rates) <= 1.0 + 1e-9


def test_from_inside_what_must_not_be_touched_the_way_out_is_open(drive, arm, tip_wall):
    wall = tip_wall(arm, -DOWN, arm.tip(GOOD) - 0.02 * DOWN, INNER)
    going = drive(keep_out=wall)
    assert wall.distance(going.body.q) < 0.0
    last = going.run(cartesian(0.0, 0.0, 1.0), 0.5)
    assert np.abs(last.joint_velocities).max() < 1e-4
    going.run(cartesian(0.0, 0.0, -1.0), 1.0)
    assert wall.distance(going.body.q) > 0.02


@pytest.mark.parametrize("seed", range(12))
def test_from_every_blocked_state_some_input_leads_out(drive, arm, tip_wall, seed):
    rng = np.random.default_rng(seed)
    low, high = arm.limits.lower, arm.limits.upper
    q = low + (high - low) * rng.uniform(0.1, 0.9, 5)
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    wall = tip_wall(arm, -direction, arm.tip(q) + 0.04 * direction, INNER)
    going = drive(q, keep_out=wall if seed % 2 else None)
    into = direction / np.abs(direction).max()
    going.run(cartesian(*into.tolist(), speed=1.0), 8.0)
    best = 0.0
    ways = [cartesian(*(-into).tolist())]
    ways += [cylindrical(*way) for way in ((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0))]
    for way in ways:
        before = arm.tip(going.body.q)
        going.run(way, 2.0)
        best = max(best, float(np.linalg.norm(arm.tip(going.body.q) - before)))
    assert best > 0.02


# --- singular postures --------------------------------------------------------------------------


def straight(arm):
    return next(each.angle for each in arm.elbow_singularities if 0.0 < each.angle < 3.5)


@pytest.mark.parametrize("shoulder", [0.6, 1.5, 2.4])
@pytest.mark.parametrize("bend", [-0.02, 0.0, 0.005, 0.05])
def test_from_full_stretch_inward_is_quick_and_without_a_spike(drive, arm, shoulder, bend):
    going = drive([3.0, shoulder, straight(arm) + bend, 1.0, 0.007])
    reach = arm.posture(going.body.q).reach
    going.run(cylindrical(-1.0, 0.0, 0.0), 2.0)
    assert abs(reach) - abs(arm.posture(going.body.q).reach) > 0.02
    assert change(going.rates) <= 1.0 + 1e-9
    assert (np.abs(going.rates) <= arm.limits.velocity).all()


@pytest.mark.parametrize("angle", range(-180, 180, 45))
def test_from_the_base_axis_every_direction_leads_out(drive, arm, angle):
    going = drive([3.0, 2.5, 1.9629011328157093, 1.0, 0.007])
    posture = arm.posture(going.body.q)
    assert abs(posture.reach) < 1e-9
    ahead, across = np.array(posture.front), np.array(posture.across)
    way = math.cos(math.radians(angle)) * ahead + math.sin(math.radians(angle)) * across
    start = arm.tip(going.body.q)
    most = 0.0
    while most < 0.02 and going.now < 16.0:
        going.run(cartesian(*way.tolist()), 0.1)
        most = float((arm.tip(going.body.q) - start) @ way)
    assert most >= 0.02
    assert change(going.rates) <= 1.0 + 1e-9


def test_from_the_base_axis_outward_moves_two_centimetres_in_two_seconds(drive, arm):
    going = drive([3.0, 2.5, 1.9629011328157093, 1.0, 0.007])
    going.run(cylindrical(1.0, 0.0, 0.0), 2.0)
    assert abs(arm.posture(going.body.q).reach) > 0.02
    assert change(going.rates) <= 1.0 + 1e-9


@pytest.mark.parametrize("shoulder", [0.05, 1.57, 3.0])
def test_from_folded_the_tip_comes_out(drive, arm, shoulder):
    q = [1.0, shoulder, 0.0, 1.0, 0.007]
    moved = 0.0
    for way in ((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0)):
        trial = drive(q)
        trial.run(cylindrical(*way), 2.0)
        moved = max(moved, float(np.linalg.norm(arm.tip(trial.body.q) - arm.tip(q))))
        assert change(trial.rates) <= 1.0 + 1e-9
    assert moved > 0.02


# --- poses by name ------------------------------------------------------------------------------


def named(name, **fields):
    pose = KnownPose(Pose.NAMED, 1.0, name, **fields)
    return GripperCommand(arm_input=ArmInput.KNOWN_POSE, known_pose=pose, speed_modifier=1.0)


def test_B5_a_further_pose_is_reached_by_its_name(drive):
    rest = (2.0, 2.0, 0.5)
    going = drive(config=MotionConfig(further_poses=(("rest", rest),)))
    last = going.run(named("rest"), 1.0)
    assert last.moving_to_name == "rest"
    assert last.moving_to == Pose.NAMED
    going.run(named("rest"), 12.0)
    assert np.abs(going.body.q[:3] - rest).max() <= CONFIG.pose_tolerance
    assert (going.rates[-1] == 0.0).all()


def test_a_pose_that_is_not_configured_is_refused(drive):
    last = drive().run(named("nowhere"), 0.1)
    assert last.refused.code == "unknown_pose"
    assert "stowed, deployed" in last.refused.reason
    assert (last.joint_velocities == 0.0).all()


@pytest.mark.parametrize(
    ("poses", "message"),
    [
        ((("stowed", (1.0, 1.0, 1.0)),), "a further pose is named 'stowed'"),
        ((("up", (1.0, math.nan, 1.0)),), "pose up is"),
    ],
)
def test_further_poses_are_checked(poses, message):
    with pytest.raises(MotionConfigError, match=message):
        MotionConfig(further_poses=poses)


class Untouched:
    """A keep-out that nobody may ask."""

    def constraints(self, q):
        raise AssertionError(f"measured at {q}")


def test_at_rest_nothing_is_measured(arm):
    generator = MotionGenerator(arm, CONFIG, Untouched())
    for tick in range(3):
        resolution = generator.step(GripperCommand(), GOOD, tick * TICK, tick * TICK)
        assert not resolution.joint_velocities.any()
    with pytest.raises(AssertionError, match="measured"):
        generator.step(to_pose(Pose.STOWED), GOOD, 3 * TICK, 3 * TICK)
