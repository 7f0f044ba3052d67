"""When a heartbeat is due, and what it says."""

import pytest

from reach_alpha5_arbiter.heartbeat.core import (
    LIVES,
    Life,
    Pulse,
    exit_code,
    life_of,
    life_of_all,
)

PERIOD = 0.1


def stat(letter, name="planner"):
    """A line as in proc(5): number, name in brackets, state, and many numbers."""
    return f"4711 ({name}) {letter} 1 4711 4711 34816 4711 4194304 101 0 0 0 3 4 0 0 20 0 1 0 99\n"


@pytest.mark.parametrize(
    ("letter", "life"),
    [
        ("R", Life.RUNNING),
        ("S", Life.RUNNING),
        ("D", Life.RUNNING),
        ("T", Life.STOPPED),
        ("t", Life.STOPPED),
        ("Z", Life.GONE),
        ("X", Life.GONE),
    ],
)
def test_the_letter_of_the_kernel_says_whether_a_process_runs(letter, life):
    assert life_of(stat(letter)) is life


@pytest.mark.parametrize("name", ["two words", ") R (", "S) T", "", "))"])
def test_a_process_may_call_itself_what_it_likes(name):
    assert life_of(stat("T", name)) is Life.STOPPED


@pytest.mark.parametrize("line", ["", "\n", "4711", stat("Q"), stat("RS"), "4711 (planner)"])
def test_what_is_not_understood_does_not_run(line):
    assert life_of(line) is not Life.RUNNING


def test_every_known_letter_is_one_letter():
    assert all(len(letter) == 1 for letter in LIVES)


def test_a_stopped_child_counts_and_one_that_has_ended_does_not():
    assert life_of_all(Life.RUNNING, [Life.RUNNING, Life.STOPPED]) is Life.STOPPED
    assert life_of_all(Life.RUNNING, [Life.GONE, Life.RUNNING]) is Life.RUNNING
    assert life_of_all(Life.RUNNING, []) is Life.RUNNING


@pytest.mark.parametrize("own", [Life.STOPPED, Life.GONE])
def test_children_that_run_do_not_speak_for_their_parent(own):
    assert life_of_all(own, [Life.RUNNING]) is own


def test_a_heartbeat_is_due_once_a_period_and_no_sooner():
    pulse = Pulse(PERIOD)
    assert pulse.beat(Life.RUNNING, 5.0) is True
    assert pulse.beat(Life.RUNNING, 5.09) is None
    assert pulse.beat(Life.RUNNING, 5.11) is True
    assert pulse.due == pytest.approx(5.21)


@pytest.mark.parametrize("life", [Life.STOPPED, Life.GONE])
def test_rule7_the_end_is_said_at_once(life):
    pulse = Pulse(PERIOD)
    pulse.beat(Life.RUNNING, 5.0)
    assert pulse.beat(life, 5.001) is False
    assert pulse.beat(life, 5.002) is None


def test_a_process_that_goes_on_is_back_at_once():
    pulse = Pulse(PERIOD)
    pulse.beat(Life.RUNNING, 5.0)
    pulse.beat(Life.STOPPED, 5.01)
    assert pulse.beat(Life.RUNNING, 5.02) is True


def test_a_stopped_process_is_said_to_be_away_again_and_again():
    pulse = Pulse(PERIOD)
    assert [pulse.beat(Life.STOPPED, 5.0 + 0.11 * n) for n in range(3)] == [False] * 3


def test_the_exit_code_is_what_a_shell_makes_of_it():
    assert [exit_code(returned) for returned in (0, 7, 255, -9, -15)] == [0, 7, 255, 137, 143]
