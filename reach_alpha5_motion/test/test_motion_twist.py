"""Velocities in SI units and in any frame (D8, S2)."""

import math

import numpy as np
import pytest

from reach_alpha5_common.command import STILL, TwistCommand
from reach_alpha5_motion.generator import MotionGenerator
from reach_alpha5_motion.model import B
from reach_alpha5_motion.resolver import VelocityResolver
from reach_alpha5_motion.speed import MotionConfig

CONFIG = MotionConfig()
GOOD = np.array([3.0, 1.6, 1.5, 3.0, 0.007])
TICK = 0.02
MOUNTS = ["0 0 0", "0.4 -0.7 1.9"]


@pytest.mark.parametrize("mount", MOUNTS)
@pytest.mark.parametrize("frame", ["base_link_frd", "base_link", "arm_base", "tool", "link_d"])
def test_D8_the_tip_moves_along_the_axes_of_the_frame(arm_on, mount, frame):
    arm = arm_on(mount)
    asked = np.array([0.01, -0.02, 0.015])
    resolution = VelocityResolver(arm, CONFIG).resolve(TwistCommand(frame, tuple(asked)), GOOD)
    velocity = arm.jacobian(GOOD) @ resolution.joint_velocities[:3]
    axes = np.array(arm.frames.axes(frame, GOOD.tolist()))
    assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-12)
    assert axes @ velocity == pytest.approx(asked, abs=1e-9)


@pytest.mark.parametrize("mount", MOUNTS)
def test_D8_the_axes_of_the_frames_are_those_of_the_description(arm_on, mount):
    arm = arm_on(mount)
    body = np.array(arm.frames.axes("base_link_frd", GOOD.tolist()))
    assert body == pytest.approx(np.eye(3), abs=1e-12)
    drone = np.array(arm.frames.axes("base_link", GOOD.tolist()))
    assert drone == pytest.approx(np.diag([1.0, -1.0, -1.0]), abs=1e-12)
    base = np.array(arm.frames.axes("arm_base", GOOD.tolist()))
    assert pytest.approx(arm.base_rotation, abs=1e-12) == base.T
    for step in np.eye(5)[:3]:  # the tool points along its z: from the wrist to the tip
        q = GOOD + 0.3 * step
        z = np.array(arm.frames.axes("tool", q.tolist())[2])
        roll = np.array(arm.frames.roll_axis(q.tolist()))
        assert abs(z @ roll) == pytest.approx(1.0)


@pytest.mark.parametrize("rate", [0.3, -0.5])
def test_D8_a_roll_turns_the_wrist_that_way(arm, rate):
    demand = TwistCommand("tool", angular=(0.0, 0.0, rate))
    resolution = VelocityResolver(arm, CONFIG).resolve(demand, GOOD)
    assert np.abs(resolution.joint_velocities).max() == pytest.approx(abs(rate))
    turned = GOOD.copy()
    turned[B] += resolution.joint_velocities[B] * 1e-3
    before, after = (np.array(arm.frames.axes("tool", q.tolist())) for q in (GOOD, turned))
    # Rotation about z by a small angle: x goes towards y.
    assert after[0] @ before[1] == pytest.approx(rate * 1e-3, rel=1e-3)


@pytest.mark.parametrize(
    ("demand", "code"),
    [
        (TwistCommand("tool", angular=(0.1, 0.0, 0.0)), "cannot_turn"),
        (TwistCommand("tool", (0.01, 0.0, 0.0), (0.0, 0.2, 0.1)), "cannot_turn"),
        (TwistCommand("base_link", angular=(0.0, 0.0, 0.5)), "cannot_turn"),
        (TwistCommand("nowhere", (0.01, 0.0, 0.0)), "unknown_frame"),
        (TwistCommand("finger_left", (0.01, 0.0, 0.0)), "unknown_frame"),
        (TwistCommand("", (0.01, 0.0, 0.0)), "unknown_frame"),
        (TwistCommand("tool", (0.2, 0.0, 0.0)), "out_of_range"),
        (TwistCommand("tool", (0.0, math.nan, 0.0)), "not_finite"),
        (TwistCommand("tool", angular=(0.0, 0.0, 9.0)), "out_of_range"),
        (TwistCommand("tool", angular=(0.0, 0.0, -CONFIG.wrist_speed * 1.01)), "out_of_range"),
        (TwistCommand("tool", (0.01, 0.0, 0.0), maximum_acceleration=-1.0), "out_of_range"),
    ],
)
def test_D8_what_the_arm_cannot_do_is_refused_whole(arm, demand, code):
    resolution = VelocityResolver(arm, CONFIG).resolve(demand, GOOD)
    assert resolution.refused.code == code
    assert (resolution.joint_velocities == 0.0).all()


def test_D8_a_frame_that_is_not_known_yet_is_refused(arm):
    q = GOOD.copy()
    q[B] = math.nan
    resolver = VelocityResolver(arm, CONFIG)
    assert resolver.resolve(TwistCommand("tool", (0.01, 0.0, 0.0)), q).refused.code == (
        "unknown_posture"
    )
    body = resolver.resolve(TwistCommand("base_link", (0.01, 0.0, 0.0)), q)
    assert body.refused is None
    assert body.joint_velocities.any()


