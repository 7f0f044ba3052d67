"""Commands that do the same with one device or with all: how each is written and what it does."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from reach_alpha5_driver.sim.arguments import CommandError, number, one_of, version
from reach_alpha5_driver.sim.arm import MILLIAMPERE, scaled
from reach_alpha5_driver.sim.firmware import Device
from reach_alpha5_driver.sim.ids import DEVICE_UNITS_PER_SI
from reach_alpha5_driver.sim.joint_spec import Runaway

MILLISECOND = 1e-3
"""[s]"""

RUNAWAYS = {kind.value: kind for kind in Runaway}
SWITCH = {"on": True, "off": False}
LIMITS = ("position", "velocity", "current")

IDENTITY: dict[str, Callable[[str], Any]] = {
    "model": number,
    "serial": number,
    "firmware": version,
}
"""How each part of an identity is written."""


@dataclass(frozen=True, slots=True)
class DeviceCommand:
    """One command. Its arguments are a device, or `all`, and then the `parameters`."""

    parameters: tuple[str, ...]
    """As in the usage: one that may be left out stands in brackets."""
    meaning: str
    run: Callable[[Device, Sequence[str]], None]
    """Obeys for one device, with the words that stand for the parameters."""


def _set(name: str, value: bool) -> Callable[[Device, Sequence[str]], None]:
    return lambda device, words: setattr(device, name, value)


def _block(blocked: bool) -> Callable[[Device, Sequence[str]], None]:
    return lambda device, words: setattr(device.joint, "blocked", blocked)


def _latency(device: Device, words: Sequence[str]) -> None:
    device.latency = number(words[0], least=0.0) * MILLISECOND


def _runaway(device: Device, words: Sequence[str]) -> None:
    device.joint.runaway = RUNAWAYS[one_of(words[0], RUNAWAYS)]


def _stuck_mode(device: Device, words: Sequence[str]) -> None:
    device.joint.mode_stuck = SWITCH[one_of(words[0] if words else "on", SWITCH)]


def _flags(device: Device, words: Sequence[str]) -> None:
    try:
        flags = bytes.fromhex(words[0])
    except ValueError:
        flags = b""
    if len(flags) != len(device.status):
        raise CommandError(f"{words[0]!r} is not four bytes in hex")
    device.status[:] = flags


def _humidity(device: Device, words: Sequence[str]) -> None:
    device.humidity = number(words[0], least=0.0)


def _temperature(device: Device, words: Sequence[str]) -> None:
    free = words[0] == "free"
    if not free:
        device.joint.temperature = number(words[0])
    device.joint.temperature_held = not free


def _identity(device: Device, words: Sequence[str]) -> None:
    part = one_of(words[0], IDENTITY)
    device.identity = dataclasses.replace(device.identity, **{part: IDENTITY[part](words[1])})


def _limits(device: Device, words: Sequence[str]) -> None:
    kind, low, high = one_of(words[0], LIMITS), number(words[1]), number(words[2])
    if low > high:
        raise CommandError("the lower limit comes first")
    if kind != "position" and not low <= 0.0 <= high:
        raise CommandError(f"zero must lie within the limits of a {kind}")
    scale = MILLIAMPERE if kind == "current" else DEVICE_UNITS_PER_SI[device.device_id]
    device.install_limits(kind, scaled((low, high), scale))


def _position(device: Device, words: Sequence[str]) -> None:
    device.joint.place(number(words[0]) * DEVICE_UNITS_PER_SI[device.device_id])


DEVICE_COMMANDS = {
    "dead": DeviceCommand(
        (), "the device neither hears nor answers; its motor goes on as told", _set("deaf", True)
    ),
    "alive": DeviceCommand((), "undo `dead`", _set("deaf", False)),
    "latency": DeviceCommand(("MS",), "how late its answers are [ms]", _latency),
    "stall": DeviceCommand((), "something holds the joint in its place", _block(True)),
    "free": DeviceCommand((), "undo `stall`", _block(False)),
    "runaway": DeviceCommand(
        ("|".join(RUNAWAYS),),
        "a joint that moves goes on until this; none: it obeys again",
        _runaway,
    ),
    "stuck-mode": DeviceCommand(
        (f"[{'|'.join(SWITCH)}]",), "control frames do not switch the mode", _stuck_mode
    ),
    "flags": DeviceCommand(
        ("HEX",), "HARDWARE_STATUS, four bytes: `flags 3 00200000`; zeros clear it", _flags
    ),
    "humidity": DeviceCommand(("PERCENT",), "inside the housing", _humidity),
    "temperature": DeviceCommand(
        ("CELSIUS|free",), "hold the motor at it; free: it follows the current", _temperature
    ),
    "identity": DeviceCommand(
        ("|".join(IDENTITY), "VALUE"), "what it says it is: `identity 3 firmware 2.3.1`", _identity
    ),
    "limits": DeviceCommand(
        ("|".join(LIMITS), "LOW", "HIGH"),
        "limits in the electronics [SI]; a position's 0 0 = none",
        _limits,
    ),
    "position": DeviceCommand(("VALUE",), "put the joint somewhere [rad, m]", _position),
}
"""By name."""
