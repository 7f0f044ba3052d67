"""What the arm keeps out of: distances, what they forbid, and the way back out."""

import math
import re

import coal
import numpy as np
import pinocchio as pin
import pytest
import xacro
from collision_rig import (
    FLAT,
    HIGH,
    LOW,
    MOUNTS,
    SCENE,
    SLAB,
    SPEED,
    TICK,
    WALL,
    bodies,
    description_folder,
    nearest_rates,
    postures,
    rows_of,
    texts,
)

from reach_alpha5_motion.bodies import ArmBodies
from reach_alpha5_motion.collision import Collision, CollisionConfig, CollisionConfigError
from reach_alpha5_motion.model import ModelError
from reach_alpha5_motion.obstacles import (
    Box,
    Cylinder,
    Mesh,
    Obstacle,
    ObstacleError,
    Plane,
    Scene,
    Sphere,
    floor,
    payload,
)

CONFIG = CollisionConfig()
EVERYTHING = CollisionConfig(outer=1.0, self_outer=1.0)
"""Slows from so far that every pair is told."""

ROOM = np.array([1.0, 1.0, 1.0, 1.0, 0.02])
"""Steps of the joints that are about as large as each other: rad, and m of the jaws."""


def links_of(limits):
    return {name for limit in limits for name in limit.pair.split()}


def inner_of(pair):
    """The inner distance of a pair, told by whether it names an obstacle."""
    own = {"arm_base", *(link for link in bodies().links if not link.startswith("base_link"))}
    return CONFIG.self_inner if set(pair.split()) <= own else CONFIG.inner


def share_left(distance, pair):
    """How much of the way from the outer to the inner distance is left."""
    inner = inner_of(pair)
    outer = CONFIG.outer if inner == CONFIG.inner else CONFIG.self_outer
    return (distance - inner) / (outer - inner)


def room_left(limits):
    return min((limit.distance - inner_of(limit.pair) for limit in limits), default=math.inf)


def free_postures(collision, count, seed):
    free = [q for q in postures(20 * count, seed) if room_left(collision.constraints(q)) > 0.0]
    assert len(free) >= count
    return free[:count]


# The numbers


@pytest.mark.parametrize("mount", MOUNTS)
def test_rows_are_the_derivative_of_the_distance(mount):
    collision = Collision(bodies(mount), SCENE, EVERYTHING)
    step = 1e-4
    errors, overlapping = [], 0
    for q in postures(30, seed=1):
        limits = collision.constraints(q)
        changes = []
        for axis in np.eye(5) * ROOM:
            ahead = collision.constraints(q + step * axis)
            behind = collision.constraints(q - step * axis)
            if [x.pair for x in ahead] != [x.pair for x in limits] or len(ahead) != len(behind):
                break  # two bodies are about to touch: more places of them are told
            changes.append(
                [
                    (a.distance - b.distance) / (2.0 * step)
                    for a, b in zip(ahead, behind, strict=True)
                ]
            )
        if len(changes) < 5:
            continue
        errors += np.abs(np.array(changes).T + rows_of(limits) * ROOM).max(axis=1).tolist()
        overlapping += sum(limit.distance < 0.0 for limit in limits)
    assert len(errors) > 500
    assert overlapping > 0
    # Where two places are equally near the distance has a kink: rare, and not asked.
    assert np.quantile(errors, 0.99) < 1e-3


def distances_of_links(arm, obstacle, q):
    """Distance of each link to a sphere about the origin of base_link, straight from coal."""
    data = arm.model.createData()
    pin.forwardKinematics(arm.model, data, arm.positions(np.asarray(q)))
    nearest = {}
    for body in arm.bodies:
        place = data.oMi[body.joint] * body.placement
        result = coal.DistanceResult()
        coal.distance(
            body.shape,
            coal.Transform3s(place.rotation, place.translation),
            coal.Sphere(obstacle.shape.radius),
            coal.Transform3s(np.eye(3), np.array(obstacle.position)),
            coal.DistanceRequest(),
            result,
        )
        nearest[body.name] = min(nearest.get(body.name, math.inf), result.min_distance)
    return nearest


def test_distances_are_those_of_the_bodies_where_the_joints_have_them():
    ball = Obstacle("ball", "base_link", Sphere(0.05), (0.4, 0.0, 0.0))
    collision = Collision(bodies(), Scene((ball,)), EVERYTHING)
    for q in postures(50, seed=2):
        expected = distances_of_links(bodies(), ball, q)
        del expected["arm_base"]  # it stands still
        told = {}
        for limit in collision.constraints(q):
            if limit.pair.endswith(" ball"):
                link = limit.pair.split()[0]
                told[link] = min(told.get(link, math.inf), limit.distance)
        assert told == pytest.approx(expected, abs=1e-5)


