"""What parameters may be set to: whatever passes at start keeps what it promises.

The real generator in the core, on a fake clock. What is judged is where the arm is, in truth.
"""

from __future__ import annotations

import math

import pytest
from arm_description import PREFIX, description
from driver_rig import STEP, Rig

from reach_alpha5_common.command import (
    ArmInput,
    Cartesian,
    Cylindrical,
    GripperCommand,
    KnownPose,
    Pose,
)
from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_driver.configuration import collision_config, motion_config, stopping
from reach_alpha5_driver.parameters import PARAMETERS
from reach_alpha5_motion.bodies import ArmBodies
from reach_alpha5_motion.collision import Collision, CollisionConfig
from reach_alpha5_motion.generator import MotionGenerator
from reach_alpha5_motion.model import ArmModel
from reach_alpha5_motion.obstacles import Box, Obstacle, Scene, payload
from reach_alpha5_motion.prediction import HORIZON

DEFAULTS = {entry.name: entry.default for entry in PARAMETERS}
RANGES = {entry.name: entry.range for entry in PARAMETERS if entry.range is not None}
DEVICES = (5, 4, 3, 2, 1)
"""Chain order."""
TOLERANCE = 3e-4
"""m below the inner distance: what docs/collision.md allows for the tick."""
REFRESH = 0.04
"""s between two commands, as the arbiter repeats them."""

STRETCHED = (3.0, 1.57, 2.5, 3.0, 0.005)
MIDWAY = (3.0, 1.57, 1.5, 3.0, 0.005)
FOLDING = (3.0, 3.2, 1.0, 3.0, 0.005)


def turn(azimuth: float) -> GripperCommand:
    about = Cylindrical(azimuth=azimuth)
    return GripperCommand(arm_input=ArmInput.CYLINDRICAL, cylindrical=about, speed_modifier=1.0)


def jog(*axes: float) -> GripperCommand:
    along = Cartesian(*axes)
    return GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=along, speed_modifier=1.0)


STOW = GripperCommand(
    arm_input=ArmInput.KNOWN_POSE, known_pose=KnownPose(Pose.STOWED, 1.0), speed_modifier=1.0
)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return description()


@pytest.fixture(scope="module")
def model(texts) -> ArmModel:
    return ArmModel.from_urdf(texts["robot_description"], texts["prefix"])


@pytest.fixture(scope="module")
def bodies(texts) -> ArmBodies:
    return ArmBodies(
        texts["robot_description"], texts["robot_description_semantic"], texts["prefix"]
    )


class Approach:
    """An arm that is driven towards what it keeps clear of, configured by parameters."""

    def __init__(self, model, bodies, posture, obstacles=(), stops=None, **values) -> None:
        values = DEFAULTS | values
        period = 1.0 / values["control_rate"]
        self.clearance = collision_config(values)
        self.rig = Rig(
            MotionGenerator(model, motion_config(values), period=period),
            control_rate=values["control_rate"],
            stale_after=values["stale_after"],
        )
        self.rig.arm.positions.update(dict(zip(DEVICES, posture, strict=True)))
        self.rig.connect()
        scene = Scene(tuple(obstacles))
        self._judge = Collision(bodies, scene, CollisionConfig(outer=1.0, self_outer=0.5))
        self._names = {obstacle.name for obstacle in obstacles}
        keep_out = Collision(bodies, scene, self.clearance, None, stops)
        self.rig.core.motion.keep_out_of(keep_out)
        self.least, self.least_of_itself = self.left()

    def left(self) -> tuple[float, float]:
        """Return how much more than its inner distance an obstacle is away, and the arm itself."""
        q = [self.rig.arm.positions[device] for device in DEVICES]
        least = {True: math.inf, False: math.inf}
        for near in self._judge.constraints(q):
            strange = not self._names.isdisjoint(near.pair.split())
            least[strange] = min(least[strange], near.distance)
        return least[True] - self.clearance.inner, least[False] - self.clearance.self_inner

    def drive(self, command: GripperCommand, seconds: float) -> Approach:
        for number in range(round(seconds / STEP)):
            if number % round(REFRESH / STEP) == 0:
                self.rig.send(command)
            self.rig.step()
            least, itself = self.left()
            self.least = min(self.least, least)
            self.least_of_itself = min(self.least_of_itself, itself)
        return self

    def holds(self) -> bool:
        return min(self.least, self.least_of_itself) >= -TOLERANCE


