"""Telemetry rate while the arm jogs, against what the line can carry."""

from __future__ import annotations

import time
from collections import Counter

from benchmarks.results import Bar, Result, result
from benchmarks.rig import BaseDemands
from benchmarks.series import Series
from benchmarks.session import Session
from reach_alpha5_driver.sim.ids import AXES, Packet
from reach_alpha5_driver.sim.log import TO_DRIVER

REPORTED = (Packet.POSITION, Packet.VELOCITY, Packet.CURRENT)
FRAME = 10

CEILING = 11520 / (len(AXES) * len(REPORTED) * FRAME)
"""Times a second that 115200 baud can carry position, velocity and current of five joints [Hz]."""

BAR = Bar("ratio", ">=", 0.95)

TURN_PERIOD = 0.5
"""Seconds after which the stick is turned: the arm stays in the middle of its workspace."""


def run(session: Session) -> list[Result]:
    """Count the replies in the byte log, second by second, with a command every 20 ms."""
    rig = session.rig()
    rig.jog(sign := 1)
    mark = rig.stack.mark()
    begin = time.monotonic_ns()
    seconds = session.count(20, 4)
    for _ in range(round(seconds / TURN_PERIOD)):
        rig.hand.hold(TURN_PERIOD)
        sign = -sign
        rig.push(sign)
    rig.settle()

    wire = rig.stack.wire(mark)
    counts = Counter(
        ((frame.end_ns - begin) // 1_000_000_000, frame.device_id, frame.packet_id)
        for frame in wire.frames(TO_DRIVER)
    )
    # The slowest of the fifteen is the rate at which all of them come.
    reports = [(device, packet) for device in AXES for packet in REPORTED]

    def slowest(first: int, end: int) -> float:
        return min(
            sum(counts[second, device, packet] for second in range(first, end))
            for device, packet in reports
        ) / (end - first)

    rates = tuple(slowest(second, second + 1) for second in range(seconds))
    total = slowest(0, seconds)
    series = Series("telemetry_rate", "Hz", rates, more_is_better=True)
    session.say(series.text())
    commands = BaseDemands(wire).moving / seconds
    session.say(
        f"  over all {seconds} s: {total:.2f} Hz of {CEILING:.2f}, "
        f"while each joint was told its velocity {commands:.0f} times a second"
    )
    return [result(series, BAR, CEILING, total / CEILING)]
