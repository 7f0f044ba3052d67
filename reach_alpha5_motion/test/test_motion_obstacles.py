"""Obstacles as values, their text, and meshes."""

import itertools
import math
import struct

import numpy as np
import pytest
from collision_rig import bodies as arm_bodies
from hypothesis import given, settings
from hypothesis import strategies as st

from reach_alpha5_motion import shapes as shapes_module
from reach_alpha5_motion.mesh import MOST_CORNERS, convex_hull, mesh_hull, stl_vertices
from reach_alpha5_motion.obstacle_file import dump, parse
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
from reach_alpha5_motion.pairing import placed
from reach_alpha5_motion.shapes import MOST_HULLS, coal_shape

length = st.floats(1e-4, 10.0)
vector = st.tuples(*[st.floats(-10.0, 10.0)] * 3)
names = st.from_regex(r"[A-Za-z0-9_.-]{1,12}", fullmatch=True)
shapes = st.one_of(
    st.builds(Box, st.tuples(length, length, length)),
    st.builds(Cylinder, length, length),
    st.builds(Sphere, length),
    st.builds(Mesh, st.text(min_size=1, max_size=20), length),
    st.builds(Plane),
)
obstacles = st.builds(
    Obstacle, names, names, shapes, vector, vector, st.lists(names, max_size=3).map(tuple)
)
scenes = st.lists(obstacles, max_size=6, unique_by=lambda o: o.name).map(
    lambda some: Scene(tuple(some))
)

HULL = """
version: 1
obstacles:
  - name: hull
    frame: base_link
    position: [0, 0.1, 0.05]
    box: {size: [0.6, 0.4, 0.25]}
    allow: [link_e]
"""


@settings(max_examples=60, deadline=None)
@given(scenes)
def test_C9_what_is_saved_is_restored_to_the_last_bit(scene):
    assert parse(dump(scene)) == scene


