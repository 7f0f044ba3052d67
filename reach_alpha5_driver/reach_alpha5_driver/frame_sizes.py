"""How many bytes frames take on the wire: the payload and six more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.protocol.base_unit import SLOTS
from reach_alpha5_driver.protocol.ids import PacketId

OVERHEAD: Final = 6
"""Packet id, device id, length, checksum, one byte of stuffing, the terminator."""

FLOAT: Final = 4

DEMAND_BYTES: Final = len(DEVICES) * (FLOAT + OVERHEAD)
"""One velocity for each joint."""


def _slots(first: PacketId, payload: int) -> dict[int, int]:
    return dict.fromkeys(range(first, first + SLOTS), payload)


_PAYLOADS: Final[Mapping[int, int]] = MappingProxyType(
    {
        PacketId.MODE: 1,
        PacketId.POSITION_LIMITS: 2 * FLOAT,
        PacketId.VELOCITY_LIMITS: 2 * FLOAT,
        PacketId.CURRENT_LIMITS: 2 * FLOAT,
        PacketId.FACTORY_CLIMATE: 3 * FLOAT,
        PacketId.SOFTWARE_VERSION: 3,
        PacketId.CLIMATE_67: 3 * FLOAT,
        PacketId.CLIMATE_6E: 3 * FLOAT,
        PacketId.HEARTBEAT_PACKETS: 10,
        PacketId.HEARTBEAT_FREQUENCY: 1,
        PacketId.END_POSITION: 6 * FLOAT,
        PacketId.END_VELOCITY: 6 * FLOAT,
        PacketId.COLLISION: 3,
        PacketId.COORDINATES: 3 * FLOAT,
        **_slots(PacketId.PRESET_VALUES_0, 8 * FLOAT),
        **_slots(PacketId.PRESET_NAME_0, 8),
        **_slots(PacketId.BOX_0, 6 * FLOAT),
        **_slots(PacketId.CYLINDER_0, 7 * FLOAT),
    }
)
"""Of the packets that are not one float; where firmware differs, the longest."""


def reply_bytes(packet_ids: Iterable[int]) -> int:
    """Return the size of the answer to a request for `packet_ids`: one frame for each."""
    return sum(OVERHEAD + _PAYLOADS.get(packet_id, FLOAT) for packet_id in packet_ids)


def request_bytes(packet_ids: Iterable[int]) -> int:
    """Return the size of a request for `packet_ids`: one byte for each."""
    return OVERHEAD + sum(1 for _ in packet_ids)
