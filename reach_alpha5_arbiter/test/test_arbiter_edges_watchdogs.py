"""The edges of the small watchdogs on the other side: the heartbeat, and the e-stop endpoint."""

from __future__ import annotations

import pytest

from reach_alpha5_arbiter.estop_client.core import EStopEndpoint
from reach_alpha5_arbiter.heartbeat.core import LIVES, Life, Pulse, life_of, life_of_all
from reach_alpha5_common.command import StopLevel


def test_each_letter_of_proc_is_known_for_what_it_says() -> None:
    running, stopped, gone = (
        {letter for letter, life in LIVES.items() if life is each}
        for each in (Life.RUNNING, Life.STOPPED, Life.GONE)
    )
    assert (running, stopped, gone) == (set("RSDI"), set("Tt"), set("ZXx"))


@pytest.mark.parametrize("line", ["", "17 (name)", "17 (name) ? 1", "nonsense"])
def test_what_is_not_understood_is_a_process_that_is_stopped_and_not_one_that_is_gone(
    line: str,
) -> None:
    assert life_of(line) is Life.STOPPED


@pytest.mark.parametrize("own", [Life.STOPPED, Life.GONE])
def test_a_process_that_does_not_run_is_told_of_whatever_its_children_do(own: Life) -> None:
    assert life_of_all(own, [Life.STOPPED]) is own
    assert life_of_all(own, []) is own


def test_a_heartbeat_is_due_when_its_period_is_over_and_not_later() -> None:
    pulse = Pulse(0.5)
    assert pulse.beat(Life.RUNNING, 1.0) is True
    assert pulse.beat(Life.RUNNING, 1.25) is None
    assert pulse.due == 1.5
    assert pulse.beat(Life.RUNNING, 1.5) is True


def test_the_word_of_an_owner_counts_for_half_a_second_unless_it_says_otherwise() -> None:
    endpoint = EStopEndpoint()
    endpoint.feed(1.0)
    assert endpoint.is_fresh(1.25)
    assert not endpoint.is_fresh(1.5)


def test_an_objection_is_there_until_it_is_taken_back_and_names_no_challenge_before_one() -> None:
    endpoint = EStopEndpoint()
    assert endpoint.level is StopLevel.NONE
    said = endpoint.press(StopLevel.CUT, "a leak")
    assert (said.challenge, said.reason) == (0, "a leak")
    assert endpoint.level is StopLevel.CUT
    endpoint.release()
    assert endpoint.level is StopLevel.NONE
