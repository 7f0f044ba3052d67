"""What the driver's node does when the line, a device, or its own process is lost."""

from __future__ import annotations

import os
import signal

import pytest
from driver_node_rig import CLOCKWISE, TIMEOUT, Drive

from reach_alpha5_msgs.msg import ArmState


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_U13_a_signal_in_motion_stops_the_arm_and_ends_cleanly(fresh, number):
    fresh.start()
    fresh.operator.push(CLOCKWISE, fresh.moving)
    assert fresh.end(number) == 0
    fresh.operator.until(fresh.ends_with_a_stop)
    assert "Traceback" not in fresh.said()


def test_U8_an_arm_that_goes_away_and_comes_back_does_not_lurch(fresh):
    operator = fresh.operator
    fresh.start_driver()  # no port yet
    operator.until(lambda: "there is no such port" in fresh.said())
    operator.until(lambda: operator.arm_states > 0)
    assert operator.arm_state.state == ArmState.NONE
    fresh.start_sim()
    operator.until(fresh.ready)
    operator.push(CLOCKWISE, fresh.moving)

    assert fresh.sim.process is not None
    fresh.sim.process.kill()
    fresh.sim.process.wait()
    operator.hold(CLOCKWISE, lambda: not operator.arm_state.link.connected)
    assert operator.arm_state.state == ArmState.NONE
    assert all(joint.stale for joint in operator.arm_state.joints)
    operator.until(operator.heard_since())  # topics overtake each other
    operator.joint_states.clear()
    operator.hold(CLOCKWISE, lambda: operator.arm_state.last_refusal.code == "no_arm")
    assert not operator.joint_states

    fresh.sim.close()
    fresh.start_sim()
    operator.hold(CLOCKWISE, lambda: operator.arm_state.last_refusal.code == "not_engaged")
    assert not fresh.log().motion_frames()
    assert operator.arm_state.link.reconnects >= 1
    operator.push(CLOCKWISE, fresh.moving)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"robot_description": ""}, "robot_description is empty"),
        ({"robot_description": "<robot"}, "not a valid URDF"),
        ({"prefix": "right_"}, "is the prefix 'right_' right?"),
        ({"control_rate": 0.0}, "control_rate"),
        ({"pose_stowed": [0.1, 1.57]}, "stowed"),
    ],
    ids=["no description", "broken description", "wrong prefix", "out of range", "short pose"],
)
def test_a_wrong_parameter_ends_the_node_with_a_reason(fresh, parameters, expected):
    fresh.parameters |= parameters
    fresh.start_driver()
    assert fresh.process is not None
    assert fresh.process.wait(TIMEOUT) == 2
    assert expected in fresh.said()
    assert "Traceback" not in fresh.said()


# -- rule 14: the guard outlives the driver


def in_motion(drive: Drive) -> int:
    """Bring a drive of its own into motion; return the id of the driver's process."""
    drive.start()
    drive.operator.push(CLOCKWISE, drive.moving)
    assert drive.process is not None
    return drive.process.pid


def motion_after_the_stop(drive: Drive) -> bool:
    """Whether anything told a joint to move behind the first stop that is the last word."""
    log = drive.log()
    moved = max((frame.end_ns for frame in log.motion_frames()), default=0)
    return moved > min(stop.time_ns for stop in log.stops()[-6:])


def test_rule_14_a_driver_that_is_killed_in_motion_leaves_a_still_arm(fresh):
    os.kill(in_motion(fresh), signal.SIGKILL)
    fresh.operator.until(fresh.ends_with_a_stop)
    fresh.operator.until(
        lambda: all(j["velocity"] == 0.0 for j in fresh.sim.state()["joints"].values())
    )
    assert not motion_after_the_stop(fresh)

    assert fresh.process is not None
    fresh.process.wait(TIMEOUT)
    heard = fresh.operator.heard_since(1)
    fresh.start_driver()  # the guard of the dead one gives the port back
    fresh.operator.until(lambda: heard() and fresh.ready())
    fresh.operator.push(CLOCKWISE, fresh.moving)


def test_rule_14_a_driver_that_is_stopped_in_motion_leaves_a_still_arm_and_faults(fresh):
    pid = in_motion(fresh)
    os.kill(pid, signal.SIGSTOP)
    try:
        fresh.operator.until(fresh.ends_with_a_stop)
        assert not motion_after_the_stop(fresh)
    finally:
        os.kill(pid, signal.SIGCONT)
    since, operator = fresh.mark(), fresh.operator
    operator.hold(CLOCKWISE, lambda: operator.arm_state.fault_causes == ["guard_tripped"])
    assert operator.arm_state.state == ArmState.MAJOR_FAULT
    assert operator.arm_state.link.guard_trips == 1
    operator.hold(CLOCKWISE, lambda: operator.arm_state.last_refusal.code == "fault_latched")
    assert not fresh.log(since).motion_frames()
    operator.stop()
    operator.reset()
    operator.until(lambda: operator.arm_state.fault_causes == [])
    operator.push(CLOCKWISE, fresh.moving)


def test_U8_one_dead_device_stops_the_arm_and_is_named(fresh):
    in_motion(fresh)
    operator = fresh.operator
    fresh.sim.command("dead b")

    def refused() -> bool:
        last = operator.arm_state.last_refusal
        return last.code == "stale_posture" and "axis_b" in last.reason

    operator.hold(CLOCKWISE, refused)
    operator.until(fresh.ends_with_a_stop)
    only_b = [False] * 3 + [True, False]
    operator.until(lambda: [joint.stale for joint in operator.arm_state.joints] == only_b)
    fresh.sim.command("alive b")
    operator.push(CLOCKWISE, fresh.moving)
