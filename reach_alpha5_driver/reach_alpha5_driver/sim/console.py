"""Commands to a running simulation: those to the arm, and those to the cable."""

from __future__ import annotations

from collections.abc import Sequence

from reach_alpha5_driver.sim.arguments import CommandError, count
from reach_alpha5_driver.sim.commands import OK, Command, Commands
from reach_alpha5_driver.sim.ports import Port, PortError
from reach_alpha5_driver.sim.simulation import Simulation


class Console(Commands):
    """Obeys commands about a simulation and about the port that it is behind."""

    def __init__(self, simulation: Simulation, port: Port) -> None:
        super().__init__(simulation)
        self._port = port
        self.table["unplug"] = Command("", "pull the cable", self._unplug)
        self.table["plug"] = Command("", "put it back", self._plug)

    def _unplug(self, arguments: Sequence[str], now: float) -> str:
        count(arguments, 0)
        self._port.unplug()
        return OK

    def _plug(self, arguments: Sequence[str], now: float) -> str:
        count(arguments, 0)
        try:
            self._port.plug()
        except PortError as error:
            raise CommandError(str(error)) from error
        return OK
