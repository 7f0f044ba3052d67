"""Goals and joint streams of a planner, judged by the bytes at the arm and its true joints.

What else there is to refuse, and when, is in the tests of the arbiter's core. Here is that what is
decided there is what the arm does.
"""

import os
import signal
import time
from itertools import pairwise

import pytest
from action_msgs.msg import GoalStatus
from arbiter_goals_rig import crew_beside, planner
from arbiter_planner_rig import ARM, Heart, Sweep, point, trajectory
from arbiter_runs_rig import STALLS, Stalled, unless_stalled
from control_msgs.action import FollowJointTrajectory
from line_rig import (
    BASE,
    JAWS,
    SHOULDER,
    STOP,
    ends_with_a_stop,
    has_a_stop,
    rates,
    rests,
    stays_still,
    stops_between,
)
from rclpy.duration import Duration

from reach_alpha5_msgs.msg import GoalStatus as Phase
from reach_alpha5_msgs.msg import StreamStatus
from reach_alpha5_msgs.srv import CloseStream, OpenStream

Result = FollowJointTrajectory.Result

HERE, THERE = (1.3, 1.3, 1.2, 0.8), (0.5, 0.9, 1.2, 0.8)
"""Base and shoulder at two places, elbow and wrist; not stowed."""

DURATION = 6.0
"""Of the way from one to the other [s]: long enough to do something meanwhile."""

GOAL_TOLERANCE, PATH_TOLERANCE = 0.02, 0.2
"""The arbiter's, where a goal does not say [rad]."""

HEARTBEAT_TIMEOUT = 0.5
"""The arbiter's, of the planner [s]."""


@pytest.fixture(scope="module")
def crew(shared_rig):
    shared_rig.settle()
    with crew_beside(shared_rig) as crew:
        yield crew


def away(crew):
    """Return where the arm is not."""
    base = crew.positions()[0]
    return max((HERE, THERE), key=lambda posture: abs(posture[0] - base))


def under_way(crew):
    """Have a goal followed to where the arm is not, well under way."""
    return crew.follow(point(away(crew), DURATION)).moves()


def refusals(crew, code):
    """Return how often the planner was refused so."""
    state = crew.rig.arbiter()
    lasts = (state.last_refusal, *state.earlier_refusals)
    return sum(last.count for last in lasts if (last.code, last.source) == (code, "planner"))


@unless_stalled
def test_C11_a_trajectory_is_followed_and_its_result_comes_when_the_arm_stands(crew):
    target = away(crew)
    run = crew.follow(point(target, 4.0)).succeeds()
    run.stood()
    assert {joint["velocity"] for joint in crew.joints().values()} == {0.0}
    assert crew.positions() == pytest.approx(target, abs=GOAL_TOLERANCE)
    assert {tuple(each.joint_names) for each in run.feedbacks} == {ARM}
    errors = [abs(error) for each in run.feedbacks for error in each.error.positions]
    assert 0.0 < max(errors) < PATH_TOLERANCE
    stays_still(crew.rig, "the end of a goal")


@pytest.mark.parametrize(
    ("names", "stamp", "code", "error"),
    [
        (ARM[:3], 0, "partial_goal", Result.INVALID_JOINTS),
        ((*ARM, "tail"), 0, "unknown_joint", Result.INVALID_JOINTS),
        (ARM, 1000, "start_passed", Result.OLD_HEADER_TIMESTAMP),
    ],
)
@unless_stalled
def test_rule10_a_goal_that_cannot_be_followed_is_refused_with_its_code(
    crew, names, stamp, code, error
):
    goal = trajectory(point([1.0] * len(names), 4.0), names=names)
    goal.trajectory.header.stamp.sec = stamp
    before = refusals(crew, code)
    run = crew.send(crew.trajectories, goal).ends(code, error)
    crew.rig.wait(lambda: refusals(crew, code) > before, "it is told")
    assert run.told() == []


