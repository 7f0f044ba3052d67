"""Substitutions of stock launch files: `$(var x)`, `$(find-pkg-share p)` and their kin.

The grammar is that of stock `launch`: text with `$(name argument argument)`, an argument being a
bare word, or a template in single or double quotes, each of which may hold further substitutions.
A backslash takes the next character literally.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from launch_runner.errors import LaunchError, NotInstalled


@dataclass(slots=True)
class Scope:
    """What a substitution can see."""

    variables: Mapping[str, str]
    file: Path | None
    """The launch file that is read; None: none is known yet."""
    environment: Mapping[str, str]


def substitute(text: str, scope: Scope) -> str:
    """Return `text` with every substitution performed.

    Raises:
        LaunchError: bad grammar, an unknown substitution, or one that cannot be performed.
    """
    return "".join(value for value, _ in _fragments(text, scope))


def split(text: str, scope: Scope) -> list[str]:
    """Return `text` as the words of a command line.

    As in stock launch, plain text is split like a shell would, and what a substitution gives never
    is: a value with spaces stays one word, an empty one is an empty word.

    Raises:
        LaunchError: as in `substitute`; also for a quote that is open around a substitution.
    """
    words: list[str] = []
    open_word = False
    for value, plain in _fragments(text, scope):
        if not plain:
            if not open_word:
                words.append("")
            words[-1] += value
            open_word = True
            continue
        try:
            tokens = shlex.split(value)
        except ValueError as error:
            raise LaunchError(f"quotes cannot hold a substitution in {text!r}: {error}") from error
        if tokens and open_word and not value[0].isspace():
            words[-1] += tokens.pop(0)
        words += tokens
        open_word = not value[-1].isspace()
    return words


def yaml_value(text: str) -> Any:
    """Return the value of a parameter.

    Raises:
        LaunchError: it is not YAML.
    """
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise LaunchError(f"the value {text!r} is not YAML: {error}") from error


def _fragments(text: str, scope: Scope) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a template: the value, and whether it is plain text."""
    plain: list[str] = []
    at = 0
    while at < len(text):
        if text.startswith("$(", at):
            if plain:
                yield "".join(plain), True
                plain.clear()
            value, at = _substitution(text, at + 2, scope)
            yield value, False
        else:
            character, at = _character(text, at)
            plain.append(character)
    if plain:
        yield "".join(plain), True


def unescape(text: str) -> str:
    """Return plain text, in which a backslash takes the next character literally."""
    return re.sub(r"\\(.)", r"\1", text)


def _character(text: str, at: int) -> tuple[str, int]:
    """Read one character; a backslash takes the next one literally."""
    if text[at] == "\\" and at + 1 < len(text):
        return text[at + 1], at + 2
    return text[at], at + 1


def _substitution(text: str, start: int, scope: Scope) -> tuple[str, int]:
    at = start
    while at < len(text) and (text[at].isalnum() or text[at] in "-_"):
        at += 1
    name = text[start:at]
    arguments: list[str] = []
    while at < len(text) and text[at] == " ":
        value, at = _argument(text, at + 1, scope)
        arguments.append(value)
    if at >= len(text) or text[at] != ")":
        raise LaunchError(f"missing ) in {text!r}")
    if name not in SUBSTITUTIONS:
        raise LaunchError(
            f"$({name} …) is not supported here; supported: {', '.join(sorted(SUBSTITUTIONS))}"
        )
    (least, most), perform = SUBSTITUTIONS[name]
    if not least <= len(arguments) <= most:
        raise LaunchError(f"$({name} …) takes {least} to {most} arguments: {text!r}")
    return perform(arguments, scope), at + 1


def _argument(text: str, start: int, scope: Scope) -> tuple[str, int]:
    """Read one argument of a substitution: a quoted template, or a bare word."""
    quote = text[start] if start < len(text) and text[start] in "'\"" else ""
    out: list[str] = []
    at = start + len(quote)
    while at < len(text) and text[at] not in (quote or " )"):
        if text.startswith("$(", at):
            value, at = _substitution(text, at + 2, scope)
        else:
            value, at = _character(text, at)
        out.append(value)
    if quote:
        if at >= len(text):
            raise LaunchError(f"missing {quote} in {text!r}")
        return "".join(out), at + 1
    if at == start:
        raise LaunchError(f"empty argument in {text!r}")
    return "".join(out), at


def find_share(package: str, environment: Mapping[str, str]) -> Path:
    """Return the share folder of an installed package, by AMENT_PREFIX_PATH."""
    return find_prefix(package, environment) / "share" / package


def find_prefix(package: str, environment: Mapping[str, str]) -> Path:
    """Return the install prefix of a package.

    Raises:
        NotInstalled: the package is in no prefix.
    """
    marker = Path("share/ament_index/resource_index/packages") / package
    for prefix in environment.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if prefix and (Path(prefix) / marker).is_file():
            return Path(prefix)
    raise NotInstalled(f"package '{package}' is not installed here")


def find_executable(package: str, name: str, environment: Mapping[str, str]) -> Path:
    """Return the executable `name` of an installed package."""
    path = find_prefix(package, environment) / "lib" / package / name
    if not os.access(path, os.X_OK):
        raise NotInstalled(f"package '{package}' has no executable '{name}'")
    return path


def _variable(arguments: list[str], scope: Scope) -> str:
    name = arguments[0]
    if name in scope.variables:
        return scope.variables[name]
    if len(arguments) > 1:
        return arguments[1]
    raise LaunchError(f"$(var {name}): no such argument or variable is set at this point")


def _environment(arguments: list[str], scope: Scope) -> str:
    name = arguments[0]
    if name in scope.environment:
        return scope.environment[name]
    if len(arguments) > 1:
        return arguments[1]
    raise LaunchError(f"$(env {name}): the environment variable is not set")


def _command(arguments: list[str], scope: Scope) -> str:
    try:
        words = shlex.split(arguments[0])
    except ValueError as error:
        raise LaunchError(f"$(command …): {error}: {arguments[0]}") from error
    if not words:
        raise LaunchError("$(command …) names no program")
    try:
        result = subprocess.run(
            words, capture_output=True, text=True, check=False, env=dict(scope.environment)
        )
    except OSError as error:
        raise LaunchError(f"$(command …): cannot run {words[0]}: {error.strerror}") from error
    if result.returncode != 0 or result.stderr:
        raise LaunchError(
            f"$(command …) failed with status {result.returncode}: {arguments[0]}\n"
            f"{result.stderr.strip()}"
        )
    return result.stdout


def _folder(arguments: list[str], scope: Scope) -> str:
    if scope.file is None:
        raise LaunchError("$(dirname): no file is known yet")
    return str(scope.file.parent)


def _evaluate(arguments: list[str], scope: Scope) -> str:
    """Evaluate a Python expression: a launch file is a program of whoever starts it."""
    try:
        return str(eval(arguments[0], {}, dict(vars(math))))
    except Exception as error:
        raise LaunchError(f"$(eval …): {error}: {arguments[0]}") from error


SUBSTITUTIONS: dict[str, tuple[tuple[int, int], Callable[[list[str], Scope], str]]] = {
    "var": ((1, 2), _variable),
    "env": ((1, 2), _environment),
    "dirname": ((0, 0), _folder),
    "eval": ((1, 1), _evaluate),
    "find-pkg-share": ((1, 1), lambda a, scope: str(find_share(a[0], scope.environment))),
    "exec-in-pkg": ((2, 2), lambda a, scope: str(find_executable(a[1], a[0], scope.environment))),
    "command": ((1, 1), _command),
}
"""Name to (least and most number of arguments, how it is performed)."""
