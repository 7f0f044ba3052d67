"""A stop at any phase of the driver's cycle: what goes over the line before it.

In virtual time: the driver's core and the simulated arm, thousands of stops. The line is busy with
commands and with telemetry at its ceiling, and in one series the kernel's queue has been filled to
its brim by hand. What a UART has taken into its FIFO is on its way and cannot be called back;
nothing else may come before the stop. On RS-485 an answer of the arm may garble a stop, which is
then repeated when the wires are quiet: `stop_heard` shows it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from benchmarks.results import Bar, Result, result
from benchmarks.series import Series
from benchmarks.session import Session
from benchmarks.straightness import arm_model
from benchmarks.virtual_driver import VirtualDriver
from reach_alpha5_driver.protocol.packets import PacketId, Request, encode
from reach_alpha5_driver.schedule import RS232, RS485
from reach_alpha5_driver.sim.ids import ALL_DEVICES, AXES, Packet
from reach_alpha5_driver.sim.line import UART_FIFO
from reach_alpha5_motion.model import ArmModel

BAR = Bar("ratio", "<=", 1.0)

BYTE_TIME = 10 / 115200 * 1e3
"""[ms]"""

IN_UART = (UART_FIFO + 1) * BYTE_TIME
"""What a UART has taken, and the terminator that sets the stop off from it [ms]."""

PHASE = (0.1, 0.14)
"""Motion before the stop [s]: more than a control cycle of 20 ms between shortest and longest."""

SETTLED = 0.2
"""After a stop, until the next one [s]: the arm is still then."""

SERIES = (
    ("", RS232, False),
    ("_full_queue", RS232, True),
    ("_rs485", RS485, False),
)
"""End of the names, wiring, and whether the kernel's queue is filled by hand."""


@dataclass(frozen=True, slots=True)
class Stop:
    """How one stop went."""

    on_line: float
    """From the driver's write to the stop's first bit on the line [ms]."""
    heard: float
    """Until each joint has been told to stop by a frame that nothing has garbled [ms]."""
    frames_before: int
    """Whole frames of the driver that began on the line before the stop did."""


def run(session: Session) -> list[Result]:
    """Stop at random phases, on each wiring."""
    model = arm_model()
    results = []
    for seed, (end, wiring, full) in enumerate(SERIES):
        stops = _stops(model, wiring, full, seed, session.count(1000, 50))
        on_line = Series(f"stop_on_line{end}", "ms", tuple(stop.on_line for stop in stops))
        heard = Series(f"stop_heard{end}", "ms", tuple(stop.heard for stop in stops))
        before = sorted(Counter(stop.frames_before for stop in stops).items())
        session.say(on_line.text())
        session.say(
            "    frames that began between the driver's write and the stop: "
            + ", ".join(f"{frames} in {count} stops" for frames, count in before)
            + f"; a UART holds {IN_UART:.2f} ms, terminator included"
        )
        session.say(heard.text())
        results += [result(on_line, BAR, IN_UART, on_line.at(100) / IN_UART), result(heard)]
    return results


def _stops(model: ArmModel, wiring: str, full: bool, seed: int, count: int) -> list[Stop]:
    driver = VirtualDriver(model, wiring, seed)
    stops = []
    for number in range(count):
        driver.jog(-1 if number % 2 else 1)
        driver.run(driver.random.uniform(*PHASE))
        stops.append(_stop(driver, full))
        driver.reset()
    return stops


def _stop(driver: VirtualDriver, full: bool) -> Stop:
    """Stop the moving arm.

    Raises:
        RuntimeError: it does not move, or no stop came.
    """
    if not driver.core.gate.moved:
        raise RuntimeError(f"the arm does not move: {[note.text for note in driver.core.notes]}")
    if full:
        _fill(driver)
    driver.forget()
    stopped_at = driver.now
    on_line = (driver.estop() + 1) * BYTE_TIME
    driver.run(SETTLED)
    since = [(frame, frame.start_ns / 1e6 - stopped_at * 1e3) for frame in driver.frames()]
    before = sum(0.0 <= start < on_line - BYTE_TIME for _, start in since)
    told: set[int] = set()
    for frame, start in since:
        if start > on_line - BYTE_TIME and frame.packet_id == Packet.VELOCITY:
            if frame.floats() != (0.0,):
                raise RuntimeError("motion came after the stop")
            told.update(AXES if frame.device_id == ALL_DEVICES else (frame.device_id,))
            if told.issuperset(AXES):
                return Stop(on_line, frame.end_ns / 1e6 - stopped_at * 1e3, before)
    raise RuntimeError("an e-stop did not reach all joints")


def _fill(driver: VirtualDriver) -> None:
    """Queue requests until the kernel takes no more, as if the line had stalled."""
    request = encode(Request(1, (PacketId.POSITION,)))
    room = driver.simulation.room()
    driver.simulation.receive(request * (room // len(request)), driver.now)
