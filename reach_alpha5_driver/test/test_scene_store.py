"""The file of obstacles: whole or not at all, whatever happens while it is written."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from reach_alpha5_driver.scene.desk import MOST_OBSTACLES, SceneError
from reach_alpha5_driver.scene.store import LARGEST_MESHES, LoadedScene, ObstacleStore
from reach_alpha5_motion.obstacle_file import dump
from reach_alpha5_motion.obstacles import Box, Mesh, Obstacle, ObstacleError, Scene

HULL = Obstacle("hull", "base_link", Box((0.5, 0.3, 0.1)))
RACK = Obstacle("rack", "base_link", Mesh("rack.stl"))
ONE, TWO = Scene((HULL,)), Scene((HULL, RACK))

WRITTEN_BY_HAND = """\
# The hull, measured in June.
version: 1
obstacles:
  - {name: hull, frame: base_link, box: {size: [0.5, 0.3, 0.1]}}
"""

KILLED_BEFORE = """
import os, signal, sys
from reach_alpha5_driver.scene.store import ObstacleStore
from reach_alpha5_motion.obstacles import Obstacle, Scene, Sphere
setattr(os, sys.argv[2], lambda *_: os.kill(os.getpid(), signal.SIGKILL))
store = ObstacleStore(sys.argv[1])
store.load()
store.save(Scene((Obstacle("new", "base_link", Sphere(1.0)),)))
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "obstacles.yaml"
    path.write_text(WRITTEN_BY_HAND)
    return path


@pytest.fixture
def store(file: Path) -> ObstacleStore:
    made = ObstacleStore(str(file))
    assert made.load() == ONE
    return made


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# -- loading


def test_C9_what_is_saved_is_there_after_a_restart(store, file):
    store.save(TWO)
    assert ObstacleStore(str(file)).load() == TWO
    assert names(file.parent) == ["obstacles.yaml"]
    store.save(ONE)
    assert ObstacleStore(str(file)).load() == ONE


def test_a_file_that_is_not_there_is_refused_with_what_makes_the_first_one(tmp_path):
    file = tmp_path / "new.yaml"
    with pytest.raises(ObstacleError, match="correct the path") as caught:
        ObstacleStore(str(file)).load()
    file.write_text(str(caught.value).partition(":\n")[2])
    assert ObstacleStore(str(file)).load() == Scene()


def test_without_a_path_nothing_is_saved():
    store = ObstacleStore("")
    assert store.load() == Scene()
    assert store.path is None
    store.save(ONE)
    store.undo()


def test_home_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert ObstacleStore("~/obstacles.yaml").path == tmp_path / "obstacles.yaml"


@pytest.mark.parametrize("path", ["obstacles.yaml", "./a", "~nobody-of-this-name/a"])
def test_a_path_that_depends_on_where_the_driver_starts_is_refused(path):
    with pytest.raises(ObstacleError, match="absolute path"):
        ObstacleStore(path)


def test_a_broken_file_names_every_problem(file):
    file.write_text(
        "version: 1\nobstacles:\n"
        "  - {name: hull, frame: base_link, box: {size: [1, 2]}}\n"
        "  - {name: rack, frame: base_link, shpere: {radius: 1}}\n"
    )
    with pytest.raises(ObstacleError) as caught:
        ObstacleStore(str(file)).load()
    assert [line.partition(": ")[0] for line in str(caught.value).splitlines()] == [
        "obstacles[0] hull",
        "obstacles[1] rack",
    ]


def break_folder(file: Path) -> Path:
    return file.parent / "no such folder" / file.name


def break_text(file: Path) -> Path:
    file.write_text("version: [1\n")
    return file


def break_encoding(file: Path) -> Path:
    file.write_bytes(b"version: 1 # \xff\nobstacles: []\n")
    return file


def break_kind(file: Path) -> Path:
    file.unlink()
    os.mkfifo(file)
    return file


