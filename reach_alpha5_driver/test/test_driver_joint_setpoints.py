"""Set-points of joints through the whole driver, to the true joints of the simulated arm."""

from __future__ import annotations

import math

import numpy as np
import pytest
from arm_description import PREFIX, description
from set_point_rig import LIFETIME, SPACING, START, SetPointRig

from reach_alpha5_common.command import (
    STILL,
    ArmInput,
    Cartesian,
    CommandKind,
    DriverCommand,
    GripperCommand,
    JointCommand,
    StopLevel,
)
from reach_alpha5_driver.reporting import arm_picture
from reach_alpha5_driver.states import State
from reach_alpha5_motion.model import ArmModel
from reach_alpha5_motion.speed import MotionConfig

A = 4
RAMP = MotionConfig().ramp_time
COMES_TO_REST = 0.25
"""Until a stop has arrived and the joints have obeyed it [s]."""
ARRIVED = np.array([0.01, 0.01, 0.01, 0.01, 2.5e-4])
"""Half of what a goal tolerates by default [rad, m]."""
AHEAD = np.array([3.5, 1.97, 1.97, 3.5, 0.009])
FORWARD = GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(x=1.0))


@pytest.fixture(scope="module")
def model() -> ArmModel:
    texts = description()
    return ArmModel.from_urdf(texts["robot_description"], texts["prefix"])


@pytest.fixture
def rig(model: ArmModel) -> SetPointRig:
    return SetPointRig(model)


def there_and_back(speed: float):
    """All joints to AHEAD and back, at up to this speed of the fastest, from rest to rest."""
    way = AHEAD - START
    turn = 2.0 * speed / float(np.abs(way).max())

    def at(seconds: float):
        if seconds * turn >= 2.0 * math.pi:
            return np.array(START), np.zeros(5)
        share, rate = (1.0 - math.cos(turn * seconds)) / 2.0, turn * math.sin(turn * seconds) / 2.0
        return START + way * share, way * rate

    return at, 2.0 * math.pi / turn


def hold(rig: SetPointRig, seconds: float, positions=AHEAD, **fields) -> None:
    """Repeat a set-point."""
    for _ in range(round(seconds / SPACING)):
        rig.set_point(positions, **fields)
        rig.run(SPACING)


def refusal(rig: SetPointRig) -> str:
    last = rig.core.desk.refusals.last
    return "" if last is None else last.code


# -- following


@pytest.mark.parametrize("speed", [0.1, 0.3, 0.5])
def test_C11_a_trajectory_is_followed_by_the_true_joints(rig, speed):
    trajectory, seconds = there_and_back(speed)
    errors = np.abs(rig.follow(trajectory, seconds + 1.5))
    assert (errors[:, :A] <= 0.012).all(), errors.max(axis=0)
    assert (errors[:, A] <= 2e-4).all(), errors.max(axis=0)
    assert (errors[-1] <= ARRIVED).all()
    assert refusal(rig) == ""
    picture = arm_picture(rig.core, rig.now)
    assert picture.blocked_by == ()
    assert picture.fault_causes == ()
    assert picture.control_mode == ArmInput.NONE


def test_C11_at_its_end_the_arm_rests_where_it_is(rig):
    hold(rig, 4.0)
    assert (np.abs(rig.posture - AHEAD) <= ARRIVED).all()
    place, moved = rig.posture, 0
    for _ in range(100):
        hold(rig, SPACING)
        moved += bool(rig.velocities.any())
    assert (np.abs(rig.posture - place) <= ARRIVED / 10.0).all()
    assert moved < 10
    assert rig.core.gate.state is State.EXECUTING


def test_what_is_not_named_does_not_move(rig):
    hold(rig, 1.0, joints=[0, 3])
    moved = np.abs(rig.posture - START) > 1e-9
    assert moved.tolist() == [True, False, False, True, False]


