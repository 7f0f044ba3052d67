"""Read a launch file into the list of processes that it asks for."""

from __future__ import annotations

import os
import re
import shutil
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from launch_runner.errors import LaunchError, NotInstalled
from launch_runner.substitution import Scope, find_executable, split, substitute

NAMESPACE = "ros_namespace"
"""Variable that carries the namespace pushed so far, as in stock launch."""


@dataclass(frozen=True, slots=True)
class Process:
    """One process to run."""

    label: str
    command: tuple[str, ...]
    parameters: tuple[dict[str, Any], ...] = ()
    """Parameter sets written to files of their own, each the content of `ros__parameters`."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A described argument of a launch file."""

    name: str
    default: str | None
    description: str


@dataclass(slots=True)
class Plan:
    """What a launch file asks for, in its order."""

    processes: list[Process] = field(default_factory=list)
    arguments: list[Argument] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """What is not installed, and how to do without it; no process was made of it."""


def read(
    file: Path,
    given: Mapping[str, str],
    environment: Mapping[str, str],
    *,
    describe: bool = False,
) -> Plan:
    """Read `file` with the arguments `given` on the command line.

    Args:
        file: the launch file.
        given: arguments, name to value.
        environment: variables, AMENT_PREFIX_PATH among them.
        describe: the plan is not to be run, so that what is not installed does not matter.

    Raises:
        LaunchError: the file, an argument or something it needs is wrong.
    """
    reader = _Reader(dict(given), environment)
    reader.file(file)
    names = {argument.name for argument in reader.plan.arguments}
    if unknown := sorted(set(given) - names):
        raise LaunchError(
            f"no such argument: {', '.join(unknown)}; there are: {', '.join(sorted(names))}"
        )
    if reader.plan.missing and not describe:
        raise NotInstalled("\n".join(reader.plan.missing))
    return reader.plan


