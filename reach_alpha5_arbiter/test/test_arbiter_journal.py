"""The journal's entries: what goes in comes out exactly, and nothing else comes out."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import random
import types
import typing
from typing import Any

import pytest
from arbiter_bench import FORWARD, NONSENSE, TWIST
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from replay_live import CONFIGURED, Day

from reach_alpha5_arbiter import events, journal
from reach_alpha5_arbiter.core import MotionArbiter
from reach_alpha5_arbiter.journal import Checkpoint, EntryError, Happened, Journal
from reach_alpha5_arbiter.tables import Activity
from reach_alpha5_arbiter.trajectory import Posture

STEPS = 1500
CALM = settings(deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def anything(hint: Any) -> st.SearchStrategy[Any]:
    """Return values for an annotation: records with all their fields, whether they make sense."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return st.one_of([anything(part) for part in parts])
    if origin is tuple and parts[1:] == (...,):
        return st.lists(anything(parts[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(anything, parts))
    if origin is dict:
        return st.dictionaries(*map(anything, parts), max_size=3)
    if hint is Posture:  # which has one of each for every joint
        joints = st.lists(st.tuples(st.text(max_size=5), st.floats(), st.floats()), max_size=3)
        return st.builds(
            lambda seen, at: Posture(*(tuple(each[k] for each in seen) for k in range(3)), at),
            joints,
            st.floats(),
        )
    if dataclasses.is_dataclass(hint) or hasattr(hint, "_fields"):
        hints = typing.get_type_hints(hint)
        names = (
            [field.name for field in dataclasses.fields(hint)]
            if dataclasses.is_dataclass(hint)
            else hint._fields
        )
        return st.fixed_dictionaries({name: anything(hints[name]) for name in names}).map(
            lambda values: hint(**values)
        )
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return st.sampled_from(hint)
    return {
        int: st.integers(-(2**63), 2**64 - 1),
        float: st.floats() | st.sampled_from([-0.0, math.inf, 5e-324]),
        str: st.text(st.characters(codec="utf-8"), max_size=5),
        bool: st.booleans(),
        type(None): st.none(),
    }[hint]


def same(one: Any, other: Any) -> bool:
    """Say whether two values are the same, types and signs of zeroes included."""
    return type(one) is type(other) and repr(one) == repr(other)


@CALM
@given(event=anything(events.Event), now=st.floats())
def test_each_event_comes_back_exactly(event: events.Event, now: float) -> None:
    entry = journal.happened(event, now)
    # It is JSON as the standard has it: other tools read it, too.
    json.loads(entry, parse_constant=pytest.fail)
    back = journal.read(entry)
    assert isinstance(back, Happened)
    assert same(back.event, event)
    assert same(back.now, now)
    assert journal.happened(back.event, back.now) == entry


def checkpoint(arbiter: MotionArbiter) -> str:
    return journal.checkpoint(arbiter.config, arbiter.state, arbiter.refusals.contents())


@pytest.mark.parametrize("seed", [1, 3, 9])
def test_a_core_restored_from_a_checkpoint_goes_on_as_the_original(seed: int) -> None:
    arbiter, day, pick = MotionArbiter(CONFIGURED, 2**64 - 1), Day(seed), random.Random(seed)
    twins: list[MotionArbiter] = []
    seen: set[Activity] = set()
    for _ in range(STEPS):
        for event in day.step():
            said = arbiter.handle(event, day.now)
            day.hears(said)
            for twin in twins:
                assert repr(twin.handle(event, day.now)) == repr(said)
        if pick.random() < 0.1:
            seen.add(arbiter.state.motion.activity)
            entry = checkpoint(arbiter)
            back = journal.read(entry)
            assert isinstance(back, Checkpoint)
            assert journal.checkpoint(back.config, back.state, back.refusals) == entry
            assert same(back.config, CONFIGURED)
            twin = MotionArbiter.restored(back.config, back.state, back.refusals)
            twins = [*twins[-2:], twin]
    for twin in twins:
        assert checkpoint(twin) == checkpoint(arbiter)
        assert same(twin.snapshot(day.now), arbiter.snapshot(day.now))
        assert twin.refusals.counts() == arbiter.refusals.counts()
    # A day on which nothing ever moves would prove little.
    assert len(seen) > 2


def test_a_checkpoint_does_not_change_with_the_core_that_it_is_of() -> None:
    arbiter = MotionArbiter(CONFIGURED)
    gathered = Journal()
    gathered.is_read = True
    gathered.checkpoint(arbiter.config, arbiter.state, arbiter.refusals.contents())
    before = checkpoint(arbiter)
    arbiter.handle(events.EStopPress(2, "diver", "tangled"), 1.0)
    assert checkpoint(arbiter) != before
    assert gathered.take().entries == [before]


def test_an_entry_is_readable_by_people() -> None:
    command = events.Command("teleop", TWIST, stamp=2**63, wall=0, topic="twist")
    written = json.loads(journal.happened(command, 12.5))
    assert written["now"] == 12.5
    fields = written["event"]["Command"]
    assert (fields["source"], fields["stamp"]) == ("teleop", 2**63)
    assert fields["command"]["TwistCommand"]["linear"] == [0.0, 0.0, 0.05]


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1]", "not an object"),
        ("{}", "nothing"),
        ("[" * 100_000, "nested"),
        ('{"now":NaN,"event":{"Tick":{}}}', "NaN"),
        ('{"event":{"Tick":{}}}', "no entry"),
        ('{"event":{"Tick":{}},"now":1}', "no entry"),
        ('{"event":{"Latches":{}},"now":1.0}', "another version"),
        ('{"event":{"StopLevel":"CUT"},"now":1.0}', "no entry"),
        ('{"event":{"Popen":{"args":"true"}},"now":1.0}', "Popen"),
        ('{"event":{"subprocess.Popen":["true"]},"now":1.0}', "Popen"),
        ('{"event":{"float":"1_000"},"now":1.0}', "float"),
        ('{"event":{"Reset":{"hard":true}},"now":1.0}', "hard"),
        ('{"event":{"SourceGone":{}},"now":1.0}', "source"),
        ('{"event":{"SourceGone":7},"now":1.0}', "SourceGone"),
        ('{"event":{"SourceGone":{"source":{"StopCause":"HUNGER"}}},"now":1.0}', "HUNGER"),
        ('{"event":{"Tick":{},"Reset":{}},"now":1.0}', "members"),
        ('{"event":{"dict":[[{"dict":[]},1]]},"now":1.0}', "dict"),
        ('{"config":{"Tick":{}},"state":{"Tick":{}},"refusals":{}}', "members"),
        ('{"config":{"Tick":{}},"state":{"Tick":{}},"refusals":1}', "no entry"),
    ],
)
def test_what_is_no_entry_is_refused(entry: str, why: str) -> None:
    with pytest.raises(EntryError, match=why):
        journal.read(entry)