def break_number(file: Path) -> Path:
    many = [
        Obstacle(f"o{i}", "base_link", Box((1.0, 1.0, 1.0))) for i in range(MOST_OBSTACLES + 1)
    ]
    file.write_text(dump(Scene(tuple(many))))
    return file


def break_permission(file: Path) -> Path:
    return file.parent  # to read a folder fails for everybody, root included


@pytest.mark.parametrize(
    ("break_it", "reason"),
    [
        (break_folder, "no such file"),
        (break_text, "not valid YAML"),
        (break_encoding, "is not UTF-8"),
        (break_kind, "not a regular file"),
        (break_number, "there is room for"),
        (break_permission, "directory"),
    ],
)
def test_a_file_that_cannot_be_used_is_never_an_empty_scene(file, break_it, reason):
    path = break_it(file)
    with pytest.raises(ObstacleError, match=reason):
        ObstacleStore(str(path)).load()


# -- saving


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_killed_before_the_new_file_is_in_place_the_old_one_is_whole(file, call):
    done = subprocess.run([sys.executable, "-c", KILLED_BEFORE, str(file), call], check=False)
    assert done.returncode == -signal.SIGKILL
    assert file.read_text() == WRITTEN_BY_HAND
    assert len(names(file.parent)) == 2
    store = ObstacleStore(str(file))  # what the killed one has left does not stand in the way
    assert store.load() == ONE
    store.save(TWO)
    assert ObstacleStore(str(file)).load() == TWO
    assert names(file.parent) == ["obstacles.yaml"]


def test_the_content_is_on_the_disk_before_it_has_the_name(store, monkeypatch):
    calls = []

    def noted(name, call):
        def wrapped(*arguments):
            calls.append(name)
            return call(*arguments)

        return wrapped

    monkeypatch.setattr(os, "fsync", noted("fsync", os.fsync))
    monkeypatch.setattr(os, "replace", noted("replace", os.replace))
    store.save(TWO)
    assert calls == ["fsync", "replace", "fsync"]


@pytest.mark.parametrize(
    "failing", [("fsync", 1), ("replace", 1), ("fsync", 2)], ids=lambda it: f"{it[0]} {it[1]}"
)
def test_a_save_that_fails_leaves_the_file_as_it_was(store, file, monkeypatch, failing):
    name, number = failing
    call, count = getattr(os, name), iter(range(1, 100))

    def fails_once(*arguments):
        if next(count) == number:
            raise OSError(28, "No space left on device")
        return call(*arguments)

    monkeypatch.setattr(os, name, fails_once)
    with pytest.raises(SceneError, match="No space left") as caught:
        store.save(TWO)
    assert caught.value.code.code == "not_saved"
    assert file.read_text() == WRITTEN_BY_HAND
    assert names(file.parent) == ["obstacles.yaml"]
    store.save(TWO)
    assert ObstacleStore(str(file)).load() == TWO


def test_a_fault_while_it_is_saved_leaves_the_file_as_it_was(store, file, monkeypatch):
    call, count = os.fsync, iter(range(1, 100))

    def fails_once(descriptor):
        if next(count) == 2:
            raise RuntimeError("a fault of ours")
        return call(descriptor)

    monkeypatch.setattr(os, "fsync", fails_once)
    with pytest.raises(RuntimeError):
        store.save(TWO)
    assert file.read_text() == WRITTEN_BY_HAND


def test_what_somebody_else_has_written_meanwhile_is_not_lost(store, file):
    file.write_text(WRITTEN_BY_HAND + "# and more\n")
    with pytest.raises(SceneError, match="somebody else has changed"):
        store.save(TWO)
    assert file.read_text().endswith("# and more\n")
    file.unlink()
    with pytest.raises(SceneError, match="somebody else has changed"):
        store.save(TWO)
    assert names(file.parent) == []


