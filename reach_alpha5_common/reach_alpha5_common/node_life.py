"""The life of every node of ours: declare, spin, and leave without leaving motion behind.

Stock rclpy shuts its context down inside its SIGINT handler, so that nothing can be published
afterwards. Rule 11 needs the opposite order: the last stop leaves, is acknowledged, and only then
the process goes. So the signals are ours here.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Protocol

import rclpy
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from reach_alpha5_common.parameters import Parameter, ParameterError, check

POLL = 0.05
"""Longest time [s] that a signal waits to be seen while the executor has nothing to do."""


class ClosableNode(Protocol):
    """A node that can be told to bring everything to rest."""

    def close(self) -> None:
        """Send the last stop, wait until it is out, and release what is held."""


def declare(node: Node, table: Sequence[Parameter]) -> dict[str, Any]:
    """Declare the table on `node` and return the values.

    Raises:
        ParameterError: a value is outside its range or of the wrong type.
    """
    values: dict[str, Any] = {}
    for entry in table:
        descriptor = ParameterDescriptor(
            description=entry.description + (f" [{entry.unit}]" if entry.unit else ""),
            read_only=True,
        )
        if entry.range is not None and isinstance(entry.default, float):
            descriptor.floating_point_range = [
                FloatingPointRange(
                    from_value=float(entry.range[0]), to_value=float(entry.range[1])
                )
            ]
        elif entry.range is not None and isinstance(entry.default, int):
            descriptor.integer_range = [
                IntegerRange(from_value=int(entry.range[0]), to_value=int(entry.range[1]), step=1)
            ]
        try:
            values[entry.name] = node.declare_parameter(
                entry.name, entry.default, descriptor
            ).value
        except rclpy.exceptions.InvalidParameterTypeException as error:
            raise ParameterError(f"{entry.name}: {error}") from error
        except rclpy.exceptions.InvalidParameterValueException as error:
            raise ParameterError(f"{entry.name}: {error}") from error
    check(table, values)
    return values


def run(make: Callable[[], Node], argv: Sequence[str] | None = None) -> int:
    """Make the node, spin it until SIGINT or SIGTERM, close it, and return the exit status.

    0 after a signal, 2 when a parameter is wrong (the reason is on stderr). An exception in a
    callback closes the node, so that the stop leaves, and then is raised.
    """
    asked_to_leave: list[int] = []

    def on_signal(number: int, frame: FrameType | None) -> None:
        asked_to_leave.append(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
    try:
        try:
            node = make()
        except ParameterError as error:
            print(f"cannot start: {error}", file=sys.stderr)
            return 2
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        try:
            while not asked_to_leave:
                executor.spin_once(timeout_sec=POLL)
        finally:
            node.close()  # type: ignore[attr-defined]
            executor.shutdown()
            node.destroy_node()
    finally:
        rclpy.try_shutdown()
    return 0
