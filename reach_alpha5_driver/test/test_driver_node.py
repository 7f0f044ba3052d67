"""The real node over real DDS against the simulated arm, judged by the byte log of the line."""

from __future__ import annotations

import itertools
import math
import time

import pytest
from arm_description import PREFIX
from driver_node_rig import CLOCKWISE, TIMEOUT, UP, A, B, Drive, E

from reach_alpha5_common.command import (
    STILL,
    ArmInput,
    Cartesian,
    CommandKind,
    Cylindrical,
    GripperCommand,
    GripperVelocities,
)
from reach_alpha5_common.command import DriverCommand as Command
from reach_alpha5_driver.sim.log import LoggedVelocity
from reach_alpha5_msgs.msg import DriverCommand, EStop, GripperCtrl


def devices_told(velocities: list[LoggedVelocity]) -> list[int]:
    return [velocity.device_id for velocity in velocities]


# -- motion, each in the direction that was asked


@pytest.mark.parametrize(
    ("command", "device", "sign"),
    [
        (CLOCKWISE, E, -1.0),
        (GripperCommand(arm_input=3, cylindrical=Cylindrical(azimuth=-1.0)), E, 1.0),
        (GripperCommand(GripperVelocities(grip=1.0)), A, 1.0),
        (GripperCommand(GripperVelocities(grip=-1.0)), A, -1.0),
        (GripperCommand(GripperVelocities(rotate=1.0)), B, 1.0),
    ],
    ids=["B4 clockwise", "B4 counter-clockwise", "jaws open", "jaws close", "wrist"],
)
def test_an_input_moves_its_joint_and_no_other(drive, command, device, sign):
    since = drive.mark()
    drive.operator.push(command, lambda: drive.told(device) * sign > 0.0)
    drive.operator.stop()
    drive.operator.until(lambda: not drive.moving())
    others = {v.device_id for v in drive.log(since).velocities() if v.value != 0.0}
    assert others == {device}


def test_B3_up_raises_the_tip_along_base_link_frd(drive):
    operator = drive.operator
    before = operator.tel.gripper.end_position
    operator.push(UP, lambda: operator.tel.gripper.end_position.z < before.z - 0.005)
    after = operator.tel.gripper.end_position
    operator.stop()
    assert abs(after.x - before.x) < 0.003
    assert abs(after.y - before.y) < 0.003
    assert operator.tel.header.frame_id == "base_link_frd"
    assert operator.tel.gripper.control_mode == GripperCtrl.ARM_INPUT_CARTESIAN


def test_U10_joint_states_have_all_five_with_true_velocities(drive):
    operator = drive.operator
    operator.joint_states.clear()
    operator.push(
        GripperCommand(GripperVelocities(grip=-1.0)),
        lambda: operator.joint_states and operator.joint_states[-1].velocity[4] < -0.001,
    )
    operator.stop()

    def tells_where_it_rests() -> bool:
        truth, told = drive.sim.state()["joints"]["a"], operator.joint_states[-1]
        at_rest = truth["velocity"] == told.velocity[4] == 0.0
        return at_rest and told.position[4] == pytest.approx(truth["position"], abs=1e-4)

    operator.until(tells_where_it_rests)
    message = operator.joint_states[-1]
    assert message.name == [f"{PREFIX}axis_{axis}" for axis in "edcba"]
    assert len(message.position) == len(message.velocity) == 5
    assert not message.effort
    stamps = [m.header.stamp.sec + m.header.stamp.nanosec / 1e9 for m in operator.joint_states]
    assert all(later > earlier for earlier, later in itertools.pairwise(stamps))
    assert abs(stamps[-1] - time.time()) < TIMEOUT


def test_U14_arm_state_and_diagnostics_show_each_joint_and_the_line(drive):
    operator = drive.operator
    operator.until(
        lambda: (
            all(j.temperature > 0.0 for j in operator.arm_state.joints)
            and operator.arm_state.link.telemetry_rate > 0.0
        )
    )
    state = operator.arm_state
    assert [joint.name for joint in state.joints] == [f"{PREFIX}axis_{axis}" for axis in "edcba"]
    assert [joint.device_id for joint in state.joints] == [5, 4, 3, 2, 1]
    assert state.powered
    assert state.link.connected
    assert state.link.bad_crc == 0

    def told() -> list[str]:
        return [status.message for status in operator.diagnostics.values()]

    operator.until(lambda: told().count("answers") == 5)
    assert len(told()) == 6


# -- stops