@pytest.mark.parametrize("mount", MOUNTS)
def test_D8_a_roll_across_the_axes_of_its_frame_is_no_faster_than_the_wrist_may_be(arm_on, mount):
    arm = arm_on(mount)
    resolver = VelocityResolver(arm, CONFIG)
    skew = np.array([2.4, 1.9, 1.2, 1.0, 0.007])
    roll = np.array(arm.frames.axes("base_link", skew.tolist())) @ arm.frames.roll_axis(
        skew.tolist()
    )
    assert np.abs(roll).max() < 0.95, "or no axis says less than all of it"
    least = CONFIG.wrist_speed / np.abs(roll).max()

    def turning(rate):
        return resolver.resolve(TwistCommand("base_link", angular=tuple(rate * roll)), skew)

    for sign in (1.0, -1.0):
        refused = turning(sign * (CONFIG.wrist_speed + least) / 2.0)
        assert refused.refused.code == "out_of_range"
        assert not refused.joint_velocities.any()
        full = turning(sign * CONFIG.wrist_speed)
        assert full.refused is None
        assert abs(full.joint_velocities[B]) == pytest.approx(CONFIG.wrist_speed)


@pytest.mark.parametrize("frame", ["", "nowhere", "finger_left"])
def test_D8_jaws_alone_need_no_frame(arm, frame):
    resolution = VelocityResolver(arm, CONFIG).resolve(TwistCommand(frame, grip=-0.5), GOOD)
    assert resolution.refused is None
    assert resolution.joint_velocities == pytest.approx([0, 0, 0, 0, -0.5 * CONFIG.jaw_speed])


def test_an_empty_twist_is_a_stop(arm):
    resolution = VelocityResolver(arm, CONFIG).resolve(TwistCommand("base_link"), GOOD)
    assert resolution.refused is None
    assert (resolution.joint_velocities == 0.0).all()


def speeds_of(arm, body, commands):
    """Drive for (command, seconds) and return the tip's speeds along x, a value a tick."""
    generator, now, speeds = MotionGenerator(arm, CONFIG), 0.0, []
    for command, seconds in commands:
        for _ in range(round(seconds / TICK)):
            body.advance(now, now + TICK)
            now += TICK
            rates = generator.step(command, body.q, now, now).joint_velocities
            body.send(rates, now)
            speeds.append(float((arm.jacobian(generator.foreseen) @ rates[:3])[0]))
    return np.array(speeds)


def test_S2_the_acceleration_that_was_asked_is_kept_and_a_stop_does_not_wait(arm, obedient_arm):
    body = obedient_arm(GOOD, CONFIG.latency)
    go = TwistCommand("base_link_frd", (-0.05, 0.0, 0.0), maximum_acceleration=0.05)
    speeds = speeds_of(arm, body, [(go, 1.6), (STILL, 0.24)])
    changes = np.abs(np.diff(speeds))[: round(1.6 / TICK) - 1]
    assert changes.max() <= 0.05 * TICK * 1.02
    assert speeds[round(1.6 / TICK) - 1] == pytest.approx(-0.05, rel=1e-3)
    assert speeds[-1] == 0.0


@pytest.mark.parametrize("then", [0.05, 1e-9, -1e-9, -0.02])
def test_S2_what_gets_less_or_turns_round_does_not_wait_for_a_low_acceleration(
    arm, obedient_arm, then
):
    body = obedient_arm(GOOD, CONFIG.latency)
    go = TwistCommand("base_link_frd", (-0.05, 0.0, 0.0))
    slowly = TwistCommand("base_link_frd", (then, 0.0, 0.0), maximum_acceleration=0.001)
    speeds = speeds_of(
        arm, body, [(go, 0.5), (slowly, CONFIG.ramp_time + 2.0 * TICK), (slowly, 1)]
    )
    least = min(then, 0.0)
    assert speeds[-round(1.0 / TICK)] == pytest.approx(least, abs=3e-4)
    grown = speeds[-round(1.0 / TICK) :] - least
    assert np.diff(grown).max() <= 0.001 * TICK * 1.02, "only growth is paced"


def test_S2_a_component_that_turns_round_does_not_hold_back_the_others(arm, obedient_arm):
    body = obedient_arm(GOOD, CONFIG.latency)
    go = TwistCommand("base_link_frd", (-0.03, 0.03, 0.0))
    aside = TwistCommand("base_link_frd", (-0.03, -0.03, 0.0), maximum_acceleration=0.001)
    speeds = speeds_of(arm, body, [(go, 0.5), (aside, 0.5)])
    assert speeds[-1] == pytest.approx(-0.03, rel=1e-3)


def test_without_it_the_ramp_is_that_of_the_configuration(arm, obedient_arm):
    body = obedient_arm(GOOD, CONFIG.latency)
    go = TwistCommand("base_link_frd", (-0.05, 0.0, 0.0))
    speeds = speeds_of(arm, body, [(go, CONFIG.ramp_time + 2.0 * TICK)])
    assert speeds[-1] == pytest.approx(-0.05, rel=1e-3)