def test_jaws_that_meet_something_hold_it_and_the_arm_goes_on(rig):
    rig.simulation.arm.grip(0.005)
    goal = AHEAD.copy()
    goal[A] = 0.002
    hold(rig, 4.0, goal)
    picture = arm_picture(rig.core, rig.now)
    assert picture.holding
    assert picture.fault_causes == ()
    assert (np.abs(rig.posture - goal) <= ARRIVED)[:A].all()
    limit = rig.core.config.grip.grip_current
    assert 0.0 < -rig.simulation.arm.joints[1].current / 1000.0 <= limit + 1e-6


# -- how it ends


def test_rule_12_silence_stops_the_arm_when_the_set_point_is_over(rig):
    hold(rig, 1.0)
    assert rig.velocities.all()
    rig.run(LIFETIME + COMES_TO_REST)
    assert not rig.velocities.any()
    assert rig.core.gate.last_stop_cause == "expired"
    assert rig.core.gate.last_stop_at <= rig.now - COMES_TO_REST


def test_a_stop_is_at_once_and_one_with_a_lifetime_fades(rig):
    for lifetime, most in ((0.0, 0), (0.5, RAMP / 0.02 + 3)):
        hold(rig, 0.6, AHEAD if rig.posture[0] < 3.2 else START)
        assert rig.velocities.all()
        stops, speeds = rig.core.gate.stops, []
        rig.say(DriverCommand(CommandKind.STOP, lifetime=lifetime))
        while rig.core.gate.stops == stops:
            rig.run(0.02)
            speeds.append(abs(rig.velocities[0]))
        assert len(speeds) <= most + 1
        assert not lifetime or len(speeds) >= 5
        assert speeds == sorted(speeds, reverse=True)
        rig.run(COMES_TO_REST)
        assert not rig.velocities.any()


def test_rule_1_an_estop_stops_it_and_the_stream_does_not_drive_through(rig):
    hold(rig, 0.6)
    rig.core.on_estop(StopLevel.SETTLE_THEN_CUT, "somebody", "", rig.now)
    hold(rig, 0.6)
    assert refusal(rig) == "estop_latched"
    assert not rig.velocities.any()


def test_a_set_point_without_joints_is_a_neutral_word(rig):
    hold(rig, 0.6)
    rig.set_point(START, joints=[])
    rig.run(COMES_TO_REST)
    assert not rig.velocities.any()
    assert rig.core.gate.last_stop_cause == "neutral"
    rig.core.gate.disengage("stale_posture", rig.now)
    hold(rig, 0.1)
    assert refusal(rig) == "not_engaged"
    rig.set_point(START, joints=[])
    hold(rig, 0.2)
    assert rig.velocities.all()


@pytest.mark.parametrize("kind", ["speeds after places", "places after speeds"])
def test_the_newest_command_counts_whichever_it_is(rig, kind):
    jog = DriverCommand(CommandKind.INPUT, input=FORWARD, lifetime=LIFETIME)
    first, second = (hold, rig.say) if kind == "speeds after places" else (rig.say, hold)
    for act in (first, second):
        for _ in range(40):
            if act is hold:
                hold(rig, SPACING)
            else:
                rig.say(jog)
                rig.run(SPACING)
    jogs = kind == "speeds after places"
    assert arm_picture(rig.core, rig.now).control_mode == (ArmInput.CARTESIAN if jogs else 0)
    assert bool(rig.velocities[A]) is not jogs
    assert rig.velocities.any()


# -- what is refused


