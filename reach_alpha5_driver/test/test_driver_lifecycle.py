"""The driver as a managed node: what each of its states does, and that no way leaves it moving."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from driver_node_rig import CLOCKWISE, RESET_PERIOD, Drive, drive_in
from lifecycle_msgs.msg import Transition

from reach_alpha5_driver.sim.ids import AXES, Mode, Packet
from reach_alpha5_driver.sim.log import TO_ARM
from reach_alpha5_driver.transport.base import OpenError
from reach_alpha5_driver.transport.serial import open_serial
from reach_alpha5_msgs.msg import ArmState

CONFIGURE = Transition.TRANSITION_CONFIGURE
ACTIVATE = Transition.TRANSITION_ACTIVATE
DEACTIVATE = Transition.TRANSITION_DEACTIVATE
CLEANUP = Transition.TRANSITION_CLEANUP
BACK = {"active": (DEACTIVATE, CLEANUP), "inactive": (CLEANUP,), "unconfigured": ()}


def is_free(drive: Drive) -> bool:
    """Whether another program can have the port for itself."""
    try:
        open_serial(str(drive.folder / "port"), 115200).close()
    except OpenError:
        return False
    return True


def is_quiet(drive: Drive) -> bool:
    """Whether every device was told to report nothing by itself, and that behind all motion."""
    log = drive.log()
    told = {
        f.device_id: f for f in log.frames(TO_ARM) if f.packet_id == Packet.HEARTBEAT_FREQUENCY
    }
    motion = max((frame.end_ns for frame in log.motion_frames()), default=0)
    return all(
        device in told and told[device].payload == bytes(1) and told[device].end_ns > motion
        for device in AXES
    )


@pytest.fixture(scope="module")
def managed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drive]:
    """A drive whose driver does nothing by itself."""
    with drive_in(tmp_path_factory.mktemp("managed"), autostart=False) as made:
        made.start_sim()
        made.start_driver()
        made.operator.until(made.heard)
        yield made


@pytest.fixture
def unconfigured(managed: Drive) -> Drive:
    """The managed drive, unconfigured, with nothing latched."""
    operator = managed.operator
    for transition in BACK[operator.lifecycle()]:
        assert operator.change(transition)
    heard = operator.heard_since()
    operator.repeat(operator.reset, lambda: heard() and not operator.arm_state.emo)
    managed.since = managed.mark()
    return managed


@pytest.fixture
def inactive(unconfigured: Drive) -> Drive:
    """The managed drive, inactive, at rest."""
    operator = unconfigured.operator
    assert operator.change(CONFIGURE)

    def give_power() -> None:
        if "unpowered" in operator.arm_state.holds:  # cut by an e-stop of another test
            operator.reset()

    operator.repeat(give_power, lambda: operator.arm_state.holds == ["inactive"], RESET_PERIOD)
    unconfigured.since = unconfigured.mark()
    return unconfigured


@pytest.fixture
def active(inactive: Drive) -> Drive:
    """The managed drive, active, at rest."""
    assert inactive.operator.change(ACTIVATE)
    inactive.operator.until(inactive.at_rest)
    return inactive


def test_an_unconfigured_driver_leaves_the_port_to_others(unconfigured):
    state = unconfigured.operator.arm_state
    assert unconfigured.operator.lifecycle() == "unconfigured"
    assert is_free(unconfigured)
    assert (state.state, state.active, state.identified) == (ArmState.NONE, False, False)
    assert not state.link.connected
    assert state.holds[0] == "inactive"


def test_configure_opens_the_port_and_identifies_the_arm(unconfigured):
    operator = unconfigured.operator
    assert operator.change(CONFIGURE)
    assert operator.lifecycle() == "inactive"
    operator.until(lambda: operator.arm_state.identified)
    assert all(joint.device.identified for joint in operator.arm_state.joints)
    assert not is_free(unconfigured)


def test_U15_an_inactive_driver_reports_and_moves_nothing(inactive):
    operator = inactive.operator
    operator.joint_states.clear()
    operator.stop()
    operator.hold(CLOCKWISE, lambda: operator.arm_state.last_refusal.code == "inactive")
    operator.hold(CLOCKWISE, lambda: len(operator.joint_states) > 20)
    assert not inactive.log().motion_frames()
    assert operator.arm_state.state == ArmState.IDLE
    assert not operator.arm_state.active


def test_deactivating_in_motion_stops_the_arm_and_keeps_it_still(active):
    operator = active.operator
    operator.push(CLOCKWISE, active.moving)
    assert operator.change(DEACTIVATE)
    assert operator.lifecycle() == "inactive"
    operator.until(active.ends_with_a_stop)
    since = active.mark()
    operator.hold(CLOCKWISE, lambda: operator.arm_state.last_refusal.code == "inactive")
    operator.until(lambda: all(j.velocity == 0.0 for j in operator.arm_state.joints))
    assert operator.arm_state.last_stop_cause == "inactive"
    assert not active.log(since).motion_frames()

    since = active.mark()
    assert operator.change(ACTIVATE)
    operator.hold(CLOCKWISE, lambda: operator.arm_state.last_refusal.code == "not_engaged")
    assert not active.log(since).motion_frames()
    operator.push(CLOCKWISE, active.moving)


def test_cleanup_leaves_a_still_and_quiet_arm_and_a_free_port(active):
    operator = active.operator
    operator.push(CLOCKWISE, active.moving)
    assert operator.change(DEACTIVATE)
    assert operator.change(CLEANUP)
    assert operator.lifecycle() == "unconfigured"
    assert is_free(active)
    operator.until(lambda: is_quiet(active))
    assert active.ends_with_a_stop()
    operator.until(
        lambda: operator.arm_state.state == ArmState.NONE and not operator.arm_state.identified
    )

    assert operator.change(CONFIGURE)
    assert operator.change(ACTIVATE)
    operator.push(CLOCKWISE, active.moving)


def test_an_estop_stays_latched_in_every_state_and_over_every_transition(unconfigured):
    operator = unconfigured.operator

    def latched() -> bool:
        heard = operator.heard_since()
        operator.until(heard)
        return operator.arm_state.emo and operator.arm_state.estop_epoch == epoch

    operator.press_estop()
    epoch = operator.arm_state.estop_epoch
    for transition in (CONFIGURE, ACTIVATE, DEACTIVATE, CLEANUP, CONFIGURE, ACTIVATE):
        assert operator.change(transition)
        assert latched()
    operator.hold(CLOCKWISE, lambda: operator.arm_state.last_refusal.code == "estop_latched")
    assert not unconfigured.log().motion_frames()
    operator.until(lambda: all(j.mode == Mode.DISABLE for j in operator.arm_state.joints))

    operator.repeat(operator.reset, unconfigured.at_rest, RESET_PERIOD)
    operator.push(CLOCKWISE, unconfigured.moving)


def test_D4_an_estop_latches_while_configure_waits_for_a_dead_arm(unconfigured):
    operator = unconfigured.operator
    unconfigured.sim.command("dead all")
    try:
        configured = operator.begin_change(CONFIGURE)
        operator.until(lambda: operator.arm_state.link.connected)
        operator.press_estop()
        assert operator.arm_state.emo
        assert not configured.done()
        operator.until(configured.done)
    finally:
        unconfigured.sim.command("alive all")
    assert not configured.result().success
    assert operator.arm_state.emo


def test_deactivating_is_over_when_the_arm_was_measured_at_rest(active):
    operator, said = active.operator, len(active.said())
    operator.push(CLOCKWISE, lambda: operator.arm_state.joints[0].velocity < -0.05)
    active.sim.command("runaway e standby")  # the stop alone does not stop it
    try:
        assert operator.change(DEACTIVATE)
        assert active.sim.state()["joints"]["e"]["velocity"] == 0.0
    finally:
        active.sim.command("runaway e none")
    assert operator.lifecycle() == "inactive"
    operator.until(lambda: "stop: still_moving_standby" in active.said()[said:])
    assert "not at rest" not in active.said()[said:]


def test_deactivating_says_which_joint_was_not_measured_at_rest(active):
    active.sim.command("dead c")
    try:
        assert active.operator.change(DEACTIVATE)
    finally:
        active.sim.command("alive c")
    assert "not at rest, as far as is known: axis_c\n" in active.said()
    assert active.operator.lifecycle() == "inactive"
    active.operator.until(lambda: active.operator.arm_state.holds == ["inactive"])


def test_shutdown_in_motion_stops_the_arm_and_frees_the_port_for_good(fresh):
    fresh.start()
    operator = fresh.operator
    operator.push(CLOCKWISE, fresh.moving)
    assert operator.change(Transition.TRANSITION_ACTIVE_SHUTDOWN)
    assert operator.lifecycle() == "finalized"
    assert is_free(fresh)
    operator.until(lambda: is_quiet(fresh))
    assert fresh.ends_with_a_stop()
    operator.until(operator.heard_since())  # the last answers have passed too
    since = fresh.mark()
    operator.hold(CLOCKWISE, operator.heard_since(3))
    assert not fresh.log(since).entries
    assert fresh.end(signal.SIGTERM) == 0


def test_configure_fails_with_a_reason_while_there_is_no_port(fresh):
    fresh.parameters["autostart"] = False
    fresh.start_driver()
    operator = fresh.operator
    assert not operator.change(CONFIGURE)
    assert operator.lifecycle() == "unconfigured"
    assert "cannot configure: cannot open" in fresh.said()
    assert "there is no such port" in fresh.said()
    fresh.start_sim()
    assert operator.change(CONFIGURE)


@pytest.mark.parametrize(
    ("dead", "named"),
    [
        ("all", "axis_e, axis_d, axis_c, axis_b, axis_a did not"),
        ("c", "configure: axis_c did not"),
    ],
)
def test_configure_fails_and_names_the_devices_that_do_not_answer(unconfigured, dead, named):
    operator = unconfigured.operator
    unconfigured.sim.command(f"dead {dead}")
    try:
        assert not operator.change(CONFIGURE)
    finally:
        unconfigured.sim.command("alive all")
    assert operator.lifecycle() == "unconfigured"
    assert named in unconfigured.said()
    assert is_free(unconfigured)
    assert operator.change(CONFIGURE)


def test_a_port_that_another_program_holds_is_refused_by_its_name(unconfigured):
    with held(unconfigured.folder / "port"):
        assert not unconfigured.operator.change(CONFIGURE)
    assert f"held by {Path('/proc/self/comm').read_text().strip()} (pid {os.getpid()}" in (
        unconfigured.said()
    )
    assert unconfigured.operator.change(CONFIGURE)


def test_U8_with_autostart_a_busy_port_is_waited_for(fresh):
    fresh.start_sim()
    with held(fresh.folder / "port"):
        fresh.start_driver()
        fresh.operator.until(lambda: "the port is held by" in fresh.said())
        assert fresh.operator.lifecycle() == "active"
        assert not fresh.operator.arm_state.link.connected
    fresh.operator.until(fresh.ready)
    fresh.operator.push(CLOCKWISE, fresh.moving)


@contextlib.contextmanager
def held(port: Path) -> Iterator[None]:
    """Hold a port as another program would."""
    fd = os.open(port, os.O_RDWR | os.O_NOCTTY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