def test_what_is_told_does_not_depend_on_what_was_measured_before():
    seasoned = Collision(bodies(), SCENE, CONFIG)
    rng = np.random.default_rng(3)
    q, step, told = postures(1, seed=3)[0], np.zeros(5), 0
    for i in range(900):
        if i % 60 == 0:
            step = rng.normal(size=5) * ROOM * 0.02
        q = np.clip(q + step, LOW, HIGH)
        if i % 9 == 0:
            fresh = Collision(bodies(), SCENE, CONFIG)
            if i % 2:
                assert seasoned.clearance(q) == fresh.clearance(q)
            assert seasoned.constraints(q) == fresh.constraints(q)
            told += bool(fresh.constraints(q))
        else:
            seasoned.constraints(q)
    assert told > 45


@pytest.mark.parametrize("mount", MOUNTS)
def test_clearance_names_the_pair_that_holds_back_most(mount):
    collision = Collision(bodies(mount), SCENE, CONFIG)
    everything = Collision(bodies(mount), SCENE, EVERYTHING)
    asked = 0
    for q in postures(60, seed=5):
        limits = everything.constraints(q)
        if any(limit.distance < 0.0 for limit in limits):
            continue  # of several overlaps, only the deepest is told as a bound
        left = {(x.distance, x.pair): share_left(x.distance, x.pair) for x in limits}
        assert share_left(*collision.clearance(q)) == min(left.values())
        assert collision.clearance(q) in left
        asked += 1
    assert asked > 20


def test_nothing_watched_has_no_clearance():
    arm = ArmBodies(re.sub("<collision>.*?</collision>", "", texts()[0], flags=re.S), texts()[1])
    distance, pair = Collision(arm, Scene(), CONFIG).clearance([1.0] * 5)
    assert math.isnan(distance)
    assert pair == ""
    assert Collision(arm, Scene(), CONFIG).constraints([1.0] * 5) == ()


# What is slowed and stopped


def test_rule_15_speed_of_approach_falls_from_the_outer_distance_to_nothing_at_the_inner_one():
    collision = Collision(bodies(), Scene((WALL,)), CONFIG)
    told = []
    for elbow in np.linspace(1.2, 2.7, 400):
        limits = [x for x in collision.constraints([math.pi, 1.57, elbow, 0.0, 0.0])
                  if x.pair.endswith(" wall")]  # fmt: skip
        told += [(limit.distance, limit.rate) for limit in limits]
    distances, rates = np.array(sorted(told)).T
    assert distances[0] < 0.0
    assert distances[-1] < CONFIG.outer
    assert distances[-1] > CONFIG.outer - 0.002
    assert rates == pytest.approx(
        CONFIG.brake_gain * np.maximum(distances - CONFIG.inner, 0.0), abs=1e-12
    )
    assert (rates[distances <= CONFIG.inner] == 0.0).all()


def test_where_nothing_is_near_nothing_is_bounded():
    buoy = Obstacle("buoy", "base_link", Sphere(0.06), (2.0, 0.0, 0.0))
    upright = [math.pi, 2.4, 2.1, 0.0, 0.005]
    close = CollisionConfig(self_inner=0.003, self_outer=0.010)
    assert Collision(bodies(), Scene((buoy,)), close).constraints(upright) == ()


@pytest.mark.parametrize("joint", range(5))
def test_a_posture_that_is_not_known_holds_every_joint(joint):
    q = [1.0, 2.0, 1.0, 1.0, 0.005]
    q[joint] = math.nan
    limits = Collision(bodies(), Scene(), CONFIG).constraints(q)
    for axis in np.eye(5):
        for way in (axis, -axis):
            assert any(np.array(limit.row) @ way > limit.rate == 0.0 for limit in limits)
    assert math.isnan(Collision(bodies(), Scene(), CONFIG).clearance(q)[0])


