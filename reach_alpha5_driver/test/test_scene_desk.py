"""What requests make of the scene."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reach_alpha5_driver.scene.desk import (
    MOST_ALLOWED,
    MOST_OBSTACLES,
    SceneCode,
    SceneError,
    added,
    attached,
    check_size,
    detached,
    problem_of,
    removed,
)
from reach_alpha5_motion.obstacles import Box, Obstacle, ObstacleError, Scene, Sphere, payload

PREFIX = "left_"
HULL = Obstacle("hull", "base_link", Box((0.5, 0.3, 0.1)))
RACK = Obstacle("rack", "base_link", Box((0.1, 0.1, 0.1)), (0.3, 0.0, 0.0), allow=("left_link_a",))
CAN = Obstacle("can", "", Sphere(0.03), (0.0, 0.0, 0.02), allow=("rack", "left_link_a"))
HELD = replace(
    payload("can", Sphere(0.03), (0.0, 0.0, 0.02), prefix=PREFIX),
    allow=("rack", "left_link_a", "left_jaw_base", "left_finger_left", "left_finger_right"),
)
STONE = payload("stone", Sphere(0.02), prefix=PREFIX)
BAD = replace(RACK, name="bad", shape=Sphere(-1.0))
LARGER = replace(RACK, shape=Box((0.2, 0.2, 0.2)))
MANY = [replace(HULL, name=f"hull{i}") for i in range(MOST_OBSTACLES)]

CHANGES = {
    "C9 one is added after the others": (
        (HULL,), lambda scene: added(scene, [RACK], False), (HULL, RACK),
    ),
    "several are added in their order": (
        (), lambda scene: added(scene, [RACK, HULL], False), (RACK, HULL),
    ),
    "one that is replaced keeps its place": (
        (HULL, RACK, STONE), lambda scene: added(scene, [LARGER], True), (HULL, LARGER, STONE),
    ),
    "replace adds what is not there": (
        (HULL,), lambda scene: added(scene, [replace(HULL, frame="mount"), RACK], True),
        (replace(HULL, frame="mount"), RACK),
    ),
    "there is room for as many as that": (
        (), lambda scene: added(scene, MANY, False), tuple(MANY),
    ),
    "a full scene can be changed": (
        tuple(MANY), lambda scene: added(scene, [replace(MANY[3], frame="mount")], True),
        (*MANY[:3], replace(MANY[3], frame="mount"), *MANY[4:]),
    ),
    "one is removed": ((HULL, RACK), lambda scene: removed(scene, "hull"), (RACK,)),
    "what is removed is nowhere allowed any more": (
        (RACK, HELD), lambda scene: removed(scene, "rack"),
        (replace(HELD, allow=HELD.allow[1:]),),
    ),
    "a payload is removed like any other": (
        (HULL, STONE), lambda scene: removed(scene, "stone"), (HULL,),
    ),
    "C4 a payload is on the tool and may touch the jaws": (
        (RACK,), lambda scene: attached(scene, CAN, PREFIX), (RACK, HELD),
    ),
    "a payload may be fixed to a finger": (
        (), lambda scene: attached(scene, replace(STONE, frame="left_finger_left"), PREFIX),
        (replace(STONE, frame="left_finger_left"),),
    ),
    "the only payload is detached without its name": (
        (HULL, HELD), lambda scene: detached(scene, "", PREFIX), (HULL,),
    ),
    "one of two payloads is detached by its name": (
        (HELD, STONE), lambda scene: detached(scene, "stone", PREFIX), (HELD,),
    ),
    "a bumper on the jaws is no payload": (
        (replace(RACK, frame="left_jaw_base"), STONE), lambda scene: detached(scene, "", PREFIX),
        (replace(RACK, frame="left_jaw_base"),),
    ),
}  # fmt: skip

REFUSALS = {
    "a name that is taken": (
        (HULL, RACK), lambda scene: added(scene, [STONE, LARGER], False),
        SceneCode.NAME_TAKEN, "rack: there is another",
    ),
    "one name twice in a request": (
        (HULL,), lambda scene: added(scene, [RACK, LARGER], False),
        SceneCode.BAD_OBSTACLE, "rack: there is another",
    ),
    "one name twice, to replace": (
        (RACK,), lambda scene: added(scene, [RACK, LARGER], True),
        SceneCode.BAD_OBSTACLE, "rack: there is another",
    ),
    "C9 one bad obstacle among good ones": (
        (HULL,), lambda scene: added(scene, [RACK, BAD], False),
        SceneCode.BAD_OBSTACLE, "bad: sphere.radius is -1",
    ),
    "nothing to add": (
        (HULL,), lambda scene: added(scene, [], True), SceneCode.BAD_OBSTACLE, "no obstacles",
    ),
    "one more than there is room for": (
        (HULL,), lambda scene: added(scene, MANY, False), SceneCode.TOO_MANY, "room for",
    ),
    "more names than there can be": (
        (), lambda scene: added(scene, [replace(HULL, allow=("a",) * (MOST_ALLOWED + 1))], False),
        SceneCode.TOO_MANY, "hull: more than",
    ),
    "removing what is not there": (
        (HULL,), lambda scene: removed(scene, "rack"),
        SceneCode.NO_SUCH_OBSTACLE, "rack: .* there are: hull",
    ),
    "a payload of a name that is taken": (
        (HELD,), lambda scene: attached(scene, CAN, PREFIX), SceneCode.NAME_TAKEN, "can: ",
    ),
    "a payload on the drone": (
        (), lambda scene: attached(scene, replace(CAN, frame="base_link"), PREFIX),
        SceneCode.BAD_OBSTACLE, "can: frame is 'base_link'; .* left_tool, left_jaw_base",
    ),
    "a payload on another arm": (
        (), lambda scene: attached(scene, replace(CAN, frame="tool"), PREFIX),
        SceneCode.BAD_OBSTACLE, "can: frame is 'tool'",
    ),
    "a bad payload": (
        (), lambda scene: attached(scene, replace(CAN, shape=Sphere(0.0)), PREFIX),
        SceneCode.BAD_OBSTACLE, "can: sphere.radius is 0",
    ),
    "detaching from empty jaws": (
        (HULL,), lambda scene: detached(scene, "", PREFIX),
        SceneCode.NO_SUCH_OBSTACLE, "hold nothing",
    ),
    "detaching one of two without a name": (
        (HELD, STONE), lambda scene: detached(scene, "", PREFIX),
        SceneCode.SEVERAL_PAYLOADS, "can, stone",
    ),
    "detaching what is no payload": (
        (HULL, STONE), lambda scene: detached(scene, "hull", PREFIX),
        SceneCode.NOT_A_PAYLOAD, "hull is not held",
    ),
    "detaching what is not there": (
        (STONE,), lambda scene: detached(scene, "can", PREFIX),
        SceneCode.NO_SUCH_OBSTACLE, "there are: stone",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "change", "after"), CHANGES.values(), ids=CHANGES.keys())
def test_a_request_makes_another_scene(before, change, after):
    assert change(Scene(before)).obstacles == after


@pytest.mark.parametrize(
    ("before", "change", "code", "reason"), REFUSALS.values(), ids=REFUSALS.keys()
)
def test_rule_10_a_request_that_cannot_be_is_refused(before, change, code, reason):
    with pytest.raises(ObstacleError, match=reason) as caught:
        change(Scene(before))
    assert problem_of(caught.value).code == code.code
    assert problem_of(caught.value).reason == str(caught.value)


def test_a_scene_that_is_too_large_is_found():
    check_size(Scene(tuple(MANY)))
    with pytest.raises(SceneError):
        check_size(Scene((HULL, *MANY)))


def test_what_was_attached_can_be_detached():
    before = Scene((HULL, RACK))
    assert detached(attached(before, CAN, PREFIX), "can", PREFIX) == before
