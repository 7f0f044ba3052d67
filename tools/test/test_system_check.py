import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import system_check
from workspace import WorkspaceError


def pretend(folder: Path, *names: str) -> None:
    """Put commands of these names into a folder."""
    for name in names:
        (folder / name).write_text("#!/bin/sh\nexit 1\n")
        (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("manager", "line"),
    [
        ("apt-get", "apt-get install -y build-essential cmake"),
        ("dnf", "dnf install -y gcc gcc-c++ make cmake"),
    ],
)
def test_what_is_missing_is_named_with_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, manager: str, line: str
) -> None:
    pretend(tmp_path, manager)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkspaceError) as caught:
        system_check.check_commands()
    assert "a C compiler, a C++ compiler, make, cmake" in str(caught.value)
    assert line in str(caught.value)


def test_only_what_is_missing_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(tmp_path, "apt-get", "gcc", "g++", "make")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkspaceError, match="apt-get install -y cmake\n"):
        system_check.check_commands()


def test_a_system_that_has_everything_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(tmp_path, "clang", "clang++", "gmake", "cmake")
    monkeypatch.setenv("PATH", str(tmp_path))
    system_check.check_commands()


def test_an_unknown_package_manager_is_told_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkspaceError, match="with the package manager of this system"):
        system_check.check_commands()


def python_that_says(folder: Path, **changes: object) -> str:
    """Make a command that answers the probe as this Python does, but for the changes."""
    own = system_check.probe(sys.executable)
    assert own is not None
    answer = {name: getattr(own, name) for name in own.__dataclass_fields__} | changes
    command = folder / "python-under-test"
    command.write_text(f"#!{sys.executable}\nimport json\nprint(json.dumps({answer!r}))\n")
    command.chmod(0o755)
    return str(command)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": "3.9.2"}, "found: CPython 3.9.2"),
        ({"version": "3.14.0"}, "found: CPython 3.14.0"),
        ({"implementation": "PyPy"}, "found: PyPy"),
        ({"include": "/nowhere"}, "lacks its C headers"),
        ({"venv": False}, "lacks its venv module"),
        ({"include": "/nowhere", "venv": False}, "lacks its C headers and its venv module"),
    ],
)
def test_a_python_that_is_not_fit_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], said: str
) -> None:
    monkeypatch.setenv("PYTHON", python_that_says(tmp_path, **changes))
    with pytest.raises(WorkspaceError, match=said):
        system_check.choose_python(needs_rclpy=False)


def test_the_variable_python_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = python_that_says(tmp_path, version="3.13.7", include=str(tmp_path), venv=True)
    (tmp_path / "Python.h").touch()
    monkeypatch.setenv("PYTHON", command)
    assert system_check.choose_python(needs_rclpy=False).version == "3.13.7"


def test_a_python_that_does_not_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(tmp_path, "broken")
    monkeypatch.setenv("PYTHON", os.fspath(tmp_path / "broken"))
    with pytest.raises(WorkspaceError, match="does not run"):
        system_check.choose_python(needs_rclpy=False)


def test_a_sourced_ros_needs_the_python_that_it_was_made_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHON", python_that_says(tmp_path, rclpy=False))
    with pytest.raises(WorkspaceError, match="unset ROS_DISTRO"):
        system_check.choose_python(needs_rclpy=True)
