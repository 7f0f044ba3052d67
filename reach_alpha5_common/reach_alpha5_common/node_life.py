"""The life of every node of ours: declare, spin, and leave without leaving motion behind.

Stock rclpy shuts its context down inside its SIGINT handler, so that nothing can be published
afterwards. Rule 11 needs the opposite order: the last stop leaves, is acknowledged, and only then
the process goes. So the signals are ours here.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import rclpy
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from reach_alpha5_common.parameters import Parameter, ParameterError, check


def declare(
    node: Node, table: Sequence[Parameter], *, more_follow: bool = False
) -> dict[str, Any]:
    """Declare the table on `node` and return the values.

    Args:
        node: the node.
        table: its parameters.
        more_follow: further tables are declared after this one.

    Raises:
        ParameterError: a value is outside its range or of the wrong type, or one was given to a
            parameter that the node has not: whoever misspells a limit must not dive without it.
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
        except (
            rclpy.exceptions.InvalidParameterTypeException,
            rclpy.exceptions.InvalidParameterValueException,
        ) as error:
            raise ParameterError(f"{entry.name}: {error}") from error
    check(table, values)
    if not more_follow:
        # What was given is known to the node alone; rclpy has no public way to ask for it.
        given = node._parameter_overrides
        if unknown := sorted(name for name in given if not node.has_parameter(name)):
            raise ParameterError(
                f"no such parameter: {', '.join(unknown)}; docs/parameters.md lists those that are"
            )
    return values


PRIORITY = -10
"""Of a node that the arm waits for, as `nice` counts."""


def run(
    make: Callable[[], Node], argv: Sequence[str] | None = None, *, before_others: bool = False
) -> int:
    """Make the node, spin it until SIGINT or SIGTERM, close it, and return the exit status.

    0 after a signal, 2 when a parameter is wrong (the reason is on stderr). An exception in a
    callback closes the node, so that the stop leaves, and then is raised.

    Args:
        make: makes the node. Its `close()` sends the last stop, waits until that is out, and
            releases what is held.
        argv: for ROS; those of the process unless given.
        before_others: take the processor before what only draws and records, where the system
            lets us.
    """
    if before_others:
        _go_before_others()
    leave = _on_signals()
    try:
        rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:  # arguments or a parameter file that ROS cannot read
        print(f"cannot start: {error}", file=sys.stderr)
        return 2
    try:
        try:
            node = make()
        except ParameterError as error:
            print(f"cannot start: {error}", file=sys.stderr)
            return 2
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        # A full garbage collection looks at all that start-up has left, tens of thousands of
        # objects, and holds every thread up for as many milliseconds: an e-stop would wait for
        # it. What has lived until here lives on, so it is not looked at again.
        gc.collect()
        gc.freeze()
        try:
            executor.spin_until_future_complete(leave)
        finally:
            node.close()  # type: ignore[attr-defined]
            executor.shutdown()
            node.destroy_node()
    finally:
        rclpy.try_shutdown()
    return 0


def _go_before_others() -> None:
    """Ask for a higher priority, for this thread and all that it will start.

    On a busy machine whoever moves the arm is stopped by its own watchdogs for no other reason
    than that it had to wait. Who was given a priority by hand keeps it, and who may not have one
    (it takes CAP_SYS_NICE, or `nice` in limits.conf) goes on without.
    """
    if os.getpriority(os.PRIO_PROCESS, 0) == 0:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)


def _on_signals() -> Future[int]:
    """Return what SIGINT or SIGTERM completes.

    A handler in Python runs only once the executor's wait in C is over, and that may be never. So
    the signal's number goes through a pipe to a thread, which completes the future and thereby
    ends the wait. To poll instead would cost every node a share of a core.
    """
    leave: Future[int] = Future()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # instead of what ends the process at once

    def forward() -> None:
        while number := os.read(reading, 1):
            if number[0] in (signal.SIGINT, signal.SIGTERM) and not leave.done():
                leave.set_result(number[0])

    threading.Thread(target=forward, name="signals", daemon=True).start()
    return leave
