"""E-stop endpoints in the arbiter: what it takes to be clear, and all that ends it."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reach_alpha5_arbiter.endpoint import (
    ENDPOINT,
    Endpoint,
    EndpointConfig,
    EndpointEvent,
    EndpointState,
    answer_to,
    challenge_of,
)
from reach_alpha5_common.command import StopLevel

TIMEOUT = 1.0
CONFIG = EndpointConfig("deck", TIMEOUT, StopLevel.SETTLE_THEN_CUT)
NONE, SETTLE, CUT = StopLevel
UINT64 = st.integers(0, 2**64 - 1)


def answered(
    endpoint: Endpoint, now: float, level: int = NONE, reason: str = ""
) -> tuple[Endpoint, str]:
    """The newest challenge is answered rightly; the code of the refusal comes along."""
    newest = endpoint.challenge
    assert newest is not None
    return said(endpoint, newest, answer_to(newest), level, now, reason)


def said(
    endpoint: Endpoint, challenge: int, response: int, level: int, now: float, reason: str = ""
) -> tuple[Endpoint, str]:
    then, problem = endpoint.checked_in(challenge, response, level, reason, now)
    return then, problem.code if problem else ""


def clear_endpoint(at: float = 0.0) -> Endpoint:
    """Checked in at the moment at which its challenge was given."""
    endpoint, code = answered(Endpoint.awaited(CONFIG, 7).challenged(at), at)
    assert endpoint.is_clear and not code
    return endpoint


def in_state(state: EndpointState) -> Endpoint:
    """An endpoint in a state, with a challenge that nobody has answered."""
    endpoint = {
        EndpointState.AWAITED: lambda: Endpoint.awaited(CONFIG, 7),
        EndpointState.CLEAR: clear_endpoint,
        EndpointState.OBJECTING: lambda: answered(clear_endpoint().challenged(0.1), 0.1, SETTLE)[
            0
        ],
        EndpointState.LAPSED: lambda: clear_endpoint().lapsed(),
    }[state]().challenged(0.2)
    assert endpoint.state is state
    return endpoint


# ---- challenges --------------------------------------------------------------------------------


@given(UINT64, UINT64, UINT64)
def test_no_challenge_comes_twice_in_a_run(session: int, one: int, other: int) -> None:
    same = challenge_of(session, "deck", one) == challenge_of(session, "deck", other)
    assert same is (one == other)


def test_challenges_of_two_runs_and_of_two_endpoints_differ() -> None:
    runs = [("deck", 1), ("deck", 2), ("bridge", 1), ("bridge", 2)]
    drawn = {challenge_of(session, name, n) for name, session in runs for n in range(1000)}
    assert len(drawn) == 4000


def test_a_challenge_is_64_bits_and_each_bit_of_it_changes_about_half_the_time() -> None:
    drawn = [challenge_of(3, "deck", number) for number in range(2000)]
    assert all(0 <= challenge < 2**64 for challenge in drawn)
    flips = [one ^ other for one, other in pairwise(drawn)]
    for bit in range(64):
        assert 850 < sum(flip >> bit & 1 for flip in flips) < 1150


def test_the_same_run_gives_the_same_challenges_again() -> None:
    once, again = (Endpoint.awaited(CONFIG, 5).challenged(1.0).challenged(2.0) for _ in range(2))
    assert once == again


def test_the_next_challenge_is_due_at_once_and_then_four_times_within_the_timeout() -> None:
    endpoint = Endpoint.awaited(CONFIG, 7)
    assert endpoint.challenge_at() == -math.inf
    assert endpoint.challenged(3.0).challenge_at() == 3.25


@pytest.mark.parametrize("challenge", [0, 1, 2**63, 2**64 - 1])
def test_the_answer_has_every_bit_inverted(challenge: int) -> None:
    assert f"{answer_to(challenge):064b}" == f"{challenge:064b}".translate({48: "1", 49: "0"})


# ---- what it takes to be clear -----------------------------------------------------------------


def test_an_endpoint_stops_the_arm_until_it_has_checked_in() -> None:
    endpoint = Endpoint.awaited(CONFIG, 7)
    assert endpoint.state is EndpointState.AWAITED
    assert endpoint.stands_for is SETTLE
    assert "not checked in" in endpoint.why
    assert math.isnan(endpoint.check_in_age(5.0))


def test_the_right_answer_to_the_newest_challenge_clears_it() -> None:
    endpoint, code = answered(Endpoint.awaited(CONFIG, 7).challenged(0.0), 0.1, reason="watching")
    assert not code
    assert endpoint.is_clear and endpoint.stands_for is NONE and endpoint.why == ""
    assert (endpoint.check_ins, endpoint.refusals, endpoint.reason) == (1, 0, "watching")
    assert endpoint.check_in_age(0.4) == pytest.approx(0.3)


def test_nothing_clears_an_endpoint_that_was_given_no_challenge() -> None:
    endpoint = Endpoint.awaited(CONFIG, 7)
    then, code = said(endpoint, 0, answer_to(0), NONE, 0.0)
    assert (then.state, code) == (EndpointState.AWAITED, "stale_challenge")


def test_an_answer_counts_from_when_its_challenge_was_given() -> None:
    endpoint, _ = answered(Endpoint.awaited(CONFIG, 7).challenged(2.0), 2.9)
    assert endpoint.lapses_at() == 2.0 + TIMEOUT


def test_an_answer_after_the_timeout_does_not_count() -> None:
    endpoint = Endpoint.awaited(CONFIG, 7).challenged(2.0)
    assert answered(endpoint, math.nextafter(3.0, 0.0))[1] == ""
    then, code = answered(endpoint, 3.0)
    assert (then.state, code) == (EndpointState.AWAITED, "stale_challenge")


@pytest.mark.parametrize("state", EndpointState)
def test_a_wrong_answer_is_refused_counted_and_no_sign_of_life(state: EndpointState) -> None:
    endpoint = in_state(state)
    newest = endpoint.challenge
    assert newest is not None
    for challenge, response, expected in (
        (newest, newest, "bad_response"),
        (newest, answer_to(newest) ^ 1, "bad_response"),
        (newest, answer_to(newest) ^ 1 << 63, "bad_response"),
        (newest ^ 1, answer_to(newest ^ 1), "stale_challenge"),
        (newest ^ 1, answer_to(newest), "stale_challenge"),
    ):
        then, code = said(endpoint, challenge, response, NONE, 0.3)
        assert code == expected
        assert then == replace(endpoint, refusals=endpoint.refusals + 1)


def test_only_the_newest_challenge_counts() -> None:
    before = Endpoint.awaited(CONFIG, 7).challenged(0.0)
    old = before.challenge
    assert old is not None
    then, code = said(before.challenged(0.25), old, answer_to(old), NONE, 0.26)
    assert (then.state, code) == (EndpointState.AWAITED, "stale_challenge")


def test_an_answer_that_is_said_again_and_again_does_not_keep_it_clear() -> None:
    endpoint = clear_endpoint(0.0)
    repeated = endpoint.challenge
    assert repeated is not None
    for step in range(1, 4):
        now = step * TIMEOUT / 4
        endpoint, code = said(endpoint.challenged(now), repeated, answer_to(repeated), NONE, now)
        assert code == "stale_challenge"
    assert endpoint.lapses_at() == TIMEOUT


# ---- what ends it ------------------------------------------------------------------------------


def test_a_lapse_stops_at_the_level_of_the_configuration() -> None:
    endpoint = clear_endpoint().lapsed()
    assert endpoint.state is EndpointState.LAPSED
    assert endpoint.stands_for is SETTLE
    assert "no answer" in endpoint.why
    assert endpoint.lapses_at() == math.inf


def test_rule7_an_endpoint_that_is_gone_stops_the_arm_at_once() -> None:
    endpoint = clear_endpoint().lost()
    assert endpoint.stands_for is SETTLE
    assert "disappeared" in endpoint.why


def test_what_a_lost_endpoint_had_under_way_does_not_count() -> None:
    endpoint = clear_endpoint().challenged(0.25)
    under_way = endpoint.challenge
    assert under_way is not None
    then, code = said(endpoint.lost(), under_way, answer_to(under_way), NONE, 0.26)
    assert (then.state, code) == (EndpointState.LAPSED, "stale_challenge")


def test_an_endpoint_that_lapsed_is_clear_again_after_the_next_right_answer() -> None:
    endpoint, code = answered(clear_endpoint().lapsed().challenged(5.0), 5.1)
    assert endpoint.is_clear and not code
    assert endpoint.lapses_at() == 5.0 + TIMEOUT


@pytest.mark.parametrize("state", EndpointState)
@pytest.mark.parametrize(("level", "read_as"), [(1, SETTLE), (2, CUT), (3, CUT), (255, CUT)])
def test_rule1_an_objection_is_obeyed_whatever_it_answers(
    state: EndpointState, level: int, read_as: StopLevel
) -> None:
    endpoint = in_state(state)
    newest = endpoint.challenge
    assert newest is not None
    for challenge, response in ((newest, 0), (0, 0), (newest, answer_to(newest))):
        then, _ = said(endpoint, challenge, response, level, 0.3, "leak")
        assert then.stands_for >= read_as
        assert then.why == "leak"


@pytest.mark.parametrize("state", EndpointState)
def test_an_objection_with_a_wrong_answer_is_no_sign_of_life(state: EndpointState) -> None:
    endpoint = in_state(state)
    then, code = said(endpoint, 1, 1, SETTLE, 0.3)
    assert code == "stale_challenge"
    assert (then.check_ins, then.lived_at) == (endpoint.check_ins, endpoint.lived_at)
    assert then.refusals == endpoint.refusals + 1
    if state in (EndpointState.AWAITED, EndpointState.LAPSED):
        assert then.state is state


def test_an_objection_with_a_wrong_answer_makes_nothing_better() -> None:
    endpoint, _ = answered(in_state(EndpointState.CLEAR), 0.3, CUT)
    then, _ = said(endpoint, 1, 1, SETTLE, 0.4)
    assert then.stands_for is CUT


def test_an_objection_may_answer_a_challenge_once_more() -> None:
    endpoint, code = answered(clear_endpoint(), 0.1, CUT, "pressed")
    assert (endpoint.state, code) == (EndpointState.OBJECTING, "")
    assert endpoint.stands_for is CUT and endpoint.why == "pressed"
    again, code = answered(endpoint, 0.2, SETTLE)
    assert (again.stands_for, code) == (SETTLE, "")
    assert again.lapses_at() == endpoint.lapses_at()
    assert "objects" not in endpoint.why and again.why == "it objects"


def test_an_objection_is_withdrawn_by_the_answer_to_the_next_challenge_only() -> None:
    objecting, _ = answered(clear_endpoint(), 0.1, CUT)
    assert not answered(objecting, 0.2)[0].is_clear
    endpoint, code = answered(objecting.challenged(0.25), 0.26)
    assert endpoint.is_clear and not code


def test_a_challenge_that_was_answered_with_an_objection_is_used_up() -> None:
    objecting, _ = answered(Endpoint.awaited(CONFIG, 7).challenged(0.0), 0.1, CUT)
    then, code = answered(objecting, 0.2)
    assert (then.state, code) == (EndpointState.LAPSED, "two_answers")


def test_an_objection_is_forgotten_when_it_is_withdrawn() -> None:
    objecting, _ = answered(clear_endpoint(), 0.1, CUT)
    withdrawn, _ = answered(objecting.challenged(0.25), 0.26)
    assert withdrawn.lapsed().stands_for is SETTLE


def test_an_objector_lapses_as_well() -> None:
    objecting, _ = answered(clear_endpoint(0.0).challenged(0.25), 0.3, SETTLE)
    assert objecting.lapses_at() == 0.25 + TIMEOUT
    assert objecting.lapsed().state is EndpointState.LAPSED


def test_an_objector_that_lapses_stands_for_the_more_restrictive_of_both() -> None:
    objecting, _ = answered(clear_endpoint(), 0.1, CUT)
    assert objecting.lapsed().stands_for is CUT
    config = replace(CONFIG, lapse_level=CUT)
    settling, _ = answered(Endpoint.awaited(config, 7).challenged(0.0), 0.1, SETTLE)
    assert settling.stands_for is SETTLE
    assert settling.lapsed().stands_for is CUT


def test_a_reason_without_end_is_cut_off() -> None:
    assert len(answered(clear_endpoint(), 0.1, CUT, "x" * 100_000)[0].reason) == 200
    assert len(said(clear_endpoint(), 0, 0, CUT, 0.1, "x" * 100_000)[0].reason) == 200
    fresh = clear_endpoint().challenged(0.1)
    assert len(answered(fresh, 0.1, NONE, "x" * 100_000)[0].reason) == 200


# ---- two clients under one name ----------------------------------------------------------------


def test_two_clients_under_one_name_stop_the_arm_since_each_would_hide_the_others_end() -> None:
    endpoint, code = answered(clear_endpoint(), 0.01)
    assert (endpoint.state, code) == (EndpointState.LAPSED, "two_answers")
    assert "two clients" in endpoint.why
    for step in range(1, 20):
        now = step * TIMEOUT / 4
        endpoint = endpoint.challenged(now)
        for answer in range(2):
            endpoint, code = answered(endpoint, now + 0.01 * answer)
            assert (endpoint.state, code) == (EndpointState.LAPSED, "two_answers")


def test_when_one_of_two_has_gone_for_the_timeout_the_other_counts_again() -> None:
    endpoint, _ = answered(clear_endpoint(), 0.01)
    for now in (0.25, 0.5, 0.75, 1.0):
        endpoint, code = answered(endpoint.challenged(now), now)
        assert (endpoint.is_clear, code) == (False, "two_answers")
    alone_since = 0.01 + TIMEOUT
    assert not answered(endpoint.challenged(1.0), math.nextafter(alone_since, 0.0))[0].is_clear
    endpoint, code = answered(endpoint.challenged(1.0), alone_since)
    assert endpoint.is_clear and not code


# ---- configuration and table -------------------------------------------------------------------


@pytest.mark.parametrize("timeout", [0.0, -1.0, math.inf, math.nan])
def test_an_endpoint_needs_a_timeout(timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout"):
        EndpointConfig("deck", timeout)


def test_an_endpoint_whose_lapse_would_stop_nothing_cannot_be_configured() -> None:
    with pytest.raises(ValueError, match="lapse_level"):
        EndpointConfig("deck", 1.0, NONE)


def test_nothing_but_an_answer_without_objection_leads_to_clear() -> None:
    leads = {row.event for row in ENDPOINT.rows if row.then is EndpointState.CLEAR}
    assert leads == {EndpointEvent.CHECK_IN_CLEAR}
    for event in EndpointEvent:
        assert any(row.event is event for row in ENDPOINT.rows)


# ---- any order of anything ---------------------------------------------------------------------

GAPS = st.sampled_from([0.0, 0.001, 0.1, 0.25, 0.5, 0.999, 1.0, 1.5])
STEPS = st.lists(
    st.tuples(
        GAPS,
        st.one_of(
            st.just(("challenge",)),
            st.just(("lost",)),
            # Of which challenge, counted back from the newest; what is wrong in the response.
            st.tuples(
                st.just("check_in"),
                st.integers(0, 3),
                st.sampled_from([0, 0, 0, 1, 2**63]),
                st.sampled_from([0, 0, 0, 1, 2, 9]),
            ),
        ),
    ),
    max_size=60,
)


@settings(max_examples=400)
@given(STEPS)
def test_no_order_of_events_clears_it_without_the_right_answer_in_time(steps: list) -> None:
    """Beside the endpoint, count on the fingers until when it may be clear."""
    endpoint = Endpoint.awaited(CONFIG, 11)
    given: list[tuple[int, float]] = []
    used: set[int] = set()
    withdrawn: set[int] = set()
    contested = -math.inf
    permitted_until = -math.inf
    now = 100.0
    for gap, (what, *details) in steps:
        now += gap
        if now >= endpoint.lapses_at():
            endpoint = endpoint.lapsed()
        if what == "challenge":
            endpoint = endpoint.challenged(now)
            assert endpoint.challenge is not None
            given.append((endpoint.challenge, now))
        elif what == "lost":
            endpoint = endpoint.lost()
            permitted_until = -math.inf
            withdrawn |= {challenge for challenge, _ in given}
        elif given:
            back, wrong, level = details
            challenge, given_at = given[max(0, len(given) - 1 - back)]
            endpoint, problem = endpoint.checked_in(
                challenge, answer_to(challenge) ^ wrong, level, "", now
            )
            right = (
                not wrong
                and challenge == given[-1][0]
                and challenge not in withdrawn
                and now < given_at + TIMEOUT
            )
            if level:
                permitted_until = -math.inf
                assert endpoint.stands_for >= StopLevel.of(level)
            elif right and challenge in used:
                permitted_until, contested = -math.inf, now
            elif right and now >= contested + TIMEOUT:
                permitted_until = given_at + TIMEOUT
            used |= {challenge} if right else set()
            assert right or problem is not None
        assert endpoint.is_clear is (now < permitted_until)
        assert (endpoint.stands_for is NONE) is endpoint.is_clear
        assert endpoint.lapses_at() > now
