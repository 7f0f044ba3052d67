"""What keeps the arm still beside commands: holds, power, faults, a stop that is not obeyed."""

from __future__ import annotations

import pytest
from driver_rig import FORWARD, JAWS, Rig

from reach_alpha5_common.command import StopLevel
from reach_alpha5_driver.devices import BY_ID, DEVICES
from reach_alpha5_driver.holds import Hold
from reach_alpha5_driver.protocol import packets
from reach_alpha5_driver.protocol.packets import Mode
from reach_alpha5_driver.reporting import arm_picture
from reach_alpha5_driver.states import State

ALL = set(BY_ID)


def holds(rig: Rig) -> tuple[str, ...]:
    return arm_picture(rig.core, rig.now).holds


def refused(rig: Rig) -> str:
    """Ask for motion for a while from neutral; return why there is none, empty = there is."""
    rig.stop()
    rig.run(0.25)
    rig.hold(0.3)
    moved = rig.moving
    rig.stop()
    rig.run(0.1)
    return "" if moved else rig.refusal


# -- holds


def test_every_hold_stands_before_anything_is_known():
    rig = Rig()
    assert set(rig.core.gate.holds) == set(Hold) - {Hold.INACTIVE, Hold.NO_GUARD}


def test_U15_an_inactive_driver_takes_no_motion_and_reports_all_the_same():
    rig = Rig().connect()
    rig.core.set_active(False, rig.now)
    assert refused(rig) == "inactive"
    picture = arm_picture(rig.core, rig.now)
    assert not picture.active
    assert not any(joint.stale for joint in picture.joints)
    rig.core.set_active(True, rig.now)
    assert refused(rig) == ""


def test_U15_deactivating_stops_a_moving_arm_and_activating_moves_nothing():
    rig = Rig().start_moving()
    rig.core.set_active(False, rig.now)
    rig.step()
    assert not rig.moving
    assert rig.core.gate.last_stop_cause == "inactive"
    rig.core.set_active(True, rig.now)
    rig.hold(0.3)
    assert not rig.moving, "the stick was held all along: it must be released first"


def test_rule_14_no_motion_without_a_guard():
    rig = Rig().start_moving()
    rig.core.on_guard(False, rig.now)
    rig.step()
    assert not rig.moving
    assert refused(rig) == "no_guard"
    rig.core.on_guard(True, rig.now)
    assert refused(rig) == ""


def test_rule_14_a_guard_that_stopped_the_arm_is_a_fault_until_the_reset():
    rig = Rig().start_moving()
    rig.core.on_guard_trip("no pulse for 60 ms", rig.now)
    rig.step()
    assert not rig.moving
    assert refused(rig) == "fault_latched"
    assert rig.core.gate.fault_causes == ["guard_tripped"]
    rig.reset()
    assert refused(rig) == ""


@pytest.mark.parametrize("device", sorted(ALL))
def test_B11_nothing_moves_before_every_device_has_said_what_it_is(device):
    rig = Rig()
    rig.arm.deaf = {device}
    rig.connect()
    assert "not_identified" in holds(rig)
    assert refused(rig) in ("stale_posture", "not_identified")
    rig.arm.deaf = set()
    rig.run(1.5)
    assert holds(rig) == ()
    assert refused(rig) == ""


def test_B11_a_device_that_was_away_for_long_is_identified_anew():
    rig = Rig().connect()
    rig.arm.deaf = {3}
    rig.run(1.5)
    rig.arm.position_limits[3] = (1.0, 2.0)
    rig.arm.deaf = set()
    rig.run(1.5)
    assert rig.core.supervisor.identification.identity.devices[2].position_upper == 2.0
    assert refused(rig) == ""


def test_C10_limits_wider_than_the_description_forbid_plans_and_not_jogs():
    rig = Rig()
    rig.arm.position_limits[4] = (0.0, 9.0)
    rig.connect()
    picture = arm_picture(rig.core, rig.now)
    assert picture.mismatches == ("limits_wider axis_d",)
    assert not picture.plannable
    assert refused(rig) == ""