@pytest.mark.parametrize(
    ("code", "command"),
    [
        ("unknown_joint", JointCommand(("axis_e",), (3.0,), (0.0,))),
        ("unknown_joint", JointCommand((PREFIX + "axis_f",), (3.0,), (0.0,))),
        ("beyond_limit", JointCommand((PREFIX + "axis_e",), (6.31,), (0.0,))),
        ("beyond_limit", JointCommand((PREFIX + "axis_e",), (6.2,), (0.0,))),
        ("beyond_limit", JointCommand((PREFIX + "axis_a",), (0.001,), (0.0,))),
        ("too_fast", JointCommand((PREFIX + "axis_d",), (1.6,), (0.53,))),
    ],
)
@pytest.mark.parametrize("moving", [True, False])
def test_rule_10_what_cannot_be_obeyed_ends_the_motion_until_let_go(rig, code, command, moving):
    """6.2 rad and 1 mm are within the description, and beyond the limits of the arm itself."""
    if moving:
        hold(rig, 0.6)
    rig.say(DriverCommand(CommandKind.JOINT, joint=command, lifetime=LIFETIME))
    rig.run(SPACING)
    assert refusal(rig) == code
    hold(rig, RAMP + 0.1)
    assert rig.core.gate.state is State.IDLE, "whoever sends them sees that they are not obeyed"
    assert refusal(rig) == "not_engaged"
    hold(rig, COMES_TO_REST)
    assert not rig.velocities.any()
    rig.say(DriverCommand(CommandKind.STOP))
    hold(rig, 0.2)
    assert rig.velocities.any()


@pytest.mark.parametrize(
    ("code", "command", "lifetime"),
    [
        ("bad_lifetime", JointCommand((PREFIX + "axis_e",), (3.0,), (0.0,)), 0.0),
        ("bad_lifetime", JointCommand((PREFIX + "axis_e",), (3.0,), (0.0,)), 0.51),
        ("not_finite", JointCommand((PREFIX + "axis_e",), (math.nan,), (0.0,)), 0.2),
        ("bad_sizes", JointCommand((PREFIX + "axis_e",), (3.0,), ()), 0.2),
        ("bad_sizes", JointCommand((), (3.0,), ()), 0.2),
        ("joint_named_twice", JointCommand((PREFIX + "axis_e",) * 2, (3.0,) * 2, (0.0,) * 2), 0.2),
    ],
)
def test_rule_10_a_malformed_set_point_stops_the_arm_at_once(rig, code, command, lifetime):
    hold(rig, 0.6)
    rig.say(DriverCommand(CommandKind.JOINT, joint=command, lifetime=lifetime))
    assert refusal(rig) == code
    assert rig.core.gate.last_stop_cause == "refused"
    assert rig.core.gate.last_stop_at == rig.now
    rig.run(COMES_TO_REST)
    assert not rig.velocities.any()


def test_two_payloads_in_one_command_are_refused(rig):
    point = JointCommand((PREFIX + "axis_e",), (3.2,), (0.0,))
    rig.say(DriverCommand(CommandKind.JOINT, input=FORWARD, joint=point, lifetime=LIFETIME))
    assert refusal(rig) == "two_inputs"
    rig.say(DriverCommand(CommandKind.JOINT, input=STILL, joint=point, lifetime=LIFETIME))
    rig.run(0.2)
    assert rig.velocities[0] > 0.0


def test_B9_in_service_mode_set_points_are_refused_as_ordinary_input_is(model):
    rig = SetPointRig(model, service_mode=True)
    hold(rig, 0.3)
    assert refusal(rig) == "service_mode"
    assert not rig.velocities.any()


def test_an_old_set_point_goes_on_from_when_it_came(rig):
    """The line was busy, or the loop slept: where the joints shall be by now is what counts."""
    velocities = np.array([0.2, 0.0, 0.0, 0.0, 0.0])
    name = (PREFIX + "axis_e",)
    for number in range(40):
        place = START[0] + velocities[0] * number * SPACING
        point = JointCommand(name, (place,), (velocities[0],))
        rig.say(DriverCommand(CommandKind.JOINT, joint=point, lifetime=LIFETIME), delay=0.1)
        rig.run(SPACING)
    assert rig.posture[0] == pytest.approx(place + velocities[0] * (0.1 + SPACING), abs=0.01)
