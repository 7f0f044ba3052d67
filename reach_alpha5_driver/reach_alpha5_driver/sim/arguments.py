"""The words of a command, and what is wrong with them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from reach_alpha5_driver.sim.ids import AXES


class CommandError(ValueError):
    """A command that cannot be obeyed; the message says why."""


def count(arguments: Sequence[str], *allowed: int) -> None:
    """Check how many arguments there are.

    Raises:
        CommandError: not one of `allowed`.
    """
    if len(arguments) not in allowed:
        raise CommandError(f"{len(arguments)} arguments")


def number(text: str, least: float = -math.inf) -> float:
    """Return a finite number of at least `least`.

    Raises:
        CommandError: it is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < least:
        bound = "" if least == -math.inf else f" of at least {least:g}"
        raise CommandError(f"{text!r} is not a number{bound}")
    return value


def one_of(text: str, words: Collection[str]) -> str:
    """Return one of `words`.

    Raises:
        CommandError: it is another.
    """
    if text not in words:
        raise CommandError(f"{text!r} is none of {', '.join(words)}")
    return text


def device_ids(name: str) -> list[int]:
    """Return devices by id, axis letter or `all`.

    Raises:
        CommandError: there is no such device.
    """
    found = [
        device_id for device_id, axis in AXES.items() if name in ("all", str(device_id), axis)
    ]
    if not found:
        raise CommandError(f"no device {name!r}: 1 to 5, a to e, or all")
    return found


def device_id(name: str) -> int:
    """Return a device by id or axis letter.

    Raises:
        CommandError: there is no such device, or it is more than one.
    """
    found = device_ids(name)
    if len(found) != 1:
        raise CommandError(f"{name!r} is more than one device")
    return found[0]


def packet_ids(words: Sequence[str]) -> frozenset[int]:
    """Return packet ids that are written in hex.

    Raises:
        CommandError: one is none.
    """
    try:
        found = frozenset(int(word, 16) for word in words)
    except ValueError:
        found = frozenset({-1})
    if not all(0 <= packet_id <= 0xFF for packet_id in found):
        raise CommandError(f"{' '.join(words)!r} are not packet ids: two digits of hex each")
    return found


def version(text: str) -> tuple[int, int, int]:
    """Return a firmware version, such as `2.3.1`.

    Raises:
        CommandError: it is none.
    """
    try:
        major, minor, patch = (int(part) for part in text.split("."))
        bytes((major, minor, patch))
    except ValueError:
        raise CommandError(
            f"{text!r} is not a version: three numbers up to 255, as 2.3.1"
        ) from None
    return major, minor, patch
