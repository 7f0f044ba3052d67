"""The journal: everything that the core is given, as JSON, in the order in which it is given it.

With the journal the decisions of a run can be taken again. An entry is one JSON object:

* `{"event": E, "now": T}`: the core was given the event E at monotonic time T [s];
* `{"config": C, "state": S, "refusals": R}`: a checkpoint. At this place the core had the
  configuration C and the state S, and had counted the refusals R, so that one may begin here.

A value is written so that it comes back exactly, its type included:

* nothing, truth values, strings, whole numbers and finite floats as JSON has them (a float has a
  point or an exponent, and as many digits as tell it from its neighbours);
* other floats as `{"float": "inf"}`, `"-inf"` or `"nan"`;
* tuples as lists, dictionaries as `{"dict": [[key, value], ...]}`;
* members of enumerations as `{"Activity": "STILL"}`;
* records as `{"Heartbeat": {"source": "teleop", ...}}`, all their fields by name.

What is read back may be anything: only what an event, a configuration or a state can hold is ever
made of it.
"""

from __future__ import annotations

import enum
import json
import math
import typing
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from reach_alpha5_arbiter.config import ArbiterConfig
from reach_alpha5_arbiter.driver import ArmCondition
from reach_alpha5_arbiter.events import Event
from reach_alpha5_arbiter.state import State
from reach_alpha5_common.command import ArmInput, Pose
from reach_alpha5_common.refusal import Refusals

INFINITE = ("inf", "-inf", "nan")


class EntryError(ValueError):
    """What was read is no entry of a journal of this version."""


@dataclass(frozen=True, slots=True)
class Happened:
    """The core was given an event."""

    event: Event
    now: float
    """Monotonic time [s]."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How the core was at this place."""

    config: ArbiterConfig
    state: State
    refusals: Refusals


@dataclass(frozen=True, slots=True)
class Batch:
    """Entries that follow each other."""

    first: int
    """Number of the first one, from 0."""
    entries: list[str]


class Journal:
    """Gathers entries and numbers them; whoever owns it takes and publishes them.

    While nobody reads it, entries are counted but not made. Who reads it later sees by the numbers
    that some are missing, and begins at the next checkpoint.
    """

    def __init__(self) -> None:
        self.is_read = False
        """Whether anybody reads it."""
        self._first = 0
        self._entries: list[str] = []

    def heard(self, event: Event, now: float) -> None:
        """Take that the core was given `event` at monotonic time `now` [s]."""
        if self.is_read:
            self._entries.append(happened(event, now))
        else:
            # What gathered for a reader who has left is lost with it, since it is not whole.
            self._first += len(self._entries) + 1
            self._entries = []

    def checkpoint(self, config: ArbiterConfig, state: State, refusals: Refusals) -> None:
        """Take how the core is after the last event that was heard."""
        if self.is_read:
            self._entries.append(checkpoint(config, state, refusals))

    def __len__(self) -> int:
        return len(self._entries)

    def take(self) -> Batch:
        """Return what has gathered, and gather anew."""
        batch = Batch(self._first, self._entries)
        self._first += len(batch.entries)
        self._entries = []
        return batch


def happened(event: Event, now: float) -> str:
    """Return the entry of an event."""
    return _dump({"event": plain(event), "now": plain(now)})


def checkpoint(config: ArbiterConfig, state: State, refusals: Refusals) -> str:
    """Return the entry of a checkpoint."""
    return _dump({"config": plain(config), "state": plain(state), "refusals": plain(refusals)})