def test_opening_jaws_are_bounded_by_what_they_open_towards():
    # The fingers swing out sideways: a plate beside the jaws, fixed to the wrist.
    plate = Obstacle("plate", "tool", Box((0.05, 0.01, 0.05)), (0.0, 0.06, 0.0), allow=("link_c",))
    collision = Collision(bodies(), Scene((plate,)), CONFIG)
    limits = [
        limit
        for limit in collision.constraints([math.pi, 2.4, 2.1, 0.0, 0.005])
        if limit.pair == "finger_left plate"
    ]
    assert limits
    for limit in limits:
        assert limit.row[:4] == pytest.approx((0.0,) * 4, abs=1e-12)  # all these carry both
        assert limit.row[4] > 0.5  # a finger tip goes about twice as far as the push rod
    far = Obstacle("plate", "tool", Box((0.05, 0.01, 0.05)), (0.0, -0.06, 0.0), allow=("link_c",))
    other = Collision(bodies(), Scene((far,)), CONFIG).constraints([math.pi, 2.4, 2.1, 0, 0.005])
    assert "finger_left plate" not in {limit.pair for limit in other}
    assert "finger_right plate" in {limit.pair for limit in other}


# What is watched


def test_what_stands_still_together_is_not_watched():
    # The hull is drawn through the arm's base: neither moves.
    hull = Obstacle("hull", "base_link", Box((0.5, 0.5, 0.5)), (0.18, 0.0, -0.4))
    limits = Collision(bodies(), Scene((hull,)), EVERYTHING).constraints(
        [math.pi, 1.57, 1.57, 0, 0]
    )
    assert "link_d hull" in {limit.pair for limit in limits}
    assert "arm_base" not in {limit.pair.split()[0] for limit in limits}
    assert not any(set(limit.pair.split()) == {"arm_base", "hull"} for limit in limits)


def test_allowed_links_and_obstacles_may_touch():
    pairs = {
        limit.pair
        for limit in Collision(bodies(), SCENE, EVERYTHING).constraints([1.0] * 4 + [0.005])
    }
    assert not any(pair in pairs for pair in ("link_e hull", "hull link_e"))
    assert "link_d hull" in pairs
    tray = Obstacle("tray", "base_link", Box((0.1, 0.1, 0.1)), (0.3, 0.0, 0.0), allow=("can",))
    can = payload("can", Cylinder(0.02, 0.1))
    told = {
        x.pair
        for x in Collision(bodies(), Scene((tray, can)), EVERYTHING).constraints(
            [1.0] * 4 + [0.005]
        )
    }
    assert "link_b tray" in told
    assert not any("can" in pair.split() and "tray" in pair.split() for pair in told)


def test_C9_what_the_jaws_carry_is_kept_clear_of_all_but_the_jaws():
    pairs = {
        limit.pair
        for limit in Collision(bodies(), SCENE, EVERYTHING).constraints([1.0] * 4 + [0.005])
    }
    touched = {frozenset(pair.split()) - {"can"} for pair in pairs if "can" in pair.split()}
    assert frozenset({"hull"}) in touched
    assert frozenset({"floor"}) in touched
    assert frozenset({"link_d"}) in touched
    assert frozenset({"arm_base"}) in touched
    assert not touched & {frozenset({n}) for n in ("link_b", "jaw_base", "link_a", "finger_left")}


def test_pairs_that_the_srdf_takes_out_are_not_watched():
    pairs = {
        limit.pair
        for limit in Collision(bodies(), Scene(), EVERYTHING).constraints([1.0] * 4 + [0.005])
    }
    assert "link_b arm_base" in pairs
    assert not any(set(pair.split()) == {"link_b", "link_d"} for pair in pairs)
    assert not any(set(pair.split()) == {"finger_left", "finger_right"} for pair in pairs)


@pytest.mark.parametrize("pose", [(0.1, 1.57, 0.08), (math.pi, 1.57, 1.57), (1.0, 2.4, 2.1)])
def test_known_poses_of_the_bare_arm_are_within_the_inner_distances(pose):
    collision = Collision(bodies(), Scene(), CONFIG)
    for wrist in np.linspace(0.0, 6.2, 20):
        for jaws in (0.0, 0.0075, 0.015):
            assert all(x.rate > 0.0 for x in collision.constraints([*pose, wrist, jaws]))


