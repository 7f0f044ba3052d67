"""Lanes of a time line: states that last, and events, in bounded memory and counted to the last.

Nothing is dropped. When a lane outgrows its budget, neighbours are folded into one entry that
says how many it stands for, nearest neighbours first; the page tells how many were folded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from reach_alpha5_bags.report.series import rounded

BUDGET = 6000
"""Entries of a lane, at most."""

SILENCE = 2.0
"""Time [s] without a message after which a state is no longer known to last. The states come
several times a second."""

LONGEST_TEXT = 300
"""Characters of a text out of a bag that are kept."""

FIRST_GRAIN = 0.05
"""Time [s] between neighbours that are folded first."""

ALL_ALIKE = 1e5
"""Grain [s] from which on neighbours are folded though they differ: the budget holds whatever
is in the bag."""


def short(text: object) -> str:
    """Return a text, cut where it is too long."""
    whole = str(text)
    return whole if len(whole) <= LONGEST_TEXT else whole[: LONGEST_TEXT - 1] + "…"


@dataclass(frozen=True, slots=True)
class Entry:
    """Something on a lane."""

    begin: float
    end: float
    """[s]; of an event, that of the last one folded into it."""
    label: str
    """A code, an owner, a state."""
    source: str = ""
    """Whose it was."""
    text: str = ""
    """For people."""
    count: int = 1
    """How many it stands for."""
    ways: tuple[str, ...] = ()
    """Further labels folded into it."""


class Lane:
    """Entries in the order of time."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget = budget
        self._entries: list[Entry] = []
        self._grain = FIRST_GRAIN
        self._puts = 0
        self.count = 0
        """Of all that ever happened on it."""
        self.counts: dict[str, int] = {}
        """The same by label; labels beyond the budget are counted together."""

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    @property
    def folded(self) -> int:
        """How many entries were folded into others."""
        return self._puts - len(self._entries)

    def put(self, entry: Entry) -> None:
        """Add what came last."""
        self._puts += 1
        self.count += entry.count
        known = entry.label in self.counts or len(self.counts) < self._budget
        label = entry.label if known else "others"
        self.counts[label] = self.counts.get(label, 0) + entry.count
        self._entries.append(entry)
        while len(self._entries) > self._budget:
            self._fold()

    def _fold(self) -> None:
        """Fold neighbours until half of the budget is free, or the grain has to grow."""
        kept: list[Entry] = []
        for entry in self._entries:
            if kept and self._are_one(kept[-1], entry):
                kept[-1] = _merged(kept[-1], entry)
            else:
                kept.append(entry)
        self._entries = kept
        if len(kept) > self._budget // 2:
            self._grain *= 2.0

    def _are_one(self, before: Entry, entry: Entry) -> bool:
        alike = (before.label, before.source) == (entry.label, entry.source)
        near = entry.end - before.begin <= self._grain
        return near and (alike or self._grain > ALL_ALIKE or self._is_state(entry))

    def _is_state(self, entry: Entry) -> bool:
        """Say whether it lasts: then its neighbours always differ from it."""
        return False

    def data(self) -> list[list[object]]:
        """Return the entries for the page."""
        return [
            [
                rounded(entry.begin, 9),
                rounded(entry.end, 9),
                entry.label,
                entry.source,
                entry.text,
                entry.count,
                list(entry.ways),
            ]
            for entry in self._entries
        ]


MOST_WAYS = 8
"""Labels that an entry remembers of those folded into it."""


def _merged(before: Entry, entry: Entry) -> Entry:
    new = (entry.label, *entry.ways)
    ways = [*before.ways, *(w for w in new if w != before.label and w not in before.ways)]
    return replace(
        before,
        end=max(before.end, entry.end),
        text=entry.text or before.text,
        count=before.count + entry.count,
        ways=tuple(ways[:MOST_WAYS]),
    )


class Events(Lane):
    """What happens at a moment."""

    def add(
        self, at: float, label: str, source: str = "", text: object = "", count: int = 1
    ) -> None:
        """Add `count` of an event."""
        self.put(Entry(at, at, short(label), short(source), short(text), count))


class States(Lane):
    """What lasts: one state at a time, or none."""

    def __init__(self, budget: int = BUDGET) -> None:
        super().__init__(budget)
        self._now = ""
        self._text = ""
        self._begin = math.nan
        self._heard = math.nan
        self.spells = 0
        """How often it began after there was none: a latch that is told anew with another reason
        is still the same."""
        self.time = 0.0
        """How long there was any [s]."""
        self.times: dict[str, float] = {}
        """The same by label; labels beyond the budget are counted together."""

    def _is_state(self, entry: Entry) -> bool:
        return True

    def keep(self, at: float, label: str, text: str = "") -> None:
        """Take note of what is now; an empty label = nothing.

        A state whose messages cease ends with the last of them.
        """
        label, silent = short(label), at - self._heard > SILENCE
        self.spells += bool(label and not self._now)
        if label != self._now or silent:
            self.close(at)
            self._now, self._begin, self._text = label, at, short(text)
        self._heard = at

    def close(self, at: float = math.inf) -> None:
        """End the present state `at`, or where it was last heard of."""
        if self._now:
            end = at if at - self._heard <= SILENCE else self._heard
            self.put(Entry(self._begin, end, self._now, "", self._text))
            known = self._now in self.times or len(self.times) < self._budget
            label = self._now if known else "others"
            self.times[label] = self.times.get(label, 0.0) + end - self._begin
            self.time += end - self._begin
        self._now = ""
