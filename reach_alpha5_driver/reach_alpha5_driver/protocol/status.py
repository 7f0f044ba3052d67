"""The bits of HARDWARE_STATUS, by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

STATUS_BYTES: Final = 4

KNOWN_BITS: Final[tuple[tuple[str, int, int], ...]] = (
    ("flash", 0, 0x80),
    ("humidity", 0, 0x40),
    ("temperature", 0, 0x20),
    ("serial_error", 0, 0x10),
    ("crc_error", 0, 0x08),
    ("motor_driver", 0, 0x04),
    ("encoder_position", 0, 0x02),
    ("encoder_missing", 0, 0x01),
    ("axis_conflict", 1, 0x80),
    ("motor_disconnected", 1, 0x40),
    ("over_current", 1, 0x20),
    ("inner_encoder", 1, 0x10),
    ("id_conflict", 1, 0x08),
    ("over_pressure", 1, 0x04),
    ("driver_over_current_or_under_voltage", 1, 0x02),
    ("driver_over_temperature", 1, 0x01),
    ("jaw_zero_required", 2, 0x10),
    ("service_due", 2, 0x08),
    ("read_protection", 2, 0x04),
    ("encoder_fault", 2, 0x02),
    ("encoder_invalid", 3, 0x80),
    ("low_supply", 3, 0x10),
    ("invalid_firmware", 3, 0x08),
    ("can", 3, 0x02),
    ("position_report_missing", 3, 0x01),
)
"""Name, byte of the payload (0 = A … 3 = D), bit."""


def _with_unlisted() -> tuple[tuple[str, int, int], ...]:
    """Complete the table, so that a bit nobody documented is shown and not swallowed."""
    listed = {(byte, bit): name for name, byte, bit in KNOWN_BITS}
    places = [(byte, 0x80 >> shift) for byte in range(STATUS_BYTES) for shift in range(8)]
    return tuple(
        (listed.get((byte, bit), f"undocumented_{'abcd'[byte]}_{bit:02x}"), byte, bit)
        for byte, bit in places
    )


STATUS_BITS: Final = _with_unlisted()
"""All 32 bits, in wire order: byte A first, the highest bit first."""

_BY_NAME: Final = {name: (byte, bit) for name, byte, bit in STATUS_BITS}


def flag_names(status: bytes) -> tuple[str, ...]:
    """Return the names of the bits set in the four status bytes, in wire order."""
    return tuple(name for name, byte, bit in STATUS_BITS if status[byte] & bit)


def flag_bytes(names: Iterable[str]) -> bytes:
    """Return the four status bytes with the named bits set.

    Raises:
        KeyError: a name is not in `STATUS_BITS`.
    """
    status = bytearray(STATUS_BYTES)
    for name in names:
        byte, bit = _BY_NAME[name]
        status[byte] |= bit
    return bytes(status)
