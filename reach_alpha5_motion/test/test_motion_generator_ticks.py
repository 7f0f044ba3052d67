"""Hundreds of thousands of ticks of the real generator: every rule, at every tick.

MOTION_TICKS sets how many ticks each of the four mounts is driven. A million in all, on demand:
`MOTION_TICKS=250000 pytest reach_alpha5_motion/test/test_motion_generator_ticks.py`. The seed is
that of the mount, and is part of every failure.
"""

import os

import numpy as np
import pytest

from reach_alpha5_common.command import (
    STILL,
    ArmInput,
    Cartesian,
    Cylindrical,
    GripperCommand,
    GripperVelocities,
    KnownPose,
    TwistCommand,
)
from reach_alpha5_motion.generator import LINE_BEND, MotionGenerator
from reach_alpha5_motion.singularity import AXIS_ZONE
from reach_alpha5_motion.speed import MotionConfig

TICKS = int(os.environ.get("MOTION_TICKS", "12500"))
MOUNTS = ["0 0 0", "3.141592653589793 0 0", "0.4 -0.7 1.9", "1.5707963 0 -2.5"]
CONFIG = MotionConfig(latency=0.02)
ACCELERATION = np.array(CONFIG.accelerations)
INNER = 0.01
FRAMES = ["base_link_frd", "base_link", "tool", "link_d"]


def random_start(rng, arm):
    """Anywhere inside, on a limit, beyond one, or where the arm is singular."""
    low, high = arm.limits.lower, arm.limits.upper
    q = low + (high - low) * rng.random(5)
    kind = rng.integers(6)
    if kind == 1:
        ends = rng.random(5)
        q = np.where(ends < 0.3, low, np.where(ends > 0.7, high, q))
    elif kind == 2:
        joint = rng.integers(5)
        beyond = 0.1 * rng.random() * (0.1 if joint == 4 else 1.0)
        q[joint] = low[joint] - beyond if rng.random() < 0.5 else high[joint] + beyond
    elif kind == 3:
        q[2] = 2.7622973 + rng.uniform(-0.06, 0.06)
    elif kind == 4:
        q[1:3] = 2.5, 1.9629 + rng.uniform(-0.02, 0.02)
    return q


def random_axes(rng):
    values = rng.uniform(-1.0, 1.0, 3)
    values = np.where(rng.random(3) < 0.3, np.sign(values), values)
    return values * (rng.random(3) < 0.6)


def random_command(rng):
    kind = rng.choice(
        ["cartesian", "cylindrical", "pose", "twist", "still"], p=[0.3, 0.3, 0.15, 0.15, 0.1]
    )
    if kind == "still":
        return STILL
    axes = random_axes(rng)
    if kind == "twist":
        roll = (0.0, 0.0, float(rng.uniform(-0.8, 0.8))) if rng.random() < 0.5 else (0.0,) * 3
        frame = str(rng.choice(FRAMES)) if not any(roll) else "tool"
        slow = float(rng.choice([0.0, 0.1]))
        linear = tuple((axes * CONFIG.linear_speed).tolist())
        return TwistCommand(frame, linear, roll, maximum_acceleration=slow)
    common = {
        "gripper_velocities": GripperVelocities(
            *(rng.uniform(-1.0, 1.0, 2) * rng.integers(0, 2, 2)).tolist()
        ),
        "speed_modifier": float(rng.uniform(-1.0, 1.0)),
    }
    if kind == "cartesian":
        return GripperCommand(
            arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(*axes.tolist()), **common
        )
    if kind == "cylindrical":
        return GripperCommand(
            arm_input=ArmInput.CYLINDRICAL, cylindrical=Cylindrical(*axes.tolist()), **common
        )
    pose = KnownPose(int(rng.integers(1, 3)), float(rng.random()))
    return GripperCommand(arm_input=ArmInput.KNOWN_POSE, known_pose=pose, **common)


def asked_axes(arm, command, q):
    """Unit tip velocities of the three axes of a command, with the speed asked along each."""
    if isinstance(command, TwistCommand):
        return np.array(arm.frames.axes(command.frame, q)), np.array(command.linear)
    fraction = CONFIG.speed_fraction(command.speed_modifier)
    if command.arm_input == ArmInput.CARTESIAN:
        asked = command.cartesian
        speeds = np.array([asked.x, asked.y, asked.z]) * CONFIG.linear_speed
        return np.eye(3), speeds * fraction
    posture, about = arm.posture(q), command.cylindrical
    outward = np.sign(posture.reach) * np.array(posture.front)
    clockwise = -posture.reach * np.array(posture.across)
    speeds = (
        about.radial * CONFIG.linear_speed,
        about.vertical * CONFIG.linear_speed,
        about.azimuth * CONFIG.azimuth_speed,
    )
    return np.array([outward, -np.array(posture.up), clockwise]), np.array(speeds) * fraction


