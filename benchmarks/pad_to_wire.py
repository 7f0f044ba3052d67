"""From a published `Joy` to the new velocity at the arm, against three bare rclpy hops.

Pad, teleop, arbiter and driver are four processes, so three transports: three bare hops carry the
same message the same way and do nothing else. They do so between the frames of the pad, while the
stack does what it is measured at, so that both find the machine equally busy.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial

from sensor_msgs.msg import Joy

from benchmarks.hops import HopChain
from benchmarks.results import Bar, Result, result
from benchmarks.rig import BaseDemands, Rig
from benchmarks.series import Series
from benchmarks.session import Session

BAR = Bar("ratio", "<=", 2.0)
HOPS = 3

TURN_SPACING = (0.25, 0.35)
"""Seconds between two turns of the stick, drawn anew each time: at no fixed phase to anything, and
long enough for the driver to have led the arm to its new velocity."""

REST = (0.05, 0.15)
"""Seconds that the arm has been still before it is told to move."""


def run(session: Session) -> list[Result]:
    """Measure both ways to begin: while the arm jogs, and from rest."""
    rig = session.rig()
    jogging: list[float] = []
    resting: list[float] = []
    rounds = session.count(10, 2)
    with HopChain(rig.client, rig.stack.environment, Joy, HOPS, rig.folder) as chain:
        for number in range(rounds):
            session.say(f"  round {number + 1} of {rounds}")
            beside = partial(chain.send, rig.hand.message())
            jogging += _while_jogging(rig, session.count(25, 10), beside)
            resting += _from_rest(rig, session.count(25, 5), beside)
        reference = Series("three_hops_joy", "ms", chain.latencies())
    results = [result(reference)]
    session.say(reference.text())
    for name, samples in (("pad_to_wire_jogging", jogging), ("pad_to_wire_from_rest", resting)):
        series = Series(name, "ms", tuple(samples))
        session.say(series.text())
        results.append(result(series, BAR, reference.p99, series.p99 / reference.p99))
    return results


def _while_jogging(rig: Rig, count: int, beside: Callable[[], None]) -> list[float]:
    rig.settle()
    mark = rig.stack.mark()
    rig.jog(sign := 1)
    pushes = []
    for _ in range(count):
        rig.hand.hold(random.uniform(*TURN_SPACING), beside)
        sign = -sign
        pushes.append((rig.push(sign), sign))
    rig.hand.hold(max(TURN_SPACING), beside)
    found = _delays(rig, mark, pushes)
    rig.settle()
    return found


def _from_rest(rig: Rig, count: int, beside: Callable[[], None]) -> list[float]:
    rig.hand.set(lb=1)
    mark = rig.stack.mark()
    pushes = []
    for number in range(count):
        rig.hand.hold_until(rig.still, "the arm is still")
        rig.hand.hold(random.uniform(*REST), beside)
        sign = 1 if number % 2 else -1
        pushes.append((rig.push(sign), sign))
        rig.hand.hold(max(TURN_SPACING), beside)
        rig.push(0)
        rig.hand.hold(max(TURN_SPACING), beside)
    found = _delays(rig, mark, pushes)
    rig.settle()
    return found


def _delays(rig: Rig, mark: int, pushes: list[tuple[int, int]]) -> list[float]:
    """Return the delay of each push (when [ns], sign), up to the first that was lost.

    On a machine that stalls, the stack stops the arm and wants the pad at rest: that push and the
    later ones of the round never come to the wire. The first of them counts with the time that was
    waited for it, the others say nothing.
    """
    demands = BaseDemands(rig.stack.wire(mark))
    # A demand is answered before the stick is pushed to the same side again.
    ends = [begin_ns for begin_ns, _ in pushes[2:]] + [time.monotonic_ns()] * 2
    found: list[float] = []
    for (begin_ns, sign), end_ns in zip(pushes, ends, strict=False):
        delay = demands.turn_delay(begin_ns, sign, end_ns)
        if delay is None:
            waited = (end_ns - begin_ns) / 1e6
            print(f"  a push never came to the wire: the stack stopped; counts as {waited:.0f} ms")
            return [*found, waited]
        found.append(delay)
    return found