def test_C10_limits_without_room_hold_the_arm():
    rig = Rig()
    rig.arm.position_limits[4] = (7.0, 9.0)
    rig.connect()
    assert holds(rig) == ("mismatch",)
    assert refused(rig) == "mismatch"


def test_limits_of_zero_and_zero_are_none_and_never_a_joint_that_may_not_move():
    rig = Rig()
    rig.arm.position_limits[2] = (None, None)
    rig.connect()
    picture = arm_picture(rig.core, rig.now)
    assert picture.mismatches == ()
    assert picture.plannable
    assert refused(rig) == ""


def test_B10_the_grip_current_is_set_and_read_back_before_anything_moves():
    rig = Rig().connect()
    assert rig.arm.current_limits[1] == pytest.approx((-0.4, 0.4))
    assert {device: rig.arm.current_limits[device] for device in (2, 3, 4, 5)} == dict.fromkeys(
        (2, 3, 4, 5), (-0.6, 0.6)
    )


@pytest.mark.parametrize("stray", [(-0.6, 0.6), (-0.123, 0.123), (None, None)])
def test_B10_one_stray_report_of_current_limits_holds_nothing_for_long(stray):
    rig = Rig().connect()
    rig.core.receive_data(packets.encode(packets.CurrentLimits(1, *stray)), rig.now)
    rig.run(0.5)
    assert holds(rig) == ()


def test_B10_jaws_that_were_without_supply_for_a_moment_are_given_their_limit_again():
    rig = Rig().start_moving()
    rig.arm.deaf = {1}
    rig.hold(0.6)
    rig.arm.current_limits[1] = (-0.6, 0.6)
    rig.arm.deaf = set()
    rig.run(0.6)
    assert rig.arm.current_limits[1] == pytest.approx((-0.4, 0.4))
    assert holds(rig) == ()


# -- power


@pytest.mark.parametrize("mode", [Mode.DISABLE, Mode.PASSIVE])
def test_an_arm_found_without_power_stays_so_until_it_is_asked_for(mode):
    rig = Rig()
    rig.arm.modes[3] = mode
    rig.connect()
    rig.run(3.0)
    assert rig.arm.modes[3] is mode
    assert refused(rig) == "unpowered"
    assert rig.core.on_power(True, rig.now) is None
    rig.run(1.0)
    assert rig.arm.modes[3] is Mode.STANDBY
    assert refused(rig) == ""


def test_power_off_disables_every_device_and_power_on_moves_nothing():
    rig = Rig().start_moving()
    assert rig.core.on_power(False, rig.now) is None
    rig.run(0.5)
    assert set(rig.arm.modes.values()) == {Mode.DISABLE}
    assert not rig.moving
    assert not arm_picture(rig.core, rig.now).powered
    rig.hold(0.5)
    assert not rig.moving
    rig.core.on_power(True, rig.now)
    rig.run(0.5)
    assert arm_picture(rig.core, rig.now).powered
    assert not rig.moving


def test_motors_that_are_off_as_wished_are_not_looked_after_without_pause():
    rig = Rig().connect()
    rig.core.on_power(False, rig.now)
    rig.run(1.0)
    assert set(rig.arm.modes.values()) == {Mode.DISABLE}
    rig.step()
    assert rig.core.supervisor.power.next_time() > rig.now


def test_power_is_not_given_while_something_is_latched():
    rig = Rig().start_moving()
    rig.core.on_estop(StopLevel.CUT, "pad", "pressed", rig.now)
    rig.run(1.0)
    problem = rig.core.on_power(True, rig.now)
    assert problem is not None
    assert problem.code == "latched"
    rig.run(1.0)
    assert set(rig.arm.modes.values()) == {Mode.DISABLE}


