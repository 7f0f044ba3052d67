"""What a planner says; and one as a process, which has the arm follow until it is killed.

`goal E,D,C,B SECONDS` sends one trajectory there. `stream POSITION VELOCITY` streams set-points of
the base from there on.
"""

import os
import sys
import threading
import time

import rclpy
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.duration import Duration
from trajectory_msgs.msg import JointTrajectoryPoint

from reach_alpha5_msgs.msg import ClientHeartbeat, JointCtrl, JointSetpoint, StreamStatus
from reach_alpha5_msgs.srv import OpenStream

ARM = ("axis_e", "axis_d", "axis_c", "axis_b")

STALLED = 3
"""Exit status when what was asked ended before anybody killed the process."""


def point(positions, seconds):
    """Return a point of a trajectory: at rest."""
    return JointTrajectoryPoint(
        positions=list(positions),
        velocities=[0.0] * len(positions),
        time_from_start=Duration(seconds=seconds).to_msg(),
    )


def trajectory(*points, names=ARM):
    """Return the goal of a trajectory."""
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = list(names)
    goal.trajectory.points = list(points)
    return goal


class Heart:
    """Says ten times a second that a source is there, from a thread of its own, until it stops."""

    def __init__(self, node, source, client_id=None):
        self._message = ClientHeartbeat(client_id=client_id or source, present=True)
        self._clock = node.get_clock()
        self._publisher = node.create_publisher(ClientHeartbeat, f"{source}/heartbeat", 10)
        self._left = threading.Event()
        self.beat()

    def beat(self):
        self._left.clear()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        while not self._left.wait(0.1):
            self._message.header.stamp = self._clock.now().to_msg()
            self._publisher.publish(self._message)

    def stop(self):
        self._left.set()
        self._thread.join()


class Sweep:
    """Set-points of the base for a stream, 50 a second, from a thread of its own."""

    LIFETIME = 0.2
    """Of each [s]."""

    def __init__(self, node):
        self._node = node
        self._publisher = node.create_publisher(JointCtrl, "planner/joint_ctrl", 10)
        self._left = threading.Event()
        self._thread = None

    def has_listener(self):
        """Whether what is said is heard."""
        return self._publisher.get_subscription_count() > 0

    def hold(self, stream_id):
        """Say a neutral."""
        self._say(stream_id, JointSetpoint())

    def begin(self, stream_id, start, velocity):
        """Sweep from `start` on [rad], until it is ended [rad/s]."""
        self._left.clear()
        self._thread = threading.Thread(target=self._run, args=(stream_id, start, velocity))
        self._thread.start()

    def _run(self, stream_id, start, velocity):
        began = time.monotonic()
        while not self._left.wait(0.02):
            place = start + velocity * (time.monotonic() - began)
            self._say(stream_id, JointSetpoint(
                joint_names=["axis_e"], positions=[place], velocities=[velocity]))  # fmt: skip

    def _say(self, stream_id, setpoint):
        message = JointCtrl(stream_id=stream_id, setpoint=setpoint)
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.lifetime = Duration(seconds=self.LIFETIME).to_msg()
        self._publisher.publish(message)

    def end(self):
        """Fall silent."""
        if self._thread is not None:
            self._left.set()
            self._thread.join()
            self._thread = None


def send(node, goal):
    """Send a goal and wait for its result."""
    client = ActionClient(node, FollowJointTrajectory, "follow_joint_trajectory")
    client.wait_for_server()
    sent = client.send_goal_async(goal)
    rclpy.spin_until_future_complete(node, sent)
    result = sent.result().get_result_async()
    rclpy.spin_until_future_complete(node, result)
    return result.result().result


def opened(node):
    """Have a stream of joints opened; return its number, which is 0 if that was refused."""
    client = node.create_client(OpenStream, "open_stream")
    client.wait_for_service()
    request = OpenStream.Request(source="planner", client_id="planner", kind=StreamStatus.JOINT)
    answer = client.call_async(request)
    rclpy.spin_until_future_complete(node, answer)
    return answer.result().stream_id


def main():
    rclpy.init()
    node = rclpy.create_node("planner", namespace="alpha5")
    Heart(node, "planner")
    # An empty goal is the planner's neutral; it is refused until the heartbeat is heard.
    while send(node, trajectory()).error_code != FollowJointTrajectory.Result.SUCCESSFUL:
        pass
    if sys.argv[1] == "goal":
        posture = [float(each) for each in sys.argv[2].split(",")]
        print(send(node, trajectory(point(posture, float(sys.argv[3])))))
        os._exit(STALLED)  # the heart does not end by itself
    stream_id = opened(node)
    sweep = Sweep(node)
    while not sweep.has_listener():
        time.sleep(0.01)
    sweep.hold(stream_id)
    sweep.begin(stream_id, float(sys.argv[2]), float(sys.argv[3]))
    threading.Event().wait()


if __name__ == "__main__":
    main()
