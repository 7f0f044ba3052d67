"""The rviz configuration shows what is published, with what every rviz has."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from reach_alpha5_view.marker_node import MARKERS
from reach_alpha5_view.scene.scene import NAMESPACES

FILE = Path(__file__).resolve().parents[2] / "launch" / "rviz" / "alpha5.rviz"

if not FILE.is_file():
    pytest.skip("launch/ is not beside this package", allow_module_level=True)

STOCK = {
    "rviz_common/Displays",
    "rviz_common/Views",
    "rviz_default_plugins/FocusCamera",
    "rviz_default_plugins/Grid",
    "rviz_default_plugins/MarkerArray",
    "rviz_default_plugins/Measure",
    "rviz_default_plugins/MoveCamera",
    "rviz_default_plugins/Orbit",
    "rviz_default_plugins/RobotModel",
    "rviz_default_plugins/Select",
    "rviz_default_plugins/TF",
}
"""Of rviz_common and rviz_default_plugins, those that only look: none of them publishes."""

# As robot_state_publisher has it; it is not of ours.
DESCRIPTION = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

PUBLISHED = {"markers": MARKERS, "robot_description": DESCRIPTION}

RELIABILITY = {
    "Reliable": ReliabilityPolicy.RELIABLE,
    "Best Effort": ReliabilityPolicy.BEST_EFFORT,
}
DURABILITY = {
    "Volatile": DurabilityPolicy.VOLATILE,
    "Transient Local": DurabilityPolicy.TRANSIENT_LOCAL,
}
HISTORY = {"Keep Last": HistoryPolicy.KEEP_LAST, "Keep All": HistoryPolicy.KEEP_ALL}


@pytest.fixture(scope="module")
def config():
    return yaml.safe_load(FILE.read_text())


@pytest.fixture(scope="module")
def displays(config):
    return {d["Class"].split("/")[1]: d for d in config["Visualization Manager"]["Displays"]}


def classes(node):
    """Yield every class that a configuration names; an empty one is the manager's own."""
    if isinstance(node, dict):
        if node.get("Class"):
            yield node["Class"]
        node = node.values()
    elif not isinstance(node, list):
        return
    for child in node:
        yield from classes(child)


def topics(node):
    """Yield every topic with what is asked of it."""
    if isinstance(node, dict):
        if "Reliability Policy" in node:
            yield node
        node = node.values()
    elif not isinstance(node, list):
        return
    for child in node:
        yield from topics(child)


def test_U18_it_names_only_stock_classes(config):
    assert set(classes(config)) == STOCK


def test_it_opens_with_arm_frames_grid_and_markers(displays):
    assert {name for name, d in displays.items() if d["Enabled"] and d["Value"]} == {
        "Grid",
        "MarkerArray",
        "RobotModel",
        "TF",
    }


def test_every_topic_is_one_that_is_published_and_has_its_qos(config):
    asked = {topic["Value"]: topic for topic in topics(config)}
    assert asked.keys() == PUBLISHED.keys()
    for name, topic in asked.items():
        offered = PUBLISHED[name]
        assert RELIABILITY[topic["Reliability Policy"]] == offered.reliability
        assert DURABILITY[topic["Durability Policy"]] == offered.durability
        assert HISTORY[topic["History Policy"]] == HistoryPolicy.KEEP_LAST
        assert topic["Depth"] >= offered.depth


def test_topics_are_relative_so_that_they_are_those_of_the_namespace_of_rviz(config):
    assert [topic["Value"] for topic in topics(config) if topic["Value"].startswith("/")] == []


def test_the_namespaces_are_those_of_the_scene(displays):
    ours = {name for names in NAMESPACES.values() for name in names}
    assert displays["MarkerArray"]["Namespaces"].keys() == ours


def test_the_fixed_frame_is_that_of_the_drone(config):
    assert config["Visualization Manager"]["Global Options"]["Fixed Frame"] == "base_link"
