"""Whether the joints do what they are told: on the simulated arm, and joint by joint."""

from __future__ import annotations

import math
import random
from collections import deque

import pytest
from sim_rig import ARM_LOWER, ARM_UPPER, LOWER, SPEEDS, UPPER, SimRig

from reach_alpha5_driver.agreement import AgreementConfig, MotionWatch
from reach_alpha5_driver.belief import Belief, joint_bounds
from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.fault_table import Severity
from reach_alpha5_driver.protocol.packets import Request
from reach_alpha5_driver.sim.arm import Arm, ArmConfig
from reach_alpha5_driver.sim.ids import Mode

E, D, C, B, A = range(5)
STILL = (0.0,) * 5
MIDDLE = {5: 3.0, 4: 1.5, 3: 1.5, 2: 3.0, 1: 7.0}
"""Posture in device units, by device id."""
GAIN = 4.0
"""Of the slowing down towards a limit, as the driver does it [1/s]."""


def of(joint: int, rate: float) -> tuple[float, ...]:
    """Return a rate for one joint and rest for the others."""
    return tuple(rate if index == joint else 0.0 for index in range(5))


class Scene:
    """The simulated arm behind a line with all that is usual, and a watch."""

    def __init__(self, latency: float = 0.1, seed: int = 0, **settings) -> None:
        self.rig = SimRig(latency=latency, noise=1.0, seed=seed)
        for way in self.rig.sim.faults.values():
            way.set_rate("lose", 0.01)
        for device_id, position in MIDDLE.items():
            self.rig.sim.arm.joints[device_id].place(position)
        self.watch = MotionWatch(AgreementConfig(**settings), ARM_LOWER, ARM_UPPER)
        self.answers = True
        """Whether the arm is asked what the watch wants to know."""
        for _ in self.rig.run(0.5):
            self.watch.check(self.rig.belief, self.rig.now)

    def joint(self, index: int):
        return self.rig.sim.arm.joints[DEVICES[index].id]

    def drive(self, rates, seconds: float, shape=lambda time: 1.0) -> Scene:
        """Write rates times `shape`, slowed down towards limits, until something is found."""
        begin = self.rig.now
        self.rig.rates = STILL
        for released in self.rig.run(seconds):
            share = shape(self.rig.now - begin)
            wanted = [rate * share for rate in rates]
            self.rig.rates = slowed(wanted, self.rig.belief.positions())
            if released:
                self.watch.released(self.rig.rates, self.rig.now)
            if self.look():
                break
        return self

    def rest(self, seconds: float) -> Scene:
        self.watch.stopped(self.rig.now)
        self.rig.stop()
        for _ in self.rig.run(seconds):
            assert not self.look()
        return self

    def look(self) -> bool:
        for question in self.watch.questions(self.rig.now):
            if self.answers:
                self.rig.write(Request(question.device, (question.packet,)))
        return bool(self.watch.check(self.rig.belief, self.rig.now))

    @property
    def codes(self) -> list[str]:
        return [finding.code for finding in self.watch.report]

    def obeys(self, joint: int, change) -> None:
        """Let a joint take `change(rate)` for each rate that it is told."""
        obey = self.joint(joint).demand_velocity
        self.joint(joint).demand_velocity = lambda rate: obey(change(rate))


def slowed(rates, positions) -> tuple[float, ...]:
    """Return rates that the driver would write at these positions."""
    return tuple(
        max(-min(speed, GAIN * max(0.0, at - low)), min(rate, speed, GAIN * max(0.0, high - at)))
        for rate, at, low, high, speed in zip(
            rates, positions, ARM_LOWER, ARM_UPPER, SPEEDS, strict=True
        )
    )


# -- what must be found


@pytest.mark.parametrize("joint", [E, D, C, B])
@pytest.mark.parametrize("share", [-1.0, 0.12])
def test_a_motor_that_stalls_on_the_way_is_found(joint, share):
    scene = Scene()
    rates = of(joint, share * SPEEDS[joint])
    scene.drive(rates, 0.8)
    scene.joint(joint).blocked = True
    start = scene.rig.now
    scene.drive(rates, 3.0)
    assert scene.codes == [f"motor_stalled {DEVICES[joint].joint}"]
    assert scene.rig.now - start == pytest.approx(1.1, abs=0.2)
    assert scene.watch.report[0].severity is Severity.MINOR


