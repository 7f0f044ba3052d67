"""What comes out for a command at a posture."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from reach_alpha5_motion.model import A, B, C, D, E, JointLimits
from reach_alpha5_motion.resolver import MotionConfig, MotionConfigError, VelocityResolver

MOUNTS = ["0 0 0", "3.141592653589793 0 0", "0.4 -0.7 1.9"]
GOOD = np.array([3.0, 1.6, 1.5, 3.0, 0.007])
"""A posture with room in all directions."""

BEHIND = np.array([3.0, 3.2, 1.2, 3.0, 0.007])
"""The same with the tip behind the base axis."""


def cartesian(*axes, speed=0.0):
    return GripperCommand(
        arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(*axes), speed_modifier=speed
    )


def cylindrical(*axes, speed=0.0):
    return GripperCommand(
        arm_input=ArmInput.CYLINDRICAL, cylindrical=Cylindrical(*axes), speed_modifier=speed
    )


def gripper(grip=0.0, rotate=0.0, **other):
    return GripperCommand(gripper_velocities=GripperVelocities(grip, rotate), **other)


def to_pose(pose, velocity=1.0, speed=0.0):
    return GripperCommand(
        arm_input=ArmInput.KNOWN_POSE,
        known_pose=KnownPose(pose, velocity),
        speed_modifier=speed,
    )


@pytest.fixture(scope="module")
def resolver(arm):
    return VelocityResolver(arm, MotionConfig())


def about_the_axis(arm, q, rates):
    """Return the tip velocity as outward, down, clockwise (rad/s), by plain geometry."""
    up = arm.base_rotation[:, 2]
    offset = arm.tip(q) - arm.base_position
    outward = offset - (offset @ up) * up
    radius = np.linalg.norm(outward)
    outward /= radius
    velocity = arm.jacobian(q) @ rates[:3]
    return velocity @ outward, -(velocity @ up), -(velocity @ np.cross(up, outward)) / radius


# --- still --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        STILL,
        cartesian(0.0, 0.0, 0.0),
        cylindrical(0.0, 0.0, 0.0, speed=1.0),
        to_pose(Pose.STOWED, 0.0),
    ],
)
@pytest.mark.parametrize("q", [GOOD, np.full(5, np.nan), np.full(5, 99.0)])
def test_a_neutral_command_is_exactly_still(resolver, command, q):
    resolution = resolver.resolve(command, q)
    assert (resolution.joint_velocities == 0.0).all()
    assert resolution.at_limit == (False,) * 5
    assert resolution.refused is None
    assert resolution.moving_to == Pose.UNSPECIFIED


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (cartesian(math.nan, 0.0, 0.0), "not_finite"),
        (cartesian(1.5, 0.0, 0.0), "out_of_range"),
        (gripper(grip=0.5, arm_input=4), "unknown_arm_input"),
        (to_pose(7), "unknown_pose"),
        (gripper(grip=0.5, cartesian=Cartesian(x=1.0)), "two_inputs"),
    ],
)
def test_a_command_out_of_order_is_refused_whole(resolver, command, code):
    resolution = resolver.resolve(command, GOOD)
    assert resolution.refused.code == code
    assert (resolution.joint_velocities == 0.0).all()


@pytest.mark.parametrize("joint", [E, D, C])
@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize(
    "command", [cartesian(0.0, 0.0, 1.0), cylindrical(0.0, 0.0, 1.0), to_pose(Pose.STOWED)]
)
def test_the_arm_is_still_while_one_of_its_joints_is_unknown(resolver, command, joint, value):
    q = GOOD.copy()
    q[joint] = value
    resolution = resolver.resolve(command, q)
    assert resolution.refused.code == "unknown_posture"
    assert (resolution.joint_velocities == 0.0).all()
    assert resolution.moving_to == Pose.UNSPECIFIED


def test_what_is_known_moves_while_another_joint_is_unknown(resolver):
    command = gripper(
        grip=1.0, rotate=-1.0, arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(x=1.0)
    )
    arm_unknown = resolver.resolve(command, [math.nan, 2.0, 1.3, 3.0, 0.007])
    assert arm_unknown.joint_velocities.tolist() == [0.0, 0.0, 0.0, -0.87, 0.003]
    assert "axis_e, axis_d and axis_c" in arm_unknown.refused.reason
    jaws_unknown = resolver.resolve(command, [*GOOD[:4], math.nan])
    assert jaws_unknown.joint_velocities[:4].all()
    assert jaws_unknown.joint_velocities[A] == 0.0
    assert "axis_a" in jaws_unknown.refused.reason
    wrist_unknown = resolver.resolve(command, [*GOOD[:3], math.nan, 0.007])
    assert wrist_unknown.joint_velocities[[E, D, C, A]].all()
    assert wrist_unknown.joint_velocities[B] == 0.0
    assert "axis_b" in wrist_unknown.refused.reason


def test_a_joint_without_any_speed_is_still(resolver, arm):
    for velocity in (0.0, -1.0):
        stuck = JointLimits(arm.limits.lower, arm.limits.upper, np.full(5, velocity))
        for command in (cartesian(1.0, 1.0, 1.0), to_pose(Pose.STOWED), gripper(1.0, 1.0)):
            assert not resolver.resolve(command, GOOD, stuck).joint_velocities.any()


unit = st.floats(-1.0, 1.0)
anything = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=200, deadline=None)
@given(
    command=st.one_of(
        st.builds(cartesian, unit, unit, unit, speed=unit),
        st.builds(cylindrical, unit, unit, unit, speed=unit),
        st.builds(to_pose, st.sampled_from([1, 2]), st.floats(0.0, 1.0), speed=unit),
        st.builds(gripper, unit, unit),
    ),
    q=st.lists(st.one_of(anything, st.floats(-1.0, 7.0)), min_size=5, max_size=5),
    numbers=st.lists(st.one_of(anything, st.floats(-1.0, 7.0)), min_size=15, max_size=15),
)
def test_anything_in_gives_bounded_rates_out(resolver, arm, command, q, numbers):
    limits = JointLimits(*np.array(numbers).reshape(3, 5))
    for given_limits in (None, limits):
        rates = resolver.resolve(command, q, given_limits).joint_velocities
        assert np.isfinite(rates).all()
        assert (np.abs(rates) <= arm.limits.velocity).all()


# --- direction and speed ------------------------------------------------------------------------


@pytest.mark.parametrize("mount", MOUNTS)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("value", [-1.0, 0.25])
def test_B3_cartesian_moves_the_tip_along_the_asked_axis_of_the_body(arm_on, mount, axis, value):
    arm = arm_on(mount)
    resolver = VelocityResolver(arm, MotionConfig(linear_speed=0.04))
    asked = np.zeros(3)
    asked[axis] = value
    resolution = resolver.resolve(cartesian(*asked), GOOD)
    velocity = arm.jacobian(GOOD) @ resolution.joint_velocities[:3]
    assert velocity == pytest.approx(asked * 0.04 * 0.5, abs=1e-12)
    assert resolution.axis_scales[axis] == 1.0
    assert sum(resolution.axis_scales) == 1.0


@pytest.mark.parametrize("mount", MOUNTS)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("value", [-1.0, 0.25])
@pytest.mark.parametrize("q", [GOOD, BEHIND])
def test_B4_cylindrical_moves_the_tip_about_the_base_axis(arm_on, mount, axis, value, q):
    arm = arm_on(mount)
    resolver = VelocityResolver(arm, MotionConfig(linear_speed=0.03, azimuth_speed=0.3))
    asked = np.zeros(3)
    asked[axis] = value
    resolution = resolver.resolve(cylindrical(*asked), q)
    moved = about_the_axis(arm, q, resolution.joint_velocities)
    assert moved == pytest.approx(asked * (0.03, 0.03, 0.3) * 0.5, abs=1e-9)


def test_B4_clockwise_is_as_seen_from_above(arm, resolver):
    # On the default mount the base axis points up: in the body frame (z down) clockwise seen from
    # above takes a tip that is forward to the right.
    forward = np.array([math.pi, 1.57, 1.57, 0.0, 0.0])
    assert (arm.tip(forward) - arm.base_position)[0] > 0.1
    rates = resolver.resolve(cylindrical(0.0, 0.0, 1.0), forward).joint_velocities
    assert (arm.jacobian(forward) @ rates[:3])[1] > 0.02


def test_B6_speed_modifier_scales_the_arm_only(arm, resolver):
    def rates(modifier):
        command = gripper(
            grip=0.5,
            rotate=0.5,
            arm_input=ArmInput.CARTESIAN,
            cartesian=Cartesian(z=0.4),
            speed_modifier=modifier,
        )
        return resolver.resolve(command, GOOD).joint_velocities

    slow, default, fast = rates(-1.0), rates(0.0), rates(1.0)
    assert slow[:3] == pytest.approx(default[:3] / 2.0)
    assert fast[:3] == pytest.approx(default[:3] * 2.0)
    assert (slow[3:] == default[3:]).all()
    assert (fast[3:] == default[3:]).all()
    assert default[3:].tolist() == [0.435, 0.0015]


def test_B6_speed_modifier_scales_known_poses(resolver):
    slow, default, fast = (
        resolver.resolve(to_pose(Pose.STOWED, 0.8, speed=m), GOOD).joint_velocities
        for m in (-1.0, 0.0, 1.0)
    )
    assert slow == pytest.approx(default / 2.0)
    assert fast == pytest.approx(default * 2.0)


def test_configured_gripper_speeds_cannot_exceed_the_description(arm):
    resolver = VelocityResolver(arm, MotionConfig(wrist_speed=3.0, jaw_speed=0.01))
    rates = resolver.resolve(gripper(1.0, 1.0), GOOD).joint_velocities
    assert rates[B] == arm.limits.velocity[B]
    assert rates[A] == arm.limits.velocity[A]


def test_saturation_keeps_the_direction(arm):
    resolver = VelocityResolver(arm, MotionConfig(linear_speed=1.0))
    asked = np.array([0.6, -0.4, 0.2])
    resolution = resolver.resolve(cartesian(*asked, speed=1.0), GOOD)
    velocity = arm.jacobian(GOOD) @ resolution.joint_velocities[:3]
    assert np.abs(np.cross(velocity, asked)).max() < 1e-6
    assert velocity @ asked > 0.0
    share = np.abs(resolution.joint_velocities[:3]) / arm.limits.velocity[:3]
    assert share.max() == pytest.approx(1.0, abs=1e-5)


# --- limits -------------------------------------------------------------------------------------


def inward_command(arm, q, joint, sign):
    """Ask for what moves one joint one way and no other."""
    if joint in (A, B):
        return gripper(**{"grip" if joint == A else "rotate": sign})
    if joint == E:
        return cylindrical(0.0, 0.0, -sign)
    velocity = sign * arm.jacobian(q)[:, joint]
    return cartesian(*(velocity / np.abs(velocity).max()).tolist())


@pytest.mark.parametrize("mount", MOUNTS)
@pytest.mark.parametrize("joint", [E, D, C, B, A])
@pytest.mark.parametrize("end", ["lower", "upper"])
@pytest.mark.parametrize("beyond", [0.0, 0.05])
def test_rule15_inward_always_works_and_outward_never(arm_on, mount, joint, end, beyond):
    arm = arm_on(mount)
    resolver = VelocityResolver(arm, MotionConfig())
    inward = 1.0 if end == "lower" else -1.0
    q = GOOD.copy()
    q[joint] = getattr(arm.limits, end)[joint] - inward * beyond * (0.1 if joint == A else 1.0)
    back = resolver.resolve(inward_command(arm, q, joint, inward), q)
    assert back.joint_velocities[joint] * inward > 0.3 * arm.limits.velocity[joint]
    assert not any(back.at_limit)
    out = resolver.resolve(inward_command(arm, q, joint, -inward), q)
    assert out.joint_velocities[joint] == pytest.approx(0.0, abs=1e-9)
    assert out.at_limit == tuple(i == joint for i in range(5))


@pytest.mark.parametrize("joint", [E, D, C, B, A])
@pytest.mark.parametrize("end", ["lower", "upper"])
def test_rule15_rate_falls_with_the_distance_to_the_limit(arm, resolver, joint, end):
    outward = -1.0 if end == "lower" else 1.0
    rates = []
    for distance in np.linspace(0.3, 0.0, 61) * (0.01 if joint == A else 1.0):
        q = GOOD.copy()
        q[joint] = getattr(arm.limits, end)[joint] - outward * distance
        command = inward_command(arm, q, joint, outward)
        rates.append(abs(resolver.resolve(command, q).joint_velocities[joint]))
        assert rates[-1] <= 4.0 * distance + 1e-12
    assert rates[0] > 0.3 * arm.limits.velocity[joint]
    assert rates[-1] == pytest.approx(0.0, abs=1e-9)
    # Posture changes with the joint, and so may the rate before braking: a last stretch is enough.
    assert (np.diff(rates[-10:]) <= 1e-9).all()


def test_rule16_a_base_at_its_limit_leaves_radius_and_height_free(arm, resolver):
    q = GOOD.copy()
    q[E] = 0.0
    blocked = resolver.resolve(cylindrical(-0.5, 0.5, 1.0), q)
    assert blocked.axis_scales[:2] == pytest.approx((1.0, 1.0), abs=1e-6)
    assert blocked.axis_scales[2] == 0.0
    assert blocked.at_limit == (True, False, False, False, False)
    assert blocked.joint_velocities[E] == 0.0
    free = resolver.resolve(cylindrical(-0.5, 0.5, 0.0), q)
    assert blocked.joint_velocities == pytest.approx(free.joint_velocities, abs=1e-6)


def test_rule16_a_blocked_joint_lets_cartesian_axes_go_that_do_not_need_it(arm, resolver):
    # With the arm in the drone's forward-down plane, only sideways motion needs the base.
    q = np.array([math.pi, 1.57, 1.57, 3.0, 0.007])
    at_stop = JointLimits(
        np.array([math.pi, np.nan, np.nan, np.nan, np.nan]), np.full(5, np.nan), np.full(5, np.nan)
    )
    for sideways in (1.0, -1.0):
        resolution = resolver.resolve(cartesian(-0.3, sideways, 0.3), q, at_stop)
        assert resolution.axis_scales[0] == pytest.approx(1.0, abs=1e-5)
        assert resolution.axis_scales[2] == pytest.approx(1.0, abs=1e-5)
        allowed = resolution.joint_velocities[E] > 0.0
        assert allowed == (not resolution.at_limit[E])
        assert (resolution.axis_scales[1] > 0.5) == allowed


def test_jaws_and_wrist_go_on_while_the_arm_is_blocked(arm, resolver):
    q = GOOD.copy()
    q[E] = 0.0
    command = gripper(
        grip=-1.0,
        rotate=1.0,
        arm_input=ArmInput.CYLINDRICAL,
        cylindrical=Cylindrical(azimuth=1.0),
    )
    resolution = resolver.resolve(command, q)
    assert resolution.joint_velocities.tolist() == [0.0, 0.0, 0.0, 0.87, -0.003]


def test_narrower_limits_of_the_arm_are_kept(arm, resolver):
    nothing = np.full(5, np.nan)
    reported = JointLimits(nothing, np.array([3.0, np.nan, np.nan, np.nan, np.nan]), nothing)
    counterclockwise = cylindrical(0.0, 0.0, -1.0)
    assert resolver.resolve(counterclockwise, GOOD).joint_velocities[E] > 0.2
    assert resolver.resolve(counterclockwise, GOOD, reported).joint_velocities[E] == 0.0
    assert resolver.resolve(cylindrical(0.0, 0.0, 1.0), GOOD, reported).joint_velocities[E] < -0.2


# --- poses --------------------------------------------------------------------------------------


def test_moving_to_is_true_to_what_happens(arm, resolver):
    assert resolver.resolve(to_pose(Pose.DEPLOYED), GOOD).moving_to == Pose.DEPLOYED
    there = np.array([*MotionConfig().deployed, 3.0, 0.007])
    arrived = resolver.resolve(to_pose(Pose.DEPLOYED), there)
    assert arrived.moving_to == Pose.UNSPECIFIED
    assert (arrived.joint_velocities == 0.0).all()


def test_a_pose_out_of_the_limits_that_the_arm_reports_stops_and_says_by_what(arm, resolver):
    nothing = np.full(5, np.nan)
    reported = JointLimits(nothing, np.array([np.nan, 2.0, np.nan, np.nan, np.nan]), nothing)
    q = np.array([1.0, 1.99, 1.3, 3.0, 0.007])
    resolution = resolver.resolve(to_pose(Pose.DEPLOYED), q, reported)
    assert (resolution.joint_velocities == 0.0).all()
    assert resolution.at_limit == (False, True, False, False, False)
    assert resolution.moving_to == Pose.UNSPECIFIED


def test_a_configured_posture_outside_the_description_is_refused(arm):
    with pytest.raises(MotionConfigError, match=r"stowed: axis_c is 3.6.*0.01 to 3.49 rad"):
        VelocityResolver(arm, MotionConfig(stowed=(0.1, 1.57, 3.6)))
    with pytest.raises(MotionConfigError, match="lift: axis_d is -1"):
        VelocityResolver(arm, MotionConfig(lift=(-1.0, 1.0)))