@unless_stalled
def test_rule3_a_goal_needs_a_heartbeat_and_after_its_return_a_neutral(crew):
    crew.leave("planner")
    target = away(crew)
    runs = [crew.follow(point(target, DURATION)).ends("source_not_alive")]
    crew.come("planner")
    runs.append(crew.follow(point(target, DURATION)).ends("neutral_required"))
    assert [run.told() for run in runs] == [[], []]
    crew.arm_planner()
    under_way(crew)


@unless_stalled
def test_C11_a_stamped_start_is_waited_for(crew):
    rig = crew.rig
    goal = trajectory(point(away(crew), DURATION))
    before = time.monotonic_ns()
    start = rig.client.node.get_clock().now() + Duration(seconds=1.0)
    goal.trajectory.header.stamp = start.to_msg()
    run = crew.send(crew.trajectories, goal)
    run.until(lambda: rig.arbiter().goal.state == Phase.WAITING, "it waits")
    run.moves()
    assert run.wire().motion_frames()[0].end_ns >= before + 1_000_000_000


@unless_stalled
def test_C11_a_cancelled_goal_slows_down_along_its_path_and_stops_once(crew):
    start = crew.positions()
    way = [there - here for here, there in zip(start, away(crew), strict=True)]
    run = under_way(crew)
    run.until(lambda: abs(run.wire().demanded().get(BASE, 0.0)) > 0.1, "some speed")
    cancelled_ns = time.monotonic_ns()
    run.cancel()
    run.ends("goal_canceled", status=GoalStatus.STATUS_CANCELED)
    told = run.stood()
    moving = told[: -len(STOP)]
    if has_a_stop(moving):  # what was said last was over before the next came
        raise Stalled("it stopped more than once")
    slowing = rates(moving, BASE, SHOULDER, since_ns=cancelled_ns)
    if len(slowing) < 5:
        raise Stalled("few set-points while it slowed down")
    for base, shoulder in slowing:
        along = way[1] / way[0] * base
        assert shoulder == pytest.approx(along, rel=0.25, abs=0.01), slowing
    speeds = [abs(base) for base, _ in slowing]
    falling = speeds[speeds.index(max(speeds)) :]
    rises = [after - before for before, after in pairwise(falling)]
    if max(rises) > 0.01:  # a set-point that came late is caught up with
        raise Stalled(f"it did not slow down evenly: {falling}")
    assert falling[-1] < 0.5 * falling[0], falling
    stays_still(crew.rig, "a cancelled goal")


@unless_stalled
def test_C11_a_newer_goal_of_another_client_waits_until_the_older_one_has_stopped(crew):
    back, sign = crew.positions(), 1.0 if away(crew) is HERE else -1.0
    first = under_way(crew)
    first.until(lambda: abs(crew.positions()[0] - back[0]) > 0.1, "some way")
    second = crew.send(crew.others, trajectory(point(back, 2.0)))
    first.ends("replaced")
    second.succeeds()
    assert has_a_stop(
        stops_between(
            first.wire().velocities(),
            lambda told: told.device_id == BASE and told.value * sign > 0.02,
            lambda told: told.device_id == BASE and told.value * sign < -0.02,
        )
    )
    assert crew.positions() == pytest.approx(back, abs=GOAL_TOLERANCE)


@unless_stalled
def test_rule4_a_person_who_preempts_a_goal_moves_the_arm_after_its_stop(crew):
    run = under_way(crew)
    crew.jog(0.5)
    run.ends("preempted")
    crew.rig.wait(lambda: run.wire().demanded().get(JAWS), "the person moves the jaws")
    between = stops_between(
        run.wire().velocities(),
        lambda told: told.device_id == BASE and told.value,
        lambda told: told.device_id == JAWS and told.value,
    )
    assert has_a_stop(between)
    assert crew.rig.arbiter().owner == "app"
    crew.jog(0.0)
    crew.rig.wait(lambda: rests(run.wire()), "the person lets go")
    stays_still(crew.rig, "a preempted goal")


@unless_stalled
def test_rule4_two_planners_stop_the_arm(crew):
    run = under_way(crew)
    second = Heart(crew.rig.client.node, "planner", client_id="second")
    try:
        run.ends("two_clients")
        run.stood()
    finally:
        second.stop()


