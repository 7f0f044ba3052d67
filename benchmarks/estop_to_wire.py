"""From a published e-stop to the first stop byte at the moving arm, against one bare rclpy hop."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial

from benchmarks.hops import HopChain
from benchmarks.results import Bar, Result, result
from benchmarks.rig import BaseDemands, Rig
from benchmarks.series import Series
from benchmarks.session import Session
from reach_alpha5_msgs.msg import EStop

BAR = Bar("ratio", "<=", 2.0)

FRAME_TIME = 10 * 10 / 115200 * 1e3
"""A frame of ten bytes on the line [ms]: one that has begun is not called back."""

JOG_TIME = (0.15, 0.35)
"""Seconds of motion before the press, drawn anew each time: at no fixed phase to anything."""


def run(session: Session) -> list[Result]:
    """Press while the arm jogs and the line is busy; reset; again."""
    rig = session.rig()
    samples: list[float] = []
    presses = session.count(200, 8)
    example = EStop(level=EStop.CUT, source="benchmark", reason="measuring")
    with HopChain(rig.client, rig.stack.environment, EStop, 1, rig.folder) as chain:
        beside = partial(chain.send, example)
        for number in range(presses):
            if number % 20 == 0:
                session.say(f"  press {number + 1} of {presses}")
            # There and back in turns: the arm stays in the middle of its workspace.
            sign = -1 if number % 2 else 1
            while (delay := _press(rig, sign, beside)) is None:
                session.say("  the stack had stopped the arm before the press: pressing again")
            samples.append(delay)
        hop = Series("one_hop_estop", "ms", chain.latencies())
    series = Series("estop_to_wire", "ms", tuple(samples))
    session.say(hop.text())
    session.say(series.text())
    session.say(f"  one frame on the line: {FRAME_TIME:.2f} ms")
    reference = hop.p99 + FRAME_TIME
    return [result(hop), result(series, BAR, reference, series.p99 / reference)]


def _press(rig: Rig, sign: int, beside: Callable[[], None]) -> float | None:
    """Jog, press, and return the delay of the stop [ms]; None = the arm was not moving then.

    While it jogs, `beside` sends what it is compared with: both find the machine equally busy.

    Raises:
        RuntimeError: no stop came.
    """
    rig.settle()
    mark = rig.stack.mark()
    rig.jog(sign)
    rig.hand.hold(random.uniform(*JOG_TIME), beside)
    message = EStop(level=EStop.CUT, source="benchmark", reason="measuring")
    begin = time.monotonic_ns()
    rig.client.estop.publish(message)
    rig.hand.hold(0.1)
    demands = BaseDemands(rig.stack.wire(mark))
    if demands.before(begin) == 0.0:
        return None
    delay = demands.stop_delay(begin, time.monotonic_ns())
    if delay is None:
        raise RuntimeError("an e-stop did not stop the arm")
    return delay