def test_undo_brings_back_every_byte(store, file):
    store.save(TWO)
    store.undo()
    assert file.read_text() == WRITTEN_BY_HAND
    store.save(TWO)
    assert ObstacleStore(str(file)).load() == TWO


def test_the_permissions_of_the_file_are_kept(store, file):
    file.chmod(0o640)
    store.save(TWO)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_link_stays_one(file):
    link = file.with_name("link.yaml")
    link.symlink_to(file)
    store = ObstacleStore(str(link))
    store.load()
    store.save(TWO)
    assert link.is_symlink()
    assert ObstacleStore(str(file)).load() == TWO


# -- meshes


def test_meshes_are_beside_the_file_or_named_whole(store, file, tmp_path):
    (file.parent / "rack.stl").write_bytes(b"beside")
    elsewhere = tmp_path / "else.stl"
    elsewhere.write_bytes(b"elsewhere")
    scene = Scene((*TWO.obstacles, Obstacle("pipe", "base_link", Mesh(str(elsewhere)))))
    loaded = store.loaded(scene, LoadedScene())
    assert loaded.scene is scene
    assert loaded.meshes == {"rack.stl": b"beside", str(elsewhere): b"elsewhere"}


def test_a_mesh_is_read_when_a_scene_names_it_first(store, file):
    stl = file.parent / "rack.stl"
    stl.write_bytes(b"first")
    first = store.loaded(TWO, LoadedScene())
    stl.write_bytes(b"second")
    assert store.loaded(Scene(TWO.obstacles[1:]), first).meshes == {"rack.stl": b"first"}
    without = store.loaded(ONE, first)
    assert without.meshes == {}
    assert store.loaded(TWO, without).meshes == {"rack.stl": b"second"}


def mesh_missing(path: Path) -> None:
    pass


def mesh_too_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(LARGEST_MESHES + 1)


def mesh_a_pipe(path: Path) -> None:
    os.mkfifo(path)


def mesh_a_folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (mesh_missing, "rack.stl: No such file"),
        (mesh_too_large, "rack.stl: is too large: all meshes together may have 4000000 bytes"),
        (mesh_a_pipe, "rack.stl: is not a regular file"),
        (mesh_a_folder, "rack.stl: "),
    ],
)
def test_a_mesh_that_cannot_be_read_is_told(store, file, make, reason):
    make(file.parent / "rack.stl")
    with pytest.raises(SceneError, match=reason) as caught:
        store.loaded(TWO, LoadedScene())
    assert caught.value.code.code == "mesh_unreadable"


def test_all_meshes_together_have_one_bound_and_all_problems_are_told(store, file):
    with (file.parent / "rack.stl").open("wb") as mesh:
        mesh.truncate(LARGEST_MESHES)
    (file.parent / "one.stl").write_bytes(b"1")
    more = (
        Obstacle("one", "base_link", Mesh("one.stl")),
        Obstacle("nul", "base_link", Mesh("\0")),
    )
    with pytest.raises(SceneError) as caught:
        store.loaded(Scene((*TWO.obstacles, *more)), LoadedScene())
    lines = str(caught.value).splitlines()
    assert [line.split(":")[0] for line in lines] == ["one.stl", "\0"]
    assert lines[0].endswith("may have 4000000 bytes; 0 are left")


def test_meshes_that_are_loaded_already_count(store, file):
    (file.parent / "rack.stl").write_bytes(b"1")
    large = LoadedScene(ONE, {"pipe.stl": bytes(LARGEST_MESHES)})
    pipe = Obstacle("pipe", "base_link", Mesh("pipe.stl"))
    with pytest.raises(SceneError, match=r"rack\.stl: is too large"):
        store.loaded(Scene((*TWO.obstacles, pipe)), large)


def test_a_relative_mesh_needs_a_file_to_be_beside_of():
    with pytest.raises(SceneError, match=r"rack\.stl: without obstacle_file there is no folder"):
        ObstacleStore("").loaded(TWO, LoadedScene())