def test_a_motor_that_is_stalled_from_the_start_is_found():
    scene = Scene()
    scene.joint(D).blocked = True
    start = scene.rig.now
    scene.drive(of(D, 0.3), 4.0)
    assert scene.codes == ["motor_stalled axis_d"]
    assert scene.rig.now - start < 2.0


def test_the_time_is_the_one_that_was_set():
    scene = Scene(disagreement_time=2.0)
    scene.drive(of(E, 0.3), 0.8)
    scene.joint(E).blocked = True
    start = scene.rig.now
    scene.drive(of(E, 0.3), 5.0)
    assert scene.rig.now - start == pytest.approx(2.1, abs=0.3)


@pytest.mark.parametrize(
    ("told", "does", "code"),
    [
        (of(E, 0.3), (E, lambda rate: -rate), "wrong_way axis_e"),
        (of(E, 0.3), (D, lambda rate: 0.2), "wrong_joint axis_d"),
        (of(E, 0.1), (E, lambda rate: 5.0 * rate), "runaway axis_e"),
        (of(A, 0.002), (A, lambda rate: -rate), "wrong_way axis_a"),
        (of(E, 0.3), (A, lambda rate: 1.0), "wrong_joint axis_a"),  # mm/s
    ],
)
def test_a_joint_that_does_something_else_is_found(told, does, code):
    scene = Scene()
    scene.obeys(*does)
    scene.drive(told, 4.0)
    assert scene.codes == [code]
    assert scene.watch.report[0].severity is Severity.MAJOR


@pytest.mark.parametrize("mode", [Mode.DISABLE, Mode.PASSIVE])
def test_a_device_in_a_mode_that_ignores_velocities_is_found_and_told_apart_from_a_stall(mode):
    scene = Scene()
    scene.drive(of(C, 0.3), 0.8)
    scene.joint(C).set_mode(mode)
    scene.drive(of(C, 0.3), 3.0)
    assert scene.codes == ["mode_ignored axis_c"]
    assert mode.name.lower() in scene.watch.report[0].text


def test_a_device_that_does_not_tell_its_mode_is_found_to_stall_all_the_same():
    scene = Scene()
    scene.answers = False
    scene.drive(of(C, 0.3), 0.8)
    scene.joint(C).set_mode(Mode.DISABLE)
    scene.drive(of(C, 0.3), 3.0)
    assert scene.codes == ["motor_stalled axis_c"]


def test_U9_one_wrong_mode_is_no_fault():
    scene = Scene()
    scene.answers = False
    scene.drive(of(C, 0.3), 1.0)
    for mode in (Mode.VELOCITY, Mode.VELOCITY, Mode.DISABLE):
        scene.rig.belief.on_mode(C, mode, scene.rig.now)
    assert scene.drive(of(C, 0.3), 1.0).codes == []


@pytest.mark.parametrize("speed", [1.2, 3.0, 8.0])
@pytest.mark.parametrize("told", [E, D])
def test_a_joint_that_runs_away_faster_than_any_should_is_found_soon(speed, told):
    joints = Joints(random.Random(5), disagreement_time=1.0)
    joints.step_for(0.7, of(told, 0.2))
    joints.arm.joints[4].demand_velocity(0.0)
    joints.forced[D] = speed
    begin = joints.now
    joints.step_for(2.0, of(told, 0.2))
    assert [finding.code for finding in joints.watch.report] == [
        "runaway axis_d" if told == D else "wrong_joint axis_d"
    ]
    assert joints.found_at - begin < 0.7


@pytest.mark.parametrize(
    ("told", "change", "code"),
    [
        (of(E, 0.3), (D, 0.3), "wrong_joint axis_d"),
        (of(D, 0.1), (D, 0.5), "runaway axis_d"),
        (of(D, 0.3), (D, 0.0), "motor_stalled axis_d"),
    ],
)
def test_a_joint_that_never_tells_its_velocity_is_judged_by_its_way(told, change, code):
    joints = Joints(random.Random(6), disagreement_time=1.0)
    joints.mute.add(D)
    joints.step_for(0.7, told)
    joints.obeys(change[0], lambda rate: change[1])
    joints.step_for(2.5, told)
    assert [finding.code for finding in joints.watch.report] == [code]


