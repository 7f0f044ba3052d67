"""Words typed by a person to packets: the packets that a desk tool may make, and their words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from reach_alpha5_driver.devices import BROADCAST, BY_ID, BY_JOINT
from reach_alpha5_driver.protocol.packets import (
    MAX_IDS,
    NEVER_SEND,
    STOP_FRAMES,
    Current,
    CurrentLimits,
    HeartbeatFrequency,
    HeartbeatPackets,
    JointValue,
    Limits,
    Mode,
    PacketId,
    Position,
    PositionLimits,
    PositionVelocity,
    Request,
    Save,
    SetMode,
    Velocity,
    VelocityLimits,
    encode,
)

NEVER_NAMES: Final = ("load", "defaults", "format", "device-id", "reset", "bootloader")
"""What the packets in `NEVER_SEND` do."""

SANE: Final[Mapping[str, float]] = MappingProxyType(
    {"rad": 7.0, "rad/s": 2.0, "m": 0.02, "m/s": 0.01, "A": 2.0}
)
"""Far above what any joint can do: a larger number was surely meant in degrees, mm or mA."""


class ComposeError(ValueError):
    """Words that make no packet, with what to type instead."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A packet that may be composed."""

    help: str
    words: tuple[str, ...]
    """Names of the words that it takes, for the help."""
    many: bool
    """Whether the last word may be repeated."""
    make: Callable[[int, Sequence[str]], bytes]
    """Device and words to wire bytes."""
    needs_device: bool = True


def device_of(word: str) -> int:
    """Return the device id meant by a joint name, a number or `all`.

    Raises:
        ComposeError: it is none of them.
    """
    if word == "all":
        return BROADCAST
    if word in BY_JOINT:
        return BY_JOINT[word].id
    number = _integer(word)
    if number is None or (number not in BY_ID and number != BROADCAST):
        joints = ", ".join(f"{joint} ({device.id})" for joint, device in BY_JOINT.items())
        raise ComposeError(f"no device {word!r}: take one of {joints}, or all")
    return number


def packet_of(word: str) -> int:
    """Return the packet id meant by a name or a number.

    Raises:
        ComposeError: it is neither.
    """
    name = word.upper().replace("-", "_")
    if name in PacketId.__members__:
        return PacketId[name]
    number = _integer(word)
    if number is None:
        names = ", ".join(member.lower() for member in PacketId.__members__)
        raise ComposeError(f"no packet {word!r}: take a number such as 0x03, or one of {names}")
    return number


def never_sent(name: str) -> bool:
    """Tell whether `name` means a packet that is never to be sent."""
    return name.lower().replace("_", "-") in NEVER_NAMES or _integer(name) in NEVER_SEND


def _integer(word: str) -> int | None:
    try:
        return int(word, 0)
    except ValueError:
        return None


def _unit(device: int, *, rate: bool) -> str:
    # Zero is all that may go to all, so the unit is that of most.
    unit = BY_ID[device].unit if device in BY_ID else "rad"
    return unit + "/s" if rate else unit


def _number(word: str, unit: str) -> float:
    """Return a number typed in SI units."""
    try:
        value = float(word)
    except ValueError:
        raise ComposeError(f"{word!r} is no number: give it in {unit}, without a unit") from None
    if abs(value) > SANE[unit]:
        raise ComposeError(
            f"{word} {unit} is more than any joint can do ({SANE[unit]:g} {unit}): "
            f"values are in {unit}, so 3 mm is 0.003, 30 degrees are 0.5236, 150 mA are 0.15"
        )
    return value


def _value(cls: type[JointValue], *, rate: bool) -> Callable[[int, Sequence[str]], bytes]:
    def make(device: int, words: Sequence[str]) -> bytes:
        unit = "A" if cls is Current else _unit(device, rate=rate)
        return encode(cls(device, _number(words[0], unit)))

    return make


