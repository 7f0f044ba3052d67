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

from launch_runner.description import choices, declared, describe, parse
from launch_runner.errors import LaunchError, NotInstalled
from launch_runner.plan import Plan, Process
from launch_runner.substitution import Scope, find_executable, split, substitute, yaml_value

NAMESPACE = "ros_namespace"
"""Variable that carries the namespace pushed so far, as in stock launch."""


def read(
    file: Path,
    given: Mapping[str, str],
    environment: Mapping[str, str],
) -> Plan:
    """Read `file` with the arguments `given` on the command line.

    Args:
        file: the launch file.
        given: arguments, name to value.
        environment: variables, AMENT_PREFIX_PATH among them.

    Raises:
        LaunchError: the file, an argument or something it needs is wrong.
    """
    reader = _Reader(dict(given), environment)
    reader.file(file, frozenset(given))
    names = reader.declared | {argument.name for argument in describe(file, environment)}
    if unknown := sorted(set(given) - names):
        raise LaunchError(
            f"no such argument: {', '.join(unknown)}; there are: {', '.join(sorted(names))}"
        )
    if reader.plan.missing:
        raise NotInstalled("\n".join(reader.plan.missing))
    return reader.plan


@dataclass(slots=True)
class _Reader:
    variables: dict[str, str]
    environment: Mapping[str, str]
    plan: Plan = field(default_factory=Plan)
    path: Path = field(default=Path("."))
    given: frozenset[str] = frozenset()
    """Arguments that the present file was given, by the command line or by its <include>."""
    remaps: list[str] | None = None
    """Words of a command line, for each node that follows in this scope. As in stock launch a
    scope that has some from outside shares the list: what it adds stays."""
    settings: list[str] | None = None
    """The same for parameters."""
    switches: tuple[str, ...] = ()
    """Arguments that have to be true for the elements around the present one, inmost last."""
    declared: set[str] = field(default_factory=set)
    """Names of the arguments that were come across."""

    def file(self, path: Path, given: frozenset[str]) -> None:
        """Read one launch file in the present scope."""
        root = parse(path)
        outer = self.path, self.given
        self.path, self.given = path, given
        try:
            self._take(root, set())
            self._children(root)
        except LaunchError as error:
            place = f"{path.name}: "
            text = str(error)
            raise LaunchError(text if text.startswith(place) else place + text) from error
        finally:
            self.path, self.given = outer

    def _children(self, parent: ElementTree.Element) -> None:
        for element in parent:
            if element.tag not in ELEMENTS:
                raise LaunchError(
                    f"<{element.tag}> is not supported here; supported: "
                    + ", ".join(f"<{tag}>" for tag in sorted(ELEMENTS))
                )
            if not self._wanted(element):
                continue
            outer = self.switches
            if switch := re.fullmatch(r"\$\(var (\w+)\)", element.get("if", "")):
                self.switches = (*outer, switch[1])
            try:
                ELEMENTS[element.tag](self, element)
            except NotInstalled as error:
                if element.tag not in PROCESSES:
                    raise
                line = f"{self.path.name}: {error}; {self._way_out()}"
                if line not in self.plan.missing:
                    self.plan.missing.append(line)
            finally:
                self.switches = outer

    def _way_out(self) -> str:
        """Say what to do about something that the present element needs and is not installed."""
        without = (
            f"start without it: {self.switches[-1]}:=false"
            if self.switches
            else "build it: make build"
        )
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
        if {"if", "unless"} <= set(element.attrib):
            raise LaunchError(f"<{element.tag}> has if= and unless=; it may have one of them")
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
        for child in element:
            if child.tag != "choice":
                raise LaunchError(f"<{child.tag}> inside <arg> is not supported here")
            self._take(child, set(), ("value",))
        self._take(element, {"default", "description"}, ("name",))
        argument = declared(element)
        name = argument.name
        self.declared.add(name)
        if argument.default is None and name not in self.given:
            # Stock launch demands it of the <include>, even where the name is set outside.
            raise LaunchError(f"argument '{name}' must be given: {name}:=…")
        if name not in self.variables:
            self.variables[name] = self._text(argument.default or "")
        allowed = choices(element)
        if allowed and self.variables[name] not in allowed:
            raise LaunchError(
                f"argument '{name}' is {self.variables[name]!r}; it must be one of "
                + ", ".join(allowed)
            )

    def let(self, element: ElementTree.Element) -> None:
        """Set a variable."""
        values = self._take(element, set(), ("name", "value"))
        self.variables[values["name"]] = values["value"]

    def group(self, element: ElementTree.Element) -> None:
        """Read the children in a scope of their own."""
        self._take(element, set())
        saved = dict(self.variables), self.remaps, self.settings
        self._children(element)
        self.variables, self.remaps, self.settings = saved

    def push_ros_namespace(self, element: ElementTree.Element) -> None:
        """Put everything that follows in this scope under a namespace."""
        name = self._take(element, set(), ("namespace",))["namespace"]
        self.variables[NAMESPACE] = self._namespace(name)

    def _namespace(self, name: str) -> str:
        base = "" if name.startswith("/") else self.variables.get(NAMESPACE, "")
        parts = [part for part in (base.strip("/"), name.rstrip("/").removeprefix("/")) if part]
        joined = "/".join(parts)
        for token in joined.split("/") if joined else ():
            if not TOKEN.fullmatch(token):
                raise LaunchError(
                    f"namespace {name!r}: {token!r} must be letters, digits and _, and not begin "
                    "with a digit"
                )
        return f"/{joined}"

    def set_remap(self, element: ElementTree.Element) -> None:
        """Give a topic another name in every node that follows in this scope."""
        if self.remaps is None:
            self.remaps = []
        self.remaps += self._remap(element)

    def set_parameter(self, element: ElementTree.Element) -> None:
        """Give a parameter to every node that follows in this scope."""
        values = self._take(element, set(), ("name", "value"))
        if self.settings is None:
            self.settings = []
        self.settings += ["-p", f"{values['name']}:={yaml_value(values['value'])}"]

    def _remap(self, element: ElementTree.Element) -> tuple[str, str]:
        names = self._take(element, set(), ("from", "to"))
        return "-r", f"{names['from']}:={names['to']}"

    def include(self, element: ElementTree.Element) -> None:
        """Read another launch file in this scope, as stock launch does.

        So its variables are seen afterwards, and it sees those of here: an <arg> of its own
        that has the name of one of them has that value. A <group> around it keeps them apart.
        """
        target = Path(self._take(element, set(), ("file",))["file"])
        passed = []
        for child in element:
            if child.tag != "arg":
                raise LaunchError(f"<{child.tag}> inside <include> is not supported here")
            values = self._take(child, set(), ("name", "value"))
            self.variables[values["name"]] = values["value"]
            passed.append(values["name"])
        self.file(target, frozenset(passed))

    def executable(self, element: ElementTree.Element) -> None:
        """Ask for a plain process."""
        values = self._take(element, {"name"}, ("cmd", "output"))
        self._screen(values["output"])
        command = self._words(element.attrib["cmd"])
        program = command[0] if command else ""
        if shutil.which(program, path=self.environment.get("PATH")) is None:
            raise NotInstalled(f"the program '{program}' is not installed here")
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
        if "namespace" in values or NAMESPACE in self.variables:
            command += ["-r", f"__ns:={self._namespace(values.get('namespace', ''))}"]
        command += [*(self.settings or ()), *(self.remaps or ())]
        parameters: list[dict[str, Any]] = []
        for child in element:
            if child.tag == "remap":
                command += self._remap(child)
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
        return {values["name"]: yaml_value(values["value"])}

    @staticmethod
    def _screen(output: str) -> None:
        if output != "screen":
            raise LaunchError(f'output="{output}" is not supported here; use output="screen"')


TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
TRUTH = {"true": True, "1": True, "false": False, "0": False}

ELEMENTS: dict[str, Callable[[_Reader, ElementTree.Element], None]] = {
    "arg": _Reader.arg,
    "let": _Reader.let,
    "group": _Reader.group,
    "push_ros_namespace": _Reader.push_ros_namespace,
    "set_parameter": _Reader.set_parameter,
    "set_remap": _Reader.set_remap,
    "include": _Reader.include,
    "executable": _Reader.executable,
    "node": _Reader.node,
}
PROCESSES = frozenset({"executable", "node"})
PARENTS = frozenset({"launch", "arg", "group", "include", "node"})
CONDITIONAL = frozenset(ELEMENTS) - {"arg"}
