"""Thousands of ticks of the real resolver on an arm that obeys 30 ms late.

The seed of each is its mount. That of the whole motion is in `test_motion_proofs`.
"""

import numpy as np
import pytest

from reach_alpha5_common.command import (
    ArmInput,
    Cartesian,
    Cylindrical,
    GripperCommand,
    GripperVelocities,
    KnownPose,
)
from reach_alpha5_motion.resolver import MotionConfig, VelocityResolver
from reach_alpha5_motion.singularity import AXIS_ZONE, ELBOW_ZONE

TICKS = 1000
MOUNTS = ["0 0 0", "3.141592653589793 0 0", "0.4 -0.7 1.9", "1.5707963 0 -2.5"]
CONFIG = MotionConfig()


def off_line(arm, command, q, reach):
    """How far off its line the tip may be [m/s]: rounding, and what the zones allow."""
    allowed = 1e-6
    if abs(reach) <= AXIS_ZONE:
        allowed += 2.0 * AXIS_ZONE * arm.limits.velocity[0]
        if command.arm_input == ArmInput.CYLINDRICAL:
            allowed += 2.0 * CONFIG.linear_speed  # there "outward" is the front by rule
    if any(abs(q[2] - singularity.angle) <= ELBOW_ZONE for singularity in arm.elbow_singularities):
        allowed += 2.0 * ELBOW_ZONE * 0.2 * arm.limits.velocity[2]
    return allowed


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


def random_command(rng):
    def axes():
        values = rng.uniform(-1.0, 1.0, 3)
        values = np.where(rng.random(3) < 0.3, np.sign(values), values)
        return (values * (rng.random(3) < 0.6)).tolist()

    gripper = (rng.uniform(-1.0, 1.0, 2) * rng.integers(0, 2, 2)).tolist()
    common = {
        "gripper_velocities": GripperVelocities(*gripper),
        "speed_modifier": rng.uniform(-1.0, 1.0),
    }
    kind = rng.choice(
        [ArmInput.CARTESIAN] * 3 + [ArmInput.CYLINDRICAL] * 3 + [ArmInput.KNOWN_POSE]
    )
    if kind == ArmInput.CARTESIAN:
        return GripperCommand(arm_input=kind, cartesian=Cartesian(*axes()), **common)
    if kind == ArmInput.CYLINDRICAL:
        return GripperCommand(arm_input=kind, cylindrical=Cylindrical(*axes()), **common)
    pose = KnownPose(int(rng.integers(1, 3)), rng.random())
    return GripperCommand(arm_input=kind, known_pose=pose, **common)


def promised(arm, command, posture, scales):
    """The tip velocity, as front, across, up, that the reported axis scales stand for."""
    fraction = CONFIG.speed_fraction(command.speed_modifier)
    speed = CONFIG.linear_speed * fraction
    if command.arm_input == ArmInput.CARTESIAN:
        asked = command.cartesian
        return posture.in_basis(
            tuple(speed * s * v for s, v in zip(scales, (asked.x, asked.y, asked.z), strict=True))
        )
    asked = command.cylindrical
    outward = np.sign(posture.reach) * speed * asked.radial * scales[0]
    turn = -CONFIG.azimuth_speed * fraction * asked.azimuth * scales[2]
    return outward, posture.reach * turn, -speed * asked.vertical * scales[1]


@pytest.mark.parametrize("mount", MOUNTS)
def test_rules_15_and_16_hold_at_every_tick(arm_on, late_arm, mount):
    arm = arm_on(mount)
    resolver = VelocityResolver(arm, CONFIG)
    rng = np.random.default_rng(MOUNTS.index(mount))
    low, high = arm.limits.lower, arm.limits.upper
    ticks = moved = 0
    while ticks < TICKS:
        body = late_arm(random_start(rng, arm))
        lowest, highest = np.minimum(low, body.q), np.maximum(high, body.q)
        for _ in range(8):
            command = random_command(rng)
            for _ in range(int(rng.integers(5, 60))):
                q = body.q
                resolution = resolver.resolve(command, q)
                rates = resolution.joint_velocities
                body.tick(rates)
                ticks += 1
                moved += bool(rates[:3].any())
                case = (ticks, q.tolist(), command)
                assert np.isfinite(rates).all(), case
                assert (np.abs(rates) <= arm.limits.velocity).all(), case
                assert (body.q <= highest + 1e-9).all(), case
                assert (body.q >= lowest - 1e-9).all(), case
                scales = resolution.axis_scales
                assert min(scales) >= 0.0, case
                assert max(scales) <= 1.0, case
                if command.arm_input == ArmInput.KNOWN_POSE:
                    continue
                posture = arm.posture(q)
                (a, b), (c, d) = posture.planar
                e, shoulder, elbow = rates[:3].tolist()
                tip = (a * shoulder + b * elbow, posture.reach * e, c * shoulder + d * elbow)
                expected = promised(arm, command, posture, scales)
                error = max(abs(x - y) for x, y in zip(tip, expected, strict=True))
                assert error <= off_line(arm, command, q, posture.reach), (case, tip, expected)
    assert moved > ticks // 3, "most commands must really move the arm"