def test_names_carry_the_prefix_and_a_second_arm_is_left_out():
    file = description_folder() / "urdf" / "reach_alpha5.urdf.xacro"
    arms = "".join(
        f'<xacro:reach_alpha5 prefix="{side}_" parent="base_link">'
        f'<origin xyz="0.18 {y} -0.12" rpy="0 0 0"/></xacro:reach_alpha5>'
        for side, y in (("left", 0.1), ("right", -0.1))
    )
    text = (
        '<robot name="drone" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        f'<xacro:include filename="{file}"/><link name="base_link"/>'
        '<link name="base_link_frd"/><joint name="frd" type="fixed"><parent link="base_link"/>'
        f'<child link="base_link_frd"/></joint>{arms}</robot>'
    )
    document = xacro.parse(text)
    xacro.process_doc(document)
    arm = ArmBodies(document.toxml(), texts(prefix="left_")[1], "left_")
    rail = Obstacle(
        "rail", "base_link", Box((0.1, 0.02, 0.02)), allow=("left_link_e", "right_link_e")
    )
    q = [1.0] * 4 + [0.005]
    told = {x.pair for x in Collision(arm, Scene((rail,)), EVERYTHING).constraints(q)}
    assert "left_link_b rail" in told
    assert "left_link_b left_arm_base" in told
    assert "left_link_e rail" not in told
    assert "left_link_b right_arm_base" in told  # stands still: it is known where
    assert not any("right_link" in pair or "right_finger" in pair for pair in told)
    with pytest.raises(ObstacleError, match="frame is 'right_link_b'"):
        Collision(arm, Scene((Obstacle("x", "right_link_b", Sphere(0.1)),)), CONFIG)


def test_a_mesh_is_the_solid_that_its_vertices_span():
    corners = np.array([[x, y, z] for x in (-50, 50) for y in (-30, 30) for z in (-20, 20)])
    vertices = "\n".join("vertex " + " ".join(map(str, corner)) for corner in corners)
    stl = f"solid box\n{vertices}\nendsolid".encode()
    pose = ((0.35, 0.05, 0.0), (0.3, 0.2, 0.1))
    box = Scene((Obstacle("rack", "base_link", Box((0.1, 0.06, 0.04)), *pose),))
    mesh = Scene((Obstacle("rack", "base_link", Mesh("rack.stl", 0.001), *pose),))
    one = Collision(bodies(), box, EVERYTHING)
    other = Collision(bodies(), mesh, EVERYTHING, {"rack.stl": stl})
    overlapping = 0
    for q in postures(100, seed=7):
        a = {
            (x.pair, round(x.distance, 5)) for x in one.constraints(q) if x.distance > CONFIG.outer
        }
        b = {
            (x.pair, round(x.distance, 5))
            for x in other.constraints(q)
            if x.distance > CONFIG.outer
        }
        assert len(a ^ b) <= 0.04 * len(a) + 2  # rounded to the other side
        least = [
            min(x.distance for x in c.constraints(q) if x.pair.endswith("rack"))
            for c in (one, other)
        ]
        assert least[0] == pytest.approx(least[1], abs=1e-5)
        overlapping += least[0] < 0.0
    assert overlapping > 3


@pytest.mark.parametrize(
    ("obstacle", "message"),
    [
        (Obstacle("x", "bas_link", Sphere(0.1)), "x: frame is 'bas_link'; it must be .*base_link"),
        (Obstacle("x", "base_link", Sphere(0.1), allow=("lnk",)), "x: allow names lnk, which is"),
        (Obstacle("x", "link_b", Plane()), "x: a plane cannot be fixed to link_b, which moves"),
        (Obstacle("x", "base_link", Mesh("no.stl")), r"x: mesh\.file no\.stl was not found"),
        (Obstacle("link_b", "base_link", Sphere(0.1)), "link_b: a link .* has this name"),
    ],
)
def test_an_obstacle_that_does_not_fit_the_description_is_refused(obstacle, message):
    with pytest.raises(ObstacleError, match=message):
        Collision(bodies(), Scene((obstacle,)), CONFIG)


def test_a_broken_mesh_is_refused_by_the_name_of_its_obstacle():
    scene = Scene((Obstacle("rack", "base_link", Mesh("rack.stl")), floor(-1.0)))
    with pytest.raises(ObstacleError, match="rack: the file is neither"):
        Collision(bodies(), scene, CONFIG, {"rack.stl": b"?"})


@pytest.mark.parametrize(
    ("urdf", "srdf", "prefix", "message"),
    [
        ("<robt/>", "<robot/>", "", "cannot be read"),
        (texts()[0], "<robot", "", "cannot be read"),
        (texts()[0], texts()[1], "left_", "lacks joint left_axis_e.*link left_arm_base"),
    ],
)
def test_a_description_without_the_arm_is_refused(urdf, srdf, prefix, message):
    with pytest.raises(ModelError, match=message):
        ArmBodies(urdf, srdf, prefix)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"inner": 0.0}, "inner and outer are 0 and 0.06"),
        ({"inner": 0.06}, "the second the larger"),
        ({"outer": 1.1}, "at most 1 m"),
        ({"self_inner": math.nan}, "self_inner"),
        ({"brake_gain": 0.0}, "brake_gain is 0"),
        ({"brake_gain": 11.0}, "at most 10"),
    ],
)
def test_distances_that_keep_nothing_apart_are_refused(numbers, message):
    with pytest.raises(CollisionConfigError, match=message):
        CollisionConfig(**numbers)