def tapped(joints: Joints, times: int, rates, on: float = 0.3, off: float = 0.3) -> float:
    """Tap a stick until something is found; return how long that took."""
    begin = joints.now
    for _ in range(times):
        joints.step_for(on, rates)
        if joints.watch.report:
            break
        joints.stop()
        joints.step_for(off, None)
    return joints.now - begin


def test_a_joint_that_was_told_nothing_is_found_though_the_stick_is_tapped():
    joints = Joints(random.Random(7), disagreement_time=1.0)
    joints.arm.joints[4].demand_velocity(0.3)
    joints.obeys(D, lambda rate: 0.3)
    assert tapped(joints, 20, of(E, 0.2)) < 2.5
    assert [finding.code for finding in joints.watch.report] == ["wrong_joint axis_d"]


@pytest.mark.parametrize("rate", [0.1, 0.2, 0.5])
@pytest.mark.parametrize(("on", "off"), [(0.3, 0.3), (0.1, 0.1), (0.2, 0.35)])
def test_a_joint_that_does_not_stop_is_found_though_the_stick_is_tapped(rate, on, off):
    joints = Joints(random.Random(8), disagreement_time=1.0)
    joints.obeys(E, lambda told: rate)
    took = tapped(joints, 60, of(E, rate), on, off)
    assert [finding.code for finding in joints.watch.report] == ["runaway axis_e"]
    assert took < 8.0


def test_a_finding_stays_until_the_stop_and_the_next_motion_begins_anew():
    scene = Scene()
    scene.joint(D).blocked = True
    scene.drive(of(D, 0.3), 4.0)
    report = scene.watch.report
    for released in scene.rig.run(0.5):
        if released:
            scene.watch.released(of(D, 0.3), scene.rig.now)
        assert scene.watch.check(scene.rig.belief, scene.rig.now) is report
    scene.rest(0.5)
    assert scene.codes == []
    scene.joint(D).blocked = False
    assert scene.drive(of(D, 0.3), 2.0).codes == []


# -- what must not be found


def test_jaws_that_press_on_something_are_no_fault():
    scene = Scene()
    scene.rig.sim.arm.grip(0.006)
    assert scene.drive(of(A, -0.003), 4.0).codes == []


@pytest.mark.parametrize("joint", range(5))
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_joint_at_a_limit_of_the_arm_is_no_fault(joint, sign):
    scene = Scene()
    limit = (ARM_LOWER if sign < 0.0 else ARM_UPPER)[joint]
    if math.isfinite(limit):
        scene.joint(joint).place(
            (limit - sign * 0.02 * SPEEDS[joint]) * DEVICES[joint].wire_per_si
        )
    for released in scene.rig.run(3.0):  # a driver that does not slow down for it
        scene.rig.rates = of(joint, sign * SPEEDS[joint])
        if released:
            scene.watch.released(scene.rig.rates, scene.rig.now)
        assert not scene.look()


def test_a_wrist_that_passes_a_full_turn_is_no_fault():
    scene = Scene()
    scene.joint(B).place(5.9)
    scene.drive(of(B, 0.8), 4.0)
    assert scene.joint(B).position > 7.0
    assert scene.codes == []


def test_a_joint_that_falls_silent_is_not_judged():
    scene = Scene()
    scene.drive(of(E, 0.3), 0.8)
    scene.rig.sim.devices[5].deaf = True
    assert scene.drive(of(E, 0.3), 3.0).codes == []


def test_nothing_is_judged_while_nothing_is_told():
    scene = Scene()
    scene.joint(E).demand_velocity(0.3)
    for _ in scene.rig.run(3.0):
        assert not scene.look()