def test_a_configuration_that_the_arbiter_would_refuse_is_refused() -> None:
    entry = json.loads(checkpoint(MotionArbiter(CONFIGURED)))
    entry["config"]["ArbiterConfig"]["sources"] = []
    with pytest.raises(EntryError, match="name at least one source"):
        journal.read(json.dumps(entry))


def test_what_no_event_can_hold_is_not_written() -> None:
    with pytest.raises(TypeError, match="bytes"):
        journal.happened(events.SourceGone(b"teleop"), 0.0)  # type: ignore[arg-type]


def test_entries_are_numbered_while_somebody_reads_and_while_nobody_does() -> None:
    arbiter, gathered = MotionArbiter(CONFIGURED), Journal()
    for now in range(3):
        gathered.heard(events.Tick(), float(now))
    assert gathered.take() == journal.Batch(3, [])
    gathered.is_read = True
    gathered.checkpoint(CONFIGURED, arbiter.state, arbiter.refusals.contents())
    gathered.heard(events.Command("teleop", FORWARD, 1, 1), 3.0)
    gathered.heard(events.Command("teleop", NONSENSE, 1, 1), 4.0)
    assert len(gathered) == 3
    batch = gathered.take()
    assert (batch.first, len(batch.entries), len(gathered)) == (3, 3, 0)

    # Whoever read has left with two entries unread: they are not there for the next one.
    gathered.heard(events.Tick(), 5.0)
    gathered.is_read = False
    gathered.heard(events.Tick(), 6.0)
    gathered.checkpoint(CONFIGURED, arbiter.state, arbiter.refusals.contents())
    gathered.is_read = True
    gathered.heard(events.Tick(), 7.0)
    assert gathered.take() == journal.Batch(8, [journal.happened(events.Tick(), 7.0)])


def test_no_two_kinds_of_values_have_one_name() -> None:
    names: dict[str, set[type]] = {}
    for kind in journal.kinds():
        names.setdefault(kind.__name__, set()).add(kind)
    assert {name for name, kinds in names.items() if len(kinds) > 1} == set()
    assert not {"dict", "float"} & set(names)
