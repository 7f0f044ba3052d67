"""What is wrong with the arm, from its own reports to ROS and to the bytes that stop it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from driver_node_rig import CLOCKWISE, Drive

from reach_alpha5_msgs.msg import ArmState

HUMID = "40000000"
HOT = "20000000"
SERVICE_DUE = "00000800"
NONE = "00000000"


@pytest.fixture
def healthy(drive: Drive) -> Iterator[Drive]:
    """The shared drive; whatever is done to its arm is undone."""
    yield drive
    for command in (f"flags all {NONE}", "temperature all 15", "temperature all free", "free all"):
        drive.sim.command(command)


def refused_with(drive: Drive, code: str) -> None:
    """Ask for motion of an arm that stands until it was refused for this reason.

    And see that none left.
    """
    since = drive.mark()
    operator, before = drive.operator, drive.operator.refusal
    operator.hold(CLOCKWISE, lambda: operator.refusal != before and operator.refusal[0] == code)
    assert not drive.log(since).motion_frames()


def test_a_major_flag_stops_the_arm_and_latches_until_a_reset(healthy):
    operator = healthy.operator
    operator.push(CLOCKWISE, healthy.moving)
    healthy.sim.command(f"flags c {HUMID}")
    operator.hold(CLOCKWISE, lambda: operator.arm_state.state == ArmState.MAJOR_FAULT)
    operator.until(healthy.ends_with_a_stop)
    assert operator.arm_state.fault_causes == ["flag_humidity axis_c"]
    operator.until(lambda: operator.arm_state.joints[2].status_flags == ["humidity"])
    operator.until(lambda: operator.tel.gripper.joint_fault[2])
    operator.until(
        lambda: any(
            status.level == DiagnosticStatus.ERROR and "flag_humidity" in status.message
            for name, status in operator.diagnostics.items()
            if name.endswith(": axis_c")
        )
    )
    operator.until(lambda: "Bring the arm up" in healthy.said())

    healthy.sim.command(f"flags c {NONE}")
    operator.until(lambda: operator.arm_state.joints[2].status_flags == [])
    operator.stop()
    refused_with(healthy, "fault_latched")
    assert operator.arm_state.state == ArmState.MAJOR_FAULT
    operator.stop()
    operator.reset()
    operator.until(lambda: operator.arm_state.fault_causes == [])
    operator.push(CLOCKWISE, healthy.moving)


def test_a_major_flag_that_still_stands_is_latched_again_after_a_reset(healthy):
    operator, said = healthy.operator, len(healthy.said())
    healthy.sim.command(f"flags c {HUMID}")
    operator.until(lambda: operator.arm_state.state == ArmState.MAJOR_FAULT)
    stops = operator.arm_state.stops
    operator.reset()
    operator.until(lambda: "reset: latches cleared" in healthy.said()[said:])
    # A second stop is that of the second latch.
    operator.until(
        lambda: (
            operator.arm_state.stops > stops
            and operator.arm_state.fault_causes == ["flag_humidity axis_c"]
        )
    )
    operator.until(operator.heard_since(5))
    assert operator.arm_state.state == ArmState.MAJOR_FAULT


def test_R4_a_minor_flag_stops_the_arm_and_a_reset_leads_out(healthy):
    operator = healthy.operator
    operator.push(CLOCKWISE, healthy.moving)
    healthy.sim.command(f"flags b {HOT}")
    operator.hold(CLOCKWISE, lambda: operator.arm_state.state == ArmState.MINOR_FAULT)
    operator.until(healthy.ends_with_a_stop)
    assert operator.arm_state.fault_causes == ["flag_temperature axis_b"]
    operator.stop()
    refused_with(healthy, "fault_latched")
    healthy.sim.command(f"flags b {NONE}")
    operator.until(lambda: operator.arm_state.joints[3].status_flags == [])
    assert operator.arm_state.state == ArmState.MINOR_FAULT
    operator.reset()
    operator.until(lambda: operator.arm_state.state != ArmState.MINOR_FAULT)
    operator.push(CLOCKWISE, healthy.moving)


def test_what_only_warns_is_shown_and_stops_nothing(healthy):
    operator = healthy.operator
    healthy.sim.command(f"flags d {SERVICE_DUE}")
    healthy.sim.command("temperature c 65")
    warned = {"flag_service_due axis_d", "temperature_high axis_c"}
    operator.until(lambda: set(operator.arm_state.warnings) == warned)
    assert operator.arm_state.fault_causes == []
    operator.push(CLOCKWISE, healthy.moving)
    healthy.sim.command("temperature c 80")
    operator.hold(
        CLOCKWISE, lambda: "temperature_too_high axis_c" in operator.arm_state.fault_causes
    )
    operator.until(healthy.ends_with_a_stop)
    assert operator.arm_state.state == ArmState.MINOR_FAULT


def test_a_joint_that_something_blocks_is_stopped_and_named(healthy):
    operator = healthy.operator
    healthy.sim.command("stall e")
    operator.push(CLOCKWISE, lambda: operator.arm_state.fault_causes)
    assert operator.arm_state.fault_causes == ["motor_stalled axis_e"]
    assert operator.arm_state.state == ArmState.MINOR_FAULT
    operator.until(healthy.ends_with_a_stop)