def wall_beside(model: ArmModel, posture, gap: float) -> Obstacle:
    """A wall on the left, `gap` [m] from the tip."""
    _, right, _ = model.tip(list(posture))
    place = (0.0, -float(right) + gap, 0.0)
    return Obstacle("wall", "base_link", Box((4.0, 0.02, 4.0)), place)


def wall_before(model: ArmModel, posture, gap: float) -> Obstacle:
    forward, _, _ = model.tip(list(posture))
    return Obstacle("wall", "base_link", Box((0.02, 4.0, 4.0)), (float(forward) + gap, 0.0, 0.0))


def at_the_edge(model: ArmModel, bodies: ArmBodies, **values: float) -> dict[str, float]:
    """Return values with the smallest outer distances with which the driver starts, to 0.1 mm."""
    for name in ("clearance_outer", "clearance_self_outer"):
        refused, passes = DEFAULTS[name.replace("outer", "inner")], 0.4
        refused = values.get(name.replace("outer", "inner"), refused)
        while passes - refused > 1e-4:
            middle = (refused + passes) / 2.0
            roomy = {"clearance_outer": 0.9, "clearance_self_outer": 0.9} | values
            try:
                stopping(DEFAULTS | roomy | {name: middle}, bodies, model.limits)
                passes = middle
            except ParameterError:
                refused = middle
        values[name] = passes
    return values


def test_the_defaults_leave_the_arm_room_to_stop_at_every_control_rate(model, bodies):
    for rate in (*RANGES["control_rate"], DEFAULTS["control_rate"]):
        stopping(DEFAULTS | {"control_rate": rate}, bodies, model.limits)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"clearance_inner": 0.001, "clearance_outer": 0.002}, "clearance_outer"),
        ({"clearance_inner": 0.010, "clearance_outer": 0.012}, "clearance_outer"),
        ({"clearance_self_inner": 0.003, "clearance_self_outer": 0.010}, "clearance_self_outer"),
        ({"latency": 0.1}, "clearance_outer"),
        ({"joint_acceleration": 2.2, "ramp_time": 0.45}, "clearance_outer"),
    ],
)
def test_no_room_to_stop_is_refused_with_what_is_enough(model, bodies, values, name):
    with pytest.raises(
        ParameterError, match=rf"{name} is .* m/s = .* mm: set {name} to"
    ) as caught:
        stopping(DEFAULTS | values, bodies, model.limits)
    told = {
        line.split()[0]: float(line.split(" to ")[-1].split()[0])
        for line in str(caught.value).replace("up to", "").splitlines()
    }
    stopping(DEFAULTS | values | told, bodies, model.limits)


def test_slower_joints_need_less_room(model, bodies):
    tight = {"clearance_outer": 0.03, "clearance_self_outer": 0.015}
    with pytest.raises(ParameterError):
        stopping(DEFAULTS | tight, bodies, model.limits)
    slow = {"max_joint_speed": 0.15, "max_wrist_speed": 0.3}
    stopping(DEFAULTS | tight | slow, bodies, model.limits)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"clearance_inner": 0.001, "clearance_self_inner": 0.001},
        {"control_rate": 10.0},
        {"control_rate": 100.0},
        {"latency": 0.001},
        {"brake_gain": 10.0, "joint_acceleration": 6.0, "wrist_acceleration": 10.0},
        {"joint_acceleration": 2.2, "wrist_acceleration": 3.6, "ramp_time": 0.45},
    ],
    ids=str,
)
def test_with_the_least_room_that_is_allowed_nothing_comes_nearer_than_the_inner_distance(
    model, bodies, values
):
    values = at_the_edge(model, bodies, **values)
    stops = stopping(DEFAULTS | values, bodies, model.limits)
    for posture, wall, command in (
        (STRETCHED, wall_beside(model, STRETCHED, 0.16), turn(-1.0)),
        (STRETCHED, wall_beside(model, STRETCHED, -0.16), turn(1.0)),
        (MIDWAY, wall_before(model, MIDWAY, 0.12), jog(1.0, 1.0, 0.0)),
    ):
        approach = Approach(model, bodies, posture, [wall], stops, **values)
        assert approach.least > 0.03, "it begins away from the wall"
        assert approach.drive(command, 2.0).holds(), approach.least
        assert approach.least < 0.02, "it is among what is slowed"
    assert Approach(model, bodies, FOLDING, **values).drive(jog(0.0, 0.0, 1.0), 2.0).holds()
    assert Approach(model, bodies, MIDWAY, **values).drive(STOW, 2.0).holds()


