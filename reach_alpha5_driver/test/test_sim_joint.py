"""How a simulated joint moves, stops, stalls and warms up."""

import math

import pytest

from reach_alpha5_driver.sim.arm import DEFAULT_SPECS, Arm, ArmConfig
from reach_alpha5_driver.sim.ids import Mode
from reach_alpha5_driver.sim.joint import AMBIENT, Joint

JAWS, WRIST, ELBOW, SHOULDER, BASE = 1, 2, 3, 4, 5


def joint(device_id: int = BASE, position: float = 3.0) -> Joint:
    return Joint(DEFAULT_SPECS[device_id], position, now=0.0)


def test_a_velocity_persists_for_ever() -> None:
    wrist = joint(WRIST, 0.0)
    wrist.demand_velocity(0.5)
    wrist.advance(120.0)
    assert wrist.velocity == pytest.approx(0.5)
    assert wrist.position == pytest.approx(60.0, abs=0.1)


def test_acceleration_is_limited() -> None:
    base = joint()
    base.demand_velocity(0.5)
    base.advance(0.05)
    assert base.velocity == pytest.approx(0.05 * base.spec.acceleration)


@pytest.mark.parametrize("asked, got", [(9.0, 0.5236), (-9.0, -0.5236), (0.1, 0.1)])
def test_velocity_is_clamped_to_the_limits(asked: float, got: float) -> None:
    base = joint()
    base.demand_velocity(asked)
    base.advance(1.0)
    assert base.velocity == pytest.approx(got, abs=1e-4)


@pytest.mark.parametrize("position, stop", [(1e300, 6.3), (-1e300, 0.0)])
def test_a_joint_is_never_put_beyond_its_stops(position: float, stop: float) -> None:
    base = joint()
    base.place(position)
    assert base.reported_position == stop


@pytest.mark.parametrize("velocity", [0.5, -0.5])
def test_a_velocity_stops_softly_at_the_position_limit_and_leads_back(velocity: float) -> None:
    base = joint()
    base.demand_velocity(velocity)
    base.advance(60.0)
    limit = base.position_limits[1 if velocity > 0 else 0]
    assert base.velocity == 0.0
    assert base.position == pytest.approx(limit, abs=2e-3)
    base.demand_velocity(-velocity)
    base.advance(61.0)
    assert abs(base.position - limit) > 0.3


def test_zero_limits_mean_no_limits() -> None:
    wrist = joint(WRIST, 0.0)
    wrist.demand_velocity(-0.5)
    wrist.advance(2.0)
    assert wrist.position < -0.9
    assert 0.0 <= wrist.reported_position < 2 * math.pi


@pytest.mark.parametrize("device_id, target", [(JAWS, 2.0), (WRIST, 5.0), (BASE, 4.5)])
def test_a_position_is_reached_and_held(device_id: int, target: float) -> None:
    moving = joint(device_id, 6.0 if device_id == JAWS else 3.0)
    moving.demand_position(target)
    moving.advance(30.0)
    assert moving.velocity == 0.0
    assert moving.reported_position == pytest.approx(target, abs=5e-3)


def test_a_joint_without_stops_takes_the_shorter_way() -> None:
    wrist = joint(WRIST, 0.2)
    wrist.demand_position(6.0)
    wrist.advance(0.5)
    assert wrist.velocity < 0.0


def test_a_position_outside_the_limits_is_ignored() -> None:
    base = joint()
    base.demand_velocity(0.2)
    assert not base.demand_position(6.2)
    assert base.mode is Mode.VELOCITY
    base.advance(1.0)
    assert base.velocity == pytest.approx(0.2)


def test_position_velocity_keeps_to_its_speed() -> None:
    base = joint()
    base.demand_position(4.0, Mode.POSITION_VELOCITY, 0.1)
    base.advance(2.0)
    assert base.velocity == pytest.approx(0.1)


def test_indexed_relative_counts_from_where_the_mode_began() -> None:
    base = joint()
    base.demand_indexed(0.5)
    base.advance(5.0)
    base.demand_indexed(0.2)
    base.advance(10.0)
    assert base.position == pytest.approx(3.2, abs=2e-3)
    base.demand_relative(0.2)
    base.advance(15.0)
    assert base.position == pytest.approx(3.4, abs=4e-3)


@pytest.mark.parametrize(
    "mode", [Mode.STANDBY, Mode.ZERO_VELOCITY, Mode.HOLD, Mode.DISABLE, Mode.VELOCITY]
)
def test_a_mode_frame_brings_the_joint_to_rest(mode: Mode) -> None:
    base = joint()
    base.demand_velocity(0.5)
    base.advance(1.0)
    base.set_mode(mode)
    base.advance(3.0)
    assert base.velocity == 0.0


