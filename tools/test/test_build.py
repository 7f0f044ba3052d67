"""Which packages are built anew, and what a change costs."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import build

MANIFEST = """<package format="3"><name>{name}</name><version>0.1.0</version>
{depends}<export><build_type>{build_type}</build_type></export></package>"""


def package(root: Path, name: str, build_type: str, *depends: str) -> Path:
    """Write a package with one source file."""
    folder = root / name
    (folder / "src").mkdir(parents=True)
    tags = "".join(f"<depend>{depend}</depend>" for depend in depends)
    (folder / "package.xml").write_text(
        MANIFEST.format(name=name, build_type=build_type, depends=tags)
    )
    (folder / "src" / "file").write_text("one")
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    package(tmp_path, "types", "ament_cmake")
    package(tmp_path, "more_types", "ament_cmake", "types")
    package(tmp_path, "node", "ament_python", "types")
    package(tmp_path / "underlay", "tf2_msgs", "ament_cmake")
    return tmp_path


def changed(root: Path, before: dict[str, str]) -> set[str]:
    """Return the packages that would be built anew."""
    after = build.fingerprints(build.packages(root), "key")
    return {name for name in after if after[name] != before.get(name)}


@pytest.fixture
def before(workspace: Path) -> dict[str, str]:
    return build.fingerprints(build.packages(workspace), "key")


def test_nothing_changed_builds_nothing(workspace: Path, before: dict[str, str]) -> None:
    assert len(before) == 4
    assert changed(workspace, before) == set()


def test_a_changed_python_package_is_built_alone(workspace: Path, before: dict[str, str]) -> None:
    (workspace / "node" / "src" / "file").write_text("two")
    assert changed(workspace, before) == {"node"}


def test_changed_types_are_built_with_what_is_compiled_against_them(
    workspace: Path, before: dict[str, str]
) -> None:
    (workspace / "types" / "src" / "file").write_text("two")
    assert changed(workspace, before) == {"types", "more_types"}


@pytest.mark.parametrize("name", ["more", "fil"])
def test_a_file_that_is_new_or_has_another_name_is_a_change(
    workspace: Path, before: dict[str, str], name: str
) -> None:
    (workspace / "node" / "src" / "file").rename(workspace / "node" / "src" / name)
    assert changed(workspace, before) == {"node"}


def test_a_changed_test_or_left_over_byte_code_builds_nothing(
    workspace: Path, before: dict[str, str]
) -> None:
    for path in ("node/test/test_node.py", "node/src/__pycache__/file.pyc"):
        (workspace / path).parent.mkdir()
        (workspace / path).write_text("new")
    assert changed(workspace, before) == set()


def test_another_ros_builds_everything(workspace: Path, before: dict[str, str]) -> None:
    after = build.fingerprints(build.packages(workspace), "another key")
    assert all(after[name] != before[name] for name in before)


def test_up_to_a_package_builds_what_it_needs_and_no_more(workspace: Path) -> None:
    found = build.packages(workspace)
    assert [package.name for package in build.up_to("node", found)] == ["node", "types"]


def test_a_package_of_the_underlay_is_built_only_where_it_is_absent(workspace: Path) -> None:
    ros = workspace / "ros"

    def names() -> set[str]:
        return {p.name for p in build.wanted(build.packages(workspace), [str(ros)])}

    assert "tf2_msgs" in names()
    (ros / "share" / "tf2_msgs").mkdir(parents=True)
    (ros / "share" / "tf2_msgs" / "package.xml").touch()
    assert names() == {"types", "more_types", "node"}