def test_mode_frames_that_are_lost_are_sent_until_the_arm_reports_the_mode():
    rig = Rig().connect()
    rig.arm.deaf = {2}
    lost = rig.arm.set_mode
    drops = iter(range(4))
    rig.arm.set_mode = lambda device, mode: (  # type: ignore[method-assign]
        None if device == 2 and next(drops, None) is not None else lost(device, mode)
    )
    rig.arm.deaf = set()
    rig.core.on_power(False, rig.now)
    rig.run(2.0)
    assert set(rig.arm.modes.values()) == {Mode.DISABLE}


def test_power_that_was_asked_for_is_not_given_to_the_arm_that_comes_back():
    rig = Rig()
    rig.arm.modes = dict.fromkeys(ALL, Mode.DISABLE)
    rig.connect()
    rig.core.on_power(True, rig.now)
    rig.core.on_disconnected("unplugged", rig.now)
    rig.core.on_connected(rig.now)
    rig.run(2.0)
    assert set(rig.arm.modes.values()) == {Mode.DISABLE}


def test_power_that_was_cut_stays_cut_over_a_lost_line():
    rig = Rig().connect()
    rig.core.on_power(False, rig.now)
    rig.run(0.5)
    rig.core.on_disconnected("unplugged", rig.now)
    rig.arm.modes = dict.fromkeys(ALL, Mode.STANDBY)  # it was switched off and on
    rig.core.on_connected(rig.now)
    rig.run(2.0)
    assert set(rig.arm.modes.values()) == {Mode.DISABLE}


def test_a_reset_without_an_arm_does_not_switch_on_the_one_that_comes():
    rig = Rig().connect()
    rig.core.on_disconnected("unplugged", rig.now)
    rig.core.on_internal_error("made_up", "", rig.now)
    rig.reset()
    rig.arm.modes = dict.fromkeys(ALL, Mode.DISABLE)
    rig.core.on_connected(rig.now)
    rig.run(2.0)
    assert set(rig.arm.modes.values()) == {Mode.DISABLE}


def test_a_reset_does_not_undo_a_power_off_that_somebody_wanted():
    rig = Rig().connect()
    rig.core.on_power(False, rig.now)
    rig.run(0.5)
    rig.stop()
    rig.reset()
    rig.run(1.0)
    assert set(rig.arm.modes.values()) == {Mode.DISABLE}
    assert rig.core.on_power(True, rig.now) is None
    assert refused(rig) == ""


