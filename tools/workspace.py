"""What the workspace tools share: where things are, which ROS 2 is in use, and how they speak.

Standard library only: this runs on the bare system Python, before anything is installed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BUILD = ROOT / "build"
INSTALL = ROOT / "install"
LOG = ROOT / "log"
RECORD = VENV / "workspace.json"
ENVIRONMENT = BUILD / "environment.sh"
REQUIREMENTS = ROOT / "tools" / "requirements"


class WorkspaceError(Exception):
    """A step that cannot go on. The message says what to do about it."""


def say(text: str) -> None:
    """Tell the user what goes on."""
    print(f"[workspace] {text}", flush=True)


@contextlib.contextmanager
def reported() -> Iterator[None]:
    """End the program with a plain message, not a traceback, where the user is to act."""
    try:
        yield
    except WorkspaceError as error:
        print(f"\n[workspace] STOPPED: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("\n[workspace] interrupted; run it again to go on", file=sys.stderr)
        sys.exit(130)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Hold the workspace: what two runs did to it at the same time would be anybody's guess."""
    BUILD.mkdir(exist_ok=True)
    with (BUILD / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another run is at work in this workspace; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def digest(parts: Iterable[str | bytes]) -> str:
    """Return a short hash over the parts, which do not run into each other."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little") + data)
    return state.hexdigest()[:24]


@dataclass(frozen=True)
class InstalledRos:
    """A ROS 2 that the shell has sourced."""

    distro: str
    prefixes: tuple[str, ...]

    @staticmethod
    def find() -> InstalledRos | None:
        """Return the sourced ROS 2, or None where there is none with rclpy."""
        distro = os.environ.get("ROS_DISTRO", "")
        prefixes = tuple(
            prefix
            for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
            if prefix and ROOT not in Path(prefix).parents
        )
        if distro and any(has_package(prefix, "rclpy") for prefix in prefixes):
            return InstalledRos(distro, prefixes)
        return None

    @property
    def name(self) -> str:
        """A name for messages, and a key: another ROS 2 means another build."""
        return f"ROS 2 {self.distro} in {os.pathsep.join(self.prefixes)}"


PIP_ROS = "ROS 2 from wheels"
"""The key that stands in place of `InstalledRos.name` where none is sourced."""


def has_package(prefix: str | Path, name: str) -> bool:
    """Say whether the ament package `name` is installed under `prefix`."""
    return (Path(prefix) / "share" / name / "package.xml").is_file()


def record() -> dict[str, Any]:
    """Return what the bootstrap wrote down about the virtual environment, or an empty dict."""
    try:
        loaded = json.loads(RECORD.read_text())
    except (OSError, ValueError):
        return {}
    return loaded if isinstance(loaded, dict) else {}


def site_packages(version: str) -> Path:
    """Return the environment's package folder; `version` is that of its Python, as in 3.11.2."""
    return VENV / "lib" / "python{}.{}".format(*version.split(".")[:2]) / "site-packages"


def library_path(version: str) -> list[str]:
    """Return where the libraries of the ROS wheels lie, in a fixed order.

    The start-up hook of the wheels would do the same for each Python process, by executing it a
    second time, and in the order of a directory listing.
    """
    bundled = sorted(site_packages(version).glob("ros_*.libs"))
    return [str(VENV / "lib"), *map(str, bundled)]
