"""What frames carry: single bytes, and little-endian float32s in device units."""

from __future__ import annotations

import math
import struct

from reach_alpha5_driver.sim.joint_spec import Range, clamp

FLOAT32 = (-3.4028234663852886e38, 3.4028234663852886e38)
"""What a float32 can hold."""


class PayloadError(ValueError):
    """A payload of the wrong size, or with a value that no device can obey."""


def read_byte(data: bytes) -> int:
    """Return the one byte.

    Raises:
        PayloadError: there is not exactly one.
    """
    if len(data) != 1:
        raise PayloadError
    return data[0]


def read_float(data: bytes) -> float:
    """Return the one number, as `read_floats`."""
    return read_floats(data, 1)[0]


def read_floats(data: bytes, count: int) -> tuple[float, ...]:
    """Return `count` numbers.

    Raises:
        PayloadError: there are more or fewer, or one is not finite.
    """
    if len(data) != 4 * count:
        raise PayloadError
    values: tuple[float, ...] = struct.unpack(f"<{count}f", data)
    if not all(map(math.isfinite, values)):
        raise PayloadError
    return values


def read_limits(data: bytes) -> Range:
    """Return minimum and maximum; the maximum comes first on the wire.

    Raises:
        PayloadError: not two finite numbers, or the minimum is above the maximum.
    """
    high, low = read_floats(data, 2)
    if low > high:
        raise PayloadError
    return low, high


def read_limits_about_zero(data: bytes) -> Range:
    """Return the limits of a speed or a current: they must leave room for none.

    Raises:
        PayloadError: as `read_limits`, or zero is outside.
    """
    low, high = read_limits(data)
    if not low <= 0.0 <= high:
        raise PayloadError
    return low, high


def maximum_first(limits: Range) -> bytes:
    """Return limits as they travel."""
    return packed(limits[1], limits[0])


def packed(*values: float) -> bytes:
    """Return float32s. Absurd settings make absurd values: what does not fit is cut."""
    try:
        return struct.pack(f"<{len(values)}f", *values)
    except OverflowError:
        return struct.pack(f"<{len(values)}f", *(clamp(value, FLOAT32) for value in values))