@pytest.mark.parametrize("mode", [Mode.DISABLE, Mode.PASSIVE])
def test_disabled_and_passive_ignore_control_frames_until_standby(mode: Mode) -> None:
    base = joint()
    base.set_mode(mode)
    assert not base.demand_velocity(0.5)
    assert not base.demand_position(4.0)
    assert not base.demand_current(300.0)
    assert not base.set_mode(Mode.VELOCITY)
    assert base.mode is mode
    assert base.set_mode(Mode.STANDBY)
    assert base.demand_velocity(0.5)
    assert base.mode is Mode.VELOCITY


def test_a_preset_ends_by_itself_in_one_big_step_as_in_many_small_ones() -> None:
    coarse, fine = joint(position=1.0), joint(position=1.0)
    for moving in (coarse, fine):
        moving.demand_preset(5.0, expires=0.5)
    coarse.advance(3.0)
    for tick in range(1, 3001):
        fine.advance(tick / 1000.0)
    assert coarse.velocity == fine.velocity == 0.0
    assert coarse.position == pytest.approx(fine.position, abs=2e-3)
    assert 1.2 < coarse.position < 1.35


@pytest.mark.parametrize("position", [0.1, 3.0, 6.1])
@pytest.mark.parametrize("velocity", [0.5, -0.5])
def test_a_big_step_never_jumps_over_a_limit(position: float, velocity: float) -> None:
    coarse, fine = joint(position=position), joint(position=position)
    for moving in (coarse, fine):
        moving.demand_velocity(velocity)
    clock = 0.0
    for second in (0.3, 1.0, 3.0, 20.0):
        coarse.advance(second)
        while clock < second:
            clock = min(clock + 0.001, second)
            fine.advance(clock)
        assert coarse.position == pytest.approx(fine.position, abs=2e-3)
        assert coarse.velocity == pytest.approx(fine.velocity, abs=5e-3)


def test_a_held_temperature_does_not_follow_the_current() -> None:
    base = joint()
    base.temperature, base.temperature_held = 55.0, True
    base.demand_velocity(0.3)
    base.blocked = True
    base.advance(600.0)
    assert base.temperature == 55.0


def test_a_stalled_joint_stays_and_draws_all_that_it_may() -> None:
    base = joint()
    base.demand_velocity(0.3)
    base.advance(1.0)
    free_current = base.current
    base.blocked = True
    base.advance(1.1)
    assert base.velocity == 0.0
    assert base.current == base.current_limits[1] > 3 * free_current


def test_a_stall_heats_the_motor_and_rest_cools_it() -> None:
    base = joint()
    base.demand_velocity(0.3)
    base.blocked = True
    base.advance(600.0)
    hot = base.temperature
    assert hot > AMBIENT + 25.0
    base.demand_velocity(0.0)
    base.advance(3600.0)
    assert base.temperature == pytest.approx(AMBIENT, abs=0.1)


def test_current_grows_while_the_jaws_close_on_an_object_until_they_stall() -> None:
    jaws = joint(JAWS, 10.0)
    jaws.contact = 6.0
    jaws.demand_velocity(-2.0)
    jaws.advance(1.5)
    free_current = jaws.current
    jaws.advance(10.0)
    assert jaws.velocity == 0.0
    assert 5.0 < jaws.position < 6.0
    assert jaws.current == jaws.current_limits[0] < 2 * free_current < 0.0
    jaws.demand_velocity(2.0)
    jaws.advance(11.0)
    assert jaws.position > 6.0


def test_current_mode_grips_with_its_current_and_no_more() -> None:
    jaws = joint(JAWS, 10.0)
    jaws.contact = 6.0
    jaws.demand_current(-150.0)
    jaws.advance(10.0)
    assert jaws.velocity == 0.0
    assert jaws.position == pytest.approx(6.0 - 0.15, abs=0.01)
    jaws.demand_current(-9999.0)
    jaws.advance(20.0)
    assert jaws.current == jaws.current_limits[0]


def test_weight_loads_shoulder_and_elbow_and_a_payload_more() -> None:
    # The elbow above the shoulder, the forearm level and held out to +x.
    arm = Arm(ArmConfig(posture={5: 3.0, 4: 3.4, 3: 1.83, 2: 0.0, 1: 0.005}), now=0.0)
    for stands in arm.joints.values():
        stands.set_mode(Mode.HOLD)
    arm.advance(1.0)
    alone = {device_id: abs(stands.current) for device_id, stands in arm.joints.items()}
    assert alone[SHOULDER] > alone[ELBOW] > 1.0
    assert alone[BASE] == alone[WRIST] == 0.0
    arm.payload = 1.0
    arm.advance(2.0)
    assert abs(arm.joints[SHOULDER].current) > 2 * alone[SHOULDER]
    assert abs(arm.joints[ELBOW].current) > 2 * alone[ELBOW]


def test_many_small_steps_and_one_big_step_agree() -> None:
    coarse, fine = joint(), joint()
    for moving in (coarse, fine):
        moving.demand_velocity(0.4)
    coarse.advance(2.0)
    for tick in range(1, 2001):
        fine.advance(tick / 1000.0)
    assert coarse.position == pytest.approx(fine.position, abs=2e-3)
