"""What a replay says against what was recorded. Pure.

A bag is in the order of arrival, and its topics overtake each other a little. The one clock used
here is therefore the count of journal messages read since the replay began where it is: what was
recorded must be found in the replay before some more of them are read. Whatever lies outside of
what the journal covers is counted and not judged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from typing import Any, cast

from reach_alpha5_arbiter.events import Event
from reach_alpha5_arbiter.snapshot import Snapshot

Plain = dict[str, Any]
"""A message as dictionaries, lists and single values; times and ages are left out."""

SETTLED = 5
"""Journal messages after which all that was published before is read, half a second or so."""
SETTLED_AT_END = 2
"""The same at the end of a bag: better the end is judged a little too soon than not."""
MAX_KEPT = 4096
"""Commands and states of either side that are kept while the other side is not there."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Where in the run the replay is."""

    now: float
    """Monotonic time [s], exact."""
    wall: float
    """Seconds since the epoch, to about a tick of the arbiter."""
    event: Event | None
    """What was heard then; None = the replay began here."""


@dataclass(frozen=True, slots=True)
class Part:
    """One value that differs."""

    path: str
    live: object
    replayed: object


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that the replay does not say as the live run did."""

    what: str
    moment: Moment
    parts: tuple[Part, ...]


MISSING = "nothing"
"""Stands for what one side has not."""


def differing(live: object, replayed: object, path: str = "") -> Iterator[Part]:
    """Yield the values in which two plain things differ; a NaN is the same as a NaN."""
    if isinstance(live, dict) and isinstance(replayed, dict):
        for key in live | replayed:
            name = f"{path}.{key}" if path else str(key)
            yield from differing(live.get(key, MISSING), replayed.get(key, MISSING), name)
    elif isinstance(live, list) and isinstance(replayed, list) and len(live) == len(replayed):
        for index, pair in enumerate(zip(live, replayed, strict=True)):
            yield from differing(*pair, f"{path}[{index}]")
    # As they are written: 0.0 and -0.0, 1 and 1.0 are not the same decision.
    elif repr(live) != repr(replayed):
        yield Part(path, live, replayed)


@cache
def is_time(name: str) -> bool:
    """Say whether the field `name` of a message or a snapshot is a time or an age.

    These depend on when the live arbiter was asked, and decide nothing.
    """
    return name in ("at", "stamp", "elapsed") or name.endswith(("_at", "_stamp", "_age"))


def changes(before: Any, after: Any, path: str = "") -> Iterator[Part]:
    """Yield what differs between two snapshots, but for times."""
    if before is after:
        return
    names = _lasting(cast(Any, type(before)))
    if names and type(before) is type(after):
        for name in names:
            inner = f"{path}.{name}" if path else name
            yield from changes(getattr(before, name), getattr(after, name), inner)
    elif isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after, strict=True)):
            named = getattr(pair[1], "config", pair[1])
            yield from changes(*pair, f"{path}[{getattr(named, 'name', str(index))}]")
    elif before != after and (before == before or after == after):
        yield Part(path, before, after)


@cache
def _lasting(kind: type) -> tuple[str, ...]:
    """Return the fields of a record that are no times; of anything else, none."""
    if not is_dataclass(kind):
        return ()
    return tuple(field.name for field in fields(kind) if not is_time(field.name))


Report = Callable[[Difference], None]


class Commands:
    """The commands to the driver: found by their number, and compared."""

    def __init__(self, report: Report) -> None:
        self.compared = 0
        self.unrecorded = 0
        """Sent by the replay, and by the live run as its later numbers tell; not in the bag."""
        self.uncovered = 0
        """Recorded where there is no journal."""
        self._report = report
        self._last = 0
        self._replayed: dict[int, tuple[Plain, Moment]] = {}
        self._recorded: dict[int, tuple[Plain, int]] = {}

    def begin(self, number: int) -> None:
        """Begin after the command `number`."""
        self._last = number
        self._replayed.clear()
        old = [earlier for earlier in self._recorded if earlier <= number]
        self.uncovered += len(old)
        for earlier in old:
            del self._recorded[earlier]
        # As if read before the journal's first message: they may be of an arbiter before this one.
        self._recorded = {later: (live, 0) for later, (live, _) in self._recorded.items()}

    def replayed(self, command: Plain, moment: Moment) -> None:
        """Take a command that the replay sends."""
        number = self._last = command["sequence"]
        self._replayed[number] = command, moment
        if number in self._recorded:
            self._compare(number, self._recorded.pop(number)[0])
        elif len(self._replayed) > MAX_KEPT:
            del self._replayed[next(iter(self._replayed))]
            self.unrecorded += 1

    def recorded(self, command: Plain, place: int) -> None:
        """Take a command of the bag, read after `place` messages of the journal."""
        number = command["sequence"]
        if number in self._replayed:
            self._compare(number, command)
            return
        self._recorded[number] = command, place
        if len(self._recorded) > MAX_KEPT:
            del self._recorded[next(iter(self._recorded))]
            self.uncovered += 1

    def settle(self, place: int, margin: int, moment: Moment) -> None:
        """Judge what was read `margin` messages of the journal ago, or earlier."""
        due = [n for n, (_, at) in self._recorded.items() if place - at >= margin]
        for number in due:
            live, at = self._recorded.pop(number)
            if at and number > self._last:
                parts = tuple(differing(live, {}))
                self._report(Difference(f"driver_command {number}", moment, parts))
            else:
                self.uncovered += 1

    def end(self) -> None:
        """Count what nothing more is heard of."""
        self.unrecorded += len(self._replayed)
        self.uncovered += len(self._recorded)

    def _compare(self, number: int, live: Plain) -> None:
        command, moment = self._replayed.pop(number)
        # They are recorded in order, so that what has a lower number does not come any more.
        lost = [earlier for earlier in self._replayed if earlier < number]
        self.unrecorded += len(lost)
        for earlier in lost:
            del self._replayed[earlier]
        self.compared += 1
        if parts := tuple(differing(live, command)):
            self._report(Difference(f"driver_command {number}", moment, parts))


class _Shown:
    """A state of the replay."""

    def __init__(self, snapshot: Snapshot, moment: Moment, wire: Callable[[Snapshot], Plain]):
        self.moment = moment
        self._snapshot = snapshot
        self._wire = wire

    @cached_property
    def plain(self) -> Plain:
        """As a message. Not each state is asked for it."""
        return self._wire(self._snapshot)

    @cached_property
    def text(self) -> str:
        """The message as text: quick to compare."""
        return repr(self.plain)


class States:
    """The states that others see: each recorded one must be one of the replay's, in order.

    A publisher that keeps the last state only may lose one that is followed at once by another, so
    that not each state of the replay need be in the bag.
    """

    def __init__(self, report: Report, wire: Callable[[Snapshot], Plain]) -> None:
        self.compared = 0
        self.uncovered = 0
        self._report = report
        self._wire = wire
        self._replayed: deque[_Shown] = deque(maxlen=MAX_KEPT)
        self._recorded: deque[tuple[Plain, int]] = deque()

    def begin(self, snapshot: Snapshot, moment: Moment) -> None:
        """Begin at this state."""
        self.uncovered += len(self._recorded)
        self._recorded.clear()
        self._replayed.clear()
        self.replayed(snapshot, moment)

    def replayed(self, snapshot: Snapshot, moment: Moment) -> None:
        """Take the state of the replay after an event."""
        self._replayed.append(_Shown(snapshot, moment, self._wire))

    def recorded(self, state: Plain, place: int) -> None:
        """Take a state of the bag, read after `place` messages of the journal."""
        self._recorded.append((state, place))
        if len(self._recorded) > MAX_KEPT:
            self._recorded.popleft()
            self.uncovered += 1

    def settle(self, place: int, margin: int) -> None:
        """Find what was recorded, and judge what is not found and is due."""
        while self._recorded:
            live, at = self._recorded[0]
            place_of = self._find(live)
            if place_of is not None:
                self.compared += 1
            elif place - at < margin:
                return
            # What came before the second message may have been published before the first.
            elif at > 1:
                self.compared += 1
                place_of = self._nearest(live)
                shown = self._replayed[place_of]
                parts = tuple(differing(live, shown.plain))
                self._report(Difference("arbiter_state", shown.moment, parts))
            else:
                self.uncovered += 1
            for _ in range(place_of or 0):
                self._replayed.popleft()
            self._recorded.popleft()

    def end(self) -> None:
        """Count what nothing more is heard of."""
        self.uncovered += len(self._recorded)

    def _find(self, live: Plain) -> int | None:
        text = repr(live)
        for index, shown in enumerate(self._replayed):
            if shown.text == text:
                return index
        return None

    def _nearest(self, live: Plain) -> int:
        apart = [sum(1 for _ in differing(live, shown.plain)) for shown in self._replayed]
        return apart.index(min(apart))