def test_U11_a_stop_stops_all_five_joints_and_is_not_streamed(drive):
    operator = drive.operator
    operator.push(CLOCKWISE, drive.moving)
    since = drive.mark()
    operator.stop()
    operator.until(lambda: drive.ends_with_a_stop(since))
    operator.until(drive.at_rest)
    assert drive.ends_with_a_stop(since)
    told = drive.log(since).velocities()
    assert devices_told(told).count(0xFF) == 1
    since = drive.mark()
    operator.until(operator.heard_since(15))
    assert drive.log(since).velocities() == []
    assert not drive.log(since).motion_frames()


def test_rule_12_the_arm_stops_by_itself_when_commands_cease(drive):
    operator = drive.operator
    operator.push(CLOCKWISE, drive.moving)
    operator.until(lambda: operator.arm_state.last_stop_cause == "expired")
    operator.until(lambda: not drive.moving())
    operator.until(lambda: drive.sim.state()["joints"]["e"]["velocity"] == 0.0)


def test_B7_neutral_stops_the_arm(drive):
    drive.operator.push(CLOCKWISE, drive.moving)
    drive.operator.hold(STILL, lambda: not drive.moving())
    drive.operator.until(lambda: drive.operator.arm_state.last_stop_cause == "neutral")


def test_D4_an_estop_latches_and_the_stick_cannot_drive_through_it(drive):
    operator = drive.operator
    operator.push(CLOCKWISE, drive.moving)
    operator.press_estop()
    assert operator.arm_state.emo
    operator.until(lambda: operator.arm_state.last_stop_cause == "estop")
    operator.until(drive.ends_with_a_stop)  # what had left before it has arrived too
    since = drive.mark()
    operator.hold(CLOCKWISE, lambda: operator.arm_state.last_refusal.code == "estop_latched")
    operator.hold(CLOCKWISE, operator.heard_since(15))
    assert not drive.moving()
    assert not drive.log(since).motion_frames()
    operator.reset()
    operator.until(lambda: not operator.arm_state.emo)
    assert not drive.moving()
    operator.push(CLOCKWISE, drive.moving)


def test_a_reset_for_an_older_estop_clears_nothing(drive):
    operator = drive.operator
    operator.press_estop()
    operator.say(Command(CommandKind.RESET, estop_epoch=operator.arm_state.estop_epoch - 1))
    operator.until(lambda: operator.arm_state.last_refusal.code == "stale_reset")
    assert operator.arm_state.emo


@pytest.mark.parametrize("value", [math.nan, math.inf, 1.5])
def test_rule_10_nonsense_is_refused_with_a_counter(drive, value):
    operator = drive.operator
    since = drive.mark()
    bad = GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(x=value))
    code = "out_of_range" if math.isfinite(value) else "not_finite"
    operator.hold(bad, lambda: operator.arm_state.last_refusal.code == code)
    before = operator.arm_state.last_refusal.count
    operator.hold(bad, lambda: operator.arm_state.last_refusal.count > before)
    assert not drive.log(since).motion_frames()


def test_a_default_message_is_a_stop(drive):
    drive.operator.push(CLOCKWISE, drive.moving)
    drive.operator.commands.publish(DriverCommand())
    drive.operator.until(lambda: not drive.moving())


# -- names


def nodes(drive: Drive) -> list[str]:
    """Return the names of the driver's nodes."""
    found = drive.operator.node.get_node_names_and_namespaces()
    return sorted(
        name for name, namespace in found if namespace == drive.namespace and name != "operator"
    )


def test_the_driver_has_two_nodes_beside_each_other(drive):
    drive.operator.until(lambda: len(nodes(drive)) >= 2)
    assert nodes(drive) == ["driver", "driver_estop"]


@pytest.mark.parametrize("rule", ["estop:=red/button", "left:estop:=red/button"])
def test_D4_an_estop_is_heard_where_the_driver_is_told_to(fresh, rule):
    fresh.name, fresh.remaps = "left", [rule]
    fresh.start_driver()
    operator = fresh.operator
    operator.until(lambda: operator.arm_states > 0)
    button = operator.node.create_publisher(EStop, "red/button", 10)
    operator.until(lambda: button.get_subscription_count() == 1)
    assert operator.estops.get_subscription_count() == 0
    button.publish(EStop(level=EStop.CUT, source="test", reason="pressed"))
    operator.until(lambda: operator.arm_state.emo)
    assert nodes(fresh) == ["left", "left_estop"]
