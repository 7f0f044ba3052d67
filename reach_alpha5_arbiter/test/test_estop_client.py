"""The other side of an e-stop endpoint, without ROS: when it answers, what a relay may do."""

from __future__ import annotations

import os
import pty
import termios
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reach_alpha5_arbiter.endpoint import (
    ALL_ONES,
    Endpoint,
    EndpointConfig,
    EndpointState,
)
from reach_alpha5_arbiter.estop_client.core import CheckIn, EStopEndpoint
from reach_alpha5_arbiter.estop_client.keyboard import CHUNK, Key, Keyboard
from reach_alpha5_arbiter.estop_client.relay import Relay
from reach_alpha5_arbiter.estop_client.status import Seen, status_line, unknown_endpoint
from reach_alpha5_common.command import StopLevel

NONE, SETTLE, CUT = StopLevel

# ---- what it answers ---------------------------------------------------------------------------


def test_it_is_silent_until_its_owner_has_said_that_all_is_well() -> None:
    assert EStopEndpoint().challenged(5, 0.0) is None


def test_it_answers_a_challenge_with_its_complement() -> None:
    endpoint = EStopEndpoint()
    endpoint.feed(1.0)
    assert endpoint.challenged(5, 1.1) == CheckIn(5, ALL_ONES - 5, NONE, "")


def test_it_falls_silent_when_its_owner_hangs_although_challenges_still_come() -> None:
    endpoint = EStopEndpoint(fresh_for=0.5)
    endpoint.feed(1.0)
    assert endpoint.challenged(5, 1.49) is not None
    assert endpoint.challenged(6, 1.5) is None
    endpoint.feed(1.6)
    assert endpoint.challenged(7, 1.7) is not None


def test_an_objection_is_said_at_once_and_with_every_answer_until_it_is_withdrawn() -> None:
    endpoint = EStopEndpoint()
    endpoint.feed(1.0)
    endpoint.challenged(5, 1.0)
    assert endpoint.press(CUT, "leak") == CheckIn(5, ALL_ONES - 5, CUT, "leak")
    assert endpoint.challenged(6, 1.1) == CheckIn(6, ALL_ONES - 6, CUT, "leak")
    endpoint.release()
    assert endpoint.challenged(7, 1.2) == CheckIn(7, ALL_ONES - 7, NONE, "")


def test_an_objection_needs_neither_a_challenge_nor_an_owner_that_goes_on() -> None:
    endpoint = EStopEndpoint()
    assert endpoint.press(SETTLE, "leak").level is SETTLE
    answer = endpoint.challenged(6, 100.0)
    assert answer is not None and answer.level is SETTLE


def test_no_level_is_no_objection() -> None:
    with pytest.raises(ValueError, match="release"):
        EStopEndpoint().press(NONE, "")


@pytest.mark.parametrize("fresh_for", [0.0, -1.0, float("inf"), float("nan")])
def test_a_word_of_the_owner_must_grow_old(fresh_for: float) -> None:
    with pytest.raises(ValueError, match="fresh_for"):
        EStopEndpoint(fresh_for)


@given(
    st.lists(st.floats(0.0, 0.4), min_size=40, max_size=40),
    st.integers(0, 10),
)
def test_whatever_the_link_delays_it_is_clear_no_longer_than_both_times_after_the_last_feed(
    delays: list[float], feeds: int
) -> None:
    """The owner hangs after `feeds` turns; each answer takes another time to arrive."""
    fresh_for, timeout, period = 0.5, 1.0, 0.25
    ours = EStopEndpoint(fresh_for)
    theirs = Endpoint.awaited(EndpointConfig("deck", timeout), 3)
    last_feed = -1.0
    arriving: list[tuple[float, CheckIn]] = []
    for turn, delay in enumerate(delays):
        now = turn * period
        if turn < feeds:
            ours.feed(now)
            last_feed = now
        for at, answer in sorted(arriving, key=lambda item: item[0]):
            if at <= now:
                if at >= theirs.lapses_at():
                    theirs = theirs.lapsed()
                theirs, _ = theirs.checked_in(
                    answer.challenge, answer.response, answer.level, answer.reason, at
                )
                arriving.remove((at, answer))
        if now >= theirs.lapses_at():
            theirs = theirs.lapsed()
        if now >= last_feed + fresh_for + timeout:
            assert not theirs.is_clear
        theirs = theirs.challenged(now)
        assert theirs.challenge is not None
        if (said := ours.challenged(theirs.challenge, now)) is not None:
            arriving.append((now + delay, said))
    assert not theirs.is_clear


# ---- the relay ---------------------------------------------------------------------------------


def test_a_relay_is_open_until_motion_is_permitted() -> None:
    relay = Relay()
    assert not relay.may_close(0.0)
    relay.heard(False, 0.0)
    assert not relay.may_close(0.1)
    relay.heard(True, 0.2)
    assert relay.may_close(0.3)


def test_a_relay_opens_at_once_when_motion_is_not_permitted_any_more() -> None:
    relay = Relay()
    relay.heard(True, 0.0)
    relay.heard(False, 0.1)
    assert not relay.may_close(0.1)


def test_a_relay_opens_when_the_arbiter_is_silent() -> None:
    relay = Relay(silence=0.5)
    relay.heard(True, 1.0)
    assert relay.may_close(1.49)
    assert not relay.may_close(1.5)


def test_an_open_relay_that_shall_be_open_is_nothing_to_object_to() -> None:
    relay = Relay()
    assert relay.objection(False, 0.0) == relay.objection(False, 100.0) == ""


