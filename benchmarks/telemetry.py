"""Telemetry rate while jogging, against what the line can carry, on both wirings."""

from __future__ import annotations

import json
import time
from collections import Counter

from benchmarks.results import Bar, Result, result
from benchmarks.rig import BaseDemands, Rig
from benchmarks.series import Series
from benchmarks.session import Session
from reach_alpha5_driver.budget import planned_rate
from reach_alpha5_driver.schedule import RS485, ScheduleConfig
from reach_alpha5_driver.sim.control import ControlClient
from reach_alpha5_driver.sim.ids import AXES, Packet
from reach_alpha5_driver.sim.log import TO_DRIVER

REPORTED = (Packet.POSITION, Packet.VELOCITY, Packet.CURRENT)
FRAME = 10

CEILING = 11520 / (len(AXES) * len(REPORTED) * FRAME)
"""Times a second that 115200 baud can carry position, velocity and current of five joints [Hz]."""

PLANNED = planned_rate(ScheduleConfig(wiring=RS485))
"""What the driver plans on RS-485, where requests, answers and demands share the wires [Hz]."""

BAR = Bar("ratio", ">=", 0.95)
PLANNED_BAR = Bar("ratio", ">=", 1.0)
NO_COLLISION = Bar("p50", "<=", 0.0)

TURN_PERIOD = 0.5
"""Seconds after which the stick is turned: the arm stays in the middle of its workspace."""


def run(session: Session) -> list[Result]:
    """Measure on RS-232, then on RS-485 with a simulated arm that garbles what collides."""
    rs232, total = _rates(session, session.rig(), "telemetry_rate")
    results = [result(rs232, BAR, CEILING, total / CEILING)]
    folder = session.folder / "rs485"
    folder.mkdir()
    session.say("  starting a stack on RS-485 …")
    with Rig(folder, wiring=RS485) as rig:
        rig.jog()  # engaging is a stop, which may run into an answer
        before = _collisions(rig)
        rs485, total = _rates(session, rig, "telemetry_rate_rs485")
        collisions = _collisions(rig) - before
    session.say(f"  collisions meanwhile: {collisions}; planned are {PLANNED:.2f} Hz")
    return [
        *results,
        result(rs485, PLANNED_BAR, PLANNED, total / PLANNED),
        result(Series("collisions_rs485", "", (collisions,)), NO_COLLISION),
    ]


def _collisions(rig: Rig) -> int:
    """Return how often two have talked at once so far."""
    client = ControlClient(str(rig.stack.control_path))
    try:
        return int(json.loads(client.command("state"))["collisions"])
    finally:
        client.close()


def _rates(session: Session, rig: Rig, name: str) -> tuple[Series, float]:
    """Count the replies in the byte log, second by second, with a command every 20 ms.

    Returns:
        The rate of the slowest of all reports in each second, and over the whole time [Hz].
    """
    rig.jog(sign := 1)
    mark = rig.stack.mark()
    begin = time.monotonic_ns()
    seconds = session.count(20, 4)
    for _ in range(round(seconds / TURN_PERIOD)):
        rig.hand.hold(TURN_PERIOD)
        sign = -sign
        rig.push(sign)
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
    series = Series(name, "Hz", rates, more_is_better=True)
    session.say(series.text())
    commands = BaseDemands(wire).moving / seconds
    session.say(
        f"  over all {seconds} s: {total:.2f} Hz, "
        f"while each joint was told its velocity {commands:.0f} times a second"
    )
    return series, total
