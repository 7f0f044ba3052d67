"""How the driver lets the arm move: the real generator in the core, on a fake clock.

What is judged is what reaches the arm.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from arm_description import description
from driver_rig import FORWARD, JAWS, LIFETIME, STEP, Rig

from reach_alpha5_common.command import (
    ArmInput,
    Cartesian,
    CommandKind,
    DriverCommand,
    GripperCommand,
    GripperVelocities,
    KnownPose,
    Pose,
    StopLevel,
    TwistCommand,
)
from reach_alpha5_driver.protocol.packets import STOP_FRAMES
from reach_alpha5_driver.reporting import arm_picture
from reach_alpha5_driver.states import State
from reach_alpha5_motion.bodies import ArmBodies
from reach_alpha5_motion.collision import Collision, CollisionConfig
from reach_alpha5_motion.generator import MotionGenerator
from reach_alpha5_motion.model import ArmModel
from reach_alpha5_motion.obstacles import Box, Obstacle, Scene
from reach_alpha5_motion.speed import MotionConfig

CONFIG = MotionConfig()
RIGHT = GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(y=1.0))
BASE = 5
TICKS = 0.05
"""s: a few control ticks."""


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return description()


@pytest.fixture
def generator(texts: dict[str, str]) -> MotionGenerator:
    model = ArmModel.from_urdf(texts["robot_description"], texts["prefix"])
    return MotionGenerator(model, CONFIG)


@pytest.fixture
def rig(generator: MotionGenerator) -> Rig:
    """An arm in the middle of a jog to the right."""
    made = Rig(generator)
    made.connect()
    made.hold(0.5, RIGHT)
    assert made.moving
    return made


def base_rates(rig: Rig, since: float) -> list[float]:
    """Return the rates of axis_e that were written since then."""
    return [packet.value for packet in rig.velocities(since) if packet.device == BASE]


def stops(rig: Rig, since: float) -> list[float]:
    """Return when stops were written since then."""
    return [at for at, data in rig.wire if at >= since and STOP_FRAMES in data]


def period(rig: Rig) -> float:
    return 1.0 / rig.core.config.schedule.control_rate


def test_a_jog_begins_without_a_jump(generator):
    rig = Rig(generator).connect()
    since = rig.now
    rig.hold(0.5, RIGHT)
    rates = [0.0, *(abs(rate) for rate in base_rates(rig, since))]
    rising = rates[: rates.index(max(rates)) + 1]
    assert rising == sorted(rising)
    assert len(rising) > 5
    steps = [after - before for before, after in itertools.pairwise(rates)]
    assert max(steps) <= CONFIG.joint_acceleration * period(rig) * 1.5
    assert rates[-1] > 0.1


def test_what_nobody_asks_for_any_more_fades_and_is_stopped_once(rig):
    since = rig.now
    rig.stop(lifetime=0.5)
    rig.run(0.5)
    rates = [abs(rate) for rate in base_rates(rig, since)]
    assert rates == sorted(rates, reverse=True), "falling"
    assert len([rate for rate in rates if rate > 0.0]) >= 3
    assert len(stops(rig, since)) == 1
    assert since < stops(rig, since)[0] <= since + CONFIG.ramp_time + TICKS
    assert rig.core.gate.last_stop_cause == "neutral"
    assert rig.core.gate.state is State.ENABLED
    assert not rig.moving


def test_a_stop_without_a_lifetime_does_not_wait(rig):
    since = rig.now
    rig.stop()
    rig.flush()
    assert stops(rig, since) == [since]
    assert not rig.moving


@pytest.mark.parametrize("lifetime", [-1.0, math.nan, math.inf, 0.51])
def test_a_lifetime_that_is_none_is_a_stop_at_once(rig, lifetime):
    since = rig.now
    rig.stop(lifetime=lifetime)
    rig.flush()
    assert stops(rig, since) == [since]


def test_a_fading_stop_out_of_order_is_a_stop_at_once(rig):
    since = rig.now
    late = DriverCommand(CommandKind.STOP, rig.sequence - 1, lifetime=0.5)
    rig.core.on_command(late, rig.now, rig.now)
    rig.flush()
    assert stops(rig, since) == [since]


def test_a_fade_lasts_no_longer_than_it_may(rig):
    since = rig.now
    rig.stop(lifetime=0.05)
    rig.run(0.3)
    assert stops(rig, since)[0] <= since + 0.05 + STEP
    assert rig.core.gate.last_stop_cause == "fade_over"


def test_asking_again_for_rest_gives_no_more_time(rig):
    since = rig.now
    rig.stop(lifetime=0.05)
    for _ in range(10):
        rig.run(0.02)
        rig.stop(lifetime=0.05)
    assert stops(rig, since)[0] <= since + 0.05 + STEP


def test_a_late_fading_stop_counts_from_its_receipt(rig):
    rig.sequence += 1
    since = rig.now
    stop = DriverCommand(CommandKind.STOP, rig.sequence, lifetime=0.2)
    rig.core.on_command(stop, rig.now - 0.3, rig.now)
    rig.step()
    assert stops(rig, since)[0] <= since + STEP


@pytest.mark.parametrize(
    "cut",
    [
        lambda rig: rig.core.on_estop(int(StopLevel.SETTLE_THEN_CUT), "a", "b", rig.now),
        lambda rig: rig.core.on_estop(int(StopLevel.CUT), "a", "b", rig.now),
        lambda rig: rig.stop(),
        lambda rig: rig.core.set_active(False, rig.now),
        lambda rig: rig.core.on_guard(False, rig.now),
        lambda rig: rig.core.on_power(False, rig.now),
        lambda rig: rig.core.on_guard_trip("late", rig.now),
        lambda rig: rig.reset(),
    ],
    ids=["settle", "cut", "stop", "inactive", "no guard", "power", "guard trip", "reset"],
)
def test_what_stops_an_arm_stops_one_that_fades(rig, cut):
    rig.stop(lifetime=0.5)
    rig.run(0.03)
    since = rig.now
    cut(rig)
    rig.flush()
    assert stops(rig, since) == [since]
    assert not any(rig.arm.velocities.values())


def test_a_posture_that_goes_stale_stops_an_arm_that_fades(rig):
    rig.arm.deaf.add(BASE)
    rig.run(0.2)
    rig.stop(lifetime=0.5)
    since = rig.now
    rig.run(0.1)
    assert rig.core.gate.last_stop_cause == "stale_posture"
    assert stops(rig, since)[0] < since + CONFIG.ramp_time


def test_a_lapse_is_no_fade(rig):
    full = abs(base_rates(rig, rig.now - 0.1)[-1])
    since = rig.now
    rig.run(LIFETIME)
    assert rig.core.gate.last_stop_cause == "expired"
    before = [abs(rate) for rate in base_rates(rig, since) if rate != 0.0]
    assert min(before) > full / 2.0, "at full speed until then"
    assert not rig.moving


def test_an_input_while_it_fades_goes_on_from_there(rig):
    since = rig.now
    rig.stop(lifetime=0.5)
    rig.run(0.08)
    slow = abs(base_rates(rig, since)[-1])
    rig.hold(0.5, RIGHT)
    rates = [abs(rate) for rate in base_rates(rig, since)]
    assert not stops(rig, since)
    assert 0.0 < slow < rates[-1]
    assert min(rates) > 0.0


def test_motion_after_a_stop_begins_at_rest(rig):
    rig.core.on_estop(int(StopLevel.SETTLE_THEN_CUT), "somebody", "", rig.now)
    rig.step()
    rig.reset()
    rig.run(1.0)
    rig.stop()
    rig.step()
    since = rig.now
    rig.hold(0.05, RIGHT)
    first = abs(next(filter(None, base_rates(rig, since))))
    assert 0.0 < first <= CONFIG.joint_acceleration * period(rig) * 1.5


def test_a_stop_and_an_input_in_one_moment_begin_at_rest(rig):
    full = abs(base_rates(rig, rig.now - 0.1)[-1])
    rig.stop()
    rig.send(RIGHT)
    since = rig.now
    rig.run(0.05)
    assert len(stops(rig, since)) == 1
    after = [abs(rate) for rate in base_rates(rig, since) if rate != 0.0]
    assert 0.0 < after[0] < full / 3.0


TWIST = TwistCommand("left_tool", (0.0, 0.02, 0.0))


def test_D8_a_twist_moves_the_arm(generator):
    rig = Rig(generator).connect()
    for _ in range(6):
        rig.twist(TWIST)
        rig.run(0.05)
    assert rig.moving
    assert rig.core.desk.control_mode == ArmInput.CARTESIAN


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (TwistCommand("nowhere", (0.0, 0.02, 0.0)), "unknown_frame"),
        (TwistCommand("left_tool", (0.0, 1.0, 0.0)), "out_of_range"),
        (TwistCommand("left_tool", (0.0, math.nan, 0.0)), "not_finite"),
        (TwistCommand("left_tool", angular=(0.2, 0.0, 0.0)), "cannot_turn"),
    ],
)
def test_D8_a_twist_that_cannot_be_is_refused_and_nothing_moves(generator, command, code):
    rig = Rig(generator).connect()
    since = rig.now
    for _ in range(3):
        rig.twist(command)
        rig.run(0.05)
    counts = rig.core.desk.refusals.counts()
    assert counts[code, "driver_command"] >= 1
    assert set(counts) <= {(code, "driver_command"), ("not_engaged", "driver_command")}
    assert sum(counts.values()) == 3
    assert not any(packet.value for packet in rig.velocities(since))
    assert rig.core.gate.state is State.IDLE
    assert rig.core.gate.fault_causes == []
    rig.stop()
    rig.twist(TWIST)
    rig.run(0.05)
    assert rig.moving, "after a neutral, what is in order is obeyed"


def test_what_is_refused_in_motion_ends_the_motion_smoothly(rig):
    since = rig.now
    rig.twist(TwistCommand("nowhere", (0.0, 0.02, 0.0)))
    rig.run(CONFIG.ramp_time + TICKS)
    rates = [abs(rate) for rate in base_rates(rig, since)]
    assert rates == sorted(rates, reverse=True)
    assert not rig.moving
    assert rig.core.gate.last_stop_cause == "refused"


def to_stowed(**fields) -> GripperCommand:
    return GripperCommand(
        GripperVelocities(grip=1.0),
        ArmInput.KNOWN_POSE,
        known_pose=KnownPose(Pose.STOWED, 1.0, **fields),
    )


def test_S3_stowing_while_holding_is_refused_and_the_jaws_let_go(generator):
    rig = Rig(generator).connect()
    rig.core.supervisor.grip.holding = True
    rig.hold(0.1, to_stowed())
    assert rig.core.desk.refusals.counts() == {("holding", "driver_command"): 1}
    assert rig.arm.velocities[1] > 0.0
    assert not arm_moves(rig)
    rig.stop()
    rig.core.supervisor.grip.holding = True
    rig.hold(0.1, to_stowed(while_holding=True))
    assert arm_moves(rig)


def arm_moves(rig: Rig) -> bool:
    return any(rig.arm.velocities[device] for device in (3, 4, 5))


def test_a_pose_that_is_held_through_a_refusal_waits_for_its_release(generator):
    rig = Rig(generator).connect()
    rig.core.supervisor.grip.holding = True
    rig.hold(0.1, to_stowed())
    rig.core.supervisor.grip.holding = False
    rig.hold(0.5, to_stowed())
    rig.hold(0.3, replace(RIGHT, gripper_velocities=GripperVelocities(grip=1.0)))
    assert not arm_moves(rig), "another input without a release is no new wish"
    rig.hold(0.1, JAWS)
    rig.hold(0.2, to_stowed())
    assert arm_moves(rig)


def test_a_pose_alone_that_was_refused_wants_a_neutral(generator):
    rig = Rig(generator).connect()
    rig.core.supervisor.grip.holding = True
    stow = GripperCommand(arm_input=ArmInput.KNOWN_POSE, known_pose=KnownPose(Pose.STOWED, 1.0))
    rig.hold(0.1, stow)
    rig.core.supervisor.grip.holding = False
    rig.hold(0.5, stow)
    assert not rig.moving
    assert rig.refusal == "not_engaged"
    rig.stop()
    rig.hold(0.2, stow)
    assert arm_moves(rig)


def test_a_twist_beside_an_input_is_refused(generator):
    rig = Rig(generator).connect()
    rig.send(RIGHT, twist=TWIST)
    assert rig.refusal == "two_inputs"
    rig.run(0.1)
    assert not rig.moving


def test_a_scene_that_changes_stops_an_arm_that_moves(rig):
    since = rig.now
    rig.core.motion.keep_out_of(None)
    rig.flush()
    assert stops(rig, since) == [since]
    assert rig.core.gate.last_stop_cause == "scene_changed"
    rig.hold(0.2, RIGHT)
    assert rig.moving


def test_a_release_that_must_be_hard_is_told_once(rig):
    for _ in range(3):
        rig.stop(lifetime=10.0)
    told = [note for note in rig.core.notes if "ease_time" in note.text]
    assert [note.severity for note in told] == ["warn"]


def test_B8_the_pose_that_the_arm_moves_to_is_told_while_it_does(generator):
    rig = Rig(generator).connect()
    rig.hold(0.3, to_stowed())
    assert arm_picture(rig.core, rig.now).moving_to == KnownPose(Pose.STOWED, 1.0)
    rig.stop(lifetime=0.5)
    rig.run(0.05)
    assert arm_picture(rig.core, rig.now).moving_to == KnownPose(Pose.STOWED, 0.0)
    rig.run(0.3)
    assert arm_picture(rig.core, rig.now).moving_to == KnownPose()


def test_what_is_near_holds_the_arm_back_and_says_so(texts, generator):
    rig = Rig(generator).connect()
    bodies = ArmBodies(texts["robot_description"], texts["robot_description_semantic"], "left_")
    tip = ArmModel.from_urdf(texts["robot_description"], "left_").tip(
        [rig.arm.positions[device] for device in (5, 4, 3, 2, 1)]
    )
    wall = Obstacle("wall", "base_link", Box((0.02, 2.0, 2.0)), (float(tip[0]) + 0.12, 0.0, 0.0))
    config = CollisionConfig()
    judge = Collision(bodies, Scene((wall,)), config)
    rig.core.motion.keep_out_of(Collision(bodies, Scene((wall,)), config))
    least = math.inf
    for _ in range(100):
        rig.hold(0.05, FORWARD)
        distance, _ = judge.clearance([rig.arm.positions[device] for device in (5, 4, 3, 2, 1)])
        least = min(least, distance)
    picture = arm_picture(rig.core, rig.now)
    assert config.inner - 2e-4 <= least <= config.inner + 2e-3
    assert picture.collides
    assert any("wall" in cause for cause in picture.blocked_by)
    rig.core.motion.keep_out_of(None)
    rig.hold(0.5, FORWARD)
    assert not arm_picture(rig.core, rig.now).collides
    assert rig.moving


def test_C10_the_speeds_are_told_at_start_and_when_the_arm_knows_better(generator):
    rig = Rig(generator)
    told = [note.text for note in rig.core.notes if "speeds" in note.text]
    assert len(told) == 1
    assert "linear" in told[0] and "configuration" in told[0]
    rig.connect()
    told = [note.text for note in rig.core.notes if "speeds" in note.text]
    assert len(told) == 2
    assert "arm" in told[1].split()


def test_jaws_alone_fade_as_well(generator):
    rig = Rig(generator).connect()
    rig.hold(0.5, JAWS)
    since = rig.now
    rig.stop(lifetime=0.5)
    rig.run(0.3)
    rates = [packet.value for packet in rig.velocities(since) if packet.device == 1]
    assert rates == sorted(rates, reverse=True)
    assert len([rate for rate in rates if rate > 0.0]) >= 3
    assert not rig.moving