def test_an_entry_is_read_with_its_defaults():
    assert parse(HULL) == Scene(
        (
            Obstacle(
                "hull", "base_link", Box((0.6, 0.4, 0.25)), (0.0, 0.1, 0.05), allow=("link_e",)
            ),
        )
    )
    assert parse("version: 1\nobstacles: []") == Scene()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("version: 1", "version: 2", "version is 2; this reads version 1"),
        ("version: 1", "version: true", "version is True"),
        ("obstacles:", "obstacels:", "unknown key 'obstacels'"),
        ("name: hull", "name: [hull]", r"obstacles\[0\] name is \['hull'\]; it must be text"),
        ("name: hull", "name: the hull", "name must be 1 to 64 letters"),
        ("frame: base_link", "farme: base_link", r"obstacles\[0\] hull: unknown key farme"),
        ("    frame: base_link\n", "", r"obstacles\[0\] hull: frame is missing"),
        ("[0, 0.1, 0.05]", "[0, 0.1]", "hull: position is .* list of three numbers"),
        ("[0, 0.1, 0.05]", "[0, .nan, 0.05]", "hull: position is .* within 100 of zero"),
        ("[0, 0.1, 0.05]", "[0, 100.1, 0.05]", "hull: position is .* within 100 of zero"),
        ("[0, 0.1, 0.05]", "[0, yes, 0.05]", "True; it must be a number"),
        ("[0, 0.1, 0.05]", "[0, 1e-3, 0.05]", "YAML wants 1.0e-3"),
        ("[0, 0.1", f"[{10**400}, 0.1", "hull: position is a whole number of too many digits"),
        ("[0, 0.1", f"[{'9' * 5000}, 0.1", "not valid YAML"),
        ("[0, 0.1", f"[{'[' * 500}{']' * 500}, 0.1", "not valid YAML"),
        ("[0, 0.1", "[2001-13-01, 0.1", "not valid YAML"),
        ("[0.6, 0.4, 0.25]", "[0.6, -0.4, 0.25]", "hull: box.size y is -0.4; it must be above 0"),
        ("{size: [0.6, 0.4, 0.25]}", "600", "hull: box is 600; it must be a mapping"),
        ("{size:", "{sise:", "hull: unknown key box.sise; there are: size"),
        ("box: {size: [0.6, 0.4, 0.25]}", "box: {}", "hull: box.size is missing"),
        ("    box:", "    sphere: {radius: 1}\n    box:", "hull: has 2 shapes; give one of box"),
        ("box: {size: [0.6, 0.4, 0.25]}", "position: [0, 0, 0]", "hull: has 0 shapes"),
        ("[link_e]", "link_e", "hull: allow is 'link_e'; it must be a list of names"),
        ("  - name", "  - 7\n  - name", r"obstacles\[0\] is 7; it must be a mapping"),
        ("\nversion", "\n\tversion", "not valid YAML"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_entry(old, new, message):
    broken = HULL.replace(old, new, 1)
    assert broken != HULL
    with pytest.raises(ObstacleError, match=message):
        parse(broken)


@pytest.mark.parametrize("text", ["", "7", "[]", "version: 1", "version: 1\nobstacles: {}"])
def test_a_text_that_is_no_scene_is_refused(text):
    with pytest.raises(ObstacleError):
        parse(text)


def test_every_problem_is_told_at_once():
    text = HULL.replace("base_link", "7") + HULL.split("obstacles:\n")[1].replace("0.4", "0")
    with pytest.raises(ObstacleError) as error:
        parse(text)
    first, second = str(error.value).splitlines()
    assert first.startswith("obstacles[0] hull: frame is 7")
    assert second.startswith("obstacles[1] hull: box.size y is 0")


def test_two_obstacles_of_one_name_are_refused():
    text = HULL + HULL.split("obstacles:\n")[1]
    with pytest.raises(ObstacleError, match=r"obstacles\[1\] hull: there is another"):
        parse(text)


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_any_text_is_a_scene_or_refused(text):
    try:
        scene = parse(text)
    except ObstacleError as error:
        assert str(error)
    else:
        assert scene == Scene()


def test_C4_a_payload_is_on_the_tool_and_may_touch_the_jaws():
    can = payload("can", Cylinder(0.02, 0.1), prefix="left_", allow=["rack", "left_link_a"])
    assert can.frame == "left_tool"
    jaws = {"left_jaw_base", "left_link_a", "left_finger_left", "left_finger_right"}
    assert set(can.allow) == {"rack", *jaws}
    assert len(can.allow) == 5
    assert payload("stone", Sphere(0.02), frame="link_a").frame == "link_a"


def test_an_obstacle_is_found_by_its_name():
    can = payload("can", Cylinder(0.02, 0.1))
    scene = Scene((floor(-0.3), can))
    assert scene["can"] is can
    with pytest.raises(ObstacleError, match="there is no such obstacle; there are: floor, can"):
        scene["cane"]
    with pytest.raises(ObstacleError, match="can: there is another obstacle of this name"):
        Scene((can, can))


def test_files_of_meshes_are_listed_once():
    twice = [Obstacle(name, "base_link", Mesh("rack.stl")) for name in "ab"]
    assert Scene((*twice, floor(0.0))).mesh_files == ("rack.stl",)


def cube(size):
    """Twelve triangles of a cube about the origin, shape (12, 3, 3)."""
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * size
    faces = []
    for axis, side in itertools.product(range(3), (-0.5, 0.5)):
        a, b, c, d = corners[corners[:, axis] == side * size]
        faces += [(a, b, c), (b, c, d)]
    return np.array(faces)


def binary_stl(triangles):
    facets = b"".join(
        struct.pack("<12fH", 0, 0, 0, *triangle.ravel(), 0) for triangle in triangles
    )
    return b"solid in name only".ljust(80) + struct.pack("<I", len(triangles)) + facets


def ascii_stl(triangles):
    vertices = "\n".join(
        "vertex " + " ".join(map(repr, map(float, point))) for point in triangles.reshape(-1, 3)
    )
    return f"solid cube\n{vertices}\nendsolid".encode()


def test_every_line_of_a_long_file_is_read():
    vertices = cube(2.0).reshape(-1, 3).tolist()
    one = ascii_stl(cube(2.0))
    assert stl_vertices(one + b"\r\n" * 3000 + one).tolist() == vertices + vertices


@pytest.mark.parametrize("write", [binary_stl, ascii_stl])
def test_both_kinds_of_stl_are_read(write):
    triangles = cube(2.0)
    assert stl_vertices(write(triangles)).tolist() == triangles.reshape(-1, 3).tolist()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "neither a binary nor an ASCII"),
        (binary_stl(cube(1.0))[:-1], "a vertex that is no point|no vertices"),
        (b"\0" * 100, "cut short"),
        (b"solid x\nvertex 1 2\nendsolid", "no point"),
        (b"solid x\nvertex 1 2 three\nendsolid", "no point"),
        (b"solid x\nvertex 1 2 nan\nendsolid", "not finite"),
        (b"solid x\nendsolid", "no vertices"),
        (b"solid x" * 200 + ascii_stl(cube(1.0)), "a line of more than 1000 characters"),
        (b"solid x\n" * 2000 + b"vertex 1 2\nendsolid", "no point"),
    ],
)
def test_what_is_no_stl_is_refused(data, message):
    with pytest.raises(ObstacleError, match=message):
        stl_vertices(data)


def outward(points, triangles):
    corners = points[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return normals / np.linalg.norm(normals, axis=1, keepdims=True), corners[:, 0]


@pytest.mark.parametrize("seed", range(20))
def test_the_hull_holds_every_point_and_is_closed(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.integers(4, 300), 3)) * (1.0, 0.3, 0.05)
    if seed % 2:  # what triangulated solids have: many points in one plane, and twice the same
        points = np.round(points, 1)
    corners, triangles = convex_hull(points)
    normals, on = outward(corners, triangles)
    heights = np.einsum("pfk,fk->pf", points[:, None] - on[None], normals)
    assert heights.max() < 1e-5
    edges = [tuple(t[[i, (i + 1) % 3]]) for t in triangles for i in range(3)]
    assert len(set(edges)) == len(edges)
    assert {(b, a) for a, b in edges} == set(edges)
    assert len(corners) - len(edges) // 2 + len(triangles) == 2  # Euler: one closed surface


