"""docs/obstacles.md: its tables are those of the code, and its examples work."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from scene_rig import SceneHost

from reach_alpha5_driver.scene.desk import MOST_OBSTACLES, SceneCode
from reach_alpha5_driver.scene.store import LARGEST_MESHES
from reach_alpha5_motion.mesh import MOST_CORNERS
from reach_alpha5_motion.obstacle_file import parse
from reach_alpha5_motion.obstacles import LARGEST, Scene
from reach_alpha5_msgs import msg, srv

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "obstacles.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
ELSEWHERE = {"no_answer"}
"""Codes of whoever hands a scene over."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def filled(message: Any, values: dict[str, Any]) -> Any:
    """Fill a message from YAML, as `ros2 service call` does."""
    for key, value in values.items():
        field = getattr(message, key)
        if isinstance(value, dict):
            filled(field, value)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            setattr(message, key, [filled(msg.Obstacle(), entry) for entry in value])
        else:
            setattr(message, key, value)
    return message


def calls() -> Iterator[tuple[str, Any, Any]]:
    """Yield service, type and request of each call in the document."""
    for block in blocks("sh"):
        words = shlex.split(block.replace("\\\n", " "))
        while "call" in words:
            words = words[words.index("call") + 1 :]
            name, kind, values = words[:3]
            service = getattr(srv, kind.removeprefix("reach_alpha5_msgs/srv/"))
            request = filled(service.Request(), yaml.safe_load(values))
            yield name.removeprefix("/alpha5/"), service, request


def test_every_code_is_in_the_document():
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", TEXT, flags=re.MULTILINE))
    meanings = {code.code: code.meaning for code in SceneCode}
    assert {code: rows.get(code) for code in meanings} == meanings
    codes = set(re.findall(r"^\| `(\w+)` \|", TEXT.partition("| code |")[2], flags=re.MULTILINE))
    assert codes == set(meanings) | ELSEWHERE


def test_the_bounds_in_the_document_are_those_of_the_code():
    assert f"room for {MOST_OBSTACLES} obstacles" in TEXT
    assert f"up to {MOST_CORNERS} corners" in TEXT
    assert f"at most {LARGEST_MESHES // 1_000_000} MB" in TEXT
    assert f"more than {LARGEST:g} m from" in TEXT


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SceneHost]:
    made = SceneHost(str(tmp_path_factory.mktemp("docs") / "obstacles.yaml"))
    yield made
    made.close()


def test_C9_the_calls_in_the_document_are_obeyed_one_after_the_other(host):
    asked = list(calls())
    assert {name for name, _, _ in asked} == {
        "add_obstacles",
        "remove_obstacle",
        "attach_payload",
        "detach_payload",
    }
    for revision, (name, kind, request) in enumerate(asked, host.first + 1):
        answer = host.ask(kind, name, request)
        assert (answer.success, answer.message, answer.revision) == (True, "", revision), name
    host.until(host.revised(len(asked)))
    assert host.names() == ["rack"]


def test_the_first_file_in_the_document_is_one_without_obstacles():
    (text,) = re.findall(r"^printf '(.*)' > ", TEXT, flags=re.MULTILINE)
    assert parse(text.replace("\\n", "\n")) == Scene()


def test_C9_the_file_in_the_document_is_one():
    (text,) = blocks("yaml")
    scene = parse(text)
    assert [obstacle.name for obstacle in scene.obstacles] == ["hull", "bracket"]
    assert scene.mesh_files == ("bracket.stl",)
