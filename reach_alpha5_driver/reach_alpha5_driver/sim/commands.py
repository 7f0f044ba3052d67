"""Commands to a simulation, without I/O: a line of text in, an answer out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reach_alpha5_driver.sim.arguments import (
    CommandError,
    count,
    device_id,
    device_ids,
    number,
    one_of,
    packet_ids,
)
from reach_alpha5_driver.sim.device_commands import DEVICE_COMMANDS, DeviceCommand
from reach_alpha5_driver.sim.faults import KINDS
from reach_alpha5_driver.sim.firmware import Device
from reach_alpha5_driver.sim.simulation import Simulation
from reach_alpha5_driver.sim.truth import truth

OK = "ok"
ERROR = "error: "
"""Begins the answer to a command that was not obeyed."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its arguments, what it does, and the function that does it."""

    usage: str
    meaning: str
    run: Callable[[Sequence[str], float], str]


class Commands:
    """Obeys commands. Every answer is one line: `ok`, an error, or JSON; help has more."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self.table: dict[str, Command] = {
            "help": Command("", "list the commands", self._help),
            "state": Command("", "print the truth as JSON, in SI units", self._state),
            **{
                kind: Command(f"RATE [{'|'.join(simulation.faults)}]", meaning, self._rate(kind))
                for kind, meaning in KINDS.items()
            },
            "clear": Command("", "set all of the rates above to zero", self._clear),
            "power": Command("off|on|cycle [DEVICE|all]", "cut or give the supply", self._power),
            "supply": Command("VOLTS [DEVICE|all]", "its voltage without load", self._supply),
            **{
                name: Command(
                    " ".join(("DEVICE|all", *command.parameters)),
                    command.meaning,
                    self._each(command),
                )
                for name, command in DEVICE_COMMANDS.items()
            },
            "unknown": Command(
                "DEVICE|all HEX...|none",
                "packet ids that the firmware does not know: `unknown 3 65 66`",
                self._unknown,
            ),
            "crossed": Command(
                "DEVICE DEVICE|none",
                "control frames for the first move the second",
                self._cross,
            ),
            "noise": Command("LEVEL", "noise on telemetry; 1 is a poor encoder", self._noise),
            "object": Command(
                "WIDTH|none", "let the jaws meet an object at this jaw position [m]", self._object
            ),
            "payload": Command("KG", "weight in water of what the jaws carry", self._payload),
        }

    def execute(self, line: str, now: float) -> str:
        """Obey one command and return the answer.

        Args:
            line: the command and its arguments.
            now: monotonic time [s], to which the simulation has been advanced.
        """
        name, *arguments = line.split() or ["help"]
        command = self.table.get(name)
        if command is None:
            return f"{ERROR}no command {name!r}: try help"
        self._simulation.arm.advance(now)
        try:
            return command.run(arguments, now)
        except CommandError as error:
            return f"{ERROR}{error}; usage: {name} {command.usage}".rstrip()

    def _help(self, arguments: Sequence[str], now: float) -> str:
        return "\n".join(
            f"{f'{name} {command.usage}':54} {command.meaning}"
            for name, command in self.table.items()
        )

    def _state(self, arguments: Sequence[str], now: float) -> str:
        count(arguments, 0)
        return json.dumps(truth(self._simulation, now))

    def _rate(self, kind: str) -> Callable[[Sequence[str], float], str]:
        def run(arguments: Sequence[str], now: float) -> str:
            count(arguments, 1, 2)
            ways = self._simulation.faults
            for way in [one_of(word, ways) for word in arguments[1:]] or ways:
                try:
                    ways[way].set_rate(kind, number(arguments[0]))
                except ValueError as error:
                    raise CommandError(str(error)) from error
            return OK

        return run

    def _clear(self, arguments: Sequence[str], now: float) -> str:
        count(arguments, 0)
        for faults in self._simulation.faults.values():
            faults.clear()
        return OK

    def _each(self, command: DeviceCommand) -> Callable[[Sequence[str], float], str]:
        most = 1 + len(command.parameters)
        optional = sum(parameter.startswith("[") for parameter in command.parameters)

        def run(arguments: Sequence[str], now: float) -> str:
            count(arguments, *range(most - optional, most + 1))
            for device in self._devices(arguments[0]):
                command.run(device, arguments[1:])
            return OK

        return run

    def _power(self, arguments: Sequence[str], now: float) -> str:
        count(arguments, 1, 2)
        what = one_of(arguments[0], ("off", "on", "cycle"))
        for device in self._devices(*arguments[1:]):
            if what != "on":
                device.power_off()
            if what != "off" and not device.powered:
                device.power_on(now)
        return OK

    def _supply(self, arguments: Sequence[str], now: float) -> str:
        count(arguments, 1, 2)
        supply = number(arguments[0], least=0.0)
        for device in self._devices(*arguments[1:]):
            device.supply = supply
        return OK

    def _unknown(self, arguments: Sequence[str], now: float) -> str:
        if len(arguments) < 2:
            raise CommandError(f"{len(arguments)} arguments")
        unknown = packet_ids([] if arguments[1:] == ["none"] else arguments[1:])
        for device in self._devices(arguments[0]):
            device.unknown = unknown
        return OK

    def _cross(self, arguments: Sequence[str], now: float) -> str:
        count(arguments, 2)
        told = device_id(arguments[0])
        moved = told if arguments[1] == "none" else device_id(arguments[1])
        self._simulation.crossed.pop(told, None)
        if moved != told:
            self._simulation.crossed[told] = moved
        return OK

    def _noise(self, arguments: Sequence[str], now: float) -> str:
        count(arguments, 1)
        level = number(arguments[0], least=0.0)
        for device in self._simulation.devices.values():
            device.noise = level
        return OK

    def _object(self, arguments: Sequence[str], now: float) -> str:
        count(arguments, 1)
        width = None if arguments[0] == "none" else number(arguments[0], least=0.0)
        self._simulation.arm.grip(width)
        return OK

    def _payload(self, arguments: Sequence[str], now: float) -> str:
        count(arguments, 1)
        self._simulation.arm.payload = number(arguments[0])
        return OK

    def _devices(self, name: str = "all") -> list[Device]:
        return [self._simulation.devices[device_id] for device_id in device_ids(name)]
