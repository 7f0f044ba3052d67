"""Which obstacles fit into the arm's own slots."""

import math

import numpy as np
import pytest
from collision_rig import bodies

from reach_alpha5_motion.arm_slots import arm_slots
from reach_alpha5_motion.obstacles import (
    Box,
    Cylinder,
    Mesh,
    Obstacle,
    Scene,
    Sphere,
    floor,
    payload,
)

MOUNT = (0.18, 0.0, -0.12)
"""Of the arm's base in base_link, by default."""


def box(name="box", frame="base_link", position=MOUNT, orientation=(0.0, 0.0, 0.0)):
    return Obstacle(name, frame, Box((0.2, 0.4, 0.6)), position, orientation)


def test_a_box_is_its_two_corners_in_the_arms_base():
    slots = arm_slots(bodies(), Scene((box(position=(0.28, 0.0, -0.12)),)))
    assert slots.boxes == (pytest.approx((0.2, 0.2, 0.3, 0.0, -0.2, -0.3)),)
    assert (slots.cylinders, slots.left_out) == ((), ())


def test_a_box_on_its_side_fits_and_one_that_is_askew_does_not():
    turned = box(orientation=(0.0, math.pi / 2.0, 0.0))
    askew = box("askew", orientation=(0.0, 0.1, 0.0))
    slots = arm_slots(bodies(), Scene((turned, askew)))
    assert slots.boxes == (pytest.approx((0.3, 0.2, 0.1, -0.3, -0.2, -0.1)),)
    assert [name for name, _ in slots.left_out] == ["askew"]
    assert "turned against" in slots.left_out[0][1]


def test_what_is_askew_on_the_drone_may_be_straight_for_a_tilted_arm():
    mount = "0.4 -0.7 1.9"
    there = tuple(map(float, mount.split()))
    assert arm_slots(bodies(mount), Scene((box(),))).boxes == ()
    slots = arm_slots(bodies(mount), Scene((box(orientation=there),)))
    assert slots.boxes == (pytest.approx((0.1, 0.2, 0.3, -0.1, -0.2, -0.3)),)


def test_a_cylinder_is_its_ends_and_its_radius_however_it_lies():
    tether = Obstacle("tether", "arm_base", Cylinder(0.02, 1.0), (0.1, 0, 0), (0.3, 0.5, 0.0))
    (numbers,) = arm_slots(bodies(), Scene((tether,))).cylinders
    one, other, radius = np.array(numbers[:3]), np.array(numbers[3:6]), numbers[6]
    assert radius == 0.02
    assert (one + other) / 2.0 == pytest.approx([0.1, 0.0, 0.0])
    assert np.linalg.norm(one - other) == pytest.approx(1.0)
    assert (one - other)[1] == pytest.approx(-math.sin(0.3))  # rolled about x


def test_what_does_not_fit_is_told_with_its_reason():
    scene = Scene(
        (
            Obstacle("ball", "base_link", Sphere(0.1)),
            Obstacle("rack", "base_link", Mesh("rack.stl")),
            floor(-0.3),
            payload("can", Cylinder(0.02, 0.1)),
            Obstacle("lost", "nowhere", Box((0.1, 0.1, 0.1))),
        )
    )
    slots = arm_slots(bodies(), scene)
    assert (slots.boxes, slots.cylinders) == ((), ())
    reasons = dict(slots.left_out)
    assert reasons["ball"] == "there are no slots for a sphere"
    assert reasons["rack"] == "there are no slots for a mesh"
    assert reasons["floor"] == "there are no slots for a plane"
    assert reasons["can"].startswith("tool does not stand still")
    assert "lost" in reasons


def test_four_of_a_kind_have_a_slot_the_first_ones():
    boxes = [box(f"box{i}") for i in range(5)]
    cylinders = [Obstacle(f"rod{i}", "base_link", Cylinder(0.01, 0.1)) for i in range(5)]
    slots = arm_slots(bodies(), Scene((*boxes, *cylinders)))
    assert (len(slots.boxes), len(slots.cylinders)) == (4, 4)
    assert [name for name, _ in slots.left_out] == ["box4", "rod4"]
    assert all("slots" in reason for _, reason in slots.left_out)
