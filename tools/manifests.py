"""Rules for the package manifests that nothing else checks before a machine fails to build.

A package declares what it imports, under a key that rosdep knows; all packages of ours carry one
version, one license and one maintainer; setup.py says the same as package.xml.
"""

from __future__ import annotations

import ast
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

LICENSE = "Apache-2.0"
MAINTAINER = "maintainers@reach-alpha5.invalid"

KEYS: dict[str, str | None] = {
    "numpy": "python3-numpy",
    "yaml": "python3-yaml",
    "serial": "python3-serial",
    "rich": "python3-rich",
    "setuptools": "python3-setuptools",
    "pytest": "python3-pytest",
    "hypothesis": "python3-hypothesis",
    "matplotlib": "python3-matplotlib",
    "rosbags": "python3-rosbags-pip",
    "cobs": "python-cobs-pip",
    "coal": "coal",
    "pinocchio": "pinocchio",
    "xacro": "xacro",
    # rosdep has no key for these: they come with the locked environment.
    "daqp": None,
    "imageio": None,
    "mcap": None,
    "selenium": None,
    "viser": None,
}
"""Rosdep key by import name. An import that is not here is a ROS package of the same name."""

RUN_TAGS = ("depend", "exec_depend")
TEST_TAGS = (*RUN_TAGS, "test_depend", "build_depend", "buildtool_depend")


def imports(file: Path) -> Iterator[str]:
    """Yield the top-level names that a Python file imports."""
    for node in ast.walk(ast.parse(file.read_text(), str(file))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module.partition(".")[0]


def declared(manifest: ElementTree.Element, tags: tuple[str, ...]) -> set[str]:
    """Return the names under the given dependency tags."""
    return {(e.text or "").strip() for tag in tags for e in manifest.findall(tag)}


def undeclared(package: Path, manifest: ElementTree.Element, name: str) -> Iterator[str]:
    """Yield each import that the manifest does not declare."""
    folder_of_tools = package.parent / "tools"
    tools = {file.stem for file in folder_of_tools.glob("*.py")}
    tools |= {init.parent.name for init in folder_of_tools.glob("*/__init__.py")}
    # Python that a package of cmake installs lies in a folder of its own.
    further = [
        init.parent
        for init in sorted(package.glob("*/*/__init__.py"))
        if init.parts[-3] not in (name, "test")
    ]
    own = {name, *(folder.name for folder in further)}
    run = [(folder, RUN_TAGS) for folder in (package / name, *further)]
    for folder, tags in (*run, (package / "test", TEST_TAGS)):
        known = declared(manifest, tags) | own
        # Tests import their helpers, and those of the whole also the workspace tools, by path.
        beside = (
            {file.stem for file in folder.rglob("*.py")} | tools
            if folder.name == "test"
            else set()
        )
        for file in sorted(folder.rglob("*.py")):
            try:
                outside = set(imports(file)) - beside - set(sys.stdlib_module_names)
            except SyntaxError as error:
                yield f"{file.relative_to(package.parent)} does not parse: {error}"
                continue
            for module in sorted(outside):
                key = KEYS.get(module, module)
                if key is not None and key not in known:
                    yield f"{file.relative_to(package.parent)} imports {module}: declare {key}"


def setup_arguments(file: Path) -> dict[str, object]:
    """Return the keyword arguments of the call of setup(); None where one is not a literal."""
    for node in ast.walk(ast.parse(file.read_text(), str(file))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setup":
            return {
                keyword.arg: getattr(keyword.value, "value", None)
                for keyword in node.keywords
                if keyword.arg
            }
    return {}


def package_problems(path: Path, own: bool) -> Iterator[str]:
    """Yield what is wrong with one package; `own` packages carry our version."""
    manifest = ElementTree.parse(path / "package.xml").getroot()
    name = manifest.findtext("name", "").strip()
    if manifest.get("format") != "3":
        yield "package.xml is not of format 3"
    for tag in ("name", "version", "description", "maintainer", "license"):
        if not (manifest.findtext(tag) or "").strip():
            yield f"package.xml has no <{tag}>"
    if manifest.findtext("license") != LICENSE:
        yield f"the license is not {LICENSE}"
    maintainer = manifest.find("maintainer")
    if maintainer is not None and maintainer.get("email") != MAINTAINER:
        yield f"the maintainer is not {MAINTAINER}"
    build_type = manifest.findtext("export/build_type")
    if build_type == "ament_cmake":
        if not (path / "CMakeLists.txt").is_file():
            yield "ament_cmake, but there is no CMakeLists.txt"
        if "ament_cmake" not in declared(manifest, ("buildtool_depend",)):
            yield "ament_cmake is not a buildtool_depend"
    elif build_type == "ament_python":
        for file in ("setup.py", "setup.cfg", f"resource/{name}", f"{name}/py.typed"):
            if not (path / file).is_file():
                yield f"ament_python, but there is no {file}"
        said = setup_arguments(path / "setup.py") if (path / "setup.py").is_file() else {}
        if not {"extras_require", "tests_require"} & said.keys():
            yield "setup.py has no extras_require={'test': ['pytest']}: colcon test runs nothing"
        for key in ("version", "license"):
            if key in said and said[key] != manifest.findtext(key):
                yield f"setup.py has {key} {said[key]}, package.xml {manifest.findtext(key)}"
    else:
        yield f"unknown build type {build_type}"
    if own:
        yield from undeclared(path, manifest, name)


def problems(root: Path) -> list[str]:
    """Return all problems of the manifests below `root`, each with the package it is in."""
    own = sorted(manifest.parent for manifest in root.glob("*/package.xml"))
    underlay = sorted(manifest.parent for manifest in root.glob("underlay/*/package.xml"))
    found = []
    versions: dict[str, str] = {}
    for path in [*own, *underlay]:
        try:
            found += [f"{path.name}: {p}" for p in package_problems(path, path in own)]
        except ElementTree.ParseError as error:
            found.append(f"{path.name}: package.xml does not parse: {error}")
            continue
        if path in own:
            tree = ElementTree.parse(path / "package.xml")
            versions[path.name] = (tree.findtext("version") or "").strip()
    if len(set(versions.values())) > 1:
        found.append(f"versions differ: {versions}")
    return found
