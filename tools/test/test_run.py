"""`tools/run`, as a user in any folder with a bare environment has it."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command through tools/run in an environment that has nothing of ours."""
    # What a sourced ROS 2 gave stays: with one, tools/run only adds to it.
    kept = {"PATH": os.environ["PATH"], "HOME": str(cwd)}
    if "ROS_DISTRO" in os.environ:
        kept = dict(os.environ)
    return subprocess.run(
        [str(ROOT / "tools" / "run"), *command],
        cwd=cwd,
        env=kept,
        capture_output=True,
        text=True,
    )


def test_the_exit_status_is_that_of_the_command(tmp_path: Path) -> None:
    assert run("sh", "-c", "exit 7", cwd=tmp_path).returncode == 7


def test_without_a_command_it_says_how_it_is_used(tmp_path: Path) -> None:
    done = run(cwd=tmp_path)
    assert done.returncode == 2
    assert "usage: tools/run COMMAND" in done.stderr


def test_arguments_are_passed_as_they_are(tmp_path: Path) -> None:
    done = run("printf", "%s|", "a b", "*", "$HOME", cwd=tmp_path)
    assert done.stdout == "a b|*|$HOME|"


def test_python_finds_the_installed_packages_and_their_messages(tmp_path: Path) -> None:
    program = (
        "import reach_alpha5_common.messages as common, reach_alpha5_msgs as types, pinocchio;"
        "print(common.__file__); print(types.__file__)"
    )
    done = run("python3", "-c", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert all(line.startswith(f"{ROOT}/install/") for line in done.stdout.splitlines())


def test_installed_commands_are_on_the_path(tmp_path: Path) -> None:
    for command in ("alpha5-wire", "alpha5-sim"):
        done = run(command, "--help", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "usage" in done.stdout