def test_a_contact_that_is_welded_shut_is_objected_to() -> None:
    relay = Relay(silence=0.5, switching_time=0.2)
    relay.heard(True, 0.0)
    assert relay.objection(True, 0.1) == ""
    relay.heard(False, 0.4)
    assert relay.objection(True, 0.41) == relay.objection(True, 0.6) == ""
    assert relay.objection(True, 0.62) == "the relay does not open"
    assert relay.objection(False, 0.7) == ""


def test_a_contact_that_is_closed_from_the_start_is_objected_to() -> None:
    assert Relay().objection(True, 10.0) == "the relay does not open"


def test_a_contact_that_does_not_close_is_objected_to() -> None:
    relay = Relay(silence=0.5, switching_time=0.2)
    assert relay.objection(False, 0.0) == ""
    relay.heard(True, 0.1)
    assert relay.objection(False, 0.15) == ""
    assert relay.objection(False, 0.36) == "the relay does not close"


# ---- what a terminal shows ---------------------------------------------------------------------


def seen(**changes: object) -> Seen:
    values: dict = {
        "endpoints": {"deck": EndpointState.CLEAR, "bridge": EndpointState.CLEAR},
        "estop": NONE,
        "estop_source": "",
        "estop_reason": "",
        "faults": (),
        "owner": "",
    }
    return Seen(**(values | changes))


def test_the_line_says_who_stops_the_arm_and_why() -> None:
    line = status_line("deck", seen(estop=CUT, estop_source="endpoint bridge", estop_reason="oil"))
    assert line == "deck: clear | E-STOP CUT by endpoint bridge: oil | no owner"


def test_the_line_names_the_endpoints_that_are_not_clear_and_the_faults() -> None:
    endpoints = {"deck": EndpointState.OBJECTING, "bridge": EndpointState.LAPSED}
    line = status_line("deck", seen(endpoints=endpoints, faults=("driver_lost",), owner="teleop"))
    assert line == "deck: STOP | FAULT driver_lost | not clear: bridge lapsed | owner teleop"


def test_the_line_says_when_nothing_stands_against_motion_and_when_nothing_is_heard() -> None:
    assert status_line("deck", seen()) == "deck: clear | no latch | no owner"
    assert status_line("deck", None) == "deck: the arbiter is not heard"


def test_an_unknown_endpoint_is_told_which_there_are() -> None:
    assert unknown_endpoint("deck", seen()) == ""
    assert "it has: bridge, deck" in unknown_endpoint("dekc", seen())
    assert "`estop_endpoints`" in unknown_endpoint("deck", seen(endpoints={}))


# ---- keys --------------------------------------------------------------------------------------


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """The end that is written to, and the one that is standard input."""
    theirs, ours = os.pipe()
    yield ours, theirs
    os.close(theirs)


def test_without_a_terminal_each_line_is_a_key_and_the_end_is_to_leave(
    pipe: tuple[int, int],
) -> None:
    ours, theirs = pipe
    with Keyboard(theirs) as keyboard:
        assert not keyboard.is_terminal
        assert keyboard.read(0.0) == []
        os.write(ours, b"\nstop\nc\n clear \nq\nqu")
        assert keyboard.read(1.0) == [Key.STOP, Key.STOP, Key.CLEAR, Key.CLEAR, Key.LEAVE]
        os.write(ours, b"it\nwhat?\n\xff\n")
        assert keyboard.read(1.0) == [Key.LEAVE, Key.STOP, Key.STOP]
        os.close(ours)
        assert keyboard.read(1.0) == [Key.LEAVE]


def test_a_line_without_end_is_a_stop_and_keeps_no_memory(pipe: tuple[int, int]) -> None:
    ours, theirs = pipe
    with Keyboard(theirs) as keyboard:
        keys = []
        for _ in range(3):
            os.write(ours, b"c" * CHUNK)
            keys += keyboard.read(1.0)
        assert keys == [Key.STOP]
        os.write(ours, b"\n")
        keyboard.read(1.0)
    os.close(ours)


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """The side that types, and the one that is standard input."""
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(theirs)


def test_at_a_terminal_each_key_counts_at_once(terminal: tuple[int, int]) -> None:
    ours, theirs = terminal
    with Keyboard(theirs) as keyboard:
        assert keyboard.is_terminal
        for typed, key in {
            b" ": Key.STOP,
            b"\r": Key.STOP,
            b"x": Key.STOP,
            b"C": Key.STOP,
            b"\x1b": Key.STOP,
            b"c": Key.CLEAR,
            b"q": Key.LEAVE,
        }.items():
            os.write(ours, typed)
            assert keyboard.read(1.0) == [key]
        os.write(ours, b"c ")
        assert keyboard.read(1.0) == [Key.CLEAR, Key.STOP]
    os.close(ours)


def test_a_terminal_is_given_back_as_it_was(terminal: tuple[int, int]) -> None:
    ours, theirs = terminal
    before = termios.tcgetattr(theirs)
    with pytest.raises(RuntimeError), Keyboard(theirs):
        assert termios.tcgetattr(theirs) != before
        raise RuntimeError
    assert termios.tcgetattr(theirs) == before
    os.close(ours)


def test_a_terminal_that_is_gone_is_to_leave(terminal: tuple[int, int]) -> None:
    ours, theirs = terminal
    with Keyboard(theirs) as keyboard:
        os.close(ours)
        assert keyboard.read(1.0) == [Key.LEAVE]
