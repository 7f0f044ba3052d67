#!/usr/bin/env python3
"""Build the packages of this workspace with colcon: those whose sources changed, and no others.

Whether something changed is judged by content, never by time: a package is built anew when its
files, or an interface package that it is compiled against, or the ROS 2 in use differ from what
was built last. It is then built from nothing, so that no file that was removed lives on in the
install folder. Standard library only.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import workspace
from workspace import (
    BUILD,
    ENVIRONMENT,
    INSTALL,
    LOG,
    ROOT,
    VENV,
    InstalledRos,
    WorkspaceError,
    alone,
    digest,
    has_package,
    reported,
    say,
)

UNDERLAY = "underlay"
"""Folder of the packages that are built only where the ROS 2 in use lacks them."""

IGNORED = {"__pycache__", "test", ".pytest_cache", ".hypothesis", ".mypy_cache", ".ruff_cache"}
"""Folders that no build looks into; tests are run from the sources."""

BUILD_TAGS = ("depend", "build_depend", "buildtool_depend", "build_export_depend")
"""Dependencies that a compiled package is built against."""


@dataclass(frozen=True)
class Package:
    """A package of this workspace, as its manifest says."""

    name: str
    path: Path
    build_type: str
    built_against: frozenset[str]
    needs: frozenset[str]

    @property
    def compiled(self) -> bool:
        """Whether it is built with cmake."""
        return self.build_type == "ament_cmake"

    def files(self) -> Iterator[Path]:
        """Yield the files that its build reads, in a fixed order."""
        for folder, folders, names in os.walk(self.path):
            folders[:] = sorted(f for f in folders if f not in IGNORED and f[-9:] != ".egg-info")
            yield from (Path(folder) / name for name in sorted(names) if name[-4:] != ".pyc")


def dependencies(manifest: ElementTree.Element, tags: Sequence[str]) -> frozenset[str]:
    """Return the names of the packages that a manifest lists under the tags."""
    return frozenset((e.text or "").strip() for tag in tags for e in manifest.findall(tag))


def packages(workspace_root: Path) -> list[Package]:
    """Return all packages of a workspace."""
    found = []
    manifests = [*workspace_root.glob("*/package.xml")]
    manifests += workspace_root.glob(f"{UNDERLAY}/*/package.xml")
    for manifest in sorted(manifests):
        root = ElementTree.parse(manifest).getroot()
        found.append(
            Package(
                name=root.findtext("name", "").strip(),
                path=manifest.parent,
                build_type=root.findtext("export/build_type", "ament_cmake").strip(),
                built_against=dependencies(root, BUILD_TAGS),
                needs=dependencies(root, (*BUILD_TAGS, "exec_depend")),
            )
        )
    return found


def wanted(found: Sequence[Package], prefixes: Sequence[str]) -> list[Package]:
    """Return the packages to build: ours, and of the underlay what no prefix of ROS 2 has."""
    return [
        package
        for package in found
        if package.path.parent.name != UNDERLAY
        or not any(has_package(prefix, package.name) for prefix in prefixes)
    ]


def up_to(target: str, found: Sequence[Package]) -> list[Package]:
    """Return a package with all that it needs, at run time too, in the order of `found`."""
    by_name = {package.name: package for package in found}
    names: set[str] = set()
    waiting = {target}
    while waiting:
        name = waiting.pop()
        names.add(name)
        waiting |= (by_name[name].needs & by_name.keys()) - names
    return [package for package in found if package.name in names]


def fingerprints(selected: Sequence[Package], key: str) -> dict[str, str]:
    """Return for each package the hash of all that its build depends on.

    Args:
        selected: the packages.
        key: stands for the ROS 2 and the Python in use.
    """
    by_name = {package.name: package for package in selected}
    known: dict[str, str] = {}

    def of(package: Package) -> str:
        if package.name not in known:
            parts: list[str | bytes] = [key]
            for file in package.files():
                parts += [str(file.relative_to(package.path)), file.read_bytes()]
            # Python packages find each other at run time; only compiled ones embed what they use.
            if package.compiled:
                parts += [
                    of(by_name[name]) for name in sorted(package.built_against & by_name.keys())
                ]
            known[package.name] = digest(parts)
        return known[package.name]

    return {package.name: of(package) for package in selected}


def stamp(name: str) -> Path:
    """Return the file that says what a package was built from."""
    return BUILD / name / "built_from"


def is_built(name: str, fingerprint: str) -> bool:
    """Say whether the package was built from exactly this."""
    file = stamp(name)
    return file.is_file() and file.read_text() == fingerprint and has_package(INSTALL / name, name)


def colcon_environment(version: str, ros: InstalledRos | None) -> dict[str, str]:
    """Return the variables for colcon."""
    environment = dict(os.environ, COLCON_DEFAULTS_FILE=os.devnull)
    if ros is None:
        for name in ("PYTHONPATH", "PYTHONHOME", "COLCON_PREFIX_PATH"):
            environment.pop(name, None)
        environment.update(
            VIRTUAL_ENV=str(VENV),
            PATH=f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}",
            AMENT_PREFIX_PATH=str(VENV),
            CMAKE_PREFIX_PATH=str(VENV),
            LD_LIBRARY_PATH=os.pathsep.join(workspace.library_path(version)),
            _ROS_WHEELS_BOOTSTRAP_COMPLETE="1",
        )
    return environment


def colcon(names: Sequence[str], selected: Sequence[Package], environment: dict[str, str]) -> bool:
    """Build the named packages; return whether all of it went well."""
    command = shutil.which("colcon", path=environment["PATH"])
    if command is None:
        raise WorkspaceError(
            "the sourced ROS 2 comes without colcon; install it with\n"
            "  apt-get install -y python3-colcon-common-extensions\nthen run the same again"
        )
    arguments = [command, "--log-base", str(LOG), "build"]
    arguments += ["--build-base", str(BUILD), "--install-base", str(INSTALL)]
    arguments += ["--base-paths", *(str(package.path) for package in selected)]
    arguments += ["--packages-select", *names]
    arguments += ["--cmake-args", "-DBUILD_TESTING=OFF", "--no-warn-unused-cli"]
    return subprocess.run(arguments, cwd=ROOT, env=environment, check=False).returncode == 0


def build(target: str | None = None) -> None:
    """Bring the install folder and the environment file up to date.

    Args:
        target: build no more than this package and what it needs.

    Raises:
        WorkspaceError: a package does not build; says where its output is.
    """
    known = workspace.record()
    if not known:
        raise WorkspaceError("nothing is installed yet; run `make build`")
    ros = InstalledRos.find()
    version = known["python"]["version"]
    key = digest([known["key"], version, known["groups"].get("ros", "")])
    selected = wanted(packages(ROOT), ros.prefixes if ros else [str(VENV)])
    prints = fingerprints(selected, key)
    remove_strangers({package.name for package in selected})
    asked = up_to(target, selected) if target else selected
    stale = [p.name for p in asked if not is_built(p.name, prints[p.name])]
    if stale:
        say(f"building {len(stale)} of {len(asked)} packages: {', '.join(stale)}")
        for name in stale:
            shutil.rmtree(BUILD / name, ignore_errors=True)
            shutil.rmtree(INSTALL / name, ignore_errors=True)
        well = colcon(stale, selected, colcon_environment(version, ros))
        failed = []
        for name in stale:
            result = BUILD / name / "colcon_build.rc"
            if result.is_file() and result.read_text().strip() == "0":
                stamp(name).write_text(prints[name])
            else:
                failed.append(name)
        if failed or not well:
            logs = [str(LOG / "latest_build" / name / "stdout_stderr.log") for name in failed]
            raise WorkspaceError(
                f"colcon did not build {', '.join(failed) or 'everything'}; its output is in\n  "
                + "\n  ".join(logs or [str(LOG / "latest_build")])
                + "\nMend it and run the same again; what is built stays"
            )
    write_environment(version, ros, [package.name for package in selected])


def remove_strangers(names: set[str]) -> None:
    """Remove what was built of packages that are no longer part of the workspace."""
    for base in (BUILD, INSTALL):
        for folder in base.glob("*/"):
            if folder.name not in names and (
                stamp(folder.name).exists() or has_package(folder, folder.name)
            ):
                shutil.rmtree(folder)


def write_environment(version: str, ros: InstalledRos | None, names: Sequence[str]) -> None:
    """Write the file that `tools/run` reads: everything sourced, worked out once."""
    site = workspace.site_packages(version)
    modules = [INSTALL / name / site.relative_to(VENV) for name in names]
    variables = {
        "PATH": [INSTALL / name / "lib" / name for name in names],
        "AMENT_PREFIX_PATH": [INSTALL / name for name in names],
        "CMAKE_PREFIX_PATH": [INSTALL / name for name in names],
        "LD_LIBRARY_PATH": [INSTALL / name / "lib" for name in names],
        "PYTHONPATH": modules,
    }
    lines = ["# Made by tools/build.py: the environment of tools/run."]
    here = {
        name: [str(path) for path in paths if path.is_dir()] for name, paths in variables.items()
    }
    here["PATH"].append(str(VENV / "bin"))
    if ros is None:
        here["AMENT_PREFIX_PATH"].append(str(VENV))
        here["CMAKE_PREFIX_PATH"].append(str(VENV))
        here["LD_LIBRARY_PATH"] += workspace.library_path(version)
        inherited = {"PATH"}
        fixed = {
            "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1",
            "RMW_IMPLEMENTATION": "${RMW_IMPLEMENTATION:-rmw_fastrtps_cpp}",
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}",
        }
    else:
        lines.append(
            f'if [ "${{ROS_DISTRO:-}}" != {shlex.quote(ros.distro)} ]; then\n'
            f"    echo 'built for ROS 2 {ros.distro}: source it, or run make build' >&2\n"
            "    exit 1\nfi"
        )
        inherited = set(here)
        fixed = {}
    for name, paths in here.items():
        value = ":".join(shlex.quote(path) for path in paths)
        rest = f'"${{{name}:+:${name}}}"' if name in inherited else ""
        lines.append(f"export {name}={value}{rest}")
    if ros is not None:
        # Last, so that the stock ROS 2 wins; scripts with the system's Python need it.
        lines.append(f'export PYTHONPATH="$PYTHONPATH":{shlex.quote(str(site))}')
    lines += [f'export {name}="{value}"' for name, value in fixed.items()]
    text = "\n".join([*lines, f"export VIRTUAL_ENV={shlex.quote(str(VENV))}", ""])
    if not ENVIRONMENT.is_file() or ENVIRONMENT.read_text() != text:
        ENVIRONMENT.write_text(text)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--up-to", metavar="PACKAGE", help="no more than this one and its needs")
    options = parser.parse_args()
    with reported(), alone():
        build(options.up_to)


if __name__ == "__main__":
    main()