@dataclass(slots=True)
class _Reader:
    variables: dict[str, str]
    environment: Mapping[str, str]
    plan: Plan = field(default_factory=Plan)
    path: Path = field(default=Path("."))

    def file(self, path: Path) -> None:
        """Read one launch file in the present scope."""
        try:
            root = ElementTree.parse(path).getroot()
        except OSError as error:
            raise LaunchError(f"cannot read {path}: {error.strerror}") from error
        except ElementTree.ParseError as error:
            raise LaunchError(f"{path}: not well-formed XML: {error}") from error
        if root.tag != "launch":
            raise LaunchError(f"{path}: the root element is <{root.tag}>, it must be <launch>")
        outer, self.path = self.path, path
        try:
            self._take(root, set())
            self._children(root)
        except LaunchError as error:
            place = f"{path.name}: "
            text = str(error)
            raise LaunchError(text if text.startswith(place) else place + text) from error
        finally:
            self.path = outer

    def _children(self, parent: ElementTree.Element) -> None:
        for element in parent:
            if element.tag not in ELEMENTS:
                raise LaunchError(
                    f"<{element.tag}> is not supported here; supported: "
                    + ", ".join(f"<{tag}>" for tag in sorted(ELEMENTS))
                )
            if not self._wanted(element):
                continue
            try:
                ELEMENTS[element.tag](self, element)
            except NotInstalled as error:
                if element.tag not in PROCESSES:
                    raise
                self.plan.missing.append(f"{self.path.name}: {error}; {self._way_out(element)}")

    @staticmethod
    def _way_out(element: ElementTree.Element) -> str:
        """Say what to do about something that this element needs and that is not installed."""
        switch = re.fullmatch(r"\$\(var (\w+)\)", element.get("if", ""))
        without = f"start without it: {switch[1]}:=false" if switch else "build it: make build"
        return f"install it, or {without}"

    def _text(self, value: str) -> str:
        return substitute(value, self._scope())

    def _words(self, value: str) -> list[str]:
        return split(value, self._scope())

    def _scope(self) -> Scope:
        return Scope(self.variables, self.path, self.environment)

    def _take(
        self, element: ElementTree.Element, allowed: set[str], required: tuple[str, ...] = ()
    ) -> dict[str, str]:
        """Return the attributes of an element, performed; refuse what is not understood."""
        known = allowed | set(required)
        condition = {"if", "unless"} if element.tag in CONDITIONAL else set()
        for name in element.attrib:
            if name not in known | condition:
                raise LaunchError(f"attribute {name}= of <{element.tag}> is not supported here")
        for name in required:
            if name not in element.attrib:
                raise LaunchError(f"<{element.tag}> needs the attribute {name}=")
        if len(element) and element.tag not in PARENTS:
            raise LaunchError(f"<{element[0].tag}> inside <{element.tag}> is not supported here")
        if element.text and element.text.strip():
            raise LaunchError(f"<{element.tag}> contains text: {element.text.strip()[:40]!r}")
        return {n: self._text(v) for n, v in element.attrib.items() if n in known}

    def _wanted(self, element: ElementTree.Element) -> bool:
        wanted = True
        for name, meaning in (("if", True), ("unless", False)):
            if name in element.attrib and element.tag in CONDITIONAL:
                wanted = wanted and self._truth(element.attrib[name]) is meaning
        return wanted

    def _truth(self, text: str) -> bool:
        value = self._text(text).strip().lower()
        if value not in TRUTH:
            raise LaunchError(f"condition {text!r} is {value!r}; use true or false")
        return TRUTH[value]

    def arg(self, element: ElementTree.Element) -> None:
        """Declare an argument; one that is set already keeps its value."""
        name = self._take(element, {"default", "description"}, ("name",))["name"]
        default = element.get("default")
        described = None if default is None else self._text(default)
        self.plan.arguments.append(
            Argument(name, described, self._text(element.get("description", "")))
        )
        if name not in self.variables:
            if described is None:
                raise LaunchError(f"argument '{name}' must be given: {name}:=…")
            self.variables[name] = described

    def let(self, element: ElementTree.Element) -> None:
        """Set a variable."""
        values = self._take(element, set(), ("name", "value"))
        self.variables[values["name"]] = values["value"]

    def group(self, element: ElementTree.Element) -> None:
        """Read the children in a scope of their own."""
        self._take(element, set())
        saved = dict(self.variables)
        self._children(element)
        self.variables = saved

    def push_ros_namespace(self, element: ElementTree.Element) -> None:
        """Put everything that follows in this scope under a namespace."""
        name = self._take(element, set(), ("namespace",))["namespace"]
        self.variables[NAMESPACE] = self._namespace(name)

    def _namespace(self, name: str) -> str:
        base = "" if name.startswith("/") else self.variables.get(NAMESPACE, "")
        joined = "/".join(part for part in (base.strip("/"), name.strip("/")) if part)
        return f"/{joined}" if joined else ""

    def include(self, element: ElementTree.Element) -> None:
        """Read another launch file in this scope, as stock launch does."""
        target = Path(self._take(element, set(), ("file",))["file"])
        for child in element:
            if child.tag != "arg":
                raise LaunchError(f"<{child.tag}> inside <include> is not supported here")
            values = self._take(child, set(), ("name", "value"))
            self.variables[values["name"]] = values["value"]
        self.file(target)

    def executable(self, element: ElementTree.Element) -> None:
        """Ask for a plain process."""
        values = self._take(element, {"name"}, ("cmd", "output"))
        self._screen(values["output"])
        command = self._words(element.attrib["cmd"])
        if shutil.which(command[0], path=self.environment.get("PATH")) is None:
            raise NotInstalled(f"the program '{command[0]}' is not installed here")
        label = values.get("name") or os.path.basename(command[0])
        self.plan.processes.append(Process(label, tuple(command)))

    def node(self, element: ElementTree.Element) -> None:
        """Ask for a ROS node."""
        values = self._take(element, {"name", "namespace", "args"}, ("pkg", "exec", "output"))
        self._screen(values["output"])
        program = find_executable(values["pkg"], values["exec"], self.environment)
        command = [str(program), *self._words(element.get("args", "")), "--ros-args"]
        if "name" in values:
            command += ["-r", f"__node:={values['name']}"]
        namespace = self._namespace(values.get("namespace", ""))
        if namespace:
            command += ["-r", f"__ns:={namespace}"]
        parameters: list[dict[str, Any]] = []
        for child in element:
            if child.tag == "remap":
                remap = self._take(child, set(), ("from", "to"))
                command += ["-r", f"{remap['from']}:={remap['to']}"]
            elif child.tag == "param" and "from" in child.attrib:
                path = self._take(child, set(), ("from",))["from"]
                if not os.path.isfile(path):
                    raise LaunchError(f"parameter file {path} does not exist")
                command += ["--params-file", path]
            elif child.tag == "param":
                parameters.append(self._parameter(child))
            else:
                raise LaunchError(f"<{child.tag}> inside <node> is not supported here")
        label = values.get("name", values["exec"])
        self.plan.processes.append(Process(label, tuple(command), tuple(parameters)))

    def _parameter(self, element: ElementTree.Element) -> dict[str, Any]:
        values = self._take(element, {"type"}, ("name", "value"))
        kind = values.get("type")
        if kind == "str":
            return {values["name"]: values["value"]}
        if kind is not None:
            raise LaunchError(f"parameter type {kind!r} is not supported here; use str or none")
        return {values["name"]: yaml.safe_load(values["value"])}

    @staticmethod
    def _screen(output: str) -> None:
        if output != "screen":
            raise LaunchError(f'output="{output}" is not supported here; use output="screen"')


TRUTH = {"true": True, "1": True, "false": False, "0": False}

ELEMENTS: dict[str, Callable[[_Reader, ElementTree.Element], None]] = {
    "arg": _Reader.arg,
    "let": _Reader.let,
    "group": _Reader.group,
    "push_ros_namespace": _Reader.push_ros_namespace,
    "include": _Reader.include,
    "executable": _Reader.executable,
    "node": _Reader.node,
}
PROCESSES = frozenset({"executable", "node"})
PARENTS = frozenset({"launch", "group", "include", "node"})
CONDITIONAL = frozenset({"let", "group", "push_ros_namespace", "include", "executable", "node"})
