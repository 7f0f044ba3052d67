"""The messages that are installed: their definitions, as a bag carries them, and their classes."""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

SEPARATOR = "=" * 80 + "\n"
"""What stands between a definition and those that it needs, with a line `MSG: package/Name`."""

FIELD = re.compile(r"^\s*([A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+[A-Za-z]\w*", re.MULTILINE)
"""A field, of which the type is the group."""

PRIMITIVES = frozenset(
    ["bool", "byte", "char", "float32", "float64", "string", "wstring"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)


class UnknownMessage(LookupError):
    """A type is not installed."""


def message_class(kind: str) -> Any:
    """Return the class of rclpy's messages of a type, for example of `sensor_msgs/msg/Joy`.

    Raises:
        UnknownMessage: it is not installed.
    """
    package, name = _parts(kind)
    try:
        return getattr(importlib.import_module(f"{package}.msg"), name)
    except (ImportError, AttributeError) as error:
        raise UnknownMessage(f"there is no {kind} on this machine ({error})") from None


@cache
def definition(kind: str) -> str:
    """Return the definition of a type and of all that it needs.

    Args:
        kind: for example `sensor_msgs/msg/Joy`.

    Raises:
        UnknownMessage: it, or one that it needs, is not installed.
    """
    first = _parts(kind)
    texts: dict[tuple[str, str], str] = {}
    todo = [first]
    while todo:
        each = todo.pop(0)
        if each not in texts:
            texts[each] = _text(*each)
            todo += _needs(texts[each], each[0])
    needed = (
        f"{SEPARATOR}MSG: {package}/{name}\n{text}"
        for (package, name), text in texts.items()
        if (package, name) != first
    )
    return "\n".join([texts[first], *needed])


def _parts(kind: str) -> tuple[str, str]:
    """Return package and name of a type."""
    package, _, name = kind.partition("/msg/")
    if not (package.isidentifier() and name.isidentifier()):
        raise UnknownMessage(f"{kind!r} is not the name of a type of messages")
    return package, name


def _needs(text: str, package: str) -> list[tuple[str, str]]:
    """Return package and name of the types of a definition's fields."""
    needed = []
    for kind in FIELD.findall(re.sub(r"#.*", "", text)):
        if kind not in PRIMITIVES:
            parts = str(kind).split("/")
            needed.append((package if len(parts) == 1 else parts[0], parts[-1]))
    return needed


def _text(package: str, name: str) -> str:
    try:
        return Path(get_package_share_directory(package), "msg", f"{name}.msg").read_text()
    except (PackageNotFoundError, ValueError, OSError) as error:
        raise UnknownMessage(
            f"there is no definition of {package}/msg/{name} on this machine ({error})"
        ) from None
