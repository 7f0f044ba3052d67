"""Typed packets in SI units: all of them, `parse`, `encode`, and the frames of a stop.

This is the one place where device units (mm, mA, bar) become SI units and back. The classes live
in `joint_packets`, `readings`, `requests` and `base_unit`; use them from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from reach_alpha5_driver.devices import BROADCAST, DEVICES
from reach_alpha5_driver.protocol import codec
from reach_alpha5_driver.protocol.base_unit import (
    SLOTS,
    BaseNumbers,
    BoxObstacle,
    Collision,
    CollisionKind,
    Coordinates,
    CylinderObstacle,
    EndPosition,
    EndVelocity,
    Obstacle,
    PresetCapture,
    PresetGo,
    PresetName,
    PresetValues,
)
from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.ids import NEVER_SEND, Mode, PacketId
from reach_alpha5_driver.protocol.joint_packets import (
    Current,
    CurrentLimits,
    IndexedRelativePosition,
    JointValue,
    Limits,
    Position,
    PositionLimits,
    PositionVelocity,
    RelativePosition,
    SetMode,
    Velocity,
    VelocityLimits,
)
from reach_alpha5_driver.protocol.packet import (
    OneIdPacket,
    Packet,
    PacketError,
    check_joint_or_all,
)
from reach_alpha5_driver.protocol.readings import (
    FactoryClimate,
    FirmwareClimate,
    HardwareStatus,
    Humidity,
    ModelNumber,
    Reading,
    SerialNumber,
    SoftwareVersion,
    Temperature,
    Voltage,
)
from reach_alpha5_driver.protocol.requests import (
    MAX_IDS,
    HeartbeatFrequency,
    HeartbeatPackets,
    Request,
    Save,
)

__all__ = [
    "MAX_IDS",
    "NEVER_SEND",
    "PACKETS",
    "STOP_FRAMES",
    "BaseNumbers",
    "BoxObstacle",
    "Collision",
    "CollisionKind",
    "Coordinates",
    "Current",
    "CurrentLimits",
    "CylinderObstacle",
    "EndPosition",
    "EndVelocity",
    "FactoryClimate",
    "FirmwareClimate",
    "HardwareStatus",
    "HeartbeatFrequency",
    "HeartbeatPackets",
    "Humidity",
    "IndexedRelativePosition",
    "JointValue",
    "Limits",
    "Mode",
    "ModelNumber",
    "Obstacle",
    "Packet",
    "PacketError",
    "PacketId",
    "Position",
    "PositionLimits",
    "PositionVelocity",
    "PresetCapture",
    "PresetGo",
    "PresetName",
    "PresetValues",
    "Reading",
    "RelativePosition",
    "Request",
    "Save",
    "SerialNumber",
    "SetMode",
    "SoftwareVersion",
    "Temperature",
    "Velocity",
    "VelocityLimits",
    "Voltage",
    "encode",
    "mode_frames",
    "parse",
    "stop_frames",
]

_ONE_ID: Final[tuple[type[OneIdPacket], ...]] = (
    SetMode,
    Velocity,
    Position,
    Current,
    PositionVelocity,
    IndexedRelativePosition,
    RelativePosition,
    PositionLimits,
    VelocityLimits,
    CurrentLimits,
    FactoryClimate,
    Save,
    PresetGo,
    PresetCapture,
    Request,
    SerialNumber,
    ModelNumber,
    Humidity,
    Temperature,
    HardwareStatus,
    SoftwareVersion,
    Voltage,
    HeartbeatPackets,
    HeartbeatFrequency,
    EndPosition,
    EndVelocity,
    Collision,
    Coordinates,
)

_SLOTTED: Final[tuple[tuple[type[Packet], PacketId], ...]] = (
    (PresetValues, PacketId.PRESET_VALUES_0),
    (PresetName, PacketId.PRESET_NAME_0),
    (BoxObstacle, PacketId.BOX_0),
    (CylinderObstacle, PacketId.CYLINDER_0),
)
"""Classes that span four packet ids, with the first of them."""

PACKETS: Final[Mapping[PacketId, type[Packet]]] = MappingProxyType(
    {cls.ID: cls for cls in _ONE_ID}
    | {PacketId(first + slot): cls for cls, first in _SLOTTED for slot in range(SLOTS)}
    | {PacketId.CLIMATE_67: FirmwareClimate, PacketId.CLIMATE_6E: FirmwareClimate}
)
"""The class of each packet id. What is never to be sent has none."""

_ADDRESSES: Final = frozenset((BROADCAST, *(device.id for device in DEVICES)))

_READERS: Final[dict[int, Callable[[Frame], Packet]]] = {
    packet_id: cls.from_frame for packet_id, cls in PACKETS.items()
}


def parse(frame: Frame) -> Packet:
    """Return the typed packet in a frame, in SI units.

    Raises:
        PacketError: and nothing else. `unknown_device`: not on the arm, or not one that has this
            packet. `unknown_packet`: no packet of the protocol, or one that is never to be sent.
            `bad_payload`: the wrong size, a number that is not finite, a value that cannot be.
    """
    if frame.device_id not in _ADDRESSES:
        check_joint_or_all(frame.device_id)
    reader = _READERS.get(frame.packet_id)
    if reader is not None:
        return reader(frame)
    known = "must never be sent" if frame.packet_id in NEVER_SEND else "is not in the protocol"
    raise PacketError("unknown_packet", f"packet 0x{frame.packet_id:02x} {known}")


def encode(packet: Packet) -> bytes:
    """Return the wire bytes of a packet.

    Raises:
        PacketError: `unknown_packet` for what is never to be sent, `bad_payload` for a number that
            does not fit a float32.
    """
    frame = packet.to_frame()
    if frame.packet_id in NEVER_SEND:
        raise PacketError("unknown_packet", f"packet 0x{frame.packet_id:02x} must never be sent")
    return codec.encode(frame)


def stop_frames() -> bytes:
    """Return the bytes that stop the arm: velocity zero to all at once, then to each device.

    The broadcast stops all joints with the first frame; the others do not depend on a device
    obeying broadcasts, nor on that frame arriving whole.
    """
    devices = (BROADCAST, *sorted(device.id for device in DEVICES))
    return b"".join(encode(Velocity(device, 0.0)) for device in devices)


def mode_frames(mode: Mode) -> bytes:
    """Return the bytes that put all devices into a mode: all at once, then each, as a stop."""
    devices = (BROADCAST, *sorted(device.id for device in DEVICES))
    return b"".join(encode(SetMode(device, mode)) for device in devices)


STOP_FRAMES: Final = stop_frames()
"""`stop_frames()`, ready to be written."""
