"""The second face of teleop, without ROS: stamped twists and verbs (D8)."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from reach_alpha5_common.command import STILL, GripperCommand, Pose, TwistCommand
from reach_alpha5_common.refusal import Problem
from reach_alpha5_teleop.core import NEUTRAL_RETRY
from reach_alpha5_teleop.verbs.core import (
    LISTEN_TIME,
    Answer,
    ArbiterView,
    Output,
    Refused,
    Say,
    VerbsConfig,
    VerbsCore,
)
from reach_alpha5_teleop.verbs.progress import BEGIN_TIME, REST_TIME, STUCK_TIME, ArmView
from reach_alpha5_teleop.verbs.table import VERBS

ZERO = TwistCommand("base_link")
AHEAD = TwistCommand("base_link", linear=(0.05, 0.0, 0.0))
LISTENS = ArbiterView(listens=True)
WAITS = ArbiterView(waits_for_neutral=True)
OBEYS = ArmView(obeys=True, jaw_speed=0.01)
CALLED = list(VERBS)
CONFIG = VerbsConfig()


class Bench:
    """A core with a clock of its own, and stamps that count up."""

    def __init__(self) -> None:
        self.core = VerbsCore(CONFIG)
        self.now = 100.0
        self.stamp = 0

    def twist(self, twist: TwistCommand, objection: Problem | None = None) -> list[Output]:
        self.stamp += 1
        return self.core.on_twist(twist, self.stamp, self.now, objection)

    def armed(self) -> Bench:
        assert self.twist(ZERO) == []
        return self

    def jogging(self) -> Bench:
        assert said(self.armed().twist(AHEAD)) == [replace(AHEAD, lifetime=CONFIG.twist_ttl)]
        return self

    def calling(self, name: str, number: int = 1) -> list[Output]:
        return self.core.call(number, name, self.now)

    def running(self, name: str) -> Bench:
        self.arbiter(LISTENS)
        assert said(self.calling(name)) == [
            replace(VERBS[name].command, lifetime=CONFIG.command_lifetime)
        ]
        return self

    def arbiter(self, view: ArbiterView) -> list[Output]:
        return self.core.on_arbiter(view, self.now)

    def arm(self, view: ArmView, after: float = 0.1) -> list[Output]:
        self.now += after
        return self.core.on_arm(view, self.now)

    def tick(self, after: float = 0.1, called: list[str] = CALLED) -> list[Output]:
        self.now += after
        return self.core.tick(self.now, called)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def said(outputs: list[Output]) -> list[object]:
    return [output.command for output in outputs if isinstance(output, Say)]


def answers(outputs: list[Output]) -> list[tuple[int, bool, str]]:
    return [(o.number, o.success, o.message) for o in outputs if isinstance(o, Answer)]


def refused(outputs: list[Output]) -> list[tuple[str, int]]:
    return [(o.refusal.code, o.refusal.count) for o in outputs if isinstance(o, Refused)]


# ---- twists -------------------------------------------------------------------------------------


def test_D8_a_twist_that_moves_before_a_zero_one_is_refused_and_counted(bench: Bench) -> None:
    assert refused(bench.twist(AHEAD)) == [("not_armed", 1)]
    out = bench.twist(AHEAD)
    assert said(out) == [] and refused(out) == [("not_armed", 2)]


def test_D8_each_twist_becomes_a_command_that_ends_by_itself(bench: Bench) -> None:
    bench.jogging()
    assert said(bench.twist(AHEAD)) == [replace(AHEAD, lifetime=CONFIG.twist_ttl)]


def test_D7_a_zero_twist_ends_the_motion_once(bench: Bench) -> None:
    assert said(bench.jogging().twist(ZERO)) == [STILL]
    assert said(bench.twist(ZERO)) == []


def test_D1_silence_ends_the_motion_once_and_wants_a_zero_twist(bench: Bench) -> None:
    bench.jogging()
    assert bench.tick(CONFIG.twist_ttl) == []
    assert said(bench.tick(0.01)) == [STILL]
    assert bench.tick(1.0) == []
    assert refused(bench.twist(AHEAD)) == [("not_armed", 1)]


def test_D1_a_gap_that_no_tick_has_seen_is_the_same_silence(bench: Bench) -> None:
    bench.jogging()
    bench.now += CONFIG.twist_ttl + 0.01
    out = bench.twist(AHEAD)
    assert said(out) == [STILL] and refused(out) == [("not_armed", 1)]


def test_D6_the_end_of_the_last_publisher_ends_the_motion_at_once(bench: Bench) -> None:
    assert said(bench.jogging().core.on_twists_gone()) == [STILL]
    assert refused(bench.twist(AHEAD)) == [("not_armed", 1)]


@pytest.mark.parametrize(
    ("twist", "objection", "code"),
    [
        (replace(AHEAD, linear=(math.nan, 0.0, 0.0)), None, "not_finite"),
        (replace(AHEAD, frame="f" * 200), None, "name_too_long"),
        (AHEAD, Problem("replayed", "out of a bag"), "replayed"),
    ],
)
def test_rule10_what_is_refused_ends_the_motion(
    bench: Bench, twist: TwistCommand, objection: Problem | None, code: str
) -> None:
    out = bench.jogging().twist(twist, objection)
    assert said(out) == [STILL] and refused(out) == [(code, 1)]
    assert refused(bench.twist(AHEAD)) == [("not_armed", 1)]


def test_rule6_a_twist_out_of_order_is_refused(bench: Bench) -> None:
    bench.jogging()
    bench.stamp -= 1
    assert refused(bench.twist(AHEAD)) == [("stale_stamp", 1)]


@pytest.mark.parametrize(
    "view", [ArbiterView(latched="e-stop of pad"), ArbiterView(owner="teleop", listens=True)]
)
def test_rule3_a_latch_or_another_owner_wants_a_zero_twist(
    bench: Bench, view: ArbiterView
) -> None:
    assert said(bench.jogging().arbiter(view)) == [STILL]
    assert bench.arbiter(LISTENS) == []
    assert refused(bench.twist(AHEAD)) == [("not_armed", 1)]


def test_an_arbiter_that_waits_for_a_neutral_gets_it_from_armed_twists_only(bench: Bench) -> None:
    assert bench.arbiter(WAITS) == []
    assert said(bench.armed().arbiter(WAITS)) == [STILL]
    assert bench.arbiter(WAITS) == []
    bench.now += NEUTRAL_RETRY
    bench.armed()
    assert said(bench.arbiter(WAITS)) == [STILL]


# ---- verbs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VERBS)
def test_D8_a_verb_is_said_again_and_again_with_a_lifetime(bench: Bench, name: str) -> None:
    bench.running(name)
    assert bench.tick(0.01) == []
    (again,) = said(bench.tick(CONFIG.command_lifetime / 3.0))
    assert isinstance(again, GripperCommand)
    assert again.lifetime == CONFIG.command_lifetime and not again.is_neutral


def test_a_verb_waits_until_the_arbiter_has_its_neutral(bench: Bench) -> None:
    bench.arbiter(WAITS)
    assert said(bench.calling("stow")) == [STILL]
    assert bench.tick(0.01) == []
    (begun,) = said(bench.arbiter(LISTENS))
    assert begun == replace(VERBS["stow"].command, lifetime=CONFIG.command_lifetime)


def test_a_verb_that_nobody_listens_to_is_given_up(bench: Bench) -> None:
    assert bench.calling("stow") == []
    assert bench.tick(LISTEN_TIME - 0.01) == []
    ((number, success, message),) = answers(bench.tick(0.02))
    assert (number, success) == (1, False) and "does not listen" in message


def test_a_verb_ends_when_the_arbiter_falls_silent(bench: Bench) -> None:
    bench.running("stow")
    out = bench.tick(LISTEN_TIME)
    assert said(out) == [STILL] and answers(out)[0][1] is False


def test_a_pose_is_reached_when_the_arm_no_longer_moves_to_it(bench: Bench) -> None:
    bench.running("deploy")
    assert bench.arm(replace(OBEYS, moving_to=Pose.DEPLOYED)) == []
    out = bench.arm(OBEYS)
    assert said(out) == [STILL] and answers(out) == [(1, True, "there")]


def test_an_arm_that_is_there_already_is_given_time_to_say_otherwise(bench: Bench) -> None:
    bench.running("deploy")
    assert bench.arm(OBEYS, BEGIN_TIME - 0.01) == []
    assert answers(bench.arm(OBEYS, 0.02)) == [(1, True, "there")]


def test_an_arm_that_does_not_obey_has_reached_nothing(bench: Bench) -> None:
    bench.running("deploy")
    bench.arm(replace(OBEYS, moving_to=Pose.DEPLOYED))
    assert bench.arm(ArmView(), 5.0) == []


def test_a_pose_that_is_held_back_is_given_up_with_the_reason(bench: Bench) -> None:
    bench.running("stow")
    held = replace(OBEYS, moving_to=Pose.STOWED, held_back_by=("collision link_b hull",))
    assert bench.arm(held) == []
    assert bench.arm(replace(held, held_back_by=())) == []  # it got on
    assert bench.arm(held, STUCK_TIME) == []
    out = bench.arm(held, STUCK_TIME)
    assert said(out) == [STILL]
    assert answers(out) == [(1, False, "held back by collision link_b hull")]


@pytest.mark.parametrize(
    ("arm", "message"),
    [
        (replace(OBEYS, holding=True), "the jaws hold something"),
        (replace(OBEYS, jaws_at_limit=True), "the jaws are at their end"),
    ],
)
def test_jaws_end_where_they_hold_or_their_limit_is(
    bench: Bench, arm: ArmView, message: str
) -> None:
    bench.running("close_jaws")
    assert bench.arm(OBEYS) == []
    assert answers(bench.arm(arm)) == [(1, True, message)]


def test_U12_an_arm_that_is_held_back_and_goes_nowhere_is_not_there(bench: Bench) -> None:
    bench.running("deploy")
    bench.arm(replace(OBEYS, moving_to=Pose.DEPLOYED))
    held = replace(OBEYS, held_back_by=("limit axis_d",))
    assert bench.arm(held) == [] and bench.arm(held, STUCK_TIME / 2) == []
    assert answers(bench.arm(held, STUCK_TIME)) == [(1, False, "held back by limit axis_d")]


def test_U12_jaws_that_never_moved_have_not_done_it(bench: Bench) -> None:
    bench.running("open_jaws")
    standing = replace(OBEYS, jaw_speed=0.0)
    assert bench.arm(standing) == []
    assert answers(bench.arm(standing, REST_TIME + 0.01)) == [(1, False, "the jaws did not move")]


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (ArbiterView(latched="e-stop of pad", listens=True), "call reset"),
        (ArbiterView(owner="planner", listens=True), "planner has the arm"),
    ],
)
def test_rule3_a_call_against_a_latch_or_another_owner_is_answered_at_once(
    bench: Bench, view: ArbiterView, words: str
) -> None:
    bench.arbiter(view)
    out = bench.calling("stow")
    assert said(out) == []
    ((_, success, message),) = answers(out)
    assert not success and words in message
    assert bench.arbiter(WAITS) == [] and bench.arbiter(LISTENS) == []  # after a reset


def test_a_call_does_not_trust_what_the_arbiter_said_long_ago(bench: Bench) -> None:
    bench.arbiter(LISTENS)
    bench.now += LISTEN_TIME
    assert bench.calling("stow") == []


def test_jaws_that_stand_are_at_their_end_and_an_unknown_speed_is_none(bench: Bench) -> None:
    bench.running("open_jaws")
    unknown, standing = replace(OBEYS, jaw_speed=math.nan), replace(OBEYS, jaw_speed=0.0)
    assert bench.arm(OBEYS) == []
    assert bench.arm(unknown) == [] and bench.arm(unknown, 10 * REST_TIME) == []
    assert bench.arm(standing) == []
    assert bench.arm(OBEYS, REST_TIME) == []  # they moved meanwhile
    assert bench.arm(standing) == []
    assert answers(bench.arm(standing, REST_TIME + 0.01)) == [(1, True, "the jaws go no further")]


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (ArbiterView(latched="e-stop of pad"), "e-stop of pad"),
        (ArbiterView(owner="teleop", listens=True), "teleop has the arm"),
        (ArbiterView(listens=True, refusals=1, reason="not_owner: ask"), "not_owner: ask"),
        (WAITS, "the arbiter stopped it"),
        (ArbiterView(), "the arbiter stopped it"),
    ],
)
def test_rule3_a_verb_that_is_stopped_does_not_begin_anew(
    bench: Bench, view: ArbiterView, words: str
) -> None:
    out = bench.running("stow").arbiter(view)
    assert said(out) == [STILL]
    ((number, success, message),) = answers(out)
    assert (number, success) == (1, False) and words in message
    assert bench.arbiter(LISTENS) == [] and bench.tick(1.0) == []


def test_refusals_from_before_the_call_do_not_end_it(bench: Bench) -> None:
    old = replace(LISTENS, refusals=7, reason="long ago")
    bench.arbiter(old)
    bench.calling("stow")
    assert answers(bench.arbiter(old)) == []


def test_B5_a_verb_runs_for_its_caller_and_no_longer(bench: Bench) -> None:
    bench.running("stow")
    out = bench.tick(0.1, ["deploy"])
    assert said(out) == [STILL] and answers(out) == [(1, False, "the caller is gone")]


def test_a_verb_is_bounded_in_time(bench: Bench) -> None:
    bench.running("stow")
    out: list[Output] = []
    while not answers(out):
        bench.arbiter(LISTENS)
        out = bench.tick(1.0)
    assert said(out) == [STILL] and "not done in 60 s" in answers(out)[0][2]


def test_a_newer_call_replaces_the_one_that_runs(bench: Bench) -> None:
    out = bench.running("stow").calling("deploy", number=2)
    assert said(out)[0] == STILL and answers(out) == [(1, False, "deploy was called")]
    assert said(out)[1] == replace(VERBS["deploy"].command, lifetime=CONFIG.command_lifetime)


def test_stop_ends_whatever_runs_and_is_said_even_when_nothing_does(bench: Bench) -> None:
    assert said(bench.core.stop(9)) == [STILL]
    out = bench.running("stow").core.stop(2)
    assert said(out) == [STILL] and answers(out) == [(1, False, "stopped"), (2, True, "stopped")]
    bench.now += 1.0
    out = bench.jogging().core.stop(3)
    assert said(out) == [STILL] and answers(out) == [(3, True, "stopped")]
    assert refused(bench.twist(AHEAD)) == [("not_armed", 1)]


def test_stop_says_when_somebody_else_moves_the_arm(bench: Bench) -> None:
    bench.arbiter(ArbiterView(owner="teleop", listens=True))
    out = bench.core.stop(4)
    assert said(out) == [STILL]
    assert answers(out) == [(4, False, "nothing of ours runs; teleop has the arm")]


@pytest.mark.parametrize("armed", [True, False])
def test_a_twist_that_moves_ends_a_verb_and_a_zero_one_does_not(bench: Bench, armed: bool) -> None:
    bench.running("stow")
    if armed:
        assert answers(bench.twist(ZERO)) == []
    out = bench.twist(AHEAD)
    assert said(out)[0] == STILL and answers(out)[0][:2] == (1, False)
    assert bool(refused(out)) is not armed


def test_a_call_ends_the_motion_of_twists(bench: Bench) -> None:
    bench.arbiter(LISTENS)
    bench.jogging()
    assert said(bench.calling("stow"))[0] == STILL
    assert refused(bench.twist(AHEAD)) == [("not_armed", 1)]


@pytest.mark.parametrize("moving", ["twists", "verb", "nothing"])
def test_rule11_what_moves_is_ended_and_answered_before_we_leave(
    bench: Bench, moving: str
) -> None:
    if moving == "twists":
        bench.jogging()
    elif moving == "verb":
        bench.running("stow")
    out = bench.core.close()
    assert said(out) == ([] if moving == "nothing" else [STILL])
    assert [answer[:2] for answer in answers(out)] == ([(1, False)] if moving == "verb" else [])