def check_direction(arm, command, q, resolution, case, braking):
    """A jog that has been held: every axis goes the asked way or not at all, and nothing else.

    `braking`: a joint changes as fast as it can. Then what is left of the motion before is apart:
    its direction was right where the arm was a tick ago.
    """
    allowed = 0.02 if braking else 1e-6
    posture = arm.posture(q)
    if abs(posture.reach) <= 2.0 * AXIS_ZONE:
        return
    if any(abs(q[2] - each.angle) <= LINE_BEND for each in arm.elbow_singularities):
        return
    axes, speeds = asked_axes(arm, command, q)
    velocity = arm.jacobian(q) @ resolution.joint_velocities[:3] - resolution.correction
    got = np.linalg.solve(axes.T, velocity)
    size = np.abs(speeds).max()
    forward = got * np.sign(speeds)
    assert (forward >= -allowed * size).all(), (case, got, speeds)
    assert (forward <= np.abs(speeds) + allowed * size).all(), (case, got, speeds)
    assert (np.abs(got[speeds == 0.0]) <= allowed * size).all(), (case, got, speeds)


def fades_in(command):
    """How long [s] what was asked before may still be seen: a joint may have to turn round."""
    paced = isinstance(command, TwistCommand) and command.maximum_acceleration > 0.0
    turning = 2.0 * CONFIG.joint_speed / CONFIG.joint_acceleration
    return CONFIG.ramp_time + turning + (4.0 if paced else 0.0)


def is_jog(command):
    return isinstance(command, TwistCommand) or command.arm_input in (
        ArmInput.CARTESIAN,
        ArmInput.CYLINDRICAL,
    )


@pytest.mark.parametrize("mount", MOUNTS)
def test_rules_15_and_16_hold_at_every_tick_of_smooth_motion(
    arm_on, obedient_arm, tip_wall, mount
):
    arm = arm_on(mount)
    seed = MOUNTS.index(mount)
    rng = np.random.default_rng(seed)
    low, high = arm.limits.lower, arm.limits.upper
    ticks = moved = checked = near = 0
    while ticks < TICKS:
        body = obedient_arm(random_start(rng, arm), CONFIG.latency)
        lowest, highest = np.minimum(low, body.q), np.maximum(high, body.q)
        normal = rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        wall = tip_wall(arm, normal, arm.tip(body.q) - normal * rng.uniform(INNER, 0.04), INNER)
        generator = MotionGenerator(arm, CONFIG, wall if rng.random() < 0.75 else None)
        walled = generator._keep_out is not None
        now, rates = 0.0, np.zeros(5)
        for _ in range(8):
            command, since = random_command(rng), now
            for _ in range(int(rng.integers(5, 70))):
                elapsed = rng.uniform(0.01, 0.04)
                body.advance(now, now + elapsed)
                now += elapsed
                resolution = generator.step(command, body.q, now, now)
                before, rates = rates, resolution.joint_velocities
                body.send(rates, now)
                ticks += 1
                case = (seed, ticks, body.q.tolist(), command)
                assert resolution.refused is None, (case, resolution.refused)
                assert np.isfinite(rates).all(), case
                assert (np.abs(rates) <= arm.limits.velocity + 1e-12).all(), case
                assert (np.abs(rates - before) <= ACCELERATION * elapsed + 1e-9).all(), case
                assert (body.q <= highest + 1e-9).all(), case
                assert (body.q >= lowest - 1e-9).all(), case
                if walled:
                    distance = wall.distance(body.q)
                    near += distance < 1.5 * INNER
                    assert distance > 0.0, case
                moved += bool(rates[:3].any())
                if is_jog(command) and now - since > fades_in(command):
                    checked += 1
                    braking = (np.abs(rates - before) > 0.999 * ACCELERATION * elapsed).any()
                    foreseen = np.array(generator.foreseen)
                    check_direction(arm, command, foreseen, resolution, case, braking)
        since = now
        while not generator.at_rest:
            body.advance(now, now + 0.02)
            now += 0.02
            body.send(generator.step(STILL, body.q, now, now).joint_velocities, now)
            assert now - since <= CONFIG.ramp_time + 0.041, (seed, ticks)
    assert moved > ticks // 3, "most commands must really move the arm"
    assert checked > ticks // 10
    assert near > ticks // 1000
