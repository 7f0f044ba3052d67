"""The record profile: which topics a recording of a dive holds, and how it is cut into files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from reach_alpha5_bags.names import resolve

USUAL_DEPTH = 10


class ProfileError(ValueError):
    """The profile is not one; the text says what is wrong where."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A topic, or a pattern of topics, of the profile."""

    name: str
    """Relative to the namespace of an arm, or with a slash before it; * is any one name."""
    depth: int = USUAL_DEPTH
    """Messages that may wait for the recorder."""
    latched: bool = False
    """Its publishers keep the newest message for whoever comes late."""
    shows: bool = False
    """It asks for nothing, so that it may be played back."""

    @property
    def is_pattern(self) -> bool:
        """Say whether it is more than one topic."""
        return "*" in self.name


@dataclass(frozen=True, slots=True)
class Profile:
    """What to record, and how."""

    arm: tuple[Entry, ...]
    """In the namespace of each arm."""
    shared: tuple[Entry, ...]
    max_file_size: int
    """[bytes]"""
    max_file_duration: int
    """[s]"""
    flush_period: float
    """[s]"""
    keep_free: int
    """[bytes]"""
    max_waiting: int
    """[bytes]"""

    def entries(self, namespaces: Iterable[str]) -> dict[str, Entry]:
        """Return all entries by full name, patterns as such."""
        full = {resolve(namespace, e.name): e for namespace in namespaces for e in self.arm}
        return full | {e.name: e for e in self.shared}


@dataclass(frozen=True, slots=True)
class Selection:
    """The topics of some arms that a profile wants recorded.

    Args:
        entries: by full name.
    """

    entries: Mapping[str, Entry]
    _patterns: list[tuple[re.Pattern[str], Entry]] = field(init=False)

    def __post_init__(self) -> None:
        patterns = [(re.compile(pattern(name)), e) for name, e in self.entries.items()]
        object.__setattr__(self, "_patterns", patterns)

    def find(self, topic: str) -> Entry | None:
        """Return the entry of a topic, or None if the topic is not to be recorded."""
        return next((e for expression, e in self._patterns if expression.match(topic)), None)

    def expression(self) -> str:
        """Return a regular expression of all topics, in the syntax that ECMAScript shares."""
        return "|".join(pattern(name) for name in self.entries)

    def overrides(self) -> dict[str, dict[str, Any]]:
        """Return the QoS overrides for `ros2 bag record`.

        Of the topics that it cannot find right by itself: it subscribes with the durability and
        the reliability of the publishers, as long as one is there, and always with the usual
        depth. Patterns are not possible in such a file.
        """
        return {
            name: {
                "history": "keep_last",
                "depth": e.depth,
                "reliability": "reliable",
                "durability": "transient_local" if e.latched else "volatile",
            }
            for name, e in self.entries.items()
            if not e.is_pattern and (e.latched or e.depth != USUAL_DEPTH)
        }


def pattern(name: str) -> str:
    """Return the regular expression of a full name in which * is any one name."""
    return "^" + "[^/]+".join(re.escape(part) for part in name.split("*")) + "$"


def read_profile(text: str) -> Profile:
    """Read a profile.

    Raises:
        ProfileError: it is none.
    """
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ProfileError(f"not YAML: {error}") from None
    if not isinstance(content, dict):
        raise ProfileError("not a table of settings")
    wanted = set(Profile.__dataclass_fields__)
    if wrong := sorted({str(key) for key in content} ^ wanted):
        raise ProfileError(f"missing or unknown: {', '.join(wrong)}")
    numbers = {key: content[key] for key in wanted - {"arm", "shared"}}
    for key, value in numbers.items():
        whole = key != "flush_period"
        kinds = int if whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not 0 < value < math.inf:
            what = "whole number" if whole else "number"
            raise ProfileError(f"{key}: {value!r} is not a {what} above 0")
    return Profile(
        arm=_entries(content["arm"], "arm", is_absolute=False),
        shared=_entries(content["shared"], "shared", is_absolute=True),
        **numbers,
    )


def _entries(content: Any, where: str, *, is_absolute: bool) -> tuple[Entry, ...]:
    if not isinstance(content, dict):
        raise ProfileError(f"{where}: not a table of topics")
    entries = []
    for name, options in content.items():
        place = f"{where}: {name}"
        if not isinstance(name, str) or not isinstance(options, dict):
            raise ProfileError(f"{place}: not a topic with its options in braces")
        if name.startswith("/") != is_absolute:
            raise ProfileError(
                f"{place}: a topic that all share begins with a slash, and one of an arm does not"
            )
        if unknown := sorted(set(options) - {"depth", "latched", "shows"}):
            raise ProfileError(f"{place}: unknown option {unknown[0]}")
        depth = options.get("depth", USUAL_DEPTH)
        if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
            raise ProfileError(f"{place}: depth {depth!r} is not a whole number above 0")
        flags = {key: options.get(key, False) for key in ("latched", "shows")}
        if wrong := sorted(key for key, value in flags.items() if not isinstance(value, bool)):
            raise ProfileError(f"{place}: {wrong[0]} is neither true nor false")
        entries.append(Entry(name, depth, **flags))
    return tuple(entries)