def read(entry: str) -> Happened | Checkpoint:
    """Return what an entry says.

    Raises:
        EntryError: it is none, or one of another version.
    """
    try:
        content = json.loads(entry, parse_constant=_no_number)
        if not isinstance(content, dict):
            raise EntryError("it is not an object")
        values = {key: value(content[key]) for key in content}
    except RecursionError:
        raise EntryError("it is nested too deep") from None
    except json.JSONDecodeError as error:
        raise EntryError(f"it is not JSON: {error}") from None
    match values:
        case {"event": event, "now": float(now)} if isinstance(event, Event):
            return Happened(event, now)
        case {
            "config": ArbiterConfig() as config,
            "state": State() as state,
            "refusals": Refusals() as refusals,
        }:
            return Checkpoint(config, state, refusals)
    raise EntryError(f"it has {', '.join(content) or 'nothing'}, and that is no entry")


def plain(what: Any) -> Any:
    """Return a value as JSON has it.

    Raises:
        TypeError: it is, or holds, something that no event, configuration or state can hold.
    """
    kind = type(what)
    if kind in _AS_IT_IS:
        return what
    if kind is float:
        return what if math.isfinite(what) else {"float": str(what)}
    if kind is tuple:
        # Most of a long goal are floats.
        return [
            item if type(item) is float and math.isfinite(item) else plain(item) for item in what
        ]
    names = _FIELDS.get(kind)
    if names is not None:
        return {kind.__name__: {name: plain(getattr(what, name)) for name in names}}
    if kind in _ENUMS:
        return {kind.__name__: what.name}
    if kind is dict:
        return {"dict": [[plain(key), plain(item)] for key, item in what.items()]}
    raise TypeError(f"a {kind.__qualname__} has no place in a journal")


def value(what: Any) -> Any:
    """Return the value that `plain` made `what` of.

    Raises:
        EntryError: it was not made by it, or by another version.
    """
    if type(what) is list:
        return tuple(value(item) for item in what)
    if type(what) is not dict:
        return what
    if len(what) != 1:
        raise EntryError(f"an object has {len(what)} members instead of one")
    ((name, content),) = what.items()
    try:
        if name == "float" and content in INFINITE:
            return float(content)
        if name == "dict":
            return {value(key): value(item) for key, item in content}
        kind = _CLASSES[name]
        if kind in _ENUMS:
            return kind[content]
        if set(content) != set(_FIELDS[kind]):
            differ = ", ".join(sorted(set(content) ^ set(_FIELDS[kind])))
            raise EntryError(f"{name} of another version: it differs in {differ}")
        return kind(**{field: value(item) for field, item in content.items()})
    except EntryError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise EntryError(f"not known here: {name} of {content!r:.80} ({error!r})") from None


def _dump(content: dict[str, Any]) -> str:
    return json.dumps(content, separators=(",", ":"), allow_nan=False)


def _no_number(name: str) -> None:
    raise EntryError(f"{name} is no number of JSON")


def kinds() -> Iterator[Any]:
    """Yield the records and enumerations that an entry can hold."""
    # Members of the last three stand for numbers in commands and reports: nothing names them.
    hint = Event | ArbiterConfig | State | Refusals | ArmInput | Pose | ArmCondition
    yield from _held_by(hint, set())


def _held_by(hint: Any, seen: set[Any]) -> Iterator[Any]:
    if hint in seen:
        return
    seen.add(hint)
    for part in typing.get_args(hint):
        yield from _held_by(part, seen)
    if not isinstance(hint, type):
        return
    if is_dataclass(hint) or hasattr(hint, "_fields"):
        yield hint
        for part in typing.get_type_hints(hint).values():
            yield from _held_by(part, seen)
    elif issubclass(hint, enum.Enum):
        yield hint


_AS_IT_IS = frozenset({type(None), bool, int, str})
_CLASSES: dict[str, Any] = {kind.__name__: kind for kind in kinds()}
_ENUMS = frozenset(kind for kind in _CLASSES.values() if issubclass(kind, enum.Enum))
_FIELDS: dict[Any, tuple[str, ...]] = {
    kind: tuple(f.name for f in fields(kind)) if is_dataclass(kind) else kind._fields
    for kind in _CLASSES.values()
    if kind not in _ENUMS
}