def _limits(cls: type[Limits], *, rate: bool) -> Callable[[int, Sequence[str]], bytes]:
    def make(device: int, words: Sequence[str]) -> bytes:
        unit = "A" if cls is CurrentLimits else _unit(device, rate=rate)
        lower, upper = (None if word == "none" else _number(word, unit) for word in words)
        return encode(cls(device, lower, upper))

    return make


def _position_velocity(device: int, words: Sequence[str]) -> bytes:
    position = _number(words[0], _unit(device, rate=False))
    velocity = _number(words[1], _unit(device, rate=True))
    return encode(PositionVelocity(device, position, velocity))


def _mode(device: int, words: Sequence[str]) -> bytes:
    name = words[0].upper().replace("-", "_")
    if name not in Mode.__members__:
        names = ", ".join(member.lower() for member in Mode.__members__)
        raise ComposeError(f"no mode {words[0]!r}: take one of {names}")
    return encode(SetMode(device, Mode[name]))


def _request(device: int, words: Sequence[str]) -> bytes:
    return encode(Request(device, tuple(packet_of(word) for word in words)))


def _heartbeat_packets(device: int, words: Sequence[str]) -> bytes:
    ids = () if list(words) == ["none"] else tuple(packet_of(word) for word in words)
    return encode(HeartbeatPackets(device, ids))


def _heartbeat_frequency(device: int, words: Sequence[str]) -> bytes:
    frequency = _integer(words[0])
    if frequency is None:
        raise ComposeError(f"{words[0]!r} is no whole number of Hz, 0 to 255")
    return encode(HeartbeatFrequency(device, frequency))


RECIPES: Final[Mapping[str, Recipe]] = MappingProxyType(
    {
        "stop": Recipe(
            "velocity zero to all, then to each device",
            (),
            False,
            lambda _device, _words: STOP_FRAMES,
            needs_device=False,
        ),
        "velocity": Recipe(
            "joint velocity [rad/s; jaws m/s]; it stands until the next command",
            ("VELOCITY",),
            False,
            _value(Velocity, rate=True),
        ),
        "position": Recipe(
            "joint position [rad; jaws m]", ("POSITION",), False, _value(Position, rate=False)
        ),
        "current": Recipe("motor current [A]", ("CURRENT",), False, _value(Current, rate=False)),
        "position-velocity": Recipe(
            "position [rad; jaws m] and the velocity to go there [rad/s; jaws m/s]",
            ("POSITION", "VELOCITY"),
            False,
            _position_velocity,
        ),
        "mode": Recipe("operating mode: standby, disable, velocity, ...", ("MODE",), False, _mode),
        "request": Recipe(
            f"ask for 1 to {MAX_IDS} packets, by name or number", ("PACKET",), True, _request
        ),
        "heartbeat-packets": Recipe(
            f"1 to {MAX_IDS} packets that the device sends by itself, or none",
            ("PACKET",),
            True,
            _heartbeat_packets,
        ),
        "heartbeat-frequency": Recipe(
            "how often it sends them [Hz], 0 to 255; the arm saves it",
            ("HZ",),
            False,
            _heartbeat_frequency,
        ),
        "position-limits": Recipe(
            "range of positions [rad; jaws m], or none none",
            ("LOWER", "UPPER"),
            False,
            _limits(PositionLimits, rate=False),
        ),
        "velocity-limits": Recipe(
            "range of velocities [rad/s; jaws m/s], or none none",
            ("LOWER", "UPPER"),
            False,
            _limits(VelocityLimits, rate=True),
        ),
        "current-limits": Recipe(
            "range of currents [A], or none none",
            ("LOWER", "UPPER"),
            False,
            _limits(CurrentLimits, rate=False),
        ),
        "save": Recipe(
            "keep the device's settings over power-off",
            (),
            False,
            lambda device, _words: encode(Save(device)),
        ),
    }
)
"""What `encode` can make, by name."""