class Joints:
    """The simulated joints without a line: reports come late, noisy, and not all of them."""

    PERIOD = 0.014

    def __init__(self, seeded: random.Random, disagreement_time: float) -> None:
        self.now = 1000.0
        self.arm = Arm(ArmConfig(), self.now)
        for device_id, position in MIDDLE.items():
            self.arm.joints[device_id].place(position)
        self.belief = Belief(joint_bounds(LOWER, UPPER, SPEEDS), 0.25)
        self.belief.set_turning(B, True)
        self.watch = MotionWatch(AgreementConfig(disagreement_time), ARM_LOWER, ARM_UPPER)
        self.latency = seeded.choice([0.0, 0.05, 0.1, 0.15])
        self.mute: set[int] = set()
        """Joints that do not tell their velocity."""
        self.forced: dict[int, float] = {}
        """Joints that move at this speed, faster than the simulated motors can [rad/s]."""
        self.found_at = self.now
        self._seeded = seeded
        self._under_way: deque[tuple[float, list[tuple[float, float]]]] = deque()

    def step(self, rates) -> None:
        """Write rates (None: nothing), let a period of telemetry pass, and look."""
        self.now += self.PERIOD
        if rates is not None:
            self.watch.released(rates, self.now)
            for device, rate in zip(DEVICES, rates, strict=True):
                self.arm.joints[device.id].demand_velocity(rate * device.wire_per_si)
        self.arm.advance(self.now)
        for index, speed in self.forced.items():
            joint = self.arm.joints[DEVICES[index].id]
            joint.place((joint.position + speed * self.PERIOD) % 3.4)
        noise = self._seeded.gauss
        self._under_way.append((self.now + self.latency, [
            ((joint.reported_position + noise(0.0, 5e-4)) / device.wire_per_si,
             self.forced.get(
                 device.index, (joint.velocity + noise(0.0, 5e-3)) / device.wire_per_si
             ))
            for device in DEVICES
            for joint in [self.arm.joints[device.id]]
        ]))  # fmt: skip
        while self._under_way[0][0] <= self.now:
            for index, (position, velocity) in enumerate(self._under_way.popleft()[1]):
                if self._seeded.random() > 0.01:
                    self.belief.on_position(index, position, self.now)
                if self._seeded.random() > 0.01 and index not in self.mute:
                    self.belief.on_velocity(index, velocity, self.now)
            if not self._under_way:
                break
        self.watch.check(self.belief, self.now)

    def step_for(self, seconds: float, rates) -> None:
        """Step until the time is over or something new is found."""
        end = self.now + seconds
        while self.now < end and not self.watch.report:
            self.step(rates)
        self.found_at = self.now

    def obeys(self, joint: int, change) -> None:
        """Let a joint take `change(rate)` for each rate that it is told, in SI units."""
        device = DEVICES[joint]
        take = self.arm.joints[device.id].demand_velocity
        self.arm.joints[device.id].demand_velocity = lambda rate: take(
            change(rate / device.wire_per_si) * device.wire_per_si
        )

    def stop(self) -> None:
        self.watch.stopped(self.now)
        for joint in self.arm.joints.values():
            joint.demand_velocity(0.0)


@pytest.mark.parametrize("seed", range(4))
def test_motion_of_all_kinds_is_no_fault_with_less_than_half_the_time(seed):
    seeded = random.Random(seed)
    joints = Joints(seeded, disagreement_time=0.4)
    for _ in range(40):
        rates = [seeded.choice([0.0, 1.0, -1.0, seeded.uniform(-1, 1)]) * top for top in SPEEDS]
        period, duration = seeded.uniform(0.1, 3.0), seeded.choice([0.1, 0.5, 2.0])
        shape = seeded.choice(
            [
                lambda time, period: 1.0,
                lambda time, period: math.sin(2.0 * math.pi * time / period),
                lambda time, period: 1.0 if time % period < period / 2.0 else -1.0,
                lambda time, period: float(time % period < period / 2.0),
            ]
        )
        begin = joints.now
        while joints.now < begin + duration:
            share = shape(joints.now - begin, period)
            joints.step(slowed([share * rate for rate in rates], joints.belief.positions()))
            assert joints.watch.report == ()
        if seeded.random() < 0.4:
            joints.stop()
            begin, pause = joints.now, seeded.choice([0.0, 0.05, 0.3])
            while joints.now < begin + pause:
                joints.step(None)


