"""The motors' power: the service, the levels of the e-stop, and what the arm reports of both."""

from __future__ import annotations

import pytest
from driver_node_rig import CLOCKWISE, Drive

from reach_alpha5_driver.protocol.packets import STOP_FRAMES, mode_frames
from reach_alpha5_driver.rest import RESTING
from reach_alpha5_driver.sim.ids import AXES, Mode, Packet
from reach_alpha5_driver.sim.log import TO_ARM, TO_DRIVER, LoggedFrame
from reach_alpha5_msgs.msg import ArmState, EStop

DISABLE = mode_frames(Mode.DISABLE)
"""The whole of them, as they follow a stop in the same write."""


def modes_told(drive: Drive, mode: Mode, since: int | None = None) -> list[LoggedFrame]:
    """Return the frames that put a device into a mode."""
    frames = drive.log(since).frames(TO_ARM)
    return [f for f in frames if f.packet_id == Packet.MODE and f.payload == bytes([mode])]


def modes(drive: Drive) -> set[str]:
    """Return the modes that the joints are truly in."""
    return {joint["mode"] for joint in drive.sim.state()["joints"].values()}


def disabled(drive: Drive) -> bool:
    """Whether every motor is truly off."""
    return modes(drive) == {"disable"}


def test_power_off_in_motion_stops_and_disables_every_motor_and_reads_it_back(drive):
    operator = drive.operator
    operator.push(CLOCKWISE, drive.moving)
    answer = operator.power(False)
    assert answer.success, answer.message
    assert disabled(drive)
    assert STOP_FRAMES + DISABLE in drive.log().data(TO_ARM)
    # The service answers of what the arm has said; what is published comes later, joint by joint.
    operator.until(lambda: [j.mode for j in operator.arm_state.joints] == [Mode.DISABLE] * 5)
    assert not operator.arm_state.powered
    assert operator.arm_state.holds == ["unpowered"]
    since = drive.mark()
    operator.stop()
    operator.hold(CLOCKWISE, lambda: operator.arm_state.last_refusal.code == "unpowered")
    assert not drive.log(since).motion_frames()


def test_power_on_is_standby_read_back_and_motion_from_neutral(drive):
    operator = drive.operator
    assert operator.power(False).success
    since = drive.mark()
    answer = operator.power(True)
    assert answer.success, answer.message
    assert "disable" not in modes(drive)
    assert {frame.device_id for frame in modes_told(drive, Mode.STANDBY, since)} == set(AXES)
    assert not drive.log(since).motion_frames()
    operator.until(lambda: operator.arm_state.powered)
    operator.push(CLOCKWISE, drive.moving)


def test_an_arm_that_was_left_disabled_waits_for_its_power(fresh):
    fresh.start_sim("--initial-mode", "disable")
    fresh.start_driver()
    operator = fresh.operator
    operator.until(
        lambda: (
            fresh.heard()
            and operator.arm_state.holds == ["unpowered"]
            and operator.arm_state.state == ArmState.IDLE
        )
    )
    assert not operator.arm_state.powered
    operator.stop()
    operator.hold(CLOCKWISE, lambda: operator.arm_state.last_refusal.code == "unpowered")
    assert not fresh.log().motion_frames()
    answer = operator.power(True)
    assert answer.success, answer.message
    operator.push(CLOCKWISE, fresh.moving)


def test_power_that_a_device_does_not_confirm_is_no_success(drive):
    drive.sim.command("dead c")
    try:
        answer = drive.operator.power(False)
    finally:
        drive.sim.command("alive c")
    assert not answer.success
    assert answer.message.startswith("not_confirmed: ")
    # The wish stands: the device is told again until it has reported it.
    drive.operator.until(lambda: disabled(drive))
    drive.operator.until(
        lambda: all(j.mode == Mode.DISABLE for j in drive.operator.arm_state.joints)
    )
    assert drive.operator.power(True).success


def test_power_off_is_not_confirmed_by_a_report_from_before(drive):
    operator = drive.operator
    assert operator.power(False).success
    drive.sim.command("dead c")
    try:
        assert not operator.power(True).success
        operator.until(operator.heard_since())
        assert operator.arm_state.joints[2].mode == Mode.DISABLE
        assert not operator.power(False).success
    finally:
        drive.sim.command("alive c")


def test_power_is_not_switched_on_under_a_latch(drive):
    operator = drive.operator
    operator.press_estop()
    answer = operator.power(True)
    assert not answer.success
    assert answer.message.startswith("latched: ")
    operator.until(lambda: disabled(drive))
    operator.reset()
    operator.until(lambda: operator.arm_state.powered)


@pytest.mark.parametrize("level", [EStop.CUT, 77], ids=["CUT", "undefined"])
def test_CUT_stops_and_cuts_in_one_write_and_a_reset_moves_nothing(drive, level):
    operator = drive.operator
    operator.push(CLOCKWISE, drive.moving)
    operator.press_estop(level)
    assert operator.arm_state.emo_level == EStop.CUT
    operator.until(lambda: STOP_FRAMES + DISABLE in drive.log().data(TO_ARM))
    assert disabled(drive)
    operator.until(lambda: not operator.arm_state.powered)
    since = drive.mark()
    operator.reset()
    operator.until(drive.at_rest)
    assert operator.arm_state.powered
    assert not drive.log(since).motion_frames()
    operator.push(CLOCKWISE, drive.moving)


def test_SETTLE_THEN_CUT_stops_at_once_and_cuts_when_the_arm_was_measured_at_rest(drive):
    operator = drive.operator
    operator.push(
        CLOCKWISE, lambda: drive.moving() and operator.arm_state.joints[0].velocity < -0.05
    )
    operator.press_estop(EStop.SETTLE_THEN_CUT)
    operator.until(lambda: modes_told(drive, Mode.DISABLE))
    cut = modes_told(drive, Mode.DISABLE)[0].start_ns
    motion = drive.log().motion_frames()[-1].end_ns
    stop = next(stop.time_ns for stop in drive.log().stops() if stop.time_ns > motion)
    assert stop < cut
    reported = [
        frame.floats()[0]
        for frame in drive.log().frames(TO_DRIVER)
        if frame.packet_id == Packet.VELOCITY and frame.end_ns < cut
    ]
    # A joint still fades below what counts as motion when the power may be cut.
    assert max(map(abs, reported[-5:])) <= RESTING["rad"]
    operator.until(lambda: disabled(drive))
    assert operator.arm_state.emo_level == EStop.SETTLE_THEN_CUT
