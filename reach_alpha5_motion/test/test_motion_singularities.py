"""Where the exact inverse has no value: bounded, smooth, and never a trap."""

import math

import numpy as np
import pytest

from reach_alpha5_common.command import ArmInput, Cartesian, Cylindrical, GripperCommand
from reach_alpha5_motion.model import C, E
from reach_alpha5_motion.resolver import MotionConfig, VelocityResolver
from reach_alpha5_motion.singularity import AXIS_ZONE, inward_share, turn_per_across

TICK = 0.01
ON_AXIS = (2.5, 1.9629011328157093)
"""axis_d, axis_c with the tip on the base axis."""


def cartesian(axes):
    return GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(*map(float, axes)))


def cylindrical(*axes):
    return GripperCommand(arm_input=ArmInput.CYLINDRICAL, cylindrical=Cylindrical(*axes))


@pytest.fixture(scope="module")
def resolver(arm):
    return VelocityResolver(arm, MotionConfig())


def straight(arm):
    return next(s.angle for s in arm.elbow_singularities if 0.0 < s.angle < 3.5)


def run(arm, resolver, body, command, seconds, enough=lambda moved: False):
    """Return tip displacement and rates, a row a tick; ends early once it has moved enough."""
    start = arm.tip(body.q)
    tips, rates = [], []
    for _ in range(round(seconds / TICK)):
        rates.append(resolver.resolve(command, body.measured()).joint_velocities)
        body.tick(rates[-1])
        tips.append(arm.tip(body.q) - start)
        if enough(tips[-1]):
            break
    return np.array(tips), np.array(rates)


@pytest.mark.parametrize("noise", [0.0, 1e-3])
@pytest.mark.parametrize("shoulder", [0.8, 1.5, 2.4])
@pytest.mark.parametrize("bend", [-0.01, -0.001, 0.0, 0.001, 0.009])
def test_from_full_stretch_inward_moves_at_once_and_evenly(
    arm, resolver, late_arm, shoulder, bend, noise
):
    body = late_arm(np.array([3.0, shoulder, straight(arm) + bend, 1.0, 0.007]), noise)
    reach = abs(arm.posture(body.q).reach)
    _, rates = run(arm, resolver, body, cylindrical(-1.0, 0.0, 0.0), 2.0)
    assert reach - abs(arm.posture(body.q).reach) > 0.02
    assert (rates[:, C] <= 0.0).all(), "the elbow bends one way only"
    assert np.abs(np.diff(rates, axis=0)).max() < 0.1
    assert (rates[:, E] == 0.0).all()


@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_outward_ends_before_full_stretch(arm, resolver, late_arm, noise):
    body = late_arm(np.array([3.0, 1.5, 1.5, 1.0, 0.007]), noise)
    _, rates = run(arm, resolver, body, cylindrical(1.0, -0.2, 0.0), 8.0)
    assert straight(arm) - 0.07 < body.q[C] < straight(arm) - 0.04
    assert np.abs(rates[-50:]).max() < 0.02
    assert np.abs(np.diff(rates, axis=0)).max() < 0.06


def test_at_full_stretch_the_base_still_turns_and_says_what_is_held_back(arm, resolver):
    q = np.array([3.0, 1.5, straight(arm), 1.0, 0.007])
    resolution = resolver.resolve(cylindrical(1.0, 0.0, 0.5), q)
    assert resolution.axis_scales == (0.0, 0.0, 1.0)
    assert resolution.joint_velocities[:3].tolist() == [-0.125, 0.0, 0.0]
    assert not any(resolution.at_limit), "no position limit is in the way"


@pytest.mark.parametrize("noise", [0.0, 5e-4])
@pytest.mark.parametrize("angle", range(-180, 180, 30))
def test_from_the_base_axis_every_direction_leads_out(arm, resolver, late_arm, angle, noise):
    body = late_arm(np.array([3.0, *ON_AXIS, 1.0, 0.007]), noise)
    posture = arm.posture(body.q)
    assert abs(posture.reach) < 1e-9
    ahead, across = np.array(posture.front), np.array(posture.across)
    direction = math.cos(math.radians(angle)) * ahead + math.sin(math.radians(angle)) * across
    tips, rates = run(
        arm, resolver, body, cartesian(direction), 5.0, lambda moved: moved @ direction > 0.03
    )
    assert (tips @ direction).max() > 0.02
    beside = tips - np.outer(tips @ direction, direction)
    assert np.linalg.norm(beside, axis=1).max() < 0.005
    assert (np.abs(rates) <= arm.limits.velocity).all()


@pytest.mark.parametrize("offset", [0.0, 0.0005, 0.002, 0.0039, 0.006, 0.02])
def test_a_straight_jog_past_the_base_axis_goes_through_evenly(arm, resolver, late_arm, offset):
    # 5 cm in front of the axis, heading back along a line that misses the axis by the offset.
    q = np.array([3.0, 2.5, 2.2, 1.0, 0.007])
    reach = arm.posture(q).reach
    assert reach > 0.03
    heading = np.array(arm.posture(q).front)
    q[E] += math.asin(offset / reach)
    body = late_arm(q)
    tips, rates = run(
        arm,
        resolver,
        body,
        cartesian(-heading),
        9.0,
        lambda moved: -(moved @ heading) > reach + 0.04,
    )
    along = -(tips @ heading)
    assert along[-1] > reach + 0.03
    assert (np.diff(along) > -1e-9).all(), "never back"
    beside = tips + np.outer(along, heading)
    assert np.linalg.norm(beside, axis=1).max() < 0.006
    assert np.abs(np.diff(rates[1:], axis=0)).max() < 0.2


@pytest.mark.parametrize("noise", [0.0, 1e-3])
@pytest.mark.parametrize("elbow", [1.2, 2.3])
def test_radial_inward_ends_at_the_base_axis(arm, resolver, late_arm, elbow, noise):
    body = late_arm(np.array([3.0, 2.5, elbow, 1.0, 0.007]), noise)
    _, rates = run(arm, resolver, body, cylindrical(-1.0, 0.0, 0.0), 6.0)
    assert abs(arm.posture(body.q).reach) == pytest.approx(AXIS_ZONE, abs=0.001)
    assert np.abs(rates[-50:]).max() < 0.02
    _, rates = run(arm, resolver, body, cylindrical(1.0, 0.0, 0.0), 1.0)
    assert abs(arm.posture(body.q).reach) > 0.03


def test_turn_is_exact_outside_the_zone_and_continuous_everywhere():
    assert turn_per_across(0.1, -1.0, 0.5) == 10.0
    assert turn_per_across(-0.1, 1.0, 0.5) == -10.0
    assert turn_per_across(0.0, 0.0, 0.0) == 0.0
    reaches = np.linspace(-2.0, 2.0, 4001) * AXIS_ZONE
    for angle in np.linspace(0.0, 2.0 * math.pi, 60):
        turns = [turn_per_across(reach, math.cos(angle), math.sin(angle)) for reach in reaches]
        assert np.abs(turns).max() <= 1.0 / AXIS_ZONE + 1e-9
        assert np.abs(np.diff(turns)).max() < 0.01 / AXIS_ZONE


def test_inward_share_never_reverses_and_leaves_outward_alone():
    assert inward_share(0.2, 0.1, 4.0) == 1.0
    assert inward_share(0.0, 0.1, 4.0) == 1.0
    assert inward_share(-0.2, -0.1, 4.0) == 1.0
    assert inward_share(0.001, -0.1, 4.0) == 0.0
    assert inward_share(AXIS_ZONE + 0.01, -0.1, 4.0) == pytest.approx(0.4)
