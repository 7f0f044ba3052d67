"""The edges of goals: what must not touch them, and the moments at which they begin and end."""

from __future__ import annotations

from dataclasses import replace

from arbiter_bench import BOT, FORWARD, NONSENSE, PAD, STILL, kinds, refused, stops
from arbiter_goals import (
    HOME,
    READY,
    WITH_GOALS,
    GoalBench,
    endings,
    goal,
    setpoints,
)

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.tables import Activity
from reach_alpha5_arbiter.trajectory import Point


def progress(outputs: list[events.Output]) -> list[events.GoalProgress]:
    return [each for each in outputs if isinstance(each, events.GoalProgress)]


def test_a_goal_at_rest_begins_without_a_stop_before_it() -> None:
    bench = GoalBench()
    assert kinds(bench.ask(goal())) == ["JOINT"]


def test_cancelling_a_goal_that_is_unknown_changes_nothing() -> None:
    bench = GoalBench()
    bench.ask(goal("runs"))
    bench.hear(events.GoalCancelled("another"))
    assert bench.state.activity is Activity.TRAJECTORY
    bench = GoalBench()
    bench.ask(goal("waits", starts_in=1.0))
    assert not endings(bench.hear(events.GoalCancelled("another")))
    assert bench.state.goal.id == "waits"


def test_the_progress_of_a_goal_is_told_until_its_stop_and_no_longer() -> None:
    bench = GoalBench()
    bench.ask(goal())
    assert progress(bench.run(0.1))
    bench.hear(events.EStopPress(2, "pilot", ""))
    assert bench.state.activity is Activity.CONCLUDING
    assert not progress(bench.hear(bench.posture()))


def test_a_goal_that_cannot_begin_from_where_the_arm_is_ends_and_says_why() -> None:
    bench = GoalBench()
    here = HOME[:4]
    elsewhere = tuple(position + 0.5 for position in here)
    rest = (0.0,) * 4
    points = (Point(0.0, elsewhere, rest), Point(1.0, here, rest))
    out = bench.ask(replace(goal(), points=points))
    assert refused(out) == ["start_elsewhere"]
    (told,) = [each.refusal for each in out if isinstance(each, events.Refused)]
    assert told.source == BOT
    assert endings(out) == [("goal", "aborted", "start_elsewhere")]
    assert not setpoints(out)


def test_a_goal_waits_for_feedback_up_to_its_time_out_and_not_at_its_end() -> None:
    bench = GoalBench()
    bench.now = 1100.0
    bench.hear(bench.beat(BOT), READY)
    bench.command(BOT, STILL)
    assert not endings(bench.hear(events.GoalAsked(goal())))
    bench.now += WITH_GOALS.goals.feedback_timeout - 0.1
    bench.hear(bench.beat(BOT), READY)
    assert not endings(bench.hear(events.Tick()))
    bench.now = 1100.0 + WITH_GOALS.goals.feedback_timeout
    assert endings(bench.hear(events.Tick())) == [("goal", "aborted", "no_feedback")]


def test_a_command_that_waited_until_its_lifetime_was_over_is_not_said() -> None:
    bench = GoalBench()
    bench.alive = [BOT, PAD]
    bench.arm(PAD)
    bench.ask(goal())
    bench.run(0.2)
    at = bench.now
    bench.command(PAD, replace(FORWARD, lifetime=0.5))
    bench.run(0.36)
    assert bench.state.activity is Activity.CONCLUDING
    bench.now = at + 0.5
    assert "INPUT" not in kinds(bench.hear(READY, events.JointFeedback(True), events.Tick()))
    assert bench.state.activity is Activity.STILL


def test_a_refused_command_of_somebody_else_lets_a_goal_wait_on() -> None:
    bench = GoalBench()
    bench.hear(bench.beat(PAD))
    bench.ask(goal(starts_in=0.5))
    assert not endings(bench.command(PAD, NONSENSE))
    assert setpoints(bench.run(0.6))


def test_somebody_else_going_does_not_matter_to_a_goal() -> None:
    bench = GoalBench()
    bench.arm(PAD)
    bench.ask(goal())
    assert not stops(bench.hear(events.SourceGone(PAD)))
    assert bench.state.activity is Activity.TRAJECTORY


def test_rule5_a_goal_that_waits_is_dropped_by_a_person_and_says_that_it_was_ousted() -> None:
    bench = GoalBench()
    bench.arm(PAD)
    bench.ask(goal(starts_in=2.0))
    out = bench.command(PAD, FORWARD)
    assert endings(out) == [("goal", "aborted", "ousted")]
    assert kinds(out) == ["INPUT"]


def test_the_planner_s_own_command_replaces_its_goal_that_waits() -> None:
    bench = GoalBench()
    bench.ask(goal(starts_in=2.0))
    out = bench.command(BOT, FORWARD)
    assert endings(out) == [("goal", "aborted", "replaced")]
    assert kinds(out) == ["INPUT"]


def test_of_a_goal_that_ended_no_points_are_kept() -> None:
    bench = GoalBench()
    bench.ask(goal(starts_in=2.0))
    bench.hear(events.GoalCancelled("goal"))
    assert bench.arbiter.state.ended is not None
    ended, _ = bench.arbiter.state.ended
    assert ended.id == "goal"
    assert not ended.points