# Pressed against things


def press(collision, q, ticks, rng, *, hard):
    """Drive at random, or as straight as can be into what is nearest; return the least room."""
    least = math.inf
    for i in range(ticks):
        if i % 100 == 0:
            wanted, aside = rng.uniform(-1.0, 1.0, 5) * SPEED, 0.5 * rng.normal(size=5)
        limits = collision.constraints(q)
        least = min(least, room_left(limits))
        if hard and limits:
            wanted = into(limits, aside)
        rates = nearest_rates(wanted, q, rows_of(limits), [x.rate for x in limits])
        assert rates is not None  # to stand still is always allowed
        q = q + TICK * rates
    return least


def into(limits, aside):
    """Joint rates straight into the nearest of some bodies, and a little aside."""
    nearest = min(limits, key=lambda x: x.distance - inner_of(x.pair))
    way = np.array(nearest.row) * SPEED
    return SPEED * (way / max(np.linalg.norm(way), 1e-6) + aside)


@pytest.mark.parametrize("mount", MOUNTS)
@pytest.mark.parametrize("scene", [SCENE, FLAT], ids=["round", "flat"])
def test_rule_15_whatever_is_asked_nothing_comes_nearer_than_the_inner_distance(mount, scene):
    collision = Collision(bodies(mount), scene, CONFIG)
    rng = np.random.default_rng(11)
    for q in free_postures(collision, 3, seed=12):
        assert press(collision, q, 200, rng, hard=False) > -1e-4
        assert press(collision, q, 200, rng, hard=True) > -3e-4


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_a_slab_that_is_rocked_against_a_wall_does_not_creep_into_it(seed):
    # Where only the nearest corner is bounded, seed 4 ends 7.8 mm too near.
    collision = Collision(bodies(), Scene((WALL, SLAB)), CONFIG)
    rng = np.random.default_rng(seed)
    q = np.array([math.pi, 1.57, 1.3, 1.0, 0.005])
    least = math.inf
    for i in range(800):
        if i % 150 == 0:
            aside = 0.5 * rng.normal(size=5)
        limits = collision.constraints(q)
        walled = [limit for limit in limits if limit.pair.endswith(" wall")]
        least = min(least, room_left(walled))
        wanted = into(walled, aside) if walled else np.array([0.0, 0.0, 0.5, 0.0, 0.0]) * aside[0]
        rates = nearest_rates(wanted, q, rows_of(limits), [limit.rate for limit in limits])
        q = q + TICK * rates
    assert -1e-4 < least < 1e-3


@pytest.mark.parametrize("mount", MOUNTS)
def test_from_every_blocked_state_some_way_leads_out(mount):
    """There are joint rates that bring apart every pair that is blocked, all at once."""
    collision = Collision(bodies(mount), SCENE, CONFIG)
    rng = np.random.default_rng(13)
    blocked = 0
    for q in free_postures(collision, 4, seed=14):
        aside = 0.5 * rng.normal(size=5)
        for _ in range(250):
            limits = collision.constraints(q)
            rows, rates = rows_of(limits), np.array([limit.rate for limit in limits])
            if (rates < 1e-3).any():
                goal = np.where(rates < 1e-3, -1e-4, rates)
                assert nearest_rates(np.zeros(5), q, rows, goal) is not None
                blocked += 1
            wanted = into(limits, aside) if limits else aside * SPEED
            q = q + TICK * nearest_rates(wanted, q, rows, rates)
    assert blocked > 30


@pytest.mark.parametrize("scene", [SCENE, FLAT, Scene()], ids=["round", "flat", "self"])
def test_an_arm_that_is_a_little_inside_of_something_finds_out_of_it(scene):
    """Away from the deepest overlap, as a pilot would who is told its name."""
    collision = Collision(bodies(), scene, CONFIG)
    overlapping = 0
    for q in postures(600, seed=15):
        for tick in range(600):
            limits = collision.constraints(q)
            deepest = min(limits, key=lambda x: x.distance, default=None)
            if deepest is None or deepest.distance >= 0.0:
                break
            if tick == 0 and deepest.distance < -0.015:
                break
            assert deepest.rate == 0.0
            assert sum(limit.distance < 0.0 for limit in limits) == 1  # the others do not bind
            overlapping += tick == 0
            away = -into([deepest], np.zeros(5))
            q = q + TICK * nearest_rates(away, q, rows_of(limits), [x.rate for x in limits])
        else:
            pytest.fail(f"still inside: {deepest}")
    assert overlapping > 10
