"""The arguments of a launch file and of what it includes, found without running any of it.

As in stock launch: the first declaration of a name counts, what stands under a condition is told
whether the condition holds or not, and an included file is looked into where its path can be known
without the value of any argument.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path

from launch_runner.errors import LaunchError
from launch_runner.plan import Argument
from launch_runner.substitution import Scope, substitute, unescape


def parse(path: Path) -> ElementTree.Element:
    """Return the root element of a launch file.

    Raises:
        LaunchError: it cannot be read, or is no launch file.
    """
    try:
        root = ElementTree.parse(path).getroot()
    except OSError as error:
        raise LaunchError(f"cannot read {path}: {error.strerror}") from error
    except ElementTree.ParseError as error:
        raise LaunchError(f"{path}: not well-formed XML: {error}") from error
    if root.tag != "launch":
        raise LaunchError(f"{path}: the root element is <{root.tag}>, it must be <launch>")
    return root


def declared(element: ElementTree.Element, *, conditional: bool = False) -> Argument:
    """Return the argument that an <arg> declares; name and description hold no substitutions."""
    description = unescape(element.get("description", ""))
    values = choices(element)
    if values:
        description = f"{description.removesuffix('.')}. Valid choices are: {', '.join(values)}"
    name = unescape(element.get("name", ""))
    return Argument(name, element.get("default"), description, conditional)


def choices(element: ElementTree.Element) -> list[str]:
    """Return the values that an <arg> may have; empty: any."""
    return [unescape(child.get("value", "")) for child in element if child.tag == "choice"]


def describe(path: Path, environment: Mapping[str, str]) -> list[Argument]:
    """Return every argument of a launch file, in the order in which they are declared.

    Raises:
        LaunchError: the file cannot be read.
    """
    found: dict[str, Argument] = {}
    _describe(parse(path), environment, found, conditional=False)
    return list(found.values())


def _describe(
    parent: ElementTree.Element,
    environment: Mapping[str, str],
    found: dict[str, Argument],
    *,
    conditional: bool,
) -> None:
    for element in parent:
        under_condition = conditional or "if" in element.attrib or "unless" in element.attrib
        if element.tag == "arg":
            argument = declared(element, conditional=under_condition)
            found.setdefault(argument.name, argument)
        elif element.tag == "group":
            _describe(element, environment, found, conditional=under_condition)
        elif element.tag == "include":
            try:
                target = substitute(element.get("file", ""), Scope({}, None, environment))
            except LaunchError:
                continue
            _describe(parse(Path(target)), environment, found, conditional=under_condition)
