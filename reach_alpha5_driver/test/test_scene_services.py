"""The services of the scene over DDS: what is refused changes nothing, what is done is kept."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from geometry_msgs.msg import Point, Pose, Quaternion
from scene_rig import LATEST, PREFIX, SceneHost, box

from reach_alpha5_common.refusal import Problem
from reach_alpha5_driver.scene.desk import MOST_OBSTACLES
from reach_alpha5_driver.scene.store import ObstacleStore
from reach_alpha5_msgs.msg import Obstacle, Obstacles

ABOVE = (3.0, 1.57, 1.57, 3.0, 0.007)
"""A posture in the middle of the workspace."""

CAN = Obstacle(name="can", type=Obstacle.CYLINDER, dimensions=[0.08, 0.02])
Make = Callable[..., SceneHost]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "obstacles.yaml"


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[SceneHost] = []

    def make_one(path: Path | str, **options: bool) -> SceneHost:
        made.append(SceneHost(str(path), **options))
        return made[-1]

    yield make_one
    for one in made:
        one.close()


@pytest.fixture
def host(make: Make, file: Path) -> SceneHost:
    return make(file)


def saved(file: Path) -> list[str]:
    return [obstacle.name for obstacle in ObstacleStore(str(file)).load().obstacles]


def test_C9_what_is_added_is_watched_told_and_saved(host, file):
    answer = host.add(box("hull"), box("rack"))
    assert (answer.success, answer.code, answer.message) == (True, "", "")
    assert answer.revision == host.first + 1
    host.until(host.revised(1))
    assert host.names() == saved(file) == ["hull", "rack"]
    assert host.told.saved
    assert host.told.header.stamp.sec > 0
    assert len(host.applied) == 1
    drowned = box("sea", type=Obstacle.PLANE, dimensions=[])
    drowned.pose.position = Point(z=2.0)
    assert host.add(drowned).revision == host.first + 2
    (before, pair), (after, other) = (c.clearance(ABOVE) for c in host.applied)
    assert before > 0.0
    assert "sea" not in pair
    assert after < -1.0
    assert other.endswith(" sea")


def test_C9_obstacles_and_payloads_are_there_after_a_restart(host, make, file):
    turned = Quaternion(x=0.5, y=-0.5, z=0.5, w=0.5)
    host.add(box("hull", pose=Pose(position=Point(x=0.1, y=0.2, z=-3.0), orientation=turned)))
    host.attach(CAN)
    host.until(host.revised(2))
    told = host.told
    again = make(file)
    assert again.told.saved
    for one, other in zip(told.obstacles, again.told.obstacles, strict=True):
        assert (one.name, one.frame_id, one.allow) == (other.name, other.frame_id, other.allow)
        assert one.dimensions == other.dimensions
        assert one.pose.position == other.pose.position
        q, r = one.pose.orientation, other.pose.orientation
        dot = q.x * r.x + q.y * r.y + q.z * r.z + q.w * r.w
        assert abs(dot) == pytest.approx(1.0, abs=1e-15)
    assert again.detach().success
    assert saved(file) == ["hull"]


def test_replacing_and_removing(host, file):
    host.add(box("hull"), box("rack"))
    assert host.add(box("hull", dimensions=[1.0, 1.0, 1.0]), replace=True).success
    assert host.remove("rack").revision == host.first + 3
    host.until(host.revised(3))
    assert host.names() == saved(file) == ["hull"]
    assert list(host.told.obstacles[0].dimensions) == [1.0, 1.0, 1.0]


def test_C4_a_payload_goes_with_the_tool_and_the_jaws_may_touch_it(host):
    assert host.attach(CAN).success
    host.until(host.revised(1))
    (told,) = host.told.obstacles
    assert told.frame_id == PREFIX + "tool"
    jaws = ("jaw_base", "link_a", "finger_left", "finger_right")
    assert set(told.allow) == {PREFIX + link for link in jaws}
    rack = box("rack", pose=Pose(position=Point(x=1.0)), allow=["can"])
    assert host.add(rack).success
    assert host.detach("can").success
    host.until(host.revised(3))
    assert host.names() == ["rack"]
    assert not host.told.obstacles[0].allow


def test_who_comes_later_hears_the_scene_that_stands(host):
    host.add(box("hull"))
    heard: list[Obstacles] = []
    host.caller.create_subscription(Obstacles, "obstacles", heard.append, LATEST)
    host.until(lambda: heard)
    assert [obstacle.name for obstacle in heard[0].obstacles] == ["hull"]


REFUSED = {
    "a number": (lambda h: h.add(box("rack", dimensions=[0.1, math.nan, 0.1])), "bad_obstacle"),
    "a rotation": (
        lambda h: h.add(box("rack", pose=Pose(orientation=Quaternion(w=0.0)))),
        "bad_obstacle",
    ),
    "a frame": (lambda h: h.add(box("rack", frame_id="world")), "bad_obstacle"),
    "the name of a link": (lambda h: h.add(box(PREFIX + "link_b")), "bad_obstacle"),
    "who may touch it": (lambda h: h.add(box("rack", allow=["nobody"])), "bad_obstacle"),
    "all or nothing": (lambda h: h.add(box("rack"), box("shelf", type=0)), "bad_obstacle"),
    "a name": (lambda h: h.add(box("rack"), box("hull")), "name_taken"),
    "too many": (lambda h: h.add(*(box(f"o{i}") for i in range(MOST_OBSTACLES))), "too_many"),
    "a mesh": (
        lambda h: h.add(box("rack", type=Obstacle.MESH, dimensions=[1.0], mesh_file="no.stl")),
        "mesh_unreadable",
    ),
    "too many, none of which is in order": (
        lambda h: h.add(*(box("", type=0) for _ in range(MOST_OBSTACLES + 1))),
        "too_many",
    ),
    "a rotation beyond all numbers": (
        lambda h: h.add(box("rack", pose=Pose(orientation=Quaternion(x=1e200)))),
        "bad_obstacle",
    ),
    "what is not there": (lambda h: h.remove("rack"), "no_such_obstacle"),
    "no payload": (lambda h: h.detach(), "no_such_obstacle"),
    "not a payload": (lambda h: h.detach("hull"), "not_a_payload"),
    "a payload on the hull": (
        lambda h: h.attach(box("rack", frame_id="base_link")),
        "bad_obstacle",
    ),
    "a payload that is a plane": (
        lambda h: h.attach(Obstacle(name="can", type=Obstacle.PLANE)),
        "bad_obstacle",
    ),
}


@pytest.fixture(scope="module")
def with_a_hull(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SceneHost, Path]]:
    """One host for what leaves it as it is."""
    file = tmp_path_factory.mktemp("scene") / "obstacles.yaml"
    host = SceneHost(str(file))
    assert host.add(box("hull")).success
    host.until(host.revised(1))
    yield host, file
    host.close()


@pytest.mark.parametrize(("ask", "code"), REFUSED.values(), ids=REFUSED.keys())
def test_rule_10_what_is_refused_changes_nothing(with_a_hull, ask, code):
    host, file = with_a_hull
    content, applied, tellings = file.read_bytes(), len(host.applied), host.tellings
    answer = ask(host)
    assert (answer.success, answer.code) == (False, code)
    assert answer.message
    assert answer.revision == host.first + 1
    assert file.read_bytes() == content
    assert (len(host.applied), host.tellings) == (applied, tellings)


def test_what_cannot_be_saved_is_not_done(host, file):
    host.add(box("hull"))
    file.unlink()
    file.mkdir()
    answer = host.add(box("rack"))
    assert (answer.success, answer.code) == (False, "not_saved")
    assert len(host.applied) == 1
    file.rmdir()
    answer = host.remove("hull")
    assert (answer.success, answer.code) == (False, "not_saved")
    assert answer.revision == host.first + 1
    assert not os.listdir(file.parent)


def test_what_cannot_be_handed_over_is_not_saved(host, file):
    host.add(box("hull"))
    content = file.read_bytes()
    host.stands_in_the_way = Problem("no_answer", "nobody there")
    answer = host.add(box("rack"))
    assert (answer.success, answer.code) == (False, "no_answer")
    assert answer.revision == host.first + 1
    assert answer.message == "nobody there"
    assert file.read_bytes() == content
    host.stands_in_the_way = None
    assert host.add(box("shelf")).revision == host.first + 2
    assert saved(file) == ["hull", "shelf"]


@pytest.mark.parametrize("step", ["build", "apply"])
def test_a_fault_of_the_driver_is_a_refusal_and_the_driver_goes_on(host, file, capfd, step):
    host.add(box("hull"))
    content = file.read_bytes()
    host.faults = [step]
    answer = host.add(box("rack"))
    assert (answer.success, answer.code) == (False, "internal_error")
    assert f"RuntimeError: a fault in {step}" in answer.message
    assert "Traceback" in capfd.readouterr().err
    assert file.read_bytes() == content
    host.faults = []
    assert host.add(box("shelf")).revision == host.first + 2
    assert saved(file) == ["hull", "shelf"]


def test_a_revision_of_an_earlier_run_is_none_of_this_one(host, make, file):
    assert make(file).first != host.first


def test_an_arm_that_knows_no_hull_is_told_of(make, file, capfd):
    make(file).add(box("hull"))
    assert "knows neither hull nor tether" in capfd.readouterr().err
    make(file)
    assert "hull nor tether" not in capfd.readouterr().err


def test_without_a_file_the_answer_says_so(make):
    host = make("")
    assert not host.told.saved
    answer = host.add(box("hull"))
    assert answer.success
    assert answer.message.startswith("not saved")
    host.stands_in_the_way = Problem("no_answer", "nobody there")
    assert host.remove("hull").code == "no_answer"


def test_without_collision_every_request_is_refused_and_nothing_is_told_to_be_watched(make, file):
    make(file).add(box("hull"))
    host = make(file, watches=False)
    assert host.names() == []
    for answer in (host.add(box("hull")), host.remove("hull"), host.attach(CAN), host.detach()):
        assert (answer.success, answer.code) == (False, "no_collision")
    assert host.applied == []
    assert saved(file) == ["hull"]


def tetrahedron(size: float) -> str:
    """An ASCII STL file."""
    corners = [(0, 0, 0), (size, 0, 0), (0, size, 0), (0, 0, size)]
    facets = [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]
    lines = ["solid rack"]
    for facet in facets:
        vertices = ["vertex {} {} {}".format(*corners[corner]) for corner in facet]
        lines += ["facet normal 0 0 0", "outer loop", *vertices, "endloop", "endfacet"]
    return "\n".join([*lines, "endsolid"])


def mesh(name: str, scale: float) -> Obstacle:
    """A tetrahedron around the arm."""
    at = Pose(position=Point(x=-0.2, y=-0.2, z=-0.2))
    return box(name, pose=at, type=Obstacle.MESH, dimensions=[scale], mesh_file="rack.stl")


def test_a_mesh_is_found_beside_the_file_and_stays_what_it_was(host, file):
    stl = file.parent / "rack.stl"
    stl.write_text(tetrahedron(2000.0))
    assert host.add(mesh("rack", 0.001)).success
    clearance, pair = host.applied[-1].clearance(ABOVE)
    assert pair.endswith(" rack")
    # Whoever edits it changes nothing until it is named anew, or read at the next start.
    stl.write_text(tetrahedron(100.0))
    assert host.add(box("hull", pose=Pose(position=Point(x=5.0)))).success
    assert host.applied[-1].clearance(ABOVE)[0] == clearance
    assert host.remove("rack").success
    assert host.add(mesh("rack", 0.001)).success
    assert host.applied[-1].clearance(ABOVE)[0] != clearance
    stl.unlink()
    assert host.remove("hull").success


@pytest.mark.parametrize(("size", "scale"), [(1e308, 1.0), (1e308, 100.0), (300.0, 1.0)])
def test_a_mesh_that_is_too_large_is_refused(with_a_hull, size, scale):
    host, file = with_a_hull
    (file.parent / "rack.stl").write_text(tetrahedron(size))
    answer = host.add(mesh("rack", scale))
    assert (answer.success, answer.code) == (False, "bad_obstacle")
    assert "each must be within 100" in answer.message