SITUATIONS = {
    "idle": lambda rig: None,
    "jogging": lambda rig: rig.hold(0.3),
    "power off": lambda rig: rig.core.on_power(False, rig.now),
    "cut": lambda rig: rig.core.on_estop(StopLevel.CUT, "", "", rig.now),
    "settled": lambda rig: rig.core.on_estop(StopLevel.SETTLE_THEN_CUT, "", "", rig.now),
    "one dead": lambda rig: rig.arm.deaf.add(3),
    "all dead": lambda rig: rig.arm.deaf.update(ALL),
    "inactive": lambda rig: rig.core.set_active(False, rig.now),
    "faulty": lambda rig: rig.core.on_internal_error("made_up", "", rig.now),
    "not obeying": lambda rig: setattr(rig.arm, "stuck", True),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_driver_sleeps_between_two_looks_whatever_is_going_on(situation):
    rig = Rig().start_moving()
    SITUATIONS[situation](rig)
    awake = 0
    for _ in range(400):
        rig.step()
        awake += rig.core.next_wakeup(rig.now) <= rig.now
    assert awake < 40, "it would be awake all the time"


# -- levels of the e-stop


def test_a_cut_disables_in_the_very_write_of_the_stop():
    rig = Rig().start_moving()
    rig.core.on_estop(StopLevel.CUT, "pad", "pressed", rig.now)
    rig.step()
    assert not rig.moving
    assert set(rig.arm.modes.values()) == {Mode.DISABLE}


def test_settle_then_cut_stops_first_and_disables_once_the_arm_rests():
    rig = Rig().start_moving()
    rig.arm.stuck = True  # it takes a while to come to rest
    rig.core.on_estop(StopLevel.SETTLE_THEN_CUT, "pad", "pressed", rig.now)
    rig.run(0.2)
    assert Mode.DISABLE not in rig.arm.modes.values()
    rig.arm.stuck = False
    rig.arm.velocities = dict.fromkeys(ALL, 0.0)
    rig.run(0.5)
    assert set(rig.arm.modes.values()) == {Mode.DISABLE}


def test_settle_then_cut_does_not_wait_for_ever_for_an_arm_that_tells_nothing():
    rig = Rig(settle_time=1.0).start_moving()
    rig.arm.deaf = set(ALL)
    rig.core.on_estop(StopLevel.SETTLE_THEN_CUT, "pad", "pressed", rig.now)
    rig.run(0.8)
    assert Mode.DISABLE not in rig.arm.modes.values()
    rig.run(1.0)
    assert set(rig.arm.modes.values()) == {Mode.DISABLE}


def test_a_cut_after_a_settle_does_not_wait_any_more():
    rig = Rig().start_moving()
    rig.arm.stuck = True
    rig.core.on_estop(StopLevel.SETTLE_THEN_CUT, "pad", "pressed", rig.now)
    rig.run(0.1)
    rig.arm.stuck = False
    rig.core.on_estop(StopLevel.CUT, "pad", "pressed again", rig.now)
    rig.step()
    assert set(rig.arm.modes.values()) == {Mode.DISABLE}


@pytest.mark.parametrize("level", [StopLevel.SETTLE_THEN_CUT, StopLevel.CUT])
def test_a_reset_gives_the_power_back_and_moves_nothing(level):
    rig = Rig().start_moving()
    rig.core.on_estop(level, "pad", "pressed", rig.now)
    rig.run(1.0)
    assert set(rig.arm.modes.values()) == {Mode.DISABLE}
    rig.stop()
    rig.reset()
    rig.run(1.0)
    assert set(rig.arm.modes.values()) == {Mode.STANDBY}
    assert not rig.moving
    assert refused(rig) == ""


@pytest.mark.parametrize("pause", [0.0, 0.005, 0.02, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("level", [StopLevel.SETTLE_THEN_CUT, StopLevel.CUT])
def test_a_reset_soon_after_a_cut_gives_the_power_back_all_the_same(level, pause):
    rig = Rig().start_moving()
    rig.core.on_estop(level, "pad", "pressed", rig.now)
    rig.run(0.01)
    rig.run(pause)
    rig.stop()
    rig.reset()
    rig.run(1.0)
    assert not set(rig.arm.modes.values()) & {Mode.DISABLE}
    assert refused(rig) == ""


def test_the_first_input_after_a_reset_counts_as_soon_as_the_motors_are_on():
    rig = Rig().start_moving()
    rig.stop(StopLevel.CUT)
    rig.run(0.2)
    rig.reset()
    while holds(rig):
        rig.run(0.01)
    assert rig.now - rig.core.gate.disengaged_at < rig.core.config.max_command_lifetime
    rig.hold(0.1)
    assert rig.moving


def test_input_that_comes_before_the_motors_are_on_is_no_neutral():
    rig = Rig().start_moving()
    rig.stop(StopLevel.CUT)
    rig.run(0.2)
    rig.reset()
    rig.send()
    assert rig.refusal == "unpowered"
    rig.run(0.2)
    rig.hold(1.0)
    assert not holds(rig)
    assert rig.refusal == "not_engaged"
    assert not rig.moving


# -- a stop that is not obeyed


@pytest.mark.parametrize("obeys", [Mode.STANDBY, Mode.DISABLE])
def test_an_arm_that_obeys_no_stop_is_brought_to_rest_by_its_mode_and_a_fault_latches(obeys):
    rig = Rig().start_moving()
    rig.arm.stuck, rig.arm.obeys_from = True, obeys
    rig.stop()
    rig.run(2.0)
    assert not rig.moving
    assert rig.core.gate.fault_causes[0] == "stop_not_obeyed"
    assert set(rig.arm.modes.values()) == {obeys}
    assert refused(rig) == "fault_latched"


def test_the_steps_of_the_escalation_are_told():
    rig = Rig().start_moving()
    rig.arm.stuck = True
    rig.stop()
    causes = []
    for _ in range(400):
        rig.step()
        if not causes or rig.core.gate.last_stop_cause != causes[-1]:
            causes.append(rig.core.gate.last_stop_cause)
    assert causes == [
        "commanded",
        "still_moving",
        "still_moving_standby",
        "still_moving_disable",
    ]


def test_what_the_escalation_has_disabled_is_not_switched_on_by_a_reset_that_was_under_way():
    rig = Rig().start_moving()
    rig.arm.deaf = {5}  # it reports no mode, so that a wish for power stays
    rig.stop()
    rig.reset()
    rig.arm.stuck, rig.arm.obeys_from = True, Mode.DISABLE
    rig.arm.velocities[4] = 0.3
    rig.run(3.0)
    assert rig.arm.modes[4] is Mode.DISABLE
    assert not rig.moving


def test_rule_14_the_guard_watches_until_rest_is_measured_and_not_only_until_the_stop_is_written():
    rig = Rig().start_moving()
    rig.arm.stuck = True
    rig.stop()
    rig.run(0.2)
    assert rig.core.may_move
    rig.arm.stuck = False
    rig.run(1.0)
    assert not rig.moving
    assert not rig.core.may_move


def test_rule_14_the_guard_does_not_watch_for_ever_over_an_arm_that_tells_nothing():
    rig = Rig().start_moving()
    rig.arm.deaf = set(ALL)
    rig.stop()
    rig.run(1.0)
    assert rig.core.may_move
    rig.run(3.0)
    assert not rig.core.may_move


# -- faults


def test_a_major_flag_stops_latches_and_latches_again_while_it_stands():
    rig = Rig(slow_telemetry_period=0.3).start_moving()
    rig.arm.flags[4] = ("motor_driver",)
    rig.hold(1.0)
    assert not rig.moving
    assert rig.core.gate.state is State.MAJOR_FAULT
    rig.reset()
    rig.run(1.0)
    assert rig.core.gate.state is State.MAJOR_FAULT, "it stands, so a reset does not help"
    rig.arm.flags.clear()
    rig.run(1.5)
    assert rig.core.gate.state is State.MAJOR_FAULT, "a major fault never ends by itself"
    rig.reset()
    assert refused(rig) == ""


@pytest.mark.parametrize("auto", [False, True])
def test_R4_a_minor_fault_ends_by_itself_only_where_that_is_configured(auto):
    rig = Rig(slow_telemetry_period=0.3, minor_auto_reset=auto).start_moving()
    rig.arm.flags[4] = ("over_current",)
    rig.hold(1.0)
    assert not rig.moving
    assert rig.core.gate.state is State.MINOR_FAULT
    rig.arm.flags.clear()
    rig.run(1.5)
    assert (rig.core.gate.state is State.MINOR_FAULT) is not auto
    if not auto:
        rig.reset()
    assert refused(rig) == ""


def test_a_warning_is_told_and_stops_nothing():
    rig = Rig(slow_telemetry_period=0.3).start_moving()
    rig.arm.flags[4] = ("service_due",)
    rig.hold(1.0)
    assert rig.moving
    picture = arm_picture(rig.core, rig.now)
    assert picture.warnings == ("flag_service_due axis_d",)
    assert sum("service_due" in note.text for note in rig.core.notes) == 1


def test_a_joint_that_does_not_move_when_told_is_a_fault():
    rig = Rig().connect()
    rig.stop()
    rig.arm.stuck = True
    rig.arm.modes[5] = Mode.VELOCITY
    rig.hold(3.0)
    assert rig.core.gate.state is State.MINOR_FAULT
    assert rig.core.gate.fault_causes == ["motor_stalled axis_e"]


# -- service mode


def jog(rig: Rig, rates: dict[str, float], seconds: float = 0.3, **fields) -> None:
    """Repeat a joint jog, as a service tool does while a button is held."""
    given = {"displacements": [], "duration": 0.0} | fields
    for _ in range(round(seconds / 0.05)):
        rig.core.service.on_joint_jog(
            list(rates), given["displacements"], list(rates.values()), given["duration"],
            rig.now, rig.now,
        )  # fmt: skip
        rig.run(0.05)


def test_B9_joints_are_not_moved_one_by_one_unless_service_mode_is_set():
    rig = Rig().connect()
    jog(rig, {"axis_d": 0.1})
    assert not rig.moving
    assert rig.refusal == "service_mode_off"


def test_D10_in_service_mode_one_joint_moves_and_stops_when_nobody_asks_any_more():
    rig = Rig(service_mode=True).connect()
    jog(rig, {"axis_d": 0.1})
    assert rig.arm.velocities == {1: 0.0, 2: 0.0, 3: 0.0, 4: pytest.approx(0.1), 5: 0.0}
    rig.run(0.5)
    assert not rig.moving


def test_B9_ordinary_input_is_refused_in_service_mode_and_stops_are_not():
    rig = Rig(service_mode=True).connect()
    assert refused(rig) == "service_mode"
    rig.run(1.0)
    jog(rig, {"axis_e": 0.1})
    assert rig.moving
    rig.stop()
    rig.step()
    assert not rig.moving


@pytest.mark.parametrize(
    ("rates", "fields", "code"),
    [
        ({"axis_d": 0.1}, {"displacements": [0.1]}, "displacement"),
        ({"axis_x": 0.1}, {}, "unknown_joint"),
        ({"axis_d": float("nan")}, {}, "not_finite"),
        ({"axis_d": 0.1}, {"duration": 5.0}, "bad_lifetime"),
        ({"axis_d": 0.1}, {"duration": -1.0}, "bad_lifetime"),
    ],
)
def test_D10_a_jog_that_is_not_in_order_is_refused_with_a_reason(rates, fields, code):
    rig = Rig(service_mode=True).connect()
    jog(rig, rates, **fields)
    assert not rig.moving
    assert rig.refusal == code


def test_B9_a_preset_is_gone_to_while_it_is_asked_for_and_then_stopped():
    rig = Rig(service_mode=True).connect()
    for _ in range(10):
        rig.core.service.on_preset(2, rig.now, rig.now)
        rig.run(0.05)
    asked = [packet for packet in rig.arm.heard if isinstance(packet, packets.PresetGo)]
    assert {packet.slot for packet in asked} == {2}
    assert len(asked) >= 10
    stops = rig.core.gate.stops
    rig.run(0.5)
    assert rig.core.gate.stops == stops + 1
    assert rig.core.gate.state is State.ENABLED


def test_B9_a_preset_that_the_arm_has_not_is_refused():
    rig = Rig(service_mode=True).connect()
    rig.core.service.on_preset(4, rig.now, rig.now)
    assert rig.refusal == "unknown_preset"


# -- leaving


@pytest.mark.parametrize("telemetry", ["request", "heartbeat"])
def test_nothing_is_said_after_the_farewell(telemetry):
    rig = Rig(telemetry=telemetry).connect()
    rig.core.on_shutdown(rig.now)
    rig.flush()
    last = rig.arm.heard[-1]
    assert isinstance(last, packets.HeartbeatFrequency)
    assert last.frequency == 0
    heard = len(rig.arm.heard)
    rig.run(1.0)
    assert len(rig.arm.heard) == heard


# -- telling


def test_B10_jaws_that_stall_on_something_are_told_to_hold():
    rig = Rig().connect()
    assert not arm_picture(rig.core, rig.now).holding
    assert [joint.axis for joint in arm_picture(rig.core, rig.now).joints] == [
        device.joint for device in DEVICES
    ]
    rig.hold(0.2, JAWS)
    rig.hold(0.2, FORWARD)
    assert not arm_picture(rig.core, rig.now).holding
