"""How much room the arm needs to stop: the bounds that it is reckoned from hold."""

import collision_rig
import numpy as np
import pytest

from reach_alpha5_motion.collision import Collision, CollisionConfig
from reach_alpha5_motion.obstacles import Box, Obstacle, Scene, Sphere, payload
from reach_alpha5_motion.speed import MotionConfig
from reach_alpha5_motion.stopping import WITHIN_ARM, Stopping

CONFIG = MotionConfig()


@pytest.fixture(scope="module")
def bodies():
    return collision_rig.bodies()


@pytest.fixture(scope="module")
def postures(arm):
    """Postures over the whole range, most of them with the arm near itself."""
    rng = np.random.default_rng(4)
    low, high = arm.limits.lower, arm.limits.upper
    folded = [low + (high - low) * rng.random(5) for _ in range(1500)]
    # Where the bound is nearly met: jaws before the plate of the base.
    worst = np.array([2.82, 3.3, 0.61, 4.57, 0.01])
    return [*folded, *(np.clip(worst + rng.normal(size=5) * 0.1, low, high) for _ in range(500))]


def test_near_itself_no_part_of_the_arm_comes_nearer_faster_than_the_bound(bodies, postures):
    collision = Collision(bodies, Scene(), CollisionConfig())
    fastest = np.zeros(3)
    for q in postures:
        for limit in collision.constraints(q.tolist()):
            if limit.distance >= 0.0:
                e, d, c, b, a = map(abs, limit.row)
                fastest = np.maximum(fastest, (e + d + c, b, a))
    assert (fastest <= WITHIN_ARM).all()
    assert (fastest > 0.7 * np.array(WITHIN_ARM)).all(), "the bound is near what there is"


def test_no_point_of_a_body_is_faster_than_its_levers(bodies, postures):
    ball = Obstacle("ball", "base_link", Sphere(0.05), (0.5, 0.2, 0.1))
    collision = Collision(bodies, Scene((ball,)), CollisionConfig(outer=1.0))
    levers = {}
    for body in bodies.bodies:
        found = levers.setdefault(f"{body.name} ball", np.zeros(5))
        found[:] = np.maximum(found, bodies.levers(body))
    checked = 0
    for q in postures[:300]:
        for limit in collision.constraints(q.tolist()):
            if limit.pair in levers and limit.distance >= 0.0:
                checked += 1
                assert (np.abs(limit.row) <= levers[limit.pair] + 1e-6).all()
    assert checked > 1000


@pytest.mark.parametrize("period", [0.01, 0.02, 0.1])
@pytest.mark.parametrize("acceleration", [4.0, 58.0])
def test_the_way_until_rest_is_that_of_braking_step_by_step(arm, period, acceleration):
    config = MotionConfig(joint_acceleration=acceleration, wrist_acceleration=acceleration * 1.7)
    stopping = Stopping.of(arm.limits, config, period)
    slowest = max(
        rate / most for rate, most in zip(stopping.rates, config.accelerations, strict=True)
    )
    way, speed = period / 2.0, 1.0 - period / slowest
    while speed > 0.0:
        way += speed * period
        speed -= period / slowest
    assert way <= stopping.time - config.latency <= way + period / 2.0


def test_what_reaches_far_out_is_slowed_from_farther_away(arm, bodies):
    q = [np.pi, 1.57, 1.57, 3.0, 0.005]
    pole = payload("pole", Box((0.02, 0.02, 0.4)), (0.0, 0.0, 0.2))
    stopping = Stopping.of(arm.limits, CONFIG, 0.02)

    def bounds(place, outer=0.06, stopping=None):
        """Distance and rate of the pairs that are bounded, by name, with a wall at x."""
        wall = Obstacle("wall", "base_link", Box((0.02, 4.0, 4.0)), (place, 0.0, 0.0))
        config = CollisionConfig(outer=outer)
        collision = Collision(bodies, Scene((pole, wall)), config, None, stopping)
        return {each.pair: (each.distance, each.rate) for each in collision.constraints(q)}

    far = 1.2
    place = far - (bounds(far, outer=1.0)["pole wall"][0] - 0.08)
    assert "pole wall" not in bounds(place)
    distance, rate = bounds(place, stopping=stopping)["pole wall"]
    assert distance == pytest.approx(0.08, abs=1e-6)
    assert rate == pytest.approx(4.0 * 0.07, abs=1e-5)
    assert "pole wall" not in bounds(place + 0.1, stopping=stopping)
    bare = Collision(bodies, Scene(), CollisionConfig(), None, stopping)
    assert bare.constraints(q) == Collision(bodies, Scene(), CollisionConfig()).constraints(q)
