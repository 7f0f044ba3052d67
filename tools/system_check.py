"""Look for what only the system can give: compiler, cmake, make and a Python with its headers.

Standard library only. Each thing that is missing is named together with the line that installs it.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from workspace import WorkspaceError

SUPPORTED = [(3, 10), (3, 11), (3, 12), (3, 13)]
"""CPython versions for which ROS 2 wheels exist, and that our packages support."""

PROBE = """
import importlib.util, json, platform, sys, sysconfig
print(json.dumps({
    "executable": sys.executable,
    "version": platform.python_version(),
    "implementation": platform.python_implementation(),
    "include": sysconfig.get_paths()["include"],
    "venv": all(importlib.util.find_spec(m) is not None for m in ("venv", "ensurepip")),
    "rclpy": importlib.util.find_spec("rclpy") is not None,
}))
"""

# What is needed, the commands of which one must be on the path, and the packages that bring it.
COMMANDS = [
    ("a C compiler", ("cc", "gcc", "clang"), {"apt-get": "build-essential", "dnf": "gcc"}),
    (
        "a C++ compiler",
        ("c++", "g++", "clang++"),
        {"apt-get": "build-essential", "dnf": "gcc-c++"},
    ),
    ("make", ("make", "gmake"), {"apt-get": "build-essential", "dnf": "make"}),
    ("cmake", ("cmake",), {"apt-get": "cmake", "dnf": "cmake"}),
]


@dataclass(frozen=True)
class Python:
    """A Python interpreter and what it is fit for."""

    executable: str
    version: str
    implementation: str
    include: str
    venv: bool
    rclpy: bool

    @property
    def minor(self) -> tuple[int, int]:
        """Major and minor version."""
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)

    @property
    def supported(self) -> bool:
        """Whether our packages and the ROS wheels support it."""
        return self.implementation == "CPython" and self.minor in SUPPORTED

    @property
    def headers(self) -> bool:
        """Whether extension modules can be compiled for it."""
        return (Path(self.include) / "Python.h").is_file()


def package_manager() -> str | None:
    """Return the package manager whose package names we know, or None."""
    return next((name for name in ("apt-get", "dnf") if shutil.which(name)), None)


def install_line(packages: dict[str, list[str]], what: str) -> str:
    """Return the sentence that says how `packages` (by package manager) are installed."""
    manager = package_manager()
    if manager is None:
        return f"install {what} with the package manager of this system, then run the same again"
    names = " ".join(dict.fromkeys(packages[manager]))
    sudo = "" if os.geteuid() == 0 else "sudo "
    return f"install with:  {sudo}{manager} install -y {names}\nthen run the same again"


def probe(command: str) -> Python | None:
    """Ask a Python about itself; None when there is none, or it does not run."""
    path = shutil.which(command)
    if path is None:
        return None
    # The hook of the ROS wheels would run the probe twice.
    environment = dict(os.environ, _ROS_WHEELS_BOOTSTRAP_COMPLETE="1")
    try:
        answer = subprocess.run(
            [path, "-c", PROBE],
            env=environment,
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        return Python(**json.loads(answer.stdout))
    except (OSError, subprocess.SubprocessError, ValueError, TypeError):
        return None


def choose_python(needs_rclpy: bool) -> Python:
    """Return the first Python that everything can be built for; the variable PYTHON overrides.

    Args:
        needs_rclpy: it must be the one that the sourced ROS 2 was made for.

    Raises:
        WorkspaceError: none is fit; says what to install.
    """
    asked = os.environ.get("PYTHON")
    versions = [f"python{major}.{minor}" for major, minor in reversed(SUPPORTED)]
    names = [asked] if asked else [sys.executable, "python3", "/usr/bin/python3", *versions]
    found = [python for name in names if (python := probe(name)) is not None]
    if asked and not found:
        raise WorkspaceError(
            f"PYTHON={asked} does not run; name a CPython 3.10 to 3.13, or unset it"
        )
    candidates = [python for python in found if python.supported]
    if needs_rclpy:
        candidates = [python for python in candidates if python.rclpy]
        if not candidates:
            raise WorkspaceError(
                "a ROS 2 is sourced, but no CPython 3.10 to 3.13 on the path imports its rclpy.\n"
                "Set PYTHON to the Python it was made for, or unset ROS_DISTRO to use wheels"
            )
    if not candidates:
        seen = ", ".join(sorted({f"{p.implementation} {p.version}" for p in found})) or "none"
        raise WorkspaceError(
            f"a CPython 3.10 to 3.13 is needed; found: {seen}\n"
            + install_line(
                {
                    "apt-get": ["python3", "python3-dev", "python3-venv"],
                    "dnf": ["python3.13", "python3.13-devel"],
                },
                "CPython 3.10 to 3.13 with its headers",
            )
        )
    fit = next((python for python in candidates if python.headers and python.venv), None)
    if fit is not None:
        return fit
    best = candidates[0]
    # The distribution's own Python has unversioned package names, any other has versioned ones.
    own = Path(best.executable).resolve() == Path("/usr/bin/python3").resolve()
    name = "python3" if own else "python{}.{}".format(*best.minor)
    missing = [
        text for fit, text in [(best.headers, "C headers"), (best.venv, "venv module")] if not fit
    ]
    raise WorkspaceError(
        f"{best.executable} (CPython {best.version}) lacks its {' and its '.join(missing)}\n"
        + install_line(
            {"apt-get": [f"{name}-dev", f"{name}-venv"], "dnf": [f"{name}-devel"]},
            "the development files of this Python",
        )
    )


def check_commands() -> None:
    """Check that what compiles is there.

    Raises:
        WorkspaceError: something is missing; names all of it and the line that installs it.
    """
    missing = [
        (what, packages)
        for what, commands, packages in COMMANDS
        if not any(shutil.which(command) for command in commands)
    ]
    if missing:
        names = ", ".join(what for what, _ in missing)
        raise WorkspaceError(
            f"missing: {names}\n"
            + install_line(
                {
                    manager: [packages[manager] for _, packages in missing]
                    for manager in ("apt-get", "dnf")
                },
                names,
            )
        )


def check_machine() -> None:
    """Check that ROS 2 wheels exist for this machine.

    Raises:
        WorkspaceError: they do not.
    """
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        raise WorkspaceError(
            f"ROS 2 wheels exist for x86-64 Linux, not for {platform.machine()} {sys.platform}.\n"
            "Install ROS 2 (Jazzy or newer), source its setup file, then run the same again"
        )