def test_the_hull_of_a_cube_is_its_eight_corners():
    grid = np.array(list(itertools.product(np.linspace(-1.0, 1.0, 6), repeat=3)))
    corners, triangles = convex_hull(grid)
    assert sorted(map(tuple, corners)) == sorted(itertools.product((-1.0, 1.0), repeat=3))
    assert len(triangles) == 12


@pytest.mark.parametrize(
    "points",
    [np.zeros((5, 3)), np.eye(3), np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.0]])],
)
def test_a_mesh_without_volume_is_refused(points):
    with pytest.raises(ObstacleError, match="lie in one plane"):
        convex_hull(points.astype(float))


def on_a_ball(count):
    points = np.random.default_rng(count).normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def test_a_hull_of_too_many_corners_is_refused():
    corners, _ = convex_hull(on_a_ball(MOST_CORNERS))
    assert len(corners) == MOST_CORNERS
    with pytest.raises(ObstacleError, match=f"more than {MOST_CORNERS} corners; simplify it"):
        convex_hull(on_a_ball(MOST_CORNERS + 1))


def test_what_is_inside_of_a_mesh_makes_no_corners():
    inside = np.random.default_rng(7).uniform(-0.5, 0.5, (20_000, 3))
    corners, _ = convex_hull(np.concatenate((inside, on_a_ball(100))))
    assert sorted(map(tuple, corners)) == sorted(map(tuple, on_a_ball(100)))


@pytest.mark.parametrize(
    ("size", "scale"), [(1e308, 1.0), (1e308, 100.0), (300.0, 1.0), (1e5, 0.01), (201.0, 1.0)]
)
def test_a_mesh_that_is_larger_than_any_obstacle_is_refused(size, scale):
    with pytest.raises(ObstacleError, match=r"within 100 of zero: .* 0\.001 for a file in mm"):
        coal_shape(Mesh("a.stl", scale), ascii_stl(cube(size)))


@pytest.mark.parametrize(("size", "scale"), [(1e-200, 1.0), (1.0, 1e-200), (1e-9, 1.0)])
def test_a_mesh_that_is_next_to_nothing_is_refused(size, scale):
    with pytest.raises(ObstacleError, match="must have a volume"):
        coal_shape(Mesh("a.stl", scale), ascii_stl(cube(size)))


@pytest.mark.parametrize("size", [1e-6, 199.0])
def test_a_mesh_of_any_other_size_is_its_hull(size):
    assert coal_shape(Mesh("a.stl"), ascii_stl(cube(size))).num_points == 8


def test_a_mesh_is_made_convex_once_while_it_is_used(monkeypatch):
    made = []

    def noted(data, scale):
        made.append(scale)
        return mesh_hull(data, scale)

    monkeypatch.setattr(shapes_module, "mesh_hull", noted)
    file = ascii_stl(cube(0.123))
    for name in ("a.stl", "b.stl", "a.stl"):
        shape = coal_shape(Mesh(name, 0.5), bytes(bytearray(file)))
        assert np.ptp(np.array(shape.points()), axis=0) == pytest.approx([0.0615] * 3)
    assert made == [0.5]
    shape = coal_shape(Mesh("a.stl", 2.0), file)
    assert np.ptp(np.array(shape.points()), axis=0) == pytest.approx([0.246] * 3)
    coal_shape(Mesh("a.stl", 2.0), ascii_stl(cube(0.321)))
    assert made == [0.5, 2.0, 2.0]
    for i in range(MOST_HULLS - 1):
        coal_shape(Mesh("a.stl", 10.0 + i), file)
        coal_shape(Mesh("a.stl", 0.5), file)  # is used all the time
    assert made.count(0.5) == 1
    coal_shape(Mesh("a.stl", 2.0), file)  # was not used for long
    assert made.count(2.0) == 3


def test_obstacles_with_one_mesh_share_its_shape_and_nothing_else():
    places = ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0))
    meshes = (Mesh("a.stl", 0.5), Mesh("a.stl", 0.5), Mesh("a.stl", 2.0))
    scene = Scene(
        tuple(
            Obstacle(name, "base_link", mesh, place)
            for name, mesh, place in zip("abc", meshes, places, strict=True)
        )
    )
    one, other, larger = placed(arm_bodies(), scene, {"a.stl": ascii_stl(cube(1.0))})
    assert one.shape is other.shape
    at = [body.placement.translation.tolist() for body in (one, other, larger)]
    assert at == [list(place) for place in places]
    widths = [np.ptp(np.array(body.shape.points()), axis=0).tolist() for body in (one, larger)]
    assert widths == [[0.5] * 3, [2.0] * 3]


def test_numbers_that_are_no_size_are_refused():
    for size in (0.0, -1.0, math.nan, math.inf, 101.0):
        with pytest.raises(ObstacleError, match=r"ball: sphere\.radius"):
            Scene((Obstacle("ball", "base_link", Sphere(size)),))
    with pytest.raises(ObstacleError, match=r"mesh\.file is empty"):
        Scene((Obstacle("rack", "base_link", Mesh("")),))
