"""What was saved is watched from the start, or the driver says why it does not start."""

from __future__ import annotations

from pathlib import Path

import pytest
from scene_rig import NO_OBSTACLES, bodies

from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_driver.node import restored
from reach_alpha5_motion.collision import Collision, CollisionConfig

ENTRY = """\
version: 1
obstacles:
  - name: hull
    frame: base_link
    position: [0.0, 0.0, 0.0]
    box: {size: [0.5, 0.3, 0.1]}
"""
MESH = ENTRY.replace("box: {size: [0.5, 0.3, 0.1]}", "mesh: {file: hull.stl}")
VERTICES = "\n".join(
    f"vertex {x} {y} {z}" for x, y, z in ((0, 0, 0), (1e308, 0, 0), (0, 1, 0), (0, 0, 1))
)


def build(scene, meshes):
    return Collision(bodies(), scene, CollisionConfig(), meshes)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "obstacles.yaml"
    path.write_text(ENTRY)
    return path


def test_C9_what_was_saved_is_watched_from_the_start(file):
    store, loaded, collision = restored(str(file), build)
    assert store.path == file
    assert [obstacle.name for obstacle in loaded.scene.obstacles] == ["hull"]
    assert collision.clearance((3.0, 1.57, 1.57, 3.0, 0.007))[1].endswith(" hull")


def test_a_start_without_obstacles_is_asked_for(file):
    file.write_text(NO_OBSTACLES)
    assert restored(str(file), build)[1].scene.obstacles == ()
    assert restored("", build)[1].scene.obstacles == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "there is no such file"),
        ("", "must be a mapping"),
        (ENTRY.replace("[0.5, 0.3, 0.1]", "[0.5, 0.3]"), r"obstacles\[0\] hull: box.size is"),
        (ENTRY.replace("0.5", str(10**400)), r"obstacles\[0\] hull: box.size is a whole number"),
        (ENTRY.replace("0.5", "9" * 5000), "not valid YAML"),
        (ENTRY.replace("version: 1", f"version: 0x{'f' * 5000}"), "ValueError: "),
        (ENTRY.replace("base_link", "moon"), "hull: frame is 'moon'"),
        (MESH, r"hull\.stl: No such file"),
        (MESH.replace("hull.stl", "large.stl"), "hull: the mesh has a vertex at 1e\\+308 m"),
    ],
    ids=range(9),
)
def test_the_driver_does_not_start_without_the_obstacles_it_is_to_have(file, text, reason):
    (file.parent / "large.stl").write_text(f"solid large\n{VERTICES}\nendsolid")
    if text is None:
        file.unlink()
    else:
        file.write_text(text)
    with pytest.raises(ParameterError, match=reason) as caught:
        restored(str(file), build)
    assert f"obstacle_file {file}:" in str(caught.value)


def test_a_fault_of_ours_is_a_reason_not_to_start(file):
    def fails(scene, meshes):
        raise RuntimeError("a fault of ours")

    with pytest.raises(ParameterError, match="RuntimeError: a fault of ours"):
        restored(str(file), fails)
