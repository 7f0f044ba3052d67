"""Straight jogs on the joints of the simulated arm, with late and noisy telemetry.

`python3 -m benchmarks.straightness` measures hundreds of them; these few are its smoke alarm.
Virtual time throughout: the same numbers on every machine.
"""

import random
from collections import deque
from pathlib import Path

import numpy as np
import pytest
import xacro
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from reach_alpha5_common.command import ArmInput, Cartesian, Cylindrical, GripperCommand
from reach_alpha5_driver.sim.arm import Arm, ArmConfig
from reach_alpha5_driver.sim.ids import DEVICE_UNITS_PER_SI, Mode
from reach_alpha5_motion.generator import MotionGenerator
from reach_alpha5_motion.model import ArmModel
from reach_alpha5_motion.speed import MotionConfig

DEVICES = (5, 4, 3, 2, 1)
"""Device ids in chain order."""

NOISE = 5e-4
"""rad: that of a poor encoder."""

LENGTH, BAR = 0.20, 0.001
START = (3.0, 1.6, 1.0, 3.0, 0.007)


@pytest.fixture(scope="module")
def model():
    try:
        folder = Path(get_package_share_directory("reach_alpha5_description"))
    except PackageNotFoundError:
        folder = Path(__file__).resolve().parents[2] / "reach_alpha5_description"
    file = folder / "urdf" / "drone.urdf.xacro"
    return ArmModel.from_urdf(str(xacro.process_file(str(file)).toxml()))


class Link:
    """The simulated joints; each position is measured at 77 Hz and told 5 to 20 ms late."""

    def __init__(self, seed):
        posture = dict(zip(DEVICES, START, strict=True))
        self.arm = Arm(ArmConfig(posture=posture), 0.0)
        for joint in self.arm.joints.values():
            joint.set_mode(Mode.VELOCITY)
        self.random = random.Random(seed)
        self.events = [(0.0026 * k, "measure", k) for k in range(5)]
        self.told = [deque() for _ in DEVICES]
        self.q, self.q_at = list(START), [0.0] * 5

    def true(self):
        joints = self.arm.joints
        return np.array([joints[each].position / DEVICE_UNITS_PER_SI[each] for each in DEVICES])

    def send(self, rates, now):
        self.events.append((now + self.random.uniform(0.004, 0.010), "obey", rates))

    def advance(self, until):
        while (event := min(self.events, key=lambda each: each[0]))[0] <= until:
            self.events.remove(event)
            at, what, value = event
            self.arm.advance(at)
            if what == "obey":
                for device, rate in zip(DEVICES, value, strict=True):
                    demand = rate * DEVICE_UNITS_PER_SI[device]
                    self.arm.joints[device].demand_velocity(demand)
            else:
                scale = 1e-3 if value == 4 else 1.0
                measured = self.true()[value] + self.random.gauss(0.0, NOISE * scale)
                self.told[value].append((at + self.random.uniform(0.005, 0.020), measured))
                self.events.append((at + 1.0 / 77.0, "measure", value))
        self.arm.advance(until)
        for joint, told in enumerate(self.told):
            while told and told[0][0] <= until:
                self.q_at[joint], self.q[joint] = told.popleft()


def drive(model, command, seed, length):
    """Return the way of the true tip in `base_link_frd`, a row a tick."""
    generator, link = MotionGenerator(model, MotionConfig()), Link(seed)
    now, tips = 0.1, []
    link.advance(now)
    while now < 30.0:
        tips.append(model.tip(link.true()))
        if np.linalg.norm(tips[-1] - tips[0]) >= length:
            return np.array(tips)
        resolution = generator.step(command, link.q, link.q_at, now)
        assert resolution.blocked_by == ()
        link.send(resolution.joint_velocities.tolist(), now)
        now += link.random.uniform(0.014, 0.026)
        link.advance(now)
    raise AssertionError("the jog does not get on")


@pytest.mark.parametrize("speed", [-0.5, 1.0])
@pytest.mark.parametrize(
    "direction", [(0.0, 1.0, 0.0), (-0.2, 1.0, 0.1), (0.0, -1.0, -0.3), (1.0, 0.0, 0.0)]
)
def test_B3_a_jog_of_20_cm_is_straight_to_a_millimetre(model, direction, speed):
    command = GripperCommand(
        arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(*direction), speed_modifier=speed
    )
    for seed in range(2):
        tips = drive(model, command, seed, LENGTH)
        along = np.array(direction) / np.linalg.norm(direction)
        moved = tips - tips[0]
        off = moved - np.outer(moved @ along, along)
        assert np.linalg.norm(off, axis=1).max() <= BAR
        assert (np.diff(moved @ along) > -1e-6).all(), "never back"


@pytest.mark.parametrize(
    "axes",
    [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (0.0, 1.0, 0.5), (0.0, 0.0, -1.0)],
)
def test_B4_a_jog_about_the_base_axis_keeps_radius_or_height(model, axes):
    command = GripperCommand(arm_input=ArmInput.CYLINDRICAL, cylindrical=Cylindrical(*axes))
    for seed in range(2):
        offset = drive(model, command, seed, 0.12) - model.base_position
        up = model.base_rotation[:, 2]
        height = offset @ up
        radius = np.linalg.norm(offset - np.outer(height, up), axis=1)
        if axes[0] == 0.0:
            assert np.abs(radius - radius[0]).max() <= BAR
        if axes[1] == 0.0:
            assert np.abs(height - height[0]).max() <= BAR
