"""The definitions of installed messages, as bags carry them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("rosbags", reason="rosbags parses definitions")

from ament_index_python.packages import get_package_share_directory
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from reach_alpha5_bags.definitions import UnknownMessage, definition, message_class

OURS = Path(get_package_share_directory("reach_alpha5_msgs"), "msg")
KINDS = sorted(f"reach_alpha5_msgs/msg/{file.stem}" for file in OURS.glob("*.msg"))
STOCK = [
    *("diagnostic_msgs/msg/DiagnosticArray", "geometry_msgs/msg/TwistStamped"),
    *("rcl_interfaces/msg/Log", "sensor_msgs/msg/JointState", "sensor_msgs/msg/JoyFeedback"),
    *("std_msgs/msg/Bool", "std_msgs/msg/String", "visualization_msgs/msg/MarkerArray"),
]
JAZZY = get_typestore(Stores.ROS2_JAZZY)


@pytest.mark.parametrize("kind", [*KINDS, *STOCK])
def test_a_definition_is_the_installed_text_with_all_that_it_needs(kind: str) -> None:
    package, _, name = kind.partition("/msg/")
    text = definition(kind)
    file = Path(get_package_share_directory(package), "msg", f"{name}.msg")
    assert text.startswith(file.read_text())
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(text, kind))
    assert store.hash_rihs01(kind)  # which every type that it needs goes into


@pytest.mark.parametrize("kind", STOCK)
def test_the_definition_of_a_stock_message_has_the_hash_of_the_stock(kind: str) -> None:
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(definition(kind), kind))
    assert store.hash_rihs01(kind) == JAZZY.hash_rihs01(kind)


def test_each_needed_definition_is_there_once() -> None:
    text = definition("reach_alpha5_msgs/msg/ArmState")
    needed = [line for line in text.splitlines() if line.startswith("MSG: ")]
    assert len(needed) == len(set(needed)) > 3
    assert "MSG: builtin_interfaces/Time" in needed
    assert "MSG: reach_alpha5_msgs/ArmState" not in needed


@pytest.mark.parametrize(
    "kind", ["no_such_msgs/msg/Thing", "std_msgs/msg/Thing", "std_msgs", "", "std_msgs/srv/Bool"]
)
def test_a_type_that_is_not_installed_is_named(kind: str) -> None:
    for ask in (definition, message_class):
        with pytest.raises(UnknownMessage):
            ask(kind)
