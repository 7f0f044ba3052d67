"""The replay of a journal, without bags: what is the same, what differs, what cannot be told."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from replay_live import START, Bag, Entries, Live, changed, moving, replayed

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.latches import Latches
from reach_alpha5_arbiter.replay import core
from reach_alpha5_arbiter.replay.core import Replay
from reach_alpha5_arbiter.replay.wire import WIRE
from reach_alpha5_arbiter.snapshot import Snapshot
from reach_alpha5_arbiter.source import Source
from reach_alpha5_common.command import CommandKind, DriverCommand

STEPS = 1000


@pytest.fixture(scope="module")
def live() -> Live:
    return Live(seed=3).run(STEPS)


def first(replay: Replay) -> tuple[str, set[str]]:
    """Return what differs first, and in what."""
    difference = replay.differences[0]
    return difference.what, {part.path for part in difference.parts}


@pytest.mark.parametrize("seed", [1, 3, 9])
def test_a_replay_takes_the_same_decisions(seed: int) -> None:
    live = Live(seed).run(STEPS)
    replay = replayed(live.bag)
    assert replay.differences == []
    counts = replay.counts
    assert (counts.differences, counts.gaps, counts.lost, counts.skipped) == (0, 0, 0, 1)
    # What compares nothing finds nothing.
    said = [what for _, what in live.bag]
    commands = sum(isinstance(what, DriverCommand) for what in said)
    states = sum(isinstance(what, Snapshot) for what in said)
    assert (replay.commands.compared, replay.commands.unrecorded) == (commands, 0)
    assert replay.states.compared + replay.states.uncovered == states
    assert replay.states.uncovered <= 3
    assert counts.compared == counts.checkpoints - 1 > 5
    assert counts.events > STEPS


BROKEN_RULES = [
    (Source, "lapses_at", lambda self: math.inf),
    (Latches, "pressed", lambda self, level, source, reason: self),
    (Latches, "failed", lambda self, *causes: self),
    (Source, "is_armed", True),
]
"""A class of the core, something of it, and what stands in its place."""


@pytest.mark.parametrize(("where", "name", "instead"), BROKEN_RULES)
def test_a_rule_that_is_broken_on_one_side_is_found(
    live: Live, monkeypatch: pytest.MonkeyPatch, where: type, name: str, instead: object
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(where, name, instead)
        assert replayed(live.bag).counts.differences > 0
        sick = Live(seed=3).run(STEPS)
    assert replayed(sick.bag).counts.differences > 0


def test_one_number_of_a_command_is_found_and_named(live: Live) -> None:
    index, command = next(moving(live.bag, CommandKind.INPUT))
    for path, wrong in (
        ("lifetime", replace(command, lifetime=command.lifetime + 1e-9)),
        ("estop_epoch", replace(command, estop_epoch=7)),
        ("kind", replace(command, kind=CommandKind.RESET)),
        ("twist.grip_velocity", replace(command, twist=replace(command.twist, grip=-0.0))),
        ("input.speed_modifier", replace(command, input=replace(command.input, speed_modifier=1))),
        ("joint.joint_names", replace(command, joint=replace(command.joint, joint_names=("a",)))),
    ):
        replay = replayed(changed(live.bag, DriverCommand, index, lambda _, w=wrong: w))
        assert first(replay) == (f"driver_command {command.sequence}", {path})
        assert replay.counts.differences == 1
        assert replay.differences[0].moment.event is not None


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("owner", {"owner": "nobody_known"}),
        ("estop_reason", {"estop_reason": "hunger"}),
        ("fault_causes", {"fault_causes": ("hunger",)}),
        ("stops", {"stops": 999}),
        ("lease_epoch", {"lease_epoch": 999}),
    ],
)
def test_a_state_that_the_replay_was_never_in_is_found(
    live: Live, path: str, change: dict[str, object]
) -> None:
    def wrong(state: Snapshot) -> Snapshot:
        return replace(state, **change)

    replay = replayed(changed(live.bag, Snapshot, 100, wrong))
    assert first(replay) == ("arbiter_state", {path})
    assert replay.counts.differences == 1


def test_a_state_that_comes_twice_or_not_at_all_is_no_difference(live: Live) -> None:
    half = [pair for n, pair in enumerate(live.bag) if n % 2 or not isinstance(pair[1], Snapshot)]
    assert replayed(half).counts.differences == 0
    twice = [pair for pair in live.bag for _ in range(1 + isinstance(pair[1], Snapshot))]
    assert replayed(twice).counts.differences == 0


def test_a_command_that_was_sent_live_alone_is_found(live: Live) -> None:
    last = max(what.sequence for _, what in live.bag if isinstance(what, DriverCommand))
    place = len(live.bag) - 30
    bag = [*live.bag[:place], (0.0, DriverCommand(sequence=last + 1)), *live.bag[place:]]
    replay = replayed(bag)
    assert first(replay)[0] == f"driver_command {last + 1}"
    assert replay.counts.differences == 1


def test_a_command_that_the_recorder_lost_is_counted_and_is_no_difference(live: Live) -> None:
    index, _ = next(moving(live.bag, CommandKind.INPUT))
    replay = replayed(changed(live.bag, DriverCommand, index, lambda _: None))
    assert replay.counts.differences == 0
    assert replay.commands.unrecorded == 1


def test_commands_that_arrive_after_the_journal_are_compared_all_the_same(live: Live) -> None:
    late: Bag = []
    held: Bag = []
    for pair in live.bag:
        if isinstance(pair[1], DriverCommand):
            held.append(pair)
        else:
            late.append(pair)
            if len(held) > 3:
                late += held
                held = []
    replay = replayed(late + held)
    assert replay.counts.differences == 0
    assert replay.commands.compared == replayed(live.bag).commands.compared


def cut(live: Live, begin: int, end: int) -> Bag:
    """Return the bag without some of the messages of its journal."""
    journal = [place for place, (_, what) in enumerate(live.bag) if isinstance(what, tuple)]
    lost = set(journal[begin:end])
    return [pair for place, pair in enumerate(live.bag) if place not in lost]


def test_a_gap_ends_the_replay_until_the_next_checkpoint(live: Live) -> None:
    whole = replayed(live.bag)
    replay = replayed(cut(live, 20, 22))
    assert replay.differences == []
    assert replay.counts.gaps == 1
    assert replay.counts.lost > 2
    assert replay.counts.skipped > 1
    assert replay.commands.uncovered > 0
    assert whole.counts.events > replay.counts.events > whole.counts.events / 2


def test_a_bag_that_begins_anywhere_is_replayed_from_its_first_checkpoint(live: Live) -> None:
    for begin in range(0, len(live.bag) // 2, len(live.bag) // 11):
        replay = replayed(live.bag[begin : begin + len(live.bag) // 2])
        assert replay.differences == []
        assert replay.counts.events > 0
        assert replay.counts.gaps == 0


def test_runs_of_the_arbiter_are_told_apart() -> None:
    one, two = Live(4, session=11).run(600), Live(5, session=12).run(600)
    replay = replayed(one.bag + two.bag)
    assert replay.differences == []
    assert replay.counts.sessions == [11, 12]
    assert replay.counts.gaps == 0
    both = [replayed(live.bag).commands.compared for live in (one, two)]
    assert replay.commands.compared == sum(both)
    assert min(both) > 5


def test_the_last_words_of_a_killed_arbiter_are_not_taken_for_those_of_the_next_one() -> None:
    one, two = Live(4, session=11).run(600), Live(5, session=12).run(600)
    last = max(said.sequence for _, said in one.bag if isinstance(said, DriverCommand))
    # They were said, but the journal of them was not.
    words: Bag = [(0.0, DriverCommand(sequence=last + 1000 + n)) for n in range(3)]
    replay = replayed(one.bag + words + two.bag)
    assert replay.differences == []
    assert replay.commands.uncovered == 3


def test_after_a_difference_the_replay_goes_on_as_the_live_run_did(live: Live) -> None:
    press = '{"EStopPress":{"level":'

    def forgetful(said: Entries) -> Entries:
        session, number, entries, at = said
        # The e-stop that somebody pressed becomes a press of no level, which is nothing.
        return session, number, [re.sub(f"({press})[^,]*", r"\g<1>0", e) for e in entries], at

    places = [n for n, (_, what) in enumerate(live.bag) if isinstance(what, tuple)]
    pressed = next(
        index
        for index, place in enumerate(places)
        if any(press in e and press + "0" not in e for e in live.bag[place][1][2])
    )
    replay = replayed(changed(live.bag, tuple, pressed, forgetful))
    assert replay.counts.differences > 0
    assert sum(d.what == "checkpoint" for d in replay.differences) == 1
    again = [d.moment.now for d in replay.differences]
    last = live.bag[-1][0]
    assert max(again) < last / 2


def test_an_entry_that_cannot_be_read_is_told_and_ends_the_replay_until_a_checkpoint(
    live: Live,
) -> None:
    def spoil(said: Entries) -> Entries:
        session, number, entries, at = said
        return session, number, ['{"event":{"Teleport":{}},"now":1.0}', *entries[1:]], at

    replay = replayed(changed(live.bag, tuple, 30, spoil))
    assert replay.counts.differences == 1
    assert first(replay)[0].startswith("entry ")
    assert "Teleport" in str(replay.differences[0].parts[0].replayed)
    assert replay.counts.skipped > 1


def test_an_event_that_the_core_cannot_take_is_told(live: Live) -> None:
    def earlier(said: Entries) -> Entries:
        session, number, entries, at = said
        return session, number, [*entries, entries[0].replace('"now":', '"now":-')], at

    replay = replayed(changed(live.bag, tuple, 30, earlier)[: len(live.bag) // 4])
    assert ("event", {"raised"}) == first(replay)


def test_a_listener_hears_each_event_with_what_followed(live: Live) -> None:
    heard: list[tuple] = []

    class Listener(core.Nobody):
        def on_step(self, moment, outputs, changed) -> None:
            heard.append((moment, outputs, changed))

    replay = replayed(live.bag, Replay(WIRE, Listener()))
    assert len(heard) == replay.counts.events
    presses = [step for step in heard if isinstance(step[0].event, events.EStopPress)]
    assert presses
    for moment, outputs, parts in presses:
        if moment.event.level:
            assert outputs[0].command.kind is CommandKind.STOP
            assert "stops" in {part.path for part in parts}
        assert abs(moment.wall - moment.now - START) < 0.2


def test_memory_is_bounded_where_one_side_is_missing() -> None:
    replay = Replay(WIRE)
    for number in range(1, 10_000):
        replay.sent({"sequence": number})
        replay.shown({"stops": number})
    kept = len(replay.commands._recorded) + len(replay.states._recorded)
    assert kept <= 2 * 4096
    replay.finish()
    assert replay.commands.uncovered == replay.states.uncovered == 9_999
