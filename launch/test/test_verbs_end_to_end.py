"""Verbs and stamped twists of tools that know no arm, judged by the bytes at the arm (D8)."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest
from geometry_msgs.msg import TwistStamped
from line_rig import has_a_stop, rests
from std_srvs.srv import Trigger

from reach_alpha5_msgs.msg import Gripper, KnownPose

CALLER = """
import sys, rclpy
from std_srvs.srv import Trigger
rclpy.init()
node = rclpy.create_node("caller")
client = node.create_client(Trigger, sys.argv[1])
assert client.wait_for_service(30.0)
rclpy.spin_until_future_complete(node, client.call_async(Trigger.Request()))
"""
"""What `ros2 service call` does."""

PERIOD = 0.1
"""Between two twists of a tool [s]."""

LONG = 60.0
"""Seconds; for what takes the arm across its workspace."""


@pytest.fixture(scope="module")
def rig(module_rig_with):
    with module_rig_with(verbs="true") as rig:
        yield rig


@pytest.fixture(autouse=True)
def settled(rig):
    rig.settle()
    rig.client.call("verbs/stop")
    rig.wait(lambda: rig.arbiter().owner == "", "the lease is free")
    yield


class Twists:
    """A tool that publishes a stamped twist again and again, from a thread of its own."""

    def __init__(self, rig):
        self._node = rig.client.node
        self._publisher = self._node.create_publisher(TwistStamped, "cmd_vel", 10)
        self._ahead = 0.0
        self.said = 0
        self._leave = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def ahead(self, speed):
        """Go ahead at that speed [m/s]."""
        self._ahead = speed

    def leave(self):
        """Be silent from now on; the publisher stays."""
        self._leave.set()
        self._thread.join()

    def close(self):
        self.leave()
        self._node.destroy_publisher(self._publisher)

    def say(self, ago=0.0):
        """Say it once, with a stamp of so many seconds ago."""
        message = TwistStamped()
        message.header.frame_id = "base_link"
        stamp = self._node.get_clock().now().nanoseconds - round(ago * 1e9)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        message.twist.linear.x = self._ahead
        self._publisher.publish(message)
        self.said += 1

    def is_heard(self):
        """Whether anybody listens."""
        return self._publisher.get_subscription_count() > 0

    def _run(self):
        while not self._leave.wait(PERIOD):
            self.say()


@contextmanager
def twists(rig):
    tool = Twists(rig)
    try:
        yield tool
    finally:
        tool.close()


def moves_by_twists(rig, tool):
    """Have the arm moved by twists; return a mark from before the motion ends."""

    def moves(mark):
        return rig.stack.wire(mark).motion_frames()

    mark = rig.stack.mark()
    tool.ahead(0.0)
    rig.wait(tool.is_heard, "the tool is heard")
    said = tool.said
    rig.wait(lambda: tool.said > said + 2, "zero twists")
    rig.wait(lambda: source(rig).alive and not source(rig).neutral_required, "the app is armed")
    tool.ahead(0.03)
    rig.wait(lambda: moves(mark), "motion by twists")
    return rig.stack.mark()


def stops(rig, mark, what):
    """Wait until a stop was said since a mark."""
    rig.wait(lambda: has_a_stop(rig.stack.wire(mark).velocities()), f"a stop for {what}")


def source(rig):
    return next(each for each in rig.arbiter().sources if each.name == "app")


def gripper(rig):
    telemetry = rig.client.last("gripper_tel")
    return Gripper() if telemetry is None else telemetry.gripper


def moving_to(rig):
    return gripper(rig).moving_to.pose


def ask(rig, verb):
    """Call a verb; return what will hold the answer, and what lets go of the client."""
    client = rig.client.node.create_client(Trigger, f"verbs/{verb}")
    assert client.wait_for_service(30.0)
    return client.call_async(Trigger.Request()), client


def done(rig, verb):
    """Call a verb and return its answer."""
    future, client = ask(rig, verb)
    try:
        rig.wait(future.done, f"an answer of {verb}", LONG)
        return future.result()
    finally:
        rig.client.node.destroy_client(client)


def elsewhere(rig):
    """Return a pose that the arm is not at: of both, the one that it goes to."""
    answer = done(rig, "stow")
    assert answer.success, answer.message
    return "deploy", KnownPose.DEPLOYED


def test_D8_a_verb_takes_the_arm_to_a_pose_and_answers_when_it_is_there(rig):
    assert done(rig, "stow").success
    mark = rig.stack.mark()
    answer = done(rig, "deploy")
    assert (answer.success, answer.message) == (True, "there")
    assert rig.stack.wire(mark).motion_frames()
    rig.wait(lambda: rests(rig.stack.wire(mark)), "a stop, and nothing after it")
    there = [round(each, 2) for each in gripper(rig).joint_positions[:3]]
    assert there == [3.14, 1.57, 1.57]
    mark = rig.stack.mark()
    assert done(rig, "deploy").message == "there"  # it is there: nothing turns any more
    assert not rig.stack.wire(mark).motion_frames()


def test_D8_the_jaws_open_and_close_until_they_go_no_further(rig):
    for verb in ("open_jaws", "close_jaws"):
        mark = rig.stack.mark()
        answer = done(rig, verb)
        assert answer.success, answer.message
        assert rig.stack.wire(mark).motion_frames()


def test_B5_a_caller_that_leaves_lets_go_of_the_arm(rig):
    verb, pose = elsewhere(rig)
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER, f"/alpha5/verbs/{verb}"],
        env={**rig.stack.environment, "PATH": os.environ["PATH"]},
    )
    try:
        rig.wait(lambda: moving_to(rig) == pose, "the arm goes there")
        mark = rig.stack.mark()
        caller.send_signal(signal.SIGINT)  # as Ctrl-C does
        stops(rig, mark, "a caller that is gone")
    finally:
        caller.kill()
        caller.wait()
    rig.wait(lambda: moving_to(rig) == KnownPose.UNSPECIFIED, "it goes nowhere")
    rig.wait(lambda: rests(rig.stack.wire(mark)), "nothing after the stop")


@pytest.mark.parametrize("how", ["stop", "estop", "pad"])
def test_rule1_rule4_a_verb_ends_with_stop_e_stop_and_never_against_a_pilot(rig, how):
    verb, pose = elsewhere(rig)
    if how == "pad":
        rig.wait(lambda: rig.arbiter().owner == "", "the lease is free")
        rig.jog(left_y=0.2)
        answer = done(rig, verb)
        assert not answer.success and "teleop" in answer.message + rig.arbiter().owner
        assert moving_to(rig) == KnownPose.UNSPECIFIED
        return
    future, client = ask(rig, verb)
    try:
        rig.wait(lambda: moving_to(rig) == pose, "the arm goes there")
        mark = rig.stack.mark()
        rig.client.call("verbs/stop" if how == "stop" else "estop")
        rig.wait(future.done, "an answer")
    finally:
        rig.client.node.destroy_client(client)
    answer = future.result()
    assert not answer.success and ("stopped" if how == "stop" else "e-stop") in answer.message
    rig.wait(lambda: rests(rig.stack.wire(mark)), "a stop, and nothing after it")


def test_D8_twists_move_the_arm_and_silence_stops_it(rig):
    elsewhere(rig)
    assert done(rig, "deploy").success
    with twists(rig) as tool:
        mark = moves_by_twists(rig, tool)
        tool.leave()
        stops(rig, mark, "silence")
        rig.wait(lambda: rests(rig.stack.wire(mark)), "and nothing after it")


def test_D6_the_end_of_the_tool_stops_the_arm(rig):
    elsewhere(rig)
    assert done(rig, "deploy").success
    with twists(rig) as tool:
        mark = moves_by_twists(rig, tool)
    rig.wait(
        lambda: has_a_stop(rig.stack.wire(mark).velocities()), "a stop for a tool that is gone"
    )


def test_U7_a_twist_out_of_a_bag_stops_and_moves_nothing(rig):
    elsewhere(rig)
    assert done(rig, "deploy").success
    with twists(rig) as tool:
        moves_by_twists(rig, tool)
        tool.leave()
        tool.say()
        mark = rig.stack.mark()
        tool.say(ago=3600.0)
        rig.wait(
            lambda: has_a_stop(rig.stack.wire(mark).velocities()), "a stop for what is refused"
        )
        begun = time.monotonic()
        while time.monotonic() < begun + 1.0:
            tool.say(ago=3600.0)
            time.sleep(PERIOD)
        rig.wait(lambda: rests(rig.stack.wire(mark)), "nothing after the stop")
    assert "replayed" in rig.stack.output()
