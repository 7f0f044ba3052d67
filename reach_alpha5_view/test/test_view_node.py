"""The marker node as a process of its own, over real DDS: as rviz hears it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# Before rclpy: a run of its own, which no other on this machine meets.
os.environ.setdefault("ROS_DOMAIN_ID", str(os.getpid() % 100 + 1))
os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import rclpy
from geometry_msgs.msg import Point
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from view_material import DEPLOYED, JOINTS, model, urdf
from visualization_msgs.msg import Marker, MarkerArray

from reach_alpha5_common import messages
from reach_alpha5_common.command import Cartesian, CommandKind, DriverCommand, GripperCommand
from reach_alpha5_msgs import msg
from reach_alpha5_view import marker_node
from reach_alpha5_view.marker_node import MARKERS
from reach_alpha5_view.scene.scene import NAMESPACES

PATIENCE = 30.0
"""Longest time [s] to wait for what must come; a safety bound on a busy machine."""

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

DRAWN = {name for names in NAMESPACES.values() for name in names}


class Picture:
    """What rviz shows: the markers that were added and not taken away; lifetimes count."""

    def __init__(self, node: Node) -> None:
        self.markers: dict[tuple[str, int], tuple[Marker, float]] = {}
        self.deletions = 0
        self.messages = 0
        node.create_subscription(MarkerArray, "markers", self._on_array, MARKERS)

    def _on_array(self, array: MarkerArray) -> None:
        self.messages += 1
        names = [(m.ns, m.id) for m in array.markers]
        assert len(set(names)) == len(names)
        for m, key in zip(array.markers, names, strict=True):
            if m.action == Marker.ADD:
                end = time.monotonic() + m.lifetime.sec + m.lifetime.nanosec * 1e-9
                self.markers[key] = m, end
            elif m.action == Marker.DELETE:
                self.deletions += 1
                self.markers.pop(key, None)
            else:
                self.markers.clear()

    def of(self, namespace: str) -> list[Marker]:
        now = time.monotonic()
        shown = [m for m, end in self.markers.values() if m.ns == namespace and now < end]
        return sorted(shown, key=lambda m: m.id)

    @property
    def words(self) -> str:
        return "".join(m.text for m in self.of("status"))


class Bench:
    """A marker node in a process, and a driver, an arbiter and an rviz in this one."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.namespace = f"/test_{uuid.uuid4().hex}"
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node("bench", namespace=self.namespace, context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.arm = msg.ArmState(
            state=msg.ArmState.ENABLED,
            active=True,
            powered=True,
            link=msg.LinkCounters(connected=True),
            joints=[msg.JointHealth(name=name) for name in JOINTS],
        )
        self.arbiter = msg.ArbiterState(owner="teleop", driver_connected=True)
        x, y, z = model().tip(DEPLOYED).tolist()
        gripper = msg.Gripper(joint_positions=list(DEPLOYED), end_position=Point(x=x, y=y, z=z))
        self.telemetry = msg.GripperTel(gripper=gripper)
        self.command: DriverCommand | None = None
        create = self.node.create_publisher
        self._arms = create(msg.ArmState, "arm_state", 10)
        self._telemetries = create(msg.GripperTel, "gripper_tel", 10)
        self._commands = create(msg.DriverCommand, "driver_command", 10)
        self._arbiters = create(msg.ArbiterState, "arbiter_state", LATCHED)
        self.obstacles = create(msg.Obstacles, "obstacles", LATCHED)
        self.descriptions = create(String, "robot_description", LATCHED)
        self.driver = self.node.create_timer(0.05, self._speak)
        self.node.create_timer(0.05, lambda: self._arbiters.publish(self.arbiter))
        self.picture = Picture(self.node)
        self._log = folder / "said"
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "reach_alpha5_view.marker_node", "--ros-args",
                 "-r", f"__ns:={self.namespace}", *arguments],
                stdout=log, stderr=log,
            )  # fmt: skip
        self.until(lambda: self.picture.messages)

    def _speak(self) -> None:
        self._arms.publish(self.arm)
        self._telemetries.publish(self.telemetry)
        if self.command is not None:
            self._commands.publish(messages.driver_command_message(self.command))

    def said(self) -> str:
        return self._log.read_text()

    def until(self, condition: Callable[[], object]) -> None:
        """Spin until the condition holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"it did not come; {self.said()}"
            self.executor.spin_once(timeout_sec=0.02)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture
def bench(tmp_path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.close()


def box(name: str) -> msg.Obstacle:
    return msg.Obstacle(name=name, frame_id="base_link", type=1, dimensions=[0.1, 0.1, 0.1])


def test_what_is_published_is_drawn_in_every_namespace(bench):
    bench.descriptions.publish(String(data=urdf()))
    bench.obstacles.publish(msg.Obstacles(obstacles=[box("rack")]))
    bench.arm.blocked_by = ["limit axis_d"]
    bench.arm.collision_pair = "link_b link_e"
    bench.arm.clearance = 0.02
    bench.arm.fault_causes = ["overcurrent axis_c"]
    jog = GripperCommand(arm_input=2, cartesian=Cartesian(x=1.0))
    bench.command = DriverCommand(CommandKind.INPUT, input=jog, lifetime=0.5)
    picture = bench.picture
    seen: set[str] = set()

    def all_seen() -> bool:
        # The tip swings, so that there is a trail.
        swing = 0.1 * (1 + time.monotonic() % 1)
        bench.telemetry.gripper.end_position.y = swing
        seen.update(name for name in DRAWN if picture.of(name))
        return seen == DRAWN

    bench.until(all_seen)
    assert picture.of("obstacles")[0].header.frame_id == "base_link"
    assert picture.of("commanded")[0].type == Marker.ARROW
    assert "owner: teleop" in picture.words


def test_U12_a_driver_that_dies_is_told_and_what_it_said_vanishes(bench):
    bench.descriptions.publish(String(data=urdf()))
    bench.arm.blocked_by = ["limit axis_d"]
    picture = bench.picture
    bench.until(lambda: picture.of("blocked") and picture.of("tip"))
    bench.until(lambda: "blocked: limit axis_d" in picture.words)
    assert "nothing heard of the driver" not in picture.words
    bench.driver.cancel()
    bench.until(lambda: "STALE: nothing heard of the driver" in picture.words)
    bench.until(lambda: not (picture.of("blocked") or picture.of("tip")))
    assert picture.deletions > 0
    bench.driver.reset()
    bench.until(lambda: picture.of("blocked") and picture.of("tip"))


def test_a_marker_node_that_is_killed_leaves_nothing_that_looks_alive(bench):
    picture = bench.picture
    bench.until(lambda: picture.of("tip") and picture.of("status"))
    bench.process.kill()
    bench.process.wait()
    bench.until(lambda: not any(picture.of(name) for name in DRAWN))


def test_U13_a_marker_node_that_leaves_takes_its_markers_away(bench):
    picture = bench.picture
    bench.until(lambda: picture.of("tip"))
    bench.process.send_signal(signal.SIGINT)
    bench.until(lambda: not picture.markers)
    assert bench.process.wait(PATIENCE) == 0


def test_whoever_comes_late_sees_what_stands(bench):
    bench.descriptions.publish(String(data=urdf()))
    bench.obstacles.publish(msg.Obstacles(obstacles=[box("rack")]))
    bench.until(lambda: bench.picture.of("obstacles") and bench.picture.of("workspace"))
    late = rclpy.create_node("late", namespace=bench.namespace, context=bench.context)
    bench.executor.add_node(late)
    picture = Picture(late)
    bench.until(lambda: picture.of("obstacles") and picture.of("workspace"))
    late.destroy_node()


def test_an_obstacle_that_is_taken_away_vanishes(bench):
    bench.obstacles.publish(msg.Obstacles(obstacles=[box("a"), box("b")]))
    picture = bench.picture
    bench.until(lambda: len(picture.of("obstacles")) == 2)
    bench.obstacles.publish(msg.Obstacles(obstacles=[box("b")]))
    bench.until(lambda: len(picture.of("obstacles")) == 1)
    assert picture.of("obstacle names")[0].text == "b"
    assert picture.deletions == 2


def test_what_cannot_be_drawn_is_told_and_the_rest_is_drawn(bench):
    bench.descriptions.publish(String(data="<robot"))
    bad = box("bad")
    bad.dimensions = [1.0]
    bench.obstacles.publish(msg.Obstacles(obstacles=[bad, box("good")]))
    bench.until(lambda: bench.picture.of("obstacles"))
    bench.until(lambda: "robot_description is not used" in bench.said())
    assert "not drawn: obstacle bad: " in bench.said()
    assert [m.text for m in bench.picture.of("obstacle names")] == ["good"]


def test_it_publishes_markers_and_nothing_else(bench):
    def ours(name: str) -> bool:
        # What every node of ROS has is not about the arm.
        return not name.startswith("/rosout") and "parameter" not in name

    bench.until(lambda: ("markers", bench.namespace) in bench.node.get_node_names_and_namespaces())
    of = ("markers", bench.namespace)
    published = bench.node.get_publisher_names_and_types_by_node(*of)
    assert [name for name, _ in published if ours(name)] == [f"{bench.namespace}/markers"]
    assert bench.node.get_client_names_and_types_by_node(*of) == []
    services = bench.node.get_service_names_and_types_by_node(*of)
    assert [name for name, _ in services if ours(name) and "type_desc" not in name] == []


def test_what_is_waited_for_is_said_once_with_who_publishes_it(tmp_path):
    made = Bench(tmp_path)
    try:
        told = f"waiting for {made.namespace}/robot_description, which robot_state_publisher"
        made.until(lambda: told in made.said())
        later = time.monotonic() + marker_node.PATIENCE + 1.0
        made.until(lambda: time.monotonic() > later)
        assert made.said().count("waiting for") == 1
    finally:
        made.close()


def test_a_description_may_be_a_parameter(tmp_path):
    file = tmp_path / "view.yaml"
    indented = urdf("left_").replace("\n", "\n      ")
    file.write_text(
        "/**/markers:\n  ros__parameters:\n    prefix: left_\n    robot_description: |\n"
        f"      {indented}\n"
    )
    bench = Bench(tmp_path, "--params-file", str(file))
    try:
        bench.until(lambda: bench.picture.of("workspace"))
    finally:
        bench.close()


@pytest.mark.parametrize(
    "given, why",
    [
        ("stale_after:=0.0", "stale_after"),
        ("moving_rate:=50.0", "moving_rate"),
        ("text_position:=[0.0, 1.0]", "text_position has 2 numbers"),
        ("robot_description:=nonsense", "robot_description"),
        ("tail_points:=3", "no such parameter: tail_points"),
    ],
)
def test_a_parameter_that_is_wrong_ends_the_start_and_is_named(given, why):
    done = subprocess.run(
        [sys.executable, "-m", "reach_alpha5_view.marker_node", "--ros-args", "-p", given],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 2
    assert why in done.stderr
