"""The loop that joins the simulation to its port, its log and its control socket."""

from __future__ import annotations

import math
import os
import select
import time

from reach_alpha5_driver.sim.console import Console
from reach_alpha5_driver.sim.control import ControlServer
from reach_alpha5_driver.sim.log import LogWriter
from reach_alpha5_driver.sim.ports import Port
from reach_alpha5_driver.sim.simulation import Simulation

COALESCE = 0.0005
"""Shortest time between two wake-ups that only the line's pace asks for [s]."""

IDLE_PERIOD = 1.0
"""Longest sleep: keeps the joints' dynamics from piling up [s]."""

QUIET = 0.25
"""A driver that has said nothing for so long has gone, or has nothing to say [s]."""

LINGER = 2.0
"""Longest time that the arm stays for a driver that goes on talking [s]."""


class Server:
    """Serves until it is interrupted, or its leash ends.

    It owns port, log and control socket, and closes them. The leash is a descriptor that comes to
    its end when whoever has started the simulation has gone, however that went.
    """

    def __init__(
        self,
        simulation: Simulation,
        port: Port,
        log: LogWriter | None,
        control: ControlServer | None,
        leash: int | None = None,
    ) -> None:
        self._simulation = simulation
        self._port = port
        self._log = log
        self._control = control
        self._leash = leash
        self._ended = False
        self._console = Console(simulation, port)
        self._heard_at = -math.inf

    def execute(self, line: str) -> str:
        """Obey one command, as from the control socket, and return the answer."""
        return self._console.execute(line, time.monotonic())

    def serve(self) -> None:
        """Run until the leash ends, or an exception, such as KeyboardInterrupt."""
        while not self._ended:
            self._turn(IDLE_PERIOD)

    def linger(self) -> None:
        """Go on until the driver is quiet.

        Ctrl-C on a launch reaches the arm together with the driver, and a driver that leaves
        writes a stop: it must find an arm that hears it.
        """
        end = time.monotonic() + LINGER
        while time.monotonic() < min(end, self._heard_at + QUIET):
            self._turn(QUIET / 4.0)

    def close(self) -> None:
        """Close the port, the control socket and the log, and remove their names."""
        self._port.close()
        if self._control is not None:
            self._control.close()
        if self._log is not None:
            self._log.close()

    def _turn(self, longest: float) -> None:
        """Sleep until something happens, at most `longest` [s], and handle it."""
        port, control = self._port.readers(), self._control
        room = self._simulation.room()
        commands = control.readers() if control is not None else []
        leash = [] if self._leash is None or self._ended else [self._leash]
        ready, _, urgent = select.select(
            [*(port if room else []), *commands, *leash], [], port, self._sleep(longest)
        )
        now = time.monotonic()
        if self._leash in ready:
            self._ended = not os.read(self._leash, 4096)
        if any(descriptor in port for descriptor in [*ready, *urgent]):
            data, purged = self._port.read(room)
            if purged:
                self._pass(now)
                self._simulation.purge(now)
            if data:
                self._heard_at = now
                self._simulation.receive(data, now)
        self._pass(now)
        if control is not None:
            for descriptor in commands:
                if descriptor in ready:
                    for line in control.read(descriptor):
                        control.answer(descriptor, self._console.execute(line, now))

    def _sleep(self, longest: float) -> float:
        due = self._simulation.due()
        if due is None:
            return longest
        return min(max(due - time.monotonic(), COALESCE), longest)

    def _pass(self, now: float) -> None:
        """Let the line carry what it can by `now`, and hand it over."""
        passed = self._simulation.advance(now)
        if self._log is not None:
            self._log.write(passed.to_arm, passed.to_driver)
        if passed.to_driver:
            self._port.write(b"".join(chunk.data for chunk in passed.to_driver))
