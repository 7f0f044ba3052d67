"""How the core's values look in a bag: messages without their times, as plain values.

It takes messages of rclpy and those that `rosbags` makes alike, so that both sides of a comparison
come from the same translation.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from builtin_interfaces.msg import Time

from reach_alpha5_arbiter.replay.core import Wire
from reach_alpha5_arbiter.replay.matching import is_time
from reach_alpha5_arbiter.translate import arbiter_state
from reach_alpha5_common.messages import NANO, driver_command_message


def plain(value: Any) -> Any:
    """Return a message, or a value in it, as plain values; a duration in whole nanoseconds."""
    kind = type(value)
    if kind in (bool, int, float, str):
        return value
    names = _names(kind)
    if names == ("sec", "nanosec"):
        return int(value.sec) * NANO + int(value.nanosec)
    if names:
        return {name: plain(getattr(value, name)) for name in names}
    # A constant of our own, or a number of numpy, stands for a number.
    for number in (int, float):
        if isinstance(value, number):
            return number(value)
    return [plain(item) for item in value]


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """Return the fields of a kind of message that are compared; of anything else, none."""
    if hasattr(kind, "get_fields_and_field_types"):
        names = list(kind.get_fields_and_field_types())
    elif is_dataclass(kind):
        # Beside its fields, which ROS has written small, it holds its constants and its type.
        names = [f.name for f in fields(kind) if f.name.islower() and not f.name.startswith("__")]
    else:
        return ()
    return tuple(name for name in names if not is_time(name))


WIRE = Wire(
    command=lambda command: plain(driver_command_message(command)),
    state=lambda snapshot: plain(arbiter_state(snapshot, 0.0, lambda at: Time())),
)
"""The translation of the arbiter's node."""
