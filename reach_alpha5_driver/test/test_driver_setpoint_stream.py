"""A stream of set-points over real DDS to the simulated arm, which judges what became of it."""

from __future__ import annotations

import time

from arm_description import PREFIX
from driver_node_rig import LIFETIME

from reach_alpha5_common.command import CommandKind, JointCommand
from reach_alpha5_common.command import DriverCommand as Command
from reach_alpha5_msgs.msg import ArmState, GripperCtrl

WAY = {"e": 0.25, "d": -0.2, "c": 0.15, "a": 0.002}
"""From where the arm is [rad, m]; axis_b is not named."""
SECONDS = 2.0
ARRIVED = {"e": 0.01, "d": 0.01, "c": 0.01, "a": 2.5e-4}
"""Half of what a goal tolerates by default [rad, m]."""
SPEED = 0.2
HANGS = 1.0
"""s until the guard stops the arm of a driver that hangs, in these tests: a machine that stalls
makes a joint go on for so long at most."""


def truth(drive, quantity="position") -> dict[str, float]:
    return {axis: joint[quantity] for axis, joint in drive.sim.state()["joints"].items()}


def say(drive, positions: dict[str, float], velocities: dict[str, float]) -> None:
    names = tuple(f"{PREFIX}axis_{axis}" for axis in positions)
    point = JointCommand(names, tuple(positions.values()), tuple(velocities.values()))
    drive.operator.say(Command(CommandKind.JOINT, joint=point, lifetime=LIFETIME))


def test_C11_a_streamed_trajectory_arrives(drive):
    operator, start = drive.operator, truth(drive)
    begin = time.monotonic()

    def stream() -> None:
        share = min((time.monotonic() - begin) / SECONDS, 1.0)
        place, rate = (3.0 - 2.0 * share) * share**2, 6.0 * share * (1.0 - share) / SECONDS
        say(
            drive,
            {axis: start[axis] + way * place for axis, way in WAY.items()},
            {axis: way * rate for axis, way in WAY.items()},
        )

    def arrived() -> bool:
        now, speed = truth(drive), truth(drive, "velocity")
        near = [abs(now[axis] - start[axis] - way) <= ARRIVED[axis] for axis, way in WAY.items()]
        return all(near) and not any(speed.values())

    operator.press(stream, arrived)
    assert operator.tel.gripper.control_mode == GripperCtrl.ARM_INPUT_NONE
    assert truth(drive)["b"] == start["b"]
    operator.stop()
    operator.until(drive.at_rest)
    assert operator.arm_state.fault_causes == []


def test_rule_12_silence_stops_the_arm_when_the_last_set_point_is_over(drive):
    operator, begin, start = drive.operator, time.monotonic(), truth(drive)["e"]
    said = start

    def stream() -> None:
        nonlocal said
        said = min(start + SPEED * (time.monotonic() - begin), 5.5)
        say(drive, {"e": said}, {"e": SPEED})

    operator.press(stream, lambda: truth(drive, "velocity")["e"] > SPEED / 2.0)
    operator.until(lambda: operator.arm_state.last_stop_cause == "expired")
    operator.until(lambda: not any(truth(drive, "velocity").values()))
    assert drive.ends_with_a_stop()
    assert truth(drive)["e"] <= said + SPEED * (LIFETIME + HANGS)
    assert operator.arm_state.state == ArmState.ENABLED


def test_rule_10_a_joint_that_the_arm_has_not_is_refused_and_the_stream_is_over(drive):
    operator = drive.operator
    operator.stop()
    operator.repeat(
        lambda: say(drive, {"x": 1.0}, {"x": 0.0}),
        lambda: operator.arm_state.last_refusal.code in ("unknown_joint", "not_engaged"),
    )
    operator.until(lambda: operator.arm_state.state == ArmState.IDLE)
    assert not drive.moving()