def test_the_next_motion_is_not_blamed_for_what_the_last_one_left():
    joints = Joints(random.Random(1), disagreement_time=0.4)
    joints.latency = 0.15
    for _ in range(10):
        for _ in range(100):
            joints.step(of(B, SPEEDS[B] if joints.now % 6.0 < 3.0 else -SPEEDS[B]))
        joints.stop()
        for _ in range(60):
            joints.step(of(E, 0.2))  # the wrist is still seen to move
            assert joints.watch.report == ()
        joints.stop()
        for _ in range(60):
            joints.step(of(E, -0.2))
            assert joints.watch.report == ()


def test_disagreement_that_comes_and_goes_wears_off():
    joints = Joints(random.Random(2), disagreement_time=1.0)
    base = joints.arm.joints[5]
    for turn in range(40):
        base.blocked = turn % 2 == 0
        for _ in range(30):  # 0.42 s
            joints.step(slowed(of(E, 0.05 * (1 if turn < 20 else -1)), joints.belief.positions()))
            assert joints.watch.report == ()


def test_a_motion_after_a_rest_is_given_the_time_to_begin():
    joints = Joints(random.Random(3), disagreement_time=0.4)
    for _ in range(70):
        joints.step(of(E, 0.3))
    joints.stop()
    for _ in range(70):
        joints.step(None)
    joints.arm.joints[5].blocked = True
    begin = joints.now
    while not joints.watch.report:
        joints.step(of(E, 0.3))
    assert 0.7 < joints.now - begin < 1.5


def test_what_a_joint_did_before_the_motion_is_held_against_it():
    joints = Joints(random.Random(4), disagreement_time=0.4)
    joints.arm.joints[5].demand_velocity(0.3)
    joints.arm.joints[5].demand_velocity = lambda rate: None
    for _ in range(70):
        joints.step(None)
        assert joints.watch.report == ()
    begin = joints.now
    joints.step_for(1.0, of(D, 0.3))
    assert joints.watch.report[0].code == "wrong_joint axis_e"
    assert joints.now - begin < 0.1


def test_what_a_joint_did_before_it_rested_is_not_held_against_the_motion():
    joints = Joints(random.Random(4), disagreement_time=0.4)
    joints.arm.joints[5].demand_velocity(0.3)
    for _ in range(200):
        joints.step(None)
    joints.arm.joints[5].demand_velocity(0.0)
    for _ in range(70):
        joints.step(None)
    joints.step_for(0.5, of(D, 0.3))
    joints.arm.joints[5].demand_velocity = lambda rate: None
    joints.arm.joints[5].place(joints.arm.joints[5].position + 0.03)  # somebody bumps into it
    joints.step_for(1.0, of(D, 0.3))
    assert joints.watch.report == ()


def test_a_velocity_that_is_not_told_any_more_is_not_held_against_a_joint():
    joints = Joints(random.Random(10), disagreement_time=0.4)
    joints.step_for(0.7, of(E, 0.3))
    joints.mute.add(E)
    joints.step_for(2.0, of(E, -0.3))
    assert joints.watch.report == ()


def test_an_arm_on_its_own_way_to_a_preset_is_not_judged():
    joints = Joints(random.Random(9), disagreement_time=0.4)
    for joint in joints.arm.joints.values():
        joint.demand_velocity(0.3)
        joint.demand_velocity = lambda rate: None
    joints.watch.released((math.nan,) * 5, joints.now)
    joints.step_for(2.0, None)
    assert joints.watch.report == ()


@pytest.mark.parametrize("seed", range(4))
def test_taps_of_all_kinds_are_no_fault_with_less_than_half_the_time(seed):
    seeded = random.Random(seed)
    joints = Joints(seeded, disagreement_time=0.4)
    for _ in range(8):
        rates = [seeded.choice([0.0, 1.0, -1.0, seeded.uniform(-1, 1)]) * top for top in SPEEDS]
        on, off = seeded.choice([0.05, 0.1, 0.3, 0.6]), seeded.choice([0.02, 0.1, 0.3, 0.6])
        for turn in range(12):
            sign = -1.0 if turn >= 6 else 1.0
            end = joints.now + on
            while joints.now < end:
                wanted = [sign * rate for rate in rates]
                joints.step(slowed(wanted, joints.belief.positions()))
                assert joints.watch.report == ()
            joints.stop()
            end = joints.now + off
            while joints.now < end:
                joints.step(None)