@unless_stalled
def test_rule1_an_estop_ends_a_goal_at_once(crew):
    run = under_way(crew)
    run.until(lambda: abs(run.wire().demanded().get(BASE, 0.0)) > 0.1, "some speed")
    crew.rig.client.call("estop")
    run.ends("estop")
    told = run.stood()
    last = [each.value for each in told if each.device_id == BASE and each.value][-1]
    assert abs(last) > 0.08, "it did not slow down before"
    stays_still(crew.rig, "an e-stop in a goal")


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "hangs"])
@unless_stalled
def test_D6_the_arm_stops_when_the_planner_dies_or_hangs(crew, end):
    target = away(crew)
    with planner(crew, "goal", ",".join(map(str, target)), DURATION) as run:
        run.moves()
        run.stops_after(end, HEARTBEAT_TIMEOUT)
        crew.rig.wait(lambda: not crew.status("planner").alive, "the planner is not heard")
        assert abs(target[0] - crew.positions()[0]) > 10 * GOAL_TOLERANCE, "short of its end"
        stays_still(crew.rig, "the end of the planner")
        if end == signal.SIGSTOP:
            run.process.send_signal(signal.SIGCONT)
            crew.rig.wait(lambda: crew.status("planner").alive, "the planner is heard again")
            stays_still(crew.rig, "a planner that woke up")


@pytest.mark.parametrize("width", [0.010, 0.003], ids=["opens", "closes"])
@unless_stalled
def test_C11_the_jaws_go_where_a_gripper_goal_says(crew, width):
    run = crew.grip(width)
    result = run.grips()
    assert (result.reached_goal, result.stalled) == (True, False)
    assert crew.positions(["axis_a"]) == pytest.approx([width], abs=0.0005)
    assert result.position == pytest.approx(width, abs=0.0005)
    told = run.stood()
    assert {each.device_id for each in told if each.value} == {JAWS}


@unless_stalled
def test_C11_jaws_that_meet_something_hold_it_and_the_goal_says_so(crew):
    crew.grip(0.008).grips()
    crew.line("object 0.006")
    try:
        result = crew.grip(0.001).grips()
        assert (result.reached_goal, result.stalled) == (False, True)
        assert crew.positions(["axis_a"]) == pytest.approx([0.006], abs=0.001)
    finally:
        crew.line("object none")


@unless_stalled
def test_rule10_a_gripper_goal_cannot_set_how_hard_the_jaws_grip(crew):
    before = refusals(crew, "not_supported")
    run = crew.grip(0.005, effort=1.0)
    assert run.told() == []
    assert (run.result.reached_goal, run.result.stalled) == (False, False)
    assert run.status == GoalStatus.STATUS_ABORTED
    crew.rig.wait(lambda: refusals(crew, "not_supported") > before, "it is told")


# ---- joint streams -----------------------------------------------------------------------------


def opened(crew):
    """Have a stream opened; return its number."""
    request = OpenStream.Request(source="planner", client_id="planner", kind=StreamStatus.JOINT)
    answer = crew.rig.client.ask(OpenStream, "open_stream", request)
    if answer.code in STALLS:
        raise Stalled(answer.message)
    assert answer.success, answer.message
    crew.rig.wait(lambda: shown(crew).stream_id == answer.stream_id, "the stream is shown")
    crew.rig.wait(crew.sweep.has_listener, "the arbiter listens to set-points")
    return answer.stream_id


def shown(crew):
    """Return what the arbiter shows of streams."""
    return crew.rig.arbiter().stream


def still_open(crew):
    """Whether the stream is open; that it is not is the machine's doing."""
    if not shown(crew).open:
        raise Stalled(f"the stream was closed: {shown(crew).closed_because}")
    return True