def test_with_less_room_the_arm_would_come_too_near(model, bodies):
    """What the rule is for: these are refused, and rightly."""
    values = {"clearance_inner": 0.010, "clearance_outer": 0.012}
    wall = wall_beside(model, STRETCHED, 0.16)
    approach = Approach(model, bodies, STRETCHED, [wall], **values).drive(turn(-1.0), 1.5)
    assert approach.least < -0.003


def test_what_the_arm_carries_far_out_stops_as_well(model, bodies):
    pole = payload("pole", Box((0.02, 0.02, 1.5)), (0.0, 0.0, 0.75), prefix=PREFIX)
    wall = wall_beside(model, STRETCHED, 0.6)
    values = at_the_edge(model, bodies)
    stops = stopping(DEFAULTS | values, bodies, model.limits)
    approach = Approach(model, bodies, STRETCHED, [pole, wall], stops, **values)
    assert approach.drive(turn(-1.0), 2.0).holds(), approach.least
    assert approach.least < 0.02
    plain = Approach(model, bodies, STRETCHED, [pole, wall], **values)
    assert not plain.drive(turn(-1.0), 2.0).holds(), "it needs more room than the arm by itself"


def test_what_is_fresh_is_not_older_than_can_be_foreseen():
    assert RANGES["stale_after"][1] + RANGES["latency"][1] <= HORIZON


@pytest.mark.parametrize("device", DEVICES[:3])
@pytest.mark.parametrize("before", [0.02, 0.06])
def test_a_joint_that_is_silent_for_almost_stale_after_does_not_lead_into_a_wall(
    model, bodies, device, before
):
    longest = RANGES["stale_after"][1]
    for posture, wall, command in (
        (STRETCHED, wall_beside(model, STRETCHED, 0.16), turn(-1.0)),
        (MIDWAY, wall_before(model, MIDWAY, 0.14), jog(1.0, 0.0, 0.0)),
    ):
        approach = Approach(model, bodies, posture, [wall], stale_after=longest)
        while approach.least > before:
            approach.drive(command, REFRESH)
        assert approach.rig.moving
        approach.rig.arm.deaf.add(device)
        approach.drive(command, longest - 0.04)
        assert approach.rig.core.gate.last_stop_cause != "stale_posture"
        approach.rig.arm.deaf.clear()
        assert approach.drive(command, 1.5).holds(), approach.least
        assert approach.least < 0.005, "it comes to the wall"


@pytest.mark.parametrize("rate", RANGES["control_rate"])
def test_the_arm_goes_as_fast_as_is_asked_at_every_control_rate(model, bodies, rate):
    approach = Approach(model, bodies, MIDWAY, control_rate=rate)
    approach.drive(turn(-1.0), 1.0)
    speed = DEFAULTS["max_azimuth_speed"]
    assert abs(approach.rig.arm.velocities[5]) == pytest.approx(speed, rel=1e-3)
    since = approach.rig.now
    approach.rig.stop(lifetime=0.5)
    approach.rig.run(0.5)
    assert not approach.rig.moving
    fading = [abs(each.value) for each in approach.rig.velocities(since) if each.device == 5]
    assert fading == sorted(fading, reverse=True)
