"""Commands to a running simulation: a line of text in, a line of text out."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reach_alpha5_driver.sim.faults import KINDS
from reach_alpha5_driver.sim.firmware import Device
from reach_alpha5_driver.sim.ids import AXES, DEVICE_UNITS_PER_SI
from reach_alpha5_driver.sim.ports import Port, PortError
from reach_alpha5_driver.sim.simulation import Simulation

OK = "ok"
ERROR = "error: "
"""Begins the answer to a command that was not obeyed."""


class CommandError(ValueError):
    """A command that cannot be obeyed; the message says why."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its arguments, what it does, and the function that does it."""

    usage: str
    meaning: str
    run: Callable[[Sequence[str], float], str]


class Console:
    """Obeys commands. Every answer is one line: `ok`, an error, or JSON; help has more."""

    def __init__(self, simulation: Simulation, port: Port) -> None:
        self._simulation = simulation
        self._port = port
        self.commands: dict[str, Command] = {
            "state": Command("", "print the truth as JSON, in SI units", self._state),
            **{
                kind: Command(f"RATE [{'|'.join(simulation.faults)}]", meaning, self._rate(kind))
                for kind, meaning in KINDS.items()
            },
            "clear": Command("", "set all of the rates above to zero", self._clear),
            "dead": Command(
                "DEVICE|all",
                "the device neither hears nor answers; its motor goes on as told",
                self._each(lambda device: setattr(device, "deaf", True)),
            ),
            "alive": Command(
                "DEVICE|all",
                "undo `dead`",
                self._each(lambda device: setattr(device, "deaf", False)),
            ),
            "power": Command("off|on [DEVICE|all]", "cut or give the supply", self._power),
            "stall": Command(
                "DEVICE|all",
                "something holds the joint in its place",
                self._each(lambda device: setattr(device.joint, "blocked", True)),
            ),
            "free": Command(
                "DEVICE|all",
                "undo `stall`",
                self._each(lambda device: setattr(device.joint, "blocked", False)),
            ),
            "flags": Command(
                "DEVICE|all HEX",
                "set HARDWARE_STATUS, four bytes: `flags 3 00200000`; zeros clear it",
                self._flags,
            ),
            "noise": Command("LEVEL", "noise on telemetry; 1 is a poor encoder", self._noise),
            "position": Command("DEVICE VALUE", "put a joint somewhere [rad, m]", self._place),
            "object": Command(
                "WIDTH|none", "let the jaws meet an object at this jaw position [m]", self._object
            ),
            "payload": Command("KG", "weight in water of what the jaws carry", self._payload),
            "unplug": Command("", "pull the cable", self._unplug),
            "plug": Command("", "put it back", self._plug),
            "help": Command("", "list the commands", self._help),
        }

    def execute(self, line: str, now: float) -> str:
        """Obey one command at the monotonic time `now` [s] and return the answer."""
        name, *arguments = line.split() or ["help"]
        command = self.commands.get(name)
        if command is None:
            return f"{ERROR}no command {name!r}: try help"
        try:
            return command.run(arguments, now)
        except CommandError as error:
            return f"{ERROR}{error}; usage: {name} {command.usage}".rstrip()

    def _state(self, arguments: Sequence[str], now: float) -> str:
        _count(arguments, 0)
        simulation = self._simulation
        simulation.arm.advance(now)
        return json.dumps(
            {
                "time": now,
                "joints": simulation.arm.state(),
                "devices": {
                    AXES[device.device_id]: {
                        "powered": device.powered,
                        "deaf": device.deaf,
                        "flags": device.status.hex(),
                    }
                    for device in simulation.devices.values()
                },
                "frames_received": simulation.decoder.counters.frames,
                "frames_damaged": simulation.decoder.counters.damaged,
                "replies_lost": simulation.replies_lost,
                "bytes_purged": simulation.purged,
                "collisions": simulation.line.collisions,
                "faults": {
                    way: {"rates": faults.rates, "counts": dict(faults.counts)}
                    for way, faults in simulation.faults.items()
                },
            }
        )

    def _rate(self, kind: str) -> Callable[[Sequence[str], float], str]:
        def run(arguments: Sequence[str], now: float) -> str:
            _count(arguments, 1, 2)
            ways = self._simulation.faults
            chosen = arguments[1:] or list(ways)
            for way in chosen:
                if way not in ways:
                    raise CommandError(f"no direction {way!r}")
                try:
                    ways[way].set_rate(kind, _number(arguments[0]))
                except ValueError as error:
                    raise CommandError(str(error)) from error
            return OK

        return run

    def _clear(self, arguments: Sequence[str], now: float) -> str:
        _count(arguments, 0)
        for faults in self._simulation.faults.values():
            faults.clear()
        return OK

    def _each(self, act: Callable[[Device], None]) -> Callable[[Sequence[str], float], str]:
        def run(arguments: Sequence[str], now: float) -> str:
            _count(arguments, 1)
            self._simulation.arm.advance(now)
            for device in self._devices(arguments[0]):
                act(device)
            return OK

        return run

    def _power(self, arguments: Sequence[str], now: float) -> str:
        _count(arguments, 1, 2)
        if arguments[0] not in ("off", "on"):
            raise CommandError(f"{arguments[0]!r} is neither off nor on")
        self._simulation.arm.advance(now)
        for device in self._devices(arguments[1] if len(arguments) == 2 else "all"):
            if arguments[0] == "off":
                device.power_off()
            elif not device.powered:
                device.power_on(now)
        return OK

    def _flags(self, arguments: Sequence[str], now: float) -> str:
        _count(arguments, 2)
        try:
            flags = bytes.fromhex(arguments[1])
        except ValueError:
            flags = b""
        if len(flags) != 4:
            raise CommandError(f"{arguments[1]!r} is not four bytes in hex")
        for device in self._devices(arguments[0]):
            device.status[:] = flags
        return OK

    def _noise(self, arguments: Sequence[str], now: float) -> str:
        _count(arguments, 1)
        level = _number(arguments[0], least=0.0)
        for device in self._simulation.devices.values():
            device.noise = level
        return OK

    def _place(self, arguments: Sequence[str], now: float) -> str:
        _count(arguments, 2)
        position = _number(arguments[1])
        self._simulation.arm.advance(now)
        for device in self._devices(arguments[0]):
            device.joint.place(position * DEVICE_UNITS_PER_SI[device.device_id])
        return OK

    def _object(self, arguments: Sequence[str], now: float) -> str:
        _count(arguments, 1)
        width = None if arguments[0] == "none" else _number(arguments[0], least=0.0)
        self._simulation.arm.advance(now)
        self._simulation.arm.grip(width)
        return OK

    def _payload(self, arguments: Sequence[str], now: float) -> str:
        _count(arguments, 1)
        self._simulation.arm.payload = _number(arguments[0])
        return OK

    def _unplug(self, arguments: Sequence[str], now: float) -> str:
        _count(arguments, 0)
        self._port.unplug()
        return OK

    def _plug(self, arguments: Sequence[str], now: float) -> str:
        _count(arguments, 0)
        try:
            self._port.plug()
        except PortError as error:
            raise CommandError(str(error)) from error
        return OK

    def _help(self, arguments: Sequence[str], now: float) -> str:
        return "\n".join(
            f"{f'{name} {command.usage}':32} {command.meaning}"
            for name, command in self.commands.items()
        )

    def _devices(self, name: str) -> list[Device]:
        """Devices by id, axis letter or `all`."""
        found = [
            device
            for device_id, device in self._simulation.devices.items()
            if name in ("all", str(device_id), AXES[device_id])
        ]
        if not found:
            raise CommandError(f"no device {name!r}: 1 to 5, a to e, or all")
        return found


def _count(arguments: Sequence[str], *allowed: int) -> None:
    if len(arguments) not in allowed:
        raise CommandError(f"{len(arguments)} arguments")


def _number(text: str, least: float = -math.inf) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < least:
        bound = "" if least == -math.inf else f" of at least {least:g}"
        raise CommandError(f"{text!r} is not a number{bound}")
    return value