@unless_stalled
def test_R3_setpoints_on_an_open_stream_move_the_arm_and_its_idleness_closes_it(crew):
    rig, mark = crew.rig, crew.rig.stack.mark()
    start = crew.positions()[0]
    velocity = 0.15 if away(crew) is HERE else -0.15
    number, before = opened(crew), refusals(crew, "neutral_required")
    crew.sweep.begin(number, start, velocity)
    rig.wait(lambda: refusals(crew, "neutral_required") > before, "a neutral is needed")
    crew.sweep.end()
    assert rig.stack.wire(mark).motion_frames() == []

    crew.sweep.hold(number)
    rig.wait(lambda: not crew.status("planner").neutral_required or not still_open(crew), "armed")
    crew.sweep.begin(number, start, velocity)
    rig.wait(
        lambda: abs(crew.positions()[0] - start) > 0.1 or not still_open(crew), "the base turns"
    )
    assert (crew.positions()[0] - start) * velocity > 0.0
    assert (shown(crew).kind, shown(crew).source) == (StreamStatus.JOINT, "planner")
    assert (shown(crew).stream_id, rig.arbiter().owner) == (number, "planner")
    rig.wait(lambda: shown(crew).commands > 10 or not still_open(crew), "it counts them")

    crew.sweep.end()
    rig.wait(lambda: rests(rig.stack.wire(mark)), "its last one ended")
    rig.wait(lambda: not shown(crew).open, "idleness closes it")
    because = shown(crew).closed_because
    if because != "idle" and because in STALLS:
        raise Stalled(because)
    assert because == "idle"
    rig.wait(lambda: rig.arbiter().owner == "", "the lease is free")
    before = refusals(crew, "no_stream")
    crew.sweep.begin(number, crew.positions()[0], velocity)
    rig.wait(lambda: refusals(crew, "no_stream") > before, "what comes now is refused")
    crew.sweep.end()
    stays_still(rig, "a stream that is closed")


@unless_stalled
def test_R3_a_stream_that_is_closed_stops_the_arm(crew):
    rig, mark = crew.rig, crew.rig.stack.mark()
    number = opened(crew)
    crew.sweep.hold(number)
    crew.sweep.begin(number, crew.positions()[0], 0.15 if away(crew) is HERE else -0.15)
    rig.wait(
        lambda: len(rig.stack.wire(mark).motion_frames()) > 30 or not still_open(crew), "motion"
    )
    request = CloseStream.Request(source="planner", client_id="planner", stream_id=number)
    answer = rig.client.ask(CloseStream, "close_stream", request)
    if answer.code == "no_stream":
        raise Stalled(shown(crew).closed_because)
    assert answer.success
    rig.wait(lambda: rests(rig.stack.wire(mark)), "closing stops it")
    rig.wait(lambda: shown(crew).closed_because == "closed", "the state tells why")
    stays_still(rig, "a stream that was closed, set-points still coming")


@unless_stalled
def test_D6_R3_the_arm_stops_within_a_setpoints_lifetime_when_its_client_is_killed(crew):
    velocity = 0.1 if away(crew) is HERE else -0.1
    with planner(crew, "stream", crew.positions()[0], velocity) as run:
        run.moves()
        run.stops_after(signal.SIGKILL, Sweep.LIFETIME)
        stays_still(crew.rig, "the end of a stream's client")


# ---- the arm's own side ------------------------------------------------------------------------


@unless_stalled
def test_U13_a_goal_is_aborted_when_the_driver_is_killed_and_nothing_goes_on_later(crew):
    run = under_way(crew)
    try:
        os.kill(crew.pid("driver"), signal.SIGKILL)
        crew.rig.wait(lambda: ends_with_a_stop(run.wire().velocities()), "the guard's stop")
        # Nobody confirms that the arm rests.
        assert run.code in ("driver_lost", "stop_unconfirmed"), run.result.error_string
        assert run.status == GoalStatus.STATUS_ABORTED
    finally:
        crew.restart("driver")
    crew.rig.wait(lambda: crew.rig.arbiter().driver_connected, "the driver is back")
    stays_still(crew.rig, "the driver is back")


@unless_stalled
def test_U13_an_arbiter_that_is_asked_to_leave_in_a_goal_leaves_the_arm_still(crew):
    run = under_way(crew)
    try:
        os.kill(crew.pid("arbiter"), signal.SIGTERM)
        crew.rig.wait(lambda: rests(run.wire()), "the last word")
    finally:
        crew.restart("arbiter")
    stays_still(crew.rig, "the end of the arbiter")
