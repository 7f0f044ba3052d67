"""Service mode: joints one by one, for the desk. Off by default, and loud when it is on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from arm_description import PREFIX
from control_msgs.msg import JointJog
from driver_node_rig import CLOCKWISE, Drive, drive_in
from std_msgs.msg import UInt8

from reach_alpha5_driver.sim.ids import BASE_DEVICE, Packet
from reach_alpha5_msgs.msg import EStop


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drive]:
    """A drive in service mode."""
    with drive_in(tmp_path_factory.mktemp("service"), service_mode=True) as made:
        made.start()
        yield made


@pytest.fixture
def desk(bench: Drive) -> Drive:
    """The drive in service mode, at rest with nothing latched."""
    bench.settle()
    return bench


def jog(name: str, velocity: float) -> JointJog:
    return JointJog(joint_names=[name], velocities=[velocity])


def hold(drive: Drive, message: JointJog, condition: Callable[[], object]) -> None:
    """Repeat a jog as a service tool does while a button is held."""
    operator = drive.operator

    def say() -> None:
        message.header.stamp = operator.node.get_clock().now().to_msg()
        operator.jogs.publish(message)

    operator.press(say, condition)


def test_B9_service_mode_says_so_loudly(desk):
    operator = desk.operator
    assert "SERVICE MODE" in desk.said()
    assert operator.arm_state.service_mode
    operator.until(
        lambda: any("SERVICE MODE" in status.message for status in operator.diagnostics.values())
    )


def test_D10_a_joint_jog_moves_that_joint_alone_and_ends_by_itself(desk):
    hold(desk, jog(f"{PREFIX}axis_d", 0.1), lambda: desk.told(4) > 0.0)
    assert {v.device_id for v in desk.log().velocities() if v.value != 0.0} == {4}
    desk.operator.until(desk.ends_with_a_stop)
    desk.operator.until(lambda: desk.operator.arm_state.last_stop_cause == "expired")


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (jog("axis_d", 0.1), "unknown_joint"),  # the joint of an arm without this prefix
        (jog(f"{PREFIX}axis_f", 0.1), "unknown_joint"),
        (jog(f"{PREFIX}axis_d", float("nan")), "not_finite"),
        (JointJog(joint_names=[f"{PREFIX}axis_d"], displacements=[0.1]), "displacement"),
        (JointJog(joint_names=[f"{PREFIX}axis_d"]), "bad_joints"),
    ],
)
def test_B9_a_jog_that_cannot_be_is_refused(desk, message, code):
    operator, before = desk.operator, desk.operator.refusal
    hold(desk, message, lambda: operator.refusal != before and operator.refusal[0] == code)
    assert operator.arm_state.last_refusal.source == "service"
    assert not desk.log().motion_frames()


def test_B9_a_jog_of_a_bag_moves_nothing(desk):
    operator, message = desk.operator, jog(f"{PREFIX}axis_d", 0.1)
    message.header.stamp = operator.node.get_clock().now().to_msg()
    message.header.stamp.sec -= 60
    operator.press(
        lambda: operator.jogs.publish(message),
        lambda: operator.arm_state.last_refusal.code == "replayed",
    )
    assert operator.arm_state.last_refusal.source == "service"
    assert not desk.log().motion_frames()


def test_B9_ordinary_input_is_refused_in_service_mode(desk):
    operator = desk.operator
    operator.hold(CLOCKWISE, lambda: operator.arm_state.last_refusal.code == "service_mode")
    assert not desk.log().motion_frames()


def test_B9_an_estop_stops_a_jog_and_latches(desk):
    message = jog(f"{PREFIX}axis_e", 0.1)
    hold(desk, message, desk.moving)
    desk.operator.press_estop(EStop.CUT)
    desk.operator.until(desk.ends_with_a_stop)
    since = desk.mark()
    hold(desk, message, lambda: desk.operator.arm_state.last_refusal.code == "estop_latched")
    assert not desk.log(since).motion_frames()


def test_B9_a_preset_runs_while_it_is_asked_for_and_no_longer(desk):
    operator = desk.operator

    def gone() -> bool:
        return any(f.packet_id == Packet.PRESET_GO for f in desk.log().motion_frames())

    operator.press(lambda: operator.presets.publish(UInt8(data=1)), gone)
    assert {(f.device_id, f.payload) for f in desk.log().motion_frames()} == {
        (BASE_DEVICE, bytes([1]))
    }
    operator.until(lambda: operator.arm_state.last_stop_cause == "expired")

    def stopped() -> bool:
        log = desk.log()
        return log.stops()[-1].time_ns > log.motion_frames()[-1].end_ns

    operator.until(stopped)
    operator.until(desk.ends_with_a_stop)


def test_B9_without_service_mode_nobody_listens(drive):
    operator = drive.operator
    assert operator.jogs.get_subscription_count() == 0
    assert operator.presets.get_subscription_count() == 0
    assert not operator.arm_state.service_mode
    assert "SERVICE MODE" not in drive.said()
    hold(drive, jog(f"{PREFIX}axis_d", 0.1), operator.heard_since(5))
    assert not drive.log().motion_frames()
