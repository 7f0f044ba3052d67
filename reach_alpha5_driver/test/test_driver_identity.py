"""What the arm says of itself: shown in ROS, and held against the description."""

from __future__ import annotations

import math

import pytest
from arm_description import PREFIX
from driver_node_rig import CLOCKWISE

AXES = "edcba"
"""Chain order."""


def test_B11_U14_arm_state_shows_who_the_arm_is_and_its_limits(drive):
    state, truth = drive.operator.arm_state, drive.sim.state()["devices"]
    assert state.identified
    assert state.plannable
    assert state.mismatches == []
    for axis, joint in zip(AXES, state.joints, strict=True):
        told, true = joint.device, truth[axis]
        assert (told.serial_number, told.model_number) == (true["serial"], true["model"])
        assert told.firmware == true["firmware"]
        limits = true["position_limits"]
        endless = limits == [0.0, 0.0]
        assert [told.position_lower, told.position_upper] == pytest.approx(
            [-math.inf, math.inf] if endless else limits
        )
        assert [told.velocity_lower, told.velocity_upper] == pytest.approx(true["velocity_limits"])
        assert told.current_upper == pytest.approx(true["current_limits"][1])


def test_U14_diagnostics_show_identity_and_limits(drive):
    def values() -> dict[str, str]:
        return {
            pair.key: pair.value
            for name, status in drive.operator.diagnostics.items()
            if name.endswith(": axis_e")
            for pair in status.values
        }

    truth = drive.sim.state()["devices"]["e"]
    drive.operator.until(lambda: values().get("firmware") == truth["firmware"])
    low, high = truth["position_limits"]
    assert values()["serial_number"] == str(float(truth["serial"]))
    assert values()["position_limits"] == f"{low:g} to {high:g}"


def test_C10_limits_wider_than_described_refuse_planned_motion_and_no_jog(fresh):
    fresh.start("--do", "limits d position 0.0 3.9")
    operator = fresh.operator
    assert operator.arm_state.mismatches == ["limits_wider axis_d"]
    assert operator.arm_state.identified
    assert not operator.arm_state.plannable
    operator.until(lambda: "its position limits are 0 to 3.9 rad" in fresh.said())
    operator.until(
        lambda: any(
            name.endswith(": axis_d") and status.message == "limits_wider"
            for name, status in operator.diagnostics.items()
        )
    )
    operator.push(CLOCKWISE, fresh.moving)


def test_C10_limits_that_share_nothing_with_the_description_hold_the_arm(fresh):
    fresh.start_sim("--do", "limits d position 3.7 3.9")
    fresh.start_driver()
    operator = fresh.operator
    operator.until(lambda: fresh.heard() and operator.arm_state.holds == ["mismatch"])
    assert operator.arm_state.mismatches == ["bad_limits axis_d"]
    operator.stop()
    operator.hold(CLOCKWISE, lambda: operator.arm_state.last_refusal.code == "mismatch")
    assert not fresh.log().motion_frames()


def test_B11_another_arm_than_the_expected_one_refuses_planned_motion(fresh):
    fresh.parameters["expected_serial_numbers"] = [5105.0, 0.0, 0.0, 0.0, 4711.0]
    fresh.start()
    state = fresh.operator.arm_state
    assert state.mismatches == ["unexpected_serial_number axis_a"]
    assert not state.plannable
    fresh.operator.until(lambda: "serial number 5101, not 4711" in fresh.said())


def test_B11_an_arm_that_was_exchanged_is_identified_anew_and_comes_back_disengaged(fresh):
    fresh.start()
    operator = fresh.operator
    operator.push(CLOCKWISE, fresh.moving)
    fresh.sim.command("power off")
    operator.hold(CLOCKWISE, lambda: operator.arm_state.last_refusal.code == "no_arm")
    fresh.sim.command("identity e serial 777")
    operator.until(fresh.ends_with_a_stop)
    since = fresh.mark()
    # Silence of this length may have been an exchange.
    operator.hold(CLOCKWISE, lambda: operator.arm_state.joints[0].age > 1.5)
    fresh.sim.command("power on")
    operator.hold(CLOCKWISE, lambda: operator.arm_state.last_refusal.code == "not_engaged")
    operator.until(lambda: operator.arm_state.joints[0].device.serial_number == 777.0)
    assert operator.arm_state.joints[0].name == f"{PREFIX}axis_e"
    assert not fresh.log(since).motion_frames()
    operator.push(CLOCKWISE, fresh.moving)
